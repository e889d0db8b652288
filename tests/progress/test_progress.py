"""Claims about what a run prints while it goes on."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.loop_run import observation
from vision_agent.actions import Click, Finish, Wait
from vision_agent.describe.action_sentences import LOOK_AGAIN_IN_REPLAY
from vision_agent.events import Decided, Happened, Judged, Observed, Proposed, Troubled
from vision_agent.observation import Wording
from vision_agent.progress.terminal_progress import Progress, found_facts
from vision_agent.types import Decision, Outcome, Verdict


def test_an_action_without_a_goal_is_shown_under_the_number_of_its_step():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    done = Outcome(status="done", effect="changed", sentence="Clicked mark 3 (button “Send”).")
    progress(Decided(step=7, decision=Decision(actions=(Click(target=3), Click(target=3)), author="scripted")))
    progress(Happened(step=7, index=0, outcome=done))
    progress(Happened(step=7, index=1, outcome=done))
    first, second = shown.getvalue().splitlines()
    assert first.startswith("    7 ✓ Clicked mark 3")
    assert second.startswith("      ✓ Clicked mark 3")


def test_what_came_of_each_step_stands_in_one_column():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=80))
    for step, (goal, effect) in enumerate((("click Add", "changed"), ("click Cart", "navigated"), ("end", "read")), 1):
        progress(Decided(step=step, decision=Decision(next_goal=goal, actions=(Click(target=3),), author="steps")))
        progress(Happened(step=step, index=0, outcome=Outcome(status="done", effect=effect, sentence="Clicked.")))
    lines = shown.getvalue().splitlines()
    assert len({line.index("saw 0 marks") for line in lines}) == 1
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [80, 100, 140])
def test_results_of_every_length_stand_in_one_column_and_what_does_not_fit_stands_below(width: int):
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=width))
    look = observation()
    looks = look.model_copy(update={"marks": look.marks * 120})
    answered = ("the page answered 404 Not Found",)
    outcomes = (
        (Click(target=1), Outcome(status="done", effect="changed", sentence="Clicked.")),
        (Wait(text="Thanks"), Outcome(status="done", effect="changed", sentence='"Thanks" shows after 0.3 s.')),
        (Click(target=1), Outcome(status="refused", refusal="not_an_option", sentence="No.")),
        (Click(target=1), Outcome(status="done", effect="navigated", sentence="Clicked.", changes=answered)),
    )
    for step, (action, outcome) in enumerate(outcomes, 1):
        progress(Observed(step=step, observation=looks))
        progress(Decided(step=step, decision=Decision(next_goal="line", actions=(action,), author="steps")))
        progress(Happened(step=step, index=0, outcome=outcome))
    lines = shown.getvalue().splitlines()
    assert len({line.index("saw 120 marks") for line in lines if "saw" in line}) == 1
    assert "the page answered 404 Not Found" in shown.getvalue()
    assert max(map(len, lines)) <= width


def test_results_of_a_replay_stand_in_one_column_with_and_without_a_note():
    shown = io.StringIO()
    notes = {1: "picture 99.5% the same", 2: "picture 100% the same", 3: ""}
    progress = Progress(Console(file=shown, width=80), note=notes.__getitem__)
    effects = (("same_document", 1), ("changed", 2), ("changed", 1))
    for step, (effect, rung) in enumerate(effects, 1):
        progress(Decided(step=step, decision=Decision(next_goal="line", actions=(Click(target=3),), author="replay")))
        outcome = Outcome(status="done", effect=effect, sentence="Clicked.", rung=rung)
        progress(Happened(step=step, index=0, outcome=outcome))
    first, second, found, third = shown.getvalue().splitlines()
    assert found == "        found again by name"
    assert first.index("same document") == second.index("changed") == third.index("saw 0 marks")
    assert max(map(len, (first, second, third))) <= 80


def test_a_manual_action_whose_effect_is_not_known_is_done():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    progress(Decided(step=1, decision=Decision(next_goal="By hand", actions=(Click(target=3),), author="human")))
    progress(Happened(step=1, index=0, outcome=Outcome(status="done", sentence="Clicked mark 3.")))
    assert shown.getvalue().rstrip().endswith("saw 0 marks, done")


def test_a_page_that_came_with_an_error_is_told_with_the_step_that_led_to_it():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    came = ("the page answered 404 Not Found", "the address is now http://shop.example/x")
    progress(Decided(step=1, decision=Decision(next_goal="click Cart", actions=(Click(target=3),), author="steps")))
    outcome = Outcome(status="done", effect="navigated", sentence="Clicked mark 3.", changes=came)
    progress(Happened(step=1, index=0, outcome=outcome))
    step, why = shown.getvalue().splitlines()
    assert step.endswith("saw 0 marks, navigated")
    assert why == "        the page answered 404 Not Found"


def test_a_request_that_was_blocked_is_told_with_the_step_that_led_to_it_once():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=200))
    why = "a request to partner.example was blocked (asked for by the page): its host is denied"
    for effect, index in (("changed", 0), ("no_effect", 0), ("no_effect", 1)):
        sentence = f"Clicked mark 3. {why[:1].upper()}{why[1:]}; the page stayed as it was."
        outcome = Outcome(status="done", effect=effect, sentence=sentence, changes=(why, "the page stayed as it was"))
        clicks = (Click(target=3),) * 2
        progress(Decided(step=1, decision=Decision(next_goal="click Partner", actions=clicks, author="steps")))
        progress(Happened(step=1, index=index, outcome=outcome))
    changed, void, sentence, later = shown.getvalue().splitlines()
    assert changed.endswith("saw 0 marks, changed, a request to partner.example was blocked")
    assert void.endswith("saw 0 marks, no effect")
    assert "A request to partner.example was blocked" in sentence
    assert later.endswith("no effect, a request to partner.example was blocked")


def test_a_download_that_was_not_kept_is_no_success_and_its_reason_is_told():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=200))
    started, lost = 'a download started: "inv.pdf"', 'the download "inv.pdf" was not kept: it contains a secret'
    kept = '"downloads/inv.pdf" was kept: 9 bytes, sha256 0'
    for effect, changes in (("download", (started, lost)), ("download", (started, kept)), ("changed", (lost,))):
        sentence = f"Clicked mark 3. {'; '.join(changes)}."
        progress(Decided(step=1, decision=Decision(next_goal="click Pdf", actions=(Click(target=3),), author="steps")))
        outcome = Outcome(status="done", effect=effect, sentence=sentence, changes=changes)
        progress(Happened(step=1, index=0, outcome=outcome))
    not_kept, sentence, good, late = shown.getvalue().splitlines()
    assert not_kept.startswith("    1 · click Pdf")
    assert not_kept.endswith("saw 0 marks, not kept")
    assert sentence.endswith("it contains a secret.")
    assert (good.startswith("    1 ✓"), good.endswith("saw 0 marks, download")) == (True, True)
    assert late.endswith(f"saw 0 marks, changed, {lost}")


@pytest.mark.parametrize(
    ("line", "name", "shown"),
    [
        ("click Sign in", "Sign in help", 'click Sign in → "Sign in help"'),
        ("click 1", "Sign in", 'click 1 → "Sign in"'),
        ("click Order", "Or", 'click Order → "Or"'),
        ('click "sign  in"', "Sign in", 'click "sign  in"'),
        ('type "a@b.c" into Email', "Email *", 'type "a@b.c" into Email'),
        ("click Sign in", "", "click Sign in"),
        ("click Sign in", "Sign in\x1b[2J" + 50 * "a", f'click Sign in → "Sign in\\u001b[2J{18 * "a"}…"'),
    ],
)
def test_the_mark_that_a_step_line_was_taken_to_mean_is_named_if_the_line_does_not(line: str, name: str, shown: str):
    written = io.StringIO()
    progress = Progress(Console(file=written, width=120))
    look = observation()
    mark = look.marks[0].model_copy(update={"name": name})
    progress(Observed(step=1, observation=look.model_copy(update={"marks": (mark,)})))
    progress(Decided(step=1, decision=Decision(next_goal=line, actions=(Click(target=1),), author="steps")))
    progress(Happened(step=1, index=0, outcome=Outcome(status="done", effect="changed", sentence="Clicked.")))
    assert written.getvalue().startswith(f"    1 ✓ {shown}  ")
    assert written.getvalue().rstrip().endswith("saw 1 mark, changed")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("click Add ‹Mug›", "click Add ‹Mug› → ‹Mug Blue›"),
        ("click Add in row Mug within 3 s", "click Add in row Mug within 3 s → ‹Mug Blue›"),
        ("click Ad <Mug>", 'click Ad <Mug> → "Add" ‹Mug Blue›'),
        ("click Add ‹Mug Blue›", "click Add ‹Mug Blue›"),
        ("click Add ‹€5›", "click Add ‹€5›"),
        ("click Add", "click Add"),
    ],
)
def test_the_row_that_a_step_line_was_taken_to_mean_is_named_if_the_line_has_only_a_part(line: str, shown: str):
    written = io.StringIO()
    progress = Progress(Console(file=written, width=120))
    look = observation()
    wording = Wording(parts=("Mug Blue", "€5"), title="Mug Blue")
    mark = look.marks[0].model_copy(update={"name": "Add", "context": "Mug Blue €5", "wording": wording})
    progress(Observed(step=1, observation=look.model_copy(update={"marks": (mark,)})))
    progress(Decided(step=1, decision=Decision(next_goal=line, actions=(Click(target=1),), author="steps")))
    progress(Happened(step=1, index=0, outcome=Outcome(status="done", effect="changed", sentence="Clicked.")))
    assert written.getvalue().startswith(f"    1 ✓ {shown}  ")


def test_a_long_step_line_is_cut_and_not_the_name_of_the_mark_that_it_was_taken_to_mean():
    written = io.StringIO()
    progress = Progress(Console(file=written, width=80))
    progress(Observed(step=1, observation=observation()))
    line = f'type "{80 * "a"}" into Name'
    progress(Decided(step=1, decision=Decision(next_goal=line, actions=(Click(target=1),), author="steps")))
    progress(Happened(step=1, index=0, outcome=Outcome(status="done", effect="changed", sentence="Clicked.")))
    assert '… → "Go"' in written.getvalue()
    assert len(written.getvalue().rstrip()) <= 80


def test_a_text_that_was_waited_for_and_came_is_told():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    for wait, sentence in ((Wait(text="Thanks"), '"Thanks" shows after 0.3 s.'), (Wait(change=True), "Changed.")):
        progress(Decided(step=1, decision=Decision(next_goal="wait", actions=(wait,), author="steps")))
        progress(Happened(step=1, index=0, outcome=Outcome(status="done", effect="changed", sentence=sentence)))
    came, changed = shown.getvalue().splitlines()
    assert came.endswith("saw 0 marks, the text shows")
    assert changed.endswith("saw 0 marks, changed")


def test_a_tick_that_the_page_took_back_is_called_so_and_not_a_part_of_an_action():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    progress(Decided(step=1, decision=Decision(next_goal="check News", actions=(Click(target=1),), author="steps")))
    gone = Outcome(status="partial", effect="changed", refusal="taken_back", sentence="Ticked it; it is unticked.")
    progress(Happened(step=1, index=0, outcome=gone))
    assert shown.getvalue().splitlines()[0].endswith("saw 0 marks, taken back")


def test_a_step_of_a_dry_run_has_a_neutral_sign_and_words():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    progress(Decided(step=1, decision=Decision(next_goal="click Pay", actions=(Click(target=3),), author="steps")))
    progress(Happened(step=1, index=0, outcome=Outcome(status="refused", refusal="dry_run", sentence="Not sent.")))
    assert shown.getvalue().startswith("    1 · click Pay")
    assert "saw 0 marks, dry run" in shown.getvalue()


def test_giving_up_is_no_success_and_a_pause_to_look_again_is_neither():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    pause, end = Wait(seconds=0.5), Finish(success=False, answer="There is no mug.")
    waited = Outcome(status="done", effect="no_effect", sentence="Waited 0.5 s. Nothing changed.")
    for goal, author in (("look again for: click Mug", "steps"), (f"{LOOK_AGAIN_IN_REPLAY}1 of the record", "replay")):
        progress(Decided(step=1, decision=Decision(next_goal=goal, actions=(pause,), author=author)))
        progress(Happened(step=1, index=0, outcome=waited))
    progress(Decided(step=2, decision=Decision(next_goal="Not done", actions=(end,), author="steps")))
    progress(Happened(step=2, index=0, outcome=Outcome(status="done", effect="finished", sentence=end.answer)))
    first, again, last = shown.getvalue().splitlines()
    assert first.startswith("    1 · look again")
    assert again.startswith("    1 · Look again")
    assert last.startswith("    2 ✗ Not done")
    assert "not done" in last


def test_what_a_judge_says_stands_below_the_step_that_it_judged():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    progress(Decided(step=1, decision=Decision(next_goal="finish", actions=(Finish(),), author="steps")))
    progress(Judged(step=1, verdict=Verdict(done=False, reason="No order is shown.", model="judge")))
    progress(Happened(step=1, index=0, outcome=Outcome(status="refused", refusal="not_verified", sentence="Not yet.")))
    step, *_, said = shown.getvalue().splitlines()
    assert step.startswith("    1 ✗ finish")
    assert said == "      judge judges: it is not done. No order is shown."


def test_where_no_terminal_is_that_it_waits_for_a_person_is_a_line():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=100))
    decision = Decision(next_goal="click Pay", actions=(Click(target=3),), author="model")
    progress(Proposed(step=1, decision=decision, risks=()))
    assert shown.getvalue() == "      waiting for a person: click Pay\n"


def test_a_text_without_end_is_cut():
    shown, typed = io.StringIO(), "A" * 100_000
    progress = Progress(Console(file=shown, width=100))
    progress(Decided(step=1, decision=Decision(next_goal=typed, actions=(Finish(answer=typed),), author="model")))
    failed = Outcome(status="refused", refusal="gone", sentence=typed)
    progress(Happened(step=1, index=0, outcome=failed))
    progress(Troubled(step=1, sentence=typed))
    assert 1500 < len(shown.getvalue()) < 3000


def test_a_complaint_that_comes_again_and_again_is_shown_once():
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=200))
    why = "The reply is empty. Answer with the JSON object."
    gave_up = Decision(author="model", next_goal=f"The model gave no usable reply in 3 tries; the last time: {why}")
    for step in (1, 2):
        for _ in range(3):
            progress(Troubled(step=step, sentence=why))
        progress(Decided(step=step, decision=gave_up))
    for _ in range(2):
        progress(Troubled(step=3, sentence=why))
    progress(Decided(step=3, decision=Decision(actions=(Click(target=3),), author="model")))
    progress(Troubled(step=4, sentence=why))
    none = "The model gave no usable reply in 3 tries; the last time: the same again."
    assert [line.strip() for line in shown.getvalue().splitlines()] == [
        why,
        none,
        none,
        "the same again, 2 times",
        why,
    ]


def test_what_was_read_is_told_in_one_line_and_of_many_texts_the_last_ones():
    console = Console(file=io.StringIO(), width=80)
    (fact,) = found_facts(console, ["Mug | 14\n\n  Cup | 9\n" + "x" * 100_000], [])
    assert fact[0] == "read"
    assert str(fact[1]).startswith("Mug | 14 / Cup | 9 / xx")
    assert len(str(fact[1])) == 68
    many = found_facts(console, [str(each) for each in range(12)], [Path("a.pdf")] * 11)
    assert [each for _, each in many[:2]] == ["2 earlier texts, in the report", "2"]
    assert many[-1] == ("download", "and 1 more in that folder")
