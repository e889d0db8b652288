"""Claims about addresses, history, tabs and waiting."""

from __future__ import annotations

from tests.browser.hand import On
from vision_agent import actions
from vision_agent.actions import Wait

SITE = {"/a": "<title>A</title><a href=/b>To B</a>", "/b": "<title>B</title><p>This is B</p>"}


async def test_addresses_open_and_history_goes_both_ways(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        for action, title, effect in [
            (actions.Goto(url="/b"), "B", "navigated"),
            (actions.Back(), "A", "navigated"),
            (actions.Forward(), "B", "navigated"),
            (actions.Reload(), "B", "navigated"),
        ]:
            outcome = await hand.act(action)
            assert (outcome.effect, await hand.page.title()) == (effect, title), outcome.sentence
            await hand.look()


async def test_what_is_no_address_is_refused_and_said(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        for action in (actions.Goto(url="http://[x"), actions.OpenTab(url="http://[x")):
            outcome = await hand.act(action)
            assert outcome.status == "refused"
            assert "http://[x" in outcome.sentence
        assert await hand.page.title() == "A"


async def test_where_there_is_no_further_page_nothing_happens_and_it_is_said(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        outcome = await hand.act(actions.Forward())
        assert outcome.effect == "no_effect"
        assert "There is no page to go forward to" in outcome.sentence


async def test_tabs_open_switch_and_close(on: On) -> None:
    async with on("", SITE, "/a") as hand:
        assert (await hand.act(actions.OpenTab(url="/b"))).effect == "new_tab"
        assert [(tab.number, tab.title, tab.active) for tab in (await hand.look()).tabs] == [
            (1, "A", False),
            (2, "B", True),
        ]
        assert (await hand.act(actions.SwitchTab(tab=1))).effect == "changed"
        assert (await hand.look()).title == "A"
        closed = await hand.act(actions.CloseTab(tab=2))
        assert closed.sentence.lower().count("tab 2") == 1
        assert [tab.title for tab in (await hand.look()).tabs] == ["A"]
        assert (await hand.act(actions.CloseTab(tab=1))).refusal == "unsupported"
        assert (await hand.act(actions.SwitchTab(tab=9))).refusal == "unknown_mark"


async def test_waiting_ends_when_the_text_shows(on: On) -> None:
    async with on("<p id=p></p><script>setTimeout(() => { p.innerHTML = 'Thank <b>you</b>'; }, 400)</script>") as hand:
        outcome = await hand.act(Wait(text="thank you", seconds=60))
        assert (outcome.status, outcome.effect) == ("done", "changed")
        assert outcome.seconds < 55


async def test_waiting_for_what_does_not_come_is_refused_in_time(on: On) -> None:
    async with on("<p>Nothing</p>") as hand:
        outcome = await hand.act(Wait(text="thank you", seconds=0.2))
        assert outcome.refusal == "timed_out"
        assert outcome.sentence == '"thank you" did not show within 0.2 s.'
