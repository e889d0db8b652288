"""Claims about the description of actions for a person."""

from __future__ import annotations

from typing import get_args

from tests.policy.test_rebind import page_of, thing
from vision_agent.actions import Click, Drag, Finish, Infeasible, Offset
from vision_agent.describe.action_sentences import ENDED, REASONS, action_phrase, describe_action
from vision_agent.types import Refusal


def test_each_way_to_be_refused_has_a_sentence_of_its_own_for_a_person() -> None:
    assert set(REASONS) == set(get_args(Refusal))
    assert len(set(REASONS.values())) == len(REASONS)
    assert all(sentence[0].isupper() and sentence[-1] in ".?" for sentence in REASONS.values())


def test_an_end_without_success_is_called_the_same_in_a_step_and_of_a_run() -> None:
    assert " ".join(map(str, action_phrase(Finish(success=False)))) == f"Finish: {ENDED['not_done'].lower()}"
    assert " ".join(map(str, action_phrase(Infeasible(reason="sold out")))) == f"{ENDED['infeasible']}: sold out"


def test_a_drag_by_an_offset_is_told_by_its_ways() -> None:
    assert action_phrase(Drag(source=3, target=Offset(right=-40, down=0))) == ("Drag", 3, "40 px to the left")
    way = (Offset(right=0, down=9),)
    assert action_phrase(Drag(source=3, target=4, path=way)) == ("Drag", 3, "by", "9 px down", "to", 4)
    assert action_phrase(Drag(source=3, target=4, modifiers=("Shift",))) == ("Drag", 3, "to", 4, "with Shift")
    assert action_phrase(Drag(source=3, target=Offset(right=1.5, down=2))) == (
        "Drag",
        3,
        "1.5 px to the right and 2 px down",
    )


def test_a_thing_is_told_with_what_tells_it_from_others_of_its_name() -> None:
    seen = page_of(thing(1, name="Delete", context="Ann"), thing(2, name="Delete", context="Bob"), thing(3, name="Add"))
    assert describe_action(Click(target=2), seen) == "Click [2] “Delete” ‹Bob›"
    assert describe_action(Click(target=3), seen) == "Click [3] “Add”"


def test_a_name_cannot_claim_to_stand_beside_other_words() -> None:
    assert describe_action(Click(target=1), page_of(thing(1, name="Delete” ‹Bob›"))) == "Click [1] “Delete” <Bob>”"
