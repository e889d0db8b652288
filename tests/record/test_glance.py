"""What a page of runs shows of one run is what the whole record says, without its marks."""

from __future__ import annotations

from pathlib import Path

import pytest
from record_builder import limited_run, small_run, story, write_run

from vision_agent.errors import RecordError
from vision_agent.events import LastLook
from vision_agent.record.glance import glance
from vision_agent.record.run_list import figures_of


def test_its_figures_are_those_of_the_whole_record(tmp_path: Path) -> None:
    folder = write_run(tmp_path, story()).path
    seen, figures = glance(folder), figures_of(folder)
    assert (seen.decided, seen.tokens, seen.cost_usd) == (figures.steps, figures.tokens, figures.cost_usd)
    assert [step.index for step in seen.steps] == [1, 2, 3, 4]
    assert seen.steps[1].is_bad
    assert "covered by dialog" in seen.steps[1].sentences[1]
    assert seen.last_seen is not None
    assert (seen.last_seen.index, seen.last_seen.title) == (4, "Wool jumper")


def test_an_unfinished_last_line_is_left_out_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    lines = folder / "steps.jsonl"
    whole = lines.read_bytes()
    lines.write_bytes(whole + b'{"n": 99, "event"')
    assert glance(folder).decided == 2
    lines.write_bytes(whole + b'{"n": 99}\n')
    with pytest.raises(RecordError, match="Line 13"):
        glance(folder)


def test_the_last_picture_is_that_of_the_last_look(tmp_path: Path) -> None:
    events = limited_run((1, 2), end=3)
    looks = [event.observation for event in events if isinstance(event, LastLook)]
    known = glance(write_run(tmp_path, events).path)
    assert looks[0] is not None
    assert known.last_picture is not None
    assert known.last_picture.sha256 == looks[0].clean.sha256
    assert len(known.steps) == 2
