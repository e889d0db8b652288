"""The container image and the GitHub action: their steps run here as scripts; only the system is not changed.

There may be no Docker on the machine. So the `RUN` lines that concern Python run with the tools of a fresh environment,
and those that change the system itself are only read.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / ".github/actions/eval/action.yml").read_text())
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
WEEKLY = yaml.safe_load((ROOT / ".github/workflows/all-tests.yml").read_text())

GUIDE = (ROOT / "docs/pages/guides/scripts.md").read_text("utf-8")
(WHEEL_IMAGE,) = re.findall(r"```dockerfile\n(.+?)```", GUIDE, re.S)
WHEEL_STEPS = yaml.safe_load(re.findall(r"```yaml\n(.+?)```", GUIDE, re.S)[-1])

PINS_NOTHING = "# hadolint global ignore=DL3008"
"""Debian keeps only the newest Chromium, so its version cannot be named."""

PAGE = """<!doctype html><title>Notes</title><button onclick="said.value = 'Saved'">Save</button>
<output id="said"></output>"""

SUITE = """start_url = "{address}"

[[tasks]]
id = "save"
goal = "Save the note"
expect = ["text=Saved"]
steps = ["click Save", "finish"]

[[tasks]]
id = "wait"
goal = "Never do anything"
expect = ["text=Saved"]
steps = ["finish"]
"""


@dataclass(frozen=True)
class Stage:
    """What the image's file says between one FROM and the next."""

    base: str
    runs: list[str]
    others: dict[str, list[str]]


def stages(text: str = (ROOT / "Dockerfile").read_text()) -> list[Stage]:
    found: list[Stage] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if not line or line.startswith("#"):
            continue
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            found.append(Stage(rest, [], {}))
        elif word == "RUN":
            found[-1].runs.append(re.sub(r"--mount=\S+\s*", "", rest))
        else:
            found[-1].others.setdefault(word, []).append(rest)
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that reach the image's builder."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    folder = tmp_path_factory.mktemp("source")
    left_out = [line.removeprefix("**/") for line in lines[1:] if not line.startswith("!")]
    for name in (line[1:] for line in lines if line.startswith("!")):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*left_out))
        else:
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def without_keys() -> dict[str, str]:
    """The environment variables without keys of models."""
    return {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_AUTH_TOKEN"))}


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment variables with which the image's `vision-agent` is the first on the PATH."""
    wheels = tmp_path_factory.mktemp("wheels")
    python = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", python], check=True, timeout=120)
    path = f"{python / 'bin'}:{os.environ['PATH']}"
    environment = {**without_keys(), "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for stage, folder in zip(stages(), (source, wheels), strict=True):
        for step in (each for each in stage.runs if each.startswith("pip ")):
            done = subprocess.run(
                ["bash", "-ec", step.replace("--no-cache-dir", "").replace("/wheels", str(wheels))],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=500,
            )
            if "NewConnectionError" in done.stderr or "Temporary failure in name resolution" in done.stderr:
                pytest.skip("packages cannot be fetched here")
            assert done.returncode == 0, done.stderr
    return environment


@pytest.fixture
def at_hand() -> dict[str, str]:
    """The environment variables with which our own environment is what a workflow has set up; pip fetches nothing."""
    if find_spec("pip") is None:
        pytest.skip("there is no pip in this environment")
    return {**without_keys(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}


@pytest.mark.parametrize("file", ["the repository's", "the guide's"])
def test_the_file_of_the_image_has_nothing_to_complain_of(file: str) -> None:
    linter = Path(sys.executable).with_name("hadolint")
    if not linter.exists():
        pytest.skip("hadolint is not here: `make rest-packages` installs it")
    text = (ROOT / "Dockerfile").read_text() if file == "the repository's" else f"{PINS_NOTHING}\n{WHEEL_IMAGE}"
    done = subprocess.run([linter, "-"], input=text, capture_output=True, text=True, timeout=150)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_from_a_wheel_differs_only_in_where_the_wheel_comes_from() -> None:
    [ours], whole = stages(WHEEL_IMAGE), stages()[-1]
    assert ours.base == whole.base
    assert [step for step in ours.runs if "/wheels" not in step] == [
        each for each in whole.runs if "/wheels" not in each
    ]
    assert {**ours.others, "COPY": [], "CMD": []} == {**whole.others, "COPY": [], "CMD": []}
    assert ours.others["COPY"] == ["vision_agent-*.whl /wheels/"]


def test_the_image_runs_without_root_and_has_a_browser() -> None:
    last = stages()[-1]
    assert last.others["USER"] == ["1000"]
    (system,) = (step for step in last.runs if "apt-get install" in step)
    assert re.search(r"\schromium\s", system)
    assert any(re.search(r"useradd\b.*--uid 1000\b", step) for step in last.runs)
    assert last.others["ENTRYPOINT"] == ['["vision-agent"]']


def test_the_packages_of_the_image_exist() -> None:
    if shutil.which("apt-cache") is None:
        pytest.skip("this is no Debian")
    (system,) = (step for step in stages()[-1].runs if "apt-get install" in step)
    names = re.search(r"--no-install-recommends ([^&]+)", system)
    assert names
    known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, timeout=150).stdout.split()
    if "bash" not in known:
        pytest.skip("there are no lists of packages here")
    assert set(names[1].split()) <= set(known)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_what_the_image_installs_runs_the_demonstration(installed: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        ["vision-agent", "demo", "--no-open"], cwd=tmp_path, env=installed, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "runs").glob("*/report.html"))) == 2


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("fail_under", "code"), [("", 0), ("50", 0), ("51", 1)])
def test_the_action_runs_a_suite_and_fails_when_too_little_is_done(
    fail_under: str, code: int, at_hand: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "notes.html").write_text(PAGE)
    (tmp_path / "notes.toml").write_text(SUITE.format(address=(tmp_path / "notes.html").as_uri()))

    done = run_action({"suite": "notes.toml", "fail-under": fail_under}, tmp_path, at_hand)

    assert done.returncode == code, done.stderr
    results = tmp_path / "temp" / "vision-agent-eval"
    assert (tmp_path / "output").read_text() == f"results={results}\n"
    assert (results / "results.html").is_file()
    assert "1/2 = 50%" in (tmp_path / "summary").read_text()


@pytest.mark.timeout(600)
def test_the_steps_for_a_wheel_run_a_suite_and_keep_its_results(at_hand: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "notes.html").write_text(PAGE)
    (tmp_path / "notes.toml").write_text(SUITE.format(address=(tmp_path / "notes.html").as_uri()))
    commands = [line for step in WHEEL_STEPS if "run" in step for line in step["run"].splitlines()]
    assert commands[0] == "pip install --quiet wheels/*.whl"
    script = "\n".join(commands[1:]).replace("anthropic:claude-sonnet-5-5", "steps").replace("90", "50")
    environment = {**at_hand, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    done = subprocess.run(
        ["bash", "-ec", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    assert "1/2 = 50%" in (tmp_path / "summary").read_text()
    assert (tmp_path / WHEEL_STEPS[-1]["with"]["path"] / "results.html").is_file()


def test_the_action_installs_the_source_that_it_comes_with() -> None:
    """By its name alone, pip would fetch another project."""
    assert ACTION["inputs"]["package"]["default"] == ""
    (install,) = (step["run"] for step in ACTION["runs"]["steps"] if step.get("name") == "Install")
    (path,) = re.findall(r"pip install --quiet \"\$\{PACKAGE:-\$GITHUB_ACTION_PATH(/[./]+)\}\"", install)
    source = Path(f"{ROOT}/.github/actions/eval{path}").resolve()
    assert tomllib.loads((source / "pyproject.toml").read_text())["project"]["name"] == "vision-agent"


def test_the_workflow_tests_each_python_that_is_declared() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    declared = [found[1] for each in classifiers if (found := re.fullmatch(r"Programming .* (3\.\d+)", each))]
    (job,) = WORKFLOW["jobs"].values()
    assert job["strategy"]["matrix"] == {"python": declared}
    (set_up,) = (step for step in job["steps"] if step.get("uses", "").startswith("actions/setup-python@"))
    assert set_up["with"] == {"python-version": "${{ matrix.python }}"}
    assert job["env"] == {"PYTHON": "python"}  # else `make` may choose another one of the machine


def test_the_workflows_may_only_read_and_run_targets_of_the_makefile() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert set(WORKFLOW[True]) == {"push", "pull_request"}  # YAML reads `on` as a truth value
    assert WEEKLY["permissions"] == {"contents": "read"}
    assert set(WEEKLY[True]) == {"schedule", "workflow_dispatch"}
    steps = [step for each in (WORKFLOW, WEEKLY) for job in each["jobs"].values() for step in job["steps"]]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    assert [step["run"] for step in steps if "run" in step] == ["make lint", "make test", "make test-all"]
    assert {"lint", "test", "test-all"} <= set(targets)


def test_no_page_says_to_install_it_by_its_name_alone() -> None:
    by_name = re.compile(r"pip install (?:-\S+ )*vision-agent(?![\w\[])")
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert [page.name for page in pages if by_name.search(page.read_text("utf-8"))] == []


@pytest.mark.timeout(600)
def test_words_given_to_the_action_are_arguments_and_no_commands(at_hand: dict[str, str], tmp_path: Path) -> None:
    inputs = {"suite": "fixtures", "arguments": "--only $(touch${IFS}here)"}
    done = run_action(inputs, tmp_path, at_hand)

    assert done.returncode == 2
    assert "$(touch${IFS}here)" in done.stderr
    assert not (tmp_path / "here").exists()


def run_action(inputs: dict[str, str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Carries out the action's own steps in turn, as a workflow does; those of other actions are left out.

    Returns what the last of them printed; the first one that fails is the last.
    """
    known = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
    assert set(inputs) <= set(known)
    values = known | {"package": "vision-agent"} | inputs  # which is installed here, so pip fetches nothing
    (folder / "temp").mkdir()
    told = {
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    done = None
    for step in (each for each in ACTION["runs"]["steps"] if "run" in each):
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input could carry out commands"
        given = {}
        for name, value in step["env"].items():
            used = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
            assert used
            given[name] = values[used[1]]
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=environment | told | given,
            capture_output=True,
            text=True,
            timeout=400,
        )
        if done.returncode:
            break
    assert done
    return done


def test_only_what_the_wheel_is_built_from_reaches_the_image(source: Path) -> None:
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert "vision_agent/agent.py" in files
    assert not [name for name in files if fnmatch.fnmatch(name, "*__pycache__*") or name.startswith(("tests", "."))]
