"""Whatever form a page gives to a secret, nothing that a run leaves behind has it: no text, no picture, no export."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from PIL import Image
from playwright.async_api import Page
from pydantic import SecretStr

from tests.benchmarks.bench_disguises import measure
from tests.conftest import Server
from tests.disguised_pages import SHOWN
from tests.sessions import recorded
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Click, Finish, Read
from vision_agent.export.animation import write_animation
from vision_agent.export.formats import FORMS, export
from vision_agent.geometry import Box
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.record import Redactor, read
from vision_agent.record.diff import diff
from vision_agent.record.diff_page import write_diff
from vision_agent.replay import Replay
from vision_agent.text.disguises import fold
from vision_agent.types import Run, Secret

VALUE = "Zebra47Quokka"
SECRET = Secret(name="word", value=SecretStr(VALUE))
PAGE = """<!doctype html><title>Told</title><style>body {{ font: 16px sans-serif; margin: 8px }}
#told {{ position: absolute; left: 8px; top: 200px; max-width: 700px }}</style>
<button onclick="told.hidden = false">Show</button> <p>Order 4711 of Ann, 3 items
<div id=told hidden>{shown}</div>"""


def spellings() -> set[str]:
    """What may stand nowhere, in letters and digits only. The page's pictures in base64 could have nothing so long."""
    utf8 = VALUE.encode()
    encoded = {utf8.hex(), "".join(f"x{each:02x}" for each in utf8)}
    for start in range(5):
        encoded.add(base64.b32encode(bytes(start) + utf8).decode()[-(-start * 8 // 5) : (start + len(utf8)) * 8 // 5])
    for start in range(3):
        encoded.add(base64.b64encode(bytes(start) + utf8).decode()[-(-start * 8 // 6) : (start + len(utf8)) * 8 // 6])
    return {fold(each) for each in (VALUE, VALUE[::-1], VALUE[:-3], "Mroen47Dhbxxn", *encoded)}


def readings(content: bytes) -> Iterator[str]:
    """A content as text, with escapes resolved, and in letters and digits only."""
    text = content.decode("utf-8", "replace")
    for _ in range(4):
        yield fold(text)
        text = re.sub(r"\\+[ux]([0-9a-fA-F]{4}|[0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text)
        text = unquote(html.unescape(text))


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    content = path.read_bytes()
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from ((f"{path.name}/{each}", archive.read(each)) for each in archive.namelist())
    elif path.suffix not in (".png", ".jpg", ".webp"):
        # Pictures in a page are those of the folder, which are looked at.
        yield path.name, re.sub(rb"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+", b"", content)


def what_marks_say(run: Run) -> Iterator[tuple[str, bytes]]:
    """The names of marks, and the lines of text, one after the other as a person reads them."""
    for step in run.steps:
        seen = step.observation
        yield "names", "".join(mark.name for mark in seen.marks).encode()
        yield "values", "".join(mark.state.value or "" for mark in seen.marks).encode()
        lines = (re.sub(r"^(\d+|_)\[:\](<[^>]*>)?", "", each) for each in seen.listing.splitlines())
        yield "listing", "".join(lines).encode()


def leaks(searched: list[tuple[str, bytes]]) -> list[tuple[str, str]]:
    return [
        (name, spelling)
        for name, content in searched
        for text in set(readings(content))
        for spelling in spellings()
        if spelling in text
    ]


def everything_made_of(one: Path, other: Path, root: Path) -> list[Path]:
    """All files of two runs below a folder, and of all that can be made of them."""
    made = root / "made"
    made.mkdir()
    for form in FORMS:
        export(one, form, made / form)
    write_animation(one, made / "run.webp")
    write_diff(diff(one, other), made / "diff.html")
    return [path for path in root.rglob("*") if path.is_file()]


async def where_it_shows(page: Page) -> list[Box]:
    """The boxes of the letters that the page shows of it; of whole elements where they have no text of their own."""
    rects = await page.evaluate(
        """() => {
          const range = new Range();
          range.selectNodeContents(told);
          const inner = [...told.querySelectorAll('i, input, select, iframe')];
          const whole = inner.map(each => each.getBoundingClientRect());
          const letters = whole.length ? whole : [...range.getClientRects()];
          return letters.map(({ x, y, width, height }) => ({ x, y, width, height }));
        }"""
    )
    return [Box(**each) for each in rects if each["width"] > 4 and each["height"] > 4]


def shows_letters(picture: Image.Image, box: Box) -> bool:
    """Whether there is anything dark in a box, as text is; the stripes of a mask are grey."""
    inside = picture.convert("L").crop((round(box.x), round(box.y), round(box.right), round(box.bottom)))
    return inside.histogram()[:90] != [0] * 90


@pytest.mark.parametrize(
    "disguise",
    [pytest.param(each, marks=[pytest.mark.thorough] if at >= 8 else [], id=each) for at, each in enumerate(SHOWN)],
)
async def test_a_secret_in_a_disguise_is_in_nothing_that_a_run_leaves_behind(
    disguise: str, page: Page, serve: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    site = serve({"/": PAGE.format(shown=SHOWN[disguise](VALUE)), "/favicon.ico": b""})
    settings = Settings(runs=tmp_path / "runs")
    told: list[str] = []
    script = [[Click(target=1)], [Read()], [Finish(answer="seen")]]
    agent = Agent(
        Task(goal="Look", start_url=site, secrets=(SECRET,)),
        model=ScriptedModel(script),
        page=page,
        settings=settings,
        on_event=lambda event: told.append(event.model_dump_json()),
    )
    await agent.run()
    boxes = await where_it_shows(page)
    run = recorded(agent)
    assert agent.folder is not None
    replay = Replay(
        agent.folder,
        page=page,
        settings=settings,
        secrets={"word": SECRET.value},
        on_event=lambda event: told.append(event.model_dump_json()),
    )
    again = await replay.run()
    other = tmp_path / "runs" / again.id
    files = everything_made_of(agent.folder, other, tmp_path)
    searched = [
        *(each for path in files for each in contents(path)),
        *what_marks_say(run),
        *what_marks_say(read(other)),
        *(("event", each.encode()) for each in (*told, caplog.text, str(replay.taken))),
    ]
    assert len(files) > 12
    assert not leaks(searched)
    seen = run.steps[1].observation
    picture = Image.open(agent.folder / "shots" / f"{seen.clean.sha256}.png")
    assert boxes
    assert not [box for box in boxes if shows_letters(picture, seen.clean.map.box_to_picture(box))]
    assert "4711" in seen.listing


SEPARATED: dict[str, Callable[[str], str]] = {
    "in cells": " | ".join,
    "with dots": " . ".join,
    "as a list in JSON": lambda value: json.dumps([*value]),
    "in brackets": lambda value: "".join(f"({each})" for each in value),
    "backwards in cells": lambda value: " | ".join(value[::-1]),
    "octal": lambda value: "".join(f"\\{ord(each):o}" for each in value),
    "as style sheets escape": lambda value: "".join(f"\\{ord(each):x} " for each in value),
    "decimal": lambda value: ", ".join(str(ord(each)) for each in value),
    "in bits": lambda value: " ".join(f"{ord(each):08b}" for each in value),
    "UTF-16 in hex": lambda value: value.encode("utf-16-be").hex(),
    "UTF-16 in base64": lambda value: base64.b64encode(value.encode("utf-16-le")).decode(),
}


@pytest.mark.parametrize("value", ["Kumquat-Zeppelin9137", "a.b-c+d_e!f9", VALUE])
@pytest.mark.parametrize("form", SEPARATED)
def test_signs_of_a_value_may_be_separated_like_its_letters(form: str, value: str) -> None:
    redact = Redactor([Secret(name="word", value=SecretStr(value))])
    told = redact(f"so {SEPARATED[form](value)} it is")
    assert told.startswith("so ")
    assert "<secret:word>" in told
    assert len(told) < 40, told


@pytest.mark.parametrize("disguise", SHOWN)
def test_a_text_in_a_disguise_is_redacted_as_it_stands_in_html(disguise: str) -> None:
    source = SHOWN[disguise](VALUE)
    text = html.unescape(re.sub(r"<[^>]*>", " ", source)) if "placed" not in disguise else VALUE
    attributes = " ".join(re.findall(r"(?:value|placeholder|content:|srcdoc)[=:]?['\"]([^'\"]*)", source))
    told = Redactor([SECRET])(f"{text} {attributes}")
    assert not leaks([("text", told.encode())])
    assert "<secret:word>" in told or not fold(text)


def test_what_stands_around_a_disguised_secret_stays() -> None:
    redact = Redactor([SECRET])
    assert redact("the word zebra-47-QUOKKA, twice: akkouQ74arbeZ.") == "the word <secret:word>, twice: <secret:word>."
    assert redact(redact("a Ze\u200bbra47Quokka b")) == "a <secret:word> b"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1234", "pages 1 2 3 4 5"),
        ("1234", "12:34 and 1,234 and 1-2-34"),
        ("sunset", "the sun set at 9"),
        ("Passw0rd!", "Password"),
        ("abc", "a b-c"),
        ("123456", "1 · 2 · 3 · 4 · 5 · 7"),
        ("zebra47quokka", "zebra 47 or, much later in the same sentence, a quokka"),
    ],
)
def test_ordinary_text_stays(value: str, text: str) -> None:
    assert Redactor([Secret(name="word", value=SecretStr(value))])(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1234", "pin 1 2 3 4."),
        ("1234", "pin １２３４"),
        ("1234", "1\u200b2\u200b3\u200b4"),
        ("sunset", "S U N S E T"),
        ("4929123412341234", "4929 l234 I234 1234"),
        ("4929123412341234", "٤٩٢٩١٢٣٤١٢٣٤١٢٣٤"),
        ("#!?*", "it is #!?*"),
    ],
)
def test_a_short_or_plain_secret_is_found_where_a_person_would_see_it(value: str, text: str) -> None:
    told = Redactor([Secret(name="word", value=SecretStr(value))])(text)
    assert "<secret:word>" in told
    assert fold(value) not in fold(told) or not fold(value)


@pytest.mark.parametrize("share", [48, pytest.param(12, marks=pytest.mark.thorough)])
def test_typical_secrets_mask_no_ordinary_text(share: int) -> None:
    """Nothing of it, apart from the same word in another case: measured with every 48th secret of the benchmark."""
    assert [row.disguised for row in measure(share)] == [0] * 6
