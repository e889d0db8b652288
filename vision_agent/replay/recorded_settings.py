"""Settings that make a new run see its pages as a recorded run did.

Somebody else may have made the record, so it grants nothing: what it let pages do must be set again, and what it asked
a person about can only be more.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from vision_agent.base_model import RECORDED, words_of
from vision_agent.errors import UsageError
from vision_agent.settings import ApprovalSettings, BrowserSettings, EventSettings, ObserveSettings, Settings
from vision_agent.text.escape import printable_line
from vision_agent.types import RECORDING, Run

_VIEW = ("viewport", "device", "device_ratio")
_AS_RECORDED = (*_VIEW, "locale", "timezone")


def recorded_settings(run: Run, settings: Settings, view: Sequence[str]) -> Settings:
    """Return `settings` with the page view and event handling of the record.

    What needed approval then needs it again, except where `settings` sets that explicitly, or where the run is a
    recording of what a person did. `view` names browser settings to take from `settings` instead of the record.

    Raises:
        UsageError: another version wrote the recorded settings, and this one cannot read them; or the record let pages
            do what `settings` does not.
    """
    then = run.provenance.settings
    kept = {*view, *(_VIEW if set(view) & set(_VIEW) else ())}
    named = {name: then.get("browser", {})[name] for name in _AS_RECORDED if name in then.get("browser", {})}
    try:
        recorded = BrowserSettings.model_validate({name: value for name, value in named.items() if name not in kept})
        observe = ObserveSettings.model_validate(
            {**then.get("observe", {}), "marks_on_page": settings.observe.marks_on_page}, context=RECORDED
        )
        events = EventSettings.model_validate(then.get("events", {}))
        approval = ApprovalSettings.model_validate(then.get("approval", {}))
        permissions = BrowserSettings.model_validate(
            {"permissions": then.get("browser", {}).get("permissions", ())}
        ).permissions
    except ValidationError as error:
        raise UsageError(
            f"The settings of the run can no longer be used: {words_of(error.errors()[0])}",
            "another version recorded it",
        ) from error
    _require_granted(events, permissions, settings)
    if run.provenance.model == RECORDING:
        # The person was "asked" at every step, because each was theirs to do.
        approval = approval.model_copy(update={"ask": settings.approval.ask})
    approval = _stricter(approval, settings.approval)
    as_then = {name: getattr(recorded, name) for name in recorded.model_fields_set}
    if not kept & set(_VIEW) and recorded.device is None and run.steps:
        # A window that was not opened by the run, as with --cdp, has a size of its own.
        seen = run.steps[0].observation
        as_then |= {"viewport": seen.viewport, "device_ratio": seen.device_ratio}
    browser = settings.browser.model_copy(update=as_then)
    return settings.model_copy(update={"browser": browser, "observe": observe, "events": events, "approval": approval})


def _require_granted(events: EventSettings, permissions: Sequence[str], settings: Settings) -> None:
    """Checks that the settings let pages do what the record let them do.

    Raises:
        UsageError: they do not.
    """
    if events.dialogs == "accept" and settings.events.dialogs != "accept":
        what, how = "accepted dialogs of pages", "events.dialogs = 'accept'"
    elif events.leave and not settings.events.leave:
        what, how = "left pages that ask whether to", "events.leave = true"
    elif missing := [each for each in permissions if each not in settings.browser.permissions]:
        what, how = f"let pages use {printable_line(missing[0])}", "browser.permissions"
    else:
        return
    raise UsageError(f"The run {what}, and a record grants nothing by itself", f"if you agree, set {how} for this run")


def _stricter(then: ApprovalSettings, now: ApprovalSettings) -> ApprovalSettings:
    """The current approval settings, completed by those of the record."""
    added = {
        "ask": then.ask,
        "dry_run": now.dry_run or then.dry_run,
        "risks": tuple(dict.fromkeys((*now.risks, *then.risks))),
        "words": {risk: (*now.words.get(risk, ()), *then.words.get(risk, ())) for risk in {**now.words, **then.words}},
    }
    return now.model_copy(update={name: value for name, value in added.items() if name not in now.model_fields_set})
