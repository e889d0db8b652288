"""Claims about the wheel: what it contains, and that the demonstration runs from it alone. Nothing is installed."""

from __future__ import annotations

import email.policy
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import EmailMessage
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


ADDRESS = "https://git.example/org/vision-agent"


def build(target: str, folder: Path, *, source: Path = ROOT, address: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)],
        cwd=source,
        env={**os.environ, "VISION_AGENT_PROJECT_URL": address},
        capture_output=True,
        text=True,
        timeout=150,
    )


def metadata_of(folder: Path) -> EmailMessage:
    """What the wheel in a folder says of the project."""
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name), policy=email.policy.default)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    done = build("wheel", folder)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("overlay_js/src", "overlay_js"),
        ("prompts", "prompts"),
        *(
            (f"fixtures/{name}", f"fixtures/{name}")
            for name in ("sites", "variants", "pages", "churn", "canvas", "security")
        ),
    ],
)
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
    icons = {f"vision_agent/vision/icons/{name}" for name in ("icons.onnx", "names.txt", "DATA_CARD.md")}
    assert modules | {"vision_agent/py.typed"} | icons <= outside_assets


def test_the_wheel_holds_no_tests_other_fixtures_or_runs(wheel_files: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_files}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"vision_agent"}
    assets = {name.split("/")[2] for name in wheel_files if name.startswith("vision_agent/_assets/")}
    fixtures = {name.split("/")[3] for name in wheel_files if name.startswith("vision_agent/_assets/fixtures/")}
    assert assets == {"overlay_js", "prompts", "fixtures"}
    assert fixtures == {"sites", "variants", "pages", "churn", "canvas", "security"}


def test_without_an_address_the_wheel_has_the_readme_as_it_is_and_no_addresses(wheel: Path) -> None:
    metadata = metadata_of(wheel.parent)
    assert metadata.get_payload() == (ROOT / "README.md").read_text("utf-8")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_all("Project-URL") is None
    assert metadata.get_all("Dynamic") is None


@pytest.mark.parametrize("given", [ADDRESS, f"{ADDRESS}/", f"{ADDRESS}.git"])
def test_with_an_address_the_wheel_has_addresses_and_a_readme_whose_links_work_elsewhere(
    given: str, tmp_path: Path
) -> None:
    assert build("wheel", tmp_path, address=given).returncode == 0

    metadata = metadata_of(tmp_path)
    assert dict(line.split(", ") for line in metadata.get_all("Project-URL", [])) == {
        "Homepage": ADDRESS,
        "Documentation": f"{ADDRESS}/blob/v{metadata['Version']}/docs/pages/index.md",
        "Changelog": f"{ADDRESS}/blob/v{metadata['Version']}/CHANGELOG.md",
        "Issues": f"{ADDRESS}/issues",
        "Source": ADDRESS,
    }
    readme = metadata.get_payload()
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) > 20
    assert all(link.startswith("https://") for link in links)
    assert f"(https://git.example/org/vision-agent/raw/v{metadata['Version']}/fixtures/shots/shop-marked.png)" in readme
    ours = [re.sub(rf"{ADDRESS}/(raw|blob)/v[^/]+/", "", link) for link in links]
    assert all((ROOT / path).is_file() for path in ours)


def test_a_wheel_built_from_the_source_archive_keeps_the_addresses_it_was_made_with(tmp_path: Path) -> None:
    assert build("sdist", tmp_path, address=ADDRESS).returncode == 0
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()

    done = build("wheel", tmp_path, source=source)

    assert done.returncode == 0, done.stderr
    assert f"Homepage, {ADDRESS}" in metadata_of(tmp_path).get_all("Project-URL", [])
    assert f"({ADDRESS}/raw/" in metadata_of(tmp_path).get_payload()


@pytest.mark.parametrize(
    "given", ["git.example/org", "git@git.example:org/vision-agent", "https://", "https://me:key@git.example/a"]
)
def test_what_is_no_address_of_a_repository_ends_the_build_with_a_sentence(given: str, tmp_path: Path) -> None:
    done = build("wheel", tmp_path, address=given)

    assert done.returncode == 1
    assert "not the http or https address of a repository, such as https://git.example/org" in done.stderr
    assert "key" not in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.timeout(240)
def test_the_demonstration_of_the_wheel_reaches_both_tasks_without_a_key(unpacked: Path, tmp_path: Path) -> None:
    done = _vision_agent(unpacked, tmp_path, "demo", "--json")

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [(each["site"], each["exit_code"]) for each in said["tasks"]] == [("shop", 0), ("seats", 0)]
    assert [(each["steps_taken"], each["tokens"], each["cost_usd"]) for each in said["tasks"]] == [
        (19, 0, 0),
        (5, 0, 0),
    ]
    assert "19 steps in " in done.stderr
    reports = [Path(each["report"]).read_text("utf-8") for each in said["tasks"]]
    assert ["Order placed" in reports[0], "the tickets are yours" in reports[1]] == [True, True]
    assert not any("the task has no check" in report for report in reports)
    assert "Prepared step lines decide" in " ".join(done.stderr.split())


@pytest.mark.timeout(240)
def test_the_fixtures_are_evaluated_from_the_wheel_too(unpacked: Path, tmp_path: Path) -> None:
    task = "seats/book-two-in-the-stalls"
    done = _vision_agent(unpacked, tmp_path, "eval", "fixtures", "--model", "steps", "--only", task, "--out", "scores")

    assert done.returncode == 0, done.stderr
    assert "100%" in done.stdout


def test_a_model_that_is_named_for_the_demonstration_must_be_there(unpacked: Path, tmp_path: Path) -> None:
    done = _vision_agent(unpacked, tmp_path, "demo", "--model", "openai:gpt-5.5")

    assert done.returncode == 5
    assert "OPENAI_API_KEY" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_doctor_of_the_wheel_asks_for_nothing_that_only_developers_of_the_project_need(
    unpacked: Path, tmp_path: Path
) -> None:
    done = _vision_agent(unpacked, tmp_path, "doctor")

    assert "Runs " in done.stdout
    assert "npm" not in done.stdout


def _vision_agent(package: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    # Where it is imported from is checked by itself: a checkout has its assets elsewhere.
    code = (
        "import sys, vision_agent.assets as a; assert sys.argv.pop(1) in a.__file__; "
        "import vision_agent.cli.main as m; m.main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(package), *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        timeout=200,
    )
