"""Claims about the numbers of rows and columns at the edges of a grid."""

from __future__ import annotations

from tests.vision.test_surface import WHOLE, box, drawn, words
from vision_agent.geometry import Box
from vision_agent.observation import Grid, Mark
from vision_agent.vision.labels.annotate import draw, layer
from vision_agent.vision.labels.grid_labels import place_grid_labels
from vision_agent.vision.labels.place import place
from vision_agent.vision.picture import Picture
from vision_agent.vision.style import STYLE


def grid(
    rows: int, columns: int, at: tuple[int, int] = (200, 150), size: tuple[int, int] = (40, 30), surface: int | None = 1
) -> Mark:
    cells = tuple(
        (row, column, at[0] + (column - 1) * size[0], at[1] + (row - 1) * size[1], *size)
        for row in range(1, rows + 1)
        for column in range(1, columns + 1)
    )
    whole = Box(x=at[0], y=at[1], width=columns * size[0], height=rows * size[1])
    return Mark(
        number=7, tag="grid", role="grid", kind="guess", name="", box=whole, point=whole.center, source="cv",
        surface=surface, grid=Grid(rows=rows, columns=columns, cells=cells),
    )  # fmt: skip


def texts(mark: Mark, picture: Picture) -> dict[str, Box]:
    return {
        rim.text: Box(x=rim.rect[0], y=rim.rect[1], width=rim.rect[2] - rim.rect[0], height=rim.rect[3] - rim.rect[1])
        for rim in place_grid_labels([mark], picture, [], STYLE)
    }


def test_each_row_and_each_column_has_its_number_beside_it() -> None:
    found = texts(grid(4, 5), drawn())
    assert set(found) == {"R1", "R2", "R3", "R4", "C1", "C2", "C3", "C4", "C5"}
    assert found["R2"].right <= 200
    assert 180 <= found["R2"].center.y <= 210
    assert found["C3"].bottom <= 150
    assert 280 <= found["C3"].center.x <= 320


def test_they_stand_in_the_corners_of_the_cells_where_there_is_no_room_outside() -> None:
    found = texts(grid(20, 10, at=(0, 0), size=(80, 25)), drawn())
    assert all(WHOLE.intersection(each) == each for each in found.values())


def test_headings_of_the_grid_itself_are_not_covered() -> None:
    headings = [words(letter, 178, 172 + 30 * n) for n, letter in enumerate("ABCD")]
    others = [box(442, 100, 300, 300)]
    found = texts(grid(4, 6), drawn(*headings, *others))
    assert found["R1"].right <= 178 or found["R1"].x >= 190


def test_of_narrow_rows_some_are_numbered() -> None:
    found = texts(grid(30, 5, size=(40, 9)), drawn())
    assert {"R1", "R2", "R4"} <= set(found)
    assert "R3" not in found


def test_they_never_lie_on_the_number_of_a_mark() -> None:
    marks = place([grid(4, 5)], drawn())
    [mark] = marks
    assert mark.label is not None
    numbers = place_grid_labels(marks, drawn(), [mark.label.box], STYLE)
    assert numbers
    for left, top, right, bottom in (rim.rect for rim in numbers):
        assert mark.label.box.intersection(Box(x=left, y=top, width=right - left, height=bottom - top)) is None


def test_only_a_grid_that_was_asked_for_has_lines_between_its_cells() -> None:
    seen, asked = (layer(place([grid(4, 5, surface=surface)], drawn()), drawn()) for surface in (1, None))
    assert len(seen.lines) == 0
    assert len(asked.lines) == 3 + 4
    assert draw(drawn(), asked).encode().sha256 != draw(drawn(), seen).encode().sha256
