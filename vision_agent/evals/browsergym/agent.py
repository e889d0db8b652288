"""The agent as BrowserGym and AgentLab call it: an observation in, one action in their call syntax out.

It matches their interface by its shape alone, tested against `browsergym-core`:

- arguments: hashable and picklable, with `agent_name` and `make_agent()`; AgentLab also calls `prepare`, `close`,
  `set_benchmark` and `set_reproducibility_mode`;
- agent: `action_set.to_python_code`, which the environment is created with; `obs_preprocessor(obs)`, whose result
  AgentLab keeps and passes on; `get_action(obs)`, which returns a call and a dictionary with `think`, `stats` and
  `extra_info`.

They own the loop, the browser and the record. Each observation gets one action, so that every decision sees the result
of the action before. The model reads the outcome, refusals included, with the next observation.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import numpy as np

from vision_agent.actions import Action
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import FormatError, ModelUnavailable, UsageError
from vision_agent.evals.baselines import BASELINES, baseline
from vision_agent.evals.browsergym.calls import NOTHING, CallSet, calls_for
from vision_agent.evals.browsergym.look import Looks
from vision_agent.geometry import Box
from vision_agent.models.factory import make_model
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.settings import Settings, load
from vision_agent.text.escape import safe_line
from vision_agent.types import (
    Decision,
    Effect,
    GoalPicture,
    Limits,
    Message,
    Outcome,
    Refusal,
    Step,
    Task,
    Usage,
    usages_of,
)
from vision_agent.vision.image_limits import image_limits_for
from vision_agent.vision.picture import Picture as Pixels

T = TypeVar("T")

_LONGEST_ERROR = 300
_IN_ERRORS: tuple[tuple[str, Refusal], ...] = (
    ("Could not find element", "gone"),
    ("intercepts pointer events", "covered"),
    ("not enabled", "disabled"),
    ("did not find some options", "not_an_option"),
    ("ERR_", "unreachable"),
    ("Timeout", "timed_out"),
)
"""Text in BrowserGym's errors and the refusal it means; the first match counts. Other errors are `unsupported`."""


@dataclass(frozen=True)
class BrowserGymAgentArgs:
    """Everything that defines an agent, as plain values, so that experiments can be compared, stored and sent.

    The model options come from the environment and `vision-agent.toml` when the agent is made; keys are never part of
    the arguments.
    """

    model: str = ""
    """Such as `anthropic:claude-sonnet-5-5`, or a baseline: `random`, `match`, `steps`. Empty: as in the settings."""
    agent_name: str = ""
    """Name in experiments; empty: derived from the model."""
    seed: int = 0
    """For `random`."""
    steps: tuple[str, ...] = ()
    """The lines that `steps` follows."""
    longest_edge: int | None = None
    """Maximum edge of the model's picture, in pixels."""
    max_steps: int = 40
    """The limit stated to the model; the environment ends the episode."""

    def __post_init__(self) -> None:
        if not self.agent_name:
            object.__setattr__(self, "agent_name", f"vision-agent-{self.model or 'as-set'}")
        if self.max_steps < 1:
            raise UsageError(f"max_steps is {self.max_steps}", "give the number of steps that the environment allows")

    def make_agent(self) -> BrowserGymAgent:
        """An agent that can play one episode after another.

        Raises:
            UsageError: the model is unknown, or the settings cannot be read.
        """
        return BrowserGymAgent(self)

    def prepare(self) -> None:
        """Do nothing: experiments need no preparation."""

    def close(self) -> None:
        """Do nothing: each agent closes what it opened."""

    def set_benchmark(self, benchmark: object, demo_mode: bool) -> None:
        """Do nothing: the agent is the same on every benchmark."""

    def set_reproducibility_mode(self) -> None:
        """Do nothing: baselines are already determined by observation and seed, and providers' models cannot be."""


class BrowserGymAgent:
    """Decides in another program's loop, one episode at a time.

    An episode begins with an observation that has no last action.
    """

    def __init__(
        self,
        args: BrowserGymAgentArgs,
        *,
        make_model: Callable[[], Model] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.action_set = CallSet()
        self._args = args
        self._clock = clock
        settings = load()
        self._settings = _apply_args(settings, args)
        self._make_model = make_model or self._named_model
        self._aside = _Aside()
        self._episode = self._begin()
        self._seen: Observation | None = None

    def obs_preprocessor(self, obs: dict[str, Any]) -> dict[str, Any]:
        """The observation with our marks on its screenshot, and without the page's structure, which is used up.

        `screenshot_som` is the marked picture, `marks_txt` its listing.

        Raises:
            UsageError: it lacks data that marks need.
        """
        if not obs.get("last_action") and self._episode.has_begun:
            self._aside.run(self._episode.model.aclose())
            self._episode = self._begin()
        seen = self._episode.looks.look(obs)
        self._seen = seen
        kept = {name: value for name, value in obs.items() if name not in ("dom_object", "axtree_object")}
        marked = Pixels.of(seen.marked).as_rgb()
        return kept | {"screenshot_som": marked, "marks_txt": seen.listing, "observation_id": seen.id}

    def get_action(self, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """One action as one or more calls, and information about the decision.

        Raises:
            UsageError: the observation is not the last one.
            ModelUnavailable: the model could not be asked, or gave no usable reply.
        """
        if "observation_id" not in obs:
            obs = self.obs_preprocessor(obs)
        seen = self._seen
        if seen is None or seen.id != obs["observation_id"]:
            raise UsageError("The observation is not the last one that this agent saw", "use one agent per episode")
        episode = self._episode
        episode.hear(obs, self._args.max_steps, self._clock())
        episode.conclude(obs, seen)
        if episode.has_ended:
            return NOTHING, {"think": "The task has already ended.", "stats": {}}
        return self._decide(episode, seen)

    def close(self) -> None:
        """Close the model's connections; further calls do nothing."""
        if self._aside.is_open:
            self._aside.run(self._episode.model.aclose())
            self._aside.close()

    def _decide(self, episode: _EpisodeState, seen: Observation) -> tuple[str, dict[str, Any]]:
        begun = self._clock()
        decision, unused = self._aside.run(self._ask(episode, seen))
        outcomes: list[Outcome] = []
        calls = NOTHING
        if decision.actions:
            first = calls_for(decision.actions[0], seen)
            if isinstance(first, str):
                calls = first
            else:
                outcomes.append(first)
        episode.await_outcome(_Pending(seen, decision, calls, tuple(outcomes), unused, begun))
        return calls, _decision_info(decision, outcomes, unused, seen)

    async def _ask(self, episode: _EpisodeState, seen: Observation) -> tuple[Decision, tuple[Usage, ...]]:
        complaint = ""
        unused: list[Usage] = []
        assert episode.task is not None
        for _ in range(1 + self._settings.model.repairs):
            try:
                decided = await episode.model.decide(episode.task, episode.steps, seen, complaint=complaint)
            except FormatError as error:
                complaint = error.sentence
                if error.usage is not None:
                    unused.append(error.usage)
            else:
                return decided, tuple(unused)
        raise ModelUnavailable(
            f"The model gave no usable reply in {1 + self._settings.model.repairs} tries; the last fault: {complaint}",
            "try another model, or raise model.repairs",
        )

    def _begin(self) -> _EpisodeState:
        name = self._settings.model.name
        edge = self._args.longest_edge or self._settings.observe.longest_edge
        looks = Looks(self._settings.observe, image_limits_for(name, edge), self._clock)
        return _EpisodeState(looks, self._make_model())

    def _named_model(self) -> Model:
        name = self._settings.model.name
        if name in BASELINES:
            return baseline(name, self._args.seed, self._args.steps)
        return make_model(name, settings=self._settings.model, redact=lambda text: text)


class _Pending(NamedTuple):
    """The last decision, until the next observation shows its outcome."""

    seen: Observation
    decision: Decision
    calls: str
    known: tuple[Outcome, ...]
    """Outcome of the first action, if BrowserGym did not need to be asked."""
    unused: tuple[Usage, ...]
    begun: datetime


class _EpisodeState:
    """The state kept from one observation to the next."""

    def __init__(self, looks: Looks, model: Model) -> None:
        self.looks = looks
        self.model = model
        self.task: Task | None = None
        self.steps: list[Step] = []
        self.has_ended = False
        self._pending: _Pending | None = None
        self._heard = 0
        """Number of the person's messages so far."""

    @property
    def has_begun(self) -> bool:
        return self.task is not None

    def hear(self, obs: Mapping[str, Any], most: int, now: datetime) -> None:
        """Take the goal from the first observation, and new messages of the person from later ones."""
        from_person = [each for each in obs.get("chat_messages") or () if each.get("role") == "user"]
        if self.task is None:
            self.task = Task(**_goal(obs), limits=Limits(steps=most))
        elif new := from_person[self._heard :]:
            messages = tuple(Message(text=str(each.get("message", "")), at=_when(each, now)) for each in new)
            self.task = self.task.model_copy(update={"messages": (*self.task.messages, *messages)})
            self.has_ended = False  # a new message continues the task
        self._heard = len(from_person)

    def await_outcome(self, pending: _Pending) -> None:
        """Remember the last decision."""
        self._pending = pending
        first = next(iter(pending.decision.actions), None)
        self.has_ended = first is not None and first.kind in ("finish", "infeasible")

    def conclude(self, obs: Mapping[str, Any], seen: Observation) -> None:
        """Record the last decision as a step, now that its outcome is visible."""
        if self._pending is None:
            return
        pending, self._pending = self._pending, None
        acts = pending.decision.actions
        outcomes = list(pending.known)
        if acts and not outcomes:
            outcomes.append(_outcome(acts[0], pending, obs, seen))
        sentence = "Not tried: BrowserGym gets one action at a time."
        outcomes += [Outcome(status="refused", refusal="not_reached", sentence=sentence)] * (len(acts) - len(outcomes))
        self.steps.append(
            Step(
                index=len(self.steps),
                observation=pending.seen,
                decision=pending.decision,
                outcomes=tuple(outcomes),
                unused=pending.unused,
                started_at=pending.begun,
                seconds=max(0.0, (seen.taken_at - pending.begun).total_seconds()),
            )
        )


class _Aside:
    """Runs an event loop in its own thread: Playwright's loop occupies the caller's thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "vision-agent")
        self._runner = asyncio.Runner()
        self.is_open = True

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        if not self.is_open:
            work.close()
            raise UsageError("The agent is closed", "make another one")
        return self._thread.submit(self._runner.run, work).result()

    def close(self) -> None:
        self.is_open = False
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()


def _apply_args(settings: Settings, args: BrowserGymAgentArgs) -> Settings:
    """The settings with the arguments applied; the model is told to choose one action at a time."""
    model = settings.model.model_copy(update={"name": args.model or settings.model.name, "actions_per_step": "one"})
    return settings.model_copy(update={"model": model})


def _outcome(action: Action, pending: _Pending, obs: Mapping[str, Any], seen: Observation) -> Outcome:
    """The outcome of a call, from BrowserGym's report and what is visible."""
    words = describe_action(action, pending.seen)
    error = str(obs.get("last_action_error") or "")
    if str(obs.get("last_action") or "") != pending.calls:
        sentence = f"{words}: not done; something other than this agent acted instead."
        return Outcome(status="refused", refusal="not_reached", sentence=sentence)
    if error:
        refusal: Refusal = next((what for part, what in _IN_ERRORS if part in error), "unsupported")
        reason = safe_line(error, _LONGEST_ERROR)
        return Outcome(status="refused", refusal=refusal, sentence=f"{words}: BrowserGym could not: {reason}")
    effect, what = _effect(action, pending.seen, seen)
    url = seen.url if seen.url != pending.seen.url else ""
    return Outcome(status="done", effect=effect, sentence=f"{words}: {what}", url=url)


def _effect(action: Action, before: Observation, now: Observation) -> tuple[Effect, str]:
    if action.kind == "finish":
        return "finished", "the answer was sent, and the task goes on."
    if action.kind == "infeasible":
        return "infeasible", "this was reported, and the task goes on."
    if len(now.tabs) > len(before.tabs):
        return "new_tab", "done; a new tab opened."
    if now.url != before.url:
        return "navigated", "done; the address changed."
    if now.clean.sha256 != before.clean.sha256 or now.listing != before.listing:
        return "changed", "done; the page changed."
    return "no_effect", "done; nothing visibly changed."


def _decision_info(
    decision: Decision, outcomes: Sequence[Outcome], unused: tuple[Usage, ...], seen: Observation
) -> dict[str, Any]:
    """What AgentLab stores about a decision. It sums the figures over an episode; NaN stands for an unknown cost."""
    usages = usages_of(decision, None, unused)
    costs = [usage.cost_usd for usage in usages]
    cost = math.nan if any(each is None for each in costs) else sum(each or 0.0 for each in costs)
    return {
        "think": "\n".join(filter(None, (decision.memory, decision.next_goal))),
        "stats": {
            "n_marks": len(seen.marks),
            "n_refused": sum(each.status == "refused" for each in outcomes),
            "input_tokens": sum(usage.input_tokens + usage.cache_read_tokens for usage in usages),
            "output_tokens": sum(usage.output_tokens for usage in usages),
            "cost_usd": cost,
            "model_seconds": decision.seconds,
        },
        "extra_info": {
            "actions": [action.model_dump(mode="json") for action in decision.actions],
            "refused": [each.sentence for each in outcomes if each.status == "refused"],
        },
    }


# --- the goal ---------------------------------------------------------------------------------------------------------


def _goal(obs: Mapping[str, Any]) -> dict[str, Any]:
    """The goal's text and pictures. A picture given only by address is mentioned, not fetched."""
    words: list[str] = []
    pictures: list[GoalPicture] = []
    for part in obs.get("goal_object") or ():
        if part.get("type") == "text":
            words.append(str(part["text"]))
        elif part.get("type") == "image_url":
            address = part["image_url"]
            address = str(address["url"] if isinstance(address, Mapping) else address)
            picture = _picture_in(address)
            if picture is not None:
                pictures.append(picture)
            else:
                words.append("(The goal includes a picture that was given only by its address.)")
    return {"goal": "\n".join(words) or str(obs.get("goal") or ""), "pictures": tuple(pictures)}


def _picture_in(address: str) -> GoalPicture | None:
    head, comma, data = address.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        return None
    try:
        raw = base64.b64decode(data, validate=True)
        pixels = Pixels.decode(raw, Box(x=0, y=0, width=1, height=1), image_limits_for(""))
    except (binascii.Error, UsageError):
        return None
    return GoalPicture(shot=pixels.encode())


def _when(message: Mapping[str, Any], now: datetime) -> datetime:
    at = message.get("timestamp")
    return datetime.fromtimestamp(float(at), UTC) if isinstance(at, int | float | np.number) else now
