"""Renders a run as one animated picture: each marked page with its targets, for places where a report cannot open."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from vision_agent.actions import Finish, Infeasible, Point, mark_in, targets_of
from vision_agent.errors import RecordError, UsageError
from vision_agent.record.read import load_shot, read
from vision_agent.record.run_files import reading
from vision_agent.record.store import write_private
from vision_agent.types import Step

_WIDTH = 960
"""The width of a frame in pixels; a page of 1280 stays readable at half the bytes."""
_HEIGHT = 2160
"""The greatest height of a frame in pixels, that of a phone's picture; all frames are in memory at once."""
_SHOWN_MS, _LAST_MS = 1400, 3500
_AIM = "#c2410c"
_FORMATS = {".webp": "WEBP", ".gif": "GIF"}


def write_animation(folder: Path, to: Path) -> Path:
    """Writes a looping animation with one frame per step, and returns its path.

    Raises:
        RecordError: the run or one of its pictures cannot be read.
        UsageError: the name ends in an unknown format, the run has no steps, or the file cannot be written.
    """
    format = _FORMATS.get(to.suffix.lower())
    if format is None:
        raise UsageError(f"{to.name!r} is not a supported animation format", "end its name in .webp or .gif")
    with reading(folder):
        frames = list(_frames(folder))
    if not frames:
        raise UsageError(f"{folder} has no steps to show", "its report says how far it got")
    times = [_SHOWN_MS] * (len(frames) - 1) + [_LAST_MS]
    made = io.BytesIO()
    try:
        frames[0].save(made, format, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=80)
        write_private(to, made.getvalue())
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror or error}", "name another file") from error
    return to


def _frames(folder: Path) -> Iterator[Image.Image]:
    size: tuple[int, int] | None = None
    for step in read(folder).steps:
        data = load_shot(folder, step.observation.marked).data
        assert data is not None
        try:
            with Image.open(io.BytesIO(data)) as marked:
                image = marked.convert("RGB")
        except Exception as error:
            raise RecordError(f"The marked picture of step {step.index} cannot be decoded") from error
        draw = ImageDraw.Draw(image)
        for left, top, right, bottom in _aims(step):
            draw.rounded_rectangle((left - 5, top - 5, right + 5, bottom + 5), radius=6, outline=_AIM, width=4)
        if size is None:
            scale = min(1, _WIDTH / image.width, _HEIGHT / image.height)
            size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        # A picture of another shape, such as a zoom, is fitted whole into a frame of the same size.
        image.thumbnail(size, Image.Resampling.LANCZOS)
        frame = Image.new("RGB", size, "white")
        frame.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
        yield frame


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
