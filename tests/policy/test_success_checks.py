"""Claims about the checks of a task that a look alone answers."""

from __future__ import annotations

import pytest

from tests.loop_run import observation
from vision_agent.observation import Observation
from vision_agent.policy.success_checks import fault_of_page
from vision_agent.types import SuccessCheck


def page(*names: str) -> Observation:
    plain = observation()
    [button] = plain.marks
    return plain.model_copy(update={"marks": tuple(button.model_copy(update={"name": name}) for name in names)})


@pytest.mark.parametrize("name", ["Do not log out", "Don’t log out", "Log out: off", "Nicht log out"])
def test_a_mark_that_may_mean_the_opposite_passes_no_check(name: str) -> None:
    check = SuccessCheck(mark="Log out")
    only = f"'Log out' must be among the marks in view, and there is only {name!r}, which may be the opposite"
    assert fault_of_page([check], page(name)) == only
    assert fault_of_page([check], page(name, "Log out of Shop")) == ""
    assert fault_of_page([SuccessCheck(mark=name)], page(name)) == ""


def test_a_word_whose_beginning_makes_it_the_opposite_passes_no_check() -> None:
    assert "is not" in fault_of_page([SuccessCheck(mark="Subscribe")], page("Unsubscribe"))


@pytest.mark.parametrize(("name", "wanted"), [("Pay 1 299,00 €", "299,00"), ("Balance −€49", "€49")])
def test_a_part_of_a_number_in_a_name_passes_no_check(name: str, wanted: str) -> None:
    assert "is not" in fault_of_page([SuccessCheck(mark=wanted)], page(name))
