"""Claims about what marks are called and what they are: by the accessible name rules, checked against Chromium's own tree.

Where we differ from Chromium the case says so, with Chromium's answer beside ours.
"""

# ruff: noqa: E501  # a case on one line reads better than one cut in pieces

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

import pytest
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from tests.conftest import ROOT, Server
from vision_agent.browser.page import overlay
from vision_agent.browser.page.frames import Scan, scan
from vision_agent.browser.page.overlay_calls.scan import FoundMark

PAGES = ROOT / "fixtures" / "pages"
TRAITS = sorted(path.stem for path in PAGES.glob("*.json"))
SAMPLE = set(TRAITS[::4]) - {"fifty_thousand"}
"""`make test` asks Chromium about every second page; it takes most of a minute to tell its tree of 50,000 elements."""

OURS = {
    "image": "img",
    "Canvas": "img",
    "ColorWell": "button",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "DisclosureTriangle": "button",
    "Video": "video",
    "Audio": "audio",
    "EmbeddedObject": "generic",
    "PluginObject": "generic",
    "LabelText": "generic",
    "LayoutTableCell": "cell",
    "LayoutTableRow": "row",
    "graphics-symbol": "generic",
}
"""What Chromium calls things that have no role in ARIA, or have one by another name there."""

DIFFERS = {
    ("native_controls", "sound"): "Chromium names media by what its player says",
    ("surfaces", "film"): "Chromium names media by what its player says",
    ("nested", "card"): "the button inside has a mark of its own",
    ("icon_buttons", "glyph"): "a glyph of an icon font says nothing, its tooltip does",
    ("control_in_control", "ann"): "the button inside has a mark of its own",
    ("control_in_control", "card"): "the button inside has a mark of its own",
    ("outer_names", "tab"): "the button inside has a mark of its own",
    ("nested", "row"): "a person reads the text of what has no role",
    ("sortable_buttons", "order"): "the button inside is there for the keyboard and says the name again",
    ("sortable_buttons", "qty"): "the button inside is there for the keyboard and says the name again",
    ("sortable_buttons", "channel"): "the button inside has a mark of its own",
    ("sortable_buttons", "date"): "the link inside has a mark of its own",
    ("holding_cells", "note"): "the link inside has a mark of its own",
    ("branches", "north"): "the arrow inside has a mark of its own",
    ("branches", "all"): "the row inside has a mark of its own",
    ("second_openers", "books"): "the rows and the arrow inside have marks of their own",
    ("tree_parts", "towns"): "the box inside has a mark of its own",
    ("text_layer", "terms"): "the words that show below an empty link are better than its address",
}
"""Marks of the fixture pages whose name is not Chromium's, though that has one."""

UNSAID_BY_SOME = {
    ("icon_buttons", "symbol"): "Chromium 150 hears no title that a drawing brings from elsewhere",
    ("chosen_rows", "home"): "Chromium takes an option outside a listbox for nothing",
    ("chosen_rows", "shop"): "Chromium takes an option outside a listbox for nothing",
}
"""Marks of the fixture pages that some versions of Chromium name as we do, and others not at all."""

ROLES_DIFFER = {
    ("answering", "drag"): "Chromium takes what can be dragged for a group",
    ("outer_names", "bar"): "Chromium takes what can be dragged for a group",
    ("draggables", "write"): "Chromium takes what can be dragged for a group",
    ("draggables", "call"): "Chromium takes what can be dragged for a group",
    ("thin_bars", "dragged"): "Chromium takes what can be dragged for a group",
    ("map_shapes", "dig"): "Chromium takes a part of a drawing for a group",
    ("map_shapes", "walls"): "Chromium takes a part of a drawing for a group",
    ("map_shapes", "roof"): "Chromium takes a part of a drawing for a group",
    ("chosen_rows", "home"): "Chromium takes an option outside a listbox for nothing",
    ("chosen_rows", "shop"): "Chromium takes an option outside a listbox for nothing",
}
STAND_FOR_ANOTHER = {
    ("drawn_editors", "terminal"),
    ("drawn_editors", "code"),
    ("composite_parts", "two_label"),
    *(("combobox_boxes", f"{name}_box") for name in ("town", "kinds", "shop", "land", "words")),
}
"""Marks of a hidden field, at the element that shows what is in it."""


@dataclass(frozen=True)
class Heard:
    """What Chromium's accessibility tree says of an element."""

    role: str
    name: str


async def accessibility_tree(page: Page) -> dict[str, Heard]:
    """By the element's id, in all frames; a label answers for its control."""
    heard: dict[str, Heard] = {}
    main = await page.context.new_cdp_session(page)
    sessions = [main]
    for frame in page.frames[1:]:
        try:
            sessions.append(await page.context.new_cdp_session(frame))
        except PlaywrightError:
            continue  # it lives in the process of its parent, whose session sees it
    for session in sessions:
        heard |= await _heard_by(session)
    return heard


async def _heard_by(session: CDPSession) -> dict[str, Heard]:
    document = await session.send("DOM.getDocument", {"depth": -1, "pierce": True})
    identities: dict[str, int] = {}
    _identify(document["root"], identities)
    tree = await session.send("Page.getFrameTree")
    heard: dict[int, Heard] = {}
    for frame in _frames_in(tree["frameTree"]):
        try:
            answer = await session.send("Accessibility.getFullAXTree", {"frameId": frame})
        except PlaywrightError:
            continue  # in another process
        for node in answer["nodes"]:
            if "backendDOMNodeId" in node and not node["ignored"]:
                said = Heard(node["role"]["value"], node.get("name", {}).get("value", ""))
                heard.setdefault(node["backendDOMNodeId"], said)
    return {identity: heard[node] for identity, node in identities.items() if node in heard}


def _frames_in(tree: dict[str, Any]) -> list[str]:
    return [tree["frame"]["id"], *(each for child in tree.get("childFrames", ()) for each in _frames_in(child))]


def _identify(node: dict[str, Any], identities: dict[str, int]) -> None:
    words = node.get("attributes", [])
    attributes = dict(zip(words[::2], words[1::2], strict=True))
    if "id" in attributes:
        control = _control_in(node) if node["localName"] == "label" else None
        identities.setdefault(attributes["id"], control or node["backendNodeId"])
    inner = [*node.get("children", ()), *node.get("shadowRoots", ())]
    for child in [*inner, *([node["contentDocument"]] if "contentDocument" in node else [])]:
        _identify(child, identities)


def _control_in(label: dict[str, Any]) -> int | None:
    for child in label.get("children", ()):
        if child["localName"] in ("input", "select", "textarea", "button"):
            return int(child["backendNodeId"])
        if found := _control_in(child):
            return found
    return None


async def marks_by_id(page: Page, address: str) -> tuple[Scan, dict[str, FoundMark]]:
    await overlay.register(page.context)
    await page.goto(address)
    found = await scan(page, 20)
    marks = {}
    for mark in found.marks:
        owner = found.owner(mark.key)
        assert owner is not None
        marks[await overlay.element_locator(owner.frame, mark.key).get_attribute("id") or mark.key] = mark
    return found, marks


def words(text: str) -> str:
    return " ".join(text.split())


def shortened(name: str) -> str:
    """As a name of ours is: to 200 units of JavaScript, the last of which is the mark of the cut."""
    units = name.encode("utf-16-le")
    return name if len(units) <= 400 else units[:398].decode("utf-16-le", "ignore").rstrip() + "…"


def is_found_otherwise(mark: FoundMark) -> bool:
    return any(reason.startswith("named by") for reason in mark.evidence)


@pytest.mark.parametrize(
    "trait",
    [pytest.param(each, marks=() if each in SAMPLE else pytest.mark.thorough) for each in TRAITS],
)
async def test_marks_are_called_what_chromium_calls_them_or_say_how_they_were_named(
    page: Page, serve: Server, trait: str
) -> None:
    shown = json.loads((PAGES / f"{trait}.json").read_text("utf-8")).get("page", f"{trait}.html")
    _, marks = await marks_by_id(page, f"{serve.folder(PAGES)}/{shown}")
    heard = await accessibility_tree(page)
    compared = 0
    for identity, mark in marks.items():
        theirs = heard.get(identity)
        if theirs is None or (trait, identity) in STAND_FOR_ANOTHER:
            continue
        compared += 1
        is_same_role = mark.role == OURS.get(theirs.role, theirs.role)
        assert is_same_role != ((trait, identity) in ROLES_DIFFER), f"{identity}: {mark.role}, {theirs.role}"
        if mark.role == "row":
            # Chromium names rows by their text only in a grid, we in any table.
            assert mark.name, identity
            assert words(theirs.name) in ("", mark.name), identity
        elif (trait, identity) in DIFFERS:
            assert mark.name != words(theirs.name), f"{identity} differs no longer"
        elif words(theirs.name):
            assert (mark.name, is_found_otherwise(mark)) == (shortened(words(theirs.name)), False), identity
        elif (trait, identity) not in UNSAID_BY_SOME:
            assert is_found_otherwise(mark) or not mark.name, identity
    assert compared or not marks, "nothing was compared"


# --- hard cases -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An element with `id=it` (`$` makes its ids its own), its role and its name."""

    html: str
    role: str
    name: str
    chromium: str | None = None
    """Where it says otherwise, which is then on purpose: what it says."""
    is_unsaid_by_some: bool = False
    """Some versions of Chromium say nothing."""


STYLE = """
.before::before{content:"Before "}.after::after{content:" after"}.alternative::before{content:"★" / "Star"}
.silent::before{content:"★" / ""}.attribute::before{content:attr(data-x)}.glyph::before{content:"\\f007"}
.block::before{content:"B";display:block}.quote::before{content:open-quote}.escaped::before{content:"a\\"b\\\\c\\41 d"}
.picture::before{content:url("data:image/gif;base64,R0lGODlhAQABAAAAACw=") / "Star"}
"""

HARD = {
    "references are joined in their order": Case(
        "<b id=$1>One</b><b id=$2>Two</b><button id=it aria-labelledby='$2 $1'>x</button>", "button", "Two One"
    ),
    "a hidden referent says all that is in it": Case(
        "<p id=$1 hidden>Two <i style='display:none'>deep</i> <b>bold</b></p><button id=it aria-labelledby=$1>x</button>",
        "button",
        "Two deep bold",
    ),
    "a shown referent keeps what is hidden in it": Case(
        "<p id=$1>Two <i hidden>deep</i> <b aria-hidden=true>silent</b></p><button id=it aria-labelledby=$1>x</button>",
        "button",
        "Two",
    ),
    "references are followed once": Case(
        "<b id=$1>One</b><p id=$2 aria-labelledby=$1>Two</p><button id=it aria-labelledby=$2>x</button>",
        "button",
        "Two",
    ),
    "it may refer to itself": Case(
        "<a href='#' id=$1>file</a><button id=it aria-label=Delete aria-labelledby='it $1'>x</button>",
        "button",
        "Delete file",
    ),
    "a reference to nothing is none": Case(
        "<button id=it aria-labelledby=nowhere>Content</button>", "button", "Content"
    ),
    "a referent that is a field gives its value": Case(
        "<input id=$1 aria-label=Label value=Value><button id=it aria-labelledby=$1>x</button>", "button", "Value"
    ),
    "elements set by script are references": Case(
        "<b id=$1>Set</b><button id=it data-by=$1>x</button>", "button", "Set"
    ),
    "a blank label is none": Case("<button id=it aria-label='  '>Content</button>", "button", "Content"),
    "content comes before a tooltip": Case("<button id=it title=Tip>Text</button>", "button", "Text"),
    "a tooltip is better than nothing": Case("<button id=it title=Tip></button>", "button", "Tip"),
    "pictures give their alternatives": Case("<button id=it><img src=x alt=Save> file</button>", "button", "Save file"),
    "what is hidden from reading is not read": Case(
        "<button id=it><i aria-hidden=true>×</i><b>Close</b></button>", "button", "Close"
    ),
    "a drawing is named by its title": Case(
        "<button id=it><svg width=9 height=9><title>Trash</title><path d='M0 0h9'/></svg></button>", "button", "Trash"
    ),
    "a drawing is named by its label": Case(
        "<button id=it><svg width=9 height=9 aria-label=Bin></svg></button>", "button", "Bin"
    ),
    "what describes a drawing is no name": Case(
        "<button id=it><svg width=9 height=9><desc>D</desc></svg>x</button>", "button", "x"
    ),
    "a drawing used from elsewhere brings its title": Case(
        "<svg style='display:none'><symbol id=$1><title>Bin</title></symbol></svg><button id=it><svg width=9 height=9><use href='#$1'/></svg></button>",
        "button",
        "Bin",
        is_unsaid_by_some=True,
    ),
    "a link in a drawing is read": Case(
        "<svg width=90 height=20><a id=it href='#'><text y=12>Label</text></a></svg>", "link", "Label"
    ),
    "a shape is named by its title": Case(
        "<svg width=30 height=20><g id=it role=button tabindex=0><title>Region</title><rect width=20 height=20 /></g></svg>",
        "button",
        "Region",
    ),
    "style sheets write": Case("<button id=it class='before after'>mid</button>", "button", "Before mid after"),
    "style sheets say what a sign means": Case("<button id=it class=alternative>x</button>", "button", "Star x"),
    "style sheets say what a picture means": Case("<button id=it class=picture>x</button>", "button", "Star x"),
    "style sheets say that a sign means nothing": Case("<button id=it class=silent>x</button>", "button", "x"),
    "style sheets write attributes": Case("<button id=it class=attribute data-x=Attr>x</button>", "button", "Attrx"),
    "style sheets write blocks": Case("<button id=it class=block>x</button>", "button", "B x"),
    "style sheets write quotes": Case("<button id=it class=quote>x</button>", "button", "“x"),
    "style sheets write escapes": Case("<button id=it class=escaped></button>", "button", 'a"b\\cAd'),
    "glyphs of icon fonts name nothing": Case(
        "<button id=it class=glyph title=User></button>", "button", "User", "\uf007"
    ),
    "letters are those of the document, not those of the style": Case(
        "<button id=it style='text-transform:uppercase'>loud</button>", "button", "loud", "LOUD"
    ),
    "blocks and line breaks part words, spans do not": Case(
        "<button id=it>a<b>b</b>c<div>d</div>e<br>f</button>", "button", "abc d e f"
    ),
    "what is hidden may hold what is not": Case(
        "<button id=it><i style='visibility:hidden'>no<b style='visibility:visible'>yes</b></i></button>",
        "button",
        "yes",
    ),
    "the reading of signs is not read": Case("<button id=it><ruby>漢<rt>kan</rt></ruby></button>", "button", "漢"),
    "a role that is none is passed over": Case("<div id=it role='foo link' tabindex=0>Text</div>", "link", "Text"),
    "a role may be written in capitals": Case("<div id=it role=Button tabindex=0>Text</div>", "button", "Text"),
    "a button that can take the focus stays one": Case("<button id=it role=none>Text</button>", "button", "Text"),
    "fields in a name give their values": Case(
        "<div id=it role=checkbox tabindex=0>Flash <input value=3 size=2> times</div>", "checkbox", "Flash 3 times"
    ),
    "fields in a label give their values, a password never": Case(
        "<label for=it>Flash <select><option>x<option selected>five</select> <input type=range value=7> "
        "<input type=password value=secret> <textarea>text</textarea> <b role=slider aria-valuenow=4 aria-valuetext=four></b> end</label><input id=it type=checkbox>",
        "checkbox",
        "Flash five 7 text four end",
        "Flash five 7 •••••• text four end",
    ),
    "what a label holds is no part of its own name": Case(
        "<label>Size <input id=it value=9> cm</label>", "textbox", "Size cm"
    ),
    "labels are joined": Case(
        "<label for=it>A</label><label for=it>B</label><label>C <input id=it></label>", "textbox", "A B C"
    ),
    "a label has a label": Case("<label for=it aria-label=Label>x</label><input id=it>", "textbox", "Label"),
    "a label may be a picture": Case("<label for=it><img src=x alt=Mail></label><input id=it>", "textbox", "Mail"),
    "a label wins over the value of a button": Case(
        "<label for=it>Label</label><input id=it type=submit value=Value>", "button", "Label"
    ),
    "a wrapped button is not named twice": Case("<label>Wrap <button id=it>Button</button></label>", "button", "Wrap"),
    "a hidden label is better than nothing": Case(
        "<label for=it hidden>Mail</label><input id=it>", "textbox", "Mail", ""
    ),
    "a placeholder is better than nothing": Case("<input id=it placeholder=Mail>", "textbox", "Mail"),
    "a tooltip names what takes the focus": Case("<div id=it title=Tip tabindex=0>Text</div>", "generic", "Tip"),
    "a tooltip is better than a placeholder": Case("<input id=it title=Title placeholder=Mail>", "textbox", "Title"),
    "a button says what the browser writes on it": Case("<input id=it type=submit>", "button", "Submit"),
    "a picture that submits says so": Case(
        "<input id=it type=image style='width:20px;height:20px'>", "button", "Submit"
    ),
    "a picture that submits has an alternative": Case(
        "<input id=it type=image alt=Go style='width:20px'>", "button", "Go"
    ),
    "files are chosen by a button": Case("<input id=it type=file>", "button", "Choose File"),
    "a number with a list is a combobox": Case("<input id=it type=number list=l aria-label=N>", "combobox", "N"),
    "a search with a list is a combobox": Case("<input id=it type=search list=l aria-label=N>", "combobox", "N"),
    "a list of several lines is a listbox": Case(
        "<select id=it size=3 aria-label=N><option>a</select>", "listbox", "N"
    ),
    "a list of several choices is a listbox": Case(
        "<select id=it multiple aria-label=N><option>a</select>", "listbox", "N"
    ),
    "what it opens is no part of a menu item": Case(
        "<div role=menu><div id=it role=menuitem tabindex=0>File<div role=menu>Open</div></div></div>",
        "menuitem",
        "File",
    ),
    "children are no part of a tree item": Case(
        "<div role=tree><div id=it role=treeitem tabindex=0>Folder<div role=group><div role=treeitem>Inner</div></div></div></div>",
        "treeitem",
        "Folder",
    ),
    "the button in a tab has a mark of its own": Case(
        "<div role=tablist><div id=it role=tab tabindex=0>Draft <button>Close</button></div></div>",
        "tab",
        "Draft",
        "Draft Close",
    ),
    "a link that holds nothing but a button is named by it": Case(
        "<a id=it href='#' style='display:inline-block;padding:20px'><button>Buy</button></a>", "link", "Buy"
    ),
    "an article in a link is read": Case(
        "<a id=it href='#'><article>News</article>today</a>", "link", "News today", "today"
    ),
    "a cell of a grid is a gridcell": Case("<table role=grid><tr><td id=it tabindex=0>9<td>x</table>", "gridcell", "9"),
    "a header of a row is a rowheader": Case(
        "<table><tr><th id=it scope=row tabindex=0>May<td>x</table>", "rowheader", "May"
    ),
    "a fieldset is named by its legend": Case(
        "<fieldset id=it tabindex=0><legend>Sizes</legend>x</fieldset>", "group", "Sizes"
    ),
    "a table is named by its caption": Case(
        "<table id=it tabindex=0><caption>Sizes</caption><tr><td>x</table>", "table", "Sizes"
    ),
    "an empty alternative is none": Case(
        "<a id=it href='#'><img src=x alt='' style='width:20px;height:20px'>x</a>", "link", "x"
    ),
    "what unfolds in it has a mark of its own": Case(
        "<button id=it>Menu<details><summary>more</summary>hidden</details></button>", "button", "Menu", "Menu more"
    ),
}


def hard_page() -> str:
    sections = [
        f"<section>{case.html.replace('$', f'i{n}-').replace('id=it', f'id=it{n}').replace('for=it', f'for=it{n}').replace(chr(39) + 'it ', chr(39) + f'it{n} ')}</section>"
        for n, case in enumerate(HARD.values())
    ]
    script = "for (const each of document.querySelectorAll('[data-by]')) each.ariaLabelledByElements = [document.getElementById(each.dataset.by)];"
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><datalist id=l><option>x</datalist>{''.join(sections)}<script>{script}</script>"


async def test_hard_names_follow_the_rules_and_chromium(page: Page, serve: Server) -> None:
    await page.set_viewport_size({"width": 1280, "height": 4000})
    _, marks = await marks_by_id(page, serve({"/": hard_page()}) + "/")
    heard = await accessibility_tree(page)
    ours, theirs = {}, {}
    for number, claim in enumerate(HARD):
        mark = marks.get(f"it{number}")
        ours[claim] = (mark.role, mark.name) if mark else None
        tree = heard[f"it{number}"]
        heard_name = words(tree.name) or (HARD[claim].name if HARD[claim].is_unsaid_by_some else "")
        theirs[claim] = (OURS.get(tree.role, tree.role), heard_name)
    assert ours == {claim: (case.role, case.name) for claim, case in HARD.items()}
    assert theirs == {
        claim: (case.role, case.name if case.chromium is None else case.chromium) for claim, case in HARD.items()
    }


# --- what a person would call it --------------------------------------------------------------------------------------

FOUND = {
    "text before a field": ("<div>Street: <input id=it></div>", "Street"),
    "a label that is not tied to it": ("<div><label>Town *</label> <input id=it></div>", "Town"),
    "a block above it": ("<div><div>Country</div><div><select id=it><option>CH</select></div></div>", "Country"),
    "the cell before it": ("<table><tr><td>Postcode<td><input id=it></table>", "Postcode"),
    "the header of its column": (
        "<table><tr><th>Item<th>Price<tr><td><input aria-label=i><td><input id=it></table>",
        "Price",
    ),
    "the header of its column, after a cell that spans two": (
        "<table><tr><th>Item<th>Net<th>Gross<tr><td colspan=2><input aria-label=i><td><input id=it></table>",
        "Gross",
    ),
    "the header of its column, under a cell that spans rows beside a short row": (
        "<table><tr><th>Item<th>Net<th>Gross<tr><td>a<td>b<td rowspan=2>c<tr><td>d<tr><td><input aria-label=i><td>"
        "<input aria-label=j><td><input id=it></table>",
        "Gross",
    ),
    "the term it defines": ("<dl><dt>Phone<dd><input id=it></dl>", "Phone"),
    "text after a box to tick": ("<p><input id=it type=checkbox> Remember me</p>", "Remember me"),
    "words after a field on a line that begins with one": ("<p><input id=it> kg <input> cm</p>", "kg"),
    "words after the last field on a line that begins with one": (
        "<p><input> hours <input id=it> minutes</p>",
        "minutes",
    ),
    "words before a field on a line that ends with one": ("<p>From <input> to <input id=it></p>", "to"),
    "a unit only of the field before it": ("<p>Weight <input> kg <input id=it> g</p>", "g"),
    "words before fields with a unit after them": ("<p>From <input> to <input id=it> days</p>", "to"),
    "words before boxes on a line that ends with one": (
        "<p>Red <input id=it type=radio> Blue <input type=radio></p>",
        "Red",
    ),
    "words above the first field of a line": ("<div><div>Size</div><p><input id=it> x <input> cm</p></div>", "Size"),
    "text beside a custom slider": (
        "<div><span>Volume</span> <span id=it role=slider tabindex=0 aria-valuenow=3 style='display:inline-block;width:90px;height:20px'></span></div>",
        "Volume",
    ),
    "text beside a custom list, not what it shows": (
        "<div><span>Size</span> <span id=it role=combobox tabindex=0 aria-expanded=false>Large</span></div>",
        "Size",
    ),
    "nothing where another field comes between": ("<div>From <input aria-label=a> <input id=it></div>", ""),
    "nothing where the text is a whole paragraph": (
        f"<div><p>{'We will never share it with anyone. ' * 4}</p><input id=it></div>",
        "",
    ),
    "nothing where the text is an instruction": (
        "<div><p>Enter “Ann” into the field and press Submit.</p><input id=it></div>",
        "",
    ),
    "the text beside it, not the instruction above": (
        "<div><p>Enter the code that we sent you.</p><div>Code: <input id=it></div></div>",
        "Code",
    ),
    "a question": (
        "<div><p>What is the name of your first pet?</p><input id=it></div>",
        "What is the name of your first pet?",
    ),
    "a short text with a full stop": ("<div>House no. <input id=it></div>", "House no."),
    "a sentence after a box to tick": (
        "<p><input id=it type=checkbox> I agree to the terms of use.</p>",
        "I agree to the terms of use.",
    ),
    "nothing where the text is far above": ("<div><div style='height:120px'>Elsewhere</div><input id=it></div>", ""),
    "nothing where the text above is in another row": (
        "<div role=grid><div role=row><div role=gridcell>Rake</div></div><div role=row><div role=gridcell><input id=it type=checkbox></div></div></div>",
        "",
    ),
    "nothing that is hidden": ("<div><div hidden>Street</div><input id=it></div>", ""),
    "a tooltip inside an icon": (
        "<button id=it><i title=Delete style='display:inline-block;width:16px;height:16px'></i></button>",
        "Delete",
    ),
    "a sign by its tooltip": ("<span id=it title=Close onclick='1'>×</span>", "Close"),
    "a word, not its tooltip": ("<p id=it title='Press to sort' onclick='1'>City</p>", "City"),
    "what describes it": (
        "<button id=it aria-describedby=$1>&nbsp;</button><div id=$1 role=tooltip hidden>Add a row</div>",
        "Add a row",
    ),
    "the drawing it uses": (
        "<button id=it><svg width=16 height=16><use href='icons.svg#icon-shoppingCart'/></svg></button>",
        "shopping cart",
    ),
    "a row without the buttons in it": (
        "<div id=it onclick='1' style='width:400px'>Order 17 <button>Edit</button> <button>Delete</button></div>",
        "Order 17",
    ),
    "a title bar without the button in it": (
        "<div id=it draggable=true style='width:400px'><b>Settings</b> <button aria-label=Close>×</button></div>",
        "Settings",
    ),
    "a card by its heading": (
        f"<div id=it onclick='1' style='width:400px'><h3>Red shoes</h3><p>{'Very good shoes. ' * 9}</p><button>Buy</button></div>",
        "Red shoes",
    ),
    "a card whose heading is a link": (
        "<div id=it onclick='1' style='width:400px;height:120px'><h3><a href='#'>Red shoes</a></h3><p>Light shoes for long runs on hard ground.</p><p>Nine sizes, three colours, and a box that is made of paper.</p><button>Buy</button><button>Keep</button></div>",
        "Red shoes",
    ),
    "the first words of much text": (
        f"<div id=it onclick='1' style='width:400px'>{'word ' * 500}</div>",
        "word " * 15 + "word…",
    ),
    "nothing, rather than the name of the only button in it": (
        "<div id=it draggable=true style='width:400px;height:90px'><button aria-label=Close>×</button><button>?</button></div>",
        "",
    ),
}


async def test_without_an_accessible_name_a_mark_is_called_what_a_person_would_call_it_and_says_so(
    page: Page, serve: Server
) -> None:
    await page.set_viewport_size({"width": 1280, "height": 4000})
    parts = [html.replace("$", f"i{n}-").replace("id=it", f"id=it{n}") for n, (html, _) in enumerate(FOUND.values())]
    _, marks = await marks_by_id(
        page, serve({"/": f"<!doctype html><meta charset=utf-8><section>{'</section><section>'.join(parts)}"}) + "/"
    )
    assert {claim: marks[f"it{n}"].name for n, claim in enumerate(FOUND)} == {
        claim: name for claim, (_, name) in FOUND.items()
    }
    assert all(is_found_otherwise(marks[f"it{n}"]) for n, (_, name) in enumerate(FOUND.values()) if name)


# --- cost and hostility -----------------------------------------------------------------------------------------------


async def test_what_is_typed_into_a_label_changes_the_name_and_not_what_the_mark_is(page: Page, serve: Server) -> None:
    address = serve({"/": "<label><input type=checkbox id=it> Wait <input id=days value=3> days</label>"})
    _, marks = await marks_by_id(page, address + "/")
    before = marks["it"]
    await page.fill("#days", "5")
    after = next(mark for mark in (await scan(page, 10)).marks if mark.key == before.key)
    assert (before.name, after.name) == ("Wait 3 days", "Wait 5 days")
    assert before.fingerprint == after.fingerprint


async def test_a_name_is_cut_between_characters_and_can_be_written_down(page: Page, serve: Server) -> None:
    emoji = "\U0001f600" * 150
    _, marks = await marks_by_id(
        page,
        serve(
            {
                "/": f"<meta charset=utf-8><button id=a>{emoji}</button><button id=b></button><input id=c aria-label=C value='{emoji * 4}'><script>b.textContent = 'x\\ud83d'</script>"
            }
        )
        + "/",
    )
    assert all(json.dumps(mark.name, ensure_ascii=False).encode() for mark in marks.values())
    assert (marks["c"].state.value or "").encode()
    assert marks["a"].name.endswith("…")


async def test_references_without_end_cost_no_time(page: Page, serve: Server) -> None:
    many = "".join(f"<p id=p{n} aria-labelledby='{' '.join(f'p{m}' for m in range(300))}'>x</p>" for n in range(300))
    ids = " ".join(f"p{n}" for n in range(300))
    _, marks = await marks_by_id(page, serve({"/": f"<button id=it aria-labelledby='{ids}'>x</button>{many}"}) + "/")
    assert set(marks["it"].name.split()) == {"x"}


async def test_a_name_arrives_sign_for_sign(page: Page, serve: Server) -> None:
    name = 'say "a" or \'b\' or `c`, \\d ~\x7f~ \\" \\` ✎'
    _, marks = await marks_by_id(page, serve({"/": f"<meta charset=utf-8><button id=a>{escape(name)}</button>"}) + "/")
    assert marks["a"].name == name
