"""Claims about words in rows and columns, from their boxes alone."""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.geometry import Box
from vision_agent.vision.surfaces.word_tables import WordTable, find_word_tables

WIDTHS = ((52, 30, 40), (70, 44, 33), (61, 38, 41), (90, 30, 28))


def line(x: float, y: float, width: float, height: float = 12) -> Box:
    return Box(x=x, y=y, width=width, height=height)


def rows(places: Sequence[float], ends: Sequence[bool], top: float = 100, pitch: float = 30) -> list[Box]:
    """Texts at these places, flush left or, where `ends` says so, flush right."""
    return [
        line(place - width if is_end else place, top + row * pitch, width)
        for row, widths in enumerate(WIDTHS)
        for place, is_end, width in zip(places, ends, widths, strict=True)
    ]


def shape(table: WordTable) -> tuple[int, int]:
    return len(table.levels), len(table.columns)


def test_texts_in_line_and_level_are_a_table_whichever_edge_they_share() -> None:
    [table] = find_word_tables(rows((40, 300, 520), (False, False, True))).tables
    assert shape(table) == (4, 3)
    assert all(len(column.texts) == 4 for column in table.columns)


def test_a_menu_beside_a_table_is_no_column_of_it() -> None:
    menu = [line(10, 80 + 47 * at, 50) for at in range(6)]
    [table] = find_word_tables([*menu, *rows((240, 480, 700), (False, False, True))]).tables
    assert shape(table) == (4, 3)


def test_a_title_and_a_note_are_no_rows() -> None:
    apart = [line(40, 60, 120, 18), line(40, 245, 200)]
    [table] = find_word_tables([*apart, *rows((40, 300, 520), (False, False, True))]).tables
    assert shape(table) == (4, 3)


def test_the_second_line_of_a_text_is_in_the_row_of_the_first() -> None:
    [table] = find_word_tables([*rows((40, 300, 520), (False, False, True)), line(40, 115, 60)]).tables
    assert shape(table) == (4, 3)
    assert len(table.columns[0].texts[0]) == 2


def test_a_column_with_few_texts_is_found_and_its_other_cells_are_empty() -> None:
    [table] = find_word_tables([*rows((40, 300, 520), (False, False, True)), line(560, 130, 30)]).tables
    assert shape(table) == (4, 4)
    assert sorted(table.columns[3].texts) == [1]


def test_two_tables_one_below_the_other_are_two() -> None:
    below = rows((40, 300, 520), (False, False, True), top=400)
    found = find_word_tables([*rows((40, 300, 520), (False, False, True)), *below])
    assert [shape(each) for each in found.tables] == [(4, 3), (4, 3)]


def test_four_buttons_scattered_words_and_one_column_are_no_table() -> None:
    buttons = [line(40 + 100 * column, 40 + 40 * row, 50) for row in range(2) for column in range(2)]
    scattered = [line(60 + (at * 257) % 700, 40 + (at * 139) % 460, 40 + at) for at in range(12)]
    column = [line(40, 40 + 30 * at, 40 + 7 * at) for at in range(8)]
    for lines in (buttons, scattered, column, []):
        assert find_word_tables(lines).tables == ()


def test_a_text_that_may_be_in_two_columns_makes_no_table() -> None:
    names = [line(100, 100 + 30 * row, 40) for row in range(5)]
    numbers = [line(x, 100 + 30 * row, 30) for x in (300, 390) for row in (0, 1, 3, 4)]
    assert [shape(each) for each in find_word_tables([*names, *numbers]).tables] == [(5, 3)]
    found = find_word_tables([*names, *numbers, line(350, 160, 20)])
    assert (found.tables, found.is_unclear) == ((), True)


def test_headings_left_of_numbers_that_are_in_line_at_the_right_are_those_of_the_numbers() -> None:
    names = [line(46, 80 + 30 * row, width) for row, width in enumerate((26, 28, 47, 38, 24))]
    codes = [line(346, 80 + 30 * row, 20) for row in range(5)]
    numbers = [
        line(right - width, 80 + 30 * row, width)
        for right, widths in ((234, (22, 22, 30, 15, 8)), (334, (26, 26, 26, 26, 26)))
        for row, width in enumerate(widths)
    ]
    heads = [line(x, 50, width) for x, width in ((46, 36), (146, 24), (246, 28), (346, 32))]
    [table] = find_word_tables([*names, *numbers, *codes, *heads]).tables
    assert shape(table) == (6, 4)
    assert [column.texts[0] for column in table.columns] == [[head] for head in heads]


def test_a_row_of_headings_is_found_where_none_is_in_line_with_its_numbers() -> None:
    names = [line(10 + at % 2 * 0.5, 58 + 30 * at, width) for at, width in enumerate((26, 25, 50, 38))]
    numbers = [
        line(right - width, 58 + 30 * row, width)
        for right, widths in ((250, (23, 23, 31, 15)), (360, (27, 28, 27, 28)), (470, (34, 33, 35, 36)))
        for row, width in enumerate(widths)
    ]
    heads = [line(x, 28, width) for x, width in ((10, 29), (150, 23), (260, 33), (370, 32))]
    [table] = find_word_tables([*names, *numbers, *heads]).tables
    assert shape(table) == (5, 4)
    assert [column.texts[0] for column in table.columns] == [[head] for head in heads]
