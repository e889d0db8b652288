"""Settings that make a new run see its pages as a recorded run did."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from vision_agent.base_model import RECORDED
from vision_agent.errors import UsageError
from vision_agent.settings import ApprovalSettings, BrowserSettings, EventSettings, ObserveSettings, Settings
from vision_agent.types import Run

_VIEW = ("viewport", "device", "device_ratio")
_AS_RECORDED = (*_VIEW, "locale", "timezone", "permissions")


def recorded_settings(run: Run, settings: Settings, view: Sequence[str]) -> Settings:
    """Return `settings` with the page view and event handling of the record.

    The approval settings of the record apply too, except where `settings` sets them explicitly. `view` names browser
    settings to take from `settings` instead of the record.

    Raises:
        UsageError: another version wrote the recorded settings, and this one cannot read them.
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
        # Risks that needed approval then need it again, unless the new settings say otherwise.
        explicit = {name: getattr(settings.approval, name) for name in settings.approval.model_fields_set}
        approval = ApprovalSettings.model_validate({**then.get("approval", {}), **explicit})
    except ValidationError as error:
        raise UsageError(
            f"The settings of the run can no longer be used: {error.errors()[0]['msg']}",
            "another version recorded it",
        ) from error
    browser = settings.browser.model_copy(update={name: getattr(recorded, name) for name in recorded.model_fields_set})
    return settings.model_copy(update={"browser": browser, "observe": observe, "events": events, "approval": approval})
