"""Exports a run as a Playwright test: its actions, with targets found by role and name, and checks of the last page.

Targets drawn in a surface have no element, so the test clicks them by position. Among targets of the same name the test
picks the one beside the same words or under the same heading; if only their order differs, the one in the same place.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import assert_never
from urllib.parse import urlsplit

from vision_agent.actions import (
    Action,
    Ask,
    Back,
    Cell,
    Check,
    Click,
    CloseTab,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    FindOn,
    Finish,
    Forward,
    Goto,
    Hold,
    Hover,
    Infeasible,
    LookAt,
    Magnify,
    Offset,
    OpenTab,
    Pan,
    Point,
    Press,
    Read,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.describe.action_sentences import is_look_again
from vision_agent.describe.distinctions import distinguish, spelled_out
from vision_agent.export.context_setup import ContextSetup, context_setup
from vision_agent.observation import Mark, Observation
from vision_agent.text.escape import printable_line
from vision_agent.types import Outcome, Run, Step

_HIDDEN = re.compile(r"<((?:secret|private):[A-Za-z0-9_.-]+)>")
"""A secret, private data by name, or a kind of private data, as records have them."""
_HEAD = '''"""{goal}

Generated from the run {run}. Needs `pip install pytest playwright`, and a browser: `playwright install chromium`, or
the path of a Chromium executable in BROWSER. START_URL may name another start page.
{needs}"""

import os
import re
{time}from collections.abc import Iterator
from contextlib import ExitStack
{path}
import pytest
from playwright.sync_api import {names}

START_URL = os.environ.get("START_URL", {start})
{here}{dialogs}

@pytest.fixture
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    with ExitStack() as stack:
        # A process can have one Playwright only; where pytest-playwright is installed, other tests use that one.
        is_there = request.config.pluginmanager.hasplugin("playwright")
        playwright = request.getfixturevalue("playwright") if is_there else stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=os.environ.get("BROWSER"))
        context = browser.new_context({context})
{answers}        yield context.new_page()
        browser.close()

{helper}
def test_{name}(page: Page) -> None:
    page.goto(START_URL)
'''
_BESIDE = '''
BESIDE = r"""
{script}
"""


def beside(found: Locator, what: str, words: str, heading: str = "", nth: int = 1, of: int = 1) -> Locator:
    """The element beside the words and under the heading; fails unless exactly `of` of them match.

    With several matches it is the nth. `what` is what it is called if it fails.
    """
    places: list[int] = []
    until = time.monotonic() + 5
    while time.monotonic() < until:
        places = found.evaluate_all(BESIDE, [words, heading])
        if len(places) == of:
            return found.nth(places[nth - 1])
        found.page.wait_for_timeout(100)
    where = f" beside {{words!r}}" * bool(words) + f" under {{heading!r}}" * bool(heading)
    raise AssertionError(f"{{len(places)}} elements match {{what}}{{where}}; expected {{of}}")

'''
_CALLED = '''
def called(found: Locator, tag: str, name: str) -> Locator:
    """The visible elements that have this text, label or picture, and no part that has it too."""
    page, words = found.page, re.compile(r"^\\s*" + r"\\s*".join(map(re.escape, name.split())) + r"\\s*$")
    label = page.get_by_label(name, exact=True).or_(page.get_by_title(name, exact=True))
    picture = page.get_by_alt_text(name, exact=True).or_(label)
    only = found.filter(has=picture).filter(has_text=re.compile(r"^\\s*$"))
    every = found.filter(has_text=words).or_(found.and_(label)).or_(only)
    inner = page.locator(tag, has_text=words).or_(page.locator(tag, has=picture))
    return every.filter(has_not=inner).filter(visible=True)

'''
_SCROLL = '''
def scroll(page: Page, right: float, down: float) -> None:
    """Turns the wheel, and waits until nothing moves any more."""
    page.mouse.wheel(right, down)
    page.evaluate("""() => new Promise((done) => {
        let still = setTimeout(done, 300);
        const wait = () => { clearTimeout(still); still = setTimeout(done, 300); };
        addEventListener("scroll", wait, true);
        setTimeout(done, 5000);
    })""")

'''
_BY_TEXT = "named by its text"
_NAMELESS = frozenset(
    {"caption", "code", "definition", "deletion", "emphasis", "generic", "insertion", "mark", "none", "paragraph"}
    | {"presentation", "strong", "subscript", "superscript", "term", "time"}
)
"""Roles by whose name Playwright finds nothing, because the standard allows them none."""
_AT_THE_END = "# The page at the end of the run."
_ANSWERS = '        context.on("dialog", answer)\n'
_SCRIPT = Path(__file__).parent / "beside_words.js"


def render_test(run: Run) -> str:
    """The source of a pytest module that repeats the run's actions and fails if the page has changed.

    It reads secrets and private data from the environment: <secret:pin> is SECRET_PIN, <private:iban> PRIVATE_IBAN.
    """
    steps = zip(run.steps, (*run.steps[1:], None), strict=True)
    lines = _without_repeats([line for step, then in steps for line in _step(step, then)] + list(_end(run)))
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    looks_beside, uploads = "beside(" in body, "HERE / " in body
    helpers = [_CALLED] * ("called(" in body) + [_SCROLL] * ("scroll(page, " in body)
    setup = context_setup(run, has_touch=any(".tap(" in line for line in lines))
    names = ["Page", "expect", "sync_playwright", *["Dialog"] * bool(setup.dialogs)]
    names += ["Locator"] * (looks_beside or _CALLED in helpers)
    head = _HEAD.format(
        goal=_in_docstring(run.task.goal),
        run=_in_docstring(run.id),
        needs="".join(f"{each}\n" for each in _needs(run, lines, setup)),
        start=_literal(_start(run)),
        context=setup.arguments,
        dialogs=setup.dialogs,
        answers=_ANSWERS if setup.dialogs else "",
        helper="\n".join([*[_BESIDE.format(script=_SCRIPT.read_text("utf-8").strip())] * looks_beside, *helpers]),
        time="import time\n" if looks_beside else "",
        path="from pathlib import Path\n" if uploads else "",
        here="HERE = Path(__file__).parent\n" if uploads else "",
        names=", ".join(sorted(names, key=lambda name: (name[0].islower(), name))),
        name=re.sub(r"[^a-z0-9]+", "_", run.task.goal.lower()).strip("_")[:60] or "run",
    )
    return head + body + "\n"


def _without_repeats(lines: Sequence[str]) -> list[str]:
    """The lines without a check that was made since the last action, and without a heading that nothing follows."""
    kept, made = list[str](), set[str]()
    for line in lines:
        if line.startswith("expect("):
            if line in made:
                continue
            made.add(line)
        elif line and not line.startswith("#"):
            made.clear()
        kept.append(line)
    while kept and kept[-1] in ("", _AT_THE_END):
        kept.pop()
    return kept


def _start(run: Run) -> str:
    """Where the run began: on the page that was handed over, if it opened none itself."""
    first = run.steps[0].observation.url if run.steps else "about:blank"
    return run.task.start_url or first


def _needs(run: Run, lines: Sequence[str], setup: ContextSetup) -> Iterator[str]:
    named = sorted(
        {name for line in lines for name in re.findall(r'os\.environ\["((?:SECRET|PRIVATE)_[A-Z0-9_]+)"\]', line)}
    )
    if named:
        yield f"Needs {', '.join(named)} in the environment."
    codes = {_variable(f"secret:{secret.name}") for secret in run.task.secrets if secret.is_code}
    for each in sorted(codes.intersection(named)):
        yield f"{each} is a one-time code: give the one that is valid when the test types it, not its key."
    if setup.is_signed_in:
        yield "STORAGE_STATE names a file of Playwright's with the cookies to begin with; the run began signed in."
    actions = [action for step in run.steps for action, _ in step.carried_out]
    files = {name: None for action in actions if isinstance(action, Upload) for name in _file_names(action)}
    if files:
        yield f"Needs beside it: {', '.join(map(_in_docstring, files))}"


def _file_locator(number: int, seen: Observation, found: str) -> str:
    """The field itself, which pages often hide behind a button of their own."""
    mark = seen.known_mark(number)
    if mark is None or mark.tag != "input" or not mark.name:
        return found
    root = "page" + "".join(map(_frame, filter(None, mark.frame.split("."))))
    shown = f"{root}.get_by_role({_literal(mark.role)}, name={_text(mark.name)}, exact=True"
    return found.replace(f"{shown})", f"{shown}, include_hidden=True)")


def _file_names(action: Upload) -> list[str]:
    """Names only: somebody else's record must not choose a file of this machine."""
    return [PurePath(name).name for name in action.files]


def _step(step: Step, then: Step | None) -> Iterator[str]:
    """The lines of a step; `then` is the step after it."""
    if not is_look_again(step):  # Playwright waits for each target itself
        yield from _acts(step)
    if then is not None:
        yield from _goes_with(step, then)


def _goes_with(step: Step, then: Step) -> Iterator[str]:
    """Lines that follow a page which closed by itself, or another one that came later than by a press."""
    here, there = ([each.active for each in seen.tabs] for seen in (step.observation, then.observation))
    if not any(here) or not any(there):
        return
    opened = sum(outcome.effect == "new_tab" for _, outcome in step.carried_out)
    is_told = any(isinstance(action, SwitchTab | CloseTab) for action, _ in step.carried_out)
    if not is_told and len(there) < len(here) + opened and (opened or here.index(True) != there.index(True)):
        yield "if not page.is_closed():"
        yield '    page.wait_for_event("close")'
    elif not is_told and not opened and len(there) > len(here) and there.index(True) >= len(here):
        yield f"if len(page.context.pages) < {len(there)}:"
        yield '    page.context.wait_for_event("page")'
    else:
        return
    yield f"page = page.context.pages[{there.index(True)}]"


def _acts(step: Step) -> Iterator[str]:
    yield ""
    goal = step.decision.next_goal
    if goal:
        yield f"# {_one_line(goal)}"
    for action, outcome in step.carried_out:
        if isinstance(action, Finish) and goal.startswith(action.kind):  # the step line says it already
            continue
        lines = list(_act(action, outcome, step.observation))
        if outcome.effect == "new_tab" and not isinstance(action, OpenTab):
            lines = ["with page.expect_popup() as popup:", *(f"    {line}" for line in lines), "page = popup.value"]
        yield from lines


def _act(action: Action, outcome: Outcome, seen: Observation) -> Iterator[str]:
    match action:
        case Click():
            yield _press(action, seen)
        case DoubleTap():
            tap = _tap(action, seen)
            yield from [tap, tap]
        case Type():
            yield from _type(action, seen)
        case Set() | Check() | Upload():
            at = _locator(action.mark, seen)
            match action:
                case Set():
                    yield f"{at}.fill({_text(action.value)})"
                case Check():
                    yield f"{at}.set_checked({action.checked})"
                case Upload():
                    files = ", ".join(f"HERE / {_literal(name)}" for name in _file_names(action))
                    yield f"{_file_locator(action.mark, seen, at)}.set_input_files([{files}])"
        case Select():
            yield from _select(action, seen)
        case Hold():
            yield from _hold(action, seen)
        case Press():
            delay = f", delay={action.seconds * 1000:.0f}" if action.seconds else ""
            at = "page.keyboard" if action.target is None else _locator(action.target, seen)
            yield from [f"{at}.press({_literal(action.keys)}{delay})"] * action.count
        case Hover():
            yield _hover(action.target, seen)
        case Scroll():
            yield from _scroll(action, seen)
        case ScrollTo():
            yield f"page.get_by_text({_text(action.text)}).first.scroll_into_view_if_needed()"
        case Drag():
            yield from _drag(action, seen)
        case Goto():
            yield f"page.goto({_text(action.url)})"
        case OpenTab():
            yield "page = page.context.new_page()"
            yield f"page.goto({_text(action.url)})"
        case SwitchTab():
            yield f"page = page.context.pages[{action.tab - 1}]"
        case CloseTab():
            yield f"for each in page.context.pages[{action.tab - 1}:{action.tab}]:  # it may have closed by itself"
            yield "    each.close()"
            yield "page = page.context.pages[-1]"
        case Back() | Forward():
            yield f"page.go_{action.kind}()"
        case Reload():
            yield "page.reload()"
        case Wait(text=str(text)):
            yield f"expect(page.get_by_text({_text(text)}).first).to_be_visible()"
        case Wait():
            yield f"page.wait_for_timeout({action.seconds * 1000:.0f})"
        case LookAt() | Pan() | Magnify() | FindOn():
            yield f"# {action.kind}: {_one_line(outcome.sentence)}"
        case SelectText() | Zoom() | Read() | Extract() | Ask() | Finish() | Infeasible() | Custom():
            yield f"# {action.kind}: {_one_line(outcome.sentence)}"
        case _:
            assert_never(action)


def _press(action: Click, seen: Observation) -> str:
    more = [f'button="{action.button}"'] * (action.button != "left") + [f"click_count={action.count}"] * (
        action.count > 1
    )
    if _is_place(action.target, seen):
        return f"page.mouse.click({', '.join([_point_args(action.target, seen)[1:-1], *more])})"
    more += [f"modifiers={json.dumps([*action.modifiers])}"] * bool(action.modifiers)
    return f"{_locator(action.target, seen)}.click({', '.join(more)})"


def _hold(action: Hold, seen: Observation) -> Iterator[str]:
    down, up = _touches(action.target, seen) if action.touch else (_button(action.target, seen), "page.mouse.up()")
    yield from down
    if action.until:
        shown = f"expect(page.get_by_text({_text(action.until)}).first)"
        yield f"{shown}.to_be_visible(timeout={action.seconds * 1000:.0f})"
    else:
        yield f"page.wait_for_timeout({action.seconds * 1000:.0f})"
    yield up


def _button(target: Target, seen: Observation) -> Sequence[str]:
    return [_hover(target, seen), "page.mouse.down()"]


def _touches(target: Target, seen: Observation) -> tuple[Sequence[str], str]:
    """Lines that put a finger down, and the line that lifts it: Playwright itself only taps."""
    if _is_place(target, seen):
        x, y = _point_args(target, seen)[1:-1].split(", ")
        first = []
    else:
        first = [f"box = {_locator(target, seen)}.bounding_box()"]
        x, y = 'box["x"] + box["width"] / 2', 'box["y"] + box["height"] / 2'
    points = f'[{{"x": {x}, "y": {y}}}]'
    down = f'touch.send("Input.dispatchTouchEvent", {{"type": "touchStart", "touchPoints": {points}}})'
    up = 'touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})'
    return [*first, "touch = page.context.new_cdp_session(page)", down], up


def _hover(target: Target, seen: Observation) -> str:
    is_place = _is_place(target, seen)
    return f"page.mouse.move{_point_args(target, seen)}" if is_place else f"{_locator(target, seen)}.hover()"


def _tap(action: DoubleTap, seen: Observation) -> str:
    if _is_place(action.target, seen):
        return f"page.touchscreen.tap{_point_args(action.target, seen)}"
    return f"{_locator(action.target, seen)}.tap()"


def _type(action: Type, seen: Observation) -> Iterator[str]:
    text = _text(action.text)
    if _is_place(action.target, seen):
        yield f"page.mouse.click{_point_args(action.target, seen)}"
        yield f"page.keyboard.type({text})"
        if action.submit:
            yield 'page.keyboard.press("Enter")'
        return
    at = _locator(action.target, seen)
    yield f"{at}.fill({text})" if action.clear else f"{at}.press_sequentially({text})"
    if action.submit:
        yield f'{at}.press("Enter")'


def _select(action: Select, seen: Observation) -> Iterator[str]:
    mark = seen.known_mark(action.target) if isinstance(action.target, int) else None
    at = _locator(action.target, seen)
    if mark is not None and mark.tag == "select":
        yield f"{at}.select_option(label={_chosen_labels(action, at)})"
        return
    yield f"{at}.click()"
    for each in action.options:
        yield f'page.get_by_role("option", name={_text(each)}, exact=True).click()'


def _chosen_labels(action: Select, at: str) -> str:
    """The options that a native list should have, as an expression; adding and removing start from its current ones."""
    named = f"[{', '.join(map(_text, action.options))}]"
    now = f'{at}.evaluate("list => Array.from(list.selectedOptions, (each) => each.label)")'
    match action.change:
        case None:
            return named
        case "add":
            return f"{now} + {named}"
        case "remove":
            return f"[each for each in {now} if each not in {named}]"


def _scroll(action: Scroll, seen: Observation) -> Iterator[str]:
    if isinstance(action.target, int) and action.to == "middle":
        yield f"{_locator(action.target, seen)}.scroll_into_view_if_needed()"
        return
    mark = seen.mark(action.target) if isinstance(action.target, int) else None
    if mark is not None and mark.kind == "scroller" and mark.source == "dom" and not action.modifiers:
        yield f"{_locator(mark.number, seen)}.evaluate({_literal(_scroll_script(action))})"
        return
    if action.target is not None:
        yield f"page.mouse.move{_point_args(action.target, seen)}"
    view, sign = seen.viewport, 1 if action.direction in ("down", "right") else -1
    far = 1_000_000 if action.to == "end" else action.px
    yield from (f"page.keyboard.down({_literal(key)})" for key in action.modifiers)
    if action.direction in ("up", "down"):
        yield f"scroll(page, 0, {sign * round(far or action.pages * view.height)})"
    else:
        yield f"scroll(page, {sign * round(far or action.pages * view.width)}, 0)"
    yield from (f"page.keyboard.up({_literal(key)})" for key in reversed(action.modifiers))


def _scroll_script(action: Scroll) -> str:
    """How far a box is scrolled, of its own view, as JavaScript."""
    side, size = ("top", "clientHeight") if action.direction in ("up", "down") else ("left", "clientWidth")
    sign = "" if action.direction in ("down", "right") else "-"
    far = "1e6" if action.to == "end" else f"{action.px:g}" if action.px else f"{action.pages:g} * box.{size}"
    return f"(box) => box.scrollBy({{ {side}: {sign}{far}, behavior: 'instant' }})"


def _drag(action: Drag, seen: Observation) -> Iterator[str]:
    yield f"page.mouse.move{_point_args(action.source, seen)}"
    yield from (f"page.keyboard.down({_literal(key)})" for key in action.modifiers)
    yield "page.mouse.down()"
    for place in (*action.path, action.target):
        yield f"page.mouse.move{_place_args(place, action.source, seen)[:-1]}, steps=12)"
    yield "page.mouse.up()"
    yield from (f"page.keyboard.up({_literal(key)})" for key in reversed(action.modifiers))


def _place_args(place: Target | Offset, source: Target, seen: Observation) -> str:
    if not isinstance(place, Offset):
        return _point_args(place, seen)
    start, scale = _center(source, seen), seen.marked.map
    return f"({start.x + place.right * scale.scale_x:.0f}, {start.y + place.down * scale.scale_y:.0f})"


def _end(run: Run) -> Iterator[str]:
    """Assertions about the last page."""
    if not run.steps:
        return
    last = run.steps[-1]
    yield ""
    yield _AT_THE_END
    path = urlsplit(last.observation.url).path or "/"
    if urlsplit(last.observation.url).scheme in ("http", "https"):
        yield f"expect(page).to_have_url(re.compile({_literal(f'^[^?#]*//[^/]+{_path_pattern(path)}([?#]|$)')}))"
    evidence = run.ending.evidence if run.ending else ()
    for mark in filter(None, map(last.observation.mark, evidence)):
        if mark.source == "dom":
            yield f"expect({_mark_locator(mark, last.observation.marks)}).to_be_visible()"
    for check in run.task.checks:
        if check.text is not None:
            yield f"expect(page.get_by_text({_text(check.text)}).first).to_be_visible()"
        if check.download is not None:
            yield f"# Not checked here: the download {_literal(check.download)}"


# --- where ------------------------------------------------------------------------------------------------------------


def _is_place(target: Target, seen: Observation) -> bool:
    """Whether the target has no element of its own (a point, or something drawn) and is clicked by position."""
    if not isinstance(target, int):
        return True
    mark = seen.known_mark(target)
    return mark is not None and (mark.source != "dom" or mark.kind == "surface")


def _locator(target: Target, seen: Observation) -> str:
    mark = seen.known_mark(target) if isinstance(target, int) else None
    if mark is None:
        # The target has no element; the keyboard reaches what has the focus.
        return "page.keyboard"
    is_in_view = seen.mark(mark.number) is not None
    return _mark_locator(mark, seen.marks if is_in_view else (*seen.marks, *seen.out_of_view))


def _mark_locator(mark: Mark, among: Sequence[Mark]) -> str:
    root = "page" + "".join(map(_frame, filter(None, mark.frame.split("."))))
    name = _text(mark.name)
    is_editor = mark.tag not in ("input", "textarea") and "contenteditable" in mark.evidence
    if mark.name and (mark.role in _NAMELESS or _BY_TEXT in mark.evidence or mark.tag == "summary"):
        found = f"called({root}.locator({_literal(mark.tag)}), {_literal(mark.tag)}, {name})"
        alike = [each for each in among if (each.tag, each.name) == (mark.tag, mark.name)]
    elif mark.name and "input type=color" in mark.evidence:
        found = f"{root}.get_by_label({name}, exact=True)"
        alike = [each for each in among if (each.role, each.name) == (mark.role, mark.name)]
    elif mark.name and mark.role:
        found = f"{root}.get_by_role({_literal(mark.role)}, name={name}, exact=True)"
        alike = [each for each in among if (each.role, each.name) == (mark.role, mark.name)]
    elif mark.state.placeholder:
        found = f"{root}.get_by_placeholder({_text(mark.state.placeholder)}, exact=True)"
        alike = [each for each in among if each.state.placeholder == mark.state.placeholder]
    elif is_editor:
        found = f"{root}.locator({_literal(f'{mark.tag}[contenteditable]')}).filter(visible=True)"
        alike = [each for each in among if each.tag == mark.tag and "contenteditable" in each.evidence]
    else:
        found = f"{root}.locator({_literal(mark.tag)})"
        alike = [each for each in among if each.tag == mark.tag]
    alike = [each for each in alike if each.frame == mark.frame and each.source == mark.source]
    return _narrow_locator(found, mark, alike)


def _narrow_locator(found: str, mark: Mark, alike: Sequence[Mark]) -> str:
    """The locator of one mark among those of the same name."""
    if len(alike) < 2:
        return found
    apart = spelled_out(distinguish(alike, by_title=False)[alike.index(mark)], mark)
    if not (apart.context or apart.heading):
        return f"{found}.nth({alike.index(mark)})"
    more = [_literal(_shown_name(mark)), _text(apart.context)]
    more += [f"heading={_text(apart.heading)}"] if apart.heading else []
    more += [f"nth={apart.nth}, of={apart.of}"] if apart.nth else []
    return f"beside({', '.join([found, *more])})"


def _shown_name(mark: Mark) -> str:
    """What a failure calls the mark: `button "Delete"`; hidden values stay hidden."""
    name = printable_line(_HIDDEN.sub("…", mark.name or mark.state.placeholder or ""))
    return f'{mark.role or mark.tag} "{name}"' if name else mark.role or mark.tag


def _frame(name: str) -> str:
    """The locator of a frame by its name, or by its place among its siblings (from 1), as in a mark's `frame`."""
    if name.isdigit():
        return f'.frame_locator("iframe, frame").nth({int(name) - 1})'
    return f".frame_locator({_literal(f'[name={json.dumps(name)}]')})"


def _center(target: Target, seen: Observation) -> Point:
    """The target's centre in CSS pixels."""
    if isinstance(target, int):
        mark = seen.mark(target)
        assert mark is not None
        return mark.point
    if isinstance(target, Cell):
        box = seen.box_of(target)
        assert box is not None
        return box.center
    return seen.marked.map.to_page(target)


def _point_args(target: Target, seen: Observation) -> str:
    point = _center(target, seen)
    return f"({point.x:.0f}, {point.y:.0f})"


# --- words ------------------------------------------------------------------------------------------------------------


def _text(text: str) -> str:
    """A Python expression for the text, with what is hidden in it from the environment."""
    parts = _HIDDEN.split(text)
    terms = [
        f'os.environ["{_variable(part)}"]' if place % 2 else _literal(part)
        for place, part in enumerate(parts)
        if place % 2 or part
    ]
    return " + ".join(terms) or '""'


def _variable(hidden: str) -> str:
    """The environment variable of what is hidden, such as SECRET_PIN of `secret:pin`."""
    return re.sub(r"[^A-Za-z0-9]", "_", hidden).upper()


def _path_pattern(path: str) -> str:
    """A regular expression for a path, in which anything may stand for what is hidden: addresses encode it."""
    parts = _HIDDEN.split(path)
    return "".join("[^/?#]+" if place % 2 else re.escape(part) for place, part in enumerate(parts))


def _literal(value: object) -> str:
    """A Python literal, in double quotes where possible; nothing in the value can end it early."""
    written = json.dumps(value, ensure_ascii=False)
    return written if value == ast.literal_eval(written) else repr(value)


def _one_line(text: str) -> str:
    """The text as one line for a comment."""
    return printable_line(text)[:100]


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").strip()
