"""Variants of the fixture sites: the same sites and tasks, shown or served differently, for comparing scores.

`fixtures/variants/<name>.html`, if it exists, is inserted into the head of each page. The sites do not know about it,
and their log judges the end state as usual. `renamed` is for models only: reference lines use the original names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vision_agent.errors import UsageError
from vision_agent.geometry import Size
from vision_agent.settings import BrowserSettings, Settings


@dataclass(frozen=True)
class Variant:
    """What is different from the plain sites."""

    name: str
    about: str
    """For people: what it changes."""
    delay_s: float = 0.0
    """Delay before each file."""
    browser: Mapping[str, object] = field(default_factory=dict)
    """Browser settings to change."""

    def apply(self, settings: Settings) -> Settings:
        """The settings with those of this variant; they make another item."""
        if not self.browser:
            return settings
        named = {name: getattr(settings.browser, name) for name in settings.browser.model_fields_set}
        browser = BrowserSettings.model_validate({**named, **self.browser})
        return settings.model_copy(update={"browser": browser})


VARIANTS = (
    Variant("dark", "light and dark inverted"),
    Variant("sharp", "two device pixels for each CSS pixel", browser={"device_ratio": 2.0}),
    Variant("small", "a view of 800 by 600", browser={"viewport": Size(width=800, height=600)}),
    Variant(
        "zoomed",
        "browser zoom at 125%: less of the page, in more detail",
        browser={"viewport": Size(width=1024, height=640), "device_ratio": 1.25},
    ),
    Variant("german", "a German browser in Berlin", browser={"locale": "de-DE", "timezone": "Europe/Berlin"}),
    Variant("rtl", "right to left, in an Arabic browser", browser={"locale": "ar-EG"}),
    Variant("slow", "0.7 seconds of delay before each file", delay_s=0.7),
    Variant("moved", "everything in another place, and larger"),
    Variant("cluttered", "a dozen links above and a questionnaire below"),
    Variant("renamed", "buttons and links with other names"),
)


def variants_named(names: Sequence[str]) -> tuple[Variant, ...]:
    """The variants with these names, or all for `all`.

    Raises:
        UsageError: a name is unknown.
    """
    known = {each.name: each for each in VARIANTS}
    if unknown := [name for name in names if name not in known and name != "all"]:
        raise UsageError(f"Unknown variant {unknown[0]!r}", f"known: all, {', '.join(known)}")
    return VARIANTS if "all" in names else tuple(known[name] for name in dict.fromkeys(names))
