"""How an exported test opens its browser: with the view, device, language and answers to dialogs of its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vision_agent.types import Run

_DIALOGS = '''

def answer(dialog: Dialog) -> None:
    """Answers a dialog as the run did."""
    if dialog.type == "beforeunload":
        dialog.{leave}()
    else:
        dialog.{do}

'''


@dataclass(frozen=True)
class ContextSetup:
    """What differs from a plain browser context, as Python."""

    arguments: str
    """The arguments of `browser.new_context`, in code that can use `playwright`."""
    dialogs: str
    """A function `answer` for dialogs; empty where Playwright's own answer, to dismiss them, was the run's."""
    is_signed_in: bool
    """Whether the run began with cookies. They are in no record, so the test takes a file from its environment."""


def context_setup(run: Run, *, has_touch: bool) -> ContextSetup:
    """What the settings in a run's record say about its browser; without them, the size of the first picture."""
    browser, events = _part(run, "browser"), _part(run, "events")
    is_signed_in = any(browser.get(name) for name in ("profile", "storage_state", "session"))
    given = [*_arguments(run, browser)]
    given += ["has_touch=True"] * has_touch
    given += ['storage_state=os.environ.get("STORAGE_STATE")'] * is_signed_in
    dialogs = ""
    if events.get("dialogs") == "accept" or events.get("leave"):
        text = events.get("prompt")
        accept = f"accept({_literal(text)})" if isinstance(text, str) and text else "accept()"
        do = accept if events.get("dialogs") == "accept" else "dismiss()"
        dialogs = _DIALOGS.format(leave="accept" if events.get("leave") else "dismiss", do=do)
    return ContextSetup(", ".join(given), dialogs, is_signed_in)


def _arguments(run: Run, browser: Mapping[str, Any]) -> Iterator[str]:
    device, ratio = browser.get("device"), browser.get("device_ratio")
    seen = run.steps[0].observation.viewport if run.steps else None
    if isinstance(device, str):
        yield f"**playwright.devices[{_literal(device)}]"
    else:
        width, height = (seen.width, seen.height) if seen else (1280, 800)
        yield f'viewport={{"width": {width}, "height": {height}}}'
        if isinstance(ratio, int | float) and ratio != 1:
            yield f"device_scale_factor={ratio:g}"
    for name, argument in (("locale", "locale"), ("timezone", "timezone_id")):
        if isinstance(browser.get(name), str):
            yield f"{argument}={_literal(browser[name])}"
    permissions = browser.get("permissions")
    if isinstance(permissions, list | tuple) and permissions:
        yield f"permissions={_literal([str(each) for each in permissions])}"


def _part(run: Run, name: str) -> Mapping[str, Any]:
    """A part of the recorded settings, which may come from another version or from somebody else."""
    part = run.provenance.settings.get(name)
    return part if isinstance(part, dict) else {}


def _literal(value: object) -> str:
    return repr(value)
