"""Approval by the client's person: asked where the client can ask, refused where it cannot, in both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import mcp_types as types
from mcp_driver import Driver, assert_verified, http_client, rules_for

from tests.conftest import Server
from vision_agent.integrations.mcp.serving import serve_http
from vision_agent.record import read

PAGE = """<title>Order</title><form onsubmit="document.title = 'Sent'; return false"><input aria-label=Name>
<button>Place order</button></form><button type=button onclick="document.title = 'Shown'">Show more</button>"""
RISKY = {"approval": {"ask": "risky", "wait_s": 20}}


@asynccontextmanager
async def asking(
    mode: str, runs: Path, answers: list[types.ElicitResult] | None, **rules: Any
) -> AsyncIterator[tuple[Driver, Any]]:
    """A driver whose person gives these answers, and the questions they were asked; None: it cannot ask."""
    asked: list[str] = []

    async def person(_: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return (answers or []).pop(0)

    callback = person if answers is not None else None
    async with (
        serve_http(rules_for(runs, **{"settings": RISKY, **rules})) as (address, token),
        http_client(address, token, mode=mode, elicitation_callback=callback) as client,
    ):
        yield Driver(client), asked


def accepted(**content: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_risky_is_done_once_the_person_approves(mode: str, serve: Server, tmp_path: Path) -> None:
    async with asking(mode, tmp_path, [accepted(approve=True)]) as (driver, asked):
        seen = await driver.open(serve({"/": PAGE}) + "/")
        seen = await driver.act("click", target=seen.mark("Show more"))
        assert asked == []
        sent = await driver.act("click", target=seen.mark("Place order"))
        assert not sent.is_error, sent.text
        assert "page: Sent" in sent.page
        [question] = asked
        assert "Place order" in question
        assert "submit" in question
        await driver.close()
    [folder] = assert_verified(tmp_path, 1)
    approvals = [step.approval for step in read(folder).steps if step.approval]
    assert [each.choice.kind for each in approvals if each.choice] == ["approve"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (accepted(approve=False), "The person said no"),
        (types.ElicitResult(action="decline"), "The person said no"),
        (types.ElicitResult(action="cancel"), "nobody answered"),
        (accepted(), "The person said no"),
    ],
)
async def test_anything_but_a_yes_does_nothing_and_the_session_goes_on(
    mode: str, answer: types.ElicitResult, said: str, serve: Server, tmp_path: Path
) -> None:
    async with asking(mode, tmp_path, [answer]) as (driver, asked):
        seen = await driver.open(serve({"/": PAGE}) + "/")
        refused = await driver.act("click", target=seen.mark("Place order"))
        assert refused.is_error
        assert said in refused.page
        assert len(asked) == 1
        shown = await driver.act("click", target=seen.mark("Show more"))
        assert "page: Shown" in shown.page
        closed = await driver.close()
        assert "The client closed the session as done." in closed.text
        assert "acts: 2 done, 1 refused" in closed.text
    assert_verified(tmp_path, 1)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_cannot_ask_is_refused(mode: str, serve: Server, tmp_path: Path) -> None:
    async with asking(mode, tmp_path, None) as (driver, _):
        seen = await driver.open(serve({"/": PAGE}) + "/")
        refused = await driver.act("click", target=seen.mark("Place order"))
        assert refused.is_error
        assert "A person must approve" in refused.page
        assert "page: Order" in (await driver.see()).page
        await driver.close()
    assert_verified(tmp_path, 1)


async def test_nobody_is_asked_about_an_address_that_is_not_allowed(tmp_path: Path) -> None:
    rules = {"settings": {"approval": {"ask": "always", "wait_s": 20}}, "task": {"allowed_hosts": ("shop.example",)}}
    async with asking("auto", tmp_path, [accepted(approve=True)], **rules) as (driver, asked):
        refused = await driver.call("open", url="https://evil.example/")
        assert refused.is_error
        assert "not among the allowed ones (shop.example)" in refused.text
        assert asked == []


async def test_a_question_that_the_client_never_answers_can_be_withdrawn(serve: Server, tmp_path: Path) -> None:
    async with asking("auto", tmp_path, []) as (driver, _):
        seen = await driver.open(serve({"/": PAGE}) + "/")
        arguments = {"session": driver.session, "look_id": driver.look, "target": seen.mark("Place order")}
        asked = await driver.client.session.call_tool("click", arguments, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        again = await driver.call("click", **arguments)
        assert "A person is being asked" in again.text
        forged = await driver.client.session.call_tool(
            "click",
            arguments,
            input_responses={"person": accepted(approve=True)},
            request_state="guessed",
            allow_input_required=True,
        )
        assert "A person is being asked" in forged.content[0].text
        withdrawn = await driver.see()
        assert "nobody answered" in withdrawn.page
        assert "page: Order" in withdrawn.page
        late = await driver.client.session.call_tool(
            "click",
            arguments,
            input_responses={"person": accepted(approve=True)},
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert "no longer open" in late.content[0].text
        assert "page: Order" in (await driver.see()).page
        await driver.close()
    assert_verified(tmp_path, 1)
