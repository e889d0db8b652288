"""What only a person can pass: captchas, and logins that the task has no secret for. Noticed, and never solved.

Told from what was seen: captchas by the addresses of their frames, which their makers document, and logins by a
password field. No request is made and no model is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from vision_agent.actions import Action, Cell, Point, Target, targets_of
from vision_agent.types import Mark, Observation, Task

_CAPTCHAS = {
    "reCAPTCHA": r"(?:www\.)?(?:google\.com|recaptcha\.net)/recaptcha/(?:api2|enterprise)/(?:anchor|bframe)",
    "hCaptcha": r"[\w.-]+\.hcaptcha\.com/",
    "Turnstile": r"challenges\.cloudflare\.com/",
    "Arkose": r"[\w.-]+\.(?:arkoselabs|funcaptcha)\.com/",
    "GeeTest": r"[\w.-]+\.geetest\.com/",
    "DataDome": r"[\w.-]+\.captcha-delivery\.com/",
    "AWS WAF": r"[\w.-]+\.awswaf\.com/",
}
"""Where the frames of each begin, after the scheme."""
_UNSEEN = "size=invisible"
"""In the address of a captcha that only watches: it is in nobody's way."""
_HARDLY_ANYTHING = 3
"""Marks beside a captcha on a page that is nothing else."""


@dataclass(frozen=True)
class Wall:
    """Something a person must pass."""

    kind: Literal["captcha", "login"]
    by: str
    """Who made the captcha."""
    frame: str
    """Which frame it is in, as marks name it."""
    is_whole: bool
    """Whether there is hardly anything else on the page."""

    @property
    def note(self) -> str:
        """For the model."""
        if self.kind == "login":
            return "There is a password field and no secret: unless the task says what to type there, use `ask`."
        return f"There is a captcha ({self.by}). It is for a person: never try it, use `ask` if it is in the way."

    def question(self, observation: Observation) -> str:
        """For the person."""
        return f"{observation.url} shows a captcha ({self.by}). Solve it in the browser, then answer here."


def walls_in(task: Task, observation: Observation) -> tuple[Wall, ...]:
    """The captchas and logins that show."""
    captchas = tuple(_captchas(observation))
    asks = any(mark.state.input_type == "password" for mark in observation.marks)
    login = (Wall("login", "", "", is_whole=False),) if asks and not task.secrets else ()
    return (*captchas, *login)


def guarding(action: Action, observation: Observation) -> Wall | None:
    """The captcha that an action would touch, if any."""
    walls = {wall.frame: wall for wall in _captchas(observation)}
    for target in targets_of(action) if walls else ():
        for mark in observation.marks:
            if mark.frame in walls and _is_at(target, mark, observation):
                return walls[mark.frame]
    return None


def _is_at(target: Target, mark: Mark, observation: Observation) -> bool:
    if isinstance(target, Point):
        return mark.box.contains(observation.marked.map.to_page(target))
    return mark.number == (target.mark if isinstance(target, Cell) else target)


def _captchas(observation: Observation) -> Iterable[Wall]:
    for name, address in observation.frames.items():
        for by, pattern in _CAPTCHAS.items():
            if re.match(rf"https?://{pattern}", address) and _UNSEEN not in address:
                beside = [mark for mark in observation.marks if mark.frame != name]
                is_form = any(mark.kind == "field" for mark in beside)
                is_whole = observation.region is None and len(beside) <= _HARDLY_ANYTHING and not is_form
                yield Wall("captcha", by, name, is_whole)
