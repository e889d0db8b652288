"""Claims about the distinction of marks with the same name."""

from __future__ import annotations

import pytest

from vision_agent.describe.distinctions import (
    LONGEST,
    distinction_match,
    distinction_suffix,
    distinctions,
    is_all_of,
    safe_name,
)
from vision_agent.geometry import Box
from vision_agent.observation import Mark


def mark(number: int, context: str = "", heading: str = "", name: str = "Delete", **more: object) -> Mark:
    box = Box(x=0, y=20 * number, width=80, height=16)
    given = {"tag": "button", "role": "button", "kind": "button", "box": box, "point": box.center, **more}
    return Mark.model_validate({"number": number, "name": name, "context": context, "heading": heading, **given})


def said(*beside: str | tuple[str, str]) -> list[str]:
    """What tells marks with these contexts, or contexts and headings, apart."""
    marks = [mark(n, *([each] if isinstance(each, str) else each)) for n, each in enumerate(beside, 1)]
    found = distinctions(marks)
    return [str(found[each.number]) for each in marks]


def test_a_name_that_is_unique_gets_nothing() -> None:
    assert distinctions([mark(1, "Ann"), mark(2, "Ann", name="Edit")]) == {}
    assert distinction_suffix(mark(1, "Ann"), [mark(1, "Ann")]) == ""


@pytest.mark.parametrize(
    "other",
    [{"tag": "a"}, {"role": "link"}, {"kind": "link"}, {"name": "delete"}],
    ids=lambda each: next(iter(each)),
)
def test_what_the_listing_tells_apart_already_gets_nothing(other: dict[str, object]) -> None:
    assert distinctions([mark(1, "Ann"), mark(2, "Bob", **other)]) == {}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("contexts", "shown"),
    [
        (["Ann", "Bob"], ["Ann", "Bob"]),
        (["Ann wrote this", "Bob wrote this"], ["Ann", "Bob"]),
        (["Order of 3 May: fish", "Order of 3 May: bread"], ["fish", "bread"]),
        (["Ann Smith 17", "Ann Jones 18", "Bob Smith 19"], ["Ann Smith", "Jones", "Bob"]),
        (["Row 1", "Row 2"], ["Row 1", "Row 2"]),
        (["1", "2"], ["1", "2"]),
        (["-1", "1", "(-1.5)", "−2", "-$3"], ["-1", "1", "-1.5", "−2", "-$3"]),
        (["- 1", "2 -", "-a", "3-5"], ["1", "2 -", "-a", "3-5"]),
        (["A", "A-", "A+", "A*", "B–"], ["A", "A-", "A+", "A*", "B–"]),
        (["Zoom -", "Zoom +", "Zoom"], ["Zoom -", "Zoom +", "Zoom"]),
        (["Ann ->", "Bob*", "Cyd —", "* Dan", "Eve - Rome"], ["Ann", "Bob", "Cyd", "Dan", "Eve"]),
        (["In stock", "Not in"], ["stock", "Not"]),
        (["Ann", "Ann Smith"], ["Ann", "Smith"]),
        (["Ann", "ANN", "Bob"], ["Ann, 1st of 2", "Ann, 2nd of 2", "Bob"]),
        (["(Ann),", "«Bob»"], ["Ann", "Bob"]),
        (["张三", "李四"], ["张三", "李四"]),
        (['url("https://a.example/1.png")', 'url("https://a.example/2.png")'], ["1st of 2", "2nd of 2"]),
        (['url("/1.png', "url(/2.png) Ann"], ["1st of 2", "Ann"]),
        (["linear-gradient(rgba(1, 2, 3, 0.5), red) Ann", "linear-gradient(red, blue) Bob"], ["Ann", "Bob"]),
        (["data:image/png;base64,AAAA", "data:image/png;base64,BBBB"], ["1st of 2", "2nd of 2"]),
        (["M2 2h10v10H2z", "M3 3 L 10 10 V 4 z"], ["1st of 2", "2nd of 2"]),
        (["m-1.5,2 3-4 l5 6 Ann", "M2 2h10v10H2"], ["Ann", "2nd of 2"]),
        (["M2 2 left", "M3 3 left"], ["M2 2", "M3 3"]),
        (["Model M2 MacBook", "Model M3 MacBook"], ["Model M2", "Model M3"]),
        (["M1 A4 paper", "M1 A5 paper"], ["M1 A4", "M1 A5"]),
        (["img/ann.png", "img/bob.png"], ["img/ann.png", "img/bob.png"]),
        (["", "", ""], ["1st of 3", "2nd of 3", "3rd of 3"]),
        (["", "Ann"], ["1st of 2", "Ann"]),
        (["Ann", "Bob"] * 2, ["Ann, 1st of 2", "Bob, 1st of 2", "Ann, 2nd of 2", "Bob, 2nd of 2"]),
    ],
    ids=lambda value: " | ".join(value)[:40],
)  # fmt: skip
def test_the_first_words_that_no_other_has_are_enough(contexts: list[str], shown: list[str]) -> None:
    assert said(*contexts) == shown


@pytest.mark.parametrize(("words", "strength"), [("-1", 2), ("−1", 2), ("1", 0)])
def test_the_sign_of_a_number_tells_it_from_its_positive(words: str, strength: int) -> None:
    marks = [mark(1, "-1"), mark(2, "1")]
    assert distinction_match(marks[0], words, distinctions(marks)[1]) == strength


def test_where_the_words_beside_are_the_same_the_heading_tells() -> None:
    assert said(("", "Staff"), ("", "Guests")) == ["Staff", "Guests"]
    assert said(("Ann", "Staff"), ("Ann", "Guests"), ("Bob", "Staff")) == ["Ann, Staff", "Ann, Guests", "Bob"]


def test_what_rows_are_called_themselves_tells_them_apart_if_all_are_called_something_else() -> None:
    cards = [
        mark(1, "Mug 12 cm", title="Mug"),
        mark(2, "Mug Blue 9 cm", title="Mug Blue"),
        mark(3, "Tray", title="Tray"),
    ]
    assert [str(each) for each in distinctions(cards).values()] == ["Mug", "Mug Blue", "Tray"]
    loose = [*cards[:2], mark(3, "Goes with the Mug")]
    assert [str(each) for each in distinctions(loose).values()] == ["Mug 12", "Blue", "Goes"]
    shown = distinctions(loose)
    assert [distinction_match(each, "mug", shown[each.number]) for each in loose] == [2, 1, 1]


def test_words_that_are_also_beside_another_under_another_heading_get_their_own() -> None:
    rows = [mark(1, "Ann", "North"), mark(2, "Bob", "North"), mark(3, "South Ann", title="South")]
    shown = distinctions(rows)
    assert [str(shown[row.number]) for row in rows] == ["Ann, North", "Bob", "South"]
    assert {row.number: distinction_match(row, "Ann", shown[row.number]) for row in rows} == {1: 1, 2: 0, 3: 1}
    under_one = [mark(1, "Ann", "North"), mark(2, "Ann Lee", "North")]
    assert [str(each) for each in distinctions(under_one).values()] == ["Ann", "Lee"]


def test_what_is_shown_is_short_and_differs_also_where_the_words_are_endless() -> None:
    shown = said("x" * 500 + "1", "y" * 500, "x" * 500 + "2", "same " * 200 + "end", "same " * 200)
    assert len(set(shown)) == 5
    assert all(len(each.partition(",")[0]) <= LONGEST for each in shown)


def test_things_without_a_name_are_told_apart_too_and_what_is_drawn_is_not() -> None:
    boxes = [mark(n, who, name="", tag="input", role="checkbox", kind="toggle") for n, who in [(1, "Ann"), (2, "Bob")]]
    assert [distinction_suffix(each, boxes) for each in boxes] == [" ‹Ann›", " ‹Bob›"]
    drawn = [mark(n, name="", source="cv", kind="guess") for n in (1, 2)]
    assert distinctions(drawn) == {}


@pytest.mark.parametrize("forged", ["Ann› ‹Bob", "‹Ann›", "⟨Ann⟩", "❮Ann❯ \u202e"])
def test_no_word_of_the_page_has_the_signs_that_we_write(forged: str) -> None:
    shown = distinction_suffix(mark(1, forged), [mark(1, forged), mark(2, "")])
    assert shown.count("‹") == shown.count("›") == 1
    assert shown.endswith("›")
    assert shown.isprintable()


def test_a_name_that_claims_to_stand_beside_words_is_written_in_other_signs() -> None:
    assert safe_name("Delete ‹Bob›") == "Delete <Bob>"
    assert safe_name("Delete ❮Bob❯⟨x⟩") == "Delete <Bob><x>"
    assert [safe_name(each) for each in ("‹ Back", "Next ›", "Ann's")] == ["‹ Back", "Next ›", "Ann's"]


def test_words_are_meant_for_a_mark_the_more_surely_the_more_of_its_own_they_are() -> None:
    one = mark(1, "Ann Smith, ann@example.org", "Staff")
    shown = distinctions([one, mark(2, "Bob Smith")])[1]
    words = ["ann", "Ann Smith, ann@example.org", "Smith", "Ann Smith, Staff", "Staff", "An", "", "2nd of 2"]
    assert [distinction_match(one, each, shown) for each in words] == [2, 1, 1, 1, 1, 0, 0, 0]
    assert distinction_match(mark(1, "x" * 90), "x" * 39 + "…", None) == 1


def test_a_heading_that_is_also_a_row_under_another_one_does_not_tell_alone() -> None:
    assert said(("Bob", "Ann"), ("Cid", "Bob")) == ["Bob, Ann", "Cid"]
    assert said(("Bob", "Team Ann"), ("Ann", "Team Bob")) == ["Bob, Team Ann", "Ann, Team Bob"]
    assert said(("Bob", ""), ("Cid", "Bob")) == ["Bob, 1st of 2", "Cid"]
    assert said(("Bob", "Bob"), ("Cid", "Bob")) == ["Bob, Bob", "Cid"]
    rows = [mark(1, "Ann 3", "Bob", title="Ann"), mark(2, "Bob 4", "Ann", title="Bob")]
    assert [str(each) for each in distinctions(rows).values()] == ["Ann, Bob", "Bob, Ann"]


def test_what_a_card_is_called_may_be_the_only_row_of_another_one() -> None:
    cards = [mark(1, "Sales Support", title="Sales"), mark(2, "Support Sales", title="Support")]
    assert [str(each) for each in distinctions(cards).values()] == ["Sales Support", "Support Sales"]
    assert [is_all_of(each, "Support") for each in cards] == [True, True]


def test_words_of_a_row_are_not_those_of_the_heading_over_it() -> None:
    rows = [mark(1, "Bob", "Ann"), mark(2, "Cid", "Bob")]
    shown = distinctions(rows)

    def matches(words: str) -> list[int]:
        return [row.number for row in rows if distinction_match(row, words, shown[row.number], in_row=True)]

    assert [matches(each) for each in ("Bob", "Ann", "Bob, Ann", "Cid")] == [[1], [], [1], [2]]
    assert [distinction_match(row, "Bob", shown[row.number]) for row in rows] == [1, 1]


def test_a_row_that_others_lie_in_is_called_by_what_it_says_up_to_them() -> None:
    rows = [
        mark(1, "Archive Reports", wording={"own": ["Archive"]}),
        mark(2, "Reports", wording={"outer": "Archive"}),
        mark(3, "Reports 2026", wording={"own": ["Reports"]}),
        mark(4, "2026", wording={"outer": "Reports"}),
    ]
    shown = distinctions(rows)
    assert [str(each) for each in shown.values()] == ["Archive", "Reports, Archive", "Reports 2026", "2026"]
    assert [is_all_of(row, "Reports") for row in rows] == [False, True, True, False]


def test_a_comma_alone_tells_no_row_from_another() -> None:
    rows = [
        mark(1, "Fruit Apple", wording={"own": ["Fruit"]}),
        mark(2, "Apple", wording={"outer": "Fruit"}),
        mark(3, "Apple Fruit", wording={"own": ["Apple"]}),
        mark(4, "Fruit", wording={"outer": "Apple"}),
    ]
    told = ["Fruit, 1st of 2", "Apple, Fruit", "Apple, 2nd of 2", "Fruit, Apple"]
    shown = distinctions(rows)
    assert [str(each) for each in shown.values()] == told
    for words in told:
        best = [row.number for row in rows if distinction_match(row, words, shown[row.number]) == 2]
        assert best == [told.index(words) + 1]


def test_words_that_a_cell_denies_are_not_beside() -> None:
    paid, unpaid, cells = (
        mark(n, " ".join(parts), wording={"parts": parts})
        for n, parts in [(1, ["Ann", "paid"]), (2, ["Bob", "not paid"]), (3, ["No", "paid"])]
    )
    assert [distinction_match(each, "paid", None) for each in (paid, unpaid, cells)] == [1, 0, 1]
    assert distinction_match(unpaid, "not paid", None) == 1


def test_where_words_and_headings_are_the_same_what_it_lies_in_or_what_is_further_off_tells() -> None:
    panels = [mark(1, wording={"within": ["Billing"]}), mark(2, wording={"within": ["Shipping"]}), mark(3)]
    assert [str(each) for each in distinctions(panels).values()] == ["Billing", "Shipping", "3rd of 3"]
    phones = [mark(n, "", "Phone", wording={"over": ["Phone", home, "Shop"]}) for n, home in [(1, "Work"), (2, "Home")]]
    assert [str(each) for each in distinctions(phones).values()] == ["Work", "Home"]
    phones.append(mark(3, "", "Address"))
    assert [str(each) for each in distinctions(phones).values()] == ["Phone, Work", "Phone, Home", "Address"]
    row = mark(4, "Billing", wording={"within": ["Shop"]})
    assert str(distinctions([*panels, row])[1]) == "1st of 4"
