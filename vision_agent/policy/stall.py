"""Whether a run stalls: which states of the page it has been in, and how many steps in a row brought nothing new.

It follows from the steps alone, so that a replay and a report agree with the loop. First the model is told what it
considered and has not tried, then that it stalls, then to take another way. After that the loop goes back to an earlier
state, and in the end the run stops.

The way back is an address, then the steps taken on from there, if they may be repeated. The rule is strict, because the
effect of a press is unknown beforehand. A step may be repeated only if all it did was scroll, hover, wait, or click
once, without modifiers, on a control that only reveals something (a tab, a tree item, a summary, or what expands or
opens a menu or dialog), and if that click changed the page and sent no request. So nothing is sent, typed, ticked,
downloaded or deleted again. An address with a question mark is not opened again: it may make the server do something.
No address is opened while a field has a value, which would be lost. The current address is not opened if anything was
typed, chosen, ticked, dragged, pressed by key, or clicked on a surface since it was opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urldefrag

from vision_agent.actions import Action, Click, mark_in, targets_of
from vision_agent.describe.action_sentences import describe_action
from vision_agent.observation import Mark, Observation
from vision_agent.text.escape import cut_text
from vision_agent.types import Outcome, Step

HINT, ALTERNATIVES, BACK = 2, 3, 4
"""Consecutive steps without progress after which the model is told so, then to take another way, then taken back."""
_NOTHING_SEEN = {None, "no_effect"}
"""Effects of an action that did not change the page."""
_ALIKE_BITS = 1
"""Bits of the 256-bit perceptual hash that may differ: a blinking caret changes one. So may a small change in a
drawing; such a step is then judged by its own effect."""
_OF_THE_MOMENT = re.compile(r"^[A-Z]?\d+\[:\]|(?: (?:focused|hovered|\*new|\*changed|\*moved))+(?=>)", re.MULTILINE)
"""The parts of a listing that do not belong to a state: numbers, pointer and focus, changes since the last look."""
_GRAIN_PX = 8
_MOST_NAMED = 5
_MOST_TRIED, _LONGEST_TRIED = 3, 120
_LONGEST_PATH = 5
"""Steps; the model finds a deeper state just as fast."""
_POPUPS = {"menu", "listbox", "tree", "grid", "dialog"}


@dataclass(frozen=True)
class WayBack:
    """How to reach an earlier state again."""

    address: str
    steps: tuple[Step, ...] = ()
    """Recorded steps to repeat from there."""


@dataclass(frozen=True)
class Stall:
    """How many steps in a row brought nothing new, and what may help."""

    times: int
    untried: tuple[int, ...] = ()
    """Marks that the model considered in this state and did not act on."""
    back: WayBack | None = None
    """The way to the last different state that can be reached again without side effects, if there is one."""
    was_taken_back: bool = False
    """The loop has already gone back, without progress since."""
    steps: tuple[Step, ...] = field(default=(), compare=False, repr=False)
    """The steps that brought nothing new."""

    @property
    def ending(self) -> str:
        """Why a run that it ends has ended, for a person: what was tried, how often, what came of it, what may help."""
        tried = Counter(
            describe_action(action, step.observation) for step in self.steps for action in step.decision.actions
        )
        most = [f"{cut_text(what, _LONGEST_TRIED)} ({_times(many)})" for what, many in tried.most_common(_MOST_TRIED)]
        more = f" and {len(tried) - _MOST_TRIED} more" if len(tried) > _MOST_TRIED else ""
        what = f": {'; '.join(most)}{more}" if most else ""
        return (
            f"{self.times} steps in a row led nowhere{what}. They repeated what was done before, or had no effect. "
            "A goal or instructions that say what to do there may help, or a higher limit (limits.stall)"
        )

    @property
    def sentence(self) -> str:
        """The note for the model; empty while there is none."""
        left = (
            f" Considered and not yet tried: {', '.join(f'[{each}]' for each in self.untried)}." if self.untried else ""
        )
        if self.times < HINT:
            return f"The last step brought nothing new.{left}" if left else ""
        said = (
            f"Stalled: the last {self.times} steps brought nothing new; "
            "they repeated what was done before on this same page, or changed nothing. Do not do it again."
        )
        if self.times >= ALTERNATIVES and not left:
            said += " Think about which assumption is wrong, and take another way: the keyboard, a search, going back."
        return said + left


@dataclass(frozen=True)
class Edge:
    """A step as the transition from one state to the next."""

    step: int
    before: int
    after: int
    actions: tuple[Action, ...]


def states_of(observations: Sequence[Observation]) -> list[int]:
    """The state number of each observation; states count from 1 in the order in which they were first seen.

    Two observations show the same state if their address, their marks with names and values, and their pictures match.
    """
    known: list[tuple[int, int]] = []
    states = []
    for observation in observations:
        facts, look = _facts(observation), int(observation.phash or "0", 16)
        for number, (other, its_look) in enumerate(known, 1):
            if facts == other and (look ^ its_look).bit_count() <= _ALIKE_BITS:
                states.append(number)
                break
        else:
            known.append((facts, look))
            states.append(len(known))
    return states


def edges_of(steps: Sequence[Step], last: Observation | None = None) -> list[Edge]:
    """The graph of a run: states are nodes, steps are edges. `last` is the observation after the last step."""
    states = states_of([*(step.observation for step in steps), *([last] if last else [])])
    return [
        Edge(step.index, before, after, step.decision.actions)
        for step, before, after in zip(steps, states, states[1:], strict=False)
    ]


def detect_stall(steps: Sequence[Step], observation: Observation) -> Stall:
    """The stall, if any, after these steps, with `observation` as the current one."""
    edges, looks = edges_of(steps, observation), [*(step.observation for step in steps), observation]
    times, was_taken_back, counted = 0, False, list[Step]()
    for at in range(len(edges) - 1, -1, -1):
        # A script, a replay or a person has reasons to do something again.
        if steps[at].decision.author not in ("model", "loop"):
            break
        if steps[at].decision.author == "loop":
            was_taken_back |= any(action.kind == "goto" for action in edges[at].actions)
            continue  # only the model's decisions count
        if all(action.kind == "wait" for action in edges[at].actions):
            continue  # waiting is neither progress nor a stall, nor is a reply that was of no use
        if not _is_stale(edges[at], edges[:at], steps[at], looks[: at + 2]):
            break
        times += 1
        counted.insert(0, steps[at])
    if times == 0:
        return Stall(times)
    untried = _untried(steps, edges, observation)
    back = _way_back(steps, edges, observation) if times >= HINT else None
    return Stall(times, untried, back, was_taken_back, tuple(counted))


def _times(many: int) -> str:
    return {1: "once", 2: "twice"}.get(many, f"{many} times")


def _is_stale(edge: Edge, earlier: Sequence[Edge], step: Step, looks: Sequence[Observation]) -> bool:
    """Whether a step repeated what was done before in the same state, or changed nothing.

    A step with an effect, such as a press on a drawn counter, is progress even if the state counts as the same, unless
    it only brought back an earlier picture. `looks` end with the observation after the step.
    """
    effects = [what for what in step.outcomes if what.effect not in _NOTHING_SEEN and what.status != "refused"]
    if edge.after != edge.before:
        return _was_done(edge, earlier) or (not effects and _differs_in_paint_only(*looks[-2:]))
    if any(action.traits.informs for action in edge.actions):
        # It may help once in each state, even if the page does not change.
        return not effects or _was_done(edge, earlier)
    is_only_seen = all(what.effect == "changed" and what.requests == 0 for what in effects)
    return is_only_seen and (not effects or _was_seen(looks))


def _was_seen(looks: Sequence[Observation]) -> bool:
    """Whether the last picture equals an earlier one."""
    return any(look.clean.sha256 == looks[-1].clean.sha256 for look in looks[:-1])


def _differs_in_paint_only(before: Observation, after: Observation) -> bool:
    """Whether only the picture differs, on a page without drawn marks: a large button may light up."""
    is_drawn = any(mark.kind in ("surface", "guess") for mark in (*before.marks, *after.marks))
    return not is_drawn and _facts(before) == _facts(after)


def _was_done(edge: Edge, earlier: Sequence[Edge]) -> bool:
    return any((each.before, each.actions) == (edge.before, edge.actions) for each in earlier)


def _way_back(steps: Sequence[Step], edges: Sequence[Edge], observation: Observation) -> WayBack | None:
    """The way to the last different state: its address, and the steps from there if needed; None if there is none."""
    if any(mark.kind == "field" and mark.state.value for mark in observation.marks):
        return None
    for at in range(len(edges) - 1, -1, -1):
        seen = steps[at].observation
        if edges[at].before == edges[-1].after or seen.region is not None or may_do_something(seen.url):
            continue
        path = _path_to(at, steps, edges)
        if seen.url == observation.url and any(_is_work(step) for step in steps[_arrival(at, steps) :]):
            continue
        if path is not None:
            return WayBack(seen.url, path)
        if seen.url != observation.url:
            return WayBack(seen.url)
    return None


def may_do_something(address: str) -> bool:
    """Whether opening an address may have side effects: a query may ask the server for something."""
    return "?" in address


def _path_to(at: int, steps: Sequence[Step], edges: Sequence[Edge]) -> tuple[Step, ...] | None:
    """The steps from the arrival at an address to this state, without detours; None if they may not be repeated."""
    path: list[int] = []
    for each in range(_arrival(at, steps), at):
        been = next((place for place, known in enumerate(path) if edges[known].before == edges[each].before), None)
        path = [*path[:been], each] if been is not None else [*path, each]
    been = next((place for place, known in enumerate(path) if edges[known].before == edges[at].before), None)
    path = path[:been]
    if len(path) > _LONGEST_PATH or not all(is_repeatable(steps[each]) for each in path):
        return None
    return tuple(steps[each] for each in path)


def _arrival(at: int, steps: Sequence[Step]) -> int:
    """The index of the first of the consecutive steps up to this one that have its address."""
    while at and steps[at - 1].observation.url == steps[at].observation.url:
        at -= 1
    return at


def _is_work(step: Step) -> bool:
    """Whether a step left state in the page that reloading would lose."""
    return any(sets_field(action, step) for action, _ in step.maybe_done)


def sets_field(action: Action, step: Step) -> bool:
    """Whether an action of a step left state in the page that reloading would lose."""
    if action.traits.sets_field != "by_mark":
        return action.traits.sets_field
    marks = [
        step.observation.known_mark(number) for each in targets_of(action) if (number := mark_in(each)) is not None
    ]
    return not marks or any(mark is None or mark.kind in ("toggle", "surface", "guess") for mark in marks)


def is_repeatable(step: Step, also: Callable[[Action, Outcome], bool] = lambda _, __: False) -> bool:
    """Whether a step may be repeated: each of its actions only revealed something, or `also` allows that action.

    A step with a partial outcome may not, because it may have been done.
    """
    if any(outcome.status == "partial" for outcome in step.outcomes):
        return False
    return all(also(action, outcome) or _only_shows(action, outcome, step) for action, outcome in step.carried_out)


def _only_shows(action: Action, outcome: Outcome, step: Step) -> bool:
    match action:
        case Click(target=int() as number, button="left", count=1, modifiers=()):
            mark = step.observation.known_mark(number)
            has_only_shown = outcome.effect == "changed" and outcome.requests == 0
            return mark is not None and has_only_shown and _is_for_showing(mark)
        case _:
            return action.traits.only_looks


def _is_for_showing(mark: Mark) -> bool:
    if mark.kind in ("field", "toggle", "link") or mark.source != "dom":
        return False
    says_so = mark.state.expanded is not None or mark.state.popup in _POPUPS
    return says_so or mark.role in ("tab", "treeitem") or mark.tag == "summary"


def _untried(steps: Sequence[Step], edges: Sequence[Edge], observation: Observation) -> tuple[int, ...]:
    here = [step for step, edge in zip(steps, edges, strict=True) if edge.before == edges[-1].after]
    tried = {target for step in here for action in step.decision.actions for target in targets_of(action)}
    considered = [each.mark for step in reversed(here) for each in step.decision.candidates]
    left = dict.fromkeys(number for number in considered if number not in tried and observation.known_mark(number))
    return tuple(left)[:_MOST_NAMED]


def _facts(observation: Observation) -> int:
    """A hash of what the page says; comparable only within one process."""
    tabs = tuple((urldefrag(tab.url)[0], tab.active) for tab in observation.tabs)
    said = _OF_THE_MOMENT.sub("", observation.listing)
    # A link that leads nowhere may change the fragment of the address.
    address = urldefrag(observation.url)[0]
    return hash((address, str(observation.region), tabs, said, tuple(map(_fact, observation.marks))))


def _fact(mark: Mark) -> tuple[object, ...]:
    # Neither pointer, focus nor a mark's number is part of a state.
    state = mark.state
    held = (state.value, state.checked, state.selected, state.expanded, state.pressed, state.disabled, state.current)
    return mark.role, mark.name, held, round(mark.box.x / _GRAIN_PX), round(mark.box.y / _GRAIN_PX)
