"""Golden sessions: a run given away as one file and taken back, and the sessions of other tools."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from record_builder import done, observation, run, small_run, step_events, story, write_run

from vision_agent.actions import Custom, Finish, Type
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Event, Started
from vision_agent.export.cere import read_cere, verify_cere, write_cere
from vision_agent.record import read, verify


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def acts_in(archive: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(archive) as packed:
        names = [name for name in packed.namelist() if name.startswith("action")]
        return [json.loads(packed.read(f"action{n}.json")) for n in range(len(names))]


def test_a_run_comes_back_byte_for_byte(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", [Started(run=run()), *story()[1:]]).path
    back = read_cere(write_cere(folder, tmp_path / "session.cere"), tmp_path / "elsewhere")
    assert back == tmp_path / "elsewhere" / folder.name
    assert files_of(back) == files_of(folder)


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", small_run()).path
    one, other = write_cere(folder, tmp_path / "one.cere"), write_cere(folder, tmp_path / "other.cere")
    assert one.read_bytes() == other.read_bytes()


def test_a_reader_of_the_known_form_finds_every_act_with_its_page_and_its_result(tmp_path: Path) -> None:
    archive = write_cere(write_run(tmp_path / "runs", story()).path, tmp_path / "session.cere")
    with zipfile.ZipFile(archive) as packed:
        assert json.loads(packed.read("goal.json")) == {"goal": "Put the large wool jumper into the cart"}
        assert all(each.compress_type == zipfile.ZIP_DEFLATED for each in packed.infolist())
    acts = acts_in(archive)
    assert [each["action"]["function"] for each in acts] == ["fill", "select", "click", "scroll", "click", "achieved"]
    first = acts[0]
    assert set(first) == {"state", "action", "result"}
    assert set(first["state"]) == {
        "html", "raw_html", "screenshot_full", "screenshot_viewport", "url", "fillable_selectors",
        "clickable_selectors", "selectable_selectors", "checkable_selectors", "input_state",
    }  # fmt: skip
    assert set(first["action"]) == {
        "function", "args", "prior_steps", "current_state", "top_5_actions", "action_analysis",
    }  # fmt: skip
    search = 'role=searchbox[name="Search"s]'
    assert first["action"]["args"] == {"css_selector": search, "text": "wool jumper", "press_enter": True}
    assert first["state"]["fillable_selectors"] == [search]
    assert first["state"]["selectable_selectors"] == {'role=combobox[name="Size"s]': ["Small", "Medium", "Large"]}
    assert first["state"]["input_state"][search] == "wool"
    assert Image.open(io.BytesIO(base64.b64decode(first["state"]["screenshot_viewport"]))).format == "JPEG"
    assert [each["result"]["outcome"] for each in acts] == [
        "SUCCESS", "SUCCESS", "COVERED", "NOT_REACHED", "SUCCESS", "GOAL_ACHIEVED",
    ]  # fmt: skip
    assert [each["result"]["is_terminal_state"] for each in acts] == [False] * 5 + [True]


def test_a_file_is_held_against_its_own_record(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", small_run())
    archive = write_cere(folder.path, tmp_path / "session.cere")
    assert verify_cere(archive, folder.head).holds
    changed = tmp_path / "changed.cere"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"Add to cart", b"Buy at once"))
    found = verify_cere(changed, folder.head)
    assert not found.holds
    assert found.faults[0].line == 2


def test_what_does_not_hold_is_not_given_away(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", small_run()).path
    steps = folder / "steps.jsonl"
    steps.write_bytes(steps.read_bytes().replace(b"Add to cart", b"Buy at once", 1))
    with pytest.raises(RecordError, match="cannot be exported: Line 2 was changed after it was written"):
        write_cere(folder, tmp_path / "session.cere")


def known(function: str, outcome: str = "SUCCESS", **args: object) -> dict[str, Any]:
    picture = io.BytesIO()
    Image.new("RGB", (320, 200), "white").save(picture, "JPEG")
    shown = base64.b64encode(picture.getvalue()).decode()
    return {
        "state": {
            "html": "<button id=go>Go</button>", "raw_html": "<html><button id=go>Go</button></html>",
            "screenshot_full": shown, "screenshot_viewport": shown, "url": "http://shop.test/",
            "fillable_selectors": ["#name"], "clickable_selectors": ["#go"],
            "selectable_selectors": {"#size": ["S", "L"]}, "checkable_selectors": [], "input_state": {"#name": ""},
        },
        "action": {
            "function": function, "args": args, "prior_steps": "none", "current_state": "a form",
            "top_5_actions": ["fill the name"], "action_analysis": "the name is wanted",
        },
        "result": {
            "is_terminal_state": function in ("achieved", "unreachable"), "url": "http://shop.test/", "outcome": outcome
        },
    }  # fmt: skip


def packed(to: Path, *acts: dict[str, Any], goal: object = "Order as Ada") -> Path:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("goal.json", json.dumps({"goal": goal}))
        for number, act in enumerate(acts):
            archive.writestr(f"action{number}.json", json.dumps(act))
    return to


def holding(to: Path, about: bytes) -> Path:
    with zipfile.ZipFile(to, "w") as archive:
        archive.writestr("record/run.json", about)
        archive.writestr("record/steps.jsonl", b"garbage\n")
    return to


def test_a_session_of_another_tool_becomes_a_run_that_holds_and_goes_out_as_it_came(tmp_path: Path) -> None:
    acts = [
        known("fill", css_selector="#name", text="Ada", press_enter=False),
        known("click", "TIMEOUT", css_selector="#go"),
        known("achieved", "GOAL_ACHIEVED"),
    ]
    theirs = packed(tmp_path / "theirs.cere", *acts)
    folder = read_cere(theirs, tmp_path / "runs")
    assert verify(folder).holds
    run = read(folder)
    assert (run.task.goal, run.task.start_url) == ("Order as Ada", "http://shop.test/")
    assert run.steps[0].decision.actions == (
        Custom(name="fill", arguments={"css_selector": "#name", "text": "Ada", "press_enter": False}),
    )
    assert [step.outcomes[0].status for step in run.steps] == ["done", "refused", "done"]
    assert run.ending is not None
    assert run.ending.status == "done"
    assert acts_in(write_cere(folder, tmp_path / "again.cere")) == acts


@pytest.mark.parametrize(
    ("change", "sentence"),
    {
        "no acts": (lambda to: packed(to), "action0.json is missing"),
        "an act is missing": (
            lambda to: packed(to, {**known("click"), "action": {}}),
            "is not a .cere file: action.function: Field required",
        ),
        "no picture": (
            lambda to: packed(to, {**known("click"), "state": {"screenshot_viewport": "bm8="}}),
            "A picture of the session cannot be read",
        ),
        "a goal that is none": (lambda to: packed(to, goal={"of": "somebody"}), "action0.json is missing"),
        "a record that is none": (lambda to: holding(to, b"{"), "does not name its run"),
        "a record that does not hold": (lambda to: holding(to, b'{"id": "abc"}'), "fails verification: Line 1"),
        "no archive": (
            lambda to: to.write_bytes(b"no") and to,
            "bad.cere is not a .cere file (a .cere file is a ZIP with goal.json in it)",
        ),
    }.values(),
)
def test_what_is_no_session_is_said(tmp_path: Path, change: Any, sentence: str) -> None:
    with pytest.raises(RecordError) as raised:
        read_cere(change(tmp_path / "bad.cere"), tmp_path / "runs")
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    "name", ["goal.json", "action0.json", "manifest.json", "record/steps.jsonl", "record/run.json"]
)
@pytest.mark.parametrize("damaged_at", ["data", "sum"])
def test_a_damaged_file_is_said_to_be_damaged(tmp_path: Path, name: str, damaged_at: str) -> None:
    archive = write_cere(write_run(tmp_path / "runs", small_run()).path, tmp_path / "session.cere")
    damage(archive, name, damaged_at)
    for read_it in (lambda: read_cere(archive, tmp_path / "elsewhere"), lambda: verify_cere(archive)):
        with pytest.raises(RecordError, match=f"is damaged: {name} cannot be unpacked"):
            read_it()
    assert not (tmp_path / "elsewhere").exists()


def damage(archive: Path, name: str, at: str) -> None:
    """Changes what is packed under this name: its bytes, or only the checksum of the bytes that were packed."""
    content = bytearray(archive.read_bytes())
    with zipfile.ZipFile(archive) as packed_:
        about = packed_.getinfo(name)
    if at == "data":
        start = about.header_offset + 30 + len(name)
        content[start : start + about.compress_size] = bytes(
            255 - each for each in content[start : start + about.compress_size]
        )
    else:
        entry = content.index(b"PK\1\2", content.rindex(name.encode()) - 46)
        content[entry + 16] ^= 255
        content[about.header_offset + 14] ^= 255
    archive.write_bytes(content)


def test_a_file_in_the_archive_cannot_leave_the_run_folder(tmp_path: Path) -> None:
    archive = write_cere(write_run(tmp_path / "runs", small_run()).path, tmp_path / "session.cere")
    with zipfile.ZipFile(archive, "a") as packed_:
        packed_.writestr("record/../../escaped.json", "{}")
        packed_.writestr("record/shots/../../../escaped.png", "{}")
    with pytest.raises(RecordError, match=r"escaped\.json is not in the record"):
        read_cere(archive, tmp_path / "deep" / "runs")
    assert not [*tmp_path.rglob("escaped*")]


def test_a_run_is_not_written_over_another(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", small_run()).path
    archive = write_cere(folder, tmp_path / "session.cere")
    with pytest.raises(UsageError, match=r"already exists in"):
        read_cere(archive, tmp_path / "runs")


def test_a_masked_field_has_no_value_in_the_file(tmp_path: Path) -> None:
    masked = observation("o1").marks[0]
    masked = masked.model_copy(update={"state": masked.state.model_copy(update={"masked": True, "value": None})})
    seen = observation("o1", (masked,))
    typed: list[Event] = step_events(1, (Type(target=1, text="<secret:pin>"), done()), seen=seen)
    end = step_events(2, (Finish(), done("Finished.", effect="finished")))
    archive = write_cere(
        write_run(tmp_path / "runs", [small_run()[0], *typed, *end, small_run()[-1]]).path, tmp_path / "s.cere"
    )
    assert acts_in(archive)[0]["state"]["input_state"] == {}


def test_candidates_and_goals_stand_where_the_known_form_has_them(tmp_path: Path) -> None:
    archive = write_cere(write_run(tmp_path / "runs", story()).path, tmp_path / "session.cere")
    act = acts_in(archive)[0]["action"]
    assert act["action_analysis"] == "Find the wool jumper"
    assert act["top_5_actions"] == ["1: the search field", "2: the cart, for later"]
