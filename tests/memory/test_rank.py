"""What comes first: another instance of the same task, this site, this look; who failed comes later; three vote."""

from __future__ import annotations

from pathlib import Path

import pytest
from exemplar_builder import exemplar, turn

from vision_agent.exemplars import Standing
from vision_agent.memory import MemoryFolder

FAMILIES = {
    "text": (
        'Enter "Ann" into the text field and press Submit.',
        'Enter "Bo Lee" into the text field and press Submit.',
    ),
    "date": ("Enter 04/15/2016 as the date and hit submit.", "Enter 12/01/2011 as the date and hit submit."),
    "slider": ("Select 4 with the slider and hit Submit.", "Select -13 with the slider and hit Submit."),
    "list": ("Select Zora from the list and click Submit.", "Select Lupe, Ali from the list and click Submit."),
    "trash": (
        "Find the email by Ann and click the trash icon to delete it.",
        "Find the email by Bo and click the trash icon to delete it.",
    ),
    "star": (
        "Find the email by Ann and click the star icon to mark it as important.",
        "Find the email by Cy and click the star icon to mark it as important.",
    ),
    "flight": (
        "Book the cheapest one-way flight from: Hobart to: Cairns on 12/03/2016.",
        "Book the shortest one-way flight from: Oslo, NO to: Bergen on 10/28/2016.",
    ),
}


@pytest.fixture
def memory(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memory")


def order(memory: MemoryFolder, goal: str, site: str = "", **kinds: int) -> list[str]:
    return [each.entry.id for each in memory.search(goal, site, kinds).ranked]  # type: ignore[arg-type]


@pytest.mark.parametrize("family", FAMILIES)
def test_another_instance_of_a_family_comes_first(memory: MemoryFolder, family: str) -> None:
    for name, (goal, _) in FAMILIES.items():
        memory.add(exemplar(name, goal))
    assert order(memory, FAMILIES[family][1])[0] == family


def test_another_task_is_not_recalled_only_for_its_site_and_look(memory: MemoryFolder) -> None:
    memory.add(exemplar("one", "Put the large wool jumper into the cart", site="shop.test"))
    assert order(memory, "Change the password of the account", "shop.test", button=1, field=2, link=1) == []


@pytest.mark.parametrize(
    "goal",
    [
        '"', "'", '" OR "', "NEAR(a b)", "a AND NOT", "goal:* ^x -y +z", "{a b} : c", "(((", "a" * 100_000,
        "🎉👩‍👩‍👧", "\0", "; DROP TABLE goals;--", "%s %d \\", "ab\n\tcd", "a\u0301\u200b", "हिन्दी में लिखें", "你好",
        "word " * 20_000, " ".join(map(str, range(20_000))), "steady : varying", "ᾳ ß ﬁ Ǆ",
    ],
    ids=range(21),
)  # fmt: skip
def test_no_goal_is_too_odd_to_be_asked_for_or_learned(memory: MemoryFolder, goal: str) -> None:
    memory.add(exemplar("other", "Put the large wool jumper into the cart"))
    memory.search(goal, "shop.test")
    memory.add(exemplar("one", goal))
    found = order(memory, goal, "shop.test")
    assert found == (["one"] if any(char.isalnum() for char in goal) else [])


def test_of_two_that_are_alike_the_one_on_this_site_comes_first(memory: MemoryFolder) -> None:
    memory.add(exemplar("a", site="other.test"))
    memory.add(exemplar("b", site="shop.test"))
    assert order(memory, exemplar().goal, "shop.test") == ["b", "a"]
    assert order(memory, exemplar().goal, "other.test") == ["a", "b"]


def test_of_two_that_are_worded_alike_the_one_that_looks_alike_comes_first(memory: MemoryFolder) -> None:
    memory.add(exemplar("a", turns=(turn(kinds={"button": 40}),)))
    memory.add(exemplar("b", turns=(turn(kinds={"field": 2, "button": 1}),)))
    assert order(memory, exemplar().goal, "shop.test", field=2, button=2) == ["b", "a"]
    assert order(memory, exemplar().goal, "shop.test", button=38) == ["a", "b"]


def test_one_that_failed_comes_later_and_back_when_it_helps(memory: MemoryFolder) -> None:
    memory.add(exemplar("a"))
    memory.add(exemplar("b"))
    goal = exemplar().goal
    assert order(memory, goal) == ["a", "b"]
    assert memory.demote("a") == Standing(failed=1)
    assert order(memory, goal) == ["b", "a"]
    assert memory.demote("b") == Standing(failed=1)
    assert memory.praise("a") == Standing(helped=1, failed=1)
    assert order(memory, goal) == ["a", "b"]


def test_two_of_one_family_outvote_a_third_that_is_a_little_more_alike(memory: MemoryFolder) -> None:
    for name, site in (("a", "far.test"), ("b", "shop.test"), ("c", "shop.test")):
        memory.add(exemplar(name, site=site))
    found = memory.search(exemplar().goal)
    assert [each.entry.id for each in found.ranked] == ["a", "b", "c"]
    assert found.vote is not None
    assert (found.vote.winner, found.vote.agreed, found.vote.voters) == ("b", ("b", "c"), 3)


def test_two_that_are_only_somewhat_alike_do_not_outvote_one_that_fits(memory: MemoryFolder) -> None:
    memory.add(exemplar("fits", "Select the blue mug in the list and press Order"))
    memory.add(exemplar("x", "Select the red hat in the tree and press Cancel"))
    memory.add(exemplar("y", "Select the green hat in the tree and press Cancel"))
    found = memory.search("Select the blue mug in the list and press Order", "shop.test")
    assert {each.entry.id for each in found.ranked[1:]} == {"x", "y"}
    assert found.vote is not None
    assert found.vote.winner == "fits"


def test_where_nobody_agrees_the_best_wins(memory: MemoryFolder) -> None:
    memory.add(exemplar("a", site="a.test"))
    memory.add(exemplar("b", site="b.test"))
    found = memory.search(exemplar().goal, "b.test")
    assert found.vote is not None
    assert found.vote.winner == "b"


def test_nothing_to_vote_on_is_no_vote(memory: MemoryFolder) -> None:
    assert memory.search("Anything").vote is None


def test_why_says_what_is_alike_and_what_became_of_it_before(memory: MemoryFolder) -> None:
    memory.add(exemplar("a", standing={"helped": 2, "failed": 1}))
    (found,) = memory.search(exemplar().goal, "other.test", {"button": 1, "field": 2, "link": 1}).ranked
    assert found.why == "text 100% similar, another site, marks per kind 100% similar, helped 2, failed 1"
