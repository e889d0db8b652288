"""Runs made by hand, with real small pictures: what the record's tests are about."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw

from vision_agent.actions import Action, Click, Finish, Point, Scroll, Select, Type
from vision_agent.events import (
    Decided,
    Ended,
    Event,
    Happened,
    Intended,
    LastLook,
    Observed,
    Started,
    Stepped,
    Troubled,
)
from vision_agent.geometry import Box, PageMap, Size
from vision_agent.observation import Covered, Mark, MarkState, Observation, Shot, Tab
from vision_agent.record import Redactor, RunFolder
from vision_agent.types import Candidate, Decision, Ending, Outcome, Provenance, Run, Secret, Task, Usage

START = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
PAGE = Size(width=640, height=400)
COLOURS = {"field": "#1f6feb", "button": "#b3261e", "link": "#1a7f37", "toggle": "#8250df"}


def png(size: Size = PAGE, colour: str = "white") -> bytes:
    return encoded(Image.new("RGB", (size.width, size.height), colour))


def encoded(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def shot(data: bytes, size: Size = PAGE, page_map: PageMap | None = None) -> Shot:
    return Shot(
        media_type="image/png",
        size=size,
        sha256=hashlib.sha256(data).hexdigest(),
        map=page_map or PageMap(),
        data=data,
    )


def mark(number: int = 1, name: str = "Add to cart", **fields: object) -> Mark:
    given: dict[str, object] = {
        "number": number,
        "tag": "button",
        "role": "button",
        "kind": "button",
        "name": name,
        "box": Box(x=40, y=300, width=160, height=40),
        "point": Point(x=120, y=320),
        "evidence": ("native:button",),
        "fingerprint": "f1",
        **fields,
    }
    return Mark.model_validate(given)


MARKS = (
    mark(1, "Search", tag="input", role="searchbox", kind="field",
         box=Box(x=40, y=24, width=380, height=34), point=Point(x=230, y=41),
         state=MarkState(value="wool", input_type="search"), evidence=("native:input",)),
    mark(2, "Cart (0)", tag="a", role="link", kind="link",
         box=Box(x=540, y=24, width=70, height=34), point=Point(x=575, y=41), evidence=("href",)),
    mark(3, "Size", tag="select", role="combobox", kind="field",
         box=Box(x=300, y=200, width=180, height=34), point=Point(x=390, y=217),
         state=MarkState(value="Medium", options=("Small", "Medium", "Large")), evidence=("native:select",)),
    mark(4, "Gift wrap", tag="input", role="checkbox", kind="toggle",
         box=Box(x=300, y=250, width=110, height=24), point=Point(x=312, y=262), evidence=("native:input", "label")),
    mark(5, "Add to cart", box=Box(x=300, y=300, width=180, height=44), point=Point(x=390, y=322),
         evidence=("native:button", "listener:click")),
)  # fmt: skip


@cache
def pictures(marks: tuple[Mark, ...] = MARKS, scale: int = 1, note: str = "") -> tuple[Shot, Shot]:
    """A small shop page without and with its marks."""
    image = Image.new("RGB", (PAGE.width * scale, PAGE.height * scale), "#f7f4ee")
    draw = ImageDraw.Draw(image)

    def box(x: float, y: float, w: float, h: float, **style: object) -> None:
        draw.rounded_rectangle([v * scale for v in (x, y, x + w, y + h)], radius=6 * scale, **style)  # type: ignore[arg-type]

    def text(x: float, y: float, words: str, size: int = 13, fill: str = "#222222") -> None:
        draw.text((x * scale, y * scale), words, fill=fill, font_size=size * scale)

    draw.rectangle((0, 0, PAGE.width * scale, 78 * scale), fill="white")
    box(40, 100, 230, 270, fill="#d8cbb8")
    draw.ellipse([v * scale for v in (90, 150, 220, 300)], fill="#a5563c")
    text(300, 108, "Wool jumper, rust", 22)
    text(300, 142, "Knitted in one piece from undyed lambswool.", 12, "#666666")
    text(300, 166, "€ 89.00", 16)
    for m in marks:
        box(m.box.x, m.box.y, m.box.width, m.box.height, outline="#888888", fill="white", width=scale)
        text(m.box.x + 10, m.box.y + m.box.height / 2 - 8, (m.state.value or m.name)[:40])
    text(300, 360, note, 12, "#1a7f37")
    clean = encoded(image)
    for m in marks:
        colour = COLOURS.get(m.kind, COLOURS["button"])
        draw.rectangle(
            [v * scale for v in (m.box.x, m.box.y, m.box.right, m.box.bottom)], outline=colour, width=2 * scale
        )
        draw.rectangle([v * scale for v in (m.box.right - 18, m.box.y, m.box.right, m.box.y + 16)], fill=colour)
        text(m.box.right - 13, m.box.y, str(m.number), 13, "white")
    page_map = PageMap(scale_x=1 / scale, scale_y=1 / scale)
    size = Size(width=image.width, height=image.height)
    return shot(clean, size, page_map), shot(encoded(image), size, page_map)


def listing(marks: tuple[Mark, ...]) -> str:
    return "\n".join(["_[:]Wool jumper, rust", *(f"{m.number}[:]<{m.tag}>{m.name}" for m in marks)])


def observation(name: str = "o1", marks: tuple[Mark, ...] = MARKS, *, scale: int = 1, **fields: object) -> Observation:
    clean, marked = pictures(marks, scale, note=name)
    given: dict[str, object] = {
        "id": name,
        "epoch": 1,
        "url": "http://shop.test/jumper",
        "title": "Wool jumper",
        "taken_at": START,
        "viewport": PAGE,
        "tabs": (Tab(number=1, url="http://shop.test/jumper", title="Wool jumper", active=True),),
        "marks": marks,
        "listing": listing(marks),
        "clean": clean,
        "marked": marked,
        **fields,
    }
    return Observation.model_validate(given)


def decision(*actions: Action, **fields: object) -> Decision:
    given: dict[str, object] = {"author": "steps", "next_goal": "Put it into the cart", "actions": actions, **fields}
    return Decision.model_validate(given)


def done(sentence: str = 'Clicked 5 (button "Add to cart").', **fields: object) -> Outcome:
    given: dict[str, object] = {
        "status": "done", "effect": "changed", "rung": 1, "sentence": sentence, "point": Point(x=390, y=322),
        "pixels_near": 0.18, "seconds": 0.21, **fields,
    }  # fmt: skip
    return Outcome.model_validate(given)


def task(**fields: object) -> Task:
    given: dict[str, object] = {
        "goal": "Put the large wool jumper into the cart", "start_url": "http://shop.test/", **fields,
    }  # fmt: skip
    return Task.model_validate(given)


def run(run_id: str = "20260304-093000-abc123", **fields: object) -> Run:
    given: dict[str, object] = {
        "id": run_id,
        "task": task(),
        "provenance": Provenance(versions={"vision-agent": "0.1.0"}, browser="Chromium 140", model="steps"),
        "started_at": START,
        **fields,
    }
    return Run.model_validate(given)


def step_events(
    index: int, *acts: tuple[Action, Outcome], seen: Observation | None = None, **said: object
) -> list[Event]:
    begin = START + timedelta(seconds=2 * index)
    events: list[Event] = [
        Observed(step=index, observation=seen or observation(f"o{index}", taken_at=begin)),
        Decided(step=index, decision=decision(*(action for action, _ in acts), **said)),
    ]
    for i, (action, outcome) in enumerate(acts):
        events += [Intended(step=index, index=i, action=action), Happened(step=index, index=i, outcome=outcome)]
    return [*events, Stepped(step=index, started_at=begin, seconds=1.4)]


def small_run(**fields: object) -> list[Event]:
    """Two steps and an end."""
    return [
        Started(run=run(**fields)),
        *step_events(1, (Click(target=5), done())),
        *step_events(2, (Finish(answer="In the cart"), done("Finished.", effect="finished", point=None, rung=None))),
        Ended(ending=Ending(status="done", sentence="The task is done.", answer="In the cart")),
    ]


def story() -> list[Event]:
    """A run with a bit of everything: several actions, a refusal, a trouble, points, warnings, a model's usage."""
    usage = Usage(input_tokens=2412, output_tokens=188, cache_read_tokens=1910, cost_usd=0.0131)
    by_model = {"author": "model", "model": "claude-sonnet-5-5", "usage": usage, "seconds": 2.31}
    size = mark(3, "Size", tag="select", role="combobox", kind="field",
                box=Box(x=300, y=200, width=180, height=34), point=Point(x=390, y=217))  # fmt: skip
    blocked = Outcome(
        status="refused", refusal="covered", seconds=0.08,
        sentence='Mark 5 (button "Add to cart") is covered by dialog "Cookies"; close it first.',
    )  # fmt: skip
    unreached = Outcome(
        status="refused", refusal="not_reached", sentence="Not reached: the action before it was refused."
    )
    return [
        Started(run=run(provenance=Provenance(
            versions={"vision-agent": "0.1.0", "playwright": "1.65.0"}, browser="Chromium 140.0.7339.16",
            model="anthropic:claude-sonnet-5-5", settings={"viewport": "640x400"},
        ))),
        *step_events(
            1,
            (Type(target=1, text="wool jumper", submit=True),
             done('Typed "wool jumper" into 1 (searchbox "Search") and pressed Enter.', value="wool jumper",
                  effect="navigated", point=Point(x=230, y=41), changes=("address is now /search?q=wool+jumper",))),
            next_goal="Find the wool jumper", memory="The shop has a search field at the top.",
            candidates=(Candidate(mark=1, reason="the search field"), Candidate(mark=2, reason="the cart, for later")),
            **by_model,
        ),
        *step_events(
            2,
            (Select(target=3, options=("Large",)),
             done('Chose "Large" in 3 (combobox "Size").', value="Large", point=Point(x=390, y=217))),
            (Click(target=5), blocked),
            (Scroll(direction="down"), unreached),
            seen=observation("o2", covered=(Covered(count=14, blocker='<dialog> "Cookies"', blocker_mark=None),),
                             at_rest=False, taken_at=START + timedelta(seconds=4),
                             warnings=("The page was still changing when it was looked at (3.0 s).",)),
            judgement="success", next_goal="Choose the size and add to the cart",
            memory="Jumper found, price € 89.00. Needs size Large.", **by_model,
        ),
        Troubled(step=3, sentence="The reply named mark 77, which is not on the page; the model was asked again."),
        *step_events(
            3,
            (Click(target=Point(x=400, y=318)),
             done("Clicked at (400, 318), where there is no mark.", rung=4, effect="no_effect", pixels_near=0.0,
                  point=Point(x=400, y=318))),
            seen=observation("o3", marks=(size,), taken_at=START + timedelta(seconds=6)),
            judgement="failure", next_goal="Click the button under the dialog by its place", **by_model,
        ),
        *step_events(
            4,
            (Finish(success=True, answer="The large wool jumper is in the cart for € 89.00.", evidence=(2, 5)),
             done("Finished.", effect="finished", point=None, rung=None, pixels_near=None)),
            judgement="success", next_goal="Say what was done", **by_model,
        ),
        Ended(ending=Ending(
            status="done", sentence="The task is done: the cart holds the jumper.",
            answer="The large wool jumper is in the cart for € 89.00.", evidence=(2, 5),
        )),
    ]  # fmt: skip


def limited_run(states: Sequence[int] = (1, 2, 3, 1, 4, 4), end: int | None = 1) -> list[Event]:
    """A run that a limit ended, with the state of the page in each step and at the end."""

    def look(state: int) -> Observation:
        return observation(f"state {state}", url=f"http://shop.test/page/{state}", title=f"Page {state}")

    steps = [step_events(at, (Click(target=5), done()), seen=look(state)) for at, state in enumerate(states, 1)]
    last = look(end) if end is not None else None
    return [
        Started(run=run()),
        *(event for each in steps for event in each),
        LastLook(observation=last, problem="" if last else "the browser was lost"),
        Ended(ending=Ending(status="limit", sentence=f"A limit was reached: {len(states)} steps were taken.")),
    ]


def repeated_story() -> list[Event]:
    """The story without a model, whose requests would have to be there."""
    return [Started(run=run()), *story()[1:]]


def clock() -> Iterator[datetime]:
    at = START
    while True:
        yield at
        at += timedelta(seconds=0.25)


def write_run(runs: Path, events: list[Event], secrets: tuple[Secret, ...] = ()) -> RunFolder:
    """The closed folder of a run with these events."""
    times = clock()
    run_id = next(event.run.id for event in events if isinstance(event, Started))
    with RunFolder.create(runs, run_id, Redactor(secrets), now=lambda: next(times)) as folder:
        for event in events:
            folder.write(event)
    return folder
