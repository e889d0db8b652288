"""Words of a goal: what is steady in a task and what varies."""

from __future__ import annotations

from collections import defaultdict

import pytest

from vision_agent.memory.goal_words import likeness, parse

EVEN: defaultdict[str, float] = defaultdict(lambda: 1.0)


@pytest.mark.parametrize(
    ("text", "steady", "varying"),
    [
        ('Enter "Ann Lee" and press Submit', "enter and press submit", "ann lee"),
        ("Select 04/15/2016 as the date", "select as the date", "04 15 2016"),
        ("Fly on 3 March from Rome", "fly on from rome", "3 march"),
        ("Don't click 'OK' at Ann's", "don t click at ann s", "ok"),
        ("Schreibe „Hallo“ an a@b.test", "schreibe an", "hallo a b test"),
        ("Open https://a.test/?q=1 by @ann", "open by", "https a test q 1 ann"),
        ("「猫」を押す 🎉", "猫 を 押 す", ""),
        ("", "", ""),
        ('" OR NEAR( * ) "', "", "or near"),
    ],
)
def test_what_is_quoted_a_number_a_date_or_an_address_varies(text: str, steady: str, varying: str) -> None:
    goal = parse(text)
    assert (sorted(goal.steady), sorted(goal.varying)) == (sorted(steady.split()), sorted(varying.split()))


def test_two_instances_of_a_task_are_nearly_the_same() -> None:
    one, other = parse('Enter "Ann" and press Submit'), parse('Enter "Bob Lee Ray" and press Submit')
    assert likeness(one, one, EVEN) == 1
    assert likeness(one, other, EVEN) > 0.9
    assert likeness(one, parse("Sort the numbers"), EVEN) == 0


def test_a_rare_word_says_more_than_a_common_one() -> None:
    rarity = defaultdict(lambda: 1.0, {"slider": 5.0})
    asked = parse("Move the slider now")
    assert likeness(asked, parse("A slider"), rarity) > likeness(asked, parse("Move the now"), rarity)


def test_nothing_is_like_a_goal_without_words() -> None:
    assert likeness(parse("🎉"), parse("🎉"), EVEN) == 0
