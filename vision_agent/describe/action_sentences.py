"""Describes actions, refusals and endings in words for a person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import assert_never

from vision_agent import actions
from vision_agent.actions import Action, Cell, Offset, PictureArea, Point, Target, offset_words
from vision_agent.describe.distinctions import distinction_suffix, safe_name
from vision_agent.observation import Mark, Observation
from vision_agent.types import FAILED_EFFECTS, EndingStatus, Outcome, Refusal, Step

REASONS: dict[Refusal, str] = {
    "unknown_mark": "The action named a mark that the picture did not have. Nothing was touched.",
    "outside": "The action pointed outside the picture. Nothing was touched.",
    "gone": "The target disappeared after the picture was taken. Nothing was touched.",
    "changed": "The target or its surroundings changed after the picture was taken, so it was left alone.",
    "moved": "The target had left its place in the picture or kept moving, so it was left alone.",
    "covered": "Something covered the target and would have been hit instead.",
    "ambiguous": "Several elements fit equally well, and nothing shows which was meant.",
    "disabled": "The page has disabled the target. Often an earlier field or checkbox must be filled in first.",
    "unsupported": "The target does not support this action, or the browser refused it.",
    "not_an_option": "The list does not have this option.",
    "blocked": "The task does not allow this host, file, secret or action here.",
    "unreachable": "The address did not load. Check the address, its server and the network.",
    "timed_out": "The page did not respond in time, or the awaited change did not happen.",
    "crashed": "The page, or a frame in it, crashed.",
    "needs_person": "The action needs an answer from a person, and nobody was there.",
    "not_verified": "The model claimed completion, but a check of the task failed.",
    "cut_off": "The run was interrupted before the action was done.",
    "not_reached": "The action was not tried, because of what came before it.",
    "dry_run": "The action would have been done here; a dry run only looks.",
    "taken_back": "The page did not keep it: the control is not in the state that was asked for.",
    "recorded": "The page is a recording: nothing was done, and the answer was compared with the reference.",
}
"""What each refusal means to a person; the outcome's own sentence says what was found on the page."""
FOUND_BY = {2: "found again by name", 3: "found again by place", 4: "by coordinates"}
"""How a target was found that was not the live element that was seen, by `Outcome.rung`."""
PARTIAL = "Part of the action reached the page, so it may have taken effect. It is not repeated automatically."
"""What a partial outcome means to a person."""
ENDED: dict[EndingStatus, str] = {
    "done": "Done",
    "not_done": "Not done",
    "infeasible": "Cannot be done",
    "limit": "Stopped at a limit",
    "needs_person": "Needs a person",
    "unavailable": "Browser, model or disk unavailable",
    "error": "Stopped by an error",
    "interrupted": "Interrupted",
    "dry_run": "Dry run",
}
"""How a run ended, in words."""


def counted(many: int, thing: str) -> str:
    """The number and the thing, in the plural where needed: `1 task`, `3 tasks`."""
    return f"{many} {thing}{'' if many == 1 else 's'}"


LOOK_AGAIN = "look again for: "
"""How the goal of a step begins in which step lines look for a target once more; the line follows."""
LOOK_AGAIN_IN_REPLAY = "Look again for the target of step "
"""The same for a replay; the number of the recorded step follows."""
BY_HAND = "By hand: "
"""How the goal of a step begins that a person did in the browser; what they did follows."""


def is_look_again(step: Step) -> bool:
    """Whether a step only paused before step lines or a replay looked for a target once more."""
    decision = step.decision
    is_pause = all(isinstance(action, actions.Wait) for action in decision.actions)
    begins = decision.next_goal.startswith((LOOK_AGAIN, LOOK_AGAIN_IN_REPLAY))
    return is_pause and begins and decision.author in ("steps", "replay")


def gives_up(action: Action | None) -> bool:
    """Whether an action ends the task without having done it."""
    return isinstance(action, actions.Infeasible) or (isinstance(action, actions.Finish) and not action.success)


def lacks_effect(action: Action | None, outcome: Outcome) -> bool:
    """Whether an action was done without the effect that it is meant to have; a pause is meant to have none.

    A download that was not kept is no effect.
    """
    if outcome.effect == "download":
        return bool(not_kept_in(outcome.changes))
    is_pause = isinstance(action, actions.Wait) and action.text is None and not action.change
    return outcome.effect in FAILED_EFFECTS and not is_pause


def text_came(action: Action | None, outcome: Outcome) -> bool:
    """Whether a text that was waited for shows now."""
    return isinstance(action, actions.Wait) and action.text is not None and outcome.effect == "changed"


def held_instead_in(sentence: str) -> str:
    """The clause of an outcome that a field holds something else than was asked for; empty if it says no such thing."""
    found = re.search(r'\. The (field now holds ".*?")\.', sentence)
    return f"the {found[1]}" if found else ""


def failed_answer_in(clauses: Iterable[str]) -> str:
    """The clause that a page came with an error, such as `the page answered 404 Not Found`; empty if none says so."""
    return next((each for each in clauses if each.startswith("the page answered ")), "")


def not_kept_in(clauses: Iterable[str]) -> str:
    """The clause that a file was not kept, such as `the download "a.pdf" was not kept: canceled`; else empty."""
    return next((each for each in clauses if re.match(r'the download "[^"]*" was not kept: ', each)), "")


def blocked_in(clauses: Iterable[str]) -> str:
    """That a page was blocked which a tab asked for, such as `a request to shop.example was blocked`; else empty."""
    told = (each.partition(" (asked for by the page)") for each in clauses)
    return next((first for first, asked, _ in told if asked and first.endswith(" was blocked")), "")


def describe_action(action: Action, seen: Observation, *, numbered: bool = True) -> str:
    """One action in words, with marks by number, name and distinction: `Click [7] “Delete” ‹Ann›`.

    Without numbers it fits other observations of the page as well: `Click button “Delete” ‹Ann›`.
    """
    words = _numbered_target if numbered else describe_target
    return " ".join(word if isinstance(word, str) else words(word, seen) for word in action_phrase(action))


def _numbered_target(target: Target, seen: Observation) -> str:
    if isinstance(target, Point):
        return describe_target(target, seen)
    number = target.mark if isinstance(target, Cell) else target
    place = f" row {target.row} column {target.column}" if isinstance(target, Cell) else ""
    mark = seen.known_mark(number)
    return f"[{number}]{place}" + (_quoted_name(mark, seen) if mark is not None else "")


def describe_target(target: Target, seen: Observation | None) -> str:
    """A target in words, without its number: `button “Delete” ‹Ann›`, `row 2, column 3 of grid`, `(412, 233)`."""
    if isinstance(target, Point):
        return f"({target.x:g}, {target.y:g})"
    mark = seen.known_mark(target.mark if isinstance(target, Cell) else target) if seen else None
    cell = f"row {target.row}, column {target.column} of " if isinstance(target, Cell) else ""
    return cell + (mark.role + _quoted_name(mark, seen) if mark and seen else "(no such mark)")


def _quoted_name(mark: Mark, seen: Observation) -> str:
    among = seen.marks if seen.mark(mark.number) is not None else (*seen.marks, *seen.out_of_view)
    return (f" “{safe_name(mark.name)}”" if mark.name else "") + distinction_suffix(mark, among)


def action_phrase(action: Action) -> tuple[str | Target, ...]:
    """What an action does, as a sequence of words and targets."""
    match action:
        case actions.Click():
            verb = {1: "Click", 2: "Double-click", 3: "Triple-click"}[action.count]
            held = "+".join(action.modifiers)
            aside = f"with {held}" * bool(held), f"({action.button} button)" * (action.button != "left")
            return (verb, action.target, *filter(None, aside))
        case actions.DoubleTap():
            return ("Double-tap", action.target)
        case actions.Hold():
            until = f"until “{action.until}” shows, at most" if action.until else "for"
            how = "with a finger " * action.touch
            return ("Hold", action.target, f"{how}{until} {action.seconds:g} s")
        case actions.Type():
            return (f"Type “{action.text}” into", action.target, *(["and press Enter"] * action.submit))
        case actions.Select():
            verb = {None: "Choose", "add": "Choose also", "remove": "Unselect"}[action.change]
            return (f"{verb} {', '.join(f'“{option}”' for option in action.options)} in", action.target)
        case actions.Check():
            return ("Tick" if action.checked else "Untick", action.mark)
        case actions.Set():
            return ("Set", action.mark, f"to “{action.value}”")
        case actions.Upload():
            return (f"Give {', '.join(action.files)} to", action.mark)
        case actions.Press():
            times = f" {action.count} times" * (action.count > 1)
            held = f" for {action.seconds:g} s" if action.seconds else ""
            verb = "Hold" if action.seconds else "Press"
            return (f"{verb} {action.keys}{times}{held}", *(["in", action.target] if action.target is not None else []))
        case actions.Hover():
            return ("Point at", action.target)
        case actions.Scroll() if action.to == "middle" and action.target is not None:
            return ("Bring", action.target, "to the middle")
        case actions.Scroll():
            amount = f"{action.px:g} px" if action.px else f"{action.pages:g}"
            far = "to the end" if action.to == "end" else f"by {amount}"
            held = f" with {'+'.join(action.modifiers)}" * bool(action.modifiers)
            where = ["in", action.target] if action.target is not None else []
            return (f"Scroll {action.direction} {far}{held}", *where)
        case actions.ScrollTo():
            return (f"Scroll to “{action.text}”",)
        case actions.Drag():
            way = (offset_words(each) if isinstance(each, Offset) else each for each in action.path)
            by = (word for place in way for word in ("by", place))
            keys = [f"with {'+'.join(action.modifiers)}"] if action.modifiers else []
            if isinstance(action.target, Offset):
                return ("Drag", action.source, *by, offset_words(action.target), *keys)
            return ("Drag", action.source, *by, "to", action.target, *keys)
        case actions.SelectText():
            return (f"Select the text “{action.first}”" + f" to “{action.last}”" * (action.last != action.first),)
        case actions.Zoom():
            grid = ["with a grid over it"] * action.grid
            return ("Look closer at", action.target, *(("to", action.to) if action.to is not None else ()), *grid)
        case actions.LookAt():
            which = [f"tile {action.tile}"] * (action.tile > 1)
            if isinstance(action.target, PictureArea):
                return ("Look only at", action.target.corner, "to", action.target.opposite, *which)
            return ("Look only at", action.target, *which)
        case actions.Pan():
            return ("Pan", action.mark, offset_words(action.by))
        case actions.Magnify():
            size = [f"{action.factor:g} times", *([f"turned by {action.degrees:g}°"] * bool(action.degrees))]
            return ("Magnify", action.target, *size, *(["with two fingers"] * action.touch))
        case actions.FindOn():
            return (f"Find “{action.text}” on", action.mark)
        case actions.Goto():
            return (f"Open {action.url}",)
        case actions.Back():
            return ("Go back",)
        case actions.Forward():
            return ("Go forward",)
        case actions.Reload():
            return ("Reload the page",)
        case actions.OpenTab():
            return (f"Open {action.url} in a new tab",)
        case actions.SwitchTab():
            return (f"Go to tab {action.tab}",)
        case actions.CloseTab():
            return (f"Close tab {action.tab}",)
        case actions.Wait():
            change = "Wait for a change" if action.change else f"Wait {action.seconds:g} s"
            return (f"Wait for “{action.text}”" if action.text else change,)
        case actions.Read(mark=str(words)):
            return (f"Read the table called “{words}”",)
        case actions.Read():
            in_view = "what is in view" if action.mark is None else "what is in"
            what = {
                "view": in_view,
                "page": "the whole page",
                "table": "the table around",
                "download": "the last download",
            }[action.what]
            what = what.replace("the table", "the exact table") if action.exact else what
            return (f"Read {what}", *([action.mark] if action.mark is not None else []))
        case actions.Extract():
            if isinstance(action.mark, int):
                return ("Extract the rows around", action.mark)
            return (f"Extract the rows of “{action.mark}”" if action.mark else "Extract rows",)
        case actions.Ask():
            return (f"Ask: {action.question}",)
        case actions.Finish():
            verdict = "Finish: done" if action.success else "Finish: not done"
            return (verdict, *(["shown by"] * bool(action.evidence)), *action.evidence)
        case actions.Infeasible():
            return (f"Cannot be done: {action.reason}", *(["shown by"] * bool(action.evidence)), *action.evidence)
        case actions.Custom():
            arguments = ", ".join(
                f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in action.arguments.items()
            )
            return (f"{action.name}({arguments})",)
        case _:
            assert_never(action)
