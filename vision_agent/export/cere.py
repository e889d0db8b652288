"""Exports a run as a golden session, one `.cere` file, and imports such a file as a run folder.

    goal.json            {"goal": …}
    action0.json …       one per action: the page before it, the action, its outcome
    manifest.json        an addition: the format's version, the writer, the run's id and head
    record/…             an addition: the run folder, byte for byte, without downloads of more than 64 MiB

Other tools read the first two and ignore the rest. A file with only those two is read as well: its actions become
custom actions under their own names, because they name elements by CSS selectors, and marks are never guessed. The
original files are kept in the run folder, so that nothing is lost when it is exported again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from vision_agent.actions import (
    Action,
    Check,
    Click,
    Custom,
    Finish,
    Goto,
    Infeasible,
    Select,
    Set,
    Type,
    mark_in,
    targets_of,
)
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Decided, Ended, Event, Happened, Intended, Observed, Started, Stepped
from vision_agent.geometry import Size
from vision_agent.record.read import first_line, load_shot, read
from vision_agent.record.run_files import (
    MOST_OF_FILE,
    MOST_OF_RECORD,
    names_in,
    open_file,
    parse_json,
    read_file,
    reading,
)
from vision_agent.record.store import (
    DOWNLOADS,
    REQUESTS,
    RUN,
    SHOTS,
    STEPS,
    RunFolder,
    is_run_id,
    new_run_id,
    write_private,
)
from vision_agent.record.verify import Fault, Verified, verify
from vision_agent.text.escape import printable_line
from vision_agent.types import Decision, Ending, Mark, Observation, Outcome, Provenance, Run, Shot, Step, Task
from vision_agent.vision.picture import require_decodable

ORIGINALS = "cere"
"""The subfolder of a run folder that holds another tool's original files."""
_RECORD = "record"
_VERSION = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive, so that the same run gives the same bytes."""
_MOST_BYTES = 2 << 30
_MOST_FILES = 100_000
_MOST_EXPANDED = 200
"""How many times its packed size an archive of more than `_SMALL_BYTES` may expand to; text and pictures reach 20."""
_SMALL_BYTES = 32 << 20
_ALIKE = 24
"""How many tones of 255 a pixel may differ in a picture of the same page by another version of the encoder."""
_JPEG_QUALITY = 85
_MOST_OF_DOWNLOADS = 256 << 20
"""Bytes of all downloads that an archive holds."""
_IN_ARCHIVE = re.compile(
    rf"{_RECORD}/(?:{RUN}|{STEPS}|(?:{SHOTS}|{REQUESTS})/[0-9a-f]{{64}}\.[a-z]+|{ORIGINALS}/[a-z]+\d*\.json"
    rf"|{DOWNLOADS}/(?!\.)[\w.-]{{1,120}})"
)
"""The files of a run folder that an archive holds; nothing else in an archive is ever written to disk."""
_FINISHED = {"achieved": "done", "unreachable": "infeasible"}


_Accept = Callable[[zipfile.ZipFile, Path], None]
"""Checks the run that was unpacked from an archive to a folder; raises to reject it."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class _State(_Data):
    """The page state of the `.cere` format."""

    html: str = ""
    raw_html: str = ""
    screenshot_full: str = ""
    screenshot_viewport: str = ""
    """A JPEG in base64."""
    url: str = ""
    fillable_selectors: list[str] = []
    clickable_selectors: list[str] = []
    selectable_selectors: dict[str, JsonValue] = {}
    checkable_selectors: list[str] = []
    input_state: dict[str, JsonValue] = {}


class _CereAction(_Data):
    function: str
    args: dict[str, JsonValue] = {}
    prior_steps: str = ""
    current_state: str = ""
    top_5_actions: list[str] = []
    action_analysis: str = ""


class _CereResult(_Data):
    is_terminal_state: bool = False
    url: str = ""
    outcome: str = ""


class _CereStep(_Data):
    """One `action<N>.json`."""

    state: _State
    action: _CereAction
    result: _CereResult


# --- writing ----------------------------------------------------------------------------------------------------------


def write_cere(folder: Path, to: Path) -> Path:
    """Writes the run as one file and returns its path; the same run gives the same bytes.

    Raises:
        RecordError: the record fails verification or cannot be read.
        UsageError: the file cannot be written.
    """
    found = verify(folder)
    if not found.chain.holds:
        raise RecordError(f"{folder} cannot be exported: {found.faults[0].sentence}")
    run = read(folder)
    manifest = {
        "format": "cere",
        "version": _VERSION,
        "made_by": f"vision-agent {metadata.version('vision-agent')}",
        "run": run.id,
        "head": found.chain.head,
    }
    parts = _parts(folder, run)
    files = {"goal.json": parts.pop("goal.json"), "manifest.json": _json(manifest), **parts}
    for name in _record_names(folder):
        files[f"{_RECORD}/{name}"] = _record_file(folder, name)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # Stored, a download can never look like an archive that expands beyond measure.
            how = zipfile.ZIP_STORED if name.startswith(f"{_RECORD}/{DOWNLOADS}/") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, how)
    try:
        write_private(to, packed.getvalue())
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}", "name another file with --out") from error
    return to


def _parts(folder: Path, run: Run) -> dict[str, bytes]:
    """The files that other tools read, by name, as they follow from the record."""
    actions = _originals(folder) or {f"action{n}.json": each for n, each in enumerate(_action_files(folder, run))}
    return {"goal.json": _json({"goal": run.task.goal}), **actions}


def _record_names(folder: Path) -> list[str]:
    below = [f"{name}/{each}" for name in (ORIGINALS, REQUESTS, SHOTS) for each in names_in(folder, name)]
    names = (RUN, STEPS, *below, *_downloads(folder))
    return sorted(name for name in names if _IN_ARCHIVE.fullmatch(f"{_RECORD}/{name}"))


def _downloads(folder: Path) -> Iterator[str]:
    """The downloads that an archive holds: plain files, as long as they are not too large."""
    whole = 0
    for each in names_in(folder, DOWNLOADS):
        try:
            with open_file(folder, f"{DOWNLOADS}/{each}") as file:
                size = os.fstat(file.fileno()).st_size
        except OSError:
            continue  # `verify` says so
        if size <= MOST_OF_FILE and whole + size <= _MOST_OF_DOWNLOADS:
            whole += size
            yield f"{DOWNLOADS}/{each}"


def _record_file(folder: Path, name: str) -> bytes:
    try:
        return read_file(folder, name, MOST_OF_RECORD if name == STEPS else MOST_OF_FILE)
    except OSError as error:
        raise RecordError(f"{folder / name} cannot be read: {error.strerror}") from error


def _originals(folder: Path) -> dict[str, bytes]:
    names = [name for name in names_in(folder, ORIGINALS) if re.fullmatch(r"action[0-9]+\.json", name)]
    return {name: _record_file(folder, f"{ORIGINALS}/{name}") for name in names}


def _action_files(folder: Path, run: Run) -> Iterator[bytes]:
    """The content of each `action<N>.json` of the run."""
    sentences: list[str] = []
    after = {one.index: other for one, other in pairwise(run.steps)}
    for step in run.steps:
        state = _state(folder, step.observation)
        then = after[step.index].observation if step.index in after else step.observation
        for action, outcome in zip(step.decision.actions, step.outcomes, strict=False):
            act = _cere_action(action, step, "\n".join(sentences))
            terminal = outcome.effect in ("finished", "infeasible")
            result = _CereResult(is_terminal_state=terminal, url=then.url, outcome=_outcome_name(action, outcome))
            yield _json(_CereStep(state=state, action=act, result=result).model_dump(mode="json"))
            sentences.append(outcome.sentence)


def _state(folder: Path, seen: Observation) -> _State:
    picture = base64.b64encode(_as_jpeg(load_shot(folder, seen.clean))).decode()
    fields = [mark for mark in seen.marks if mark.kind == "field"]
    return _State(
        html=seen.listing,
        screenshot_full=picture,
        screenshot_viewport=picture,
        url=seen.url,
        fillable_selectors=[_selector(mark) for mark in fields if not mark.state.options],
        clickable_selectors=[_selector(mark) for mark in seen.marks if mark.kind in ("button", "link")],
        selectable_selectors={_selector(mark): [*mark.state.options] for mark in fields if mark.state.options},
        checkable_selectors=[_selector(mark) for mark in seen.marks if mark.kind == "toggle"],
        input_state={_selector(mark): mark.state.value or "" for mark in fields if not mark.state.masked},
    )


def _selector(mark: Mark) -> str:
    """The Playwright selector of a mark, by role and name."""
    name = json.dumps(mark.name, ensure_ascii=False)
    return f"role={mark.role}[name={name}s]" if mark.role and mark.name else f"role={mark.role or mark.tag}"


def _cere_action(action: Action, step: Step, prior: str) -> _CereAction:
    function, args = _function_call(action, step.observation)
    candidates = [f"{each.mark}: {each.reason}" for each in step.decision.candidates[:5]]
    return _CereAction(
        function=function,
        args=args,
        prior_steps=prior,
        current_state=step.decision.memory or step.decision.summary,
        top_5_actions=candidates,
        action_analysis=step.decision.next_goal,
    )


def _function_call(action: Action, seen: Observation) -> tuple[str, dict[str, JsonValue]]:
    """The `.cere` function and arguments of an action; without a counterpart, the action's own kind and fields."""
    numbers = [number for target in targets_of(action) if (number := mark_in(target)) is not None]
    marks = [mark for number in numbers if (mark := seen.mark(number)) is not None]
    at: dict[str, JsonValue] = {"css_selector": _selector(marks[0])} if marks else {}
    match action:
        case Custom():
            return action.name, action.arguments
        case Finish():
            return "achieved" if action.success else "unreachable", {"answer": action.answer}
        case Infeasible():
            return "unreachable", {"reason": action.reason}
        case Goto():
            return "goto", {"href": action.url}
        case Click() if at and action.count == 1 and action.button == "left" and not action.modifiers:
            return "click", at
        case Type() if at and action.clear:
            return "fill", {**at, "text": action.text, "press_enter": action.submit}
        case Set() if at:
            return "fill", {**at, "text": action.value, "press_enter": False}
        case Select(change=None) if at:
            return "select", {**at, "values": [*action.options]}
        case Check() if at and action.checked:
            return "check", at
        case _:
            return action.kind, {**at, **action.model_dump(mode="json", exclude={"kind"})}


def _outcome_name(action: Action, outcome: Outcome) -> str:
    if outcome.status == "done":
        is_end = isinstance(action, Finish | Infeasible)
        is_reached = isinstance(action, Finish) and action.success
        return ("GOAL_ACHIEVED" if is_reached else "GOAL_UNREACHABLE") if is_end else "SUCCESS"
    known = {"timed_out": "TIMEOUT", "gone": "INVALID_CSS_SELECTOR", "unknown_mark": "INVALID_CSS_SELECTOR"}
    if outcome.status == "partial":
        return "PARTIAL"
    assert outcome.refusal is not None
    return known.get(outcome.refusal, outcome.refusal.upper())


def _as_jpeg(shot: Shot) -> bytes:
    assert shot.data is not None
    if shot.media_type == "image/jpeg":
        return shot.data
    packed = io.BytesIO()
    _decode(shot.data).save(packed, "JPEG", quality=_JPEG_QUALITY)
    return packed.getvalue()


def _decode(data: bytes) -> Image.Image:
    try:
        require_decodable(data)
        with Image.open(io.BytesIO(data)) as picture:
            return picture.convert("RGB")
    except Exception as error:
        raise RecordError("A picture of the session cannot be decoded") from error


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


# --- reading ----------------------------------------------------------------------------------------------------------


def read_cere(file: Path, runs: Path) -> Path:
    """Unpacks a `.cere` file into a run folder in `runs`, and returns the folder. The run may have been interrupted.

    Raises:
        RecordError: it is not a `.cere` file, it is damaged, or it fails verification.
        UsageError: the run already exists there, or its folder cannot be created.
    """

    def require_verified(archive: zipfile.ZipFile, folder: Path) -> None:
        if change := _verify_unpacked(archive, file, folder).first_change:
            raise RecordError(f"{file} fails verification: {change}")
        read(folder)

    return _read(file, runs, require_verified)


def _read(file: Path, runs: Path, accept: _Accept) -> Path:
    try:
        with zipfile.ZipFile(file) as archive:
            _require_plain(archive, file)
            _require_undamaged(archive, file)
            names = set(archive.namelist())
            if f"{_RECORD}/{RUN}" in names:
                return _unpack(archive, file, runs, accept)
            return _import(archive, file, runs)
    except FileNotFoundError as error:
        raise RecordError(f"There is no file {file}") from error
    except (OSError, zipfile.BadZipFile, RuntimeError) as error:  # an encrypted archive raises RuntimeError
        raise RecordError(
            f"{file} is not a .cere file: {error}", "a .cere file is a ZIP with goal.json in it"
        ) from error


def _require_plain(archive: zipfile.ZipFile, file: Path) -> None:
    """Checks that the archive expands to a plausible size, and that all tools read the same in it.

    Raises:
        RecordError: it does not, or they may not.
    """
    files = archive.infolist()
    whole, packed = sum(each.file_size for each in files), max(1, file.stat().st_size)
    if whole > _MOST_BYTES:
        raise RecordError(f"{file} contains more than {_MOST_BYTES >> 30} GiB and was not unpacked")
    if len(files) > _MOST_FILES:
        raise RecordError(f"{file} contains {len(files)} files and was not unpacked; the limit is {_MOST_FILES}")
    if whole > _SMALL_BYTES and whole > _MOST_EXPANDED * packed:
        raise RecordError(f"{file} would expand to {whole // packed} times its size and was not unpacked")
    seen: set[str] = set()
    for each in files:
        name = printable_line(each.filename)[:100]
        if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise RecordError(f"{file} is not a .cere file: {name} is packed in an unusual way")
        if each.filename in seen:
            raise RecordError(f"{file} contains {name} twice, and tools differ in which one they read")
        seen.add(each.filename)
        most = MOST_OF_RECORD if each.filename.endswith(STEPS) else MOST_OF_FILE
        if each.file_size > most:
            raise RecordError(f"{file} was not unpacked: {name} has {each.file_size} bytes; the limit is {most}")


def _require_undamaged(archive: zipfile.ZipFile, file: Path) -> None:
    for each in archive.infolist():
        try:
            with archive.open(each) as packed:
                while packed.read(1 << 20):
                    pass
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            name = printable_line(each.filename)
            raise RecordError(f"{file} is damaged: {name} cannot be unpacked", "ask for the file again") from error


def verify_cere(file: Path, head: str | None = None) -> Verified:
    """Verifies the run in a `.cere` file, and that what other tools read in it follows from its record.

    Raises:
        RecordError: it is not a `.cere` file, or it is damaged.
        UsageError: `head` is not a record hash.
    """
    with tempfile.TemporaryDirectory() as runs:
        folder = _read(file, Path(runs), lambda *_: None)
        with zipfile.ZipFile(file) as archive:
            return _verify_unpacked(archive, file, folder, head)


def _verify_unpacked(archive: zipfile.ZipFile, file: Path, folder: Path, head: str | None = None) -> Verified:
    """The result of verifying an archive that was unpacked to a folder."""
    found = verify(folder, head, may_lack_downloads=True)
    notes, faults = found.notes, list(found.faults)
    with reading(file):
        if f"{_RECORD}/{RUN}" not in archive.namelist():
            notes = (*notes, "It has no record, so nothing shows whether it was changed.")
        elif found.chain.holds:
            faults += [Fault(line=0, sentence=each) for each in _part_faults(archive, folder, found.chain.head)]
    return found.model_copy(update={"folder": str(file), "faults": tuple(faults), "notes": notes})


def _part_faults(archive: zipfile.ZipFile, folder: Path, head: str) -> Iterator[str]:
    """What is wrong with the parts of the archive: each must follow from its record, whose hash chain is intact."""
    try:
        run = read(folder)
        expected = _parts(folder, run)
    except RecordError:
        return  # `verify` has named what cannot be read
    known = {"manifest.json", *(f"{_RECORD}/{name}" for name in _record_names(folder))}
    for name in archive.namelist():
        if name in expected:
            content = archive.read(name)
            if content != expected[name] and not _is_same_action(content, expected[name]):
                yield f"{name} differs from the record"
        elif name not in known:
            yield f"{printable_line(name)[:100]} is not in the record"
    yield from (f"{name} is missing" for name in expected if name not in archive.namelist())
    yield from _manifest_faults(archive, run, head)
    yield from _original_faults(folder, run)


def _manifest_faults(archive: zipfile.ZipFile, run: Run, head: str) -> Iterator[str]:
    try:
        manifest = parse_json(archive.read("manifest.json"))
    except (KeyError, ValueError):
        yield "manifest.json is missing or cannot be read"
        return
    given = {name: manifest.get(name) for name in ("run", "head")} if isinstance(manifest, dict) else {}
    if given != {"run": run.id, "head": head}:
        yield "manifest.json names another run or another record hash"


def _original_faults(folder: Path, run: Run) -> Iterator[str]:
    """The original files of another tool, kept in the run folder, that differ from the steps made from them."""
    originals = _originals(folder)
    steps = {f"action{step.index - 1}.json": step for step in run.steps} if originals else {}
    for name in sorted(originals.keys() | steps.keys()):
        step = steps.get(name)
        try:
            one = _CereStep.model_validate_json(originals[name])
            picture = base64.b64decode(one.state.screenshot_viewport or one.state.screenshot_full, validate=True)
        except (KeyError, ValueError):
            yield f"{_RECORD}/{ORIGINALS}/{name} is missing or cannot be read"
            continue
        act = Custom(name=one.action.function, arguments=one.action.args)
        told = (one.state.url, one.action.current_state, one.action.action_analysis)
        if (
            step is None
            or step.decision.actions != (act,)
            or (step.observation.url, step.decision.memory, step.decision.next_goal) != told
            or step.observation.clean.sha256 != hashlib.sha256(picture).hexdigest()
        ):
            yield f"{_RECORD}/{ORIGINALS}/{name} differs from the record"


def _is_same_action(content: bytes, expected: bytes) -> bool:
    """Whether two action files differ only in how the same picture was encoded."""
    ours = json.loads(expected)
    try:
        state = parse_json(content)["state"]
        for name in ("screenshot_full", "screenshot_viewport"):
            theirs = state[name]
            if theirs != ours["state"][name] and not _looks_alike(theirs, ours["state"][name]):
                return False
            ours["state"][name] = theirs
        return _json(ours) == content
    except (KeyError, TypeError, ValueError, RecordError):
        return False


def _looks_alike(one: str, other: str) -> bool:
    pictures = [_decode(base64.b64decode(each, validate=True)) for each in (one, other)]
    if pictures[0].size != pictures[1].size:
        return False
    extremes: Any = ImageChops.difference(*pictures).getextrema()
    return all(most <= _ALIKE for _, most in extremes)


def _unpack(archive: zipfile.ZipFile, file: Path, runs: Path, accept: _Accept) -> Path:
    try:
        about = parse_json(archive.read(f"{_RECORD}/{RUN}"))
    except ValueError as error:
        raise RecordError(f"{file} does not name its run: {first_line(error)}") from error
    name = about.get("id") if isinstance(about, dict) else None
    if not is_run_id(name):
        raise RecordError(f"{file} does not name its run, or its id cannot be the name of a folder")
    folder = runs / name
    if folder.exists():
        raise UsageError(f"The run {name} already exists in {runs}", "name another folder with --runs")
    runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs, prefix=".import-") as temporary:
        unpacked = Path(temporary) / name
        unpacked.mkdir(mode=0o700)
        for each in archive.namelist():
            if _IN_ARCHIVE.fullmatch(each):
                path = unpacked / each.removeprefix(f"{_RECORD}/")
                path.parent.mkdir(mode=0o700, exist_ok=True)
                write_private(path, archive.read(each))
        accept(archive, unpacked)
        unpacked.rename(folder)
    return folder


def _import(archive: zipfile.ZipFile, file: Path, runs: Path) -> Path:
    """Makes a run folder from another tool's session."""
    try:
        goal = str(parse_json(archive.read("goal.json"))["goal"])
        numbers = sorted(
            int(found[1]) for name in archive.namelist() if (found := re.fullmatch(r"action([0-9]{1,9})\.json", name))
        )
        originals = {f"action{n}.json": archive.read(f"action{n}.json") for n in numbers}
        recorded = [_CereStep.model_validate_json(each) for each in originals.values()]
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise RecordError(f"{file} is not a .cere file: {first_line(error)}") from error
    if not recorded or numbers != [*range(len(numbers))]:
        missing = min({*range(len(numbers) + 1)} - {*numbers})
        raise RecordError(f"{file} is incomplete: it has {len(numbers)} actions, and action{missing}.json is missing")
    when = datetime.now(UTC)
    source = {"from": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    run = Run(
        id=new_run_id(when),
        task=Task(goal=goal, start_url=recorded[0].state.url or None),
        provenance=Provenance(settings={"imported": source}),
        started_at=when,
    )
    events = [*_events(run, recorded)]  # what cannot be read leaves no folder
    with RunFolder.create(runs, run.id, lambda text: text, now=lambda: when) as folder:
        for event in events:
            folder.write(event)
    kept = folder.path / ORIGINALS
    kept.mkdir(mode=0o700)
    for name, content in originals.items():
        write_private(kept / name, content)
    return folder.path


def _events(run: Run, recorded: list[_CereStep]) -> Iterator[Event]:
    yield Started(run=run)
    for index, each in enumerate(recorded, 1):
        act = Custom(name=each.action.function, arguments=each.action.args)
        is_done = each.result.outcome.upper().rpartition(".")[2] in ("SUCCESS", "GOAL_ACHIEVED", "GOAL_UNREACHABLE")
        sentence = f"{act.name}: {each.result.outcome or 'no outcome recorded'}"
        is_partial = each.result.outcome.upper() == "PARTIAL"
        outcome = Outcome(status="partial" if is_partial else "refused", refusal="unsupported", sentence=sentence)
        if is_done:
            outcome = Outcome(status="done", effect="changed", sentence=sentence)
        yield Observed(step=index, observation=_observation(each.state, index, run.started_at))
        yield Decided(
            step=index,
            decision=Decision(
                author="scripted",
                memory=each.action.current_state,
                next_goal=each.action.action_analysis,
                actions=(act,),
            ),
        )
        yield Intended(step=index, index=0, action=act)
        yield Happened(step=index, index=0, outcome=outcome)
        yield Stepped(step=index, started_at=run.started_at, seconds=0)
    last = recorded[-1]
    status: Any = _FINISHED.get(last.action.function, "not_done")
    sentence = f"The session ended with {last.action.function}: {last.result.outcome}"
    yield Ended(ending=Ending(status=status, sentence=sentence))


def _observation(state: _State, index: int, when: datetime) -> Observation:
    shot = _decode_shot(state.screenshot_viewport or state.screenshot_full)
    selectors = [
        *state.clickable_selectors,
        *state.fillable_selectors,
        *state.selectable_selectors,
        *state.checkable_selectors,
    ]
    lines = [f"_[:]{json.dumps(each, ensure_ascii=False)}" for each in selectors]
    return Observation(
        id=f"cere-{index}",
        epoch=index,
        url=state.url,
        title="",
        taken_at=when,
        viewport=shot.size,
        listing="\n".join(lines),
        clean=shot,
        marked=shot,
        warnings=("Imported from another tool, which records no positions, so there are no marks.",),
    )


def _decode_shot(picture: str) -> Shot:
    try:
        data = base64.b64decode(picture, validate=True)
        require_decodable(data)
        image = Image.open(io.BytesIO(data))
        media_type: Any = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}[image.format or ""]
    except (binascii.Error, UsageError, ValueError) as error:
        raise RecordError(f"A picture of the session cannot be read: {first_line(error)}") from error
    size = Size(width=image.width, height=image.height)
    return Shot(media_type=media_type, size=size, sha256=hashlib.sha256(data).hexdigest(), data=data)
