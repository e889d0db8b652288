"""A decision that needs a person's word is asked about before it is done, answered, and on record as both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.supervise.proposals import MARKS, NOW, PAY, POINT, Supervised, decided, mark, seen
from vision_agent.actions import (
    Action,
    Ask,
    Cell,
    Check,
    Click,
    Custom,
    Drag,
    Finish,
    Goto,
    Point,
    Press,
    Scroll,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.errors import UsageError
from vision_agent.events import Event
from vision_agent.export.training_examples import iter_examples
from vision_agent.models.offline.replayed import ReplayedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import IconGuess, Mark, Observation
from vision_agent.policy.approval import Answers, risks_of
from vision_agent.ports import Model
from vision_agent.record import Redactor, RunFolder, verify
from vision_agent.record.read import assemble
from vision_agent.settings import ApprovalSettings, load, load_policy
from vision_agent.supervise.terminal import TerminalApprover
from vision_agent.types import Choice, Decision, Limits, ManualAction, Outcome, Risky, Task

FINISH = Finish(answer="paid")


def answers(*choices: Choice | None) -> Answers:
    left = list(choices)

    async def answer(*_: object) -> Choice | None:
        return left.pop(0)

    return Answers(answer)


# --- what is risky ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "marks", "risks"),
    [
        (Click(target=1), MARKS, []),
        (Click(target=2), MARKS, ["pay"]),
        (Click(target=POINT), MARKS, ["pay"]),
        (Type(target=3, text="Ann"), MARKS, []),
        (Type(target=3, text="Ann", submit=True), MARKS, ["submit", "pay"]),
        (Press(keys="Enter"), MARKS, ["submit", "pay"]),
        (Press(keys="ArrowDown"), MARKS, []),
        (Upload(mark=3, files=("cv.pdf",)), MARKS, ["upload"]),
        (Goto(url="https://shop.example/more"), MARKS, []),
        (Goto(url="https://www.shop.example/"), MARKS, []),
        (Goto(url="https://elsewhere.example/"), MARKS, ["leave"]),
        (Custom(name="delete_row", risks=()), MARKS, ["delete"]),
        (Click(target=9), (mark(9, "Go", submits=True),), ["submit"]),
        (Click(target=9), (mark(9, "Partner", tag="a", kind="link", leads_to="ads.example"),), ["leave"]),
        (Click(target=9), (mark(9, "Attach", input_type="file", tag="input"),), ["upload"]),
        (Type(target=9, text="mug", submit=True), (mark(9, "Find", kind="field", input_type="search"),), []),
        (Click(target=9), (mark(9, "Five ways to pay less for a holiday by the sea"),), ["pay"]),
        *[
            (Click(target=9), (mark(9, name),), risks)
            for name, risks in [
                ("Jetzt kostenpflichtig bestellen", ["pay"]),
                ("Konto löschen", ["delete"]),
                ("Envoyer", ["send"]),
                ("Finalizar compra", ["pay"]),
                ("注文を確定する", ["pay"]),
                ("Удалить", ["delete"]),
                ("删除", ["delete"]),
                ("Sendung verfolgen", []),
                ("Add to cart", []),
                ("Book appointment", ["pay"]),
                ("Réserver", ["pay"]),
                ("Book of the month", []),
            ]
        ],
    ],
)
def test_what_cannot_be_taken_back_is_told_from_the_action_and_the_mark(
    action: Action, marks: Any, risks: list[str]
) -> None:
    found = risks_of(ApprovalSettings(), decided(action), seen(*marks))
    assert [each.risk for each in found] == risks
    assert all(each.why for each in found)


@pytest.mark.parametrize(
    ("marked", "risks"),
    [
        (mark(9, "Upgrade to Premium for €9.99/month"), ["pay"]),
        (mark(9, "€9.99/month"), ["pay"]),
        (mark(9, "Continue – 12,00 €"), ["pay"]),
        (mark(9, "Go", submits=True).model_copy(update={"says": "12 EUR"}), ["submit", "pay"]),
        (mark(9, "Subscribe – €9.99/month", tag="input", submits=True), ["submit", "pay"]),
        (mark(9, "Mug €14", tag="div"), ["pay"]),
        (mark(9, "Mug €14", tag="span", kind="link"), ["pay"]),
        # A link may lead to what has a price, and what is chosen may cost something.
        (mark(9, "Mug €14", tag="a", kind="link"), []),
        (mark(9, "Express €4.99", tag="input", kind="toggle"), []),
        (mark(9, "Monthly €9.99").model_copy(update={"role": "tab"}), []),
        (mark(9, "Basic €5", tag="summary"), []),
        (mark(9, "Add to cart – €14", submits=True), ["submit"]),
        (mark(9, "14,00 € In den Warenkorb"), []),
        (mark(9, "View cart (€28)"), []),
        (mark(9, "Unlock details – €5"), ["pay"]),
        (mark(9, "Add to cart and pay €14"), ["pay"]),
        *[
            (mark(9, name, tag="a", kind="link"), ["pay"])
            for name in (
                "Upgrade for €9.99",
                "Renew (12,00 €)",
                "Book for €80",
                "Free trial, then €9.99",
                "Order at €5",
            )
        ],
        (mark(9, "How to pay", tag="a", kind="link"), []),
        (mark(9, "Payment history"), []),
        (mark(9, "Cancel payment"), ["delete"]),
    ],
)
def test_a_button_with_an_amount_in_its_words_may_pay_it(marked: Mark, risks: list[str]) -> None:
    found = risks_of(ApprovalSettings(), decided(Click(target=9)), seen(marked))
    assert [each.risk for each in found] == risks


def test_a_cell_of_a_drawn_grid_is_judged_by_what_was_read_in_it() -> None:
    grid = mark(4, "", tag="grid", kind="guess")
    page = seen(grid).model_copy(update={"listing": "_[4 row 1]Edit | Delete"})
    found = [risks_of(ApprovalSettings(), decided(Click(target=Cell(mark=4, row=1, column=at))), page) for at in (1, 2)]
    assert [[each.risk for each in risks] for risks in found] == [[], ["delete"]]


def test_empty_cells_before_it_do_not_move_the_words_of_a_cell() -> None:
    for words in ("Edit | | | Delete", "Edit |  |  | Delete", "| | | Delete"):
        page = seen(mark(4, "", tag="grid", kind="guess")).model_copy(update={"listing": f"_[4 row 1]{words}"})
        found = risks_of(ApprovalSettings(), decided(Click(target=Cell(mark=4, row=1, column=4))), page)
        assert [each.risk for each in found] == ["delete"]


def test_a_policy_may_call_a_button_with_an_amount_harmless() -> None:
    page = seen(mark(9, "12 March €89"))
    assert risks_of(ApprovalSettings(), decided(Click(target=9)), page)[0].why == (
        "it has an amount in its words, “12 March €89”"
    )
    assert not risks_of(ApprovalSettings(harmless=("12 March €89",)), decided(Click(target=9)), page)


def looking_like(name: str, number: int, called: str = "") -> Mark:
    return mark(number, called).model_copy(update={"icon": IconGuess(name=name, confidence=0.9)})


@pytest.mark.parametrize(
    ("action", "risks"),
    [
        (Click(target=1), ["delete"]),
        (Click(target=2), []),
        (Drag(source=2, target=1), ["delete"]),
        (Drag(source=1, target=2), []),
        # What the policy calls harmless is called so by its name: the guess adds its risk to no such mark, ...
        (Click(target=3), []),
        # ... and takes none from a mark whose name has one.
        (Click(target=4), ["pay"]),
    ],
)
def test_what_an_icon_looks_like_adds_a_risk_and_takes_none_away(action: Action, risks: list[str]) -> None:
    marks = (
        looking_like("trash", 1),
        looking_like("settings", 2),
        looking_like("trash", 3, "Clear filter"),
        looking_like("search", 4, "Pay now"),
    )
    found = risks_of(ApprovalSettings(harmless=("Clear filter", "search")), decided(action), seen(*marks))
    assert [each.risk for each in found] == risks


def test_a_policy_says_what_else_is_risky_and_what_is_not(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('risks = ["pay", "leave"]\nharmless = ["Pay now"]\nhosts = ["*.partner.example"]\n'
                    'words = { pay = ["berapp*"] }\n')  # fmt: skip
    policy = load(approval=load_policy(file)).approval
    assert policy.ask == "risky"
    page = seen(*MARKS, mark(4, "Berappen"), mark(5, "Delete"))
    actions = (PAY, Click(target=4), Click(target=5), Goto(url="https://a.partner.example/"))
    assert [(each.action, each.risk) for each in risks_of(policy, decided(*actions), page)] == [(1, "pay")]


@pytest.mark.parametrize("text", ["ask = 'maybe'", "asks = 'risky'", "not toml"])
def test_a_policy_that_does_not_fit_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"policy\.toml"):
        load_policy(file)


def test_a_misspelt_risk_in_a_policy_is_answered_with_what_is_meant(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('risks = ["pya"]')
    with pytest.raises(UsageError, match=r"risks\.0: Input should be .*; did you mean pay\?"):
        load_policy(file)


# --- when it is asked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ask", "asked"), [("never", 0), ("risky", 1), ("always", 3)])
async def test_the_policy_says_what_is_asked_about(ask: str, asked: int) -> None:
    approver = answers(*[Choice(kind="approve")] * asked)
    ran = Supervised([decided(Click(target=1)), decided(PAY), decided(FINISH)], approver, ask)
    run = await ran.run()
    assert ran.events.count("proposed") == ran.events.count("chosen") == asked
    assert [step.decision.author for step in run.steps] == ["model"] * 3
    assert ran.browser.acts == [Click(target=1), PAY]


async def test_a_question_to_a_person_is_not_asked_about() -> None:
    async def person(question: str) -> str:
        return f"Yes to {question}"

    ran = Supervised([decided(Ask(question="Really?")), [FINISH]], answers(Choice(kind="approve")), person=person)
    run = await ran.run()
    assert run.steps[0].approval is None
    assert run.ending is not None
    assert run.ending.status == "done"


async def test_where_nobody_can_be_asked_nothing_is_done_and_the_run_ends_with_4() -> None:
    ran = Supervised([decided(PAY)], None, "risky")
    run = await ran.run()
    assert ran.browser.acts == []
    assert run.ending is not None
    assert run.ending.exit_code == 4
    assert "pay: it is called “Pay now”" in run.ending.sentence
    assert "--supervise" in run.ending.sentence
    assert [outcome.refusal for outcome in run.steps[0].outcomes] == ["needs_person"]


async def test_a_run_does_not_wait_longer_than_the_policy_says() -> None:
    async def never(*_: object) -> Choice | None:
        await asyncio.Event().wait()
        return None

    ran = Supervised([decided(PAY)], Answers(never), policy=ApprovalSettings(ask="always", wait_s=0.01))
    run = await ran.run()
    assert run.ending is not None
    assert (run.ending.exit_code, ran.browser.acts) == (4, [])
    assert "nobody answered in time" in run.ending.sentence


@pytest.mark.parametrize(("said", "status", "acted"), [(True, "done", True), (False, "interrupted", False)])
async def test_a_function_may_approve_with_true_and_stop_with_false(said: bool, status: str, acted: bool) -> None:
    async def answer(*_: object) -> bool:
        return said

    ran = Supervised([decided(PAY), [FINISH]], Answers(answer), "risky")
    run = await ran.run()
    assert run.ending is not None
    assert (run.ending.status, bool(ran.browser.acts)) == (status, acted)


async def test_an_answer_that_is_none_is_said_with_what_to_return() -> None:
    async def my_answer(*_: object) -> Any:
        return "no"

    with pytest.raises(UsageError, match=r"my_answer returned 'no' \(return True, False, or a Choice"):
        await Supervised([decided(PAY)], Answers(my_answer), "risky").run()
    with pytest.raises(UsageError, match="<lambda> is not async"):
        await Supervised([decided(PAY)], Answers(lambda *_: True), "risky").run()  # type: ignore[arg-type,return-value]


async def test_an_approver_that_replaces_a_step_by_nothing_is_told_so() -> None:
    async def nothing(*_: object) -> Choice:
        return Choice(kind="replace")

    with pytest.raises(UsageError, match="nothing replaced what was proposed by nothing"):
        await Answers(nothing).approve(Task(goal="Try"), seen(), Decision(author="model"), ())


async def test_an_input_that_is_closed_is_not_said_to_be_late() -> None:
    async def closed(prompt: str) -> str:
        raise EOFError

    ran = Supervised([decided(PAY)], TerminalApprover(read=closed, say=lambda _: None), "risky")
    run = await ran.run()
    assert run.ending is not None
    assert (run.ending.exit_code, ran.browser.acts) == (4, [])
    assert "Pay now”), and nobody answered. Run it in a terminal" in run.ending.sentence


async def test_a_browser_that_is_not_handed_back_ends_the_run_with_4() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    async def answer(*_: object) -> Choice:
        return Choice(kind="take_over")

    ran = Supervised([decided(PAY)], Answers(answer, never), policy=ApprovalSettings(ask="always", wait_s=0.01))
    run = await ran.run()
    assert run.ending is not None
    assert (run.ending.exit_code, len(run.steps)) == (4, 1)
    assert "did not hand it back within 0.01 s" in run.ending.sentence


async def test_what_is_done_by_hand_is_a_step_each_and_counts_in_no_limit() -> None:
    did = Outcome(status="done", effect="changed", sentence="A person clicked it.")
    by_hand = [
        ManualAction(observation=seen(), words="clicked it", action=Click(target=1), outcome=did, started_at=NOW),
        ManualAction(observation=seen(), words="drew something", started_at=NOW),
    ]
    ran = Supervised(
        [decided(PAY), [FINISH]],
        answers(Choice(kind="take_over"), Choice(kind="approve")),
        by_hand=by_hand,
        limits=Limits(steps=2),
    )
    run = await ran.run()
    assert run.ending is not None
    assert run.ending.status == "done"
    assert ran.browser.acts == []
    assert [(step.is_by_hand, step.decision.author, step.decision.next_goal) for step in run.steps] == [
        (False, "human", "A person takes over the browser before this is done: Pay"),
        (True, "human", "By hand: clicked it"),
        (True, "human", "By hand: drew something"),
        (False, "scripted", ""),
    ]
    assert [step.carried_out for step in run.steps[1:3]] == [((Click(target=1), did),), ()]
    of_second = [event.event for event in ran.record.events if getattr(event, "step", 0) == 2]
    assert of_second == ["observed", "decided", "intended", "happened", "stepped"]
    assert assemble(run.model_copy(update={"steps": (), "ending": None}), ran.record.events) == run


# --- what is answered -------------------------------------------------------------------------------------------------


async def test_who_is_asked_sees_the_task_the_page_the_decision_and_the_risks() -> None:
    heard: list[tuple[Task, Observation, Decision, Sequence[Risky]]] = []

    async def answer(task: Task, page: Observation, decision: Decision, risks: Sequence[Risky]) -> Choice:
        heard.append((task, page, decision, risks))
        return Choice(kind="approve")

    await Supervised([decided(PAY), [FINISH]], Answers(answer), "risky").run()
    ((task, page, decision, risks),) = heard
    assert (task.goal, page.title, decision, [each.risk for each in risks]) == (
        "Pay for it", "Cart", decided(PAY), ["pay"],
    )  # fmt: skip


async def test_what_a_person_does_instead_is_theirs_and_what_was_proposed_stays_on_record() -> None:
    other = Choice(kind="replace", actions=(Click(target=1),), goal="Read first")
    ran = Supervised([decided(PAY), [FINISH]], answers(other), "risky")
    run = await ran.run()
    step = run.steps[0]
    assert ran.browser.acts == [Click(target=1)]
    assert (step.decision.author, step.decision.next_goal, step.decision.actions) == (
        "human", "Read first", (Click(target=1),),
    )  # fmt: skip
    assert step.decision.usage == decided().usage  # what was spent was spent
    assert step.approval is not None
    assert (step.approval.proposed, step.approval.choice) == (decided(PAY), other)
    assert assemble(run, ran.record.events).steps == run.steps


@pytest.mark.parametrize(
    ("done", "goal"),
    [
        ((Click(target=1),), "Click button “Read more”"),
        ((Click(target=1), Scroll()), "Click button “Read more”; Scroll down by 0.8"),
        ((Scroll(),), "Scroll down by 0.8"),
    ],
    ids=["same-kind", "several", "other-kind"],
)
async def test_the_goal_of_a_step_that_a_person_edited_says_what_was_done(done: tuple[Action, ...], goal: str) -> None:
    other = Choice(kind="replace", actions=done)
    ran = Supervised([decided(PAY, goal="Pay the order"), [FINISH]], answers(other), "risky")
    step = (await ran.run()).steps[0]
    assert (step.decision.next_goal, step.decision.author) == (goal, "human")
    assert step.approval is not None
    assert step.approval.proposed.next_goal == "Pay the order"


async def test_an_instruction_is_heard_and_decided_again() -> None:
    told = Choice(kind="instruct", text="Only the blue one")
    ran = Supervised([decided(PAY), decided(Click(target=1)), decided(FINISH)], answers(told), "risky")
    run = await ran.run()
    assert [message.text for message in run.task.messages] == ["Only the blue one"]
    assert ran.browser.acts == [Click(target=1)]
    assert [step.decision.author for step in run.steps] == ["human", "model", "model"]
    assert run.ending is not None
    assert run.ending.status == "done"


async def test_a_person_stops_the_run_before_anything_is_done() -> None:
    ran = Supervised([decided(PAY)], answers(Choice(kind="stop", text="too dear")))
    run = await ran.run()
    assert run.ending is not None
    assert (ran.browser.acts, run.ending.exit_code) == ([], 130)
    assert run.ending.sentence == "A person stopped the run: too dear"


class Pausing(Answers):
    """Wants to be asked as soon as anything was done."""

    wants_to_be_asked = False

    def hear(self, event: Event) -> None:
        self.wants_to_be_asked |= event.event == "happened"


async def test_a_pause_stops_a_batch_between_two_acts_and_asks_whatever_the_policy_says() -> None:
    async def stop(*_: object) -> Choice:
        return Choice(kind="stop")

    pausing = Pausing(stop)
    ran = Supervised([decided(Click(target=1), PAY), decided(PAY)], pausing, "never", on_event=pausing.hear)
    run = await ran.run()
    assert ran.browser.acts == [Click(target=1)]
    assert run.steps[0].outcomes[1].refusal == "not_reached"
    assert "a person paused the run" in run.steps[0].outcomes[1].sentence
    assert run.ending is not None
    assert run.ending.status == "interrupted"


async def test_what_a_person_chose_becomes_an_example_with_what_was_proposed_beside_it() -> None:
    other = Choice(kind="replace", actions=(Click(target=1),))
    run = await Supervised([decided(PAY), decided(FINISH)], answers(other, Choice(kind="approve"))).run()
    first, second = (example for example, _ in iter_examples(run))
    assert (first["author"], first["choice"], second["author"], second["choice"]) == (
        "human", "replace", "model", "approve",
    )  # fmt: skip
    assert '"target": 2' in first["rejected"]["content"][0]["text"]
    assert '"target": 1' in first["messages"][2]["content"][0]["text"]
    assert "rejected" not in second


NOTE = mark(7, "Message", tag="textarea", kind="field")
NEWS = mark(8, "Subscribe to the letter", kind="toggle", input_type="checkbox")


@pytest.mark.parametrize(
    ("actions", "risks"),
    [
        ([Type(target=3, text="4111"), Press(keys="Enter")], [(1, "submit"), (1, "pay")]),
        ([Click(target=3), Press(keys="\n")], [(1, "submit"), (1, "pay")]),
        ([Press(keys="Tab", target=3), Press(keys="Space")], [(1, "submit"), (1, "pay")]),
        ([Type(target=Point(x=1, y=1), text="x", submit=True)], [(0, "submit"), (0, "pay")]),
        ([Type(target=7, text="Hello\n")], [(0, "submit")]),
        ([Type(target=3, text="Hello\n")], []),
        ([Goto(url="//elsewhere.example/x")], [(0, "leave")]),
        ([Check(mark=8, checked=True)], [(0, "submit")]),
    ],
)
def test_keys_are_risky_by_what_has_the_focus_by_then(actions: list[Action], risks: list[tuple[int, str]]) -> None:
    page = seen(*MARKS, NOTE, NEWS)
    assert [(each.action, each.risk) for each in risks_of(ApprovalSettings(), decided(*actions), page)] == risks


# --- a dry run --------------------------------------------------------------------------------------------------------


async def test_a_dry_run_looks_and_ends_before_the_first_act_that_does_more(tmp_path: Path) -> None:
    script = [decided(Scroll(direction="down")), decided(Wait(seconds=0.1), Type(target=3, text="Ann"), PAY)]
    ran = Supervised(script, answers(), policy=ApprovalSettings(ask="always", dry_run=True))
    run = await ran.run()
    assert ran.browser.acts == [Scroll(direction="down"), Wait(seconds=0.1)]
    assert "proposed" not in ran.events
    assert run.ending is not None
    assert (run.ending.status, run.ending.exit_code) == ("dry_run", 0)
    assert run.ending.sentence == (
        "A dry run: nothing was done to the page. Next would be: Type “Ann” into [3] “Name”; then "
        "Click [2] “Pay now” [pay: it is called “Pay now”]"
    )
    assert [outcome.refusal for outcome in run.steps[-1].outcomes] == [None, "dry_run", "not_reached"]
    with RunFolder.create(tmp_path, "r1", Redactor([])) as folder:
        for event in ran.record.events:
            folder.write(event)
    found = verify(folder.path)
    assert [fault.sentence for fault in found.faults if "request" not in fault.sentence] == []
    assert found.may_have_happened == ()


async def test_a_dry_run_that_needs_nothing_but_looking_ends_as_any_other() -> None:
    run = await Supervised(
        [decided(Zoom(target=1)), decided(FINISH)], None, policy=ApprovalSettings(dry_run=True)
    ).run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.answer) == ("done", "paid")


@pytest.mark.parametrize(
    ("by_hand", "is_done"),
    [
        (Click(target=1), False),
        (Click(target=2), True),
        (Click(target=2, count=2), True),
        (Click(target=2, button="right"), False),
        (Press(target=2, keys="Enter"), True),
        (Press(target=2, keys="Space"), True),
        (Press(target=2, keys="Tab"), False),
        (Press(target=1, keys="Enter"), False),
        (Press(target=3, keys="Enter"), False),
        (None, False),
    ],
    ids=str,
)
async def test_what_was_pending_at_a_takeover_is_decided_anew_unless_the_person_did_it(
    by_hand: Any, is_done: bool
) -> None:
    did = Outcome(status="done", effect="changed", sentence="A person did it.")
    acts = [ManualAction(observation=seen(), words="did it", action=by_hand, outcome=by_hand and did, started_at=NOW)]
    recorded = await Supervised([decided(PAY, goal="Pay"), [FINISH]], None, "never").run()

    async def asked_next(model: Model, goal: str, last: str) -> None:
        asked: list[str] = []

        async def answer(_: Task, __: Observation, decision: Decision, ___: Sequence[Risky]) -> Choice:
            asked.append(decision.next_goal)
            return Choice(kind="take_over" if len(asked) == 1 else "stop")

        async def at_once() -> None:
            return

        await Supervised([], Answers(answer, at_once), by_hand=acts, model=model).run()
        assert asked == [goal, last if is_done else goal]

    await asked_next(StepsModel(["click Pay now", "finish"]), "click Pay now", "finish")
    await asked_next(ReplayedModel(recorded.steps), "Pay", "")
