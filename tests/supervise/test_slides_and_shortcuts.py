"""What is slid, what a key presses as the page says, and what a dialog says cannot be undone are asked about."""

from __future__ import annotations

from typing import Any

import pytest

from tests.supervise.proposals import decided, mark, seen
from vision_agent.actions import Action, Click, Drag, Offset, Point, Press
from vision_agent.observation import Mark
from vision_agent.policy.approval import is_risky_question, risks_of
from vision_agent.settings import ApprovalSettings

RIGHT = Offset(right=230, down=0)


def slider(name: str, role: str = "slider") -> Mark:
    return mark(1, name, tag="div").model_copy(update={"role": role})


def told(action: Action, *marks: Mark) -> list[str]:
    return [each.risk for each in risks_of(ApprovalSettings(), decided(action), seen(*marks))]


@pytest.mark.parametrize("role", ["slider", "button", "listitem"])
def test_what_pays_or_deletes_when_it_is_slid_is_asked_about(role: str) -> None:
    assert told(Drag(source=1, target=RIGHT), slider("Slide to pay", role)) == ["pay"]
    assert told(Drag(source=1, target=RIGHT), slider("Swipe left to delete", role)) == ["delete"]
    assert told(Drag(source=1, target=RIGHT), slider("Volume", role)) == []


def test_a_slider_and_a_button_are_asked_about_where_they_are_slid_to_a_point() -> None:
    for role in ("slider", "button"):
        assert told(Drag(source=1, target=Point(x=400, y=55)), slider("Slide to pay", role)) == ["pay"]


@pytest.mark.parametrize("column", ["Done", "In progress", "Shipped", "Backlog"])
def test_a_card_that_is_dropped_on_a_column_is_only_moved(column: str) -> None:
    card, done = slider("Delete old files", "button"), mark(2, column, tag="section")
    assert told(Drag(source=1, target=2), card, done) == []


def with_title(name: str, says: str, **state: Any) -> Mark:
    return mark(1, name, **state).model_copy(update={"says": says})


@pytest.mark.parametrize(
    ("keys", "marked", "risks"),
    [
        ("Control+Shift+P", mark(1, "Publish (Ctrl+Shift+P)"), ["send"]),
        ("Control+Shift+p", mark(1, "Publish (⇧⌘P)"), ["send"]),
        ("#", mark(1, "Delete", shortcuts="#"), ["delete"]),
        ("#", with_title("🗑", "Delete (#)"), ["delete"]),
        ("Shift+3", mark(1, "Delete", shortcuts="Shift+3 Control+D"), ["delete"]),
        ("Control+D", mark(1, "Delete", shortcuts="Shift+3 Control+D"), ["delete"]),
        ("Alt+k", mark(1, "Pay now", shortcuts="Alt+k"), ["pay"]),
        ("e", mark(1, "Delete", shortcuts="#"), []),
        ("#", mark(1, "Delete", shortcuts="#", disabled=True), []),
        ("2", mark(1, "Inbox (2)"), []),
        ("P", mark(1, "Publish (Ctrl+Shift+P)"), []),
    ],
)
def test_a_key_has_the_risks_of_what_it_presses_as_the_page_says(keys: str, marked: Mark, risks: list[str]) -> None:
    assert told(Press(keys=keys), marked) == risks


def test_a_letter_that_is_typed_into_a_field_presses_nothing() -> None:
    field = mark(2, "Note", tag="input", kind="field", input_type="text", focused=True)
    delete = mark(1, "Delete", shortcuts="# Control+D")
    assert told(Press(keys="#"), delete, field) == []
    assert told(Press(keys="Control+D"), delete, field) == ["delete"]


@pytest.mark.parametrize(
    "text",
    [
        "Are you sure? This cannot be undone.",
        "You can’t undo this.",
        "This can't be undone",
        "The project is permanently closed.",
        "This is irreversible.",
        "Das kann nicht rückgängig gemacht werden.",
        "Cette action est irréversible.",
        "Esta acción no se puede deshacer.",
        "Esta ação não pode ser desfeita.",
        "L'operazione non può essere annullata.",
        "Dit kan niet ongedaan gemaakt worden.",
        "Tej operacji nie można cofnąć.",
        "Это действие нельзя отменить.",
        "この操作は取り消せません。",
        "此操作无法撤销。",
    ],
)
def test_a_dialog_that_says_that_its_act_cannot_be_undone_is_risky(text: str) -> None:
    assert is_risky_question(ApprovalSettings(ask="risky"), text)
    yes = mark(1, "Continue").model_copy(update={"in_dialog": True, "context": text})
    assert told(Click(target=1), yes) == ["delete"]


def test_a_harmless_dialog_is_no_risk() -> None:
    assert not is_risky_question(ApprovalSettings(ask="risky"), "Leave the tour? You can start it again.")
