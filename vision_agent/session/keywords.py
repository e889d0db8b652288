"""Makes the task of an `Agent` from the arguments of its caller: a goal and keyword arguments, or a `Task`.

Errors here name the keyword, and never quote a secret.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from vision_agent.base_model import words_of
from vision_agent.browser.network.host_policy import require_no_password
from vision_agent.errors import UsageError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.policy.success_checks import check_from
from vision_agent.ports import Model
from vision_agent.settings import Settings, full_model_name, load
from vision_agent.settings_faults import fault_words
from vision_agent.text.urls import is_absolute, names_page_file, start_address
from vision_agent.types import Limits, Secret, SuccessCheck, Task

Secrets = Mapping[str, str | SecretStr | Secret] | Sequence[Secret]
Checks = str | SuccessCheck | Sequence[str | SuccessCheck | Mapping[str, str]]
GivenSettings = Settings | Mapping[str, Any] | None
P = ParamSpec("P")

_MOST_FAULTS = 5
"""How many fields of an answer are named that are wrong."""
_NAMES_FILE = re.compile(r"\S*\.\w{1,5}|\S*[/\\]\S+")
_LIMITS = {"max_steps": "steps", "max_seconds": "seconds", "max_tokens": "tokens", "max_cost": "cost_usd"}
_FIELDS = {
    "url": "start_url",
    "instructions": "instructions",
    "data": "user_data",
    "secrets": "secrets",
    "allowed_hosts": "allowed_hosts",
    "denied_hosts": "denied_hosts",
    "expect": "checks",
    "files": "files",
    **{keyword: f"limits.{name}" for keyword, name in _LIMITS.items()},
}
"""The field of a `Task` for each keyword."""


def named_keywords(init: Callable[P, None]) -> Callable[P, None]:
    """The constructor of an agent, which answers an unknown keyword with the one that is probably meant."""
    known = [*inspect.signature(init).parameters][1:]

    @wraps(init)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        if len(args) > 2:  # the agent itself, and the goal
            raise TypeError('Agent takes only the goal without a keyword; write Agent("Order one mug", url=…)')
        if (unknown := next((each for each in kwargs if each not in known), None)) is not None:
            of_task = [keyword for keyword, field in _FIELDS.items() if field == unknown]
            near = of_task or difflib.get_close_matches(unknown, known, n=1)
            raise TypeError(
                f"Agent has no keyword {unknown!r}; "
                + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}")
            )
        init(*args, **kwargs)

    return checked


class Output:
    """The type that answers have: its JSON schema, and how an answer becomes an object."""

    def __init__(self, output: Any) -> None:
        """Prepares a pydantic model, a dataclass, or any other type that pydantic can read; for `str` an answer is
        plain text.

        Raises:
            UsageError: pydantic cannot read it.
        """
        name = getattr(output, "__name__", type(output).__name__)
        if isinstance(output, BaseModel | str | Mapping) or inspect.isroutine(output):
            raise UsageError(
                f"output={name} cannot be an answer: it is not a type", "give a pydantic model: output=Order"
            )
        try:
            self._type: TypeAdapter[Any] = TypeAdapter(output)
            self._is_text = output is str
            self.schema: dict[str, Any] | None = None if self._is_text else self._type.json_schema()
        except (PydanticUserError, TypeError, NameError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"output={name} cannot be an answer: {reason}", "give a pydantic model") from error

    def fault(self, answer: str) -> str:
        """Why an answer is not of this type, for the model; empty if it is."""
        if self._is_text:
            return ""
        try:
            self._type.validate_json(answer)
        except ValidationError as error:
            faults = []
            for each in error.errors(include_url=False, include_context=False)[:_MOST_FAULTS]:
                where = ".".join(map(str, each["loc"]))
                faults.append(f"{f' at {where}' if where else ''}: {words_of(each)}")
            more = error.error_count() - len(faults)
            return f"the answer does not match its type{';'.join(faults)}{f'; and {more} more' if more else ''}"
        return ""

    def parse(self, answer: str) -> Any:
        """The answer as an object; None if it is not of this type."""
        if self._is_text:
            return answer
        try:
            return self._type.validate_json(answer)
        except ValidationError:
            return None


def settings_from(given: GivenSettings) -> Settings:
    """The settings, read from the environment and the files if they are not `Settings` yet.

    Raises:
        UsageError: a key is unknown, or a value is invalid.
    """
    if isinstance(given, Settings):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(
            f"settings cannot be a {type(given).__name__}",
            'give Settings(...) or a dict: {"browser": {"headless": False}}',
        )
    return load({}, "the keyword settings=", **(given or {}))


def model_from(model: str | Model | None, steps: str | Sequence[str] | None) -> str | Model | None:
    """The model, or one that follows the step lines.

    Raises:
        UsageError: both are given, or a line cannot be read.
    """
    if steps is None:
        return full_model_name(model) if isinstance(model, str) else model
    if model not in (None, "steps"):
        raise UsageError("steps was given together with a model", "leave one of them out")
    if isinstance(steps, Path):
        raise UsageError("steps takes lines, not a file", "give steps=Path(…).read_text()")
    lines = steps.splitlines() if isinstance(steps, str) else _listed(steps, "steps", '"click Order", "finish"')
    if wrong := next((each for each in lines if not isinstance(each, str)), None):
        raise UsageError(f"steps has {wrong!r}, which is no step line", 'write steps=["click Order", "finish"]')
    if not any(line.strip() and not line.strip().startswith("#") for line in lines):
        raise UsageError("steps has no line", 'write steps=["click Order", "finish"]')
    try:
        return StepsModel(lines)
    except UsageError as error:
        if isinstance(steps, str) and _NAMES_FILE.fullmatch(steps.strip()):
            raise UsageError(
                f"steps={steps.strip()!r} is no step line, but looks like the name of a file",
                f"steps takes the lines: steps=Path({steps.strip()!r}).read_text()",
            ) from error
        raise


def require_secrets(model: str | Model | None, task: Task) -> None:
    """Raises `UsageError` if step lines type a secret that the task does not have, or one that cannot be typed so."""
    known = {*(each.name for each in task.secrets), *task.private_kinds}
    missing = model.named - known if isinstance(model, StepsModel) else ()
    if missing:
        name = min(missing)
        raise UsageError(
            f"The step lines name the secret {name}, which was not given",
            f'give it with --secret, --code or --private, or secrets={{"{name}": …}} in Python',
        )
    if isinstance(model, StepsModel) and model.private_typed:
        name = min(model.private_typed)
        is_given = any(each.name == name for each in task.secrets)
        raise UsageError(
            f"The step lines type <private:{name}>, which is how a page that shows it is recorded",
            f'to type it, write "<secret:{name}>"' if is_given else "type the value",
        )
    if not isinstance(model, StepsModel) or not (task.start_url or "").startswith("file:"):
        return
    typed = [each.name for each in task.secrets if each.name in model.secrets and not (each.origins or each.is_private)]
    if typed:
        raise UsageError(
            f"The secret {min(typed)} can be typed on no page: it is for the start page's origin, and a file has none",
            "serve the page (python -m http.server), or name the origin with --secret-origin",
        )


def task_from(task: Task | str, settings: Settings, output: Output | None, keywords: Mapping[str, Any]) -> Task:
    """The task; `keywords` are those of `Agent`, of which those that are None were not given.

    Raises:
        UsageError: a keyword's value is not one, or the task is a `Task` that has a field for it.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if isinstance(task, Task):
        return _with_output(_unless_given(task, given), output)
    if not isinstance(task, str):
        raise UsageError(f"The task cannot be a {type(task).__name__}", 'give a goal in words, such as "Order one mug"')
    if not task.strip():
        raise UsageError("There is no goal", 'give one in words, such as "Order one mug"')
    url = given.get("url")
    if isinstance(url, Path):
        url = str(url.absolute())
    if url is not None and not isinstance(url, str):
        raise UsageError(f"url cannot be a {type(url).__name__}", "give the address of the start page as text")
    made = Task(
        goal=task,
        instructions=_instructions(given.get("instructions", "")),
        start_url=start_url_from(url) if url else None,
        user_data=_facts(given.get("data", {})),
        secrets=secrets_from(given.get("secrets", ())),
        limits=_limits(settings.limits, given),
        allowed_hosts=_hosts(given["allowed_hosts"], "allowed_hosts") if "allowed_hosts" in given else None,
        denied_hosts=_hosts(given.get("denied_hosts", ()), "denied_hosts"),
        checks=_checks(given.get("expect", ())),
        files=_files(given.get("files", ())),
    )
    return _with_output(made, output)


def listener_from(on_event: Any) -> Any:
    """The function that is called with each event, or None.

    Raises:
        UsageError: it is no function, or one that would have to be awaited.
    """
    if on_event is not None and not callable(on_event):
        raise UsageError(f"on_event cannot be a {type(on_event).__name__}", "give a function that takes an event")
    if any(map(inspect.iscoroutinefunction, (on_event, getattr(on_event, "__call__", None)))):  # noqa: B004
        raise UsageError("on_event cannot be async: nothing awaits it", "define it with def")
    return on_event


def _listed(given: Any, keyword: str, example: str) -> tuple[Any, ...]:
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise UsageError(f"{keyword} cannot be a {type(given).__name__}", f"write {keyword}=[{example}]")
    return tuple(given)


def start_url_from(text: str) -> str:
    """The address of a start page, given as an address, a host, or the path of a file.

    Raises:
        UsageError: it is the name of a file that is not there, no address, or has a password in it.
    """
    address = start_address(text)
    require_no_password(address)
    if names_page_file(text) and not address.startswith("file:"):
        here = "" if Path(text).expanduser().is_absolute() else " here"
        raise UsageError(f"There is no file {text.strip()}{here}", "is its path right? An address begins with https://")
    if not is_absolute(address) and "{" not in address:  # names of columns are filled in later
        raise UsageError(f"{text.strip()!r} is not an address that can be opened", "write one like https://example.org")
    return address


def _unless_given(task: Task, given: Mapping[str, Any]) -> Task:
    if given:
        keyword = next(iter(given))
        raise UsageError(
            f"{keyword} was given together with a Task, which has {_FIELDS[keyword]}",
            f"set Task({_FIELDS[keyword].partition('.')[0]}=…), or give the goal as text",
        )
    return task


def _with_output(task: Task, output: Output | None) -> Task:
    if output is None:
        return task
    if task.answer_schema is not None:
        raise UsageError("output was given together with a Task with answer_schema", "leave one of them out")
    return task.model_copy(update={"answer_schema": output.schema})


def secrets_from(given: Any) -> tuple[Secret, ...]:
    """The secrets, given as names with values or as `Secret`s.

    Raises:
        UsageError: one has no value; the message has none either.
    """
    if isinstance(given, Mapping):
        return tuple(_secret(name, value) for name, value in given.items())
    if isinstance(given, Secret):
        return (given,)
    made = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
    if not all(isinstance(each, Secret) for each in made):
        raise UsageError("secrets are names with values", 'write secrets={"password": os.environ["SHOP_PASSWORD"]}')
    if not all(each.name for each in made):
        raise UsageError("A secret has no name", 'write secrets={"code": Secret(value=…)}, or Secret(name="code", …)')
    return made


def _secret(name: Any, value: Any) -> Secret:
    if isinstance(value, Secret):
        if value.name not in ("", name):
            raise UsageError(
                f"The secret {name!r} has another name, {value.name!r}", "leave out name=: the key names it"
            )
        return value.model_copy(update={"name": str(name)})
    if not isinstance(value, str | SecretStr):
        kind = "no value" if value is None else f"a {type(value).__name__} for a value"
        raise UsageError(f"The secret {name!r} has {kind}", "is its environment variable set? Give text")
    return Secret(name=str(name), value=value if isinstance(value, SecretStr) else SecretStr(value))


def _instructions(given: Any) -> str:
    if not isinstance(given, str):
        raise UsageError(f"instructions cannot be a {type(given).__name__}", "write them as text, as you would say it")
    return given


def _facts(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise UsageError("data is names with values", 'write data={"name": "Ann"}')
    return {str(name): value if isinstance(value, str) else str(value) for name, value in given.items()}


def _limits(limits: Limits, given: Mapping[str, Any]) -> Limits:
    changed = {name: given[keyword] for keyword, name in _LIMITS.items() if keyword in given}
    if not changed:
        return limits
    if wrong := next((keyword for keyword in _LIMITS if isinstance(given.get(keyword), bool)), None):
        raise UsageError(f"{wrong}={given[wrong]} is not a limit: it must be a number")
    try:
        return Limits.model_validate({**dict(limits), **changed})
    except ValidationError as error:
        fault = error.errors()[0]
        keyword = next((each for each, name in _LIMITS.items() if name == fault["loc"][0]), "limits")
        raise UsageError(f"{keyword}={given.get(keyword)!r} is not a limit: {fault_words(fault)}") from None


def _hosts(given: Any, keyword: str) -> tuple[str, ...]:
    hosts = (given,) if isinstance(given, str) else _listed(given, keyword, '"shop.example"')
    if wrong := next((each for each in hosts if not isinstance(each, str)), None):
        raise UsageError(f"{keyword} has {wrong!r}, which is not a host", "write shop.example or *.shop.example")
    return hosts


def _checks(given: Any) -> tuple[SuccessCheck, ...]:
    single = isinstance(given, str | SuccessCheck | Mapping)
    return tuple(
        check_from(each, "expect") for each in ([given] if single else _listed(given, "expect", '"Thank you"'))
    )


def _files(given: Any) -> tuple[Path, ...]:
    files = (given,) if isinstance(given, str | Path) else _listed(given, "files", '"cv.pdf"')
    if wrong := next((each for each in files if not isinstance(each, str | Path)), None):
        raise UsageError(f"files has {wrong!r}, which is not the path of a file", 'write files=["cv.pdf"]')
    return require_files(tuple(map(Path, files)))


def require_files(files: Sequence[Path]) -> tuple[Path, ...]:
    """The files, if each exists and all have different names.

    Raises:
        UsageError: a file does not exist, or two have one name.
    """
    for path in files:
        if not path.is_file():
            raise UsageError(f"There is no file {path}", "give files that exist")
    if len({path.name for path in files}) < len(files):
        raise UsageError("Two files have the same name", "an upload names a file by it: rename one of them")
    return tuple(files)
