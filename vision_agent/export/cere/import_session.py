"""Makes a run folder from another tool's golden session, which has no record.

Its actions become custom actions under their own names, because they name elements by CSS selectors, and marks are
never guessed. The original files are kept in the run folder, so that nothing is lost when it is exported again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import ValidationError

from vision_agent.actions import Custom
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Decided, Ended, Event, Happened, Intended, Observed, Started, Stepped
from vision_agent.export.cere.action_files import CereState, CereStep
from vision_agent.export.cere.archive import ORIGINALS
from vision_agent.geometry import Size
from vision_agent.observation import Observation, Shot
from vision_agent.record.read import first_line
from vision_agent.record.run_files import parse_json
from vision_agent.record.store import RunFolder, new_run_id, write_private
from vision_agent.types import Decision, Ending, Outcome, Provenance, Run, Task
from vision_agent.vision.picture import require_decodable

_FINISHED = {"achieved": "done", "unreachable": "infeasible"}


def import_session(archive: zipfile.ZipFile, file: Path, runs: Path) -> Path:
    """Makes a run folder from another tool's session."""
    try:
        goal = str(parse_json(archive.read("goal.json"))["goal"])
        numbers = sorted(
            int(found[1]) for name in archive.namelist() if (found := re.fullmatch(r"action([0-9]{1,9})\.json", name))
        )
        originals = {f"action{n}.json": archive.read(f"action{n}.json") for n in numbers}
        recorded = [CereStep.model_validate_json(each) for each in originals.values()]
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


def _events(run: Run, recorded: list[CereStep]) -> Iterator[Event]:
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


def _observation(state: CereState, index: int, when: datetime) -> Observation:
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
