"""Claims about addresses, history, tabs and waiting."""

from __future__ import annotations

from tests.browser.hand import On
from vision_agent import actions
from vision_agent.actions import Wait
from vision_agent.text.urls import host_of, is_cut, shown_address

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


LONG_ADDRESS = """<title>Long</title><button onclick="history.replaceState(0, '', '/' + 'x'.repeat(500_000) + '?'
  + this.dataset.at); this.dataset.at = 1; document.title = 'T'.repeat(500_000); alert('A'.repeat(500_000))"
  data-at=0>Lengthen</button><iframe name=inner srcdoc="<button>In the frame</button>"></iframe>"""


async def test_an_address_a_title_and_a_dialog_without_end_are_cut_and_still_tell_the_host(on: On) -> None:
    async with on(LONG_ADDRESS) as hand:
        first = await hand.act(actions.Click(target=hand.number("Lengthen")))
        seen = await hand.look()
        assert len(first.model_dump_json()) < 20_000
        assert len(seen.model_dump_json()) - len(seen.listing) < 40_000
        assert (host_of(seen.url), is_cut(seen.url)) == ("127.0.0.1", True)
        assert "500" in shown_address(seen.url)
        assert len(shown_address(seen.url)) < 350
        (tab,) = seen.tabs
        assert tab.url == seen.url
        assert len(seen.title) == len(tab.title) <= 300

        second = await hand.act(actions.Click(target=hand.number("Lengthen")))
        assert second.url not in ("", first.url)  # they differ behind the cut
        refused = await hand.act(actions.Goto(url=second.url))
        assert refused.refusal == "blocked"
        assert "too long to be recorded in full" in refused.sentence


async def test_an_address_that_the_page_makes_of_its_data_is_cut(on: On) -> None:
    link = "<title>Data</title><a href='data:text/html," + "y" * 30_000 + "'>Open</a>"
    async with on("", {"/a": link}, "/a") as hand:
        outcome = await hand.act(actions.Goto(url="data:text/html," + "y" * 30_000))
        assert len(outcome.sentence) < 1000
        assert outcome.status == "refused"
