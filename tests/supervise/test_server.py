"""The supervision page answers one browser of this machine, and nobody else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.supervise.proposals import PAY, decided, seen
from vision_agent.events import Ended
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.types import Choice, Ending, Task


@pytest.fixture
async def opened() -> AsyncIterator[tuple[SupervisionPage, str]]:
    page = SupervisionPage()
    async with page.opened() as address:
        yield page, address


def base_of(address: str) -> str:
    return address.partition("/?")[0]


async def entered(client: httpx.AsyncClient, address: str) -> dict[str, str]:
    """What the page's own requests carry, once the address was opened."""
    answer = await client.get(address)
    assert answer.status_code == 200
    [key] = re.findall(r'<meta name="key" content="([\w-]+)">', answer.text)
    return {"Origin": base_of(address), "Sec-Fetch-Site": "same-origin", "X-Supervision-Key": key}


async def test_the_address_is_good_once_and_then_only_for_the_browser_that_opened_it(opened: Any) -> None:
    _, address = opened
    assert address.startswith("http://127.0.0.1:")
    async with httpx.AsyncClient() as first, httpx.AsyncClient() as second:
        for path in ("/", "/events", "/page.js", "/?token=guess"):
            assert (await second.get(base_of(address) + path)).status_code == 403
        await entered(first, address)
        assert (await first.get(base_of(address) + "/")).status_code == 200
        assert (await second.get(address)).status_code == 403
        (cookie,) = first.cookies.jar
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "strict"


async def test_a_server_on_another_port_that_is_sent_the_cookie_can_neither_read_nor_approve(opened: Any) -> None:
    page, address = opened
    waiting = asyncio.create_task(page.approve(Task(goal="Pay"), seen(), decided(PAY), ()))
    async with (
        httpx.AsyncClient(base_url=base_of(address)) as person,
        httpx.AsyncClient(base_url=base_of(address)) as thief,
    ):
        headers = await entered(person, address)
        # Browsers send cookies of a host to all of its ports.
        thief.cookies = person.cookies
        forged = {name: value for name, value in headers.items() if name != "X-Supervision-Key"}
        assert 'name="key"' not in (await thief.get("/", headers=forged)).text
        for more in ({}, {"X-Supervision-Key": "guess"}):
            told = {**forged, **more}
            assert (
                await thief.post("/reply", json={"proposal": 1, "kind": "approve"}, headers=told)
            ).status_code == 403
            assert (await thief.post("/order", json={"do": "stop"}, headers=told)).status_code == 403
            assert (await thief.get("/events", headers=told)).status_code == 403
        assert not waiting.done()
        approved = await person.post("/reply", json={"proposal": 1, "kind": "approve"}, headers=headers)
        assert approved.status_code == 204
    assert await waiting == Choice(kind="approve", through="page")


async def test_a_browser_is_told_to_load_nothing_from_elsewhere_and_to_be_framed_by_nobody(opened: Any) -> None:
    _, address = opened
    async with httpx.AsyncClient() as client:
        headers = (await client.get(address)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert (headers["cache-control"], headers["referrer-policy"]) == ("no-store", "no-referrer")


@pytest.mark.parametrize(
    "wrong",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": ""},
    ],
)
async def test_no_other_site_can_answer_for_the_person(opened: Any, wrong: dict[str, str]) -> None:
    page, address = opened
    async with httpx.AsyncClient() as client:
        headers = {**await entered(client, address), **wrong}
        refused = await client.post(base_of(address) + "/order", json={"do": "pause"}, headers=headers)
    assert refused.status_code == 403
    assert not page.wants_to_be_asked


async def test_an_answer_to_what_is_not_asked_any_more_changes_nothing(opened: Any) -> None:
    page, address = opened
    waiting = asyncio.create_task(page.approve(Task(goal="Pay"), seen(), decided(PAY), ()))
    async with httpx.AsyncClient(base_url=base_of(address)) as client:
        headers = await entered(client, address)

        async def reply(**body: Any) -> tuple[int, str]:
            answered = await client.post("/reply", json=body, headers=headers)
            return answered.status_code, answered.text

        assert (await reply(proposal=7, kind="approve"))[0] == 409
        unknown = await reply(proposal=1, kind="replace", actions=[{"kind": "click", "target": 99}])
        assert unknown[0] == 422
        assert "no mark 99" in unknown[1]
        outside = await reply(proposal=1, kind="replace", actions=[{"kind": "click", "target": {"x": 640, "y": 1}}])
        assert "outside the picture" in outside[1]
        assert (await reply(proposal=1, kind="replace", actions=[{"kind": "dance"}]))[0] == 422
        assert (await reply(proposal=1, kind="replace"))[0] == 422
        assert not waiting.done()
        assert (await reply(proposal=1, kind="approve"))[0] == 204
        assert (await reply(proposal=1, kind="approve"))[0] == 409
    assert await waiting == Choice(kind="approve", through="page")


async def test_what_is_skipped_is_told_to_whoever_decides(opened: Any) -> None:
    page, address = opened
    waiting = asyncio.create_task(page.approve(Task(goal="Pay"), seen(), decided(PAY), ()))
    async with httpx.AsyncClient(base_url=base_of(address)) as client:
        headers = await entered(client, address)
        skip = {"proposal": 1, "kind": "skip", "name": "Ann"}
        assert (await client.post("/reply", json={**skip, "proposal": 7}, headers=headers)).status_code == 409
        assert (await client.post("/reply", json=skip, headers=headers)).status_code == 204
    assert await waiting == Choice(kind="instruct", text="Skip this.", through="page", name="Ann")


async def test_what_is_said_while_nothing_is_asked_holds_for_what_is_decided_next(opened: Any) -> None:
    page, address = opened
    async with httpx.AsyncClient(base_url=base_of(address)) as client:
        headers = await entered(client, address)
        for order in ({"do": "instruct", "text": "Only blue"}, {"do": "stop"}):
            assert (await client.post("/order", json=order, headers=headers)).status_code == 204
        assert (await client.post("/order", json={"do": "instruct"}, headers=headers)).status_code == 422
    assert page.wants_to_be_asked
    asked = [await page.approve(Task(goal="Pay"), seen(), decided(PAY), ()) for _ in range(2)]
    assert [each.kind for each in asked if each] == ["instruct", "stop"]
    assert not page.wants_to_be_asked


async def test_a_taken_over_browser_is_waited_for_until_it_is_handed_back(opened: Any) -> None:
    page, address = opened
    async with httpx.AsyncClient(base_url=base_of(address)) as client:
        headers = await entered(client, address)
        await client.post("/order", json={"do": "take_over"}, headers=headers)
        assert page.wants_to_be_asked
        chosen = await page.approve(Task(goal="Pay"), seen(), decided(PAY), ())
        assert (chosen, page.state()["phase"]) == (Choice(kind="take_over", through="page"), "taking_over")
        waiting = asyncio.create_task(page.handed_back())
        await client.post("/order", json={"do": "pause"}, headers=headers)
        assert (page.state()["phase"], waiting.done()) == ("taken_over", False)
        await client.post("/order", json={"do": "hand_back"}, headers=headers)
        await waiting
        assert page.state()["phase"] == "working"


async def test_a_browser_without_a_window_cannot_be_taken_over() -> None:
    page = SupervisionPage(has_window=False)
    async with page.opened() as address, httpx.AsyncClient(base_url=base_of(address)) as client:
        headers = await entered(client, address)
        refused = await client.post("/order", json={"do": "take_over"}, headers=headers)
    assert (refused.status_code, "--headed" in refused.text) == (422, True)


async def test_the_stream_tells_every_change_and_ends_with_the_run(opened: Any) -> None:
    page, address = opened
    async with httpx.AsyncClient(base_url=base_of(address)) as client:
        headers = await entered(client, address)
        async with client.stream("GET", "/events", headers=headers) as stream:
            lines = stream.aiter_lines()
            assert '"phase": "working"' in await anext(lines)
            page.hear(Ended(ending=Ending(status="done", sentence="Paid <b>&")))
            rest = [line async for line in lines if line]
    assert '"sentence": "Paid <b>&"' in rest[-1]
