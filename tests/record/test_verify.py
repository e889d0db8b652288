"""A run folder held against itself: whole, damaged at random, and with something missing though the chain holds."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from record_builder import decision, done, limited_run, observation, run, small_run, step_events, story, write_run
from typer.testing import CliRunner

from vision_agent.actions import Click, Finish
from vision_agent.cli.main import app
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import (
    Decided,
    Ended,
    Event,
    Graded,
    Happened,
    Intended,
    Judged,
    LastLook,
    Observed,
    Proposed,
    Started,
    Stepped,
)
from vision_agent.record import RunFolder, verify
from vision_agent.types import Outcome, Provenance, Verdict

Folder = tuple[Path, str]
"""A run folder, and the head that the run printed."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = write_run(tmp_path_factory.mktemp("runs"), small_run())
    return folder.path, folder.head


def copied(written: Folder, to: Path) -> Path:
    if to.exists():
        shutil.rmtree(to)
    shutil.copytree(written[0], to)
    return to


def test_a_run_as_it_was_written_holds(written: Folder) -> None:
    folder, head = written
    found = verify(folder, head)
    assert (found.holds, found.faults, found.ending) == (True, (), "done")
    assert (found.steps, found.acts, found.authors, found.chain.head) == (2, 2, {"steps": 2}, head)
    assert found.pictures == 4


@pytest.mark.parametrize(
    "cut", [lambda head: head[:12], lambda head: f"{head}0", lambda head: head.upper(), lambda _: ""]
)
def test_what_cannot_be_a_head_is_refused(written: Folder, cut: Callable[[str], str]) -> None:
    with pytest.raises(UsageError, match="cannot be the head of a record"):
        verify(written[0], cut("a" * 64))


def test_two_hundred_flipped_bits_are_found_and_the_first_bad_record_is_named(written: Folder, tmp_path: Path) -> None:
    dice = random.Random(7)
    files = sorted(each for each in written[0].rglob("*") if each.is_file())
    lines = (written[0] / "steps.jsonl").read_bytes().splitlines(keepends=True)
    ends = [sum(map(len, lines[:n])) for n in range(1, len(lines) + 1)]
    for _ in range(200):
        at = dice.choice(files)
        folder = copied(written, tmp_path / "flipped")
        bad = folder / at.relative_to(written[0])
        content = bytearray(bad.read_bytes())
        place = dice.randrange(len(content))
        content[place] ^= 1 << dice.randrange(8)
        bad.write_bytes(content)
        found = verify(folder, written[1])
        assert not found.holds, (at.name, place)
        if at.name == "steps.jsonl":
            assert found.faults[0].line == next(n for n, end in enumerate(ends, 1) if place < end)
        elif at.name == "run.json":
            assert found.faults[0].line == 0
        else:
            assert at.name in found.faults[0].sentence


def test_a_changed_byte_gives_one_fault_and_says_what_was_not_checked(written: Folder, tmp_path: Path) -> None:
    whole = verify(written[0], written[1])
    lines = (written[0] / "steps.jsonl").read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        for damage in (lambda raw: b"[" + raw[1:], lambda raw: raw.replace(b'"event"', b'"evemt"', 1)):
            folder = copied(written, tmp_path / "damaged")
            damaged = [*lines[: number - 1], damage(lines[number - 1]), *lines[number:]]
            (folder / "steps.jsonl").write_bytes(b"".join(damaged))
            found = verify(folder, written[1])
            [fault] = found.faults
            assert fault.sentence.startswith(f"Line {number} was changed after it was written")
            assert found.steps in (whole.steps, whole.steps - (number > 6))
            assert found.ending == ("done" if number < len(lines) else "")
            assert found.notes == (
                f"From line {number} on, it was not checked whether any event is missing.",
                f"What cannot be read is not counted: line {number}.",
            )


def test_a_changed_word_gives_no_faults_that_only_follow_from_it(written: Folder, tmp_path: Path) -> None:
    folder = copied(written, tmp_path / "damaged")
    steps = folder / "steps.jsonl"
    decided = next(line for line in steps.read_bytes().splitlines(keepends=True) if b'"decided"' in line)
    assert b'"target":5' in decided
    steps.write_bytes(steps.read_bytes().replace(decided, decided.replace(b'"target":5', b'"target":4')))
    [fault] = verify(folder, written[1]).faults
    assert fault.sentence == "Line 3 was changed after it was written"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b'{"id": "abc", ', "its JSON breaks off: EOF while parsing"),
        (b"hello", "it is not JSON: expected value at line 1 column 1"),
        (b"[1]", "it does not describe a run: "),
    ],
)
def test_what_is_wrong_with_a_broken_run_json_is_said(
    content: bytes, why: str, written: Folder, tmp_path: Path
) -> None:
    folder = copied(written, tmp_path / "broken")
    (folder / "run.json").write_bytes(content)
    [fault] = verify(folder, written[1]).faults
    assert fault.line == 0
    assert fault.sentence.startswith(f"run.json was changed after it was written: {why}")
    done = CliRunner().invoke(app, ["verify", str(folder)])
    assert (done.exit_code, done.output.splitlines()[0]) == (1, fault.sentence)


def test_a_missing_run_json_beside_what_was_recorded_is_said(written: Folder, tmp_path: Path) -> None:
    folder = copied(written, tmp_path / "broken")
    (folder / "run.json").unlink()
    with pytest.raises(RecordError, match=r"run\.json is missing, and steps\.jsonl has what the run recorded"):
        verify(folder)


def test_a_record_without_lines_is_named_without_a_line(written: Folder, tmp_path: Path) -> None:
    folder = copied(written, tmp_path / "damaged")
    (folder / "steps.jsonl").write_bytes(b"")
    assert [each.sentence for each in verify(folder).faults] == ["The record stops before the end of the run"]


def damages(lines: list[bytes]) -> dict[str, tuple[list[bytes], int]]:
    """What may be done to the lines of a record, and the first line that is not as it was then."""
    swapped = [*lines[:4], lines[5], lines[4], *lines[6:]]
    return {
        "dropped": ([*lines[:4], *lines[5:]], 5),
        "swapped": (swapped, 5),
        "doubled": ([*lines[:5], lines[4], *lines[5:]], 6),
        "cut off": (lines[:-2], len(lines) - 2),
    }


@pytest.mark.parametrize("damage", ["dropped", "swapped", "doubled", "cut off"])
def test_lines_that_were_dropped_swapped_doubled_or_cut_off_are_found(
    written: Folder, tmp_path: Path, damage: str
) -> None:
    folder = copied(written, tmp_path / "damaged")
    steps = folder / "steps.jsonl"
    left, first = damages(steps.read_bytes().splitlines(keepends=True))[damage]
    steps.write_bytes(b"".join(left))
    found = verify(folder, written[1])
    assert not found.holds
    assert found.faults[0].line == first


def test_a_picture_that_is_missing_is_named_with_the_line_that_shows_it(written: Folder, tmp_path: Path) -> None:
    folder = copied(written, tmp_path / "missing")
    marked = observation("o2").marked
    (folder / "shots" / f"{marked.sha256}.png").unlink()
    [fault] = verify(folder, written[1]).faults
    assert fault.line == 7
    assert f"picture shots/{marked.sha256}.png cannot be read" in fault.sentence


CLICK = Click(target=5)
ENDED = small_run()[-1]
ASKED = Started(run=run(provenance=Provenance(model="anthropic:claude-sonnet-5-5")))
DENIED = Judged(step=2, verdict=Verdict(done=False, reason="The cart is empty.", model="m"))


def without(kind: type[Event]) -> list[Event]:
    events = small_run()
    events.remove(next(event for event in events if isinstance(event, kind)))
    return events


@pytest.mark.parametrize(
    ("events", "sentence"),
    {
        "not seen": (without(Observed), "has a decision but no observation"),
        "not decided": (without(Decided), "without being decided"),
        "not begun": (without(Intended), "has an outcome but was never begun"),
        "no outcome": (without(Happened), "was decided but has no outcome"),
        "not complete": (without(Stepped), "step 1 is not complete when the next one begins"),
        "no end": (without(Ended), "the record stops before the end of the run"),
        "after the end": ([*small_run(), ENDED], "an event follows the end of the run"),
        "after the last look": ([small_run()[0], LastLook(), *small_run()[1:]], "an event follows the last look"),
        "begun twice": ([*small_run()[:4], *small_run()[3:]], "was begun twice"),
        "another act than was decided": (
            [*small_run()[:3], Intended(step=1, index=0, action=Click(target=4)), *small_run()[4:]],
            "without being decided",
        ),
        "what was not shown": (
            [Started(run=run()), *step_events(1, (Click(target=99), done())), *small_run()[6:]],
            "click was done to mark 99, which step 1 did not show",
        ),
        "nobody answered": (
            [*small_run()[:2], Proposed(step=1, decision=decision(CLICK), risks=()), *small_run()[2:]],
            "begun without an answer",
        ),
        "the end in a step": ([*small_run()[:4], ENDED], "ended as done before step 1 was complete"),
        "denied": ([*small_run()[:9], DENIED, *small_run()[9:]], "the judge had not confirmed"),
        "graded too late": (
            [*small_run()[:6], Graded(step=1, is_right=True, sentence="Right."), *small_run()[6:]],
            "step 1 has a grade but no decision",
        ),
        "not asked": (
            [ASKED, *step_events(1, (CLICK, done()), author="model"), *small_run()[6:]],
            "the request is not recorded",
        ),
    }.values(),
)
def test_what_is_missing_is_found_though_the_chain_holds(tmp_path: Path, events: list[Event], sentence: str) -> None:
    folder = write_run(tmp_path, events)
    found = verify(folder.path, folder.head)
    assert found.chain.holds
    assert not found.holds
    assert any(sentence in fault.sentence for fault in found.faults), found.faults


def test_a_run_that_was_cut_off_says_what_may_have_happened(tmp_path: Path) -> None:
    events = [Started(run=run()), *step_events(1, (CLICK, done())), *step_events(2, (CLICK, done()))[:3]]
    found = verify(write_run(tmp_path, events).path)
    assert found.may_have_happened == ("step 2, action 1: click was begun and has no outcome",)
    assert not found.holds
    assert not found.is_held_to_head


def test_an_act_that_was_not_reached_needs_no_beginning(tmp_path: Path) -> None:
    folder = write_run(tmp_path, story())
    said = [fault.sentence for fault in verify(folder.path, folder.head).faults]
    assert not [each for each in said if "never begun" in each]


def test_a_request_is_kept_under_its_hash_and_held_to_it(tmp_path: Path) -> None:
    def asked(folder: RunFolder) -> list[Event]:
        request = folder.keep_request(b'{"model": "some", "messages": []}')
        first = Decided(step=1, decision=decision(CLICK, author="model", request_sha256=request))
        return [*small_run()[:2], first, *small_run()[3:]]

    folder = rewritten(tmp_path, asked)
    found = verify(folder.path, folder.head)
    assert (found.holds, found.requests, found.authors) == (True, 1, {"model": 1, "steps": 1})
    [kept] = (folder.path / "requests").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"some", b"more"))
    [fault] = verify(folder.path, folder.head).faults
    assert "Line 3: the request" in fault.sentence


def rewritten(runs: Path, events: Callable[[RunFolder], list[Event]]) -> RunFolder:
    with RunFolder.create(runs, "asked", lambda text: text) as folder:
        for event in events(folder):
            folder.write(event)
    return folder


def test_where_there_is_no_run_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is this a run folder"):
        verify(tmp_path)


def test_a_refused_act_may_name_what_was_not_shown(tmp_path: Path) -> None:
    refused = Outcome(status="refused", refusal="unknown_mark", sentence="There is no mark 99.")
    end = step_events(2, (Finish(), done("Finished.", effect="finished")))
    events = [Started(run=run()), *step_events(1, (Click(target=99), refused)), *end, ENDED]
    folder = write_run(tmp_path, events)
    assert verify(folder.path, folder.head).faults == ()


@pytest.mark.parametrize("end", [1, None])
def test_a_run_with_a_last_look_holds(tmp_path: Path, end: int | None) -> None:
    folder = write_run(tmp_path, limited_run(end=end))
    assert verify(folder.path, folder.head).faults == ()
