"""Which decisions need a person's approval, and `Answers`, an approver made of a function.

Risks follow from the decision and the observation alone, without a request and without asking a model.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import assert_never

from vision_agent.actions import (
    Action,
    Ask,
    Back,
    Cell,
    Check,
    Click,
    CloseTab,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    Finish,
    Forward,
    Goto,
    Hold,
    Hover,
    Infeasible,
    Offset,
    OpenTab,
    Point,
    Press,
    Read,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
    chord_keys,
    targets_of,
)
from vision_agent.settings import ApprovalSettings
from vision_agent.types import RISKS, Choice, Decision, Mark, Observation, Risk, Risky, Task
from vision_agent.urls import host_of, resolve_url

_WORDS: dict[Risk, str] = {
    "submit": """
        submit | sign up | register | subscribe | enroll | apply now | place bid
        absenden | abschicken | registrieren | anmelden | abonnieren | einreichen | beantragen
        soumettre | valider | s'inscrire | s'abonner | inscrever* | enviar formulario | registrarse | suscribirse
        iscriviti | invia modulo | registrati | indienen | inschrijven | wyślij formularz | zarejestruj*
        kaydol | gönder formu | зарегистрироваться | подать | 送信 | 登録 | 申し込む | 提交 | 注册 | 제출 | 가입 | إرسال
    """,
    "pay": """
        pay | payment | buy | purchase | checkout | check out | place order | order now | complete order | donate
        book now | rent now | confirm booking | transfer money | reserve | book appointment
        book table | book flight | book room | book ticket* | book seat*
        reservieren | buchen | réserver | reservar | prenota | reserveer | boek nu
        bezahl* | zahlen | kaufen | kostenpflichtig* | zahlungspflichtig* | bestellen | spenden | überweisen
        payer | acheter | commander | régler | faire un don | virement
        pagar | comprar | finalizar compra | realizar pedido | donar | finalizar pedido | doar
        paga | acquista | compra | ordina | dona | betalen | kopen | bestel* | doneren
        zapłać | kup | zamawiam | ödeme* | satın al* | öde | betala | köp
        оплатить | купить | заказать | перевести | 支払* | 購入 | 注文 | 付款 | 支付 | 购买 | 下单
        결제 | 구매 | 주문 | ادفع | شراء
    """,
    "delete": """
        delete | remove | erase | discard | cancel order | cancel subscription | close account | deactivate | wipe
        löschen | entfernen | verwerfen | kündigen | stornieren | supprimer | effacer | retirer
        résilier | annuler la commande
        eliminar | borrar | quitar | excluir | apagar | remover | elimina | cancella | rimuovi | verwijder* | opzeggen
        usuń | skasuj | sil | kaldır | ta bort | radera | удалить | стереть
        削除 | 消去 | 退会 | 删除 | 移除 | 注销 | 삭제 | 탈퇴 | حذف
    """,
    "send": """
        send | post | publish | reply | tweet | share | invite | message
        senden | verschicken | veröffentlichen | antworten | teilen | einladen | envoyer | publier | répondre
        partager | inviter
        enviar | publicar | responder | compartir | compartilhar | invitar | invia | pubblica | rispondi | condividi
        verzenden | versturen | publiceren | beantwoorden | delen | wyślij | opublikuj | odpowiedz | udostępnij
        gönder | yayınla | yanıtla | paylaş | skicka | publicera | отправить | опубликовать | ответить | поделиться
        送る | 投稿 | 返信 | 公開 | 共有 | 发送 | 发布 | 回复 | 分享 | 보내기 | 게시 | 답장 | 공유 | نشر
    """,
    "upload": """
        upload | hochladen | téléverser | subir archivo | carregar arquivo | carica | uploaden | prześlij | yükle
        загрузить | アップロード | 上传 | 업로드 | رفع
    """,
}
"""Words in the names of risky controls, in the most common page languages; separated by `|` and line breaks."""
_MOST_WORDS = 6
"""Words in a name; a longer name is a headline that happens to contain a risky word."""
_ENTER = re.compile(r"Enter|NumpadEnter|\n|\r")
_PRESSING = re.compile(r"Enter|NumpadEnter|Space| |\n|\r")
_DELETING = re.compile(r"Delete|Backspace")
_BINS = tuple(
    each.strip()
    for each in """
        trash | bin | recycle bin | wastebasket | garbage | papierkorb | corbeille | papelera | lixeira | cestino
        prullenbak | kosz | çöp | papperskorg | корзина | ゴミ箱 | 垃圾桶 | 回收站 | 휴지통 | سلة المهملات
    """.replace("|", "\n").splitlines()
    if each.strip()
)
"""Names of drop targets that delete."""
_MOVES_FOCUS = re.compile(r"Tab|F6|Arrow\w+")
_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def must_ask(settings: ApprovalSettings, decision: Decision, risks: Sequence[Risky]) -> bool:
    """Whether a decision needs a person's approval. False if a person made it, or if it only asks the person."""
    if settings.dry_run or decision.author == "human" or all(action.kind == "ask" for action in decision.actions):
        return False
    return settings.ask == "always" or (settings.ask == "risky" and bool(risks))


def risks_of(settings: ApprovalSettings, decision: Decision, observation: Observation) -> tuple[Risky, ...]:
    """The risks of a decision under the policy, in the order of its actions.

    The risk of a point is that of the innermost mark there; a drawn mark without a name reveals none.
    """
    return _risks(settings, decision.actions, observation)


def _risks(settings: ApprovalSettings, actions: Sequence[Action], observation: Observation) -> tuple[Risky, ...]:
    found: list[Risky] = []
    focus = _Focus(next((mark for mark in observation.marks if mark.state.focused), None))
    for place, action in enumerate(actions):
        told = dict(_told_by(settings, action, observation, focus))
        counts = {*settings.risks, "unclassified"}
        found += [Risky(action=place, risk=risk, why=why) for risk, why in told.items() if risk in counts]
        focus = _focus_after(action, focus, observation)
    return tuple(found)


def risks_taken(action: Action, observation: Observation) -> set[Risk]:
    """The risks of an action, whatever the policy allows."""
    return {each.risk for each in _risks(ApprovalSettings(), [action], observation)}


def risks_in(name: str) -> set[Risk]:
    """The risks that the name of a control indicates."""
    return {risk for risk, _ in _in_words(ApprovalSettings(), name)}


def only_looks(action: Action) -> bool:
    """Whether a dry run may carry out an action: it only moves the view or the pointer, waits, or reads."""
    return action.traits.only_looks


def words_of(risks: Sequence[Risky]) -> str:
    """The risks in one line, for a person, such as `pay: it is called “Pay now”; submit: button sends a form`."""
    return "; ".join(f"{each.risk}: {each.why}" for each in risks)


@dataclass(frozen=True)
class _Focus:
    """The mark that receives keys without a target at this point of the decision."""

    mark: Mark | None
    is_known: bool = True


def _focus_after(action: Action, before: _Focus, seen: Observation) -> _Focus:
    """The focus after an action, as far as it is known without carrying the action out."""
    if isinstance(action, Press) and _has_key(_MOVES_FOCUS, action):
        return _Focus(None, is_known=False)
    touched = targets_of(action)
    if action.traits.only_looks or not touched:
        return before
    mark = _mark_at(touched[-1], seen)
    return _Focus(mark, is_known=mark is not None)


def _told_by(
    settings: ApprovalSettings, action: Action, seen: Observation, focus: _Focus
) -> Iterator[tuple[Risk, str]]:
    if not action.traits.is_classified:
        yield "unclassified", f"the risks of {action.kind} are not declared"
        return
    match action:
        case Upload():
            yield "upload", f"it gives {', '.join(action.files)} to the page"
        case Goto() | OpenTab():
            yield from _leaving(settings, host_of(resolve_url(seen.url, action.url)), seen)
        case Reload() | Back() | Forward() if seen.answers_form:
            yield "submit", "the page is the response to a form, which may be sent again"
        case Custom():
            yield from _of_custom(settings, action)
        case Click() | DoubleTap() | Hold():
            yield from _of_pressed(settings, _mark_at(action.target, seen), seen)
        case Check():
            mark = seen.known_mark(action.mark)
            yield from _of_pressed(settings, mark, seen)
            yield from _in_words(settings, mark.name if mark else "", longest=None)
        case Select():
            for option in action.options:
                yield from _in_words(settings, option, longest=None)
        case Drag():
            yield from _of_drop(settings, action, seen)
        case Press() if _has_key(_PRESSING, action):
            at = focus if action.target is None else _Focus(_mark_at(action.target, seen))
            yield from _of_entered(settings, at, seen, is_enter=_has_key(_ENTER, action))
        case Press() if _has_key(_DELETING, action):
            at = focus if action.target is None else _Focus(_mark_at(action.target, seen))
            if not at.is_known or at.mark is None or not _is_plain_field(at.mark):
                yield "delete", f"{action.keys} outside a text field can delete what is selected"
        case Type():
            mark = _mark_at(action.target, seen)
            # In a multi-line field a line break is typed as Enter, at which a chat sends its message.
            breaks = any(each in action.text for each in "\r\n") and (mark is None or mark.tag != "input")
            if action.submit or breaks:
                yield from _of_entered(settings, _Focus(mark), seen, is_enter=True)
        case Set():
            mark = seen.known_mark(action.mark)
            if mark is not None and mark.role == "slider":  # some are moved to confirm
                yield from _in_words(settings, mark.name)
        case Reload() | Back() | Forward() | Press() | SelectText() | SwitchTab() | CloseTab():
            pass
        case Hover() | Scroll() | ScrollTo() | Zoom() | Wait() | Read() | Extract() | Ask() | Finish() | Infeasible():
            pass
        case _:
            assert_never(action)


def _has_key(kind: re.Pattern[str], action: Press) -> bool:
    """Whether one of the keys is of a kind: all of them go down, whatever their order."""
    return any(kind.fullmatch(key) for key in chord_keys(action.keys))


def _of_custom(settings: ApprovalSettings, action: Custom) -> Iterator[tuple[Risk, str]]:
    if action.name in settings.harmless:
        return
    yield from _in_words(settings, action.name.replace("_", " "))
    if action.risks is None:
        yield "unclassified", f"{action.name} does not declare its risks"
    for risk in RISKS:
        if risk in (action.risks or ()):
            yield risk, f"{action.name} declares this risk"


def _of_entered(
    settings: ApprovalSettings, focus: _Focus, seen: Observation, *, is_enter: bool
) -> Iterator[tuple[Risk, str]]:
    """The risks of Enter or Space: in a field, Enter can send the form; on a button, both press it; an unknown focus
    may be in a form.
    """
    mark = focus.mark
    if not focus.is_known or (mark is None and is_enter):
        yield "submit", "the key goes to whatever has the focus then and can send its form"
    elif mark is not None and mark.kind != "field":
        yield from _of_pressed(settings, mark, seen)
    elif is_enter and mark is not None and mark.state.input_type != "search" and mark.role != "searchbox":
        yield "submit", f"Enter in {_called(mark)} can send its form"


def _of_drop(settings: ApprovalSettings, drag: Drag, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of the drop target; at a point, any mark there may be the target."""
    if isinstance(drag.target, Offset):
        start = _page_point(drag.source, seen)
        end = seen.marked.map.to_picture(start) if start else None
        target: Target | None = end and Point(x=end.x + drag.target.right, y=end.y + drag.target.down)
    else:
        target = drag.target
    for mark in _marks_at(target, seen) if target is not None else ():
        if _is_plain_field(mark) or _is_named(mark, settings.harmless):
            continue
        yield from _in_words(settings, mark.name)
        said = _plain_words(mark.name)
        if any(_stands_in(word, said) for word in _BINS):
            yield "delete", f"it is dropped on “{mark.name}”"


def _of_pressed(settings: ApprovalSettings, mark: Mark | None, seen: Observation) -> Iterator[tuple[Risk, str]]:
    if mark is None or _is_named(mark, settings.harmless):
        return
    if mark.state.submits:
        yield "submit", f"{_called(mark)} sends a form"
    if mark.state.input_type == "file":
        yield "upload", f"{_called(mark)} takes files"
    if not _is_plain_field(mark):
        yield from _in_words(settings, mark.name)
    if mark.is_drawn_editor:
        yield from _in_words(settings, mark.state.value or "")
    if mark.state.leads_to:
        yield from _leaving(settings, mark.state.leads_to, seen)


def _is_plain_field(mark: Mark) -> bool:
    """Whether a press on it only puts the caret there. The box of an editor listens for presses itself."""
    return mark.kind == "field" and not mark.is_drawn_editor


def _is_named(mark: Mark, names: Sequence[str]) -> bool:
    return mark.name.strip().casefold() in {each.strip().casefold() for each in names}


def _in_words(
    settings: ApprovalSettings, name: str, *, longest: int | None = _MOST_WORDS
) -> Iterator[tuple[Risk, str]]:
    """The risks that a name indicates; a name of more than `longest` words indicates none."""
    said = _plain_words(name)
    if not said or (longest is not None and len(said.split()) > longest) or name in settings.harmless:
        return
    for risk, words in _WORDS.items():
        known = [each.strip() for line in words.splitlines() for each in line.split("|")]
        if any(_stands_in(word.casefold(), said) for word in [*known, *settings.words.get(risk, ())] if word):
            yield risk, f"it is called “{name}”"
    for word in settings.words.get("leave", ()):
        if _stands_in(word.casefold(), said):
            yield "leave", f"it is called “{name}”"


def _plain_words(name: str) -> str:
    return " ".join(re.findall(r"[\w']+", name.casefold()))


def _stands_in(word: str, said: str) -> bool:
    if _WITHOUT_SPACES.search(word):
        return word.rstrip("*") in said
    if word.endswith("*"):
        return f" {word[:-1]}" in f" {said}"
    return f" {word} " in f" {said} "


def _leaving(settings: ApprovalSettings, host: str, seen: Observation) -> Iterator[tuple[Risk, str]]:
    here = host_of(seen.url)
    is_ours = any(fnmatchcase(host, each.casefold()) for each in settings.hosts)
    if host and here and host != here and host != f"www.{here}" and here != f"www.{host}" and not is_ours:
        yield "leave", f"it leads from {here} to {host}"


def _mark_at(target: Target, seen: Observation) -> Mark | None:
    """The mark of a target; at a point, the innermost one."""
    return next(iter(_marks_at(target, seen)), None)


def _marks_at(target: Target, seen: Observation) -> list[Mark]:
    """The mark that a target names, or all marks at a point, the innermost first."""
    if not isinstance(target, Point):
        mark = seen.known_mark(target.mark if isinstance(target, Cell) else target)
        return [mark] if mark is not None else []
    point = seen.marked.map.to_page(target)
    there = [mark for mark in seen.marks if mark.box.contains(point) and mark.kind not in ("scroller", "surface")]
    return sorted(there, key=lambda mark: mark.box.width * mark.box.height)


def _page_point(target: Target, seen: Observation) -> Point | None:
    if isinstance(target, Point):
        return seen.marked.map.to_page(target)
    mark = _mark_at(target, seen)
    return mark.point if mark is not None else None


def _called(mark: Mark) -> str:
    """A mark in a risk's reason; the decision shown beside it says which of several it is."""
    return f"{mark.tag} “{mark.name}”" if mark.name else mark.tag


Answer = Callable[[Task, Observation, Decision, Sequence[Risky]], Awaitable[Choice | None]]
"""A function that approves decisions. None means that nobody answered."""


class Answers:
    """An `Approver` made of a function.

    `handed_back` is called after an answer of the kind `take_over`, and returns when the browser is handed back.
    """

    wants_to_be_asked: bool = False

    def __init__(self, answer: Answer, handed_back: Callable[[], Awaitable[None]] | None = None) -> None:
        self._answer = answer
        self._handed_back = handed_back

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """The function's answer."""
        return await self._answer(task, observation, decision, risks)

    async def handed_back(self) -> None:
        """Returns when the browser is handed back; without a function at once: the person was done on answering."""
        if self._handed_back is not None:
            await self._handed_back()
