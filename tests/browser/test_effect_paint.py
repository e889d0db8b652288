"""Claims about what is only paint: styles under the pointer, of the focus and of a press, and about true effects near."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Click, Hover, Press, Type

PLAIN = "<style>button{width:160px;height:50px;border:1px solid;background:#eee}</style>"
ONCE = "<script>const at = s => document.querySelector(s)</script>"


def dead(css: str, body: str = "<button>Dead</button><button>Other</button>") -> str:
    return f"{PLAIN}<style>{css}</style>{body}{ONCE}"


RIPPLE = """<button id=r style='position:relative;overflow:hidden'>Dead</button><button>Other</button><script>
r.onpointerdown = e => { const s = document.createElement('span'); s.className = 'drop';
  s.style.cssText = 'position:absolute;left:20px;top:0;width:90px;height:50px;background:#0003';
  r.append(s); setTimeout(() => s.remove(), 400) }</script>"""

DEAD = {
    "hover colour": dead("button:hover{background:#c00;color:#fff}"),
    "transition": dead("button{transition:all .3s}button:hover{background:#06c;padding-left:30px}"),
    "focus ring": dead("button:focus{outline:4px solid #06c;outline-offset:3px}"),
    "shadow": dead("button:hover{box-shadow:0 8px 24px #000}", "<p><button>Dead</button></p><p><button>Other</button>"),
    "scale": dead("button{margin:20px;transition:transform .2s}button:hover{transform:scale(1.15)}"),
    "active": dead("button:active{background:#000}button:focus{background:#ff0}"),
    "ripple": dead("", RIPPLE),
    "classes of a framework": dead(
        ".focused{background:#cde}.is-hover{color:red}",
        "<button onmouseenter='this.classList.add(`is-hover`)' onmouseleave='this.classList.remove(`is-hover`)' "
        "onfocus='this.classList.add(`focused`)' onblur='this.classList.remove(`focused`)'>Dead</button><button>Other</button>",
    ),
    "colours by script": dead(
        "",
        "<button onmouseenter='this.style.background=`#c00`' onmouseleave='this.style.background=``'>Dead</button><button>Other</button>",
    ),
    "row": dead(
        "tr:hover{background:#cdf}td{width:300px}",
        "<table><tr><td>Ann<td><button>Dead</button><tr><td>Bob<td><button>Other</button></table>",
    ),
    "tools of a card": dead(
        ".card{padding:20px;width:400px}.card:hover .tools{opacity:1}.tools{opacity:0;transition:opacity .2s}",
        "<div class=card><button>Dead</button><p class=tools>Drag this card about</div><button>Other</button>",
    ),
    "tip of a style sheet": dead(
        "button{position:relative}button:hover::after{content:'';position:absolute;left:20px;top:70px;background:#000;color:#fff;width:120px;height:30px}"
    ),
    "tip of a script": dead(
        ".tip{position:absolute;left:300px;top:300px;background:#000;color:#fff}",
        "<button onmouseenter='tip = document.createElement(`div`); tip.className = `tip`; tip.textContent = `Saves it`; document.body.append(tip)' "
        "onmouseleave='tip.remove()'>Dead</button><button>Other</button>",
    ),
    "stars that fill under the pointer": dead(
        ".full{background:#fd0}",
        "<div onmousemove='this.className = `full`' onmouseleave='this.className = ``'><button>Dead</button> Stars</div><button>Other</button>",
    ),
    "sheet from elsewhere": dead("button:hover,li:hover{background:#c00}", "<ul><li><button>Dead</button></ul><button>Other</button>"),
    "spinner beside": dead(
        "@keyframes t{to{transform:rotate(1turn)}}i{display:block;width:40px;height:40px;border:6px dotted;animation:t 1s linear infinite}",
        "<button>Dead</button><button>Other</button><i></i>",
    ),
    "web component": dead(
        "",
        "<x-b>Dead</x-b><button>Other</button><script>customElements.define('x-b', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({mode:'open'}).innerHTML = `<style>:host{display:block;width:200px}button:hover{background:#c00}</style><button><slot></slot></button>` } })</script>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEAD)
async def test_the_paint_of_pointer_focus_and_press_is_no_effect(on: On, name: str) -> None:
    async with on(DEAD[name]) as hand:
        for which in ("Dead", "Other", "Dead"):
            outcome = await hand.act(Click(target=hand.number(which)))
            assert (outcome.status, outcome.effect) == ("done", "no_effect"), outcome
            await hand.look()
            assert not hand.seen.change.changed, hand.seen.listing


async def test_that_only_styles_changed_is_said(on: On) -> None:
    async with on(DEAD["hover colour"]) as hand:
        outcome = await hand.act(Click(target=hand.number("Dead")))
        assert outcome.sentence == (
            'Clicked mark 1 (button "Dead"). Nothing changed, apart from hover and focus styles; '
            'nearest is mark 2 (button "Other").'
        )


HOVER = "button:hover{background:#c00;color:#fff}button:focus{outline:4px solid}"
STAR = "<svg width=30 height=30><circle r=14 cx=15 cy=15 fill='#ccc' /></svg>"
TRUE = {
    "text": "<button aria-label=Go onclick='this.textContent=`Sent it all`'>Send</button>",
    "icon": f"<button aria-label=Go onclick='this.querySelector(`circle`).setAttribute(`fill`, `#000`)'>{STAR}</button>",
    "icon by class": f"<style>.on circle{{fill:#00f}}</style><button aria-label=Go onclick='this.classList.toggle(`on`)'>{STAR}</button>",
    "picture": "<button aria-label=Go onclick='this.firstChild.src=this.firstChild.src.replace(`red`, `blue`)'>"
    "<img width=40 height=40 src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><rect width='40' height='40' fill='red'/></svg>\"></button>",
    "colour for good": "<button aria-label=Go onclick='this.style.background=`#0a0`'>x</button>",
    "late": "<button aria-label=Go onclick='setTimeout(() => this.append(` and later more of it`), 50)'>Send</button>",
    "drawn in it": "<button aria-label=Go onclick='this.firstChild.getContext(`2d`).fillRect(0, 0, 30, 30)'><canvas width=40 height=40></canvas></button>",
    "its row": "<style>tr:hover{background:#cdf}</style><table><tr><td id=s style='width:200px'>Open<td><button aria-label=Go onclick='s.textContent=`Done and dusted`'>x</button></table>",
    "a field of its row": "<style>tr:hover{background:#cdf}</style><table><tr><td><input id=f value='something long'><td><button aria-label=Go onclick='f.value=``'>x</button></table>",
    "menu of the focus": "<style>.m{visibility:hidden;background:#ccc;width:200px;height:90px}div:focus-within>.m{visibility:visible}</style><div><button aria-label=Go>x</button><p class=m>A menu</div>",
    "beside it": "<button aria-label=Go onclick='this.insertAdjacentHTML(`afterend`, `<b>Wrong again</b>`)'>x</button>",
    "web component": "<x-c aria-label=Go role=button tabindex=0></x-c><script>customElements.define('x-c', class extends HTMLElement { connectedCallback() {"
    "const root = this.attachShadow({mode:'open'}); root.innerHTML = `<div style='width:200px;height:60px'>0</div>`; "
    "this.onclick = () => root.firstChild.textContent += ' and one more' } })</script>",
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
async def test_what_a_press_changes_in_a_control_or_near_it_is_an_effect(on: On, name: str) -> None:
    async with on(f"<style>{HOVER}</style>{TRUE[name]}") as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert (outcome.status, outcome.effect) == ("done", "changed"), outcome


async def test_a_canvas_that_is_pressed_is_judged_by_its_picture(on: On) -> None:
    canvas = "<canvas id=c width=300 height=200 onclick='c.getContext(`2d`).fillRect(20 * ++n, 20, 15, 15)'></canvas><script>n = 0</script>"
    async with on(canvas) as hand:
        for _ in range(3):
            outcome = await hand.act(Click(target=hand.seen.marked.map.to_picture(hand.seen.marks[0].point)))
            assert outcome.effect == "changed", outcome
            await hand.look()


async def test_what_shows_by_pointing_is_the_effect_of_pointing(on: On) -> None:
    async with on(DEAD["hover colour"]) as hand:
        assert (await hand.act(Hover(target=hand.number("Dead")))).effect == "changed"


async def test_a_field_that_takes_the_focus_says_so_and_a_second_click_does_nothing(on: On) -> None:
    async with on("<input aria-label=Name><button>Dead</button>") as hand:
        outcome = await hand.act(Click(target=hand.number("Name")))
        assert (outcome.effect, outcome.sentence) == (
            "changed",
            'Clicked mark 1 (textbox "Name"). It has the focus now.',
        )
        await hand.look()
        assert (await hand.act(Click(target=hand.number("Name")))).effect == "no_effect"
        await hand.look()
        assert (await hand.act(Click(target=hand.number("Dead")))).effect == "no_effect"


async def test_a_field_that_is_emptied_as_it_loses_the_focus_is_an_effect(on: On) -> None:
    body = f"<style>{HOVER}</style><input id=f aria-label=Name><button onclick='f.value=``'>Clear</button>"
    async with on(body) as hand:
        assert (await hand.act(Type(target=hand.number("Name"), text="Ada Lovelace"))).effect == "changed"
        await hand.look()
        assert (await hand.act(Click(target=hand.number("Clear")))).effect == "changed"


async def test_a_password_is_an_effect_that_only_its_picture_tells(on: On) -> None:
    async with on("<input type=password aria-label=Word>") as hand:
        await hand.act(Click(target=hand.number("Word")))
        await hand.look()
        assert (await hand.act(Type(target=hand.number("Word"), text="abcdefgh"))).effect == "changed"


async def test_a_key_on_a_dead_button_does_nothing(on: On) -> None:
    async with on(DEAD["focus ring"]) as hand:
        assert (await hand.act(Press(target=hand.number("Dead"), keys="Enter"))).effect == "no_effect"


@pytest.mark.parametrize(("href", "effect"), [("#", "no_effect"), ("#nowhere", "no_effect"), ("#far", "same_document")])
async def test_a_link_that_changes_only_the_fragment_has_an_effect_where_something_shows(
    on: On, href: str, effect: str
) -> None:
    async with on(
        f"<style>a:hover{{color:red}}</style><a href='{href}'>Go</a><p style='height:3000px'><h1 id=far>Far</h1>"
    ) as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert outcome.effect == effect, outcome.sentence
        assert "the address is now" in outcome.sentence


async def test_a_frame_is_no_other_place(on: On) -> None:
    inner = "<style>button:hover{background:#c00}</style><button>Dead</button><button onclick='this.append(` indeed`)'>Live</button>"
    async with on("<p>Above</p><iframe src=/in width=400 height=200></iframe>", {"/in": inner}) as hand:
        assert (await hand.act(Click(target=hand.number("Dead")))).effect == "no_effect"
        await hand.look()
        assert (await hand.act(Click(target=hand.number("Live")))).effect == "changed"


async def test_what_changed_between_the_look_and_the_click_is_no_effect_of_it(on: On) -> None:
    body = (
        f"{PLAIN}<button>Dead</button><button onclick='badge.append(`, read`)'>Live</button><b id=badge>Inbox (3)</b>"
    )
    async with on(body) as hand:
        await hand.js("badge.textContent = 'Inbox (4), one of them new'")
        assert (await hand.act(Click(target=hand.number("Dead")))).effect == "no_effect"
        await hand.look()
        await hand.js("badge.textContent = 'Inbox (5), two of them new'")
        assert (await hand.act(Click(target=hand.number("Live")))).effect == "changed"
