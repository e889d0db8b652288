"""The budget of a run: steps, seconds, tokens and money used, and the limits on them.

The loop stops at a limit. The model is warned before, while there is time to finish with what it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vision_agent.types import Ending, LimitName, Limits, Step, Usage, total_cost

_WARN_AT = 0.8
"""The share of a limit at which the model is first told what is left."""
_ROUNDING_USD = 1e-9
"""The rounding error allowed in sums of money, in US dollars."""
_LAST_STEPS = 3
"""Steps left at which the model is told, if the run has taken as many: 20% of a small limit is less than a step."""


@dataclass(frozen=True)
class Spent:
    """What has been used so far."""

    steps: int
    seconds: float
    tokens: int
    cost_usd: float | None
    """None if the price of a reply is unknown."""


def spent(steps: Sequence[Step], seconds: float, also: Sequence[Usage] = ()) -> Spent:
    """What these steps used in `seconds`; `also` is the usage of the unfinished step."""
    tokens, cost_usd = cost_of([*(usage for step in steps for usage in step.usages), *also])
    # Manual actions count towards no limit.
    return Spent(sum(not step.is_by_hand for step in steps), seconds, tokens, cost_usd)


def cost_of(usages: Sequence[Usage]) -> tuple[int, float | None]:
    """Tokens and US dollars; the latter is None if the price of any reply is unknown."""
    return sum(usage.total for usage in usages), total_cost(usages)


@dataclass(frozen=True)
class ReachedLimit:
    """A limit that ends a run."""

    name: LimitName
    words: str

    @property
    def ending(self) -> Ending:
        """How the run ends."""
        return Ending(status="limit", sentence=f"A limit was reached: {self.words.rstrip('.')}.", limit=self.name)


def reached_limit(limits: Limits, used: Spent) -> ReachedLimit | None:
    """The limit that is reached; None if none is."""
    if used.steps >= limits.steps:
        taken = "1 step was taken" if limits.steps == 1 else f"{limits.steps} steps were taken"
        return ReachedLimit("steps", taken)
    if limits.seconds is not None and used.seconds >= limits.seconds:
        return ReachedLimit("seconds", f"{used.seconds:.0f} of {limits.seconds:g} seconds have passed")
    if limits.tokens is not None and used.tokens >= limits.tokens:
        return ReachedLimit("tokens", f"{used.tokens} of {limits.tokens} tokens were used")
    if limits.cost_usd is not None and used.cost_usd is None:
        unknown = (
            f"at most {_dollars(limits.cost_usd)} may be spent, and what a decision costs is not known; "
            "limit the tokens instead, with --max-tokens or limits.tokens"
        )
        return ReachedLimit("cost", unknown)
    if limits.cost_usd is not None and used.cost_usd is not None and used.cost_usd >= limits.cost_usd:
        return ReachedLimit("cost", f"{_dollars(used.cost_usd)} of {_dollars(limits.cost_usd)} were spent")
    return None


def limit_of_next_request(limits: Limits, steps: Sequence[Step], used: Spent) -> ReachedLimit | None:
    """The limit that the next request would pass; None if it fits, or if none was made so far.

    The next request is estimated as the last one, with the reply to that one added to it as input, and with another
    reply as long. It costs as much as the last one.
    """
    last = next((step.decision.usage for step in reversed(steps) if step.decision.usage is not None), None)
    if last is None:
        return None
    next_tokens = last.total + last.output_tokens
    if limits.tokens is not None and used.tokens + next_tokens > limits.tokens:
        spent = f"{used.tokens} of {limits.tokens} tokens were used"
        return ReachedLimit("tokens", f"{spent}, and the next request needs about {next_tokens}")
    next_usd = last.cost_usd or 0.0
    spent_usd, most_usd = used.cost_usd, limits.cost_usd
    if most_usd is not None and spent_usd is not None and spent_usd + next_usd > most_usd + _ROUNDING_USD:
        spent = f"{_dollars(spent_usd)} of {_dollars(most_usd)} were spent"
        return ReachedLimit("cost", f"{spent}, and the next request costs about {_dollars(next_usd)}")
    return None


def _dollars(amount: float) -> str:
    """An amount in US dollars: with cents, and below a dollar with all digits to a millionth."""
    if amount >= 1:
        return f"${amount:.2f}"
    shown = f"{amount:.6f}".rstrip("0")
    whole, _, cents = shown.partition(".")
    return f"${whole}.{cents:0<2}"


def is_failure(step: Step, *, is_last: bool) -> bool:
    """Whether a step counts as a failure: everything in it was refused. `is_last`: it ended the run."""
    # Without actions, a replay that says why it stops is no failure, nor is a message from a person.
    is_handing_over = step.decision.author in ("replay", "human", "loop", "client") and not step.decision.actions
    if not is_handing_over and all(outcome.status == "refused" for outcome in step.outcomes):
        return True
    # A partial action may have been done, so it counts only if it ended the run.
    return is_last and any(outcome.status == "partial" for outcome in step.outcomes)


def failure_limit(times: int, last: Step) -> ReachedLimit:
    """The limit of consecutive failures, which is reached."""
    why = last.outcomes[0].sentence if last.outcomes else last.decision.next_goal or "nothing was decided"
    words = f"{times} steps in a row failed, the last: {why}" if times > 1 else f"1 step failed: {why}"
    return ReachedLimit("consecutive_failures", words)


def running_out(limits: Limits, used: Spent) -> str:
    """What is left of each limit that is nearly reached, including the coming step; empty if none is."""
    return ", ".join(_remaining(limits, used))


def _remaining(limits: Limits, used: Spent) -> Iterator[str]:
    steps = limits.steps - used.steps
    if (steps <= _LAST_STEPS and steps <= used.steps) or used.steps >= _WARN_AT * limits.steps:
        yield f"{steps} of {limits.steps} steps"
    if limits.seconds is not None and used.seconds >= _WARN_AT * limits.seconds:
        yield f"{max(0.0, limits.seconds - used.seconds):.0f} of {limits.seconds:g} seconds"
    if limits.tokens is not None and used.tokens >= _WARN_AT * limits.tokens:
        yield f"{max(0, limits.tokens - used.tokens)} of {limits.tokens} tokens"
    if limits.cost_usd is not None and used.cost_usd is not None and used.cost_usd >= _WARN_AT * limits.cost_usd:
        yield f"${max(0.0, limits.cost_usd - used.cost_usd):.2f} of ${limits.cost_usd:.2f}"
