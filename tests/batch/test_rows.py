"""Claims about tables: how their rows are read, and how their values get into texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from vision_agent.batch import Row, read_rows
from vision_agent.errors import UsageError
from vision_agent.text.values_apart import without_signs

ROW = Row(number=3, values={"product": 'mug "blue"', "name": "Ann & Bob/Co", "url": "https://shop.example/a?b=c"})


def table(folder: Path, text: str, name: str = "orders.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'product,name\nmug,"Ann, ""the"" boss"\n\nhat,Bob\n'),
        ("a.csv", '\ufeffproduct;name\r\nmug;"Ann, ""the"" boss"\r\nhat;Bob\r\n'),
        ("a.tsv", 'product\tname\nmug\t"Ann, ""the"" boss"\nhat\tBob'),
        ("a.jsonl", '{"product": "mug", "name": "Ann, \\"the\\" boss"}\n\n{"product": "hat", "name": "Bob"}'),
    ],
    ids=["commas", "semicolons of a spreadsheet", "tabs", "JSON Lines"],
)
def test_a_table_is_read_in_each_form(name: str, text: str, tmp_path: Path) -> None:
    rows = read_rows(table(tmp_path, text, name))
    assert [row.number for row in rows] == [1, 2]
    assert [row.values for row in rows] == [
        {"product": "mug", "name": 'Ann, "the" boss'},
        {"product": "hat", "name": "Bob"},
    ]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\x1d", "\x1e"], ids=ascii)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=ascii)
def test_only_line_feeds_and_carriage_returns_end_a_row(sign: str, end: str, tmp_path: Path) -> None:
    named = table(tmp_path, f"who;no{sign}te{end}Ann{sign}Lee;1{end}Bob;2{end}")
    assert [row.values for row in read_rows(named)] == [
        {"who": f"Ann{sign}Lee", f"no{sign}te": "1"},
        {"who": "Bob", f"no{sign}te": "2"},
    ]
    with pytest.raises(UsageError, match=r"Line 3 of .* 1 value for 2 columns"):
        read_rows(table(tmp_path, f"who;note{end}Ann{sign}Lee;1{end}Bob{end}"))


def test_values_of_json_are_texts_as_they_are_written_there(tmp_path: Path) -> None:
    (row,) = read_rows(table(tmp_path, '{"n": 2, "price": 1.50, "ok": true, "note": null, "no": "1.0"}', "a.jsonl"))
    assert row.values == {"n": "2", "price": "1.50", "ok": "true", "note": "", "no": "1.0"}


@pytest.mark.parametrize("number", ["0.00001", "12345678901234567890.12", "1.10", "1E5", "-0", "1e400", "7" * 5000])
def test_no_digit_of_a_number_in_json_is_changed(number: str, tmp_path: Path) -> None:
    (row,) = read_rows(table(tmp_path, f'{{"n": {number}}}', "a.jsonl"))
    assert row.values == {"n": number}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "has no rows"),
        ("a.csv", "product,name\n", "has no rows"),
        ("a.csv", "product,name\nmug\n", "Line 2 .* 1 value for 2 columns"),
        ("a.csv", "product,product\nmug,hat\n", "two columns called 'product'"),
        ("a.csv", "product,\nmug,hat\n", "column without a name"),
        ("a.csv", '"product\nmug', "cannot be used"),
        ("a.csv", f"product\n{'x' * 10_001}\n", "Line 2 .* longer than"),
        ("a.jsonl", '{"a": 1}\n{"a": [1]}', "Line 2 .* 'a' is no text"),
        ("a.jsonl", "[1]", "Line 1 .* no JSON object"),
        ("a.jsonl", "{", "Line 1 .* no JSON"),
        ("a.jsonl", '{"a": 1}\n{"a": "Ann", "b": 2, "a": "Bob"}', "Line 2 .* it has 'a' twice"),
        ("a.jsonl", '{"a": 1}\n{"a": NaN}', "Line 2 .* no JSON: NaN is no number"),
        ("a.jsonl", '{"a": -Infinity}', "Line 1 .* no JSON: -Infinity is no number"),
        ("a.jsonl", '{"a": {"b": 1}}', "Line 1 .* 'a' is no text"),
        ("a.jsonl", f'{{"a": {"[" * 100_000}', "Line 1 .* no JSON"),
        ("a.jsonl", '{"a": 0012}', "Line 1 .* no JSON"),
        ("a.jsonl", '{"a": "\\ud83d"}', "Line 1 .* 'a' has one half of a character"),
        ("a.xlsx", "", r"must end in one of \.csv"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        read_rows(table(tmp_path, text, name))


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.csv cannot be read: there is no such file$"):
        read_rows(tmp_path / "none.csv")


def test_values_stand_where_their_columns_are_named_and_doubled_braces_are_braces() -> None:
    assert ROW.fill("Order {product} for {name}, {{really}}") == 'Order mug "blue" for Ann & Bob/Co, {really}'


def test_a_value_cannot_end_its_part_of_an_address() -> None:
    assert ROW.fill_address("https://a.example/{name}?q={product}") == (
        "https://a.example/Ann%20%26%20Bob%2FCo?q=mug%20%22blue%22"
    )
    assert ROW.fill_address("{url}") == "https://shop.example/a?b=c"


def test_a_value_cannot_end_its_quotes_or_its_line_in_a_step() -> None:
    [line] = ROW.fill_lines(['type "{product}" into Gift'])
    assert without_signs(line) == r'type "mug \"blue\"" into Gift'
    with pytest.raises(UsageError, match="Row 4 has a value that cannot stand in a step line"):
        Row(number=4, values={"a": "x\nclick Pay"}).fill_lines(['type "{a}" into Gift'])


@pytest.mark.parametrize("around", [" ", "\t", "\u00a0", "\u2003 ", "\u202f", "\u3000"], ids=ascii)
def test_blanks_around_a_value_do_not_stand_in_a_step_and_those_inside_do(around: str) -> None:
    for inside in (" ", "  ", "\u00a0", " \u00a0 "):
        row = Row(number=1, values={"a": f"{around}Ann{inside}Lee{around}"})
        [line] = row.fill_lines(['type "{a}" into Gift'])
        assert without_signs(line) == f'type "Ann{inside}Lee" into Gift'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Ann\nLee", "a line break"),
        ("Ann\r\nLee", "a line break"),
        ("Ann\n", "a line break"),
        ("Ann\u2028Lee", "a line break"),
        ("Ann\x0cLee", "a line break"),
        ("Ann\tLee", "a tab"),
        ("Ann\x07Lee", r"the control character U\+0007"),
        ("Ann\x1fLee", r"the control character U\+001F"),
        ("Ann\u200bLee", r"the character that is not seen, U\+200B zero width space"),
        ("\ufeffAnn", r"the character that is not seen, U\+FEFF zero width no-break space"),
        ("Ann\u2069", r"the character that is not seen, U\+2069 pop directional isolate"),
    ],
    ids=ascii,
)
def test_what_cannot_stand_in_a_step_is_called_by_its_name(value: str, said: str) -> None:
    with pytest.raises(
        UsageError, match=rf"Row 1 .* cannot stand in a step line: Ann.*\(it has {said} in it, and must"
    ):
        Row(number=1, values={"a": value}).fill_lines(['type "{a}" into Gift'])


@pytest.mark.parametrize("value", ["<secret:pin>", "<private:customer", "Ann <secret:pin>"])
def test_a_value_in_a_step_stands_for_no_secret(value: str) -> None:
    with pytest.raises(UsageError, match="Row 1 has a value that would stand for a secret in a step line: "):
        Row(number=1, values={"a": value}).fill_lines(['type "{a}" into Gift'])


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"no column 'prodct' .*'product', 'name'"):
        ROW.fill("Order {prodct}")
