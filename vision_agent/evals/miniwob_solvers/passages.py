"""Solvers for selecting passages of text and formatting words."""

from __future__ import annotations

from vision_agent.actions import SelectText
from vision_agent.evals.miniwob_solvers.asked import match_groups, ordinal
from vision_agent.evals.miniwob_solvers.episode import Episode, On

_EDITOR = On(".ql-editor")
_BUTTONS = {"bold": ".ql-bold", "italics": ".ql-italic", "underlined": ".ql-underline"}


async def highlight_text(episode: Episode) -> None:
    """Highlight the text in the paragraph below and click submit."""
    await _highlight(episode, await episode.text("#randomText"))


async def highlight_text_2(episode: Episode) -> None:
    """Highlight the text in the 1st paragraph and click submit."""
    passages = await episode.texts("#randomText p")
    await _highlight(episode, passages[ordinal(episode.asked, "paragraph")])


async def text_editor(episode: Episode) -> None:
    """Using the text editor, give the text Neque, the style bold and press Submit. Or everything, or a color."""
    words, look = match_groups(r"(?:give the text|give|make) (.+?) the (?:style|color) (\w+)", episode.asked)
    text = await episode.text(".ql-editor")
    if words == "everything":
        await episode.press("ControlOrMeta+a", _EDITOR)
    else:
        await episode.press("ControlOrMeta+Home", _EDITOR)
        await episode.press("ArrowRight", count=f" {text} ".index(f" {words} "))
        await episode.press("Shift+ArrowRight", count=len(words))
    if look in _BUTTONS:
        await episode.click(On(_BUTTONS[look]))
    else:
        await episode.click(On(".ql-color .ql-picker-label"))
        colours = await episode.read(f"COLOR_MAP.{look}")
        await episode.click(On(f'.ql-picker-item[data-value="{colours[0]}"]'))
    await episode.submit()


async def _highlight(episode: Episode, text: str) -> None:
    await episode.act(SelectText(first=text, last=text))
    await episode.submit()
