"""Claims about the wheel: it contains the package, the overlay and the prompts. Nothing is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=60,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize(("source", "target"), [("overlay_js/src", "overlay_js"), ("prompts", "prompts")])
def test_every_asset_travels_in_the_wheel_and_nothing_else_does(
    source: str, target: str, wheel_files: set[str]
) -> None:
    folder = ROOT / source
    here = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    prefix = f"vision_agent/_assets/{target}/"
    assert here
    assert {name.removeprefix(prefix) for name in wheel_files if name.startswith(prefix)} == here


def test_every_module_and_the_type_marker_travel_in_the_wheel(wheel_files: set[str]) -> None:
    package = ROOT / "vision_agent"
    modules = {path.relative_to(ROOT).as_posix() for path in package.rglob("*.py")}
    outside_assets = {name for name in wheel_files if "_assets/" not in name and ".dist-info/" not in name}
    assert modules | {"vision_agent/py.typed"} <= outside_assets


def test_the_wheel_holds_no_tests_fixtures_or_runs(wheel_files: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_files}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"vision_agent"}
