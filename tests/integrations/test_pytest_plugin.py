"""Claims about the pytest plugin: what its fixtures do, and what a failing test leaves. All run pytest."""

from __future__ import annotations

import asyncio
import os
import re
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from tests.conftest import Server
from tests.test_sync_api import _executable
from vision_agent.record import read
from vision_agent.record.verify import verify

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.timeout(400)

HOME = os.environ["HOME"]

SHOP = """<title>Shop</title><h1>Mug</h1><label>Name <input></label> <label>Password <input type=password></label>
<label><input type=checkbox>Gift</label> <label>Size <select><option>Small<option>Large</select></label>
<button onclick="setTimeout(() => o.textContent = 'Order placed for ' + document.querySelector('input').value, 200)">
Order</button><p id=o></p><a href="/thanks">Thanks</a> <a href="/thanks" target=_blank>Terms</a>"""

SYNC = """
    import pytest
    from playwright.sync_api import sync_playwright

    @pytest.fixture(scope="session")
    def browser():
        with sync_playwright() as playwright:
            yield playwright.chromium.launch(executable_path={executable!r}, chromium_sandbox=False)

    @pytest.fixture
    def page(browser):
        with browser.new_context() as context:
            page = context.new_page()
            page.goto({site!r} + "/")
            yield page
    """

ASYNC = """
    import pytest_asyncio
    from playwright.async_api import async_playwright

    @pytest_asyncio.fixture
    async def page():
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path={executable!r}, chromium_sandbox=False)
            page = await browser.new_page()
            await page.goto({site!r} + "/")
            yield page
            await browser.close()
    """

PLAYWRIGHT = """
    import pytest

    @pytest.fixture(scope="session")
    def browser_type_launch_args(browser_type_launch_args):
        return {{**browser_type_launch_args, "executable_path": {executable!r}}}

    @pytest.fixture(autouse=True)
    def shop(page):
        page.goto({site!r} + "/")
    """


@pytest.fixture(scope="module")
def executable() -> str | None:
    return asyncio.run(_executable())


class Inner:
    """A folder of tests, run by a pytest of its own."""

    def __init__(self, pytester: pytest.Pytester, conftest: str) -> None:
        self._pytester = pytester
        self.folder = pytester.path
        pytester.makeconftest(conftest)
        pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")

    def run(self, tests: str, *options: str, plugin: str = "no:playwright") -> tuple[dict[str, int], str]:
        """The counts by outcome, and all that was printed."""
        self._pytester.makepyfile(test_shop=textwrap.dedent(tests))
        ran = self._pytester.runpytest_subprocess(
            "-p", plugin, "-p", "no:cacheprovider", "--junitxml=junit.xml", *options, timeout=150
        )
        return ran.parseoutcomes(), ran.stdout.str()


@pytest.fixture
def make_inner(
    pytester: pytest.Pytester, executable: str | None, serve: Server, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Inner]:
    def make(conftest: str) -> Inner:
        site = serve({"/": SHOP, "/thanks": "<title>Thank you</title><button>Back</button>"})
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
        monkeypatch.setenv("HOME", HOME)  # pytester names another; Playwright's own browsers are in this one
        return Inner(pytester, textwrap.dedent(conftest).format(executable=executable, site=site))

    return make


def test_the_plugin_imports_nothing_until_a_fixture_is_used(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import sys

        def pytest_unconfigure():
            known = {name.split(".")[0] for name in sys.modules}
            print("loaded", sorted(known & {"playwright", "cv2", "numpy", "pydantic", "PIL", "anthropic"}))
            print("ours", sorted(name for name in sys.modules if name.startswith("vision_agent")))
        """
    )
    pytester.makepyfile("def test_nothing(): pass")
    printed = pytester.runpytest_subprocess("-p", "no:playwright", "-q").stdout.str()
    assert "loaded []" in printed
    ours = re.search(r"ours \[(.*)\]", printed)
    assert ours is not None
    assert set(ours[1].replace("'", "").split(", ")) == {
        "vision_agent",
        "vision_agent.old_names",
        "vision_agent.integrations",
        "vision_agent.integrations.pytest_plugin",
    }


def test_a_failing_test_leaves_its_picture_its_report_and_attachments(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(SYNC)
    counts, printed = inner.run(
        """
        def test_order(marks):
            marks.type("Ada", "Name")
            marks.click("Buy")
        """,
        "-o",
        "junit_logging=system-out",
    )
    assert counts == {"failed": 1}
    assert ">       marks.click(\"Buy\")\nE       AssertionError: 'click Buy' could not be carried out" in printed
    assert "vision_agent/" not in printed, "the lines between the test and the sentence are left out"
    left = inner.folder / "marks-report" / "test_shop.py-test_order"
    assert "marked picture: marks-report/test_shop.py-test_order/marked.png" in printed
    with Image.open(left / "marked.png") as picture:
        assert picture.size == (1280, 720)
    assert 'input value="Ada"' in (left / "listing.txt").read_text("utf-8")
    run = read(left / "steps")
    goals = [step.decision.next_goal for step in run.steps]
    assert (goals[0], goals[-1]) == ('type "Ada" into Name', "Look at the page after the failure")
    assert run.ending is not None
    assert "'click Buy' could not be carried out" in run.ending.sentence
    assert verify(left / "steps").holds
    assert (left / "steps" / "report.html").exists()
    [case] = ElementTree.parse(inner.folder / "junit.xml").iter("testcase")
    attached = [each.get("value") for each in case.iter("property") if each.get("name") == "attachment"]
    assert attached == [f"marks-report/test_shop.py-test_order/{name}" for name in ("marked.png", "steps/report.html")]
    output = case.findtext("system-out") or ""
    assert all(f"[[ATTACHMENT|{path}]]" in output for path in attached)


def test_what_passes_leaves_nothing_and_removes_what_an_earlier_failure_left(
    make_inner: Callable[[str], Inner],
) -> None:
    inner = make_inner(SYNC)
    report = inner.folder / "kept"
    failing = "def test_order(marks):\n    marks.expect('Nowhere', within_s=0.2)\n"
    counts, printed = inner.run(failing, "--marks-report", "kept")
    assert counts == {"failed": 1}
    assert 'AssertionError: "Nowhere" did not show within 0.2 s' in printed
    assert (report / "test_shop.py-test_order" / "marked.png").exists()
    (report / "of-mine.txt").touch()
    counts, _ = inner.run(
        """
        def test_order(page, marks):
            marks.type('A "quoted" Ada', "Name")
            marks.check("Gift")
            marks.select("Large", "Size")
            marks.press("Tab")
            marks.uncheck("Gift")
            assert marks.click("Order").status == "done"
            marks.expect('Order placed for A "quoted" Ada')
            marks.expect("mark=Order")
            assert page.locator("select").input_value() == "Large"
            assert not page.get_by_label("Gift").is_checked()
            assert marks.look().title == "Shop"
            marks.click("Thanks")
            marks.expect("url=*/thanks")
            assert page.title() == "Thank you"
        """,
        "--marks-report",
        "kept",
    )
    assert counts == {"passed": 1}
    assert [each.name for each in report.iterdir()] == ["of-mine.txt"]


def test_wrong_words_are_refused_in_a_sentence(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(SYNC)
    wrong = {
        "marks.click('')": "click takes text, not ''",
        "marks.click(7)": "click takes text, not 7",
        "marks.do('dance')": "dance",
        "marks.do('click Order\\nclick Order')": "one step line",
        "marks.do('finish')": "is for runs",
        "marks.click('Thanks or Terms or so')": "Nothing here is called",
        "marks.expect('')": "does not name what to check",
        "marks.expect('form=1')": "does not name what to check",
        "marks.expect('url=*/thanks', within_s=0.2)": "the address must be */thanks",
        "marks.expect('download=a.txt')": "a page of a test keeps no downloads",
        "marks.expect('Order', within_s=-1)": "within_s must be a time in seconds",
        "marks.matches('../up')": "takes a short name",
        "marks.matches('a', tolerance=7)": "a share of the pixels",
        "marks.on('page')": "needs a page of Playwright, not a str",
        "marks.secret('password', None)": "has no value",
        "marks.type('<secret:pw>', 'Password')": 'Give it first: marks.secret("pw", value)',
        "agent(None, 'Order')": "needs a page of Playwright, not a NoneType",
        "agent(page, 'Order', page=page)": "multiple values for argument 'page'",
        "agent(page, 'Order', steps=['click Order'], stpes=1)": "stpes",
        "agent(page, 'Order', steps=['click Buy'])": "The agent did not do its task",
        "agent(page, 'Order', expect='Nowhere', steps=['finish'])": '"Nowhere" did not show within 1 s',
        "marks.type('x', 'Password within 1 s'); page.close(); marks.click('Order')": "every tab was closed",
    }
    counts, printed = inner.run(
        f"""
        import pytest

        @pytest.mark.parametrize("line", {list(wrong)!r})
        def test_wrong(line, page, marks, agent):
            exec(line)
        """
    )
    assert counts == {"failed": len(wrong)}
    errors = [line for line in printed.splitlines() if line.startswith("E ")]
    assert [said for said in wrong.values() if not any(said in line for line in errors)] == []


def test_a_page_that_differs_from_the_accepted_look_fails_with_a_comparison(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(SYNC)
    tests = "def test_look(marks):\n    marks.matches('checkout', tolerance=0.001)\n"
    counts, printed = inner.run(tests)
    assert counts == {"failed": 1}
    assert "there is no accepted look 'checkout' yet; run pytest with --marks-accept" in printed
    counts, printed = inner.run(tests, "--marks-accept")
    assert counts == {"passed": 1}
    accepted = inner.folder / "accepted_looks" / "test_shop" / "test_look" / "checkout"
    assert f"accepted look 'checkout' written to {accepted.relative_to(inner.folder)}\n" in printed
    counts, printed = inner.run(tests, "--marks-accept")
    assert f"accepted look 'checkout' replaced in {accepted.relative_to(inner.folder)}\n" in printed
    assert verify(accepted).holds
    (accepted / "requests").rmdir()  # empty, and version control keeps no empty folder
    counts, printed = inner.run(tests)
    assert counts == {"passed": 1}, printed
    counts, printed = inner.run(tests.replace("    marks.m", "    marks.check('Gift')\n    marks.m"))
    assert counts == {"failed": 1}
    assert "is not the accepted look 'checkout': missing: checkbox “Gift”; new: checkbox “Gift” checked true" in printed
    page = inner.folder / "marks-report" / "test_shop.py-test_look" / "checkout.diff.html"
    assert "1 of 1 steps differ" in page.read_text("utf-8")
    assert f"comparison: {page.relative_to(inner.folder)}" in printed


def test_a_secret_is_typed_by_its_name_and_kept_nowhere(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(SYNC)
    counts, printed = inner.run(
        """
        import base64

        SECRET = base64.b64decode("aHVudGVyMi1zZWNyZXQ=").decode()

        def test_log_in(page, marks, agent):
            marks.secret("password", SECRET)
            marks.type("<secret:password>", "Password")
            assert page.get_by_label("Password").input_value() == SECRET
            page.evaluate("value => { document.title = o.textContent = value }", SECRET)
            marks.click("Pay")
        """
    )
    assert counts == {"failed": 1}
    assert "Nothing here is called 'Pay'" in printed
    written = [path.read_bytes() for path in (inner.folder / "marks-report").rglob("*") if path.is_file()]
    assert len(written) >= 6
    assert not any(b"hunter2-secret" in each for each in written)
    assert "hunter2-secret" not in printed


def test_an_agent_works_on_the_page_of_the_test(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(SYNC)
    counts, printed = inner.run(
        """
        def test_order(page, marks, agent):
            marks.type("Bo", "Name")
            run = agent(page, "Order", steps=["click Order", "finish"], expect="Order placed for Bo")
            assert run.ok
            marks.expect("Order placed for Bo")

        def test_failing(page, agent):
            agent(page, "Pay", steps=["check Gift", "click Pay"])
        """
    )
    assert counts == {"passed": 1, "failed": 1}
    left = inner.folder / "marks-report" / "test_shop.py-test_failing" / "agent-1"
    assert verify(left).holds
    assert (left / "report.html").exists()
    assert "report of the agent: marks-report/test_shop.py-test_failing/agent-1/report.html" in printed
    assert not (inner.folder / "runs").exists()
    assert not (inner.folder / "marks-report" / "test_shop.py-test_order").exists()


def test_evidence_that_cannot_be_written_does_not_hide_the_failure(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(SYNC)
    (inner.folder / "taken").touch()
    counts, printed = inner.run("def test_order(marks):\n    marks.click('Buy')\n", "--marks-report", "taken")
    assert counts == {"failed": 1}
    assert "Nothing here is called 'Buy'" in printed
    assert "The evidence cannot be written" in printed
    assert "INTERNALERROR" not in printed


def test_async_pages_have_the_same_marks(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(ASYNC)
    counts, printed = inner.run(
        """
        import pytest

        pytestmark = pytest.mark.asyncio

        async def test_order(page, marks, agent):
            await marks.secret("password", "hunter2-secret")
            await marks.type("<secret:password>", "Password")
            await marks.type("Ada", "Name")
            async with page.context.expect_page() as opened:
                await marks.click("Terms")
            popup = marks.on(await opened.value)
            await popup.expect("mark=Back")
            run = await agent(page, "Order", steps=["click Order", "finish"])
            assert run.ok
            await marks.expect("Order placed for Ada")

        async def test_failing(marks):
            await marks.check("Gift")
            await marks.click("Buy")

        async def test_not_used(marks):
            assert False
        """
    )
    assert counts == {"passed": 1, "failed": 2}, printed
    assert "vision_agent/" not in printed
    for name, first in (("test_failing", "check Gift"), ("test_not_used", "Look at the page after the failure")):
        left = inner.folder / "marks-report" / f"test_shop.py-{name}"
        assert (left / "marked.png").exists()
        assert read(left / "steps").steps[0].decision.next_goal == first


@pytest.mark.skipif(find_spec("pytest_playwright") is None, reason="pytest-playwright is not installed")
def test_the_page_of_pytest_playwright_has_marks(make_inner: Callable[[str], Inner]) -> None:
    inner = make_inner(PLAYWRIGHT)
    tests = """
        from playwright.sync_api import Page, expect

        def test_order(page: Page, marks):
            marks.type("Ada", "Name")
            marks.click("Order")
            expect(page.get_by_text("Order placed for Ada")).to_be_visible()

        def test_popup(page: Page, marks):
            with page.expect_popup() as opened:
                marks.click("Terms")
            marks.on(opened.value).click("Back")

        def test_failing(marks):
            marks.click("Buy")
        """
    counts, printed = inner.run(tests, "-W", "ignore", plugin="no:randomly")
    assert counts == {"passed": 2, "failed": 1}, printed
    assert (inner.folder / "marks-report" / "test_shop.py-test_failing-chromium" / "marked.png").exists()
    counts, _ = inner.run(tests, "-W", "ignore", "-n", "2", plugin="no:randomly")
    assert counts == {"passed": 2, "failed": 1}
    attached = re.findall(r'name="attachment" value="([^"]+)"', (inner.folder / "junit.xml").read_text("utf-8"))
    assert len(attached) == 2
    assert all((inner.folder / path).exists() for path in attached)
