"""When a person is asked before something is done, and the plainest way to answer: a function.

What is risky is told from the decision and from what was seen; no request is made and no model is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import ada_url

from vision_agent.actions import (
    Action,
    Cell,
    Check,
    Click,
    Custom,
    Extract,
    Goto,
    Hover,
    OpenTab,
    Point,
    Press,
    Read,
    Scroll,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
    targets_of,
)
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Choice, Decision, Mark, Observation, Risk, Risky, Task

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
        book now | rent now | confirm booking | transfer money
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
"""What stands on things that do it, in the languages most pages are in; `|` and lines part the words."""
_MOST_WORDS = 6
"""In a name: a longer one is a headline that happens to have such a word."""
_ENTER = re.compile(r"(?:.*\+)?(?:Enter|NumpadEnter|\n|\r)\Z")
_PRESSING = re.compile(r"(?:Enter|NumpadEnter|Space| |\n|\r)\Z")
_MOVES_FOCUS = re.compile(r"(?:Tab|F6|Arrow\w+)\Z")
_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def must_ask(settings: ApprovalSettings, decision: Decision, risks: Sequence[Risky]) -> bool:
    """Whether the policy wants a person's word on a decision. What a person decided, or asks a person, needs none."""
    if settings.dry_run or decision.author == "human" or all(action.kind == "ask" for action in decision.actions):
        return False
    return settings.ask == "always" or (settings.ask == "risky" and bool(risks))


def risks_of(settings: ApprovalSettings, decision: Decision, observation: Observation) -> tuple[Risky, ...]:
    """Why actions of this decision are risky under the policy, in their order.

    Of a point of the picture it is told by the innermost mark there; what is drawn without a name tells nothing.
    """
    found: list[Risky] = []
    focus = _Focus(next((mark for mark in observation.marks if mark.state.focused), None))
    for place, action in enumerate(decision.actions):
        told = dict(_told_by(settings, action, observation, focus))
        found += [Risky(action=place, risk=risk, why=why) for risk, why in told.items() if risk in settings.risks]
        focus = _focus_after(action, focus, observation)
    return tuple(found)


def risks_taken(action: Action, observation: Observation) -> set[Risk]:
    """What an action may do that cannot be taken back, whatever the policy lets pass."""
    decision = Decision(author="scripted", actions=(action,))
    return {each.risk for each in risks_of(ApprovalSettings(), decision, observation)}


def risks_in(name: str) -> set[Risk]:
    """What the name of a thing says that pressing it does."""
    return {risk for risk, _ in _in_words(ApprovalSettings(), name)}


def only_looks(action: Action) -> bool:
    """Whether an action may be done in a dry run: it moves the view or the pointer, waits or reads, and no more."""
    return isinstance(action, Scroll | Hover | Zoom | Wait | Read | Extract)


def words_of(risks: Sequence[Risky]) -> str:
    """The risks in one line, for a person: `pay: "Pay now"; submit: it sends a form`."""
    return "; ".join(f"{each.risk}: {each.why}" for each in risks)


@dataclass(frozen=True)
class _Focus:
    """What keys without a target go to by then."""

    mark: Mark | None
    is_known: bool = True


def _focus_after(action: Action, before: _Focus, seen: Observation) -> _Focus:
    """As far as it can be told without doing the action."""
    if isinstance(action, Press) and _MOVES_FOCUS.search(action.keys):
        return _Focus(None, is_known=False)
    touched = [
        target for target in targets_of(action) if not isinstance(action, Hover | Scroll | Zoom | Read | Extract)
    ]
    if not touched:
        return before
    mark = _mark_at(touched[-1], seen)
    return _Focus(mark, is_known=mark is not None)


def _told_by(
    settings: ApprovalSettings, action: Action, seen: Observation, focus: _Focus
) -> Iterator[tuple[Risk, str]]:
    match action:
        case Upload():
            yield "upload", f"it gives {', '.join(action.files)} to the page"
        case Goto() | OpenTab():
            yield from _leaving(settings, _host_of(_joined(seen.url, action.url)), seen)
        case Custom():
            yield from _in_words(settings, action.name.replace("_", " "))
        case Click():
            yield from _of_pressed(settings, _mark_at(action.target, seen), seen)
        case Check():
            yield from _of_pressed(settings, seen.mark(action.mark), seen)
        case Press() if _PRESSING.search(action.keys):
            at = focus if action.target is None else _Focus(_mark_at(action.target, seen))
            yield from _of_entered(settings, at, seen, is_enter=bool(_ENTER.match(action.keys)))
        case Type():
            mark = _mark_at(action.target, seen)
            # A line break is a key too, where a field has lines; a chat sends its message at it.
            breaks = any(each in action.text for each in "\r\n") and (mark is None or mark.tag != "input")
            if action.submit or breaks:
                yield from _of_entered(settings, _Focus(mark), seen, is_enter=True)


def _of_entered(
    settings: ApprovalSettings, focus: _Focus, seen: Observation, *, is_enter: bool
) -> Iterator[tuple[Risk, str]]:
    """Enter in a field sends its form; on a button any such key presses it; where it goes to nobody knows, either."""
    mark = focus.mark
    if not focus.is_known or (mark is None and is_enter):
        yield "submit", "the key goes to whatever has the focus by then, and can send its form"
    elif mark is not None and mark.kind != "field":
        yield from _of_pressed(settings, mark, seen)
    elif is_enter and mark is not None and mark.state.input_type != "search" and mark.role != "searchbox":
        yield "submit", f"Enter in {_called(mark)} can send its form"


def _of_pressed(settings: ApprovalSettings, mark: Mark | None, seen: Observation) -> Iterator[tuple[Risk, str]]:
    if mark is None:
        return
    if mark.name.strip().casefold() in {each.strip().casefold() for each in settings.harmless}:
        return
    if mark.state.submits:
        yield "submit", f"{_called(mark)} sends a form"
    if mark.state.input_type == "file":
        yield "upload", f"{_called(mark)} takes files"
    if mark.kind != "field":
        yield from _in_words(settings, mark.name)
    if mark.state.leads_to:
        yield from _leaving(settings, mark.state.leads_to, seen)


def _in_words(settings: ApprovalSettings, name: str) -> Iterator[tuple[Risk, str]]:
    said = " ".join(re.findall(r"[\w']+", name.casefold()))
    if not said or len(said.split()) > _MOST_WORDS:
        return
    for risk, words in _WORDS.items():
        known = [each.strip() for line in words.splitlines() for each in line.split("|")]
        if any(_stands_in(word.casefold(), said) for word in [*known, *settings.words.get(risk, ())] if word):
            yield risk, f"it is called “{name}”"
    for word in settings.words.get("leave", ()):
        if _stands_in(word.casefold(), said):
            yield "leave", f"it is called “{name}”"


def _stands_in(word: str, said: str) -> bool:
    if _WITHOUT_SPACES.search(word):
        return word.rstrip("*") in said
    if word.endswith("*"):
        return f" {word[:-1]}" in f" {said}"
    return f" {word} " in f" {said} "


def _leaving(settings: ApprovalSettings, host: str, seen: Observation) -> Iterator[tuple[Risk, str]]:
    here = _host_of(seen.url)
    is_ours = any(fnmatchcase(host, each.casefold()) for each in settings.hosts)
    if host and here and host != here and host != f"www.{here}" and here != f"www.{host}" and not is_ours:
        yield "leave", f"it leads from {here} to {host}"


def _joined(base: str, url: str) -> str:
    """The whole address, as the browser makes it of a part."""
    try:
        return ada_url.join_url(base, url)
    except ValueError:
        return url


def _host_of(url: str) -> str:
    try:
        return ada_url.URL(url).hostname
    except ValueError:
        return ""


def _mark_at(target: Target, seen: Observation) -> Mark | None:
    if not isinstance(target, Point):
        return seen.mark(target.mark if isinstance(target, Cell) else target)
    point = seen.marked.map.to_page(target)
    there = [mark for mark in seen.marks if mark.box.contains(point) and mark.kind not in ("scroller", "surface")]
    return min(there, key=lambda mark: mark.box.width * mark.box.height, default=None)


def _called(mark: Mark) -> str:
    return f"{mark.tag} “{mark.name}”" if mark.name else mark.tag


Answer = Callable[[Task, Observation, Decision, Sequence[Risky]], Awaitable[Choice | None]]
"""What a user of the library answers with."""


class Answers:
    """An `Approver` that is a function, such as one that a test gives or a program of one's own.

    `handed_back` is called after an answer of the kind `take_over`, and returns when the browser is handed back.
    """

    wants_to_be_asked: bool = False

    def __init__(self, answer: Answer, handed_back: Callable[[], Awaitable[None]] | None = None) -> None:
        self._answer = answer
        self._handed_back = handed_back

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """What the function answers."""
        return await self._answer(task, observation, decision, risks)

    async def handed_back(self) -> None:
        """What the other function waits for; without one, what a person did was done when they answered."""
        if self._handed_back is not None:
            await self._handed_back()
