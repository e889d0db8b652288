"""Resumes a run in its own folder after a crash, after Ctrl-C, or when it ended because nobody could help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.async_api import Page
from pydantic import SecretStr, ValidationError

from vision_agent import settings as settings_module
from vision_agent.base_model import words_of
from vision_agent.custom_actions import CustomAction
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Event
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Shot
from vision_agent.ports import Approver, Model, Person
from vision_agent.record.read import InterruptedRun, load_shot, read_interrupted
from vision_agent.record.redact import with_values
from vision_agent.record.run_files import reading
from vision_agent.replay.recorded_settings import recorded_settings
from vision_agent.replay.replay import given_address, given_again, given_files, require_web
from vision_agent.session import Agent
from vision_agent.settings import ModelSettings, Settings
from vision_agent.settings_faults import fault_words
from vision_agent.text.escape import printable_line
from vision_agent.types import Limits, Run, Secret, Task

_ASKED = (
    "fallback",
    "judge",
    "dialect",
    "actions_per_step",
    "history",
    "previous_picture",
    "ablate",
    "filter",
    "coordinates",
)


def resume(
    folder: Path | str,
    *,
    model: str | Model | None = None,
    secrets: Mapping[str, SecretStr] | None = None,
    page: Page | None = None,
    settings: Settings | None = None,
    limits: Mapping[str, Any] | None = None,
    files: Sequence[Path] = (),
    hosts: Sequence[str] | None = None,
    url: str | None = None,
    may_reopen: bool = False,
    view: Sequence[str] = (),
    actions: Sequence[CustomAction] = (),
    person: Person | None = None,
    approver: Approver | None = None,
    on_event: Callable[[Event], None] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Agent:
    """Return an agent whose `run` continues the run in this folder and records into it.

    Actions that may already have happened are not repeated: see `vision_agent.policy.interrupted`. The page is the one
    handed over, or is opened at the run's last address. State held only in the lost browser, such as a signed-in
    session, is lost.

    Args:
        model: who decides from here on; None keeps the recorded one, if that was a named model or a person.
        secrets: values of all secrets of the run, by name: a record contains none.
        limits: limits to change; what the run has used so far counts.
        files: the files that may be uploaded, by the names of the recorded ones: a record gives no access to files.
        hosts: allowed hosts, in place of the recorded ones.
        url: the address that the run was at, or the path of its file, which confirms it; needed if that is a file of
            this machine.
        may_reopen: whether the address may be opened again without asking, even if that may repeat an action.
        view: names of browser settings to take from `settings` instead of the record.

    Raises:
        UsageError: there is no such run, it has ended for good, its record was altered, or something it needs is
            missing.
    """
    folder = Path(folder)
    stopped = read_interrupted(folder)
    run = stopped.run
    settings = _model_settings(run, recorded_settings(run, settings or settings_module.load(), view))
    by = run.provenance.model
    if model is None and not (":" in by or by == "human"):
        what = "followed step lines" if by == StepsModel.__name__ else f"was decided by {by}"
        raise UsageError(
            f"The run {what}, which its record does not contain", "give step lines with --steps, or name a model"
        )
    with reading(folder):
        task = _task(run, folder, secrets or {}, limits or {}, files)
    if hosts is not None:
        task = task.model_copy(update={"allowed_hosts": tuple(hosts)})
    _check_files(stopped, task, given_address(url))
    if page is None:
        _check_address(stopped, task)
    return Agent(
        task,
        model=model or by,
        page=page,
        settings=settings,
        actions=actions,
        resume=folder,
        may_reopen=may_reopen,
        person=person,
        approver=approver,
        on_event=on_event,
        clock=clock,
    )


def _check_files(stopped: InterruptedRun, task: Task, url: str | None) -> None:
    """Checks that no recorded address is a file of this machine, but for the one that a person confirms with `url`."""
    known = [each for each in (stopped.stood, task.start_url) if each]
    if url is not None and url not in known:
        raise UsageError(f"The run was at {printable_line(' and '.join(known)) or 'no address'}, not at {url}")
    for each in known:
        if each != url:
            require_web(each)


def _check_address(stopped: InterruptedRun, task: Task) -> None:
    stood = stopped.stood or ""
    if "<secret:" in with_values(stood, task.secrets):
        raise UsageError(
            f"The run was at {stood}, and the record does not contain the secret in that address",
            "open the page and hand it over: vision_agent.replay.resume(folder, page=page)",
        )


def _model_settings(run: Run, settings: Settings) -> Settings:
    """The settings with the recorded model options, except where they are set explicitly."""
    then, now = run.provenance.settings.get("model", {}), settings.model
    named = {name: then[name] for name in _ASKED if name in then and name not in now.model_fields_set}
    try:
        asked = ModelSettings.model_validate({**named, "name": now.name})
    except ValidationError as error:
        raise UsageError(
            f"The settings of the run can no longer be used: {words_of(error.errors()[0])}",
            "another version recorded it",
        ) from error
    return settings.model_copy(update={"model": now.model_copy(update={name: getattr(asked, name) for name in named})})


def _task(
    run: Run, folder: Path, secrets: Mapping[str, SecretStr], limits: Mapping[str, Any], files: Sequence[Path]
) -> Task:
    task, names = run.task, [secret.name for secret in run.task.secrets]
    if strange := next((name for name in secrets if name not in names), None):
        raise UsageError(f"The run has no secret {strange!r}", f"its secrets: {', '.join(names) or 'none'}")
    if missing := [secret for secret in run.task.secrets if secret.name not in secrets]:
        raise UsageError(
            f"The run needs the secret {missing[0].name}, and records do not contain secret values",
            " ".join(map(given_again, missing)),
        )
    kept = given_files(task, files)
    if absent := sorted({path.name for path in task.files} - {path.name for path in kept}):
        raise UsageError(
            f"The run may upload {printable_line(absent[0])}, and a record gives no access to files of this machine",
            " ".join(f"--file …/{printable_line(name)}" for name in absent),
        )
    if "<private:" in f"{task.goal} {task.instructions} {task.user_data} {task.messages}":
        raise UsageError(
            "The task of the run has private data in its words, which the record does not contain",
            "start a new run, and give such data with --private name=VARIABLE",
        )

    def loaded(shot: Shot) -> Shot:
        try:
            return load_shot(folder, shot)
        except RecordError as error:
            raise UsageError(f"The run in {folder} cannot be resumed: {error.sentence}") from error

    exemplar = task.exemplar
    if exemplar is not None:
        turns = tuple(
            turn.model_copy(update={"picture": loaded(turn.picture)}) if turn.picture else turn
            for turn in exemplar.turns
        )
        exemplar = exemplar.model_copy(update={"turns": turns})
    return task.model_copy(
        update={
            "secrets": tuple(_with_value(secret, secrets) for secret in task.secrets),
            "pictures": tuple(each.model_copy(update={"shot": loaded(each.shot)}) for each in task.pictures),
            "exemplar": exemplar,
            "files": kept,
            "limits": _changed_limits(task.limits, limits),
        }
    )


def _with_value(secret: Secret, values: Mapping[str, SecretStr]) -> Secret:
    return secret.model_copy(update={"value": values[secret.name]})


def _changed_limits(limits: Limits, changes: Mapping[str, Any]) -> Limits:
    """The limits with some of them changed; of those in groups, such as `downloads`, only the ones that are given.

    Raises:
        UsageError: one of them is invalid.
    """
    values = limits.model_dump()
    for name, value in changes.items():
        is_group = isinstance(value, Mapping) and isinstance(values.get(name), Mapping)
        values[name] = {**values[name], **value} if is_group else value
    try:
        return Limits.model_validate(values)
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, each['loc']))}: {fault_words(each)}" for each in error.errors())
        raise UsageError(f"The limits are invalid: {lines}") from error
