"""What the tests of deciders look at: small observations made by hand, one good default for everything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr

from vision_agent.actions import Action, Click, Point, Type
from vision_agent.geometry import Box, PageMap, Size
from vision_agent.observation import Mark, MarkState, Observation, Shot, Tab
from vision_agent.ports import Model
from vision_agent.record.redact import Redactor
from vision_agent.types import Decision, Message, Outcome, Secret, Step, Task

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def mark(number: int, name: str, kind: Any = "button", role: str = "", tag: str = "", **more: Any) -> Mark:
    """A mark; its box is a row of its own."""
    role = role or {"field": "textbox", "toggle": "checkbox"}.get(kind, kind)
    tag = tag or {"field": "input", "link": "a", "surface": "canvas", "scroller": "div"}.get(kind, "button")
    box = more.pop("box", Box(x=100, y=20 * number, width=200, height=10))
    return Mark(number=number, tag=tag, role=role, kind=kind, name=name, box=box, point=box.center, **more)


def shot(data: bytes = PIXEL, size: tuple[int, int] = (640, 400), scale: float = 1.0) -> Shot:
    return Shot(
        media_type="image/png",
        size=Size(width=size[0], height=size[1]),
        sha256=hashlib.sha256(data).hexdigest(),
        map=PageMap(scale_x=scale, scale_y=scale),
        data=data,
    )


def seen(*marks: Mark, **more: Any) -> Observation:
    """A page with these marks; without any, a small sign-in form."""
    if not marks:
        marks = (mark(3, "Email", "field"), mark(4, "Password", "field"), mark(12, "Sign in"))
    given: dict[str, Any] = {
        "id": "o1",
        "epoch": 1,
        "url": "http://shop.test/login",
        "title": "Sign in",
        "taken_at": AT,
        "viewport": Size(width=640, height=400),
        "tabs": (Tab(number=1, url="http://shop.test/login", title="Sign in", active=True),),
        "marks": marks,
        "listing": "\n".join(f"{each.number}[:]<{each.tag}>{each.name}" for each in marks),
        "clean": shot(),
        "marked": shot(),
    }
    return Observation(**{**given, **more})


def step(index: int, *actions: Action, outcome: Outcome | None = None, **more: Any) -> Step:
    """A finished step, one minute after the one before."""
    actions = actions or (Click(target=12),)
    outcome = outcome or Outcome(status="done", effect="changed", sentence='clicked mark 12 (button "Sign in")')
    given: dict[str, Any] = {
        "judgement": "success",
        "next_goal": f"goal {index}",
        "author": "model",
        "actions": actions,
    }
    return Step(
        index=index,
        observation=more.pop("observation", seen()),
        decision=Decision(**{**given, **more}),
        outcomes=(outcome,) * len(actions),
        started_at=AT + timedelta(minutes=index),
    )


def refused(sentence: str = "mark 12 is covered", refusal: Any = "covered") -> Outcome:
    return Outcome(status="refused", refusal=refusal, sentence=sentence)


def select(number: int, name: str, *options: str) -> Mark:
    return mark(number, name, "field", role="combobox", tag="select", state=MarkState(options=options))


def unchanged(text: str) -> str:
    """The redaction of a run without secrets."""
    return text


def point(x: float, y: float) -> Point:
    return Point(x=x, y=y)


async def decide_with_a_secret(make: Callable[..., Model]) -> tuple[bytes, list[bytes]]:
    """Asks a model about a task, a page, a step and a complaint that all hold a secret.

    Returns the secret, and the requests that the model gave to be kept.
    """
    value = "hunter2-is-secret"
    secret = Secret(name="password", value=SecretStr(value), origins=("shop.test",))
    task = Task(
        goal=f"Use {value}.",
        secrets=(secret,),
        user_data={"note": value},
        messages=(Message(text=f"it is {value}", at=AT),),
    )
    page = seen(
        url=f"http://shop.test/?p={value}", title=value, listing=f"3[:]<input>{value}", warnings=(f"saw {value}",)
    )
    told = step(0, Type(target=3, text=value), memory=value, outcome=refused(f"could not type {value}"))
    kept: list[bytes] = []
    model = make(redact=Redactor((secret,)), keep_request=lambda request: kept.append(request) or "")  # type: ignore[func-returns-value]
    await model.decide(task, (told,), page, complaint=f"no {value}")
    return value.encode(), kept
