"""Claims about captchas and logins: noticed without asking anybody, handed to a person, and never touched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from vision_agent.actions import Action, Cell, Click, Finish, Point, Type
from vision_agent.agent import Loop
from vision_agent.browser.fake import FakeBrowser
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Mark, MarkState, Observation, Shot
from vision_agent.policy.blockers import blockers_in, touched_captcha
from vision_agent.record.store import RunInMemory
from vision_agent.types import Decision, Run, Secret, Task

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
SHOT = Shot(media_type="image/png", size=Size(width=640, height=400), sha256="0" * 64, data=b"")
CHALLENGE = "https://newassets.hcaptcha.com/captcha/v1/abc/static/hcaptcha.html"


def page(*, beside: int = 9, address: str = CHALLENGE, **first: Any) -> Observation:
    """A page with a checkbox in a frame, and so many buttons of its own."""
    marks = [
        Mark(
            number=number, tag="button", role="button", kind="button", name=f"b{number}",
            box=Box(x=0, y=20.0 * number, width=90, height=18), point=Point(x=4, y=20.0 * number + 4),
        ).model_copy(update={"frame": "1"} if number == 0 else first if number == 1 else {})
        for number in range(beside + 1)
    ]  # fmt: skip
    return Observation(
        id="o", epoch=1, url="http://shop.test/", title="", taken_at=NOW, viewport=Size(width=640, height=400),
        marks=tuple(marks), listing="", clean=SHOT, marked=SHOT, frames={"1": address},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "by"),
    [
        (CHALLENGE, "hCaptcha"),
        ("https://www.google.com/recaptcha/api2/anchor?ar=1&size=normal", "reCAPTCHA"),
        ("https://www.recaptcha.net/recaptcha/enterprise/bframe?hl=en", "reCAPTCHA"),
        ("https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/b/turnstile", "Turnstile"),
        ("https://client-api.arkoselabs.com/fc/gc/", "Arkose"),
        ("https://geo.captcha-delivery.com/captcha/", "DataDome"),
        ("https://www.google.com/recaptcha/api2/anchor?ar=1&size=invisible", None),
        ("https://www.google.com/maps/embed", None),
        ("https://hcaptcha.com.evil.test/captcha", None),
    ],
)
def test_a_captcha_is_known_by_where_its_frame_comes_from(address: str, by: str | None) -> None:
    assert [wall.by for wall in blockers_in(Task(goal="Buy"), page(address=address))] == ([by] if by else [])


def test_a_login_is_a_wall_only_where_the_task_has_no_secret() -> None:
    seen = page(address="", state=MarkState(input_type="password"))
    assert [wall.kind for wall in blockers_in(Task(goal="Buy"), seen)] == ["login"]
    known = Task(goal="Buy", secrets=(Secret(name="pass", value=SecretStr("hunter2")),))
    assert not blockers_in(known, seen)


@pytest.mark.parametrize(
    ("action", "is_guarded"),
    [
        (Click(target=0), True),
        (Click(target=Point(x=10, y=9)), True),
        (Type(target=0, text="xK7"), True),
        (Click(target=Cell(mark=0, row=1, column=1)), True),
        (Click(target=1), False),
        (Click(target=Point(x=300, y=300)), False),
        (Finish(), False),
    ],
)
def test_nothing_in_the_frame_of_a_captcha_is_touched(action: Action, is_guarded: bool) -> None:
    assert (touched_captcha(action, page()) is not None) is is_guarded


INLINE = {"kind": "toggle", "tag": "input", "role": "checkbox"}


@pytest.mark.parametrize(
    ("first", "by"),
    [
        ({**INLINE, "name": "Remember me", "evidence": ("role=checkbox", "captcha: ALTCHA")}, "ALTCHA"),
        ({**INLINE, "name": "I'm not a robot"}, ""),
        ({**INLINE, "name": "Ich bin kein Roboter"}, ""),
        ({"name": "Verify you are human"}, ""),
        ({"kind": "field", "name": "Captcha"}, ""),
        ({"kind": "field", "name": "Please enter the CAPTCHA code:"}, ""),
        ({"kind": "field", "name": "Enter the characters you see in the picture"}, ""),
        ({"kind": "field", "name": "reCAPTCHA site key"}, None),
        ({"kind": "field", "name": "Search for captcha"}, None),
        ({"kind": "field", "name": "Type the text shown in this image:"}, ""),
        ({"kind": "field", "name": "Enter the code shown in your app"}, None),
        ({"kind": "field", "name": "Write alternative text for the image"}, None),
        ({**INLINE, "name": "Enable CAPTCHA for comments"}, None),
        ({"kind": "link", "name": "Why must I verify that I am human?"}, None),
        ({"kind": "link", "name": "I'm not a robot: a novel"}, None),
    ],
)
async def test_a_captcha_in_the_page_itself_is_known_by_its_element_or_its_name_and_not_touched(
    first: dict[str, Any], by: str | None
) -> None:
    seen = page(address="http://shop.test/frame", **first)
    assert [(wall.by, wall.marks) for wall in blockers_in(Task(goal="Buy"), seen)] == (
        [] if by is None else [(by, (1,))]
    )
    running, browser, _ = loop(seen, [[Click(target=1)], [Finish()]])
    run = await running.run()
    assert [act.kind for act in browser.acts] == (["click"] if by is None else [])
    assert run.ending is not None
    assert run.ending.exit_code == (0 if by is None else 4)
    assert touched_captcha(Click(target=2), seen) is None


def walled(*actions: Action, wall: str = "captcha") -> Decision:
    return Decision.model_validate({"author": "model", "wall": wall, "actions": actions})


@pytest.mark.parametrize(
    ("wall", "sentence"),
    [("captcha", "http://shop.test/ shows a captcha."), ("login", "http://shop.test/ asks for a login.")],
)
async def test_what_only_the_model_sees_is_handed_to_a_person_and_nothing_is_tried(wall: str, sentence: str) -> None:
    running, browser, _ = loop(page(address=""), [walled(Click(target=1), Click(target=2), wall=wall)])
    run = await running.run()
    assert not browser.acts
    assert [outcome.refusal for outcome in run.steps[0].outcomes] == ["needs_person", "not_reached"]
    assert run.ending is not None
    assert run.ending.exit_code == 4
    assert sentence in run.ending.sentence


async def test_after_a_person_has_passed_what_the_model_saw_it_looks_again() -> None:
    async def person(question: str) -> str:
        return "done"

    script = [walled(Click(target=1), Click(target=2)), [Click(target=3)], [Finish(answer="42")]]
    running, browser, _ = loop(page(address=""), script, person=person)
    run = await running.run()
    assert browser.acts == [Click(target=3)]
    assert [outcome.status for outcome in run.steps[0].outcomes] == ["done", "refused"]
    assert "a person was asked first" in run.steps[0].outcomes[1].sentence
    # A record of it is no record of a click: nothing is done again.
    assert run.steps[0].carried_out == ()
    assert run.ending is not None
    assert run.ending.answer == "42"


async def test_a_wall_that_is_in_nobodys_way_any_more_does_not_keep_a_run_from_its_end() -> None:
    running, _, _ = loop(page(address=""), [walled(Finish(answer="42"))])
    run = await running.run()
    assert run.ending is not None
    assert run.ending.status == "done"


def loop(seen: Observation, script: list[Any], **more: Any) -> tuple[Loop, FakeBrowser, ScriptedModel]:
    browser, model = FakeBrowser([seen]), ScriptedModel(script)
    run = Run(id="r1", task=Task(goal="Buy"), started_at=NOW)
    return Loop(run, browser, model, RunInMemory(), **more), browser, model


@pytest.mark.parametrize(
    "seen",
    [
        page(beside=2, kind="field"),
        page(beside=2).model_copy(update={"region": Box(x=0, y=0, width=90, height=60)}),
        page(beside=4),
    ],
)
def test_a_form_a_closer_look_and_a_page_with_more_on_it_are_not_nothing_but_a_captcha(seen: Observation) -> None:
    assert [wall.is_whole for wall in blockers_in(Task(goal="Buy"), seen)] == [False]


async def test_with_nobody_to_pass_it_the_run_ends_for_a_person() -> None:
    running, browser, _ = loop(page(), [[Click(target=0)]])
    run = await running.run()
    assert not browser.acts
    assert run.ending is not None
    assert run.ending.exit_code == 4
    assert "shows a captcha (hCaptcha)" in run.ending.sentence


async def test_a_person_passes_it_and_the_run_goes_on() -> None:
    asked: list[str] = []

    async def person(question: str) -> str:
        asked.append(question)
        return "done"

    running, browser, _ = loop(page(), [[Click(target=0)], [Finish(answer="42")]], person=person)
    run = await running.run()
    assert asked == ["http://shop.test/ shows a captcha (hCaptcha). Solve it in the browser, then answer here."]
    assert not browser.acts
    assert run.ending is not None
    assert run.ending.answer == "42"


async def test_a_page_that_is_nothing_but_a_captcha_is_handed_over_without_asking_a_model() -> None:
    running, browser, model = loop(page(beside=1), [])
    run = await running.run()
    assert [act.kind for act in browser.acts] == ["wait"]
    assert [step.decision.author for step in run.steps] == ["loop", "loop"]
    assert not model.complaints
    assert run.ending is not None
    assert run.ending.status == "needs_person"


async def test_once_a_person_has_passed_it_whoever_decides_has_the_next_word() -> None:
    async def person(question: str) -> str:
        return "done"

    running, _, model = loop(page(beside=1), [[Finish(answer="42")]], person=person)
    run = await running.run()
    assert [step.decision.author for step in run.steps] == ["loop", "loop", "scripted"]
    assert len(model.complaints) == 1


async def test_what_a_task_begins_with_is_done_after_a_captcha_too() -> None:
    async def person(question: str) -> str:
        return "done"

    running, browser, _ = loop(page(beside=1), [[Finish()]], person=person)
    task = running.record.task.model_copy(update={"actions": (Click(target=1),)})
    running = Loop(
        running.record.model_copy(update={"task": task}),
        browser,
        ScriptedModel([[Finish()]]),
        RunInMemory(),
        person=person,
    )
    await running.run()
    assert [act.kind for act in browser.acts] == ["wait", "click"]


async def test_a_person_who_decides_may_touch_it() -> None:
    by_hand = Decision(author="human", actions=(Click(target=0),))
    running, browser, _ = loop(page(), [by_hand, [Finish()]])
    await running.run()
    assert [act.kind for act in browser.acts] == ["click"]
