"""Claims about the Python API as a newcomer guesses it: keywords, what a run tells, step lines, what is shown."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect
from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator

import vision_agent
from tests.conftest import Server
from vision_agent import Agent, Secret, Settings, Task, attach, observe, sync_api
from vision_agent.actions import Click, Finish, Press, Type
from vision_agent.errors import UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Observation
from vision_agent.record import read
from vision_agent.session.keywords import Output
from vision_agent.types import Decision, Limits, Outcome, Run, Step, SuccessCheck, Usage

SHOP = """<title>Shop</title><label>Name <input id=who></label>
<button onclick="document.querySelector('output').textContent = 'Thank you, ' + who.value">Order</button>
<output></output>"""
VALUE = "Zebra47Quokka"


def is_empty(folder: Path) -> bool:
    return not list(folder.iterdir())


class Order(BaseModel):
    article: str
    count: int = Field(ge=1)

    @field_validator("article")
    @classmethod
    def _known(cls, article: str) -> str:
        if article not in ("mug", "cup"):
            raise ValueError("is no article of the shop")
        return article


def settings(tmp_path: Path) -> dict[str, Any]:
    return {"runs": tmp_path / "runs"}


# --- a run ------------------------------------------------------------------------------------------------------------


async def test_a_goal_and_keywords_make_a_run_that_tells_what_came_of_it(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    agent = Agent(
        "Order one mug",
        url=serve({"/": SHOP}),
        output=Order,
        instructions="Never sign up",
        data={"name": "Ada"},
        allowed_hosts=["127.0.0.1"],
        expect=["Thank you, Ada", "url=http://127.0.0.1*"],
        max_steps=5,
        max_cost=0.5,
        page=page,
        settings=settings(tmp_path),
        steps=['type "Ada" into Name', "click Order", 'finish {"article": "mug", "count": 1}'],
    )
    run = await agent.run()
    assert run.ok
    assert run.output == Order(article="mug", count=1)
    assert run.answer == '{"article": "mug", "count": 1}'
    assert (run.status, len(run.steps), run.tokens, run.cost) == ("done", 3, 0, 0.0)
    assert run.folder == agent.folder
    assert run.report == agent.report
    assert run.seconds > 0
    assert run.used.startswith("3 steps in ")
    assert agent.task.limits.model_dump(include={"steps", "cost_usd"}) == {"steps": 5, "cost_usd": 0.5}
    assert run.task.instructions == agent.task.instructions == "Never sign up"
    assert agent.task.checks == (SuccessCheck(text="Thank you, Ada"), SuccessCheck(url="http://127.0.0.1*"))


async def test_a_start_page_that_may_not_be_reached_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    for keywords in ({"allowed_hosts": ["shop.example"]}, {"denied_hosts": ["127.0.0.1"]}):
        agent = Agent("Order", url="http://127.0.0.1:9/", steps=["finish"], settings={"runs": tmp_path}, **keywords)
        with pytest.raises(UsageError, match=r"was not opened: its host is"):
            await agent.run()
    with pytest.raises(UsageError, match="There is no page to begin on"):  # whether or not a model can be asked
        await Agent("Order", model="anthropic:claude-x", settings={"runs": tmp_path}).run()
    assert is_empty(tmp_path)


async def test_an_address_with_a_password_is_refused_and_not_quoted(tmp_path: Path) -> None:
    url = "http://ann:t0ps3cret@127.0.0.1:9/"
    with pytest.raises(UsageError, match="The address has a password in it") as refused:
        Agent("Order", url=url, steps=["finish"])
    agent = Agent(Task(goal="Order", start_url=url), steps=["finish"], settings={"runs": tmp_path})
    with pytest.raises(UsageError, match="The address has a password in it") as refused_later:
        await agent.run()
    assert "t0ps3cret" not in f"{refused.value}{refused_later.value}"
    assert is_empty(tmp_path)


async def test_an_answer_that_the_type_refuses_is_sent_back_with_the_reason(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    answers = ['{"article": "hat", "count": 1}', '{"article": "mug", "count": 0}', '{"article": "cup", "count": 2}']
    run = await Agent(
        "Order",
        url=serve({"/": SHOP}),
        output=Order,
        page=page,
        model=ScriptedModel([[Finish(answer=each)] for each in answers]),
        settings=settings(tmp_path),
    ).run()
    first, second, last = (step.outcomes[0] for step in run.steps)
    assert "at article: is no article of the shop" in first.sentence
    assert '"count" in the answer must be 1 or more' in second.sentence
    assert last.effect == "finished"
    assert run.output == Order(article="cup", count=2)


@dataclasses.dataclass
class Pair:
    left: int
    right: int


@pytest.mark.parametrize(
    ("output", "answer", "made"),
    [(list[int], "[1, 2]", [1, 2]), (Pair, '{"left": 1, "right": 2}', Pair(1, 2)), (str, "hello", "hello")],
)
async def test_an_answer_may_be_of_any_type_that_pydantic_reads(
    output: Any, answer: str, made: object, page: Page, serve: Server, tmp_path: Path
) -> None:
    model = ScriptedModel([[Finish(answer=answer)]])
    run = await Agent(
        "Count", url=serve({"/": SHOP}), output=output, page=page, model=model, settings=settings(tmp_path)
    ).run()
    assert run.output == made


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"article": "mug", "count": 0}', ["type at count: Input should be"]),
        ('{"article": "hat", "count": "x"}', ["type at article: is no article of", "; at count: Input"]),
        ("two mugs", ["type: Invalid JSON"]),
    ],
)
def test_all_fields_of_an_answer_that_are_wrong_are_named(answer: str, said: list[str]) -> None:
    assert [each for each in said if each not in Output(Order).fault(answer)] == []
    assert Output(list[int]).fault('["a", "b", "c", "d", "e", "f", "g"]').endswith("; and 2 more")


async def test_a_run_that_was_not_done_is_not_ok_and_has_no_output(page: Page, serve: Server, tmp_path: Path) -> None:
    model = ScriptedModel([[Finish(success=False, answer='{"article": "mug", "count": 1}')]])
    run = await Agent(
        "Order", url=serve({"/": SHOP}), output=Order, page=page, model=model, settings=settings(tmp_path)
    ).run()
    assert (run.ok, run.output) == (False, None)


async def test_a_run_read_from_its_folder_tells_where_it_is_and_what_it_cost(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    usage = Usage(input_tokens=1000, output_tokens=34, cost_usd=0.25)
    decisions = [
        Decision(actions=(Press(keys="Tab"),), author="model", model="m", usage=usage),
        Decision(actions=(Finish(),), author="model", model="m", usage=usage),
    ]
    run = await Agent(
        "Look", url=serve({"/": SHOP}), page=page, model=ScriptedModel(decisions), settings=settings(tmp_path)
    ).run()
    assert (run.tokens, run.cost) == (2068, 0.5)
    assert run.used.endswith("2,068 tokens, $0.5000")
    assert run.folder is not None
    again = read(run.folder)
    assert (again.folder, again.report, again.cost, again.ok) == (run.folder, run.report, 0.5, True)
    assert again == run.model_copy(update={"steps": again.steps})
    assert pickle.loads(pickle.dumps(run)).folder == run.folder
    unknown = run.steps[0].model_copy(update={"unused": (Usage(input_tokens=1),)})
    assert run.model_copy(update={"steps": (unknown,)}).cost is None


async def test_without_a_page_or_an_address_nothing_is_started_or_written(tmp_path: Path) -> None:
    agent = Agent("Order one mug", model=StepsModel(["finish"]), settings=settings(tmp_path))
    with pytest.raises(UsageError, match=r'There is no page to begin on \(give url="https://…"'):
        await agent.run()
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("shop.example/a?b=c:1", "https://shop.example/a?b=c:1"),
        ("shop.example:8443", "https://shop.example:8443"),
        ("localhost:8000/a", "http://localhost:8000/a"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://shop.example", "http://shop.example"),
        ("data:text/html,<p>", "data:text/html,<p>"),
        ("about:blank", "about:blank"),
    ],
)
def test_an_address_may_leave_out_what_goes_without_saying(text: str, address: str) -> None:
    assert Agent("Look", url=text).task.start_url == address


def test_the_path_of_a_file_is_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a page.html").write_text(SHOP, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert Agent("Look", url="a page.html").task.start_url == (tmp_path / "a page.html").as_uri()


# --- what is wrong is said where it was written -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"max_steps": 0}, r"max_steps=0 is not a limit: it must be 1 or more$"),
        ({"max_cost": 0}, r"max_cost=0 is not a limit: it must be more than 0$"),
        ({"max_cost": "much"}, r"max_cost='much' is not a limit: it must be a number$"),
        ({"expect": ["txt=Thank you"]}, r"expect 'txt=Thank you' does not name what to check \(begin it with url="),
        ({"expect": [{"txt": "Thank you"}]}, "is no check"),
        ({"secrets": "password"}, r'secrets=\{"password": os.environ'),
        ({"secrets": {"password": None}}, "The secret 'password' has no value"),
        ({"instructions": ["be quick"]}, "instructions cannot be a list"),
        ({"data": ["Ann"]}, r'write data=\{"name": "Ann"\}'),
        ({"files": ["none.pdf"]}, r"There is no file none\.pdf"),
        ({"allowed_hosts": [1]}, "allowed_hosts has 1, which is not a host"),
        ({"settings": {"browser": {"headles": False}}}, r"browser\.headles"),
        ({"settings": "headless"}, "settings cannot be a str"),
        ({"output": lambda: None}, "cannot be an answer: it is not a type"),
        ({"output": Order(article="mug", count=1)}, r"output=Order cannot be an answer: it is not a type"),
        ({"steps": ["clik Order"]}, "'clik', which is not a known word"),
        ({"steps": "# only a note"}, "steps has no line"),
        ({"steps": "lines.txt"}, r"looks like the name of a file .*steps=Path\('lines.txt'\).read_text\(\)"),
        (
            {"steps": ['type "<secret:pin>" into PIN']},
            r"name the secret pin, which was not given \(give it with --secret",
        ),
        (
            {"steps": ['type "Mr <private:name>" into Name'], "secrets": {"name": "Ann"}},
            r'type <private:name>, .* \(to type it, write "<secret:name>"\)',
        ),
        ({"steps": "finish", "model": "human"}, "steps was given together with a model"),
        (
            {"steps": ['type "<secret:pin>" into PIN'], "secrets": {"pin": "4711"}, "url": "file:///page.html"},
            r"The secret pin can be typed on no page: .* a file has none \(serve the page",
        ),
        ({"url": 8000}, "url cannot be a int"),
        ({"approver": len}, r"approver=len is a function .give approver=Answers\(len\)"),
        ({"actions": [len]}, "len cannot be an action"),
        ({"max_cost": True}, "max_cost=True is not a limit: it must be a number"),
        ({"expect": 3}, r"expect cannot be a int \(write expect=\[\"Thank you\"\]\)"),
        ({"allowed_hosts": 1}, r"allowed_hosts cannot be a int \(write allowed_hosts=\[\"shop.example\"\]\)"),
        ({"files": 3}, r"files cannot be a int"),
        ({"files": [3]}, r"files has 3, which is not the path of a file"),
        ({"steps": 3}, r"steps cannot be a int \(write steps=\[\"click Order\", \"finish\"\]\)"),
        ({"steps": [3]}, "steps has 3, which is no step line"),
        ({"steps": Path("lines.txt")}, r"steps takes lines, not a file"),
        ({"output": {"article": str}}, "output=dict cannot be an answer: it is not a type"),
        ({"on_event": "print"}, "on_event cannot be a str"),
        ({"person": "Ann"}, "person cannot be a str"),
        ({"approver": True}, r"approver cannot be a bool \(give approver=Answers"),
        ({"on_event": asyncio.sleep}, r"on_event cannot be async: nothing awaits it \(define it with def\)"),
        ({"secrets": {"pin": ""}}, "The value of secret 'pin' has 0 characters"),
        ({"secrets": {"my pin": "4711"}}, "The secret name 'my pin' does not fit"),
    ],
)
def test_a_wrong_keyword_is_refused_with_its_name(keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Agent("Order", **{"url": "shop.example", **keywords})


def test_the_start_page_may_be_a_path(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.touch()
    assert Agent("Order", url=page).task.start_url == page.as_uri()


@pytest.mark.parametrize("task", ["", "  ", None, ["Order"]])
def test_a_goal_is_words(task: Any) -> None:
    with pytest.raises(UsageError, match=r"give (one|a goal) in words"):
        Agent(task)


def test_a_task_has_a_field_for_each_keyword_which_is_named() -> None:
    task = Task(goal="Order")
    for keyword, field in {"url": "start_url", "expect": "checks", "max_steps": r"limits\.steps"}.items():
        with pytest.raises(UsageError, match=rf"{keyword} was given together with a Task, which has {field}"):
            Agent(task, **{keyword: "1"})
    assert Agent(task, output=Order).task.answer_schema == Order.model_json_schema()
    with pytest.raises(UsageError, match="leave one of them out"):
        Agent(Task(goal="Order", answer_schema={"type": "object"}), output=Order)
    assert Agent(Task(goal="Order", limits=Limits(steps=3))).task.limits.steps == 3


def test_one_word_stands_for_a_list_of_one() -> None:
    task = Agent("Order", url="shop.example", allowed_hosts="shop.example", expect="Thank you").task
    assert (task.allowed_hosts, task.checks) == (("shop.example",), (SuccessCheck(text="Thank you"),))


def test_settings_may_be_a_dict_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISION_AGENT_BROWSER__LOCALE", "de-DE")
    made = Agent("Look", url="shop.example", settings={"browser": {"headless": False}}).settings
    assert (made.browser.headless, made.browser.locale) == (False, "de-DE")


def test_the_package_tells_what_it_has() -> None:
    assert {each for each in dir(vision_agent) if not each.startswith("__")} == set(vision_agent.__all__)


# --- secrets ----------------------------------------------------------------------------------------------------------

ECHO = f"""<title>You typed {VALUE}</title><h1>Zebra47Quokka</h1><label>Password <input type=password></label>
<button title="{VALUE}">Show {VALUE}</button><p>{VALUE}"""


async def test_the_value_of_a_secret_is_in_nothing_that_is_printed_logged_or_recorded(
    page: Page, serve: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="vision_agent")
    agent = Agent(
        f"Log in with {VALUE}",
        url=serve({"/": ECHO, "/favicon.ico": b""}),
        secrets={"password": VALUE},
        page=page,
        settings=settings(tmp_path),
        model=ScriptedModel(
            [
                Decision(next_goal=f"Press {VALUE}", actions=(Click(target=2),), author="scripted"),
                Decision(actions=(Type(target=1, text="<secret:password>"),), author="scripted"),
                [Finish(answer=f"It is {VALUE}")],
            ]
        ),
    )
    run = await agent.run()
    assert run.answer == f"It is {VALUE}"  # the caller's own values are as they were
    assert run.folder is not None
    assert [each for each in run.steps if VALUE in each.observation.title] != []
    shown = [repr(agent), repr(agent.task), *_everything_shown(run), *_everything_shown(read(run.folder))]
    assert [each for each in shown if VALUE in each] == []
    assert "<secret:password>" in repr(run)
    assert [each for each in caplog.messages if VALUE in each] == []
    assert "Press <secret:password>" in caplog.text
    files = [each for each in run.folder.rglob("*") if each.is_file()]
    assert [each for each in files if VALUE.encode() in each.read_bytes()] == []


def _everything_shown(run: Run) -> list[str]:
    parts: list[Any] = [run, run.task, run.ending, *run.steps]
    for step in run.steps:
        parts += [step.observation, step.decision, *step.outcomes, *step.observation.marks]
    html = [each._repr_html_() for each in parts if hasattr(each, "_repr_html_")]
    return [*map(repr, parts), *map(str, parts), *html]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Agent("Log in", url="shop.example", secrets={"password": [VALUE]}),  # type: ignore[dict-item]
        lambda: Agent("Log in", url="shop.example", secrets=[VALUE]),  # type: ignore[list-item]
        lambda: Task(goal="Log in", secrets={"password": VALUE}),  # type: ignore[arg-type]
        lambda: Task(goal="Log in", secrets=[{"name": "password", "value": [VALUE]}]),  # type: ignore[list-item]
        lambda: Secret(name="password", value=[VALUE]),  # type: ignore[arg-type]
        lambda: Secret(name="password", valeu=VALUE),  # type: ignore[call-arg]
    ],
)
def test_no_error_quotes_the_value_of_a_secret(made: Callable[[], object]) -> None:
    with pytest.raises((UsageError, ValidationError)) as caught:
        made()
    assert VALUE not in str(caught.value) + repr(caught.value)


def test_a_secret_may_say_where_it_is_typed() -> None:
    own = Secret(value=SecretStr(VALUE), origins=("https://pay.example",))
    given = Agent("Pay", url="shop.example", secrets={"pin": own, "password": SecretStr(VALUE)}).task.secrets
    assert [(each.name, each.origins) for each in given] == [("pin", ("https://pay.example",)), ("password", ())]


@pytest.mark.parametrize(
    ("secrets", "words"),
    [
        ({"code": Secret(name="pin", value=SecretStr(VALUE))}, r"'code' has another name, 'pin' \(leave out name="),
        ([Secret(value=SecretStr(VALUE))], r"A secret has no name \(write secrets="),
    ],
)
def test_a_secret_has_one_name(secrets: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Agent("Pay", url="shop.example", secrets=secrets)
    with pytest.raises(ValidationError, match="a secret has no name"):
        Task(goal="Pay", secrets=(Secret(value=SecretStr(VALUE)),))


# --- what is shown ----------------------------------------------------------------------------------------------------

HOSTILE = "<img src=x onerror=document.title=1>\"'`$\\href{javascript:alert(1)}{x}$\u202e"


async def test_what_a_notebook_shows_is_short_and_page_text_in_it_is_text(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    escaped = HOSTILE.replace("<", "&lt;").replace('"', "&quot;")
    site = serve({"/": f'<title>{escaped}</title><button onclick="document.title += 1">{escaped}</button>'})
    agent = Agent(
        HOSTILE,
        url=site,
        page=page,
        settings=settings(tmp_path),
        model=ScriptedModel(
            [Decision(next_goal=HOSTILE, actions=(Click(target=1),), author="scripted"), [Finish(answer=HOSTILE)]]
        ),
    )
    run = await agent.run()
    step, outcome = run.steps[0], run.steps[0].outcomes[0]
    assert HOSTILE in outcome.sentence or "<img" in outcome.sentence
    shown = page.context
    for each in (run, step, outcome):
        assert len(repr(each)) < 600
        html = each._repr_html_()
        tab = await shown.new_page()
        await tab.set_content(html)
        assert await tab.locator("script, a, iframe, img:not([src^='data:image/'])").count() == 0
        assert "<img src=x onerror=document.title=1>" in await tab.locator("body").inner_text()
        assert "\u202e" not in html
        assert await tab.locator("body > .tex2jax_ignore.mathjax_ignore").count() == 1
        assert await tab.title() == ""
        await tab.close()
    assert len(repr(step.observation)) < 600
    assert "data:image/png;base64," in run._repr_html_()
    assert "data:image/png;base64," in step._repr_html_()
    assert run.folder is not None
    assert "data:image" not in read(run.folder)._repr_html_()  # the bytes of its pictures are not loaded


def test_an_outcome_tells_in_words_whether_it_was_done() -> None:
    refused = Outcome(status="refused", refusal="covered", sentence="[3] is covered.")
    assert repr(refused) == "Outcome(status='refused', refusal='covered', sentence='[3] is covered.')"
    assert "✗ covered" in refused._repr_html_()
    assert "◐ no effect" in Outcome(status="done", effect="no_effect", sentence="Nothing.")._repr_html_()


# --- logging ----------------------------------------------------------------------------------------------------------


async def test_a_run_logs_one_line_for_each_step_and_its_record_hash(
    page: Page, serve: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="vision_agent")
    lines = ['type "Ada\\nINFO forged" into Name', "click Order", "finish ordered"]
    agent = Agent("Order", url=serve({"/": SHOP}), page=page, model=StepsModel(lines), settings=settings(tmp_path))
    run = await agent.run()
    records = [each for each in caplog.records if each.name == "vision_agent"]
    assert [each.getMessage().partition(":")[0] for each in records] == [
        f"run {run.id} started",
        "step 1",
        "step 2",
        "step 3",
        f"run {run.id} done",
    ]
    assert {each.levelname for each in records} == {"INFO"}
    assert records[2].getMessage().startswith("step 2: click Order: changed (")
    assert "ordered (3 steps, " in records[-1].getMessage()
    assert all("\n" not in each.getMessage() for each in records)
    assert vars(records[-1])["head"] == agent.head
    assert [vars(each)["step"] for each in records] == [0, 1, 2, 3, 0]


async def test_an_error_that_ends_a_run_is_logged_as_one(
    page: Page, closed_port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="vision_agent")
    agent = Agent(
        "Look", url=f"127.0.0.1:{closed_port}", page=page, model=StepsModel(["finish"]), settings=settings(tmp_path)
    )
    with pytest.raises(vision_agent.VisionAgentError):
        await agent.run()
    assert [each.levelname for each in caplog.records if "unavailable" in each.getMessage()] == ["ERROR"]


async def test_progress_is_shown_where_it_is_asked_for(
    page: Page, serve: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for progress in (True, None, False):
        model = StepsModel(["click Order", "finish"])
        await Agent(
            "Order", url=serve({"/": SHOP}), page=page, model=model, settings=settings(tmp_path), progress=progress
        ).run()
        out, err = capsys.readouterr()
        assert out == ""
        assert ("✓ click Order" in err) is (progress is True)


# --- step lines by hand -----------------------------------------------------------------------------------------------

LISTS = """<title>Lists</title><button onclick="document.title += ' saved'">Save</button>
<p>Ann <button onclick="document.title += ' ann'">Delete</button></p>
<p>Bob <button onclick="document.title += ' bob'">Delete</button></p><label>Name <input></label>
<div style="height: 3000px"></div><button onclick="document.title += ' end'">Accept all</button>"""


async def test_a_step_line_does_what_the_action_does_that_it_stands_for(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": LISTS}))
    async with attach(page) as browser:
        by_line = await browser.do("click Save")
        seen = await browser.observe()
        [save] = [mark.number for mark in seen.marks if mark.name == "Save"]
        by_hand = await browser.act(Click(target=save), seen)
        assert (by_line.status, by_line.effect, by_line.rung) == (by_hand.status, by_hand.effect, by_hand.rung)
        assert by_line.sentence == by_hand.sentence.replace("saved saved", "saved")
        assert (await browser.do('type "Ann" into Name')).value == "Ann"
        assert (await browser.do(f"click [{save}]")).status == "done"
        assert (await browser.do("click Delete ‹Bob›")).status == "done"
        assert (await browser.do("click Accept all")).status == "done"  # it is out of view
        assert await page.title() == "Lists saved saved saved bob end"


async def test_a_line_done_twice_does_not_take_a_longer_name_for_what_it_removed(page: Page) -> None:
    chip = "<p>{} <button aria-label=Hide onclick=\"document.title += '{}'; parentNode.remove()\">x</button></p>"
    await page.set_content("".join(chip.format(name, name) for name in ("red", "red wine", "blue")))
    async with attach(page) as browser:
        assert (await browser.do("click Hide ‹red›")).status == "done"
        again = await browser.do("click Hide ‹red›")
        assert "was here at an earlier look and is not now" in again.sentence
        assert await page.title() == "red"
        assert (await browser.do("click Hide ‹red wine›")).status == "done"


async def test_a_look_may_be_at_one_thing_only(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": LISTS}))
    async with attach(page) as browser:
        everything = await browser.observe()
        by_name = await browser.observe("Save")
        assert [mark.name for mark in by_name.marks] == ["Save"]
        number = by_name.marks[0].number
        assert everything.mark(number) is not None
        await browser.observe()
        assert [mark.number for mark in (await browser.observe(number)).marks] == [number]
        with pytest.raises(UsageError, match="Only a surface is looked at in tiles"):
            await browser.observe("Save", tile=2)
        with pytest.raises(UsageError, match="Delete"):
            await browser.observe("Delete")
    only = await observe(page, scope="Save")
    assert [mark.name for mark in only.marks] == ["Save"]


@pytest.mark.parametrize("kind", [Agent, sync_api.Agent])
def test_a_keyword_that_an_agent_does_not_have_is_answered_with_the_one_that_is_meant(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"^Agent has no keyword 'step'; did you mean 'steps'\?"):
        kind("Order", step=["click Order"])
    with pytest.raises(TypeError, match=r"^Agent has no keyword 'colour'; there are task, url, output,"):
        kind("Order", colour="red")
    for field, keyword in (("start_url", "url"), ("user_data", "data"), ("checks", "expect")):
        with pytest.raises(TypeError, match=f"^Agent has no keyword '{field}'; did you mean '{keyword}'"):
            kind("Order", **{field: "shop.example"})
    with pytest.raises(TypeError, match=r'^Agent takes only the goal without a keyword; write Agent\("Order'):
        kind("Order", "shop.example")


def test_in_the_sync_api_what_approves_is_a_function() -> None:
    with pytest.raises(UsageError, match=r"approve cannot be a bool \(give a function that returns True or False\)"):
        sync_api.Agent("Order", url="shop.example", approve=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "keywords",
    [
        {"model": "antropic:claude-x"},
        {"settings": {"model": {"name": "antropic:claude-x"}}},
        {"model": "human", "settings": {"model": {"fallback": "antropic:claude-x"}}},
    ],
)
def test_an_unknown_model_is_refused_when_the_agent_is_made(keywords: Any) -> None:
    with pytest.raises(UsageError, match=r"Unknown model 'antropic:claude-x' \(did you mean anthropic:claude-x\?"):
        Agent("Order", url="shop.example", **keywords)


async def test_a_browser_whose_block_has_ended_does_nothing(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": LISTS}))
    async with attach(page) as browser:
        seen = await browser.observe()
    for call in (
        lambda: browser.do("click Save"),
        lambda: browser.act(Click(target=1), seen),
        lambda: browser.observe(),
        lambda: browser.open(page.url),
    ):
        with pytest.raises(UsageError, match=r"no longer attached: its `with attach\(page\)` block has ended"):
            await call()
    assert await page.title() == "Lists"


AT_ONCE = """<title>At once</title><table>{rows}</table><label>One <input id=one></label>
<label>Two <input id=two></label><button onclick="fetch('/asked').then(() => told.value += 'answered ')">Ask</button>
<p>Pressed: <output id=told></output>"""
DELETES = "".join(
    f"<tr><td>{name}<td><button onclick=\"told.value += '{name} '\">Delete</button>" for name in ("Ann", "Bob", "Cid")
)


async def test_calls_that_are_made_at_once_are_carried_out_one_after_the_other(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": AT_ONCE.format(rows=DELETES)}))
    done: list[str] = []
    async with attach(page, on_step=lambda step: done.append(step.decision.actions[0].kind)) as browser:
        seen, *outcomes = await asyncio.gather(
            browser.observe(),
            browser.do('type "alpha beta" into One'),
            browser.do("click Delete in row Bob"),
            browser.do('type "gamma delta" into Two'),
            browser.do("click Delete in row Ann"),
        )
    assert isinstance(seen, Observation)
    assert [each.status for each in outcomes] == ["done"] * 4, [each.sentence for each in outcomes]
    assert done == ["type", "click", "type", "click"]
    assert await page.evaluate("[one.value, two.value, told.value]") == ["alpha beta", "gamma delta", "Bob Ann "]


async def test_a_call_that_is_cancelled_while_it_waits_for_its_turn_does_nothing(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": AT_ONCE.format(rows=DELETES)}))
    async with attach(page) as browser:
        first, second, third = (
            asyncio.create_task(browser.do(line))
            for line in ('type "alpha" into One', "click Delete in row Bob", "click Delete in row Cid")
        )
        await asyncio.sleep(0)  # each has asked for its turn
        second.cancel()
        assert [(await each).status for each in (first, third)] == ["done", "done"]
        with pytest.raises(asyncio.CancelledError):
            await second
    assert await page.evaluate("told.value") == "Cid "


async def test_a_call_that_waits_when_the_block_ends_is_not_made(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": AT_ONCE.format(rows=DELETES)}))
    async with attach(page) as browser:
        first = asyncio.create_task(browser.do('type "alpha" into One'))
        second = asyncio.create_task(browser.do("click Delete in row Bob"))
        await asyncio.sleep(0)
        first.cancel()
    with pytest.raises(UsageError, match="block has ended"):
        await second
    assert await page.evaluate("told.value") == ""


async def test_a_handler_of_the_owner_may_call_while_a_call_waits_for_what_it_asks(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": AT_ONCE.format(rows=DELETES)}))
    async with attach(page) as browser:

        async def answer(route: Route) -> None:
            await browser.do("click Delete in row Bob")
            await route.fulfill(body="yes")

        await page.route("**/asked", answer)
        assert (await browser.do("click Ask")).status == "done"
        assert (await browser.do("click Delete in row Cid")).status == "done"
        await expect(page.locator("#told")).to_contain_text("answered")
        assert set((await page.locator("#told").inner_text()).split()) == {"Bob", "Cid", "answered"}


async def test_a_call_from_within_another_one_is_refused_and_does_not_hang(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": AT_ONCE.format(rows=DELETES)}))
    said: list[str] = []

    def call_again(_: Step) -> None:
        try:
            browser.do("click Delete in row Bob").send(None)
        except UsageError as error:
            said.append(str(error))

    async with attach(page, on_step=call_again) as browser:
        assert (await browser.do("click Delete in row Cid")).status == "done"
    [refusal] = said
    assert refusal.startswith("A call on this page was made from within another one, which would wait for itself")
    assert await page.evaluate("told.value") == "Cid "


def test_attach_that_was_not_entered_says_how_it_is_entered() -> None:
    page: Any = None
    with pytest.raises(AttributeError, match=r"`async with attach\(page\) as browser:`, then `await browser\.do\(…\)`"):
        attach(page).do  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"`with attach\(page\) as browser:`, then `browser\.do\(…\)`"):
        sync_api.attach(page).do  # type: ignore[attr-defined]  # noqa: B018


async def test_a_step_line_without_one_target_is_refused_and_names_what_there_is(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": LISTS.replace("3000px", "1px")}))
    async with attach(page) as browser:
        several = await browser.do("click Delete")
        nothing = await browser.do("click Cancel within 1 s")
    assert (several.status, several.refusal) == ("refused", "ambiguous")
    assert several.sentence.startswith("'click Delete' could not be carried out: 'Delete' could be any of")
    assert (nothing.status, nothing.refusal) == ("refused", "unknown_mark")
    assert "Nothing here is called 'Cancel'" in nothing.sentence
    assert await page.title() == "Lists"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("clik Save", r"^'clik Save': it begins with 'clik', which is not a known word; lines with 'click' look like"),
        ("", r"The step line for do\(\) is empty"),
        (" \n", r"The step line for do\(\) is empty"),
        ("click Save\nclick Save", "one step line, not 2"),
        ("finish", "'finish' is for runs"),
        ("ask Which?", "is for runs"),
        (Click(target=1), r'write do\("click Accept all"\)'),
    ],
)
async def test_what_is_no_step_line_is_answered_with_what_to_write(
    line: Any, words: str, page: Page, serve: Server
) -> None:
    await page.goto(serve({"/": LISTS}))
    async with attach(page) as browser:
        with pytest.raises(UsageError, match=words):
            await browser.do(line)
    assert await page.title() == "Lists"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("click 2",), r"write do\('click 2'\), or an action such as act\(Click\(target=2\)\)"),
        ((2,), r"write act\(Click\(target=2\)\)"),
        ((Click,), r"write Click\(…\)"),
        (({"kind": "click", "target": 2},), "not a dict"),
        ((Click(target=1),), "Nothing has been observed yet"),
        ((Click(target=1), "seen"), "needs an observation, not a str"),
    ],
)
async def test_what_is_no_action_is_answered_with_what_to_write(
    arguments: tuple[Any, ...], words: str, page: Page, serve: Server
) -> None:
    await page.goto(serve({"/": LISTS}))
    async with attach(page, {"observe": {"ids": "letters"}}) as browser:
        with pytest.raises(UsageError, match=words):
            await browser.act(*arguments)
        assert {mark.letter for mark in (await browser.observe()).marks} == {"B", "I"}
        assert (await browser.act(Click(target=1))).status == "done"  # of the latest observation
    assert await page.title() == "Lists saved"


def test_settings_can_still_be_made_first(tmp_path: Path) -> None:
    assert Agent("Look", url="shop.example", settings=Settings(runs=tmp_path)).settings.runs == tmp_path
