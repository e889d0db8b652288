"""Blockers: captchas, and logins without a secret in the task. They are detected and left to a person, never solved.

Detection uses the observation alone, without a request and without asking a model. Captchas are recognised by the
addresses of their frames, by elements and fields that their makers document, or else by the names of their fields and
boxes; logins by a password field. The model can report other blockers with its reply (`Decision.wall`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from vision_agent.actions import Action, Cell, Point, Target, targets_of
from vision_agent.observation import Mark, Observation
from vision_agent.text.urls import shown_address
from vision_agent.types import Decision, Task

_CAPTCHAS = {
    "reCAPTCHA": r"(?:www\.)?(?:google\.com|recaptcha\.net)/recaptcha/(?:api2|enterprise)/(?:anchor|bframe)",
    "hCaptcha": r"[\w.-]+\.hcaptcha\.com/",
    "Turnstile": r"challenges\.cloudflare\.com/",
    "Arkose": r"[\w.-]+\.(?:arkoselabs|funcaptcha)\.com/",
    "GeeTest": r"[\w.-]+\.geetest\.com/",
    "DataDome": r"[\w.-]+\.captcha-delivery\.com/",
    "AWS WAF": r"[\w.-]+\.awswaf\.com/",
    "Friendly Captcha": r"[\w.-]+\.frcapi\.com/",
}
"""How the frame addresses of each captcha begin, after the scheme."""
_INVISIBLE = "size=invisible"
"""In the frame address of an invisible captcha, which blocks nobody."""
_MAX_MARKS_BESIDE = 3
"""Marks besides the captcha on a page that shows little else."""
_EVIDENCE_PREFIX = "captcha: "
"""Prefix of the evidence of a mark that belongs to a captcha in the page itself; see `overlay_js/src/captcha.js`."""
_NO_ROBOT = re.compile(
    r"\bnot a robot\b|\b(?:verify|confirm|prove)\b.{0,20}\b(?:are|am|'re|'m) (?:a )?human\b"
    r"|\bkein robot|\bpas un robot|\bno soy un robot|\bnon sono un robot|\bnão sou um robô|\bgeen robot|\bне робот"
    r"|ロボットではありません|不是机器人|不是機器人",
    re.IGNORECASE,
)
"""Matches the name of a box that a person ticks to prove that they are human."""
_ANSWER = re.compile(
    r"(?:please )?(?:(?:enter|type|solve|complete) )?(?:(?:the|this) )?(?:security |verification )?captcha"
    r"(?: (?:code|text|answer|characters|solution|here))*[ :*.]*"
    r"|.*\b(?:enter|type|write)\b.{0,12}\b(?:characters|letters|digits|numbers|code|text|words)\b"
    r".{0,24}\b(?:in|on|from)\b.{0,6}\b(?:image|picture|captcha)\b.*",
    re.IGNORECASE,
)
"""Matches the whole name of a field for the answer. `Enable captcha` and `Captcha site key` are settings."""


@dataclass(frozen=True)
class Blocker:
    """A captcha or login that a person must deal with."""

    kind: Literal["captcha", "login"]
    by: str = ""
    """The maker of the captcha; empty if unknown."""
    frame: str = ""
    """The name that marks have for its frame; empty if it is in the page itself."""
    marks: tuple[int, ...] = ()
    """The numbers of its marks, if it is not in a frame."""
    is_whole: bool = False
    """Whether the page shows hardly anything else."""

    @property
    def words(self) -> str:
        """The blocker in words, such as `captcha (hCaptcha)`."""
        return "login" if self.kind == "login" else f"captcha ({self.by})" if self.by else "captcha"

    @property
    def note(self) -> str:
        """The note for the model."""
        if self.kind == "login":
            return "There is a password field and no secret: unless the task says what to type there, use `ask`."
        at = f" at {', '.join(map(str, self.marks))}" if self.marks else ""
        return f"There is a {self.words}{at}. Only a person may solve it: use `ask` if it is in the way."

    def question(self, observation: Observation) -> str:
        """The question for the person."""
        if self.kind == "login":
            return f"{shown_address(observation.url)} asks for a login. Log in there, then answer here."
        return f"{shown_address(observation.url)} shows a {self.words}. Solve it in the browser, then answer here."

    def holds(self, mark: Mark) -> bool:
        """Whether a mark belongs to it."""
        return mark.frame == self.frame if self.frame else mark.number in self.marks


def blockers_in(task: Task, observation: Observation) -> tuple[Blocker, ...]:
    """The visible blockers."""
    captchas = tuple(_captchas(observation))
    asks = any(mark.state.input_type == "password" for mark in observation.marks)
    login = (Blocker("login"),) if asks and all(each.is_private for each in task.secrets) else ()
    return (*captchas, *login)


def before(action: Action, decision: Decision, observation: Observation) -> Blocker | None:
    """The blocker that a person must deal with before an action: the decision names one, or the action would touch it.

    A person may touch what no model may.
    """
    if decision.wall:
        return Blocker(decision.wall)
    return None if decision.author == "human" else touched_captcha(action, observation)


def touched_captcha(action: Action, observation: Observation) -> Blocker | None:
    """The captcha that an action would touch, if any."""
    captchas = tuple(_captchas(observation))
    for target in targets_of(action) if captchas else ():
        for mark in observation.marks:
            blocker = next((each for each in captchas if each.holds(mark)), None)
            if blocker is not None and _is_at(target, mark, observation):
                return blocker
    return None


def _is_at(target: Target, mark: Mark, observation: Observation) -> bool:
    if isinstance(target, Point):
        return mark.box.contains(observation.marked.map.to_page(target))
    return mark.number == (target.mark if isinstance(target, Cell) else target)


def _captchas(observation: Observation) -> Iterator[Blocker]:
    for blocker in (*_in_frames(observation), *_in_page(observation)):
        beside = [mark for mark in observation.marks if not blocker.holds(mark)]
        is_form = any(mark.kind == "field" for mark in beside)
        is_whole = observation.region is None and len(beside) <= _MAX_MARKS_BESIDE and not is_form
        yield Blocker("captcha", blocker.by, blocker.frame, blocker.marks, is_whole)


def _in_frames(observation: Observation) -> Iterable[Blocker]:
    for name, address in observation.frames.items():
        for by, pattern in _CAPTCHAS.items():
            if re.match(rf"https?://{pattern}", address) and _INVISIBLE not in address:
                yield Blocker("captcha", by, name)


def _in_page(observation: Observation) -> Iterable[Blocker]:
    parts: dict[str, list[int]] = {}
    for mark in observation.marks:
        by = next(
            (each.removeprefix(_EVIDENCE_PREFIX) for each in mark.evidence if each.startswith(_EVIDENCE_PREFIX)), None
        )
        if by is None and _has_captcha_name(mark):
            by = ""
        if by is not None:
            parts.setdefault(by, []).append(mark.number)
    return (Blocker("captcha", by, marks=tuple(numbers)) for by, numbers in parts.items())


def _has_captcha_name(mark: Mark) -> bool:
    """Whether its name makes it a box, button or field of a captcha; a link only leads somewhere."""
    name = " ".join(mark.name.split())
    match mark.kind:
        case "toggle" | "button" | "guess":
            return _NO_ROBOT.search(name) is not None
        case "field":
            return mark.state.input_type != "password" and _ANSWER.fullmatch(name) is not None
    return False
