"""Renders a run as a film: each marked page with its targets and a caption, for places where a report cannot open.

A `.webp` or `.gif` is an animated picture; a `.webm` or `.mp4` is a video, with its captions as WebVTT beside it too.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vision_agent.actions import Finish, Infeasible, Point, mark_in, targets_of
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import RecordError, UsageError
from vision_agent.observation import Observation, Shot
from vision_agent.record.read import last_look, load_shot, read, read_lines
from vision_agent.record.run_files import reading
from vision_agent.record.store import write_private
from vision_agent.text.escape import safe_line
from vision_agent.types import Run, Step
from vision_agent.vision.picture import Pixels
from vision_agent.vision.video import VIDEOS, encode_video

_WIDTH = 960
"""The width of a frame in pixels; a page of 1280 stays readable at half the bytes."""
_LEAST_WIDTH = 640
"""The least width of a frame, for its caption: a phone's page is narrower, and is shown in the middle."""
_HEIGHT = 2160
"""The greatest height of a page in a frame, that of a phone's picture; animated pictures are in memory at once."""
_SHOWN_S, _LAST_S = 2.0, 3.5
_AIM = "#c2410c"
_BAR, _ACTION_INK, _OUTCOME_INK = "#1c1917", "#fafaf9", "#d6d3d1"
_BAR_PX, _MARGIN_PX = 60, 14
_FONT_PX = 18
_FONTS = (
    "DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Arial Unicode.ttf",
    "NotoSansCJK-Regular.ttc", "PingFang.ttc", "msyh.ttc", "msgothic.ttc",
)  # fmt: skip
"""Fonts of usual systems, for letters that Pillow's own font lacks."""
_UNKNOWN = "\uffff"
"""No letter, so that a font draws what it draws for letters that it lacks."""
_LONGEST = 300
"""The most letters of a line of a caption."""
_PICTURES = {".webp": "WEBP", ".gif": "GIF"}


@dataclass(frozen=True)
class _Scene:
    """One picture of the film."""

    image: Image.Image
    seconds: float


def require_film_name(to: Path) -> None:
    """Checks that the name of a film ends in a format that can be written, and that its captions replace no other file.

    Raises:
        UsageError: it does not, or they would.
    """
    if to.suffix.lower() not in (*_PICTURES, *VIDEOS):
        raise UsageError(
            f"{to.name!r} is not a supported film format",
            "end its name in .webm, .mp4, .webp or .gif",
        )
    if _captions_file(to).exists() and to.suffix.lower() in VIDEOS and (_has_other_film(to) or not to.exists()):
        raise _captions_are_there(to)


def require_film(folder: Path, to: Path) -> None:
    """The same for the film of a run that is there: it may have the captions of a video in another format beside it.

    Raises:
        RecordError: the run cannot be read.
        UsageError: the film cannot have this name.
    """
    if to.suffix.lower() not in VIDEOS or not (_captions_file(to).exists() and _has_other_film(to)):
        require_film_name(to)
        return
    with reading(folder):
        captions = _web_vtt(_captions(folder, read(folder)))
    with suppress(OSError):
        if _captions_file(to).read_bytes() == captions.encode():
            return
    raise _captions_are_there(to)


def _captions_file(to: Path) -> Path:
    return to.with_suffix(".vtt")


def _has_other_film(to: Path) -> bool:
    """Whether a video in another format has the same name, and so the same file of captions."""
    return any(to.with_suffix(ending).exists() for ending in VIDEOS if ending != to.suffix.lower())


def _captions_are_there(to: Path) -> UsageError:
    return UsageError(
        f"{_captions_file(to)} is there already, and would be replaced by the captions", "name another film"
    )


def write_animation(folder: Path, to: Path) -> Path:
    """Writes a film with one picture per step, and returns its path; beside a video, its captions as `.vtt`.

    Raises:
        RecordError: the run or one of its pictures cannot be read.
        UsageError: the name ends in an unknown format, the captions would replace those of something else, the run has
            no steps, or the file cannot be written.
    """
    require_film(folder, to)
    ending = to.suffix.lower()
    with reading(folder):
        run = read(folder)
        if not run.steps:
            raise UsageError(f"{folder} has no steps to show", "its report says how far it got")
        scenes = _scenes(folder, run)
        try:
            if ending in VIDEOS:
                write_private(to, encode_video(_frames(scenes), ending))
                write_private(_captions_file(to), _web_vtt(_captions(folder, run)).encode())
            else:
                write_private(to, _animated([*scenes], _PICTURES[ending]))
        except OSError as error:
            raise UsageError(f"{to} cannot be written: {error.strerror or error}", "name another file") from error
    return to


def _frames(scenes: Iterator[_Scene]) -> Iterator[tuple[Pixels, float]]:
    """The pictures of a video, one at a time, with their seconds."""
    for scene in scenes:
        yield np.ascontiguousarray(np.asarray(scene.image)[..., ::-1]), scene.seconds


def _animated(scenes: Sequence[_Scene], format: str) -> bytes:
    made = io.BytesIO()
    first, *others = (each.image for each in scenes)
    times = [round(each.seconds * 1000) for each in scenes]
    first.save(made, format, save_all=True, append_images=others, duration=times, loop=0, quality=80)
    return made.getvalue()


def _scenes(folder: Path, run: Run) -> Iterator[_Scene]:
    last = _page_at_end(folder)
    captions = _captions(folder, run)
    size: tuple[int, int] | None = None
    for step, (seconds, caption) in zip(run.steps, captions, strict=False):
        image = _picture(folder, step.observation.marked, f"step {step.index}")
        draw = ImageDraw.Draw(image)
        for left, top, right, bottom in _aims(step):
            draw.rounded_rectangle((left - 5, top - 5, right + 5, bottom + 5), radius=6, outline=_AIM, width=4)
        size = size or _size_of(image)
        yield _Scene(_framed(image, size, caption), seconds)
    if last is not None and size is not None:
        seconds, caption = captions[-1]
        yield _Scene(_framed(_picture(folder, last.clean, "the end"), size, caption), seconds)


def _page_at_end(folder: Path) -> Observation | None:
    last = last_look(line.event for line in read_lines(folder))
    return None if last is None else last.observation


def _captions(folder: Path, run: Run) -> list[tuple[float, tuple[str, str]]]:
    """For each picture, how long it shows, what is done, and what came of it."""
    told = [(_SHOWN_S, _caption(step, number, len(run.steps))) for number, step in enumerate(run.steps, 1)]
    if _page_at_end(folder) is not None:
        told.append((_LAST_S, ("At the end", safe_line(run.ending.sentence, _LONGEST) if run.ending else "")))
    return [*told[:-1], *((_LAST_S, caption) for _, caption in told[-1:])]


def _picture(folder: Path, shot: Shot, where: str) -> Image.Image:
    data = load_shot(folder, shot).data
    assert data is not None
    try:
        with Image.open(io.BytesIO(data)) as found:
            return found.convert("RGB")
    except Exception as error:
        raise RecordError(f"The picture of {where} cannot be decoded") from error


def _size_of(image: Image.Image) -> tuple[int, int]:
    scale = min(1, _WIDTH / image.width, _HEIGHT / image.height)
    return max(1, round(image.width * scale)), max(1, round(image.height * scale))


def _framed(image: Image.Image, size: tuple[int, int], caption: tuple[str, str]) -> Image.Image:
    """The picture in a frame of this size, and its caption under it.

    A picture of another shape, such as a zoom, is fitted whole into the frame.
    """
    image.thumbnail(size, Image.Resampling.LANCZOS)
    width = max(size[0], _LEAST_WIDTH)
    frame = Image.new("RGB", (width, size[1] + _BAR_PX), _BAR)
    frame.paste(image, ((width - image.width) // 2, (size[1] - image.height) // 2))
    draw = ImageDraw.Draw(frame)
    for line, ink, y in ((caption[0], _ACTION_INK, 8), (caption[1], _OUTCOME_INK, 32)):
        font = _font_for(line)
        draw.text((_MARGIN_PX, size[1] + y), _fitting(draw, line, font, width - 2 * _MARGIN_PX), ink, font)
    return frame


_Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def _font_for(line: str) -> _Font:
    """The font that lacks the fewest of its letters."""
    return min(_fonts(), key=lambda font: _lacking(font, line))


def _lacking(font: _Font, line: str) -> int:
    unknown = bytes(font.getmask(_UNKNOWN))
    return sum(bytes(font.getmask(letter)) == unknown for letter in set(line) if not letter.isspace())


@cache
def _fonts() -> tuple[_Font, ...]:
    found: list[_Font] = [ImageFont.load_default(_FONT_PX)]
    for name in _FONTS:
        with suppress(OSError):
            found.append(ImageFont.truetype(name, _FONT_PX))
    return tuple(found)


def _fitting(draw: ImageDraw.ImageDraw, line: str, font: _Font, width: int) -> str:
    """The line, cut with `…` where it is wider than that."""
    if draw.textlength(line, font) <= width:
        return line
    while line and draw.textlength(f"{line}…", font) > width:
        line = line[:-1]
    return f"{line.rstrip()}…"


def _caption(step: Step, number: int, many: int) -> tuple[str, str]:
    told = step.carried_out or tuple(zip(step.decision.actions, step.outcomes, strict=False))
    acts = "; ".join(describe_action(action, step.observation) for action, _ in told)
    what = acts if step.carried_out else f"Not done: {acts}" if acts else "Nothing was done"
    came = " ".join(outcome.sentence for _, outcome in told)
    return safe_line(f"{number}/{many}  {what}", _LONGEST), safe_line(came, _LONGEST)


def _web_vtt(captions: Sequence[tuple[float, tuple[str, str]]]) -> str:
    lines, at = ["WEBVTT"], 0.0
    for seconds, caption in captions:
        until = at + seconds
        lines.append(f"\n{_time(at)} --> {_time(until)}")
        lines += [escape(line, quote=False) for line in caption if line]
        at = until
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes // 60):02}:{int(minutes % 60):02}:{rest:06.3f}"


def _aims(step: Step) -> Iterator[tuple[float, float, float, float]]:
    """The targets acted on, in pixels of the marked picture: left, top, right, bottom."""
    seen = step.observation
    for action, _ in step.carried_out:
        if isinstance(action, Finish | Infeasible):
            continue
        for target in targets_of(action):
            number = mark_in(target)
            mark = seen.mark(number) if number is not None else None
            if mark is not None:
                box = seen.marked.map.box_to_picture(mark.box)
                yield box.x, box.y, box.right, box.bottom
            elif isinstance(target, Point):
                yield target.x - 4, target.y - 4, target.x + 4, target.y + 4
