"""Claims about actions: each is defined in one place, and an unclassified action is never trusted."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

import vision_agent
from tests.supervise.proposals import MARKS, NOW, mark, seen
from vision_agent.actions import (
    ACTIONS,
    TARGET_FIELDS,
    Action,
    Back,
    Check,
    Click,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    Forward,
    Goto,
    Hold,
    Hover,
    Offset,
    OpenTab,
    Point,
    Press,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    Set,
    Type,
    _Action,
    chord_keys,
    targets_of,
)
from vision_agent.custom_actions import action
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import UsageError
from vision_agent.evals.answer_grading import action_reference, operation_text
from vision_agent.evals.hit_oracle import named_number
from vision_agent.models.offline.grammar import GRAMMAR
from vision_agent.observation import DRAWN_EDITOR, Observation
from vision_agent.policy.approval import only_looks, risks_of, risks_taken
from vision_agent.policy.interrupted import InterruptedStep, infer_outcome
from vision_agent.policy.stall import is_repeatable, sets_field
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Decision, Outcome, Step

ROOT = Path(__file__).parent.parent
KINDS: tuple[type[BaseModel], ...] = (*ACTIONS, Custom)
FIELDS: dict[str, Any] = {
    "source": 1, "target": 2, "mark": 1, "text": "Ann", "options": ("Red",), "checked": True, "value": "3",
    "files": ("cv.pdf",), "keys": "a", "first": "one", "last": "two", "url": "https://shop.example/more", "tab": 1,
    "json_schema": "{}", "question": "Which?", "reason": "no such thing", "name": "wave",
    "by": {"right": 40, "down": 0}, "factor": 2,
}  # fmt: skip


class Wink(_Action):
    """An action that somebody added without saying what it is."""

    kind: Literal["wink"] = "wink"
    target: int = 1


def of(kind: type[BaseModel]) -> Any:
    """One action of a kind, with what it must have."""
    return kind(**{name: FIELDS[name] for name, field in kind.model_fields.items() if field.is_required()})


def step(*actions: Any, effect: Any = "changed") -> Step:
    decision = Decision.model_construct(author="model", actions=actions, candidates=())
    done = tuple(Outcome(status="done", effect=effect, sentence="Done.") for _ in actions)
    return Step.model_construct(
        index=1, observation=seen(), decision=decision, outcomes=done, started_at=NOW, seconds=1.0, approval=None
    )


def cut() -> InterruptedStep:
    return InterruptedStep(1, seen(), Decision(author="model", actions=(Click(target=1),)), NOW, frozenset({0}))


def risks(*actions: Any, on: Observation | None = None) -> list[str]:
    decision = Decision.model_construct(author="model", actions=actions, candidates=())
    return [each.risk for each in risks_of(ApprovalSettings(ask="risky"), decision, on or seen())]


# --- said once --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_action_is_classified_and_names_its_targets(kind: Any) -> None:
    assert kind.traits.is_classified
    assert kind is Custom or [*kind.traits.targets] == [name for name in TARGET_FIELDS if name in kind.model_fields]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_only_looks_presses_nothing_puts_nothing_in_and_may_be_done_again(kind: Any) -> None:
    traits = kind.traits
    assert not traits.only_looks or (traits.repeat == "freely" and not (traits.presses or traits.sets_field))
    assert traits.repeat != "freely" or not traits.sets_field


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_reader_knows_every_action(kind: Any) -> None:
    one = of(kind)
    assert describe_action(one, seen())
    assert operation_text(one, seen())
    assert isinstance(infer_outcome(one, cut(), seen(), is_page_gone=True), Outcome | None)
    assert only_looks(one) == kind.traits.only_looks
    assert (named_number(one) is not None) == (kind.traits.presses and kind.traits.in_browser and bool(targets_of(one)))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_action_has_a_step_line(kind: Any) -> None:
    # A custom action is a line of its own, and what is extracted is told by a schema, for which no line has room.
    assert kind in (Custom, Extract) or all(re.search(rf"\b{word}\b", GRAMMAR) for word in of(kind).kind.split("_"))


def test_text_that_is_added_or_sent_is_never_typed_a_second_time() -> None:
    assert [Type(target=1, text="a", clear=clear, submit=submit).repeat for clear, submit in
            ((True, False), (False, False), (True, True))] == ["if_state_shows", "never", "never"]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "parts"),
    [("a", ("a",)), ("Control+Shift+K", ("Control", "Shift", "K")), ("Control++", ("Control", "+")), ("+", ("+",))],
)
def test_the_keys_of_a_combination_are_told_apart(keys: str, parts: tuple[str, ...]) -> None:
    assert chord_keys(keys) == parts


def test_what_is_held_is_held_for_ten_seconds_at_most() -> None:
    assert (Hold(target=1).lasts_s, Press(keys="a", seconds=2, count=5).lasts_s, Press(keys="a").lasts_s) == (10, 10, 0)
    with pytest.raises(ValidationError, match="10 seconds at most, all presses together"):
        Press(keys="a", seconds=3, count=4)
    with pytest.raises(ValidationError):
        Hold(target=1, seconds=11)


def test_what_is_held_is_never_repeated_by_itself() -> None:
    assert [each.repeat for each in (Hold(target=1), Press(keys="a", seconds=1), DoubleTap(target=1))] == ["never"] * 3
    assert not is_repeatable(step(Hold(target=1)))


CLASS_CHECKS = {
    "browser/act/act.py": {"Check", "Click"},  # they send one click and nothing else
    "browser/act/batch_guard.py": {"Press"},  # keys with no target go to what has the focus
    "browser/takeover/manual_actions.py": {"Click"},  # what else is done by hand means what it changes
    "browser/live.py": {"Type"},  # only its text can show what was hidden
    "browser/act/out_of_view.py": {"Drag"},  # points on its way would be left behind
    "evals/answer_grading.py": {"Drag"},  # two targets are graded, not one
    "evals/security/deciders.py": {"Click"},  # what the attacks want is a click
    "export/playwright_test.py": {"Upload"},  # only it names files
    "models/llm/toolset_calls.py": {"Click", "Type"},  # the toolset's own words for them
    "policy/approval.py": {"Press", "Type"},  # some keys only move the focus, and a text may end with Enter
    "policy/interrupted.py": {"Type"},  # only its text can name a secret
    "policy/rebind.py": {"Press"},  # keys with no target go to what has the focus
    "policy/spending.py": {"Press"},  # keys with no target go to what has the focus
    "policy/takeover.py": {"Press", "Type"},  # keys and texts after which Enter may send the form
    "policy/text_origin.py": {"Press"},  # keys that copy and paste
    "replay/replay.py": {"Upload"},  # only it names files
    "replay/variables.py": {"Click", "Select", "Set", "Type"},  # those that carry a value; a click only for a message
}
"""Where the program asks for the class of an action that presses, instead of its traits, and why. Whoever adds an
action must look at these, so there may be no others."""
CLASS_MATCHES = {
    "browser/act/act.py": {"Drag", "Select"},  # a path, or a list that is searched, takes longer
    "evals/baselines.py": {"Check", "Click", "Select", "Set", "Type"},  # the actions that a baseline makes itself
    "export/cere/action_files.py": {"Check", "Click", "Select", "Set", "Type"},  # the default: its own kind and fields
    "export/playwright_test.py": {"Check", "Set", "Upload"},  # of these three only
    "memory/exemplar.py": {"Select", "Set", "Type"},  # those that give a page what was said
    # By default an action changes no control.
    "policy/approval.py": {"Check", "Click", "DoubleTap", "Drag", "Hold", "Press", "Select", "Set", "Type", "Upload"},
    "policy/interrupted.py": {"Check", "Select", "Set", "Type"},  # by default nothing shows that it was done
    # The default is to find its targets again, and that no value is set beside another target.
    "policy/rebind.py": {"Press", "Select", "Set", "Type"},
    "policy/text_origin.py": {"Set", "Type"},  # those that give a page a text
    # Those that may do the same; by default nothing was done by hand.
    "policy/takeover.py": {"Click", "Press", "Type"},
    "policy/stall.py": {"Click"},  # by default an action does more than show
    "replay/variables.py": {"Select", "Set", "Type"},  # those that carry a value
}
"""The same for `match` statements with a default; all others end in `assert_never`, so the types name them."""


def test_no_other_place_asks_for_the_class_of_an_action_that_presses() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for file, nodes in nodes_of_package():
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {n.attr if isinstance(n, ast.Attribute) else n.id for n in ast.walk(node.args[1])
                         if isinstance(n, ast.Attribute | ast.Name)}  # fmt: skip
                found[file] |= asked & PRESSING
    assert {file: asked for file, asked in found.items() if asked} == CLASS_CHECKS


def test_no_other_match_statement_has_a_default_for_actions_that_press() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for file, nodes in nodes_of_package():
        for node in nodes:
            if isinstance(node, ast.Match) and not any("assert_never" in ast.unparse(case) for case in node.cases):
                classes = [
                    each.cls for case in node.cases for each in ast.walk(case) if isinstance(each, ast.MatchClass)
                ]
                found[file] |= {each.attr if isinstance(each, ast.Attribute) else ast.unparse(each) for each in classes}
    assert {file: asked & PRESSING for file, asked in found.items() if asked & PRESSING} == CLASS_MATCHES


PRESSING = {kind.__name__ for kind in ACTIONS if kind.traits.presses and kind.traits.targets}


@cache
def nodes_of_package() -> list[tuple[str, list[ast.Call | ast.Match]]]:
    """The calls and `match` statements of each file that names an action that presses."""
    package = Path(vision_agent.__file__).parent
    sources = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in package.rglob("*.py")}
    names_one = re.compile(rf"\b(?:{'|'.join(PRESSING)})\b").search
    return [
        (file, [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Call | ast.Match)])
        for file, source in sources.items()
        if names_one(source)
    ]


# --- fails closed -----------------------------------------------------------------------------------------------------


def test_an_action_that_nobody_classified_is_risky_and_never_repeated() -> None:
    wink: Any = Wink()

    assert risks(wink) == ["unclassified"]
    assert "unclassified" in risks_taken(wink, seen())
    assert not only_looks(wink)
    assert sets_field(wink, step(wink))
    assert not is_repeatable(step(wink))
    assert infer_outcome(wink, cut(), seen(), is_page_gone=True) is None
    assert action_reference(wink, seen()) is None
    assert wink.traits.ends_batch
    assert (wink.traits.focuses, wink.keeps_focus) == ("nothing", False)


def test_it_is_risky_even_under_a_policy_that_names_other_risks_only() -> None:
    decision = Decision.model_construct(author="model", actions=(Wink(),), candidates=())
    assert risks_of(ApprovalSettings(risks=("pay",)), decision, seen())


@pytest.mark.thorough
@pytest.mark.timeout(600)  # mypy without a cache, beside other tests
def test_type_checks_name_every_reader_that_forgot_a_new_action(tmp_path: Path) -> None:
    for name in ("vision_agent", "pyproject.toml", ".mypy_cache"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)
        elif source.exists():
            shutil.copy(source, tmp_path / name)
    file = tmp_path / "vision_agent" / "actions.py"
    told = file.read_text("utf-8")
    wink = 'class Wink(_Action):\n    kind: Literal["wink"] = "wink"\n    target: Target\n\n\n'
    told = told.replace("class Type(_Action)", f"{wink}class Type(_Action)")
    told = told.replace("    | Type\n", "    | Wink\n    | Type\n")
    file.write_text(told, "utf-8")

    checked = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
    )  # fmt: skip

    forgetful = {line.split(":")[0] for line in checked.stdout.splitlines() if "Wink" in line}
    assert forgetful == {
        "vision_agent/browser/act/act.py",
        "vision_agent/describe/action_sentences.py",
        "vision_agent/evals/answer_grading.py",
        "vision_agent/export/playwright_test.py",
        "vision_agent/export/step_lines.py",
        "vision_agent/policy/approval.py",
    }


# --- what a person is asked about -------------------------------------------------------------------------------------

PLACES = (
    *MARKS,
    mark(4, "Trash", tag="div"),
    mark(5, "Delete account", tag="div"),
    mark(6, "Send to all", tag="div"),
    mark(7, "Archive", tag="div"),
    mark(8, "I agree that you may delete all of my messages and my account", tag="input", kind="toggle"),
    mark(9, "Colour", tag="select", kind="field"),
    mark(10, "Delete account", tag="textarea", kind="field").model_copy(update={"evidence": (DRAWN_EDITOR,)}),
    mark(11, "", tag="textarea", kind="field", value="Send").model_copy(update={"evidence": (DRAWN_EDITOR,)}),
    mark(12, "Slide to pay", tag="slider", kind="field"),
    mark(13, "Price per month", tag="slider", kind="field"),
)


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ([Drag(source=1, target=4)], ["delete"]),
        ([Drag(source=1, target=5)], ["delete"]),
        ([Drag(source=1, target=6)], ["send"]),
        ([Drag(source=1, target=7)], []),
        ([Drag(source=1, target=Point(x=60, y=175))], ["delete"]),
        ([Drag(source=1, target=Offset(right=0, down=120))], ["delete"]),
        ([Press(keys="Delete")], []),
        ([Press(keys="Delete", target=1)], ["delete"]),
        ([Click(target=1), Press(keys="Backspace")], ["delete"]),
        ([Press(keys="Tab"), Press(keys="Delete")], ["delete"]),
        ([Press(keys="Shift+Delete", target=7)], ["delete"]),
        ([Press(keys="Enter", target=5)], ["delete"]),
        ([Press(keys="Space", target=6)], ["send"]),
        ([Press(keys="Control+Enter", target=3)], ["submit", "pay"]),
        ([Select(target=9, options=("Delete everything",))], ["delete"]),
        ([Select(target=9, options=("Yes, please go on and buy it for me now",))], ["pay"]),
        ([Select(target=9, options=("Red",))], []),
        ([Check(mark=8, checked=True)], ["delete"]),
        ([Check(mark=1, checked=True)], []),
        ([Set(mark=12, value="100")], ["pay"]),
        ([Set(mark=13, value="100")], []),
        ([Custom(name="wave")], ["unclassified"]),
        ([Custom(name="wave", risks=())], []),
        ([Custom(name="settle_up", risks=("pay",))], ["pay"]),
        ([Hover(target=5)], []),
        ([Click(target=10)], ["delete"]),
        ([Click(target=11)], ["send"]),
        ([Press(keys="Delete", target=10)], ["delete"]),
        ([Type(target=10, text="one\ntwo")], ["submit"]),
        ([Hold(target=5, seconds=2)], ["delete"]),
        ([Hold(target=6, until="Sent")], ["send"]),
        ([Hold(target=7)], []),
        ([DoubleTap(target=5)], ["delete"]),
        ([Press(keys="Enter", target=5, seconds=2)], ["delete"]),
        ([Press(keys="Enter+a", target=5)], ["delete"]),
        ([Press(keys="Space+ArrowUp", target=6, seconds=1)], ["send"]),
        ([Press(keys="Backspace+x", target=1)], ["delete"]),
        ([Press(keys="Tab+x"), Press(keys="Enter")], ["submit", "pay", "delete", "send"]),
        ([Scroll(target=5, direction="up", px=100, modifiers=("Control",))], []),
        ([ScrollTo(text="Delete all")], []),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_back_is_asked_about_however_it_is_done(
    actions: list[Action], expected: list[str]
) -> None:
    assert list(dict.fromkeys(risks(*actions, on=seen(*PLACES)))) == expected


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (Click(target=5), ["delete"]),
        (Hold(target=6), ["send"]),
        (Press(keys="Enter", target=5), ["delete"]),
        (Check(mark=8, checked=True), ["delete"]),
        (Set(mark=12, value="100"), ["pay"]),
        (Type(target=10, text="one\ntwo"), ["submit"]),
        (Click(target=7), []),
    ],
)
def test_what_is_scrolled_out_of_view_has_the_same_risks(action: Action, expected: list[str]) -> None:
    away = seen().model_copy(update={"marks": (), "out_of_view": seen(*PLACES).marks})
    assert risks(action, on=away) == expected


@pytest.mark.parametrize("action", [Reload(), Back(), Forward()], ids=lambda each: each.kind)
def test_a_page_that_answers_a_form_is_not_left_or_loaded_again_without_a_word(action: Action) -> None:
    answer = seen(*MARKS).model_copy(update={"answers_form": True})
    assert risks(action, on=answer) == ["submit"]
    assert risks(action) == []
    assert risks(Goto(url="https://shop.example/"), OpenTab(url="https://shop.example/"), on=answer) == []


def test_what_a_policy_calls_harmless_is_not_asked_about() -> None:
    policy = ApprovalSettings(harmless=("Trash", "wave", "Delete everything"))
    decision = Decision(author="model", actions=(
        Drag(source=1, target=4), Custom(name="wave"), Select(target=9, options=("Delete everything",)),
    ))  # fmt: skip
    assert risks_of(policy, decision, seen(*PLACES)) == ()


def test_an_own_action_says_what_it_may_do() -> None:
    @action(risks=["pay"])
    async def settle_up(context: Any, cell: str) -> str:
        """Settle the bill of a table."""
        return "Settled"

    assert settle_up.risks == ("pay",)
    with pytest.raises(UsageError, match="cannot have the risk 'fun'"):
        action(risks=["fun"])  # type: ignore[list-item]
