"""Makes the pictures of the gallery again, with the tool itself: `make docs-pictures`.

Each is a page of another project, in the version that `tests/pages.toml` names, or an application of CanvasBench,
before and after it is marked. The pages are fetched once and reach nothing but this machine. With names as arguments,
only those are made: `python docs/gallery.py kanban tree`.
"""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.async_api import Browser

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from pages import site

from vision_agent import Settings, attach
from vision_agent.assets import fixtures
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.evals.perception.score import OFFLINE
from vision_agent.evals.suites.canvas.build import built
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.observation import Shot

PICTURES = Path(__file__).parent / "pages" / "pictures" / "gallery"
COLOURS = 64
"""Of each picture: enough for text and numbers, at a third of the size."""
_REST_MS = 3_000
SETTINGS = Settings()


class Shown(NamedTuple):
    """A page of the gallery: its package, and the place of the page in it."""

    package: str
    path: str


GALLERY: dict[str, Shown] = {
    "calendar": Shown("gentelella", "production/calendar.html"),
    "kanban": Shown("gentelella", "production/kanban.html"),
    "inbox": Shown("gentelella", "production/inbox.html"),
    "table": Shown("gentelella", "production/tables_dynamic.html"),
    "side-menu": Shown("startbootstrap-sb-admin-2", "tables.html"),
    "charts": Shown("tabler-ui", "index.html"),
    "right-to-left": Shown("tabler-ui", "rtl.html"),
    "billing": Shown("soft-ui-dashboard", "pages/billing.html"),
    "form": Shown("tabler-ui", "form-elements.html"),
    "mobile-form": Shown("jquery-mobile", "demos/forms-gallery/index.html"),
    "plain-form": Shown("uikit", "tests/form.html"),
    "widgets": Shown("dijit", "dijit/themes/themeTester.html"),
    "tree": Shown("98.css", "index.html"),
    "accordion": Shown("jquery-ui-dist", "index.html"),
    "toolbars": Shown("kindeditor", "test/editor.html"),
    "checkboxes": Shown("ckeditor4", "samples/toolbarconfigurator/index.html"),
    "spreadsheet": Shown("luckysheet", "index.html"),
    "json-editor": Shown("jsoneditor", "examples/01_basic_usage.html"),
    "running-text": Shown("medium-editor", "demo/index.html"),
    "contents": Shown("npm", "commands/npm-install.html"),
}


CANVASES = (
    "excalidraw", "maplibre", "pixi", "cytoscape", "three", "blockly", "glide", "konva", "phaser", "lightweight-charts",
)  # fmt: skip
"""The applications of CanvasBench that are shown."""


async def look(browser: Browser, folder: Path, path: str) -> tuple[Shot, Shot]:
    """The page at this path of a folder, before and after it is marked."""
    context = await browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light", locale="en", reduced_motion="reduce"
    )
    page = await context.new_page()
    with served(folder) as here:
        async with attach(page, SETTINGS) as live:
            await live.open(f"{here.url}/{path}")
            await page.wait_for_load_state("networkidle")
            await page.wait_for_timeout(_REST_MS)  # some build themselves from what they have loaded
            await live.observe()  # words in drawings are read in the time that one look has, and the rest in the next
            seen = await live.observe()
    await context.close()
    return seen.clean, seen.marked


def small(shot: Shot) -> bytes:
    """The picture with few colours, without loss beyond that."""
    assert shot.data is not None
    out = io.BytesIO()
    with Image.open(io.BytesIO(shot.data)) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(out, "WEBP", lossless=True, method=6)
    return out.getvalue()


async def main(names: list[str]) -> int:
    """Makes the named pairs of pictures, or all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    settings = SETTINGS.browser.model_copy(update={"args": (*SETTINGS.browser.args, OFFLINE)})
    async with launch_browser(settings) as started:
        for name in names or (*GALLERY, *CANVASES):
            shown = GALLERY.get(name)
            folder = built(fixtures("canvas") / name) if shown is None else site(shown.package).root
            before, after = map(small, await look(started.browser, folder, "" if shown is None else shown.path))
            (PICTURES / f"{name}-before.webp").write_bytes(before)
            (PICTURES / f"{name}-after.webp").write_bytes(after)
            print(f"{name}  {len(before) / 1000:.0f} + {len(after) / 1000:.0f} kB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
