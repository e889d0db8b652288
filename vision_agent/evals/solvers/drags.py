"""Things that are dragged: onto another, to a place, in a direction, by a handle."""

from __future__ import annotations

from vision_agent.evals.solvers.asked import found, quoted
from vision_agent.evals.solvers.episode import At, Episode, On
from vision_agent.types import Box

_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_FAR = 25
"""Pixels; the drawings are 150 wide."""
_TAGS = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}
_SHAPE = "#area_svg > :not(#shape-container)"
_SHAPES = f"""Array.from(document.querySelectorAll('{_SHAPE}'), each =>
    ({{ tag: each.localName, colour: each.getAttribute('fill') }}))"""
_BOXES = """Array.from(document.querySelectorAll('#shape-container'), each => each.getBoundingClientRect())
    .map(({ x, y, width, height }) => ({ x, y, width, height }))"""
_ITEMS = "Array.from(document.querySelectorAll('#sortable li'), each => each.textContent.trim())"
_TAKEN = """Array.from(document.querySelectorAll('.half-hour')).map((half, place) => [half.getBoundingClientRect(), place])
    .filter(([half]) => Array.from(document.querySelectorAll('.event'), event => event.getBoundingClientRect())
        .some(event => event.top < half.bottom - 4 && event.bottom > half.top + 4)).map(([, place]) => place)"""
_CORNERS = [f"to the {name}" for name in (
    "top left", "top center", "top right", "center left", "center", "center right", "bottom left", "bottom center",
    "bottom right")]


async def drag_box(episode: Episode) -> None:
    """Drag the smaller box so that it is completely inside the larger box."""
    await episode.drag(On("#draggableSmall"), On("#draggableLarge"))
    await episode.submit()


async def drag_shape(episode: Episode) -> None:
    """Drag the circle right then press Submit."""
    (way,) = found(r"(left|right|up|down) then", episode.asked)
    shape = await episode.find(On("#area svg > *"))
    x, y = _WAYS[way]
    await episode.drag(shape, At(shape.point.x + x * _FAR, shape.point.y + y * _FAR))
    await episode.submit()


async def drag_shapes(episode: Episode) -> None:
    """Drag all triangles into the black box."""
    (kind,) = found(r"all (rectangles|circles|triangles) into", episode.asked)
    (box,) = await episode.read(_BOXES)
    shapes: list[dict[str, str]] = await episode.read(_SHAPES)
    for place, shape in enumerate(shapes):
        if shape["tag"] == _TAGS[kind]:
            await episode.drag(On(_SHAPE, place=place), _middle(box))
    await episode.submit()


async def drag_shapes_2(episode: Episode) -> None:
    """Drag all blue shapes into the left box, and everything else into the right box."""
    (kind,) = found(r"all (\w+) (?:shapes )?into", episode.asked)
    left, right = await episode.read(_BOXES)
    shapes: list[dict[str, str]] = await episode.read(_SHAPES)
    for place, shape in enumerate(shapes):
        is_left = kind in (shape["colour"], shape["tag"]) or _TAGS.get(kind) == shape["tag"]
        await episode.drag(On(_SHAPE, place=place), _middle(left if is_left else right))
    await episode.submit()


async def drag_items(episode: Episode) -> None:
    """Drag Olwen up by one position. Or to the top, or to the 3rd position."""
    name, where = found(r"Drag (\S+) (.+)\.", episode.asked)
    items: list[str] = await episode.read(_ITEMS)
    place = items.index(name)
    targets = {
        "up by one position": place - 1,
        "down by one position": place + 1,
        "to the top": 0,
        "to the bottom": len(items) - 1,
    }
    target = targets[where] if where in targets else int(found(r"the (\d+)", where)[0]) - 1
    await episode.drag(On("#sortable li", place=place), On("#sortable li", place=target))


async def drag_items_grid(episode: Episode) -> None:
    """Drag Jinny to the center. Or left by one."""
    name, where = found(r"Drag (\S+) (.+)\.", episode.asked)
    place = (await episode.read(_ITEMS)).index(name)
    steps = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    target = place + steps[where] if where in steps else _CORNERS.index(where)
    await episode.drag(On("#sortable li", place=place), On("#sortable li", place=target))


async def drag_sort_numbers(episode: Episode) -> None:
    """Sort the numbers in increasing order, starting with the lowest number at the top of the list."""
    for target in range(4):
        numbers = [int(each) for each in await episode.read(_ITEMS)]
        place = numbers.index(min(numbers[target:]), target)
        if place != target:
            await episode.drag(On("#sortable li", place=place), On("#sortable li", place=target))
    await episode.submit()


async def resize_textarea(episode: Episode) -> None:
    """Resize the textarea so that the height is larger than its initial size then press Submit."""
    dimension, size = found(r"the (width|height) is (larger|smaller)", episode.asked)
    handle = await episode.find(On(".ui-resizable-se"))
    by = _FAR if size == "larger" else -_FAR
    x, y = (by, 0) if dimension == "width" else (0, by)
    await episode.drag(handle, At(handle.point.x + x, handle.point.y + y))
    await episode.submit()


async def daily_calendar(episode: Episode) -> None:
    """Create a 60 mins event named "Meeting", between 4PM and 8PM."""
    length, unit, begin = found(r"Create a ([\d.]+) (min|hour)\w* event .* between (\d+)[AP]M", episode.asked)
    halves = round(float(length) / 30 if unit == "min" else float(length) * 2)
    first = {"8": 16, "12": 24, "4": 32}[begin]
    taken: list[int] = await episode.read(_TAKEN)
    start = next(at for at in range(first, first + 8) if not {at - 1, *range(at, at + halves + 1)} & set(taken))
    await episode.drag(On(f"#hh-{start}"), On(f"#hh-{start + halves - 1}"))
    await episode.type(quoted(episode.asked)[0], On("#event-name"))
    await episode.click(On("#controls .create"))


def _middle(box: dict[str, float]) -> At:
    middle = Box(**box).center
    return At(middle.x, middle.y)


async def drag_cube(episode: Episode) -> None:
    """Move the cube around so that "2" is the active side facing the user."""
    raise NotImplementedError
