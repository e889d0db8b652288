"""Replays a recorded run: takes its decisions on the live page, in the ordinary loop, and records a new run.

It wires an `Agent` with the task, view and limits of the record. No model is asked, unless a broken step is to be
healed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Page
from pydantic import SecretStr

from vision_agent import settings as settings_module
from vision_agent.actions import Action, Goto, OpenTab, Upload
from vision_agent.base_model import FrozenModel
from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Decided, Event, Observed
from vision_agent.memory import EmptyMemory, MemoryFolder
from vision_agent.models.llm.heal import Healer
from vision_agent.models.offline.replayed import ReplayedModel
from vision_agent.observation import Observation
from vision_agent.policy.rebind import names_in_targets
from vision_agent.policy.recorded_dialogs import accepted_questions, objection
from vision_agent.ports import Approver, Model, Person
from vision_agent.record.read import check_chain, load_shot, read, read_beginning
from vision_agent.record.run_files import reading
from vision_agent.replay.patch import Patch, build_repair, read_patch, write_patch
from vision_agent.replay.picture_likeness import Likeness, likeness
from vision_agent.replay.recorded_settings import recorded_settings
from vision_agent.replay.renamed_marks import with_new_values
from vision_agent.replay.restore_values import CannotRestore, ValueRestorer
from vision_agent.replay.variables import (
    Variable,
    first_costing_other,
    new_values,
    set_variables,
    typed_secrets,
    variables,
)
from vision_agent.session import Agent
from vision_agent.session.deciders import require_healer
from vision_agent.session.keywords import start_url_from
from vision_agent.settings import Settings
from vision_agent.text.escape import printable_line
from vision_agent.text.urls import origin_of
from vision_agent.types import Author, Outcome, Provenance, Run, Secret, Step, Task

_STEPS_EACH = 9
"""Steps allowed for each recorded step: waiting for late content and the attempts of a healing model count too."""


class Taken(FrozenModel):
    """One step of a replay."""

    step: int
    recorded: int | None
    """Index of the recorded step that it repeats or repairs; None for a step the loop took on its own."""
    author: Author
    goal: str
    outcomes: tuple[Outcome, ...]
    picture: Likeness | None = None
    """How similar the page was to the one the decision was recorded on."""


class Replay:
    """One replay of one run. `run` carries it out; `taken` reports it step by step.

    Args:
        folder: the run to replay.
        values: new texts to type, by the names of `variables`.
        secrets: values of the secrets the run typed, by name.
        url: a different start page, as an address, a host, or the path of a file; None keeps the recorded one.
            Addresses on the host where the run began move to this host.
        files: the files to upload, by the names of the recorded ones: a record gives no access to files.
        hosts: allowed hosts, in place of the recorded ones.
        seconds: time limit, in place of the recorded one.
        max_cost: US dollars that the healing model may cost, if the record allowed more.
        patch: a file of repairs that replace the steps they repair.
        heal: a model, or its name, that is asked only about steps that cannot be repeated.
        settings: settings for the browser, the models and the runs folder. The page view comes from the record.
        approver: whom to ask for approval, if the settings, or else those of the record, require it.
        view: names of browser settings to take from `settings` instead of the record.
        name: the name of the new run folder; None makes one from the time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        values: Mapping[str, str] | None = None,
        secrets: Mapping[str, SecretStr] | None = None,
        url: str | None = None,
        files: Sequence[Path] = (),
        hosts: Sequence[str] | None = None,
        seconds: float | None = None,
        max_cost: float | None = None,
        patch: Path | None = None,
        heal: str | Model | None = None,
        page: Page | None = None,
        settings: Settings | None = None,
        view: Sequence[str] = (),
        person: Person | None = None,
        approver: Approver | None = None,
        on_event: Callable[[Event], None] | None = None,
        name: str | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.recorded, self._head = recorded_run(folder)
        url = given_address(url)
        self.folder = folder
        self._heal = heal
        self.heals = heal is not None
        self.patch: Path | None = None
        """The file of repairs that this replay wrote; None if nothing was healed."""
        self.not_kept: tuple[str, ...] = ()
        """Why repairs are not in the patch, because the values of this replay could not be taken out of them."""
        self._on_event = on_event
        self._is_unchanged = not (values or url or files or hosts or patch)
        """Whether the same is done at the same place, so that a failure says something about the recorded run."""
        self._seen: Observation | None = None
        self._pictures: dict[int, Likeness] = {}
        self._patch = read_patch(patch, self.recorded, self._head) if patch else None
        steps = self._patch.apply(self.recorded.steps) if self._patch else self.recorded.steps
        with reading(folder):
            task = _replay_task(self.recorded, folder, url, files, hosts, seconds, max_cost)
            task = task.model_copy(update={"secrets": _secrets(task, steps, secrets or {})})
            changes = new_values(values or {}, task, steps) if values else ()
            self._restorer = ValueRestorer(changes)
            task, steps_now = set_variables(values or {}, task, steps, is_same_start=url is None)
            differs_from = first_costing_other(steps, steps_now)
            steps = tuple(_move_host(step, _start_url(self.recorded), task.start_url or "") for step in steps_now)
        self.steps = steps
        """The steps to take: the recorded ones with repairs and values in place."""
        self._steps = {step.index: step for step in self.recorded.steps}
        settings = _replay_settings(self.recorded, settings or settings_module.load(), view, heals=heal is not None)
        self._healer: Healer | None = None
        self._model = ReplayedModel(steps, run=self.recorded.id, differs_from=differs_from)

        def wrap_model(model: Model) -> Model:
            if heal is not None:
                self._healer = Healer(model)
                self._model = ReplayedModel(steps, run=self.recorded.id, healer=self._healer, differs_from=differs_from)
            return self._model

        self.agent = Agent(
            task,
            model=self._model if heal is None else heal,
            page=page,
            settings=settings,
            memory=EmptyMemory(),
            wrap_model=wrap_model,
            objects_to_dialog=objection(
                accepted_questions(self.recorded.steps),
                partial(with_new_values, changes=changes),
                has_other_values=differs_from is not None,
            ),
            provenance=Provenance(
                model="" if heal is not None else "replay",
                replayed=self.recorded.id,
                replayed_sha256=self._head,
                patch_sha256=hashlib.sha256(patch.read_bytes()).hexdigest() if patch else "",
            ),
            on_event=self._hear,
            person=person,
            approver=approver,
            name=name,
            clock=clock,
        )

    async def run(self) -> Run:
        """Run it and return the new run. If steps were healed, a patch with their repairs is in its folder.

        If the recorded steps, with nothing changed, do not do the task any more, an exemplar of that run ranks lower.

        Raises:
            UsageError, Unavailable, RecordError: as for any run.
        """
        if self._heal is not None:
            require_healer(self._heal, self.agent.settings)
        try:
            run = await self.agent.run()
        finally:
            self._write_repairs()
        if self._is_unchanged and run.ending is not None and run.ending.status == "not_done":
            MemoryFolder(self.agent.settings.memory_folder).learn_from_failed_replay(self._head)
        return run

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Send all further events to this listener."""
        self._on_event = on_event

    def note(self, step: int) -> str:
        """For people: how similar the page of this step is to the recorded one; empty if there is none."""
        return self._pictures[step].words if step in self._pictures else ""

    @property
    def taken(self) -> tuple[Taken, ...]:
        """The steps of the new run, as far as they are recorded."""
        folder = self.agent.folder
        if folder is None or not self.agent.head:
            return ()
        healed = {number: each.step.index for each in self._healings for number in each.live}
        return tuple(self._one(step, self._model.taken.get(step.index), healed) for step in read(folder).steps)

    @property
    def stopped(self) -> bool:
        """Whether it ended before all recorded steps were taken."""
        return self._model.stopped

    @property
    def answer_note(self) -> str:
        """What to know of the answer of a replay that is done; empty if there is none, or step lines gave it."""
        ending, last = self.agent.ending, self.recorded.steps[-1:]
        was = self.recorded.answer if last and last[0].decision.author != "steps" else ""
        if not was or ending is None or ending.status != "done":
            return ""
        if not ending.answer:
            return "the recorded answer is left out: it was for other values, and a replay reads no new one."
        return "the answer is the recorded one: a replay does not read the page again, and the page may have changed."

    @property
    def _healings(self) -> list[Any]:
        return self._healer.healings if self._healer else []

    def _one(self, step: Step, recorded: int | None, healed: Mapping[int, int]) -> Taken:
        return Taken(
            step=step.index,
            recorded=recorded if recorded is not None else healed.get(step.index),
            author=step.decision.author,
            goal=step.decision.next_goal,
            outcomes=step.outcomes,
            picture=self._pictures.get(step.index),
        )

    def _hear(self, event: Event) -> None:
        match event:
            case Observed():
                self._seen = event.observation
            case Decided():
                recorded = self._model.taken.get(event.step)
                if recorded is not None and self._seen is not None:
                    was = self._steps[recorded].observation
                    self._pictures[event.step] = likeness(self.folder, was, self._seen)
        if self._on_event is not None:
            self._on_event(event)

    def _write_repairs(self) -> None:
        done = [each for each in self._healings if each.is_done]
        if not done or self.agent.folder is None:
            return
        # Read from the record, where secrets are already redacted.
        steps = {step.index: step for step in read(self.agent.folder).steps}
        new, not_kept = {}, list[str]()
        for each in done:
            was, now = self._steps[each.step.index], [steps[number] for number in each.live]
            try:
                new[was.index] = self._restorer.repair(was, each.why, now, build_repair)
            except CannotRestore as error:
                not_kept.append(f"The repair of step {was.index} is not in the patch: {error}.")
        self.not_kept = tuple(not_kept)
        if not new:
            return
        old = {repair.step: repair for repair in self._patch.repairs} if self._patch else {}
        repairs = tuple(repair for _, repair in sorted({**old, **new}.items()))
        made = Patch(run=self.recorded.id, head=self._head, healed_in=self.agent.folder.name, repairs=repairs)
        self.patch = write_patch(made, self.agent.folder)


def recorded_run(folder: Path) -> tuple[Run, str]:
    """Return the run in a folder and the head of its record, after verifying the record.

    Raises:
        UsageError: there is no run, or its record was altered.
    """
    run = read_beginning(folder)
    return run, check_chain(folder).head


def variables_of(folder: Path, patch: Path | None = None) -> tuple[Variable, ...]:
    """The values that can be set when the run in this folder is replayed.

    Raises:
        UsageError: there is no run, its record was altered, or the patch belongs to another run.
    """
    run, head = recorded_run(folder)
    with reading(folder):
        return variables(run.task, read_patch(patch, run, head).apply(run.steps) if patch else run.steps)


def given_address(url: str | None) -> str | None:
    """The address that a person gave, as an address, a host, or the path of a file; None if none was given.

    Raises:
        UsageError: it is no address, or the name of a file that is not there.
    """
    try:
        urlsplit(url or "")
    except ValueError as error:
        raise UsageError(
            f"{url!r} is not an address that can be opened: {error}", "give one such as https://example.org/"
        ) from error
    return start_url_from(url) if url else None


def _start_url(run: Run) -> str:
    """The start address; for a run on a page handed over, the address of its first observation."""
    return run.task.start_url or run.steps[0].observation.url


def _replay_task(
    run: Run,
    folder: Path,
    url: str | None,
    files: Sequence[Path],
    hosts: Sequence[str] | None,
    seconds: float | None,
    max_cost: float | None,
) -> Task:
    """The recorded task, without its messages, its exemplar and its initial actions."""
    task, start = run.task, _start_url(run)
    uploads = {
        name for step in run.steps for each in step.decision.actions if isinstance(each, Upload) for name in each.files
    }
    # A person who took over needed no permission for a file, so the task may not name it.
    chosen = uploads - {path.name for path in task.files} if any(step.is_by_hand for step in run.steps) else set()
    task = task.model_copy(update={"files": (*task.files, *map(Path, sorted(chosen)))})
    kept = given_files(task, files)
    if missing := sorted(uploads & {path.name for path in task.files} - {path.name for path in kept}):
        raise UsageError(
            f"The run uploaded {printable_line(missing[0])}, and a record gives no access to files of this machine",
            f"give the file to upload with --file …/{printable_line(missing[0])}",
        )
    if url is None:
        require_web(start)
    limits = task.limits.model_copy(
        update={
            "steps": max(task.limits.steps, _STEPS_EACH * len(run.steps)),
            "seconds": seconds or task.limits.seconds,
            "cost_usd": min((each for each in (max_cost, task.limits.cost_usd) if each is not None), default=None),
            "on_failure": "never_raise",
        }
    )
    checks = tuple(
        each.model_copy(update={"url": _address(each.url, start, url or start)}) if each.url else each
        for each in task.checks
    )
    try:
        pictures = tuple(each.model_copy(update={"shot": load_shot(folder, each.shot)}) for each in task.pictures)
    except RecordError as error:
        raise UsageError(f"The run in {folder} cannot be repeated: {error.sentence}") from error
    return task.model_copy(
        update={
            "start_url": url or start,
            "pictures": pictures,
            "messages": (),
            "limits": limits,
            "files": kept,
            "allowed_hosts": tuple(hosts) if hosts else task.allowed_hosts,
            "checks": checks,
            "actions": (),
            "exemplar": None,
        }
    )


def given_files(task: Task, files: Sequence[Path]) -> tuple[Path, ...]:
    """The given files, after checking that the recorded task had a file of each name.

    Raises:
        UsageError: the task had no such file, or the file does not exist.
    """
    known = {path.name for path in task.files}
    for path in files:
        if path.name not in known:
            offered = ", ".join(sorted(map(printable_line, known))) or "none"
            raise UsageError(f"The run was not given a file {path.name}", f"its files: {offered}")
        if not path.is_file():
            raise UsageError(f"There is no file {path} to upload", "give an existing file with --file")
    return tuple(files)


def require_web(url: str) -> None:
    """Checks that a recorded address may be opened because the record names it.

    Raises:
        UsageError: it is a file of this machine, or nothing that can be opened.
    """
    scheme = urlsplit(url).scheme
    if scheme not in ("http", "https", "about", "data"):
        shown = printable_line(url)[:200]
        raise UsageError(
            f"The run was at {shown}, and a record opens no files of this machine",
            f"if you want it opened, give the address yourself: --url {shown}",
        )


def _secrets(task: Task, steps: Sequence[Step], given: Mapping[str, SecretStr]) -> tuple[Any, ...]:
    known = {secret.name: secret for secret in (*task.secrets, *_manual_secrets(task, steps))}
    strange = next((name for name in given if name not in known), None)
    if strange is not None:
        raise UsageError(f"The run has no secret {strange!r}", f"its secrets: {', '.join(known) or 'none'}")
    typed = typed_secrets(steps)
    named = (name for step in steps for name in names_in_targets(step) if not (name in known and known[name].is_code))
    missing = [name for name in dict.fromkeys([*typed, *named]) if name in known and name not in given]
    if missing:
        did = "typed the secret" if missing[0] in typed else "acted on what is known by"
        raise UsageError(
            f"The run {did} {missing[0]}, and records do not contain secret values",
            " ".join(given_again(known[name]) for name in missing),
        )
    return tuple(known[name].model_copy(update={"value": value}) for name, value in given.items())


def given_again(secret: Secret) -> str:
    """The option that gives a secret of a record its value again."""
    kind = "code" if secret.is_code else "private" if secret.is_private else "secret"
    return f"--{kind} {secret.name}=VARIABLE"


def _manual_secrets(task: Task, steps: Sequence[Step]) -> Iterator[Secret]:
    """Passwords that a person typed in the browser: named in the record, each bound to the origin it was typed on."""
    ours, start = {secret.name for secret in task.secrets}, origin_of(task.start_url or "")
    for step in steps:
        for name in typed_secrets([step]) if step.is_by_hand else ():
            if name not in ours:
                ours.add(name)
                origin = origin_of(step.observation.url)
                elsewhere = (origin,) if origin and origin != start else ()
                yield Secret(name=name, value=SecretStr(""), origins=elsewhere)


def _move_host(step: Step, old: str, new: str) -> Step:
    """The step with addresses on the old start host moved to the new one."""

    def moved(action: Action) -> Action:
        if not isinstance(action, Goto | OpenTab):
            return action
        return action.model_copy(update={"url": _address(action.url, old, new)})

    actions = tuple(map(moved, step.decision.actions))
    return step.model_copy(update={"decision": step.decision.model_copy(update={"actions": actions})})


def _address(address: str, old: str, new: str) -> str:
    was, now = (f"{parts.scheme}://{parts.netloc}" for parts in (urlsplit(old), urlsplit(new)))
    begins = address == was or address.startswith((f"{was}/", f"{was}?", f"{was}#"))
    return now + address.removeprefix(was) if begins and urlsplit(old).netloc else address


def _replay_settings(run: Run, settings: Settings, view: Sequence[str], *, heals: bool) -> Settings:
    """The settings with the recorded page view, so that pictures can be compared and points keep their meaning."""
    # The recorded model determines the picture size. There is no fallback: a model that took over would decide all the
    # remaining steps, not just one.
    by, recorded = run.provenance.model, run.provenance.settings
    name = by if ":" in by or by in ("steps", "human") else recorded.get("model", {}).get("name", settings.model.name)
    current = settings.model
    healing = {
        "history": "data" if current.history == "short" else current.history,  # it contains the broken step
        "ablate": tuple(each for each in current.ablate if each != "history"),
    }
    model = current.model_copy(update={"fallback": None, **(healing if heals else {"name": name})})
    return recorded_settings(run, settings, view).model_copy(update={"model": model})
