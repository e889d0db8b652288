"""What needs approval is posted, signed, to an address of the person's, and answered through the link in it."""

from __future__ import annotations

import asyncio
import base64
import gc
import hashlib
import hmac
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, expect
from pydantic import SecretStr

from tests.sessions import ending_of, recorded
from tests.supervise.proposals import PAY, Supervised, decided
from vision_agent import Agent, Settings, Task
from vision_agent.models.offline.steps import StepsModel
from vision_agent.settings import ApprovalSettings, SuperviseSettings
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.supervise.webhook import SIGNATURE, Webhook, WebhookFailed
from vision_agent.types import Secret

SHARED = "a shared secret of ours"
CARD = "4929-7780-1123"
SHOP = f"""<title>Shop</title><p>Card {CARD}</p>
<form onsubmit="document.title = 'Paid'; return false"><button>Pay now</button></form>"""


class Receiver:
    """A server of the person's: keeps what is posted, and answers with the given codes, then with 204."""

    def __init__(self, *codes: int) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.has_got = threading.Event()
        left = list(codes)
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                code = left.pop(0) if left else 204
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                receiver.has_got.set()

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}/approve?channel=7"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def all_text_in(folder: Path) -> str:
    return "".join(file.read_text("latin-1") for file in folder.rglob("*") if file.is_file())


def settings_for(address: str) -> SuperviseSettings:
    return SuperviseSettings(webhook=address, webhook_secret=SecretStr(SHARED))


async def test_a_proposal_is_posted_with_its_picture_and_approved_through_the_link(
    page: Page, browser: Browser, serve: Any, receiver: Receiver, tmp_path: Path
) -> None:
    site = serve({"/": SHOP, "/favicon.ico": b""})
    settings = Settings(runs=tmp_path, approval=ApprovalSettings(ask="risky"), supervise=settings_for(receiver.address))
    supervision = SupervisionPage(settings.approval, settings=settings.supervise)
    task = Task(goal="Pay", start_url=site, secrets=(Secret(name="card", value=SecretStr(CARD)),))
    model = StepsModel(["click Pay now", "finish"])
    agent = Agent(task, model=model, page=page, settings=settings, approver=supervision, on_event=supervision.hear)
    async with supervision.opened():
        running = asyncio.create_task(agent.run())
        assert await asyncio.to_thread(receiver.has_got.wait, 30)
        [(headers, body)] = receiver.got
        at, signature = (each.partition("=")[2] for each in headers[SIGNATURE].split(","))
        assert hmac.new(SHARED.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest() == signature
        told = json.loads(body)
        assert (told["kind"], told["goal"], [each["risk"] for each in told["risks"]]) == (
            "proposal",
            "Pay",
            ["submit", "pay"],
        )
        data = base64.b64decode(told["picture"]["base64"])
        assert hashlib.sha256(data).hexdigest() == told["picture"]["sha256"]
        assert Image.open(io.BytesIO(data)).size == (told["picture"]["width"], told["picture"]["height"])
        assert CARD.encode() not in body
        assert SHARED.encode() not in body

        phone = await browser.new_page(viewport={"width": 390, "height": 844})
        await phone.goto(told["link"])
        await phone.click("#enter")
        await expect(phone.locator("#asked-goal")).to_have_text("click Pay now")
        await expect(phone.locator("#do")).to_be_enabled()
        await phone.click("#do")
        await running
        await phone.close()
    assert await page.title() == "Paid"
    assert ending_of(recorded(agent)).status == "done"
    assert SHARED not in all_text_in(tmp_path)


async def test_a_receiver_that_is_down_is_said_and_nothing_is_done() -> None:
    gone = Receiver()
    gone.close()
    page = SupervisionPage(ApprovalSettings(ask="always"), settings=settings_for(gone.address))
    page.webhook = Webhook(gone.address, SHARED, pauses_s=(0.01,))
    said: list[str] = []
    page.tell = said.append
    run = Supervised([decided(PAY)], page)
    ended = (await run.run()).ending
    assert ended is not None
    assert (ended.exit_code, run.browser.acts) == (4, [])
    assert said == ["The webhook at 127.0.0.1 could not be told: Connection refused"]
    assert f"nobody answered: {said[0]}." in ended.sentence
    assert "channel" not in ended.sentence
    assert ended.sentence.endswith("resume the run, and you are asked again; with its page open, you are asked there.")
    assert "--supervise" not in ended.sentence


async def test_somebody_at_the_page_is_waited_for_when_the_receiver_is_down() -> None:
    gone = Receiver()
    gone.close()
    page = SupervisionPage(ApprovalSettings(ask="always", wait_s=0.2), settings=settings_for(gone.address))
    page.webhook = Webhook(gone.address, SHARED, pauses_s=())
    there = page.states()
    await anext(there)  # a window of the page is open
    ended = (await Supervised([decided(PAY)], page, policy=page.policy).run()).ending
    assert ended is not None
    assert "nobody answered in time" in ended.sentence
    assert "approval.wait_s" in ended.sentence
    await there.aclose()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("codes", "tries", "said"),
    [
        ((503, 429), 3, ""),
        ((404,), 1, "it answered 404"),
        ((302,), 1, "it answered 302"),
        ((500,) * 9, 3, "answered 500"),
    ],
)
async def test_a_receiver_is_told_again_if_it_may_pass_and_is_followed_nowhere(
    codes: tuple[int, ...], tries: int, said: str
) -> None:
    receiver = Receiver(*codes)
    webhook = Webhook(receiver.address, SHARED, pauses_s=(0.01, 0.01))
    failed = ""
    try:
        await webhook.send({"kind": "proposal"})
    except WebhookFailed as error:
        failed = error.sentence
    receiver.close()
    # A connection left open is found now, and charged to this test.
    gc.collect()
    assert (len(receiver.got), said in failed, bool(failed)) == (tries, True, bool(said))
    assert len({body for _, body in receiver.got}) == 1


async def test_of_a_question_only_that_there_is_one_is_posted(receiver: Receiver) -> None:
    page = SupervisionPage(ApprovalSettings(wait_s=30), goal="Pay", settings=settings_for(receiver.address))
    async with page.opened():
        asking = asyncio.create_task(page.ask(f"Is {CARD} the right one?"))
        assert await asyncio.to_thread(receiver.has_got.wait, 30)
        asking.cancel()
    [(_, body)] = receiver.got
    told = json.loads(body)
    assert (told["kind"], CARD in body.decode(), told["link"].partition("#")[0]) == (
        "question", False, page.new_link(1).partition("#")[0],
    )  # fmt: skip
