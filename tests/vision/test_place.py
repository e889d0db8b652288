"""Claims about where numbers go. The rules are checked here pair by pair, not with the tables that placing uses."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import hypot

import cv2
import numpy as np
import pytest

from tests.vision.pictures import shown
from vision_agent.evals.perception.covered import covered
from vision_agent.geometry import Box, Size
from vision_agent.observation import Kind, Mark
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.labels.annotate import layer
from vision_agent.vision.labels.legibility import faults, tiles
from vision_agent.vision.labels.place import carry_out, place, plan
from vision_agent.vision.picture import Picture
from vision_agent.vision.style import PALETTE

Place = tuple[float, float, float, float]


def marks_at(places: Iterable[Place], kind: Kind = "button", first: int = 1) -> list[Mark]:
    boxes = [Box(x=x, y=y, width=width, height=height) for x, y, width, height in places]
    return [
        Mark(number=number, tag=kind, role=kind, kind=kind, name="", box=box, point=box.center)
        for number, box in enumerate(boxes, first)
    ]


def grid(
    columns: int, rows: int, width: float, height: float, x: float = 40, y: float = 40, gap: float = 0
) -> list[Place]:
    return [
        (x + column * (width + gap), y + row * (height + gap), width, height)
        for row in range(rows)
        for column in range(columns)
    ]


def blank(width: int = 1280, height: int = 800, ratio: float = 1) -> Picture:
    return shown(np.full((round(height * ratio), round(width * ratio), 3), 255, np.uint8), ratio)


def table(rows: int) -> list[Place]:
    columns = ((12, 13, 13), (40, 78, 17), (150, 140, 17), (330, 24, 17), (360, 40, 17), (420, 16, 16))
    return [(x, 20 + row * 20 + 1, width, height) for row in range(rows) for x, width, height in columns]


def paragraph(lines: int, seed: int) -> list[Place]:
    chance, places = random.Random(seed), []
    for line in range(lines):
        x = 10.0
        while x < 600:
            width = chance.uniform(18, 70)
            if chance.random() < 0.3:
                places.append((x, 30 + line * 18 + 0.5, width, 17))
            x += width + 4
    return places


LAYOUTS: dict[str, list[Place]] = {
    "toolbar of icons that touch": grid(25, 1, 24, 24) + grid(25, 2, 24, 24, y=200),
    "toolbar of icons that touch at the corner of the page": grid(30, 2, 24, 24, x=0, y=0),
    "calendar": grid(7, 6, 32, 32),
    "small calendar": grid(7, 6, 21, 21),
    "checkboxes in rows": grid(6, 20, 13, 13, gap=5),
    "table rows with links": table(38),
    "links in a paragraph": paragraph(20, 1),
    "form": [(12, 40 + row * 58, 360, 30) for row in range(6)] + grid(3, 1, 13, 13, y=420, gap=70),
    "keys of a keyboard": grid(14, 5, 40, 28, gap=2),
}


def scattered(seed: int, many: int) -> list[Place]:
    """Boxes of all sizes that lie apart, or one in another, as a page has them."""
    chance, places = random.Random(seed), []
    while len(places) < many:
        width, height = chance.choice([(13, 13), (24, 24), (60, 17), (90, 30), (300, 34), (260, 160)])
        new = (chance.uniform(0, 1280 - width), chance.uniform(0, 800 - height), width, height)
        if all(apart(new, old) or within(new, old) or within(old, new) for old in places):
            places.append(new)
    return places


def apart(one: Place, other: Place) -> bool:
    return _box(one).intersection(_box(other)) is None


def within(inner: Place, outer: Place) -> bool:
    return _box(inner).intersection(_box(outer)) == _box(inner)


def _box(place: Place) -> Box:
    x, y, width, height = (round(edge) for edge in place)
    return Box(x=x, y=y, width=width, height=height)


def drawn(mark: Mark, picture: Picture) -> Box:
    inside = picture.map.box_to_picture(mark.box)
    x, y = round(inside.x), round(inside.y)
    return Box(x=x, y=y, width=round(inside.right) - x, height=round(inside.bottom) - y)


def label(mark: Mark) -> Box:
    assert mark.label is not None
    return mark.label.box


def is_in(inner: Box, outer: Box) -> bool:
    common = inner.intersection(outer)
    return common is not None and common.width * common.height >= 0.9 * inner.width * inner.height


def broken(placed: Sequence[Mark], picture: Picture) -> list[str]:
    """Every broken hard rule, in words."""
    found, boxes = [], {mark.number: drawn(mark, picture) for mark in placed}
    for mark in placed:
        at = label(mark)
        if at.x < 0 or at.y < 0 or at.right > picture.size.width or at.bottom > picture.size.height:
            found.append(f"label {mark.number} is outside the picture")
        for other in placed:
            if other is mark or is_in(boxes[mark.number], boxes[other.number]):
                continue
            on, own = at.intersection(boxes[other.number]), at.intersection(boxes[mark.number])
            shared = on.intersection(own) if on and own else None
            if on and on != shared:
                found.append(f"label {mark.number} is on target {other.number}")
            elif on and is_in(boxes[other.number], boxes[mark.number]):
                found.append(f"label {mark.number} is on {other.number}, which is inside its target")
    for one, other in combinations(placed, 2):
        if label(one).intersection(label(other)):
            found.append(f"labels {one.number} and {other.number} overlap")
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("first", [1, 80])
def test_in_dense_layouts_no_label_is_on_another_target_or_label_or_outside(layout: str, first: int) -> None:
    picture = blank()
    assert broken(place(marks_at(LAYOUTS[layout], first=first), picture), picture) == []


@pytest.mark.parametrize("seed", range(12))
def test_in_random_layouts_no_label_is_on_another_target_or_label_or_outside(seed: int) -> None:
    picture = blank()
    assert broken(place(marks_at(scattered(seed, 60 + 20 * (seed % 3))), picture), picture) == []


@pytest.mark.parametrize("ratio", [1.25, 2])
def test_the_rules_hold_in_the_picture_when_it_has_other_pixels_than_the_page(ratio: float) -> None:
    picture = blank(640, 400, ratio)
    placed = place(marks_at(grid(14, 6, 26, 24)), picture)
    assert broken(placed, picture) == []
    assert all(label(mark).height == (16 if mark.number < 10 else 15) for mark in placed)


def test_marks_come_back_in_order_with_nothing_else_changed() -> None:
    marks = marks_at(LAYOUTS["form"])
    placed = place(marks, blank())
    assert [mark.model_copy(update={"label": None}) for mark in placed] == marks
    assert place([], blank()) == ()


def test_the_same_page_gets_the_same_labels_each_time() -> None:
    marks = marks_at(LAYOUTS["table rows with links"])
    assert place(marks, blank()) == place(marks, blank())


def test_an_outer_targets_label_is_not_on_the_targets_inside_it() -> None:
    picture = blank()
    cards = [(20 + column * 240, 20, 220, 60) for column in range(4)]
    inner = [(x + 2 + column * 72, 22 + row * 28, 70, 27) for x, *_ in cards for row in range(2) for column in range(3)]
    placed = place(marks_at([(10, 10, 1000, 400), *cards, *inner]), picture)
    assert broken(placed, picture) == []


RELATIVE = ("calendar", "keys of a keyboard", "small calendar")


@pytest.mark.parametrize("layout", RELATIVE)
def test_in_a_grid_numbers_of_as_many_digits_stand_alike(layout: str) -> None:
    placed = place(marks_at(LAYOUTS[layout], first=100), blank())
    offsets = Counter((label(mark).x - mark.box.x, label(mark).y - mark.box.y) for mark in placed)
    assert offsets.most_common(1)[0][1] >= 0.95 * len(placed), offsets


def test_in_a_column_of_links_numbers_stand_on_the_same_side() -> None:
    chance = random.Random(3)
    pixels = np.full((800, 1280, 3), 255, np.uint8)
    links = [(60.0, 30 + row * 24, chance.uniform(50, 150), 17) for row in range(25)]
    for x, y, width, _ in links:
        for at in range(int(x), int(x + width - 8), 9):
            cv2.putText(pixels, chance.choice("ahkmsy"), (at, int(y) + 13), cv2.FONT_HERSHEY_PLAIN, 1, (90, 40, 0))
    placed = place(marks_at(links, "link", first=10), shown(pixels))
    before = sum(label(mark).right <= mark.box.x + 1 for mark in placed)
    after = sum(label(mark).x >= mark.box.right - 1 for mark in placed)
    assert len(placed) in (before, after), (before, after)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_has_not_moved_keeps_its_place_and_shade_when_something_comes_and_something_goes(layout: str) -> None:
    picture, marks = blank(), marks_at(LAYOUTS[layout])
    first = place(marks, picture)
    assert place(marks, picture, before=first) == first
    dialog = marks_at([(700, 500, 90, 30), (800, 500, 90, 30)], first=900)
    second = place([*marks[3:], *dialog], picture, before=first)
    assert broken(second, picture) == []
    same = sum(one == other for one, other in zip(first[3:], second, strict=False))
    assert same >= 0.98 * len(marks[3:])


def test_a_number_leaves_its_place_when_something_else_to_act_on_comes_there() -> None:
    picture = blank()
    first = place(marks_at([(100, 100, 13, 13)], "toggle"), picture)
    at = label(first[0])
    newcomer = marks_at([(at.x, at.y, at.width, at.height)], first=2)
    second = place([first[0], *newcomer], picture, before=first)
    assert label(second[0]) != at
    assert broken(second, picture) == []


def test_a_small_button_among_others_wears_its_number_rather_than_a_line() -> None:
    picture = blank()
    placed = place(marks_at(grid(20, 12, 18, 18, gap=4), first=100), picture)
    assert broken(placed, picture) == []
    assert layer(placed, picture).leaders == ()


def test_two_marks_on_the_same_box_both_get_a_label() -> None:
    placed = place(marks_at([(100, 100, 80, 30), (100, 100, 80, 30)]), blank())
    assert label(placed[0]).intersection(label(placed[1])) is None


def test_a_label_keeps_off_the_text_of_its_own_target() -> None:
    pixels = np.full((200, 400, 3), 255, np.uint8)
    cv2.putText(pixels, "Save all now", (104, 92), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 2)
    pixels[70:104, 100:230] = np.minimum(pixels[70:104, 100:230], 250)
    (mark,) = place(marks_at([(100, 70, 200, 34)]), shown(pixels))
    text = Box(x=104, y=78, width=126, height=15)
    assert drawn(mark, blank()).intersection(label(mark)) == label(mark), "there is room inside"
    assert label(mark).intersection(text) is None


def test_where_a_word_fills_its_target_the_number_hides_none_of_its_first_letter() -> None:
    pixels = np.full((200, 400, 3), 255, np.uint8)
    places = [(40 + 90 * column, 60 + 19 * row, 60, 18) for row in range(4) for column in range(4)]
    for x, y, *_ in places:
        cv2.putText(pixels, "Files", (x + 1, y + 14), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 2)
    picture = shown(pixels)
    placed = place(marks_at(places, "link", first=10), picture)
    assert broken(placed, picture) == []
    assert covered(placed, picture).first_letters == len(places)
    assert covered(placed, picture).first_letters_hidden == ()


def test_in_a_toolbar_the_numbers_stand_in_a_row_of_their_own_and_hide_no_icon() -> None:
    pixels = np.full((200, 900, 3), 255, np.uint8)
    places = grid(25, 1, 28, 28, x=20, y=60)
    for x, y, *_ in places:
        cv2.circle(pixels, (int(x) + 14, int(y) + 14), 7, (60, 60, 60), 2)
    picture = shown(pixels)
    placed = place(marks_at(places, first=10), picture)
    assert broken(placed, picture) == []
    assert max(covered(placed, picture).icon_shares) == 0
    assert len({label(mark).y for mark in placed}) == 1


def test_in_a_toolbar_of_two_rows_that_touch_the_numbers_stand_above_the_one_and_below_the_other() -> None:
    pixels = np.full((200, 900, 3), 255, np.uint8)
    places = grid(25, 2, 22, 22, x=20, y=60)
    for x, y, *_ in places:
        cv2.circle(pixels, (int(x) + 11, int(y) + 11), 6, (60, 60, 60), 2)
    picture = shown(pixels)
    placed = place(marks_at(places, first=72), picture)
    assert broken(placed, picture) == []
    assert max(covered(placed, picture).icon_shares) == 0
    assert all(label(mark).bottom <= 60 for mark in placed[:25])
    assert all(label(mark).y >= 104 for mark in placed[25:])


def test_a_number_stands_as_far_from_its_icon_as_the_target_above_allows() -> None:
    pixels = np.full((200, 900, 3), 255, np.uint8)
    places = grid(25, 1, 24, 24, x=20, y=60)
    for x, y, *_ in places:
        cv2.circle(pixels, (int(x) + 12, int(y) + 12), 7, (60, 60, 60), 2)
    field, below = (20, 10, 600, 37), (20, 85, 600, 60)
    picture = shown(pixels)
    placed = place(marks_at([*places, field, below], first=10), picture)
    assert broken(placed, picture) == []
    assert {label(mark).y for mark in placed[1:-3]} == {47}


def test_the_numbers_of_a_menu_stand_alike_though_its_links_vary_in_width() -> None:
    pixels, links, x = np.full((120, 1280, 3), 255, np.uint8), [], 15.0
    for word in ("customer", "delivery", "summer", "account", "north", "report", "stone", "river", "draft", "invoice"):
        width = cv2.getTextSize(word, cv2.FONT_HERSHEY_PLAIN, 1, 1)[0][0]
        cv2.putText(pixels, word, (int(x), 57), cv2.FONT_HERSHEY_PLAIN, 1, (90, 40, 0))
        links.append((x, 42, width, 19))
        x += width + 16
    placed = place(marks_at(links, "link", first=3), shown(pixels))
    assert len({(label(mark).y, label(mark).height) for mark in placed[:7]}) == 1, "those of one digit"
    asides = [label(mark).x - mark.box.x for mark in placed]
    middles = [label(mark).center.x - mark.box.center.x for mark in placed]
    assert min(np.ptp(asides), np.ptp(middles)) <= 1


def test_the_numbers_of_a_column_of_cards_stand_at_the_same_corner_though_the_cards_vary_in_height() -> None:
    pixels, cards, y = np.full((800, 400, 3), 255, np.uint8), [], 20
    for height, has_words_at_corner in ((90, True), (140, True), (70, True), (110, False), (130, False)):
        cards.append((40, y, 240, height))
        cv2.putText(pixels, "Write a text", (42 if has_words_at_corner else 80, y + 14), cv2.FONT_HERSHEY_PLAIN, 1, 0)
        y += height + 8
    placed = place(marks_at(cards, first=10), shown(pixels))
    assert len({(label(mark).x - mark.box.x, label(mark).y - mark.box.y) for mark in placed}) == 1


def test_a_plan_serves_again_only_if_nothing_has_moved() -> None:
    picture, marks = blank(), marks_at(LAYOUTS["form"])
    first = plan(marks, picture.extent)
    placed = carry_out(first, picture)
    again = plan(marks, picture.extent, before=placed, last=first)
    assert first.scene
    assert again.scene
    assert again.scene.candidates is first.scene.candidates
    assert carry_out(again, picture) == placed
    moved = marks_at([(x, y + 5, width, height) for x, y, width, height in LAYOUTS["form"]])
    fresh = carry_out(plan(moved, picture.extent, before=placed, last=again), picture)
    assert fresh == place(moved, picture, before=placed) != placed
    as_links = marks_at(LAYOUTS["form"], "link")
    assert carry_out(plan(as_links, picture.extent, last=again), picture) == place(as_links, picture)
    later = marks_at(LAYOUTS["form"], first=100)
    assert carry_out(plan(later, picture.extent, last=again), picture) == place(later, picture)


def test_other_numbers_with_as_many_digits_have_the_same_places() -> None:
    picture = blank()
    first = plan(marks_at(LAYOUTS["form"], first=20), picture.extent)
    renumbered = marks_at(LAYOUTS["form"], first=60)
    again = plan(renumbered, picture.extent, last=first)
    assert first.scene
    assert again.scene
    assert again.scene.candidates is first.scene.candidates
    assert carry_out(again, picture) == place(renumbered, picture)


def test_a_mark_that_is_as_in_the_last_picture_is_the_same_object() -> None:
    picture, marks = blank(), marks_at(LAYOUTS["form"])
    placed = place(marks, picture)
    marks[0] = marks[0].model_copy(update={"name": "Another"})
    again = place(marks, picture, before=placed)
    assert [one is other for one, other in zip(placed, again, strict=True)] == [False] + [True] * (len(marks) - 1)
    assert again == tuple(mark.model_copy(update={"label": was.label}) for mark, was in zip(marks, placed, strict=True))


def test_a_green_icon_on_a_lighter_green_of_the_same_grey_is_not_hidden() -> None:
    pixels = np.full((200, 400, 3), (140, 200, 140), np.uint8)
    cv2.rectangle(pixels, (104, 78), (120, 94), (220, 160, 220), 2)
    cv2.putText(pixels, "Docs", (126, 92), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 2)
    (mark,) = place(marks_at([(100, 70, 90, 34)]), shown(pixels))
    assert label(mark).intersection(Box(x=104, y=78, width=17, height=17)) is None


def test_the_last_letter_of_a_name_read_from_right_to_left_may_be_hidden_but_not_its_first() -> None:
    pixels = np.full((200, 400, 3), 255, np.uint8)
    cv2.putText(pixels, "Files", (101, 94), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 2)
    given = marks_at([(100, 80, 40, 18)], "link", first=10)[0].model_copy(update={"name": "\u05e9\u05dc\u05d5\u05dd"})
    around = marks_at([(0, 60, 99, 60), (141, 60, 99, 60), (99, 60, 42, 19), (99, 99, 42, 19)], first=20)
    at = label(place([given, *around], shown(pixels))[0])
    assert at.right <= 128


def test_a_checkbox_is_not_hidden_by_its_number() -> None:
    (mark,) = place(marks_at([(100, 100, 13, 13)], "toggle"), blank())
    hidden = mark.box.intersection(label(mark))
    assert hidden is None or hidden.width * hidden.height <= 13 * 13 / 4


def test_the_nearest_target_of_a_label_is_its_own() -> None:
    for layout in ("toolbar of icons that touch", "calendar", "keys of a keyboard"):
        placed = place(marks_at(LAYOUTS[layout]), blank())
        mistaken = [mark.number for mark in placed if nearest(label(mark), placed) is not mark]
        assert mistaken == [], layout


@pytest.mark.parametrize("first", [1, 80])
def test_between_lines_of_text_hardly_a_label_is_nearer_to_another_link(first: int) -> None:
    placed = place(marks_at(LAYOUTS["links in a paragraph"], "link", first), blank())
    mistaken = [mark.number for mark in placed if nearest(label(mark), placed) is not mark]
    assert len(mistaken) <= len(placed) / 15, mistaken


def nearest(at: Box, marks: Sequence[Mark]) -> Mark:
    return min(
        marks, key=lambda m: (distance(at, m.box), hypot(at.center.x - m.box.center.x, at.center.y - m.box.center.y))
    )


def distance(one: Box, other: Box) -> float:
    """The distance between two boxes, 0 if they touch."""
    across = max(one.x - other.right, other.x - one.right, 0)
    return hypot(across, max(one.y - other.bottom, other.y - one.bottom, 0))


def test_where_cells_are_smaller_than_numbers_a_line_leads_to_the_label() -> None:
    picture = blank()
    placed = place(marks_at(grid(12, 8, 12, 12, x=600, y=300), first=100), picture)
    assert broken(placed, picture) == []
    plan = layer(placed, picture)
    assert len(plan.leaders) > 30
    assert all(leader.strokes for leader in plan.leaders)


@pytest.mark.parametrize("size", [11, 14])
def test_the_numbers_of_a_crowd_of_cells_without_room_lie_on_nothing_else(size: int) -> None:
    picture = blank()
    placed = place(marks_at(grid(53, 7, size, size, x=20, y=20), first=100), picture)
    assert sum(mark.label is not None for mark in placed) == 371
    assert broken(placed, picture) == []


def test_where_the_whole_picture_is_full_every_mark_still_has_a_label_of_its_own() -> None:
    picture = blank(240, 120)
    placed = place(marks_at(grid(20, 10, 12, 12, x=0, y=0)[:30]), picture)
    full = place(marks_at([(0, 0, 240, 120), *grid(10, 10, 24, 12, x=0, y=0)]), picture)
    assert all(mark.label for mark in (*placed, *full))
    assert not any("outside" in fault or "overlap" in fault for fault in broken(placed, picture))
    assert not any("outside" in fault for fault in broken(full, picture))


def test_the_labels_that_break_a_rule_are_known() -> None:
    roomy, full = blank(), blank(240, 120)
    assert faults(place(marks_at(LAYOUTS["calendar"]), roomy), roomy) == ()
    assert faults((), roomy) == ()
    placed = place(marks_at([(0, 0, 240, 120), *grid(10, 10, 24, 12, x=0, y=0)]), full)
    assert set(faults(placed, full)) == {int(word) for fault in broken(placed, full) for word in numbers(fault)}


def numbers(fault: str) -> list[str]:
    """Whose label is at fault: of both where two overlap."""
    found = re.findall(r"\d+", fault)
    return found if "overlap" in fault else found[:1]


def test_on_a_closer_look_only_what_it_shows_has_a_number_of_the_usual_size() -> None:
    picture, places = blank(), LAYOUTS["small calendar"]
    closer = picture.zoomed(Box(x=45, y=45, width=60, height=40), ImageLimits())
    placed = place(place(marks_at(places), picture), closer)
    shown_there = {mark.number for mark in placed if mark.label}
    # Of the fourth column and the third row it shows too little for a number.
    assert shown_there == {row * 7 + column + 1 for row in range(2) for column in range(3)}
    there = [mark for mark in placed if mark.label]
    assert all(label(mark).height == (16 if mark.number < 10 else 15) for mark in there)
    assert faults(there, closer) == ()


def test_a_crowd_without_room_for_its_numbers_is_shown_apart_where_they_have_room() -> None:
    picture = blank()
    crowd, roomy = grid(24, 6, 12, 12, x=500, y=300), [(40.0, 40 + row * 50, 200, 30) for row in range(10)]
    placed = place(marks_at([*roomy, *crowd], first=100), picture)
    apart = tiles(placed, picture, faults(placed, picture))
    assert 1 <= len(apart) <= 4
    seen = set()
    for tile in apart:
        closer = picture.zoomed(tile, ImageLimits())
        assert closer.map.scale_x <= 0.5
        there = [mark for mark in place(placed, closer) if mark.label]
        assert faults(there, closer) == ()
        assert layer(there, closer).leaders == ()
        seen |= {mark.number for mark in there}
    assert seen == {mark.number for mark in placed[10:]}


@pytest.mark.parametrize("layout", ["calendar", "form", "table rows with links", "links in a paragraph"])
def test_where_numbers_have_room_nothing_is_shown_apart(layout: str) -> None:
    picture = blank()
    placed = place(marks_at(LAYOUTS[layout]), picture)
    assert tiles(placed, picture, faults(placed, picture)) == ()


def test_a_letter_before_the_number_is_placed_as_it_is_drawn() -> None:
    letters = ("B", "I", "L", "F", "O", "M")
    marks = [
        mark.model_copy(update={"letter": letters[mark.number % 6]}) for mark in marks_at(LAYOUTS["small calendar"])
    ]
    picture = blank()
    placed = place(marks, picture)
    assert broken(placed, picture) == []
    assert {at.text for at in layer(placed, picture).labels} == {mark.label_text for mark in marks}
    assert min(label(mark).width for mark in placed) >= 20


def test_a_picture_smaller_than_a_label_does_not_break() -> None:
    placed = place(marks_at([(0, 0, 8, 8)], first=123), blank(10, 10))
    assert placed[0].label is not None


def test_a_target_that_the_picture_cuts_off_keeps_its_label_inside() -> None:
    picture = blank(400, 300)
    cut = marks_at([(-20, -5, 60, 20), (380, 100, 60, 20), (150, 280, 60, 40), (0, 0, 4000, 3000)])
    placed = place(cut, picture)
    size = picture.size
    for mark in placed:
        assert label(mark).intersection(Box(x=0, y=0, width=size.width, height=size.height)) == label(mark)
    assert size == Size(width=400, height=300)


@pytest.mark.parametrize("kind", ["button", "link", "field", "toggle", "guess"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_neighbours_of_a_kind_never_share_a_colour(layout: str, kind: Kind) -> None:
    placed = place(marks_at(LAYOUTS[layout], kind), blank())
    colours = {mark.number: mark.label.colour for mark in placed if mark.label}
    for one, other in combinations(placed, 2):
        if grown(one.box, 3).intersection(grown(other.box, 3)):
            assert colours[one.number] != colours[other.number], (one.number, other.number)
    assert set(colours.values()) <= set(PALETTE[kind])


def grown(box: Box, by: float) -> Box:
    return Box(x=box.x - by, y=box.y - by, width=box.width + 2 * by, height=box.height + 2 * by)


def test_the_number_of_a_shape_is_in_its_body_and_a_line_from_elsewhere_leads_there() -> None:
    [shape] = marks_at([(100, 100, 400, 300)])
    shape = shape.replacing(body=Box(x=300, y=320, width=60, height=40))

    [placed] = place([shape], blank())
    label = placed.label
    assert label
    assert label.box.x >= 300
    assert label.box.right <= 360
    assert label.box.y >= 320
    assert label.box.bottom <= 360

    far = placed.replacing(label=label.model_copy(update={"box": Box(x=150, y=110, width=12, height=16)}))
    [leader] = layer([far], blank()).leaders
    left, top, _, _ = leader.strokes[-1]
    assert (left, top) == (299, 319)
