"""The pytest plugin: the fixtures `marks` and `agent`, and what a failing test leaves behind.

It is loaded in every pytest session where the package is installed, so it imports nothing of ours until a fixture is
used: no browser, no pixels, no model.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from vision_agent.integrations.testing.evidence import Evidence

_EVIDENCE = pytest.StashKey["Evidence"]()
_ACCEPTED = "accepted_looks"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("marks", "vision-agent")
    group.addoption(
        "--marks-report",
        metavar="DIR",
        default="marks-report",
        help="where a failing test leaves its marked picture and its report; default: marks-report",
    )
    group.addoption(
        "--marks-accept",
        action="store_true",
        help="accept the looks that marks.matches() finds, and keep them beside the tests",
    )


@pytest.fixture
def marks(page: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Acts on `page` by what is written there, and checks it: a `Marks`, or an `AsyncMarks` if the page is async."""
    from vision_agent.integrations.testing.marks import marks_for

    evidence = _evidence(request)
    yield marks_for(page, evidence)
    evidence.detach()


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`agent(page, goal, …)` does a task on a page and returns its run; the test fails if the task was not done."""
    from vision_agent.integrations.testing.agent import agent_for

    return agent_for(_evidence(request))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leaves the evidence of a failing test while its page is still open."""
    report = yield
    evidence = item.stash.get(_EVIDENCE, None)
    if report.when == "teardown" and evidence is not None:
        del item.stash[_EVIDENCE]  # a test that runs again starts anew
    if evidence is not None and report.when == "call" and evidence.accepted:
        setattr(
            report, _ACCEPTED, tuple(evidence.accepted)
        )  # an attribute reaches the terminal from other processes too
    if evidence is not None and report.failed and report.when != "teardown":
        evidence.leave(report)
        # Readers of JUnit reports take attachments from properties or from the output, which has them with
        # junit_logging; the report of the teardown brings both there.
        item.user_properties.extend(("attachment", path) for path in evidence.attachments)
        attached = "\n".join(f"[[ATTACHMENT|{path}]]" for path in evidence.attachments)
        item.add_report_section("call", "stdout", attached)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tells which looks were accepted, and where each is kept."""
    reports = [each for reports in terminalreporter.stats.values() for each in reports]
    for line in [line for each in reports for line in getattr(each, _ACCEPTED, ())]:
        terminalreporter.write_line(line)


def _evidence(request: pytest.FixtureRequest) -> Evidence:
    from vision_agent.integrations.testing.evidence import Evidence

    item: pytest.Item = request.node
    if _EVIDENCE not in item.stash:
        item.stash[_EVIDENCE] = Evidence(
            test=item.nodeid,
            file=item.path,
            folder=Path(request.config.invocation_params.dir, request.config.getoption("--marks-report")),
            accepts=request.config.getoption("--marks-accept"),
            runs=lambda: request.getfixturevalue("tmp_path_factory").mktemp("agent-runs"),
            shown_from=request.config.invocation_params.dir,
        )
    return item.stash[_EVIDENCE]
