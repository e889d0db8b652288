"""What an action is to do, and why one was not done, told to a person."""

from __future__ import annotations

import json

from vision_agent import actions
from vision_agent.actions import Action, Cell, Offset, Point, Target, offset_words
from vision_agent.distinguish import beside, unclaimed
from vision_agent.types import Mark, Observation, Refusal

REASONS: dict[Refusal, str] = {
    "unknown_mark": "It named a number that the picture did not have. Nothing was touched.",
    "outside": "It pointed outside the picture. Nothing was touched.",
    "gone": "The page had taken it away after the picture was made. Nothing was touched.",
    "changed": "It, or what it stands in, was something else by then than in the picture, so it was left alone.",
    "moved": "It was not where the picture shows it any more, or did not stand still, so it was left alone.",
    "covered": "Something lay over it, and would have been hit instead.",
    "ambiguous": "Several things fit equally well, and nothing says which was meant.",
    "disabled": "The page does not let it be used yet. Often a field or a tick before it is missing.",
    "unsupported": "It cannot be done with such a thing, or the browser would not do it.",
    "not_an_option": "The list does not offer it.",
    "blocked": "The task does not allow it: another host, a file or a secret that was not meant for this place.",
    "unreachable": "The address gave no page. Is it right, is its server running, and is the network there?",
    "timed_out": "The page gave no answer in time, or what was waited for did not come.",
    "crashed": "The page, or a frame in it, crashed.",
    "needs_person": "It waits for somebody to answer, and nobody was there.",
    "not_verified": "It was said to be done, and a check of the task did not hold.",
    "cut_off": "The run was cut off before it was done.",
    "not_reached": "It was not tried, because of what came before it.",
    "dry_run": "It would have been done here. This was a dry run, which only looks.",
    "recorded": "It is a recorded page: nothing was done to it, and the answer was held against the reference.",
}
"""What each refusal means to whoever reads the run; the outcome's own sentence says what was found on the page."""
PARTIAL = "A part of it reached the page, so it may have been done. It is not repeated by itself."
"""What it means that an action was cut off half-way."""


def in_words(action: Action, seen: Observation) -> str:
    """One action, with marks by number and name, and what tells equal names apart: `Click [7] “Delete” ‹Ann›`."""
    return " ".join(word if isinstance(word, str) else _target(word, seen) for word in phrase_of(action))


def _target(target: Target, seen: Observation) -> str:
    if isinstance(target, Point):
        return f"({target.x:g}, {target.y:g})"
    number = target.mark if isinstance(target, Cell) else target
    place = f" row {target.row} column {target.column}" if isinstance(target, Cell) else ""
    mark = seen.mark(number)
    return f"[{number}]{place}" + (name_of(mark, seen) if mark is not None else "")


def name_of(mark: Mark, seen: Observation) -> str:
    """` “Delete” ‹Ann›`: the name of a mark, and what tells it from others of that name; or nothing."""
    return (f" “{unclaimed(mark.name)}”" if mark.name else "") + beside(mark, seen.marks)


def phrase_of(action: Action) -> tuple[str | Target, ...]:
    """What an action is to do, in words and targets in the order in which they are said."""
    match action:
        case actions.Click():
            verb = {1: "Click", 2: "Double-click", 3: "Triple-click"}[action.count]
            held = "+".join(action.modifiers)
            aside = f"with {held}" * bool(held), f"({action.button} button)" * (action.button != "left")
            return (verb, action.target, *filter(None, aside))
        case actions.Type():
            return (f"Type “{action.text}” into", action.target, *(["and press Enter"] * action.submit))
        case actions.Select():
            return (f"Choose {', '.join(f'“{option}”' for option in action.options)} in", action.target)
        case actions.Check():
            return ("Tick" if action.checked else "Untick", action.mark)
        case actions.Set():
            return ("Set", action.mark, f"to “{action.value}”")
        case actions.Upload():
            return (f"Give {', '.join(action.files)} to", action.mark)
        case actions.Press():
            times = f" {action.count} times" * (action.count > 1)
            return (f"Press {action.keys}{times}", *(["in", action.target] if action.target is not None else []))
        case actions.Hover():
            return ("Point at", action.target)
        case actions.Scroll() if action.to == "middle" and action.target is not None:
            return ("Bring", action.target, "to the middle")
        case actions.Scroll():
            far = "to the end" if action.to == "end" else f"by {action.pages:g}"
            return (f"Scroll {action.direction} {far}", *(["in", action.target] if action.target is not None else []))
        case actions.Drag():
            by = (word for point in action.path for word in ("by", point))
            if isinstance(action.target, Offset):
                return ("Drag", action.source, *by, offset_words(action.target))
            return ("Drag", action.source, *by, "to", action.target)
        case actions.SelectText():
            return (f"Select the text “{action.first}”" + f" to “{action.last}”" * (action.last != action.first),)
        case actions.Zoom():
            grid = ["with a grid over it"] * action.grid
            return ("Look closer at", action.target, *(("to", action.to) if action.to is not None else ()), *grid)
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
        case actions.Read():
            what = {"view": "what is in view", "page": "the whole page", "table": "the table around"}[action.what]
            return (f"Read {what}", *([action.mark] if action.mark is not None else []))
        case actions.Extract():
            return ("Extract the rows around", action.mark)
        case actions.Ask():
            return (f"Ask: {action.question}",)
        case actions.Finish():
            verdict = "Finish: done" if action.success else "Finish: not possible"
            return (verdict, *(["shown by"] * bool(action.evidence)), *action.evidence)
        case actions.Infeasible():
            return (f"Cannot be done: {action.reason}", *(["shown by"] * bool(action.evidence)), *action.evidence)
        case actions.Custom():
            said = ", ".join(
                f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in action.arguments.items()
            )
            return (f"{action.name}({said})",)
