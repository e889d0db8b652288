"""Solvers for dragging: onto a target, to a place, in a direction, by a handle."""

from __future__ import annotations

from vision_agent.evals.miniwob_solvers.asked import match_groups, quotes
from vision_agent.evals.miniwob_solvers.episode import At, Episode, On
from vision_agent.geometry import Box

_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_FAR = 25
"""Pixels; the drawings are 150 wide."""
_GRIP = At(500, 400)
"""Where to start dragging the cube; any point on the page works."""
_SWING = 2.5
"""Degrees that the cube turns for each pixel of dragging, approximately."""
_NEARLY = 12
_TURNED: dict[str, tuple[float | None, float]] = {
    "1": (None, 264),
    "2": (0, 0),
    "3": (269, 0),
    "4": (177, 0),
    "5": (86, 0),
    "6": (None, 88),
}
"""Horizontal and vertical rotation in degrees at which each side of the cube faces the user."""
_TAGS = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}
_SHAPE = "#area_svg > :not(#shape-container)"
_SHAPES = f"""Array.from(document.querySelectorAll('{_SHAPE}'), each =>
    ({{ tag: each.localName, colour: each.getAttribute('fill') }}))"""
_GRID = "top left, top center, top right, center left, center, center right, bottom left, bottom center, bottom right"


async def drag_box(episode: Episode) -> None:
    """Drag the smaller box so that it is completely inside the larger box."""
    await episode.drag(On("#draggableSmall"), On("#draggableLarge"))
    await episode.submit()


async def drag_shape(episode: Episode) -> None:
    """Drag the circle right then press Submit."""
    (way,) = match_groups(r"(left|right|up|down) then", episode.asked)
    x, y = _WAYS[way]
    await episode.drag_by(On("#area svg > *"), x * _FAR, y * _FAR)
    await episode.submit()


async def drag_shapes(episode: Episode) -> None:
    """Drag all triangles into the black box."""
    (kind,) = match_groups(r"all (rectangles|circles|triangles) into", episode.asked)
    (box,) = await episode.boxes("#shape-container")
    shapes: list[dict[str, str]] = await episode.read(_SHAPES)
    for place, shape in enumerate(shapes):
        if shape["tag"] == _TAGS[kind]:
            await _drag_to(episode, On(_SHAPE, place=place), box)
    await episode.submit()


async def drag_shapes_2(episode: Episode) -> None:
    """Drag all blue shapes into the left box, and everything else into the right box."""
    (kind,) = match_groups(r"all (\w+) (?:shapes )?into", episode.asked)
    left, right = await episode.boxes("#shape-container")
    shapes: list[dict[str, str]] = await episode.read(_SHAPES)
    for place, shape in enumerate(shapes):
        is_left = kind in (shape["colour"], shape["tag"]) or _TAGS.get(kind) == shape["tag"]
        await _drag_to(episode, On(_SHAPE, place=place), left if is_left else right)
    await episode.submit()


async def drag_items(episode: Episode) -> None:
    """Drag Olwen up by one position. Or to the top, or to the 3rd position."""
    name, where = match_groups(r"Drag (\S+) (.+)\.", episode.asked)
    items = await episode.texts("#sortable li")
    place = items.index(name)
    targets = {
        "up by one position": place - 1,
        "down by one position": place + 1,
        "to the top": 0,
        "to the bottom": len(items) - 1,
    }
    target = targets[where] if where in targets else int(match_groups(r"the (\d+)", where)[0]) - 1
    await _move(episode, place, target)


async def drag_items_grid(episode: Episode) -> None:
    """Drag Jinny to the center. Or left by one."""
    name, where = match_groups(r"Drag (\S+) (.+)\.", episode.asked)
    place = (await episode.texts("#sortable li")).index(name)
    steps = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    target = place + steps[where] if where in steps else _GRID.split(", ").index(where.removeprefix("to the "))
    await _move(episode, place, target)


async def drag_sort_numbers(episode: Episode) -> None:
    """Sort the numbers in increasing order, starting with the lowest number at the top of the list."""
    for target in range(4):
        numbers = [int(each) for each in await episode.texts("#sortable li")]
        place = numbers.index(min(numbers[target:]), target)
        if place != target:
            await _move(episode, place, target)
    await episode.submit()


async def drag_cube(episode: Episode) -> None:
    """Move the cube around so that "2" is the active side facing the user."""
    (side,) = quotes(episode.asked)
    wanted_x, wanted_y = _TURNED[side]
    while await episode.text(".active") != side:
        x, y = await episode.read("[cube.viewport.positionX, cube.viewport.positionY]")
        # It keeps turning after release, up to three times as far. Horizontal rotation depends on the side on top.
        down = _turn(y - wanted_y) / _SWING
        right = _turn(wanted_x - x) / _SWING if wanted_x is not None and abs(down) < _NEARLY else 0.0
        await episode.hover(_GRIP)
        await episode.drag(_GRIP, At(_GRIP.x + right, _GRIP.y + down))
    await episode.submit()


async def resize_textarea(episode: Episode) -> None:
    """Resize the textarea so that the height is larger than its initial size then press Submit."""
    dimension, size = match_groups(r"the (width|height) is (larger|smaller)", episode.asked)
    by = _FAR if size == "larger" else -_FAR
    x, y = (by, 0) if dimension == "width" else (0, by)
    await episode.drag_by(On(".ui-resizable-se"), x, y)
    await episode.submit()


async def daily_calendar(episode: Episode) -> None:
    """Create a 60 mins event named "Meeting", between 4PM and 8PM."""
    length, unit, begin = match_groups(r"Create a ([\d.]+) (min|hour)\w* event .* between (\d+)[AP]M", episode.asked)
    halves = round(float(length) / 30 if unit == "min" else float(length) * 2)
    first = {"8": 16, "12": 24, "4": 32}[begin]
    events = await episode.boxes(".event")
    is_free = [not any(event.contains(half.center) for event in events) for half in await episode.boxes(".half-hour")]
    start = next(start for start in range(first, first + 9 - halves) if all(is_free[start : start + halves]))
    await episode.drag(On(f"#hh-{start}"), On(f"#hh-{start + halves - 1}"))
    await episode.type(quotes(episode.asked)[0], On("#event-name"))
    await episode.click(On("#controls .create"))


async def _move(episode: Episode, place: int, target: int) -> None:
    """Drag one list item to the position of another."""
    item, other = [await episode.find(On("#sortable li", place=each)) for each in (place, target)]
    await episode.drag(item, other)


def _turn(angle: float) -> float:
    """The angle in degrees, normalised to the shorter direction."""
    return (angle + 180) % 360 - 180


async def _drag_to(episode: Episode, what: On, box: Box) -> None:
    """Drag something to the centre of a box that is only drawn."""
    begin = (await episode.find(what)).point
    await episode.drag_by(what, box.center.x - begin.x, box.center.y - begin.y)
