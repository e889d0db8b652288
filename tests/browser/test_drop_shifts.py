"""Claims about drops on pages whose layout shifts while something is held: the page's own log says where it arrived."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Drag

FOLDERS = """<style>.folder{width:180px;height:30px;border:1px solid;box-sizing:border-box;background:#eef}
.mail{width:560px;height:30px;border:1px solid;box-sizing:border-box;background:#fff;user-select:none}
#bar{height:30px;background:gold;display:none} .column{float:left;margin-right:20px}</style>
<div id=bar>Drop the message on a folder</div><div class=column id=folders>
<div class=folder tabindex=0 role=button>Inbox</div><div class=folder tabindex=0 role=button>Archive</div>
<div class=folder tabindex=0 role=button>Spam</div><div class=folder tabindex=0 role=button>Trash</div>
<div class=folder tabindex=0 role=button>Projects</div></div><div class=column>
<div class=mail draggable=DRAGGABLE tabindex=0 role=button>Invoice May</div>
<div class=mail draggable=DRAGGABLE tabindex=0 role=button>Offer</div>
<div class=mail draggable=DRAGGABLE tabindex=0 role=button>Newsletter</div></div><script>
let held = null; window.said = [];
const drop = (at) => { const folder = at?.closest('.folder'); said.push(`${held.textContent} > ${folder?.textContent ?? 'nothing'}`); held = null; };
const began = (each) => { held = each; SHIFT; };
const add = (name, how) => { const made = document.createElement('div'); made.className = 'folder'; made.textContent = name; hear(made); how(made); };
const hear = (folder) => { folder.ondragover = (e) => e.preventDefault(); folder.ondrop = (e) => { e.preventDefault(); drop(e.target); }; };
document.querySelectorAll('.folder').forEach(hear);
document.querySelectorAll('.mail').forEach((each) => {
  if (each.draggable) each.ondragstart = (e) => { e.dataTransfer.setData('text/plain', 'x'); began(each); };
  else each.onpointerdown = () => began(each);
});
addEventListener('pointerup', (e) => { if (held && !held.draggable) drop(e.target); });
addEventListener('PASSING', (e) => { if (held) passed(document.elementFromPoint(e.clientX, e.clientY)?.closest('.folder')); });
let passed = () => {};
</script>"""

BAR = "bar.style.display = 'block'"
LATER = f"setTimeout(() => {BAR})"
SLIDES = "bar.animate([{ height: 0 }, { height: '30px' }], 250); " + BAR
DELETE = "setTimeout(() => add('Delete', (made) => folders.prepend(made)))"
CLOSES = "setTimeout(() => folders.firstElementChild.remove())"
FAR = "bar.style.height = '140px'; " + BAR


def page(draggable: str, shift: str = "", passing: str = "") -> str:
    body = FOLDERS.replace("DRAGGABLE", draggable).replace("SHIFT", shift)
    body = body.replace("PASSING", "dragover" if draggable == "true" else "pointermove")
    return f"{body}<script>passed = (folder) => {{ {passing} }};</script>"


async def drag(hand: Hand, mail: str, folder: str) -> tuple[str, list[str], str]:
    outcome = await hand.act(Drag(source=hand.number(mail), target=hand.number(folder)))
    return outcome.status, await hand.js("said"), outcome.sentence


@pytest.mark.parametrize("draggable", ["true", "false"], ids=["native", "pointer"])
@pytest.mark.parametrize(
    ("shift", "mail", "folder"),
    [
        (BAR, "Invoice May", "Archive"),
        (LATER, "Offer", "Projects"),
        (SLIDES, "Newsletter", "Spam"),
        (DELETE, "Offer", "Projects"),
        (CLOSES, "Newsletter", "Spam"),
        (FAR, "Invoice May", "Archive"),
    ],
)
async def test_what_is_held_is_dropped_on_a_target_that_was_shifted_as_it_was_taken(
    on: On, draggable: str, shift: str, mail: str, folder: str
) -> None:
    async with on(page(draggable, shift)) as hand:
        status, said, sentence = await drag(hand, mail, folder)
        assert (status, said) == ("done", [f"{mail} > {folder}"]), sentence


OPENS = "if (folder?.textContent === 'Inbox' && !window.opened) { opened = 1; add('Clients', (made) => folder.after(made)); }"
PUSHES = "if (folder?.textContent === 'Archive') { bar.style.height = '140px'; bar.style.display = 'block'; }"
CARRIED = """<script>addEventListener('pointermove', (e) => { if (held && !held.draggable) {
  held.style.cssText = `position:fixed;left:${e.clientX - 40}px;top:${e.clientY - 15}px`; held.style.pointerEvents = 'none'; } });</script>"""
OPENS_AT_THE_END = "if (folder?.textContent === 'Archive' && !window.opened) { opened = 1; add('Clients', (made) => folder.before(made)); }"


@pytest.mark.parametrize("draggable", ["true", "false"], ids=["native", "pointer"])
@pytest.mark.parametrize("passing", [OPENS, OPENS_AT_THE_END, PUSHES])
async def test_what_is_held_follows_a_target_that_is_shifted_on_the_way(on: On, draggable: str, passing: str) -> None:
    async with on(page(draggable, "", passing) + CARRIED) as hand:
        status, said, sentence = await drag(hand, "Invoice May", "Archive")
        assert (status, said) == ("done", ["Invoice May > Archive"]), sentence


FLEES = "if (folder?.textContent === 'Archive') add('New', (made) => folder.before(made));"


@pytest.mark.parametrize("draggable", ["true", "false"], ids=["native", "pointer"])
async def test_what_is_held_is_brought_back_from_a_target_that_always_moves_away(on: On, draggable: str) -> None:
    async with on(page(draggable, "", FLEES)) as hand:
        status, said, sentence = await drag(hand, "Invoice May", "Archive")
        assert status == "partial", sentence
        assert "it was brought back" in sentence
        assert not any(" > Archive" in each or " > New" in each for each in said), said


COVERED = """setTimeout(() => add('Delete', (made) => { made.style.cssText = 'position:absolute;left:8px;top:8px;height:60px';
folders.append(made); }))"""


@pytest.mark.parametrize("draggable", ["true", "false"], ids=["native", "pointer"])
async def test_what_is_held_is_not_dropped_on_what_the_page_lays_over_the_target(on: On, draggable: str) -> None:
    async with on(page(draggable, COVERED)) as hand:
        status, said, sentence = await drag(hand, "Invoice May", "Archive")
        assert status == "partial", sentence
        assert "covered by" in sentence
        assert "Delete" in sentence
        assert not any("Delete" in each for each in said), said


GHOST = """const ghost = Object.assign(document.createElement('div'), { textContent: '1 message' });
ghost.style.cssText = 'position:fixed;width:90px;height:24px;background:#ccc'; document.body.append(ghost);
addEventListener('pointermove', (e) => { ghost.style.left = `${e.clientX - 20}px`; ghost.style.top = `${e.clientY - 12}px`; })"""


async def test_a_ghost_under_the_pointer_covers_no_target(on: On) -> None:
    geometry = "<script>addEventListener('pointerup', (e) => { if (held) drop(document.elementsFromPoint(e.clientX, e.clientY).find((each) => each.closest('.folder'))); }, true);</script>"
    async with on(page("false", f"{BAR}; {GHOST}") + geometry) as hand:
        status, said, sentence = await drag(hand, "Invoice May", "Archive")
        assert (status, said) == ("done", ["Invoice May > Archive"]), sentence


SORTED = """<style>li{width:200px;padding:8px;border:1px solid;list-style:none;background:#eee;user-select:none}</style>
<div id=bar style="height:44px;display:none">Put it where it belongs</div><ul id=list>
<li draggable=DRAGGABLE>Apple<li draggable=DRAGGABLE>Banana<li draggable=DRAGGABLE>Cherry<li draggable=DRAGGABLE>Damson<li draggable=DRAGGABLE>Elder</ul><script>
let held = null; window.said = [];
const take = (e) => { held = e.target.closest('li'); SHIFT };
const pass = (e) => {
  if (!held) return;
  e.preventDefault();
  const over = document.elementFromPoint(e.clientX, e.clientY)?.closest('li'), all = [...list.children];
  if (over && over !== held) all.indexOf(over) > all.indexOf(held) ? over.after(held) : over.before(held);
};
const done = () => { if (held) said.push(...[...list.children].map((each) => each.textContent)); held = null; };
for (const each of list.children) each.style.cursor = 'grab';
if (list.firstElementChild.draggable) {
  list.ondragstart = (e) => { e.dataTransfer.setData('text', 'x'); take(e); };
  list.ondragover = pass; ondragend = done;
} else { list.onpointerdown = take; onpointermove = pass; onpointerup = done; }
</script>"""


@pytest.mark.parametrize("draggable", ["true", "false"], ids=["native", "pointer"])
@pytest.mark.parametrize("shift", ["", "setTimeout(() => { bar.style.display = 'block' });"], ids=["still", "shifted"])
@pytest.mark.parametrize(
    ("source", "target", "order"),
    [
        ("Apple", "Cherry", "Banana Cherry Apple Damson Elder"),
        ("Elder", "Banana", "Apple Elder Banana Cherry Damson"),
        ("Damson", "Apple", "Damson Apple Banana Cherry Elder"),
    ],
)
async def test_a_row_takes_the_place_of_another_in_a_list_that_is_shifted_as_it_is_taken(
    on: On, draggable: str, shift: str, source: str, target: str, order: str
) -> None:
    async with on(SORTED.replace("DRAGGABLE", draggable).replace("SHIFT", shift)) as hand:
        status, said, sentence = await drag(hand, source, target)
        assert (status, " ".join(said)) == ("done", order), sentence


FRAMED = """<div id=bar style="height:30px;display:none">Drop it on a folder</div>
<iframe width=600 height=300 srcdoc="%s"></iframe>"""


@pytest.mark.parametrize("draggable", ["true", "false"], ids=["native", "pointer"])
async def test_a_frame_that_is_shifted_takes_the_drop_along(on: On, draggable: str) -> None:
    inner = page(draggable, "parent.document.getElementById('bar').style.display = 'block'").replace('"', "&quot;")
    async with on(FRAMED % inner) as hand:
        outcome = await hand.act(Drag(source=hand.number("Invoice May"), target=hand.number("Archive")))
        assert await hand.js("frames[0].said") == ["Invoice May > Archive"], outcome.sentence
        assert outcome.status == "done", outcome.sentence


RENAMED = """<style>.zone{display:inline-block;width:160px;height:100px;border:1px solid;margin:8px}</style>
<div id=card tabindex=0 role=button style="width:80px;padding:6px;border:1px solid;user-select:none">Card</div>
<div class=zone tabindex=0 role=button>Archive</div><div class=zone tabindex=0 role=button>Delete</div><script>
let held = false; window.said = [];
card.onpointerdown = () => { held = true; const [one, other] = document.querySelectorAll('.zone'); one.before(other); };
addEventListener('pointerup', (e) => { if (held) said.push(e.target.closest('.zone')?.textContent ?? 'nothing'); held = false; });
</script>"""


async def test_places_that_are_swapped_as_something_is_taken_do_not_get_each_others_drop(on: On) -> None:
    async with on(RENAMED) as hand:
        status, said, sentence = await drag(hand, "Card", "Archive")
        assert (status, said) == ("done", ["Archive"]), sentence
