"""Claims about waiting for a text: it shows if a person can see it, here or by scrolling, and else it does not."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import time

import pytest

from tests.browser.hand import Hand, On
from tests.whole_word_cases import CUT, WHOLE
from vision_agent.actions import Wait
from vision_agent.browser.act.held import shows_text

UNSEEN = {
    "see-through": '<p style="opacity:0">Done</p>',
    "see-through, of a parent": '<div style="opacity:.2"><p style="opacity:.2">Done</p></div>',
    "filtered": '<p style="filter:opacity(0)">Done</p>',
    "beside the page": '<p style="position:absolute;left:-999px">Done</p>',
    "indented away": '<p style="text-indent:-9999px;overflow:hidden">Done</p>',
    "for those who hear": '<p style="position:absolute;clip:rect(0,0,0,0);width:1px;height:1px;overflow:hidden">Done</p>',
    "clipped by a path": '<p style="clip-path:inset(50%)">Done</p>',
    "without size": '<p style="font-size:0">Done</p>',
    "scaled away": '<div style="transform:scale(0)">Done</div>',
    "in the colour of the page": '<p style="color:#fff">Done</p>',
    "in the colour of its card": '<div style="background:#222"><p style="color:#222">Done</p></div>',
    "without colour": '<p style="color:transparent">Done</p>',
    "hidden": '<p style="visibility:hidden">Done</p>',
    "in a closed part": "<details><summary>x</summary>Done</details>",
    "in a folded box": '<div style="height:0;overflow:hidden">Done</div>',
    "cut off": '<div style="width:9px;overflow:hidden;white-space:nowrap">x Done</div>',
    "behind an ellipsis": '<div style="width:90px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap">some more words here Done</div>',
    "on the next slide": '<div style="width:200px;overflow:hidden;white-space:nowrap"><span style="display:inline-block;width:200px">x</span><span>Done</span></div>',
    "fixed below the view": '<div style="position:fixed;bottom:0;transform:translateY(300%)">Done</div>',
    "in a drawer aside": '<style>body{overflow-x:hidden}</style><div style="position:absolute;right:-300px;width:200px">Done</div>',
    "not chosen": "<select><option>x<option>Done</select>",
    "covered": '<p>Done</p><div style="position:fixed;inset:0;background:#fff">x</div>',
    "under a card": '<div style="position:relative"><p>Done</p><div style="position:absolute;inset:-9px;background:#ccc"></div></div>',
    "in the code": "<script>// Done</script><template>Done</template><textarea>Done</textarea>",
    "said only": '<button aria-label="Done">x</button><img alt="Done">',
    "of two lines": "<p>Do</p><p>ne</p>",
    "with hidden letters": "<p>Do<b>x</b>ne</p>",
    "struck through": "<s>Done</s><del>Done</del>",
    "struck through by a style": '<p style="text-decoration:line-through">All <b>done</b></p>',
    "struck through in one of its letters": "<p>Do<s>n</s>e</p>",
    "within a word": "<p>Undone</p><p>Doner</p>",
}
SEEN = {
    "plain": "<p>Done</p>",
    "in capitals": '<p style="text-transform:uppercase">well done</p>',
    "in pieces": "<p>All <b>Do</b><i>ne</i>!</p>",
    "in pieces with a hidden one": "<p>Do<span hidden>x</span>ne</p>",
    "in slanted pieces": '<p><span style="display:inline-block">Do</span><span style="display:inline-block">ne</span></p>',
    "below the view": '<div style="height:3000px"></div><p>Done</p>',
    "below in a box that scrolls": '<div style="height:50px;overflow:auto"><div style="height:900px">x</div>Done</div>',
    "below in a box that scrolls in one that does not": '<div style="height:90px;overflow:hidden"><div style="height:90px;overflow-y:auto"><div style="height:900px">x</div>Done</div></div>',
    "below a page that is held": '<style>body{overflow:hidden}</style><div style="height:3000px"></div><p>Done</p><dialog id=d>Sure?</dialog><script>d.showModal()</script>',
    "not for those who hear": "<p aria-hidden=true>Done</p>",
    "white on dark": '<div style="background:#222"><p style="color:#fff">Done</p></div>',
    "white on a picture": '<div style="position:relative"><img style="position:absolute;width:300px;height:90px;background:#222"><p style="position:relative;color:#fff">Done</p></div>',
    "white on a card below it": '<div style="position:relative;height:90px"><div style="position:absolute;inset:0;background:#222"></div><p style="position:relative;color:#fff">Done</p></div>',
    "white on what a style paints": '<style>.c{position:relative}.c::before{content:"";position:absolute;inset:0;background:#222;z-index:-1}</style><div class=c style="z-index:0"><p style="color:#fff">Done</p></div>',
    "chosen": "<select><option>x<option selected>Done</select>",
    "in a list to choose from": "<select size=3><option>x<option>Done</select>",
    "in a dialog": "<dialog id=d>Done</dialog><script>d.showModal()</script>",
    "in a message": '<div style="position:fixed;right:9px;bottom:9px;overflow:hidden">Done</div>',
    "in an open part": "<details open><summary>x</summary>Done</details>",
    "under a head that stays": '<div style="position:fixed;inset:0 0 auto;height:50px;background:#fff">Head</div><p>Done</p>',
    "in a drawing": "<svg><text y=20>Done</text></svg>",
    "in a shadow tree": "<x-a id=a></x-a><script>a.attachShadow({mode:'open'}).innerHTML = '<p>Done</p>'</script>",
    "after what is hidden": '<p hidden>Done</p><p style="opacity:0">Done</p><p>Done</p>',
    "of right-to-left pages": '<div dir=rtl style="width:200px;overflow:auto"><div style="width:900px;text-align:left">Done</div></div>',
}
SETS_BODY = """(html) => { document.body.innerHTML = html; for (const each of document.body.querySelectorAll('script')) {
  const made = document.createElement('script'); made.textContent = `{${each.textContent}}`; each.replaceWith(made); } }"""


async def shows(hand: Hand, body: str) -> bool:
    await hand.page.evaluate(SETS_BODY, body)
    return await shows_text(hand.page, 5, "done")


async def test_what_nobody_can_see_does_not_show(on: On) -> None:
    async with on("<p>x</p>") as hand:
        assert [case for case, body in UNSEEN.items() if await shows(hand, f"<h1>Page</h1>{body}")] == []


async def test_what_a_person_can_see_or_scroll_to_shows(on: On) -> None:
    async with on("<p>x</p>") as hand:
        assert [case for case, body in SEEN.items() if not await shows(hand, f"<h1>Page</h1>{body}")] == []


@pytest.mark.parametrize(
    "style, is_seen",
    [("", True), ("margin-top:3000px", True), ("opacity:0", False), ("width:1px;height:1px", False)],
)
async def test_a_text_in_a_frame_shows_if_the_frame_does(on: On, style: str, is_seen: bool) -> None:
    frame = f'<iframe src=/in style="border:0;{style}"></iframe>'
    async with on(frame, {"/in": '<div style="height:900px"></div>Done'}) as hand:
        assert await shows_text(hand.page, 5, "done") == is_seen


async def test_a_message_that_fades_in_is_waited_for_until_it_can_be_seen(on: On) -> None:
    toast = "<div id=t style='opacity:0;transition:opacity .1s'>Saved</div>"
    async with on(toast) as hand:
        outcome = await hand.act(Wait(text="Saved", seconds=0.01))
        assert (outcome.refusal, outcome.sentence) == ("timed_out", '"Saved" did not show within 0.01 s.')
        await hand.js("setTimeout(() => { t.style.opacity = 1; }, 300)")
        assert (await hand.act(Wait(text="Saved", seconds=9))).status == "done"


IN_PIECES_WHOLE = {
    "49.00<sup>1</sup> at 3.": ["49.00", "3"],
    "<button>Save</button><button>Done</button>": ["Done", "Save"],
}
IN_PIECES_CUT = {
    "<b>1</b>49.00, 7<b>.5</b>": ["49.00", "7"],
    "un<i hidden>x</i>done": ["done"],
    "<select><option>149</select>": ["49"],
}


async def test_a_text_shows_as_whole_words_and_numbers(on: On) -> None:
    async with on("<p>x</p>") as hand:
        for bodies, is_there in ((WHOLE | IN_PIECES_WHOLE, True), (CUT | IN_PIECES_CUT, False)):
            for body, texts in bodies.items():
                await hand.page.evaluate(SETS_BODY, f"<p>{body}</p>")
                assert {text: await shows_text(hand.page, 5, text) for text in texts} == dict.fromkeys(texts, is_there)


async def test_a_text_that_shows_only_within_another_or_struck_through_is_told_with_that(on: On) -> None:
    async with on("<p>Total 149.00 EUR, <s>Order placed</s></p>") as hand:
        outcome = await hand.act(Wait(text="49.00 eur", seconds=0.01))
        assert outcome.sentence == '"49.00 eur" did not show within 0.01 s; the page shows "149.00 EUR".'
        outcome = await hand.act(Wait(text="Order placed", seconds=0.01))
        assert outcome.sentence == '"Order placed" did not show within 0.01 s; the page shows it struck through.'


async def test_a_text_is_soon_found_or_missed_in_a_large_page(on: On) -> None:
    rows = "".join(f"<tr><td>Order {n}<td>open<td><b>Ann</b> <i>Lee</i>" for n in range(3_000))
    async with on(f"<table>{rows}</table><p style='opacity:0'>Done at last</p>") as hand:
        took = {}
        for text, is_there in {"done at last": False, "order 2999 open": True, "Order paid": False}.items():
            began = time.monotonic()
            assert await shows_text(hand.page, 20, text) == is_there, text
            took[text] = time.monotonic() - began
        assert max(took.values()) < 9, took
