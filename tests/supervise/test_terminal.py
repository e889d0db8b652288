"""A person is asked in the terminal, and a line is the answer."""

from __future__ import annotations

import pytest

from tests.supervise.proposals import PAY, decided, seen
from vision_agent.actions import Click
from vision_agent.policy.approval import risks_of
from vision_agent.settings import ApprovalSettings
from vision_agent.supervise.terminal import TerminalApprover
from vision_agent.types import Author, Choice, Task


async def answered(*lines: str, title: str = "") -> tuple[Choice | None, str]:
    """What these lines mean in the end, and what the terminal showed."""
    left, shown = list(lines), list[str]()

    async def read(prompt: str) -> str:
        if not left:
            raise EOFError
        return left.pop(0)

    decision, page = decided(PAY), seen()
    page = page.model_copy(update={"title": title or page.title})
    approver = TerminalApprover(read=read, say=shown.append)
    choice = await approver.approve(Task(goal="Pay"), page, decision, risks_of(ApprovalSettings(), decision, page))
    return choice, "\n".join(shown)


@pytest.mark.parametrize(
    ("lines", "choice"),
    [
        ([""], Choice(kind="approve", through="terminal")),
        (["Y"], Choice(kind="approve", through="terminal")),
        (["stop"], Choice(kind="stop", through="terminal")),
        (["! only the blue one"], Choice(kind="instruct", text="only the blue one", through="terminal")),
        (
            ["click Read more"],
            Choice(kind="replace", actions=(Click(target=1),), through="terminal"),
        ),
        (["t"], Choice(kind="take_over", through="terminal")),
        (["click Nowhere", "# a note", "!", "y"], Choice(kind="approve", through="terminal")),
        ([], None),
    ],
)
async def test_a_line_is_the_answer(lines: list[str], choice: Choice | None) -> None:
    assert (await answered(*lines))[0] == choice


@pytest.mark.parametrize("typed", ["", "stop", "! wait", "click Read more", "t"])
async def test_each_answer_has_the_name_that_the_person_gave(typed: str) -> None:
    async def read(prompt: str) -> str:
        return typed

    approver = TerminalApprover(name="Ann", read=read, say=lambda _: None)
    choice = await approver.approve(Task(goal="Pay"), seen(), decided(PAY), ())
    assert choice is not None
    assert choice.name == "Ann"


async def test_a_taken_over_browser_is_handed_back_with_a_line_or_by_closing_the_input() -> None:
    asked: list[str] = []

    async def read(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) > 1:
            raise EOFError
        return ""

    approver = TerminalApprover(read=read, say=asked.append)
    await approver.handed_back()
    await approver.handed_back()
    assert ["Enter to hand it back" in each for each in asked] == [True, True]


async def test_a_browser_without_a_window_is_not_taken_over_from_the_terminal() -> None:
    lines, shown = ["t", "stop"], list[str]()

    async def read(prompt: str) -> str:
        return lines.pop(0)

    approver = TerminalApprover(has_window=False, read=read, say=shown.append)
    choice = await approver.approve(Task(goal="Pay"), seen(), decided(PAY), ())
    assert (choice, "--headed" in shown[-1]) == (Choice(kind="stop", through="terminal"), True)


@pytest.mark.parametrize(
    ("author", "has_window", "offered"),
    [
        ("model", True, ("! instruction", "t: take over")),
        ("model", False, ("! instruction",)),
        ("steps", True, ("!: skip this", "t: take over")),
        ("replay", False, ("!: skip this",)),
    ],
)
async def test_only_answers_that_are_possible_are_offered(
    author: Author, has_window: bool, offered: tuple[str, ...]
) -> None:
    lines, prompts, shown = ["?", "!" if author in ("steps", "replay") else "! wait"], list[str](), list[str]()

    async def read(prompt: str) -> str:
        prompts.append(prompt)
        return lines.pop(0)

    approver = TerminalApprover(has_window=has_window, read=read, say=shown.append)
    decision = decided(PAY).model_copy(update={"author": author})
    choice = await approver.approve(Task(goal="Pay"), seen(), decision, ())
    assert choice is not None
    assert (choice.kind, bool(choice.text)) == ("instruct", True)
    ways = " · ".join(("Enter: yes", "n: stop the run", *offered, "a line: do that instead", "?: help"))
    assert prompts[0] == f"Do it? ({ways}) "
    assert ("take over" in shown[-1]) == has_window


async def test_the_help_is_short_and_says_how_to_see_every_step_line() -> None:
    _, short = await answered("?", "y")
    _, long = await answered("??", "y")
    assert len(short.splitlines()) < 13
    assert "all step lines" in short
    assert "magnify Map 2 times" in long


@pytest.mark.parametrize("name", ["", "Ann Lee"])
async def test_the_help_says_how_to_give_a_name_where_none_was_given(name: str) -> None:
    lines, shown = ["?", "y"], list[str]()

    async def read(prompt: str) -> str:
        return lines.pop(0)

    approver = TerminalApprover(name=name, read=read, say=shown.append)
    choice = await approver.approve(Task(goal="Pay"), seen(), decided(PAY), ())
    assert ("VISION_AGENT_SUPERVISE__NAME" in shown[-1]) is (not name)
    assert choice is not None
    assert choice.name == name


async def test_what_a_page_is_called_does_not_move_the_cursor() -> None:
    _, shown = await answered("y", title="Shop\x1b[2K\x1b[1G\r Click [5] “Close”\u202e")
    assert all(each.isprintable() or each == "\n" for each in shown)
    assert "Shop" in shown


async def test_the_question_says_what_where_and_why() -> None:
    _, shown = await answered("?", "y")
    for part in ("https://shop.example/cart", "Proposed: Pay", "Click [2] “Pay now”", "pay: it is called “Pay now”"):
        assert part in shown
    assert "scroll down" in shown  # the help


async def test_a_line_that_means_nothing_here_is_told_and_asked_again() -> None:
    choice, shown = await answered("click Nowhere", "dance", "stop")
    assert choice == Choice(kind="stop", through="terminal")
    assert "Nowhere" in shown
    assert "dance" in shown
