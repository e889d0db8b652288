"""Claims about words that turn others into their opposite."""

from __future__ import annotations

import pytest

from vision_agent.text.negations import negates


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I do not ", " the terms"),
        ("Don’t ", ""),
        ("Don't ", ""),
        ("Never ", " again"),
        ("Turn off ", ""),
        ("Stop ", ""),
        ("No ", ""),
        ("Non-", ""),
        ("Un", ""),
        ("Express, not ", ""),
        ("", " off"),
        ("", ", not tracked"),
        ("Nicht ", ""),
        ("", " ablehnen"),
        ("Ne pas ", ""),
        ("No ", " en este sitio"),
        ("Não ", ""),
        ("Non ", ""),
        ("Niet ", ""),
        ("Nie ", ""),
        ("İptal ", ""),
        ("Inte ", ""),
        ("Не ", ""),
        ("", "しない"),
        ("不", ""),
        ("", "하지 않음"),
        ("عدم ", ""),
        ("En ", ""),
    ],
)
def test_words_that_deny_leave_out_or_turn_off_make_the_opposite(before, after):
    assert negates(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", " Video"),
        ("10:00 - 11:00 ", ""),
        ("", " & exit"),
        ("", " and close"),
        ("I ", " the terms"),
        ("Jetzt ", ""),
        ("", " aus Berlin"),
        ("", " en doorgaan"),
        ("Note ", ""),
        ("Sign in ", ""),
        ("今すぐ", ""),
        ("", ""),
    ],
)
def test_other_words_make_no_opposite(before, after):
    assert not negates(before, after)
