"""Claims about reading what was downloaded: PDFs and plain text, and files that are neither, broken or hostile."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Click, Read
from vision_agent.browser.live import LiveBrowser, attach
from vision_agent.settings import ObserveSettings
from vision_agent.types import DownloadLimits, Outcome
from vision_agent.vision.image_limits import ImageLimits

pytest.importorskip("pypdf", reason="the extra `pdf` is not installed")

SETTINGS = ObserveSettings(quiet_s=0.1, settle_deadline_s=10, action_deadline_s=20)
INVOICE = """<h1>Invoice 2026-17</h1><p>Total due: 42.10 EUR — Zahlbar sofort, Größe «M»</p>
<div style="page-break-before: always">Terms of payment</div>"""

Reads = Callable[[str, bytes], AbstractAsyncContextManager[Outcome]]


@pytest.fixture
def read_after_download(page: Page, serve: Server, tmp_path: Path) -> Reads:
    """The outcome of reading what a click downloaded: a file with this name and content."""

    @asynccontextmanager
    async def read(name: str, content: bytes) -> AsyncIterator[Outcome]:
        site = serve({"/": f"<title>Files</title><a href=/{name} download>Get</a>", f"/{name}": content})
        async with attach(page, SETTINGS, ImageLimits(), downloads=tmp_path / "downloads") as browser:
            await browser.open(site)
            await _got(browser)
            yield await browser.act(Read(what="download"), await browser.observe())

    return read


async def _got(browser: LiveBrowser) -> None:
    """Clicks the link, and waits until its file was kept."""
    seen = await browser.observe()
    [link] = [mark.number for mark in seen.marks if mark.name == "Get"]
    said = (await browser.act(Click(target=link), seen)).sentence
    while "was kept" not in said:
        said += " ".join((await browser.observe()).warnings)


async def made_pdf(page: Page, html: str) -> bytes:
    other = await page.context.new_page()
    await other.set_content(html)
    made = await other.pdf()
    await other.close()
    return made


async def test_a_pdf_is_read_page_by_page(page: Page, read_after_download: Reads) -> None:
    async with read_after_download("invoice.pdf", await made_pdf(page, INVOICE)) as outcome:
        assert (outcome.status, outcome.effect) == ("done", "read")
        assert outcome.sentence.startswith('Read the text of "downloads/invoice.pdf", 2 pages')
        first, second = outcome.read.split("[page 2 of 2]")
        assert first.startswith("[page 1 of 2]\nInvoice 2026-17")
        assert "Total due: 42.10 EUR — Zahlbar sofort, Größe «M»" in first
        assert second.strip() == "Terms of payment"


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("orders.csv", "Größe;Preis\r\nM;42,10\r\n".encode(), "Größe;Preis\r\nM;42,10\r\n"),
        ("old.txt", "Größe M".encode("latin-1"), "Größe M"),
        ("wide.txt", "Größe M".encode("utf-16"), "Größe M"),
        ("page.html", b"<p>As it is", "<p>As it is"),
    ],
)
async def test_plain_text_is_read_as_it_is(read_after_download: Reads, name: str, content: bytes, text: str) -> None:
    async with read_after_download(name, content) as outcome:
        assert (outcome.status, outcome.read) == ("done", text)


async def test_a_long_file_is_cut_and_says_so(read_after_download: Reads) -> None:
    async with read_after_download("long.txt", "Zeile ä\n".encode() * 100_000) as outcome:
        assert len(outcome.read) == 12_000
        assert "the first 12000 of" in outcome.sentence


def _bomb() -> bytes:
    """A PDF whose only page says 400 MB of blanks, compressed twice to a few kilobytes."""
    packer = zlib.compressobj(9)
    block = b" " * (1 << 20)
    packed = b"".join([*(packer.compress(block) for _ in range(400)), packer.flush()])
    content = zlib.compress(packed, 9)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    made, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % at for at in places)
    return made + b"xref\n0 5\n0000000000 65535 f \n%strailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(made),
    )


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("broken.pdf", b"%PDF-1.7\nnothing of the kind", "cannot be read: "),
        ("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF", "is no PDF and no plain text; only those are read"),
    ],
    ids=["broken", "a picture"],
)
async def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(
    read_after_download: Reads, name: str, content: bytes, why: str
) -> None:
    async with read_after_download(name, content) as outcome:
        assert (outcome.status, outcome.refusal, outcome.read) == ("refused", "unsupported", "")
        assert outcome.sentence.startswith(f'"downloads/{name}" {why}')


async def test_a_pdf_that_grows_without_end_is_given_up(read_after_download: Reads) -> None:
    async with read_after_download("bomb.pdf", _bomb()) as outcome:
        assert (outcome.status, outcome.refusal, outcome.read) == ("refused", "unsupported", "")


async def test_a_pdf_of_pictures_has_no_text(page: Page, read_after_download: Reads) -> None:
    drawn = await made_pdf(page, "<svg width=200 height=99><rect width=99 height=99 /></svg>")
    async with read_after_download("scan.pdf", drawn) as outcome:
        assert outcome.sentence == '"downloads/scan.pdf" has 1 page, and no text that can be read.'


async def test_without_a_download_there_is_none_to_read(page: Page, serve: Server, tmp_path: Path) -> None:
    for downloads in (tmp_path, None):
        async with attach(page, SETTINGS, ImageLimits(), downloads=downloads) as browser:
            await browser.open(serve({"/": "<title>None</title>"}))
            outcome = await browser.act(Read(what="download"), await browser.observe())
            assert outcome.sentence.startswith("No download was kept in this run, so there is none to read")


async def test_a_file_from_before_is_not_read_in_place_of_the_latest_that_was_not_kept(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    links = "".join(f"<a href=/{name} download>{name}</a> " for name in ("a.txt", "b.txt", "c.pdf"))
    site = serve({"/": links, "/a.txt": b"first", "/b.txt": b"x" * 100, "/c.pdf": b"x"})
    limits, kept = DownloadLimits(bytes_each=50, types=("txt",)), 'The one kept before it is "downloads/a.txt".'
    came = {"a.txt": "was kept", "b.txt": "it has more than 50 bytes", "c.pdf": "was refused"}
    async with attach(
        page, SETTINGS, ImageLimits(), downloads=tmp_path / "downloads", download_limits=limits
    ) as browser:
        await browser.open(site)
        said = []
        for name, end in came.items():
            seen = await browser.observe()
            [link] = [mark.number for mark in seen.marks if mark.name == name]
            told = (await browser.act(Click(target=link), seen)).sentence
            while end not in told:
                told += " ".join((await browser.observe()).warnings)
            said.append(await browser.act(Read(what="download"), await browser.observe()))
    assert [each.status for each in said] == ["done", "refused", "refused"]
    assert said[1].sentence == (
        'The latest cannot be read: the download "b.txt" was not kept: it has more than 50 bytes '
        f"(limits.downloads.bytes_each). {kept}"
    )
    assert said[2].sentence.startswith('The latest cannot be read: the download "c.pdf" was refused: ')
    assert said[2].sentence.endswith(kept)
