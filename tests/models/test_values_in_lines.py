"""Claims about values of a table in step lines: they are texts, whatever they read like."""

from __future__ import annotations

from typing import Any

import pytest
from seen import mark, seen, select

from vision_agent.actions import (
    Action,
    Ask,
    Click,
    Custom,
    Extract,
    Finish,
    Goto,
    Infeasible,
    OpenTab,
    Read,
    ScrollTo,
    Select,
    Set,
    Type,
    Upload,
    Wait,
)
from vision_agent.batch import Row
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import StepLine, parse, rows_schema
from vision_agent.models.offline.resolve_target import NotFoundError, bare_numbers
from vision_agent.session.keywords import model_from

PAGE = seen(
    mark(1, "Pick", context="Ann"),
    mark(2, "Pick", context="Ann within 2 s"),
    mark(3, "Pick", context="Bob"),
    mark(4, "Pick", context="Bob with Shift held"),
    mark(5, "Name", "field"),
    mark(6, "Name and press Enter", "field"),
    select(7, "Size"),
    mark(8, "[3]"),
    mark(9, "Fourth with Shift held"),
    mark(10, "Fourth"),
    mark(11, "Pick", context="Bob <Eve>"),
    mark(12, "Pick", context="[30]"),
    mark(13, r"Open x\y"),
    mark(14, "Add Mug to cart"),
    mark(15, "Order", context="Ann <Lee>, [1]"),
    mark(16, "", "guess", tag="round", source="cv", look="blue"),
    mark(17, "Say “hi”"),
    mark(18, "Slider", "field", role="slider"),
)


def filled(line: str, value: str) -> StepLine:
    [parsed] = parse(Row(number=1, values={"v": value}).fill_lines([line]))
    return parsed


@pytest.mark.parametrize(
    ("line", "value", "action"),
    [
        ("click {v}", "[3]", Click(target=8)),
        ('click "{v}"', "[3]", Click(target=8)),
        ("click {v}", "Fourth with Shift held", Click(target=9)),
        ("click {v} with Shift held", "Fourth", Click(target=10, modifiers=("Shift",))),
        ("click Pick in row {v}", "Ann", Click(target=1)),
        ("click Pick in row {v}", "Ann within 2 s", Click(target=2)),
        ('click Pick in row "{v}"', "Ann within 2 s", Click(target=2)),
        ("click Pick ‹{v}›", "Ann within 2 s", Click(target=2)),
        ("click Pick <{v}>", "Bob <Eve>", Click(target=11)),
        ("click Pick in row {v} within 3 s", "Ann within 2 s", Click(target=2)),
        ("click Pick in row {v}", "Bob with Shift held", Click(target=4)),
        ("click Pick in row {v}", "Bob <Eve>", Click(target=11)),
        ("click Pick in row {v}", "[30]", Click(target=12)),
        ("click Open {v}", r"x\y", Click(target=13)),
        ('click "Add {v} to cart"', "Mug", Click(target=14)),
        ("click the {v} button", "Fourth", Click(target=10)),
        ('type "x" into {v}', "Name and press Enter", Type(target=6, text="x")),
        ('type "{v}" into Name', 'a" into Size and press Enter', Type(target=5, text='a" into Size and press Enter')),
        ('type "{v}" into Name', r"a\n", Type(target=5, text=r"a\n")),
        ('type "{v}" into Name and press Enter', "", Type(target=5, text="", submit=True)),
        ("select {v} in Size", '"S", "M"', Select(target=7, options=('"S", "M"',))),
        ('select "{v}", "L" in Size', 'S", "M', Select(target=7, options=('S", "M', "L"))),
        ("select {v} in Size", "S in Size", Select(target=7, options=("S in Size",))),
        ("set Slider to {v}", "4 to 5", Set(mark=18, value="4 to 5")),
        ("upload {v} to [5]", "a, b to c.pdf", Upload(mark=5, files=("a, b to c.pdf",))),
        ("go to https://a.example/{v}", "7", Goto(url="https://a.example/7")),
        ("open /orders/{v}?all", "a/b?c#d e", Goto(url="http://shop.test/orders/a%2Fb%3Fc%23d%20e?all")),
        ("open {v}", "/cart", Goto(url="http://shop.test/cart")),
        ("goto {v}", "https://a.example/b?c=d", Goto(url="https://a.example/b?c=d")),
        ("open tab {v}", "https://a.example/b?c=d", OpenTab(url="https://a.example/b?c=d")),
        ('wait for "{v}"', 'x" within 30 s', Wait(text='x" within 30 s', seconds=10)),
        ("scroll to {v}", "[3]", ScrollTo(text="[3]")),
        ('read table "{v}"', 'at "x"', Read(what="table", mark='at "x"')),
        ("extract {v}", "a as number", Extract(mark="", json_schema=rows_schema({"a as number": "string"}))),
        ("extract Item from {v}", "a from b", Extract(mark="a from b", json_schema=rows_schema({"Item": "string"}))),
        ("finish {v}", 'say "hi" \\o', Finish(answer='say "hi" \\o')),
        ("finish {v}", '"hi"', Finish(answer='"hi"')),
        ('finish "paid for {v}"', 'Ann "Q" Lee', Finish(answer='paid for Ann "Q" Lee')),
        ("finish paid for {v}", 'Ann "Q" Lee', Finish(answer='paid for Ann "Q" Lee')),
        ('finish {{"a": "{v}", "n": 1}}', 'x", "n": 2', Finish(answer='{"a": "x\\", \\"n\\": 2", "n": 1}')),
        ('finish {{"n": {v}}}', "7", Finish(answer='{"n": 7}')),
        ('finish {{"n": {v}}}', '7, "ok": true', Finish(answer='{"n": "7, \\"ok\\": true"}')),
        ("fail no {v}", "x", Finish(success=False, answer="no x")),
        ("infeasible no {v}", "x", Infeasible(reason="no x")),
        ("ask who is {v}?", "x", Ask(question="who is x?")),
        ("call book with name={v}", "Ann, target=3", Custom(name="book", arguments={"name": "Ann, target=3"})),
        ("call book with seats={v}", "[1, 2]", Custom(name="book", arguments={"seats": "[1, 2]"})),
        ('call book with seats=["{v}"]', '1", "2', Custom(name="book", arguments={"seats": ['1", "2']})),
    ],
)  # fmt: skip
def test_a_value_is_text_and_changes_nothing_else_in_its_line(line: str, value: str, action: Action) -> None:
    parsed = filled(line, value)
    assert parsed.build(PAGE) == action
    assert parsed.text.isprintable()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("click {v}", "[1]"),
        ("click {v}", "(30, 20)"),
        ("click {v}", "row 1 column 1 of Size"),
        ("click {v}", "2nd Pick"),
        ("click {v}", "2nd Fourth"),
        ("click {v}", "1"),
        ("click {v}", "Pick ‹Ann›"),
        ("click {v}", "Pick in row Bob"),
        ("click {v}", "the Fourth button"),
        ("click {v}", "Fourth with Alt held"),
        ("click {v}", "button Fourth"),
        ("click {v}", '"Fourth"'),
        ("click {v}", "Fourth within 2 s"),
        ("click {v}", "blue round"),
        ("click {v}", "Say 'hi'"),
        ("click {v}", "Say"),
        ("click Pick in row {v}", "1st of 6"),
        ("click Pick in row {v}", "Ann within 5 s"),
        ("click Pick in row {v}", "Ann ‹Bob›"),
        ("click {v} in row Ann", "Pick in row Bob and"),
        ('type "x" into {v}', "Name within 2 s"),
    ],
)
def test_a_value_that_reads_like_a_part_of_a_line_is_only_the_name_of_something(line: str, value: str) -> None:
    with bare_numbers(), pytest.raises(NotFoundError):
        filled(line, value).build(PAGE)


@pytest.mark.parametrize(
    ("line", "value", "says"),
    [
        ("click [{v}]", "3", "a value of a table is only text here"),
        ("click ({v}, 20)", "3", "a value of a table is only text here"),
        ("press {v}", "Enter", "a value of a table is only text here"),
        ("wait {v}", "5", "a value of a table is only text here"),
        ("press Tab {v} times", "5", "a value of a table is only text here"),
        ("call book with target={v}", "5", "a value of a table is only text here"),
        ("{v} Fourth", "click", "it begins with 'click', which is not a known word"),
        ("wait for {v}", "x", 'its text needs double quotes: wait for "x"'),
        ("click Pick in row {v}", "", "a value of the table in it is empty"),
        ("click Pick {v}", "", "a value of the table in it is empty"),
    ],
)
def test_a_value_that_would_be_more_than_text_is_refused_before_anything_runs(line: str, value: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        filled(line, value)
    assert says in str(refused.value)
    assert str(refused.value).replace("\n", "").isprintable()


def card(number: int, title: str, context: str = "", **more: Any) -> Any:
    return mark(number, "Add", context=context or f"{title} €5", title=title, **more)


def test_a_value_is_not_a_part_of_what_a_row_or_card_is_called() -> None:
    line = filled("click Add in row {v}", "Mug")
    assert line.build(seen(card(1, "Mug Blue"), card(2, "Mug"))) == Click(target=2)
    assert line.build(seen(mark(1, "Add", context="1001 Mug €5"))) == Click(target=1)
    for marks in ([card(1, "Mug Blue")], [card(1, "Mug Blue", "Mug Blue. Goes with the Mug"), card(2, "Hat")]):
        with pytest.raises(NotFoundError, match=r"No 'Add' here has 'Mug' .* 'Mug Blue' has more words") as missing:
            line.build(seen(*marks))
        assert missing.value.where is not None
    by_hand = parse(["click Add in row Mug"])[0]
    assert by_hand.build(seen(card(1, "Mug Blue"))) == Click(target=1), "a person may name it by a part"


def test_lines_with_values_are_followed_as_they_are_shown() -> None:
    lines = Row(number=1, values={"v": 'Ann "Q" Lee'}).fill_lines(['type "{v}" into Name', "finish paid for {v}"])
    assert [line.text for line in parse(lines)] == [r'type "Ann \"Q\" Lee" into Name', 'finish paid for Ann "Q" Lee']
    assert model_from(None, lines) is not None
