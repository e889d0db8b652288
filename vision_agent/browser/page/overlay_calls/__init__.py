"""The protocol between Python and the overlay in a page: one function per question, one type per answer.

No other module knows the names of questions or the fields of answers. Answers are parsed once into frozen objects,
without validation: no page can reach the overlay. A missing field raises KeyError here; it is never guessed. Results
that a scan returns by the hundred are NamedTuples, which are created in a third of the time of a frozen dataclass.

Every question raises:
    FrameSilent: the frame did not answer.
    BrowserUnavailable: the browser is gone.
"""

from __future__ import annotations

from vision_agent.browser.page.overlay_calls import document as document
from vision_agent.browser.page.overlay_calls import element as element
from vision_agent.browser.page.overlay_calls import fields as fields
from vision_agent.browser.page.overlay_calls import guards as guards
from vision_agent.browser.page.overlay_calls import scan as scan
from vision_agent.browser.page.overlay_calls import scrolling as scrolling
from vision_agent.browser.page.overlay_calls import shown_words as shown_words
from vision_agent.browser.page.overlay_calls import surface as surface
from vision_agent.browser.page.overlay_calls import text as text
