"""What an act would pay, as far as the page shows it, and what the acts of a run have paid.

A page may lie about its prices. What it shows can only make the limit of a task stricter: an act that pays needs an
amount in the limit's currency, and the largest one that is shown counts. Where a total is stated, anything that submits
a form may pay it, whatever it is called. Knows no browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from vision_agent.actions import Action, Press
from vision_agent.observation import Mark, Observation
from vision_agent.policy import risk_words
from vision_agent.policy.approval import marks_of, pressed_by, risks_taken
from vision_agent.policy.risk_tables import CARD_FIELDS, ENDS_ORDER, TOTALS
from vision_agent.text.escape import safe_line
from vision_agent.text.money import Amount, Money, amounts_in
from vision_agent.types import Outcome

TO_CHECKOUT = """
    checkout | check out | go to checkout | proceed to checkout | continue to checkout | to checkout
"""
"""Names of links that lead to a payment but do not pay."""
LOWERS = """
    remove | delete | empty cart | empty basket | clear cart | update | update cart | update basket | update quantity
    recalculate | apply coupon | apply code | apply voucher | apply discount | entfernen | löschen | aktualisieren
    gutschein einlösen | supprimer | retirer | actualiser | mettre à jour | eliminar | quitar | actualizar | remover
    excluir | atualizar | elimina | rimuovi | aggiorna | verwijderen | bijwerken | usuń | aktualizuj | kaldır | sil
    güncelle | ta bort | uppdatera | удалить | обновить | 削除 | 更新 | 删除 | 삭제 | حذف
"""
"""Whole names of buttons with which what is in a cart is changed; what it costs then is seen before it is paid."""

_LONGEST = 40
_LINE = re.compile("[\n⏎]")
_CUT = " …"
"""Stands for the middle of the words beside a mark, if there are too many of them to keep."""


class Price(NamedTuple):
    """What an act would pay."""

    value: Decimal | None
    """In the currency that was asked for; None if it is not known."""
    why: str = ""
    """Why it is not known, as a clause."""


def pays(action: Action, seen: Observation) -> bool:
    """Whether an act is judged to pay, or submits what looks like a payment."""
    risks = risks_taken(action, seen)
    if ("pay" in risks and not _presses_only_continue(action, seen)) or (
        _ends_order(action, seen) and _totals_beside(action, seen)
    ):
        return True
    if "submit" not in risks:
        return False
    marks = pressed_by(action, seen)
    if not marks or (isinstance(action, Press) and action.target is None):  # whatever has the focus by then
        return _says_pay(seen.listing.splitlines()) or _takes_card(seen)
    if any(mark.kind in ("field", "toggle") for mark in marks):  # it has no form, and its page may press any of these
        marks += [mark for mark in seen.marks if mark.state.submits]
    said = [text for mark in marks for text in (mark.name, mark.shows, mark.says, mark.context)]
    return _says_pay(said) or _takes_card(seen)


def price_of(action: Action, seen: Observation, currency: str) -> Price:
    """What an act would pay: the largest amount beside what it acts on, or else on the visible page, at each press."""
    return _each_time(action, _price_once(action, seen, currency))


def _price_once(action: Action, seen: Observation, currency: str) -> Price:
    marks = pressed_by(action, seen)
    beside = [each for mark in marks for each in amounts_beside(mark)]
    is_whole = not any(_CUT in mark.context for mark in marks)
    if is_whole and any(each.currency for each in beside):
        return _largest(beside, currency, "beside it")
    if seen.region is not None:
        return Price(None, "only a part of the page was looked at")
    return _largest([*beside, *amounts_in(seen.listing)], currency, "on the page")


def price_paid(action: Action, outcome: Outcome, seen: Observation, currency: str) -> Price:
    """What an action paid; zero if it was not carried out, or sent nothing."""
    if _sent_nothing(outcome) or _only_opened_checkout(action, outcome, seen):
        return Price(Decimal(0))
    if not pays(action, seen):
        return _paid_unforeseen(action, outcome, seen, currency)
    return price_of(action, seen, currency)


def _paid_unforeseen(action: Action, outcome: Outcome, seen: Observation, currency: str) -> Price:
    """What was paid by a form that a script sent because a field in it changed, as Enter in that field would have."""
    for mark in marks_of(action, seen) if outcome.forms else ():
        enter = Press(keys="Enter", target=mark.number)
        if mark.enter is not None and pays(enter, seen):
            return price_of(enter, seen, currency)
    return Price(Decimal(0))


def exceeds(limit: Money, paid: Decimal | None, action: Action, seen: Observation) -> str:
    """Why an act may pay more than a task's limit allows after what was paid before; empty if it does not.

    What submits a form where a total is stated may pay that total. It counts as paid only if `pays` says so: several
    such steps lead to a payment.
    """
    if pays(action, seen):
        price = price_of(action, seen, limit.currency)
    elif totals := _submits_beside(action, seen):
        price = _each_time(action, _largest(totals, limit.currency, "beside the total"))
    else:
        return ""
    if price.value is None:
        return f"it may pay, and {price.why}; at most {limit} may be spent"
    if paid is None:
        return f"it may pay, and what was paid before is not known; at most {limit} may be spent"
    if paid + price.value <= limit.amount:
        return ""
    before = f" after {_plain(paid)} before" if paid else ""
    times = f" with {action.how_often} presses" if action.how_often > 1 else ""
    return f"it may pay {_plain(price.value)} {limit.currency}{times}{before}, and at most {limit} may be spent"


def _each_time(action: Action, price: Price) -> Price:
    """What an act would pay if each of its presses pays."""
    return price if price.value is None else Price(price.value * action.how_often)


def _says_pay(texts: Sequence[str]) -> bool:
    return any("pay" in risk_words.risks_in(text) for text in texts)


def _largest(amounts: Sequence[Amount], currency: str, where: str) -> Price:
    """The largest of the amounts if they are in one currency; those without any count as if they were in it."""
    foreign = next((each for each in amounts if each.currency not in ("", currency)), None)
    if foreign is not None:
        return Price(None, f"an amount that is not in {currency} is {where}: {safe_line(foreign.words, _LONGEST)}")
    if not any(each.currency for each in amounts):
        return Price(None, f"no amount in {currency} is shown")
    return Price(max(each.value for each in amounts))


def amounts_beside(mark: Mark) -> Iterator[Amount]:
    """The amounts in its name, its form, dialog or row, and the heading over it."""
    for text in (*_words_of(mark), *mark.prices):
        yield from amounts_in(text)


def _words_of(mark: Mark) -> tuple[str, ...]:
    """The texts about a mark; of the row of something drawn only some words may have been read."""
    beside = mark.context if mark.source == "dom" else ""
    return mark.name, mark.shows, mark.says, beside, mark.heading


def _ends_order(action: Action, seen: Observation) -> bool:
    """Whether an act presses something whose words end an order."""
    if action.traits.only_looks:
        return False
    pressed = [mark for mark in pressed_by(action, seen) if mark.kind not in ("field", "toggle", "scroller")]
    words = risk_words.entries_of(ENDS_ORDER)
    texts = [text for mark in pressed for text in (mark.name, mark.shows, mark.says)]
    return any(risk_words.says_one_of(text, words) and not risk_words.only_shows(text) for text in texts)


def _presses_only_continue(action: Action, seen: Observation) -> bool:
    """Whether an act presses only what leads on to the next step of an order, outside of a dialog."""
    marks = pressed_by(action, seen)
    return bool(marks) and all(
        not mark.in_dialog
        and risk_words.only_continues(mark.shows or mark.name)
        and not _says_pay((mark.name, mark.shows, mark.says))
        for mark in marks
    )


def _submits_beside(action: Action, seen: Observation) -> list[Amount]:
    """The totals that are stated where an act submits a form; none if it only changes what is in the cart."""
    if "submit" not in risks_taken(action, seen):
        return []
    pressed = [mark.shows or mark.name for mark in pressed_by(action, seen) if mark.kind not in ("field", "toggle")]
    lowers = {form for word in risk_words.entries_of(LOWERS) for form in risk_words.readings(word)}
    if pressed and all(risk_words.only_shows(each) or lowers & {*risk_words.readings(each)} for each in pressed):
        return []
    return _totals_beside(action, seen)


def _totals_beside(action: Action, seen: Observation) -> list[Amount]:
    """The amounts beside a word for a total: those of the form, dialog or row of the marks, or those of the page.

    On the page they are in the line of the word or, if it has none, the largest may stand anywhere.
    """
    words = risk_words.entries_of(TOTALS)
    for mark in pressed_by(action, seen):
        if any(risk_words.says_one_of(text, words) for text in _words_of(mark)) and (beside := [*amounts_beside(mark)]):
            return beside
    lines = [line for line in _LINE.split(seen.listing) if risk_words.says_one_of(line, words)]
    stated = [each for line in lines for each in amounts_in(line)]
    return stated or (amounts_in(seen.listing) if lines else [])


def _takes_card(seen: Observation) -> bool:
    """Whether the page asks for a card or an account."""
    words = risk_words.entries_of(CARD_FIELDS)
    return any(mark.kind == "field" and risk_words.says_one_of(mark.name, words) for mark in seen.marks)


def _sent_nothing(outcome: Outcome) -> bool:
    if outcome.forms or outcome.requests or outcome.status == "partial" or outcome.refusal == "crashed":
        return False
    # An action that a person or the page says was done while the run was interrupted is reported as `as_wanted`.
    return outcome.status == "refused" or outcome.effect in ("no_effect", "changed", "dialog")


def _only_opened_checkout(action: Action, outcome: Outcome, seen: Observation) -> bool:
    """Whether an action only opened a checkout by its link: a payment there counts when it is made."""
    names = set(risk_words.entries_of(TO_CHECKOUT))
    marks = marks_of(action, seen)
    is_link = bool(marks) and all(each.tag == "a" and not each.state.submits for each in marks)
    is_named = all(set(risk_words.readings(each.shows or each.name)) & names for each in marks)
    return is_link and is_named and not outcome.forms and outcome.status == "done"


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
