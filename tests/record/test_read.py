"""A run folder read back: whole, torn at the end, and damaged."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from record_builder import START, done, observation, run, small_run, step_events, story, write_run

from vision_agent.actions import Click
from vision_agent.errors import RecordError
from vision_agent.events import Decided, Intended, Observed, Started, Stepped, Troubled
from vision_agent.record import check_chain, load_shot, read, read_lines, turns
from vision_agent.types import Run


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = write_run(tmp_path_factory.mktemp("runs"), small_run())
    return folder.path, folder.head


def copy(source: Path, target: Path, steps: bytes) -> Path:
    target.mkdir(exist_ok=True)
    (target / "run.json").write_bytes((source / "run.json").read_bytes())
    (target / "steps.jsonl").write_bytes(steps)
    return target


def test_a_run_comes_back_as_it_was_told(tmp_path: Path) -> None:
    events = story()
    found = read(write_run(tmp_path, events).path)
    assert [step.index for step in found.steps] == [1, 2, 3, 4]
    assert [len(step.outcomes) for step in found.steps] == [1, 3, 1, 1]
    assert found.ending is not None
    assert found.ending.answer.startswith("The large wool jumper")
    seen = next(event for event in events if isinstance(event, Observed))
    assert found.steps[0].observation.marks == seen.observation.marks
    assert Run.model_validate_json(found.model_dump_json()) == found


def test_pictures_are_loaded_when_asked_for(told: tuple[Path, str]) -> None:
    named = read(told[0]).steps[0].observation.marked
    assert named.data is None
    assert load_shot(told[0], named).data == observation("o1").marked.data


def test_a_changed_picture_is_not_loaded(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    named = read(folder).steps[0].observation.marked
    path = folder / "shots" / f"{named.sha256}.png"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(RecordError, match="was changed"):
        load_shot(folder, named)
    path.unlink()
    with pytest.raises(RecordError, match="cannot be read"):
        load_shot(folder, named)


def test_a_run_that_was_cut_off_keeps_its_unfinished_turn(tmp_path: Path) -> None:
    click = Click(target=5)
    events = [
        Started(run=run()),
        *step_events(1, (click, done())),
        *step_events(2, (click, done()))[:3],
        Troubled(step=3, sentence="no"),
    ]
    folder = write_run(tmp_path, events).path
    first, second, third = turns(line.event for line in read_lines(folder))
    assert first.seconds == 1.4
    assert second.seconds is None
    assert (second.intended, second.outcomes) == ({0: click}, {})
    assert (third.observation, third.troubles) == (None, ("no",))
    found = read(folder)
    assert [step.index for step in found.steps] == [1, 2]
    assert found.ending is None


def test_a_run_that_only_started_is_a_run_without_steps(tmp_path: Path) -> None:
    found = read(write_run(tmp_path, [Started(run=run())]).path)
    assert (found.steps, found.started_at) == ((), START)


def test_a_folder_without_a_run_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"run\.json cannot be read: No such file.*is this a run folder"):
        read(tmp_path)


def test_a_golden_session_is_no_run_folder_and_it_is_said_how_it_becomes_one(tmp_path: Path) -> None:
    file = tmp_path / "run.cere"
    file.write_bytes(b"PK")
    with pytest.raises(RecordError, match=r"vision-agent import .*run\.cere"):
        read(file)


def test_a_last_line_torn_at_any_byte_counts_as_never_written(told: tuple[Path, str], tmp_path: Path) -> None:
    folder, head = told
    whole = (folder / "steps.jsonl").read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        torn = copy(folder, tmp_path / "torn", whole[:cut])
        assert read(torn).ending is None
        assert len(read(torn).steps) == 2
        chain = check_chain(torn)
        assert (chain.holds, chain.lines, chain.torn_bytes) == (True, 11, cut - last)
        assert not check_chain(torn, head).holds


def test_a_long_line_torn_anywhere_counts_as_never_written(told: tuple[Path, str], tmp_path: Path) -> None:
    whole = (told[0] / "steps.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    observed = next(i for i, line in enumerate(lines) if b'"observed"' in line)
    before = b"".join(lines[:observed])
    for cut in range(0, len(lines[observed]), 97):
        torn = copy(told[0], tmp_path / "torn", before + lines[observed][:cut])
        assert read(torn).steps == ()


@pytest.mark.thorough
def test_a_flipped_bit_in_any_line_is_found_with_its_number(told: tuple[Path, str], tmp_path: Path) -> None:
    folder, head = told
    whole = (folder / "steps.jsonl").read_bytes()
    starts = [0, *(i + 1 for i, byte in enumerate(whole) if byte == ord("\n"))]
    for number, (start, end) in enumerate(itertools.pairwise(starts), 1):
        for place in {*range(start, min(start + 130, end)), *range(start, end, 61), end - 1}:
            for bit in (0, 1, 5):
                flipped = bytearray(whole)
                flipped[place] ^= 1 << bit
                chain = check_chain(copy(folder, tmp_path / "flipped", bytes(flipped)), head)
                assert chain.bad_line == number, (place - start, bit, chain.sentence)


def test_a_flipped_bit_before_the_last_line_is_found_without_the_head(told: tuple[Path, str], tmp_path: Path) -> None:
    whole = bytearray((told[0] / "steps.jsonl").read_bytes())
    third = whole.index(b"\n", whole.index(b"\n") + 1) + 300
    whole[third] ^= 4
    assert check_chain(copy(told[0], tmp_path / "f", bytes(whole))).bad_line == 3


def test_where_one_line_or_its_neighbour_may_have_been_changed_both_are_named(
    told: tuple[Path, str], tmp_path: Path
) -> None:
    lines = (told[0] / "steps.jsonl").read_bytes().splitlines(keepends=True)
    for n in (2, 3):
        lines[n] = lines[n].replace(b"{", b"{ ", 1)
    assert check_chain(copy(told[0], tmp_path / "n", b"".join(lines))).sentence == (
        "Line 3 or 4 was changed after it was written"
    )


def test_a_changed_run_json_is_line_zero(told: tuple[Path, str], tmp_path: Path) -> None:
    changed = copy(told[0], tmp_path / "c", (told[0] / "steps.jsonl").read_bytes())
    text = (changed / "run.json").read_text()
    (changed / "run.json").write_text(text.replace("large", "small"))
    chain = check_chain(changed)
    assert (chain.bad_line, chain.sentence) == (0, "run.json was changed after it was written")


@pytest.mark.parametrize("missing", [1, 2, 5, 11])
def test_a_missing_line_is_found_at_its_place(told: tuple[Path, str], tmp_path: Path, missing: int) -> None:
    lines = (told[0] / "steps.jsonl").read_bytes().splitlines(keepends=True)
    del lines[missing - 1]
    assert check_chain(copy(told[0], tmp_path / "m", b"".join(lines))).bad_line == missing


@pytest.mark.parametrize("first", [1, 4, 11])
def test_swapped_lines_are_found(told: tuple[Path, str], tmp_path: Path, first: int) -> None:
    lines = (told[0] / "steps.jsonl").read_bytes().splitlines(keepends=True)
    lines[first - 1], lines[first] = lines[first], lines[first - 1]
    assert check_chain(copy(told[0], tmp_path / "s", b"".join(lines))).bad_line == first


def test_a_cut_at_the_end_shows_with_the_head(told: tuple[Path, str], tmp_path: Path) -> None:
    folder, head = told
    lines = (folder / "steps.jsonl").read_bytes().splitlines(keepends=True)
    cut = copy(folder, tmp_path / "cut", b"".join(lines[:-2]))
    assert check_chain(cut).holds
    said = (
        "Line 10 was changed after it was written, or later lines were removed, or the head is not that of this record"
    )
    assert check_chain(cut, head).sentence == said


def test_a_damaged_line_in_the_middle_is_named_by_the_reader(told: tuple[Path, str], tmp_path: Path) -> None:
    lines = (told[0] / "steps.jsonl").read_bytes().splitlines(keepends=True)
    lines[3] = b'{"n": 4, "at": nonsense\n'
    with pytest.raises(RecordError, match=r"Line 4 of .*steps\.jsonl cannot be read"):
        read(copy(told[0], tmp_path / "d", b"".join(lines)))


def test_events_come_back_in_order_with_their_times(told: tuple[Path, str]) -> None:
    lines = read_lines(told[0])
    assert [line.n for line in lines] == list(range(1, 13))
    assert [type(line.event) for line in lines[:4]] == [Started, Observed, Decided, Intended]
    assert isinstance(lines[5].event, Stepped)
    assert lines[0].at < lines[1].at
    assert json.loads((told[0] / "run.json").read_text())["id"] == run().id
