"""What the memory believes: a run's own claim is not learned, and only verified endings count as help."""

from __future__ import annotations

from pathlib import Path

import pytest
from exemplar_builder import exemplar
from record_builder import done, run, small_run, step_events, task, write_run

from vision_agent.actions import Click, Finish
from vision_agent.errors import UsageError
from vision_agent.events import Ended, Event, Judged, Started
from vision_agent.exemplars import Standing, VerifiedBy
from vision_agent.memory import MemoryFolder
from vision_agent.memory.exemplar import exemplar_of
from vision_agent.models.prompt.prompt import exemplar_parts
from vision_agent.record import read
from vision_agent.settings import ModelSettings
from vision_agent.types import Ending, Outcome, Run, SuccessCheck, Task, Verdict

CHECKED = task(checks=(SuccessCheck(text="In the cart"),))
CLAIMED = task()


def events(of: Task, status: str, *verdicts: bool) -> list[Event]:
    """A run with one click and one claim for each verdict; it ends with the status."""
    claims: list[Event] = []
    for index, verdict in enumerate(verdicts, 2):
        refused = Outcome(status="refused", refusal="not_verified", sentence="The task is not done: no cart.")
        claim = step_events(index, (Finish(), done("Finished.", effect="finished") if verdict else refused))
        judged = Judged(step=index, verdict=Verdict(done=verdict, reason="The cart.", model="judge"))
        claims += [*claim[:-2], judged, *claim[-2:]]
    ending = Ending.model_validate({"status": status, "sentence": "That was it."})
    return [Started(run=run(task=of)), *step_events(1, (Click(target=5), done())), *claims, Ended(ending=ending)]


def recorded(tmp_path: Path, of: Task, status: str, *verdicts: bool) -> Run:
    return read(write_run(tmp_path, events(of, status, *verdicts)).path)


def test_a_run_that_only_claims_success_is_learned_when_a_person_confirms_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    with pytest.raises(UsageError, match=r"neither a check nor a judge.*--confirm"):
        exemplar_of(folder)
    assert exemplar_of(folder, confirmed=True).verified_by == "person"


def test_a_right_form_of_the_answer_verifies_nothing(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run(task=task(answer_schema={"type": "string"}))).path
    with pytest.raises(UsageError, match="neither a check nor a judge"):
        exemplar_of(folder)


@pytest.mark.parametrize(
    ("of", "verdicts", "by"),
    [(CHECKED, (), "checks"), (CLAIMED, (True,), "judge"), (CLAIMED, (False, True), "judge")],
)
def test_a_run_that_checks_or_a_judge_verified_is_learned(
    of: Task, verdicts: tuple[bool, ...], by: VerifiedBy, tmp_path: Path
) -> None:
    folder = write_run(tmp_path, events(of, "done", *verdicts)).path
    assert exemplar_of(folder).verified_by == by


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("checks", "its result passed the checks of that task"),
        ("judge", "a model that judged its result found it done"),
        ("person", "a person confirmed its result"),
        ("unknown", "whether its result was right was not checked"),
    ],
)
def test_the_prompt_says_who_verified_an_exemplar(by: VerifiedBy, words: str) -> None:
    head, *_ = exemplar_parts(task(exemplar=exemplar(verified_by=by)), ModelSettings())
    assert isinstance(head, str)
    assert head.startswith(f"A task like this was done before; {words}.")
    assert "verified" not in head
    assert "worked" not in head


@pytest.mark.parametrize(
    ("of", "status", "verdicts", "standing"),
    [
        (CHECKED, "done", (), Standing(helped=1)),
        (CLAIMED, "done", (True,), Standing(helped=1)),
        (CLAIMED, "done", (False, True), Standing(helped=1)),
        (CLAIMED, "done", (), Standing()),
        (CLAIMED, "not_done", (), Standing(failed=1)),
        (CHECKED, "limit", (), Standing(failed=1)),
        (CLAIMED, "interrupted", (), Standing()),
        (CLAIMED, "interrupted", (False,), Standing(failed=1)),
        (CLAIMED, "needs_person", (), Standing()),
        (CLAIMED, "unavailable", (False,), Standing(failed=1)),
    ],
)
def test_an_exemplar_helped_if_the_ending_was_verified_and_failed_if_it_was_contradicted(
    of: Task, status: str, verdicts: tuple[bool, ...], standing: Standing, tmp_path: Path
) -> None:
    memory = MemoryFolder(tmp_path / "memory")
    memory.add(shown := exemplar())
    run = recorded(tmp_path / "runs", of.model_copy(update={"exemplar": shown}), status, *verdicts)
    memory.learn_from(run)
    assert memory.show(shown.id).standing == standing


def test_a_failed_replay_demotes_the_exemplars_of_that_record_alone(tmp_path: Path) -> None:
    memory = MemoryFolder(tmp_path / "memory")
    memory.learn_from_failed_replay("1" * 64)
    assert not memory.path.exists()
    memory.add(exemplar("same", head="1" * 64))
    memory.add(exemplar("another"))
    (memory.path / "broken.json").write_text("1" * 64, "utf-8")
    memory.learn_from_failed_replay("1" * 64)
    assert [memory.show(id).standing.failed for id in ("same", "another")] == [1, 0]


def test_a_file_of_an_earlier_version_does_not_say_that_it_was_verified(tmp_path: Path) -> None:
    memory = MemoryFolder(tmp_path)
    path = memory.add(exemplar())
    assert "verified_by" not in path.read_text("utf-8")
    assert memory.show("one").verified_by == "unknown"
