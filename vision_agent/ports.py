"""The protocols of everything outside the loop: browser, model, judge, recorder, memory, approver.

Each has a real and a fake implementation in the package, so that tests need no patches.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from vision_agent.actions import Action, Finish
from vision_agent.events import Event
from vision_agent.exemplars import Recalled
from vision_agent.observation import Observation, Shot
from vision_agent.text.disguises import Found
from vision_agent.types import Choice, Decision, ManualAction, Outcome, Risky, Step, Task, Verdict
from vision_agent.web.live_view import LiveView

Person = Callable[[str], Awaitable[str | None]]
"""Answers a question; None if nobody answers."""

Redact = Callable[[str], str]
"""Removes the caller's secrets from a text, in every form in which they could appear."""


class HiddenValues(Protocol):
    """What neither pictures nor records may show. Real: `record.Redactor`."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is hidden."""
        ...

    def find(self, text: str) -> Sequence[Found]:
        """Where hidden values occur in a text, in whatever form."""
        ...


class InnerGate(Protocol):
    """Decides what a custom action may do through its context. Real: `policy.inner_acts.InnerActs`."""

    def refusal_of(self, action: Action) -> Outcome | None:
        """Why an action is not carried out; None if it may be."""
        ...

    def note(self, action: Action, outcome: Outcome) -> None:
        """Counts what an action that was carried out used of the limits."""
        ...


class Browser(Protocol):
    """Observes and acts on a page. Real: `browser.live.LiveBrowser`. Fake: `browser.fake.FakeBrowser`."""

    async def observe(self) -> Observation:
        """Observes the current page.

        Raises:
            BrowserUnavailable: the browser is gone.
        """
        ...

    async def act(self, action: Action, observation: Observation, inner: InnerGate | None = None) -> Outcome:
        """Carries out one action and returns its outcome; its marks and points refer to `observation`.

        `inner` is asked about what a custom action does through its context; None lets everything through.

        Raises:
            BrowserUnavailable: the browser is gone.
        """
        ...

    def blocks(self, action: Action) -> bool:
        """Whether it certainly refuses an action, whatever anybody says: it opens an address that is not allowed."""
        ...

    async def downloads(self, are_enough: Callable[[Sequence[str]], bool], *, within_s: float) -> Sequence[str]:
        """The names of the files that were downloaded and kept in this run.

        If they are not enough, it waits while a download is going on, and for one to begin within this time.
        """
        ...

    def manual_actions(
        self, handed_back: Callable[[], Awaitable[None]], *, is_over_when_closed: bool = False
    ) -> AsyncGenerator[ManualAction, None]:
        """The actions of a person in the browser until they hand it back, in order, as they happen.

        `handed_back` is called once their input is listened to, and returns when they hand the browser back. If the
        takeover is also over when they close the window, that is their last action, and finishes the task.

        Raises:
            BrowserUnavailable: the browser is gone before they can take over.
        """
        ...


@runtime_checkable
class Model(Protocol):
    """Decides. Real: `models.llm.anthropic`, `models.offline.steps` and others. Fake: `models.offline.scripted`.

    A subclass needs a `name` and `decide`; by default it has nothing to describe or close. One that is given to `Agent`
    gets tasks, steps and observations with secrets replaced by their names, as in the record. With the class attribute
    `sees_secrets = True` it gets them as they are. Models named by a string redact what they send.
    """

    name: str

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """Decides what to do about this observation, given all earlier steps.

        `complaint` is the message of the `FormatError` that the previous reply caused.

        Raises:
            FormatError: the reply is unusable; the loop asks again with the message as the complaint.
            ModelUnavailable: the model could not be asked.
        """
        ...

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The facts about the model for the record, such as the size of its context window; empty if there are none.

        `known` is the description of another model of the same name, so that its provider is not asked again.
        """
        del known
        return {}

    async def aclose(self) -> None:
        """Closes its connections."""
        return


class Judge(Protocol):
    """Judges a task claimed done. Real: `models.llm.judge.ModelJudge`. Fake: `models.offline.scripted.ScriptedJudge`.

    See `Model` for the rest.
    """

    name: str

    async def judge(
        self, task: Task, steps: Sequence[Step], observation: Observation, finish: Finish, *, complaint: str = ""
    ) -> Verdict:
        """Judges the claim of `finish` by the last observation.

        Raises:
            FormatError: the reply is unusable; the loop asks again with the message as the complaint.
            ModelUnavailable: the model could not be asked.
        """
        ...

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The facts about the judge for the record."""
        del known
        return {}

    async def aclose(self) -> None:
        """Closes its connections."""
        return


class Recorder(Protocol):
    """Records the run. Real: `record.RunFolder`. Fake: `record.RunInMemory`."""

    def keep(self, shot: Shot) -> None:
        """Stores the picture under its hash, before any event names it."""
        ...

    def write(self, event: Event) -> None:
        """Appends one event; returns when it is safe on disk.

        Raises:
            RecordError: it could not be written. What cannot be recorded must not be done.
        """
        ...


class Memory(Protocol):
    """Finds runs that worked before. Real: `memory.MemoryFolder`. Fake: `memory.EmptyMemory`."""

    def recall(self, task: Task, observation: Observation) -> Recalled:
        """The verified run that best matches this task and its first page, if there is one."""
        ...


class Approver(Protocol):
    """Approves or changes decisions.

    Real: `supervise.page_approver`, `supervise.terminal`. Fake: `approval.Answers`.
    """

    @property
    def wants_to_be_asked(self) -> bool:
        """Whether somebody paused the run, so that the next decision needs approval whatever the policy says."""
        ...

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """Asks what to do with a decision before it is carried out; None if nobody answers."""
        ...

    async def handed_back(self) -> None:
        """Waits until a person who takes over the browser hands it back; it is theirs from the call on."""
        ...


@runtime_checkable
class Viewer(Protocol):
    """An approver that can also show the page as it is now, and take it over without a window.

    Real: `supervise.page_approver`.
    """

    def watch(self, view: LiveView) -> None:
        """Is told how to see the page, once the browser of the run is open."""
        ...
