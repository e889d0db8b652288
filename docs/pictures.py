"""Makes the pictures of the documentation again, with the tool itself: `make docs-pictures`.

Each picture is a figure of 700 CSS pixels: an HTML template in `figures/` around screenshots that the tool takes of the
small pages in `figures/pages/` and of the fixture sites. Sentences, listings and numbers in the figures are the tool's
own output. With names as arguments, only those figures are made: `python docs/pictures.py mark run`.
"""

from __future__ import annotations

import asyncio
import base64
import io
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image
from playwright.async_api import Browser, Page

from vision_agent import Agent, Settings, Task, attach
from vision_agent.actions import Click, Finish
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.describe.action_sentences import describe_action
from vision_agent.evals.suites.fixture_sites import served, tasks_of
from vision_agent.geometry import Box
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Mark, Observation, Shot
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.types import Candidate, Decision, Limits, Outcome
from vision_agent.ui.server import serve_runs
from vision_agent.vision.style import plate_colour

HERE = Path(__file__).parent
SOURCES = HERE / "figures"
PICTURES = HERE / "pages" / "pictures"
SITES = HERE.parent / "fixtures" / "sites"
WIDTH = 700
"""CSS pixels of a figure: the width of the column that shows it."""
LARGEST = 150_000
"""Bytes of a picture."""
SETTINGS = Settings()


@dataclass(frozen=True)
class Cropped:
    """A screenshot, or a part of it, for a template."""

    data: bytes
    width: int
    height: int

    @property
    def src(self) -> str:
        """The picture as an address."""
        return f"data:image/png;base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True)
class Line:
    """A line of a listing, with the colour of its mark; `number` is empty for context."""

    number: str
    text: str
    colour: str


Figure = Callable[[Browser], Awaitable[bytes]]


# --- the figures ------------------------------------------------------------------------------------------------------


async def shop(browser: Browser) -> bytes:
    """A shop, marked."""
    page = await new_page(browser, 1280, 800)
    with served(SITES / "shop") as site:
        async with attach(page, SETTINGS) as live:
            await live.open(site.url)
            first = await live.observe()
            accept = next(each.number for each in first.marks if each.name == "Accept all")
            await live.act(Click(target=accept), first)
            seen = await live.observe()
    await page.context.close()
    shown = Box(x=16, y=336, width=746, height=384)
    return await drawn(browser, "screenshot", shot=part(seen.marked, shown, 0))


async def get_started(browser: Browser) -> bytes:
    """The page of the tutorial, marked."""
    tutorial = (HERE / "pages" / "get-started.md").read_text("utf-8")
    html = tutorial.split('```html title="index.html"\n')[1].split("```")[0]
    page = await new_page(browser, 664, 300)
    await page.set_content(html)
    async with attach(page, SETTINGS) as live:
        seen = await live.observe()
    await page.context.close()
    return await drawn(browser, "screenshot", shot=whole(seen.marked))


async def mark(browser: Browser) -> bytes:
    """A small form, and the line of the listing for each of its marks."""
    async with opened(browser, "order", 330, 300) as (_, live):
        seen = await live.observe()
    return await drawn(browser, "mark", shot=whole(seen.marked), lines=lines_of(seen))


async def observation(browser: Browser) -> bytes:
    """The two pictures and the listing of one observation."""
    async with opened(browser, "order", 322, 300) as (_, live):
        seen = await live.observe()
    return await drawn(browser, "observation", clean=whole(seen.clean), marked=whole(seen.marked), listing=seen.listing)


async def decision(browser: Browser) -> bytes:
    """A decision, and the mark that it names."""
    async with opened(browser, "order", 330, 300) as (_, live):
        seen = await live.observe()
    number = {each.name: each.number for each in seen.marks}
    decided = Decision(
        author="model",
        judgement="success",
        memory="Name, tea and gift wrapping are set.",
        next_goal="Send the order",
        candidates=(
            Candidate(mark=number["Order"], reason="sends the form"),
            Candidate(mark=number["Delivery terms"], reason="only opens the terms"),
        ),
        actions=(Click(target=number["Order"]),),
    )
    return await drawn(
        browser,
        "decision",
        shot=whole(seen.marked),
        ring=seen.marked.map.box_to_picture(box_of(seen, "Order")),
        decision=decided,
        action=describe_action(decided.actions[0], seen),
        number=number["Order"],
    )


async def outcome(browser: Browser) -> bytes:
    """Three clicks: one that changes the page, one that does not, and one that is refused."""
    cases = [
        await clicked(browser, "counter", 212, 120),
        await clicked(browser, "dead", 212, 120),
        await clicked(browser, "covered", 212, 120, change="cover()"),
    ]
    return await drawn(browser, "outcome", cases=cases)


async def run(browser: Browser) -> bytes:
    """The report of a run in the shop."""
    task = tasks_of(SITES / "shop")[0]
    with served(SITES / "shop") as site, tempfile.TemporaryDirectory() as folder:
        settings = Settings(runs=folder, browser={"viewport": {"width": 900, "height": 620}})
        agent = Agent(Task(goal=task.goal, start_url=site.start(task)), model=StepsModel(task.steps), settings=settings)
        await agent.run()
        assert agent.report is not None
        page = await new_page(browser, 1060, 620, ratio=1.5)
        await page.goto(f"{agent.report.as_uri()}#step-6")
        await page.wait_for_timeout(500)
        shot = await page.screenshot()
        await page.context.close()
    return await drawn(browser, "screenshot", shot=cropped(shot))


async def runs(browser: Browser) -> bytes:
    """The page of runs, with four of them."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(runs=Path(folder) / "runs")
        for name, limits in (("chart", Limits()), ("board", Limits(steps=2)), ("shop", Limits()), ("seats", Limits())):
            task = tasks_of(SITES / name)[0]
            with served(SITES / name) as site:
                goal = Task(goal=task.goal, start_url=site.start(task), limits=limits)
                await Agent(goal, model=StepsModel(task.steps), settings=settings).run()
        page = await new_page(browser, 1060, 900, ratio=1.3)
        async with serve_runs(settings) as address:
            await page.goto(address)
            await page.locator(".card img").nth(3).evaluate("(picture) => picture.decode()")
            await page.locator(".where").evaluate("(folder) => { folder.textContent = 'runs' }")
            shot = await page.screenshot()
        await page.context.close()
    return await drawn(browser, "screenshot", shot=cropped(shot))


async def surfaces(browser: Browser) -> bytes:
    """A seat map drawn on a canvas."""
    page = await new_page(browser, 1280, 800)
    with served(SITES / "seats") as site:
        await page.goto(site.url)
        async with attach(page, SETTINGS) as live:
            seen = await live.observe()
    await page.context.close()
    surface = next(each for each in seen.marks if each.kind == "surface")
    inside = [each for each in seen.marks if each.surface == surface.number]
    listed = tuple(str(each.number) for each in (surface, *inside))
    shown = sorted((line for line in lines_of(seen) if line.number in listed), key=lambda line: int(line.number))
    return await drawn(
        browser, "surfaces", shot=part(seen.marked, seen.marked.map.box_to_picture(surface.box), 8), lines=shown
    )


async def risk_and_approval(browser: Browser) -> bytes:
    """The supervision page with a proposal to pay."""
    shop = await new_page(browser, 560, 380)
    await shop.route(
        "**/*", lambda route: route.fulfill(body=source("checkout"), content_type="text/html; charset=utf-8")
    )
    await shop.goto("https://shop.example/checkout")
    settings = Settings(runs=tempfile.mkdtemp(), approval={"ask": "risky"})
    pay = Decision(
        author="model",
        model="a model",
        next_goal="Pay for the mug",
        candidates=(Candidate(mark=3, reason="goes back and pays nothing"),),
        actions=(Click(target=4),),
    )
    supervision = SupervisionPage(settings.approval, has_window=False, goal="Order one enamel mug")
    agent = Agent(
        "Order one enamel mug",
        model=ScriptedModel([pay, [Finish(success=True, answer="")]]),
        page=shop,
        settings=settings,
        approver=supervision,
        on_event=supervision.hear,
    )
    page = await new_page(browser, 900, 600, ratio=1.5)
    async with supervision.opened() as address:
        running = asyncio.create_task(agent.run())
        await page.goto(address)
        await page.locator("#asked").wait_for()
        await page.wait_for_timeout(300)
        shot = await page.screenshot()
        await page.locator("#do").click()
        await running
    await page.context.close()
    await shop.context.close()
    return await drawn(browser, "screenshot", shot=cropped(shot))


async def marks(browser: Browser) -> bytes:
    """A dense page: a toolbar, a table and a calendar."""
    async with opened(browser, "dense", 664, 250) as (_, live):
        seen = await live.observe()
    return await drawn(browser, "screenshot", shot=whole(seen.marked))


async def clicks(browser: Browser) -> bytes:
    """A row that becomes another person's between the look and the click."""
    case = await clicked(browser, "people", 322, 196, change="change()")
    return await drawn(browser, "clicks", case=case)


FIGURES: dict[str, Figure] = {
    "shop": shop,
    "get-started": get_started,
    "mark": mark,
    "observation": observation,
    "decision": decision,
    "outcome": outcome,
    "run": run,
    "runs": runs,
    "surfaces": surfaces,
    "risk-and-approval": risk_and_approval,
    "marks": marks,
    "clicks": clicks,
}


# --- looking ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A click on the first mark of a page."""

    before: Cropped
    after: Cropped
    outcome: Outcome
    ring: Box
    """Around the mark, in the first picture."""

    @property
    def badge(self) -> str:
        """The style of the status."""
        return "calm" if self.outcome.effect == "no_effect" else self.outcome.status


async def clicked(browser: Browser, name: str, width: int, height: int, change: str = "") -> Case:
    """What a click on the first mark comes to, if the page runs `change` between the look and the click."""
    async with opened(browser, name, width, height) as (page, live):
        seen = await live.observe()
        if change:
            await page.evaluate(change)
        outcome = await live.act(Click(target=seen.marks[0].number), seen)
        after = await live.observe()
    ring = seen.marked.map.box_to_picture(seen.marks[0].box)
    return Case(whole(seen.marked), whole(after.clean), outcome, ring)


@asynccontextmanager
async def opened(browser: Browser, name: str, width: int, height: int) -> AsyncIterator[tuple[Page, LiveBrowser]]:
    """A page of `figures/pages` in a viewport of this size, and the tool attached to it."""
    page = await new_page(browser, width, height)
    await page.set_content(source(name))
    async with attach(page, SETTINGS) as live:
        yield page, live
    await page.context.close()


async def new_page(browser: Browser, width: int, height: int, ratio: float = 1) -> Page:
    """A page in a context of its own."""
    context = await browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=ratio, color_scheme="light", locale="en"
    )
    return await context.new_page()


def source(name: str) -> str:
    """The HTML of a page in `figures/pages`, with their common style."""
    style = (SOURCES / "pages" / "page.css").read_text("utf-8")
    return (
        f"<!doctype html><html lang=en><style>{style}</style>{(SOURCES / 'pages' / f'{name}.html').read_text('utf-8')}"
    )


def box_of(seen: Observation, name: str) -> Box:
    """The box of the mark with this name, in page coordinates."""
    return next(each.box for each in seen.marks if each.name == name)


def lines_of(seen: Observation) -> list[Line]:
    """The listing, line by line."""
    colours = {each.label_text: plate_of(each) for each in seen.marks}
    found = []
    for line in seen.listing.splitlines():
        number, sign, text = line.partition("[:]")
        found.append(
            Line(number, text, colours[number])
            if sign and number in colours
            else Line("", line.removeprefix("_[:]"), "")
        )
    return found


def plate_of(mark: Mark) -> str:
    """The colour of the plate that a mark's number stands on."""
    return plate_colour(mark.label.colour) if mark.label else "#ffffff"


# --- drawing ----------------------------------------------------------------------------------------------------------


def whole(shot: Shot) -> Cropped:
    """A whole screenshot."""
    assert shot.data is not None
    return cropped(shot.data)


def part(shot: Shot, box: Box, margin: int) -> Cropped:
    """The part of a screenshot in a box, in picture coordinates, and a margin around it."""
    assert shot.data is not None
    edges = (box.x - margin, box.y - margin, box.right + margin, box.bottom + margin)
    return cropped(shot.data, (int(edges[0]), int(edges[1]), int(edges[2]), int(edges[3])))


def cropped(data: bytes, edges: tuple[int, int, int, int] | None = None) -> Cropped:
    """A picture, or the part of it between these edges."""
    with Image.open(io.BytesIO(data)) as image:
        shown = image.crop(edges) if edges else image
        out = io.BytesIO()
        shown.save(out, "PNG")
        return Cropped(out.getvalue(), shown.width, shown.height)


async def drawn(browser: Browser, template: str, **what: Any) -> bytes:
    """The figure that a template makes of this, as a PNG at twice its size in CSS pixels."""
    environment = Environment(loader=FileSystemLoader(SOURCES), autoescape=True, undefined=StrictUndefined)
    style = (SOURCES / "figure.css").read_text("utf-8")
    body = environment.get_template(f"{template}.html.j2").render(**what)
    page = await new_page(browser, WIDTH, 400, ratio=2)
    await page.set_content(f"<!doctype html><html lang=en><style>{style}</style><figure>{body}</figure>")
    data = await page.locator("figure").screenshot()
    await page.context.close()
    return data


def small(data: bytes) -> bytes:
    """The picture with as many colours as fit into the largest size."""
    with Image.open(io.BytesIO(data)) as image:
        for colours in (256, 128, 64, 32):
            out = io.BytesIO()
            image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
            if len(out.getvalue()) <= LARGEST:
                return out.getvalue()
    return out.getvalue()


async def main(names: list[str]) -> int:
    """Makes the named figures, or all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    async with launch_browser(SETTINGS.browser) as started:
        for name in names or FIGURES:
            data = small(await FIGURES[name](started.browser))
            (PICTURES / f"{name}.png").write_bytes(data)
            print(f"{name}.png  {len(data) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
