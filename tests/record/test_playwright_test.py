"""A run as a Playwright test: what each act becomes. That such a test passes is shown by `tests/test_export.py`, and
here for what has to be told apart from others of its name.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from record_builder import PAGE, START, done, mark, observation, run, small_run, story, task, write_run

from tests.conftest import Server
from vision_agent.actions import (
    Action,
    Back,
    Check,
    Click,
    DoubleTap,
    Drag,
    Finish,
    Goto,
    Hold,
    Hover,
    Offset,
    OpenTab,
    Point,
    Press,
    Scroll,
    ScrollTo,
    Select,
    Set,
    Type,
    Upload,
    Wait,
)
from vision_agent.browser.launch.launch import candidates
from vision_agent.export.formats import export
from vision_agent.export.playwright_test import render_test
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.settings import BrowserSettings
from vision_agent.types import Decision, Ending, Outcome, Provenance, Run, Step, SuccessCheck, Task

DRAWN = mark(9, "Seat C7", source="cv", kind="guess", role="generic", tag="box")
SAVES = (mark(1, "Save"), mark(2, "Save", box=Box(x=40, y=350, width=160, height=40), point=Point(x=120, y=370)))
PAY = mark(4, "Pay", frame="checkout.2")


def ran(*acts: tuple[Action, Outcome], marks: tuple[Mark, ...] | None = None, **fields: object) -> Run:
    seen = observation("o1") if marks is None else observation("o1", marks)
    decided = Decision(author="steps", next_goal="Do it", actions=tuple(action for action, _ in acts))
    step = Step(
        index=1,
        observation=seen,
        decision=decided,
        outcomes=tuple(outcome for _, outcome in acts),
        started_at=START,
    )
    return run(steps=(step,), ending=Ending(status="done", sentence="Done.", evidence=(5,)), **fields)


def lines(*each: str) -> str:
    return "\n    ".join(each)


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (Click(target=5), 'page.get_by_role("button", name="Add to cart", exact=True).click()'),
        (Click(target=5, count=2, modifiers=("Shift",)), '.click(click_count=2, modifiers=["Shift"])'),
        (
            Hold(target=5, seconds=1.5),
            lines(
                'page.get_by_role("button", name="Add to cart", exact=True).hover()',
                "page.mouse.down()",
                "page.wait_for_timeout(1500)",
                "page.mouse.up()",
            ),
        ),
        (
            Hold(target=Point(x=400, y=318), until="Done", seconds=3),
            lines(
                "page.mouse.move(400, 318)",
                "page.mouse.down()",
                'expect(page.get_by_text("Done").first).to_be_visible(timeout=3000)',
                "page.mouse.up()",
            ),
        ),
        (
            Hold(target=Point(x=400, y=318), seconds=1, touch=True),
            lines(
                "touch = page.context.new_cdp_session(page)",
                'touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": 400, "y": 318}]})',
                "page.wait_for_timeout(1000)",
                'touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})',
            ),
        ),
        (
            Hold(target=5, seconds=1, touch=True),
            'box = page.get_by_role("button", name="Add to cart", exact=True).bounding_box()',
        ),
        (Press(keys="ArrowUp", seconds=2), 'page.keyboard.press("ArrowUp", delay=2000)'),
        (
            Scroll(target=Point(x=400, y=318), direction="up", px=120, modifiers=("Control",)),
            lines(
                "page.mouse.move(400, 318)",
                'page.keyboard.down("Control")',
                "scroll(page, 0, -120)",
                'page.keyboard.up("Control")',
            ),
        ),
        (ScrollTo(text="Total"), 'page.get_by_text("Total").first.scroll_into_view_if_needed()'),
        (DoubleTap(target=5), 'page.get_by_role("button", name="Add to cart", exact=True).tap()'),
        (DoubleTap(target=Point(x=400, y=318)), lines(*["page.touchscreen.tap(400, 318)"] * 2)),
        (Click(target=Point(x=400, y=318), button="right"), 'page.mouse.click(400, 318, button="right")'),
        (Type(target=1, text='a "b"', submit=True), '.fill("a \\"b\\"")'),
        (Type(target=1, text="more", clear=False), '.press_sequentially("more")'),
        (Select(target=3, options=("Large",)), '.select_option(label=["Large"])'),
        (Select(target=3, options=("Large",), change="add"), 'each.label)") + ["Large"])'),
        (Select(target=3, options=("Large",), change="remove"), 'if each not in ["Large"]])'),
        (Check(mark=4, checked=False), '.set_checked(False)'),
        (Set(mark=1, value="42"), '.fill("42")'),
        (Upload(mark=1, files=("cv.pdf",)), '.set_input_files([HERE / "cv.pdf"])'),
        (Press(keys="Control+a"), 'page.keyboard.press("Control+a")'),
        (Hover(target=2), 'page.get_by_role("link", name="Cart (0)", exact=True).hover()'),
        (Scroll(direction="up", pages=0.5), f"scroll(page, 0, {-PAGE.height // 2})"),
        (Drag(source=5, target=Offset(right=40, down=0)), "page.mouse.move(430, 322, steps=12)"),
        (
            Drag(source=5, target=Offset(right=40, down=0), modifiers=("Shift",)),
            lines(
                'page.keyboard.down("Shift")',
                "page.mouse.down()",
                "page.mouse.move(430, 322, steps=12)",
                "page.mouse.up()",
                'page.keyboard.up("Shift")',
            ),
        ),
        (Goto(url="http://shop.test/cart"), 'page.goto("http://shop.test/cart")'),
        (Back(), "page.go_back()"),
        (Wait(text="Thanks"), 'expect(page.get_by_text("Thanks").first).to_be_visible()'),
    ],
    ids=lambda value: value.kind if not isinstance(value, str) else "",
)  # fmt: skip
def test_an_act_is_said_as_playwright_says_it(action: Action, line: str) -> None:
    written = render_test(ran((action, done())))
    assert ("has_touch=True" in written) == (".tap(" in written)
    compile(written, "exported", "exec")
    assert line in written


def test_an_exported_test_that_checks_nothing_on_its_last_page_is_said_to(tmp_path: Path) -> None:
    for name, events, checks in (("blind", small_run(), False), ("seeing", story(), True)):
        said = export(write_run(tmp_path / name, events).path, "pytest", tmp_path / f"test_{name}.py")
        assert said.startswith(f"a Playwright test in {tmp_path}/test_{name}.py")
        assert ("it checks no text" in said) != checks


def test_what_is_drawn_is_pressed_by_its_place_and_what_is_in_a_frame_through_it() -> None:
    written = render_test(ran((Click(target=9), done()), (Click(target=4), done()), marks=(DRAWN, PAY)))
    assert "page.mouse.click(120, 320)" in written
    inside = 'page.frame_locator("[name=\\"checkout\\"]").frame_locator("iframe, frame").nth(1)'
    assert f'{inside}.get_by_role("button", name="Pay", exact=True).click()' in written


def test_of_two_that_are_called_the_same_the_one_in_the_same_place_is_taken() -> None:
    assert 'name="Save", exact=True).nth(1).click()' in render_test(ran((Click(target=2), done()), marks=SAVES))


def test_a_secret_is_read_from_the_environment_and_said_to_be_needed() -> None:
    written = render_test(ran((Type(target=1, text="<secret:shop-pin>-7"), done())))
    compile(written, "exported", "exec")
    assert '.fill(os.environ["SECRET_SHOP_PIN"] + "-7")' in written
    assert "Needs SECRET_SHOP_PIN in the environment." in written


def test_private_data_in_what_is_pressed_chosen_or_waited_for_is_read_from_the_environment() -> None:
    marks = (
        mark(1, "Open <secret:customer>", role="button"),
        mark(2, "Pay from <private:iban>", role="button"),
        mark(3, "Who", role="combobox", tag="select"),
    )
    acts: list[Action] = [
        Click(target=1),
        Click(target=2),
        Select(target=3, options=("<secret:customer>",)),
        Wait(text="Hello <secret:customer>"),
    ]
    written = render_test(ran(*((each, done()) for each in acts), marks=marks))
    compile(written, "exported", "exec")
    customer = 'os.environ["SECRET_CUSTOMER"]'
    assert f'get_by_role("button", name="Open " + {customer}, exact=True).click()' in written
    assert 'name="Pay from " + os.environ["PRIVATE_IBAN"], exact=True).click()' in written
    assert f"select_option(label=[{customer}])" in written
    assert f'get_by_text("Hello " + {customer}).first' in written
    assert "Needs PRIVATE_IBAN, SECRET_CUSTOMER in the environment." in written
    assert "<secret:" not in written.split("def test_")[1].replace("# ", "")


def test_a_one_time_code_is_said_to_be_one() -> None:
    secrets = [{"name": "otp", "value": "", "is_code": True}, {"name": "pin", "value": ""}]
    typed = [(Type(target=1, text=f"<secret:{name}>"), done()) for name in ("otp", "pin")]
    given = ran(*typed)
    written = render_test(given.model_copy(update={"task": task(secrets=secrets)}))
    assert "Needs SECRET_OTP, SECRET_PIN in the environment." in written
    assert "SECRET_OTP is a one-time code: give the one that is valid" in written
    assert "SECRET_PIN is a one-time code" not in written


def test_what_was_refused_is_left_out_and_a_new_tab_is_followed() -> None:
    refused = Outcome(status="refused", refusal="covered", sentence="It is covered.")
    written = render_test(ran((Click(target=2), done(effect="new_tab")), (Click(target=5), refused)))
    compile(written, "exported", "exec")
    assert "with page.expect_popup() as popup:" in written
    # It is there once, as the evidence of the end.
    assert written.count("Add to cart") == 1
    assert "exact=True)).to_be_visible()" in written


def test_what_is_checked_and_how_it_ends_is_written_once() -> None:
    shown = (Wait(text="Thanks"), done())
    given = ran(shown, shown, (Click(target=5), done()), shown, task=task(checks=(SuccessCheck(text="Thanks"),)))
    waits = given.steps[0].model_copy(update={"observation": observation(url="about:blank")})
    end = Step(
        index=2,
        observation=observation(url="about:blank"),
        decision=Decision(author="steps", next_goal='finish "Thanks"', actions=(Finish(answer="Thanks"),)),
        outcomes=(done(effect="finished"),),
        started_at=START,
    )
    written = render_test(given.model_copy(update={"steps": (waits, end)}))
    compile(written, "exported", "exec")
    expected = 'expect(page.get_by_text("Thanks").first).to_be_visible()'
    assert written.count(expected) == 2
    assert written.count("# finish") == 1


def test_what_a_record_says_stays_inside_its_quotes() -> None:
    hostile = 'b") ; raise SystemExit("hit") #'
    evil = mark(5, 'Say "no"\\', role=hostile, frame="it's")
    written = render_test(
        ran(
            (Click(target=5), done()),
            (Wait(text="Danke 🎉"), done()),
            (OpenTab(url="http://shop.test/"), done(effect="new_tab")),
            marks=(evil,),
            task=task(goal='Find """ over 50 m²\nimport this', start_url=None),
            id='x""" + hit + """',
        )
    )
    tree = ast.parse(written)
    assert [type(node).__name__ for node in tree.body][-2:] == ["FunctionDef", "FunctionDef"]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    assert "Danke 🎉" in written


# --- told apart -------------------------------------------------------------------------------------------------------

BESIDE = (Path(__file__).parents[2] / "vision_agent" / "export" / "beside_words.js").read_text("utf-8")
GRID = '<div style="display: grid; grid-template-columns: 90px 90px">'
STYLE = "<style>body { font: 14px sans-serif } img { width: 9px; height: 9px }</style>"
SHADOW = "<template shadowrootmode=open><b>{0}</b><slot></slot></template>"
MARKUPS = {
    "boxes": ["<main>", "<div><h3>{0}</h3><p>text</p><button>Delete</button></div>", "</main>"],
    "deep": ["<main>", "<div><div><b>{0}</b></div><i><span><button>Delete</button></span></i></div>", "</main>"],
    "table": ["<table>", "<tr><td>{0}</td><td>42</td><td><button>Delete</button></td></tr>", "</table>"],
    "list": ["<ul>", "<li><button>Delete</button> {0}</li>", "</ul>"],
    "grid": [GRID, "<span>{0}</span><button>Delete</button>", "</div>"],
    "grid, words after": [GRID, "<button>Delete</button><span>{0}</span>", "</div>"],
    "pictures": ["<main>", "<div><img alt='{0}'><button>Delete</button></div>", "</main>"],
    "letters": ["<main>", "<div><b>{0[0]}</b><i>{0[1]}</i><b>{0[2]}</b><button>Delete</button></div>", "</main>"],
    "shadow": ["<main>", f"<x-row>{SHADOW}<button>Delete</button></x-row>", "</main>"],
}  # fmt: skip


def made(markup: list[str], *names: str) -> str:
    begin, row, end = markup
    return f"<!doctype html>{STYLE}<p>Hello Ann, and Bob</p>{begin}{''.join(map(row.format, names))}{end}"


async def places(page: Page, words: str, heading: str = "") -> list[int]:
    found = await page.get_by_role("button", name="Delete", exact=True).evaluate_all(BESIDE, [words, heading])
    return list(found)


@pytest.mark.parametrize("markup", MARKUPS.values(), ids=MARKUPS)
async def test_what_stands_beside_words_is_found_in_any_markup_and_wherever_it_has_gone(
    page: Page, serve: Server, markup: list[str]
) -> None:
    pages = {
        "/": ["Ann", "Bob", "Cid"],
        "/swapped": ["Bob", "Ann", "Cid"],
        "/gone": ["Bob", "Cid"],
        "/twice": ["Ann", "Ann"],
        "/one": ["Bob"],
    }
    url = serve({path: made(markup, *names) for path, names in pages.items()})
    found = {}
    for path in pages:
        await page.goto(url + path)
        found[path] = [await places(page, words) for words in ("Ann", "Bob", "An")]
    assert found == {
        "/": [[0], [1], []],
        "/swapped": [[1], [0], []],
        "/gone": [[], [0], []],
        "/twice": [[0, 1], [], []],
        "/one": [[], [], []],
    }


@pytest.mark.parametrize(
    "section",
    [
        "<h2>{0}</h2><section><button>Delete</button></section>",
        "<h2>{0}</h2><p>text</p><button>Delete</button><h3>More</h3>",
        "<fieldset><legend>{0}</legend><button>Delete</button></fieldset>",
        "<section aria-label='{0}'><button>Delete</button></section>",
        "<dl><dt>{0}</dt><dd><button>Delete</button></dd></dl>",
    ],
)
async def test_what_stands_under_a_heading_is_found_by_it(page: Page, serve: Server, section: str) -> None:
    url = serve({"/": made(["", section, ""], "Ann", "Bob"), "/swapped": made(["", section, ""], "Bob", "Ann")})
    await page.goto(url + "/")
    assert [await places(page, "", who) for who in ("Ann", "Bob", "Eve")] == [[0], [1], []]
    await page.goto(url + "/swapped")
    assert [await places(page, "", who) for who in ("Ann", "Bob")] == [[1], [0]]


async def test_words_are_found_although_they_leave_out_an_amount_between_them(page: Page, serve: Server) -> None:
    row = "<p>{0} Smith <b>EUR 12.50</b> 3 min ago, paid <button>Delete</button></p>"
    await page.goto(serve({"/": made(["", row, ""], "Ann", "Bob")}))
    words = ("Ann Smith", "Ann Smith paid", "Bob Smith paid", "Smith", "Ann paid", "Smith Ann")
    assert [await places(page, each, "") for each in words] == [[0], [0], [1], [0, 1], [], []]
    await page.goto(serve({"/": made(["", row, ""], "Ann Lee", "Bob")}))
    assert await places(page, "Ann Smith", "") == []  # a short name is no amount


def test_a_row_is_named_by_more_than_the_word_that_only_it_has_today() -> None:
    rows = deletes(("Ann Smith 12", ""), ("Ann Smithers 14", ""))
    assert '"Ann Smith").click()' in render_test(ran((Click(target=1), done()), marks=rows))


def deletes(*beside: tuple[str, str]) -> tuple[Mark, ...]:
    return tuple(
        mark(number, "Delete", context=context, heading=heading, box=Box(x=40, y=40 * number, width=90, height=20))
        for number, (context, heading) in enumerate(beside, 1)
    )


def test_of_equal_names_the_words_beside_them_are_written_and_the_place_only_where_nothing_else_tells() -> None:
    rows = deletes(("Ann", "Staff"), ("Ann", "Guests"), ("Bob", "Staff"), ("Bob", "Staff"))
    written = render_test(ran(*((Click(target=number), done()) for number in (1, 3, 4)), marks=rows))
    compile(written, "exported", "exec")
    found = 'page.get_by_role("button", name="Delete", exact=True), "button \\"Delete\\""'
    assert f'beside({found}, "Ann", heading="Staff").click()' in written
    assert f'beside({found}, "Bob", nth=1, of=2).click()' in written
    assert f'beside({found}, "Bob", nth=2, of=2).click()' in written
    assert "def beside(" not in render_test(ran((Click(target=2), done()), marks=SAVES))


LIST = """<!doctype html><title>Staff</title><body><script>
for (const who of %s) {
  const row = document.createElement('div');
  row.innerHTML = `<h3>${who}</h3><p>text</p><button>Delete</button>`;
  row.querySelector('button').onclick = () => { document.body.append('deleted ' + who) };
  setTimeout(() => document.body.append(row), 300);
}
</script>"""


@pytest.mark.thorough
def test_the_exported_test_presses_the_same_row_wherever_it_is_and_fails_where_it_is_none(
    serve: Server, tmp_path: Path
) -> None:
    wait = (Wait(text="deleted Ann"), done())
    written = render_test(ran((Click(target=1), done()), wait, marks=deletes(("Ann", ""), ("Bob", "")), id="r")) \
        .partition("# The page at the end of the run.")[0]  # fmt: skip
    (tmp_path / "test_exported.py").write_text(written)
    pages = {
        "/": "['Ann', 'Bob']",
        "/swapped": "['Bob', 'Ann']",
        "/gone": "['Bob', 'Cid']",
        "/last": "['Bob']",
        "/twice": "['Ann', 'Ann']",
    }
    url = serve({path: LIST % names for path, names in pages.items()})
    codes = {path: pytest_in(tmp_path, url + path) for path in pages}
    assert {path for path, (code, _) in codes.items() if code == 0} == {"/", "/swapped"}, codes
    assert "0 elements match button \"Delete\" beside 'Ann'; expected 1" in codes["/gone"][1]
    assert "2 elements match button \"Delete\" beside 'Ann'; expected 1" in codes["/twice"][1]


def pytest_in(folder: Path, start: str) -> tuple[int, str]:
    browser = next((each.executable for each in candidates(BrowserSettings()) if each.executable), None)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        env={**os.environ, **({"BROWSER": str(browser)} if browser else {}), "START_URL": start},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.returncode, ran.stdout


def test_the_browser_of_a_test_is_that_of_the_run() -> None:
    browser = {"device": None, "device_ratio": 2.0, "locale": "de-DE", "timezone": "Europe/Berlin", "session": "shop",
               "permissions": ["geolocation"]}  # fmt: skip
    events = {"dialogs": "accept", "prompt": 'An "n"', "leave": False}
    provenance = Provenance(settings={"browser": browser, "events": events})
    written = render_test(ran((Click(target=2), done()), provenance=provenance))
    compile(written, "exported", "exec")
    for line in (
        "device_scale_factor=2, locale='de-DE', timezone_id='Europe/Berlin', permissions=['geolocation']",
        'storage_state=os.environ.get("STORAGE_STATE")',
        "STORAGE_STATE names a file",
        "dialog.accept('An \"n\"')",
        "dialog.dismiss()",
        'context.on("dialog", answer)',
    ):
        assert line in written


def test_a_device_brings_its_own_view() -> None:
    provenance = Provenance(settings={"browser": {"device": "Pixel 7", "device_ratio": 1.0}})
    written = render_test(ran((Click(target=2), done()), provenance=provenance))
    assert "new_context(**playwright.devices['Pixel 7'])" in written
    assert "Dialog" not in written


@pytest.mark.parametrize("hostile", ["x'); import os; os.system('true') #", "a\nb", 3, None, ["x"], {"a": 1}])
def test_settings_of_somebody_elses_record_stay_words(hostile: Any) -> None:
    browser = dict.fromkeys(("device", "device_ratio", "locale", "timezone", "permissions", "session"), hostile)
    events = {"dialogs": "accept", "prompt": hostile, "leave": hostile}
    for settings in ({"browser": browser, "events": events}, {"browser": hostile, "events": hostile}):
        written = render_test(ran((Click(target=2), done()), provenance=Provenance(settings=settings)))
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(written)) if isinstance(node, ast.Call)}
        assert not calls & {"os.system", "system"}


def test_a_page_that_was_handed_over_is_where_the_test_begins() -> None:
    written = render_test(ran((Click(target=2), done()), task=Task(goal="Add it")))
    assert 'START_URL = os.environ.get("START_URL", "http://shop.test/jumper")' in written
