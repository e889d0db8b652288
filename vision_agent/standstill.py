"""Whether a run gets anywhere: which states of the page it has been in, and how many of its steps brought nothing new.

Told from the steps alone, so that a replay and a report see what the loop saw. First the model is told, then what it
has not tried is named; then the loop goes back to an earlier state, and in the end it stops.

Back is by an address, and from there by the steps that were taken on from it, where they may be taken again. The rule
is strict, for what a press does cannot be seen before: a step may be taken again only if all that it did was to scroll,
to point, to wait, or to click, once and plainly, on what says that it only shows something (a tab, a tree, a summary,
what expands, opens a menu or a dialog), and if that click then changed the page and sent no request. So nothing is
sent, typed, ticked, downloaded or deleted again. An address with a question mark is not opened again, for it may ask
the server to do something; where a field holds anything, nothing is, for it would be lost; and nor is the present
address where anything was typed, chosen, ticked, dragged, pressed by key or clicked on a surface since it was opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag

from vision_agent.actions import Action, Click, Hover, Scroll, Wait, mark_in, targets_of
from vision_agent.types import Mark, Observation, Outcome, Step

HINT, ALTERNATIVES, BACK = 2, 3, 4
"""Steps in a row that brought nothing new: from here on the model is told, gets what is left to try, is taken back."""
_INFORMS = {"read", "extract", "zoom", "ask"}
"""Actions that may help although the page stays as it is, once in each state."""
_NOTHING_SEEN = {None, "no_effect"}
"""Effects of an action that left the page as it was."""
_ALIKE_BITS = 1
"""Of 256 of a perceptual hash: a caret blinks in one. So does a small change of a drawing, whose step then counts by
its own effect."""
_OF_THE_MOMENT = re.compile(r"^[A-Z]?\d+\[:\]|(?: (?:focused|hovered|\*new|\*changed|\*moved))+(?=>)", re.MULTILINE)
"""What a listing says of numbers, of pointer and focus, and of the look before."""
_PUTS_IN = {"type", "select", "check", "set", "upload", "press", "drag", "custom"}
_GRAIN_PX = 8
_MOST_NAMED = 5
_LONGEST_PATH = 5
"""Steps: what lies deeper is found as soon by whoever decides."""
_POPUPS = {"menu", "listbox", "tree", "grid", "dialog"}


@dataclass(frozen=True)
class Way:
    """How an earlier state is reached again."""

    address: str
    steps: tuple[Step, ...] = ()
    """Recorded ones, to be taken again from there on."""


@dataclass(frozen=True)
class Standstill:
    """Steps in a row that brought nothing new."""

    times: int
    untried: tuple[int, ...] = ()
    """Marks that were considered in this state and not acted on."""
    back: Way | None = None
    """To the last other state before it that can be reached again without doing anything; None where there is none."""
    was_taken_back: bool = False
    """Already, and nothing new has come since."""

    @property
    def sentence(self) -> str:
        """For the model; empty while there is nothing to say."""
        if self.times < HINT:
            return ""
        said = (
            f"Standstill: the last {self.times} steps brought nothing new; "
            "what they did was done before on this same page, or changed nothing. Do not do it again."
        )
        if self.times >= ALTERNATIVES and self.untried:
            said += f" Considered and not yet tried: {', '.join(f'[{each}]' for each in self.untried)}."
        elif self.times >= ALTERNATIVES:
            said += " Think about which assumption is wrong, and take another way: the keyboard, a search, going back."
        return said


@dataclass(frozen=True)
class Edge:
    """One step as the way from one state to the next."""

    step: int
    before: int
    after: int
    actions: tuple[Action, ...]


def states_of(observations: Sequence[Observation]) -> list[int]:
    """For each the number of the state it shows, from 1 in the order in which they were first seen.

    Two are of one state when address, marks with what they say and hold, and looks are the same.
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
    """The graph of a run: its states are the nodes, its steps the edges. `last` is what was seen after all of them."""
    states = states_of([*(step.observation for step in steps), *([last] if last else [])])
    return [
        Edge(step.index, before, after, step.decision.actions)
        for step, before, after in zip(steps, states, states[1:], strict=False)
    ]


def noticed(steps: Sequence[Step], observation: Observation) -> Standstill:
    """How it stands after these steps, where this is seen."""
    edges, looks = edges_of(steps, observation), [*(step.observation for step in steps), observation]
    times, was_taken_back = 0, False
    for at in range(len(edges) - 1, -1, -1):
        # Who follows lines, a record or an idea of their own knows why they do something again.
        if steps[at].decision.author not in ("model", "loop"):
            break
        if steps[at].decision.author == "loop":
            was_taken_back |= any(action.kind == "goto" for action in edges[at].actions)
            continue  # what was decided is what counts
        if all(action.kind == "wait" for action in edges[at].actions) and edges[at].actions:
            continue  # patience is neither news nor a standstill
        if not _is_stale(edges[at], edges[:at], steps[at], looks[: at + 2]):
            break
        times += 1
    if times < HINT:
        return Standstill(times)
    untried, back = _untried(steps, edges, observation), _way_back(steps, edges, observation)
    return Standstill(times, untried, back, was_taken_back)


def _is_stale(edge: Edge, earlier: Sequence[Edge], step: Step, looks: Sequence[Observation]) -> bool:
    """Whether a step did what was done before in the same state, or did something and changed nothing.

    What has an effect although the state is told to be the same, such as a press on a drawn counter, is news, unless
    all that it did was to bring back a picture that was seen before. `looks` end with the one that followed the step.
    """
    effects = [what for what in step.outcomes if what.effect not in _NOTHING_SEEN and what.status != "refused"]
    if edge.after != edge.before:
        return _was_done(edge, earlier) or (not effects and _differs_in_paint_only(*looks[-2:]))
    if any(action.kind in _INFORMS for action in edge.actions):
        return not effects or _was_done(edge, earlier)
    is_only_seen = all(what.effect == "changed" and what.requests == 0 for what in effects)
    return is_only_seen and (not effects or _was_seen(looks))


def _was_seen(looks: Sequence[Observation]) -> bool:
    """Whether the last picture is one of those before."""
    return any(look.clean.sha256 == looks[-1].clean.sha256 for look in looks[:-1])


def _differs_in_paint_only(before: Observation, after: Observation) -> bool:
    """Whether only the picture is otherwise, of a page on which nothing is drawn: a large button may light up."""
    is_drawn = any(mark.kind in ("surface", "guess") for mark in (*before.marks, *after.marks))
    return not is_drawn and _facts(before) == _facts(after)


def _was_done(edge: Edge, earlier: Sequence[Edge]) -> bool:
    return any((each.before, each.actions) == (edge.before, edge.actions) for each in earlier)


def _way_back(steps: Sequence[Step], edges: Sequence[Edge], observation: Observation) -> Way | None:
    """To the last state that was not this one: by its address, and on from there where that alone does not do it."""
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
            return Way(seen.url, path)
        if seen.url != observation.url:
            return Way(seen.url)
    return None


def may_do_something(address: str) -> bool:
    """Whether to open an address may do something, such as add one more: a question mark may ask a server for that."""
    return "?" in address


def _path_to(at: int, steps: Sequence[Step], edges: Sequence[Edge]) -> tuple[Step, ...] | None:
    """The steps from the arrival at an address to this state there, without detours; None where they may not be
    taken again.
    """
    path: list[int] = []
    for each in range(_arrival(at, steps), at):
        been = next((place for place, known in enumerate(path) if edges[known].before == edges[each].before), None)
        path = [*path[:been], each] if been is not None else [*path, each]
    been = next((place for place, known in enumerate(path) if edges[known].before == edges[at].before), None)
    path = path[:been]
    if len(path) > _LONGEST_PATH or not all(may_be_taken_again(steps[each]) for each in path):
        return None
    return tuple(steps[each] for each in path)


def _arrival(at: int, steps: Sequence[Step]) -> int:
    """The first step of those up to this one that were taken at its address."""
    while at and steps[at - 1].observation.url == steps[at].observation.url:
        at -= 1
    return at


def _is_work(step: Step) -> bool:
    """Whether something was put into the page that opening it anew would lose."""
    return any(puts_in(action, step) for action, _ in step.maybe_done)


def puts_in(action: Action, step: Step) -> bool:
    """Whether an act of a step put something into the page."""
    if action.kind in _PUTS_IN:
        return True
    if not isinstance(action, Click):
        return False
    number = mark_in(action.target)
    mark = step.observation.mark(number) if number is not None else None
    return mark is None or mark.kind in ("toggle", "surface", "guess")


def may_be_taken_again(step: Step, also: Callable[[Action, Outcome], bool] = lambda _, __: False) -> bool:
    """Whether all that a step did only showed something, or is an action of which that is said."""
    if any(outcome.status == "partial" for outcome in step.outcomes):
        return False
    return all(also(action, outcome) or _only_shows(action, outcome, step) for action, outcome in step.carried_out)


def _only_shows(action: Action, outcome: Outcome, step: Step) -> bool:
    match action:
        case Scroll() | Hover() | Wait():
            return True
        case Click(target=int() as number, button="left", count=1, modifiers=()):
            mark = step.observation.mark(number)
            has_only_shown = outcome.effect == "changed" and outcome.requests == 0
            return mark is not None and has_only_shown and _is_for_showing(mark)
        case _:
            return False


def _is_for_showing(mark: Mark) -> bool:
    if mark.kind in ("field", "toggle", "link") or mark.source != "dom":
        return False
    says_so = mark.state.expanded is not None or mark.state.popup in _POPUPS
    return says_so or mark.role in ("tab", "treeitem") or mark.tag == "summary"


def _untried(steps: Sequence[Step], edges: Sequence[Edge], observation: Observation) -> tuple[int, ...]:
    here = [step for step, edge in zip(steps, edges, strict=True) if edge.before == edges[-1].after]
    tried = {target for step in here for action in step.decision.actions for target in targets_of(action)}
    considered = [each.mark for step in reversed(here) for each in step.decision.candidates]
    left = dict.fromkeys(number for number in considered if number not in tried and observation.mark(number))
    return tuple(left)[:_MOST_NAMED]


def _facts(observation: Observation) -> int:
    """A number that is another wherever the page says something else; within one process."""
    tabs = tuple((urldefrag(tab.url)[0], tab.active) for tab in observation.tabs)
    said = _OF_THE_MOMENT.sub("", observation.listing)
    # A link that leads nowhere may change the fragment of the address.
    address = urldefrag(observation.url)[0]
    return hash((address, str(observation.region), tabs, said, tuple(map(_fact, observation.marks))))


def _fact(mark: Mark) -> tuple[object, ...]:
    # Where the pointer and the focus are is no news; nor is a mark that was given another number.
    state = mark.state
    held = (state.value, state.checked, state.selected, state.expanded, state.pressed, state.disabled, state.current)
    return mark.role, mark.name, held, round(mark.box.x / _GRAIN_PX), round(mark.box.y / _GRAIN_PX)
