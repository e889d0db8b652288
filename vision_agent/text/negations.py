"""Tells whether words turn those beside them into their opposite, as `Do not` and `Turn off` do.

The words are those of the languages that `policy.risk_tables` knows. Knows text only, no mark and no line.
"""

from __future__ import annotations

import re
from functools import cache
from unicodedata import normalize

_ANYWHERE = """
    no | not | non | none | never | dont | don't | doesn't | didn't | isn't | aren't | won't | can't | cannot
    shouldn't | without | except | excluding | exclude | unless | neither | nor | instead of | rather than | off
    opt out | disabled
    nicht | nichts | kein | keine | keinen | keinem | keiner | nein | nie | niemals | ohne | außer | ausgenommen | statt
    ausschalten | abschalten | deaktivieren | stoppen | ablehnen | verweigern | verbieten | blockieren | stummschalten
    ausblenden | abbestellen | überspringen | ignorieren | widerrufen | aufheben | aus$
    ne | pas | jamais | aucun | aucune | sans | sauf | hormis
    nunca | jamás | tampoco | ningún | ninguna | ninguno | sin | excepto | salvo
    não | nenhum | nenhuma | sem | exceto
    nessun | nessuna | nessuno | senza | tranne | eccetto
    niet | nooit | geen | zonder | behalve | nee | uitschakelen | uitzetten | weigeren | afwijzen | blokkeren
    verbergen | overslaan | negeren | uit$
    nie | nigdy | bez | oprócz | żaden | żadnych
    değil | hayır | asla | olmadan | hariç | hiçbir | yok | kapat | devre dışı | durdur | reddet | engelle | gizle
    iptal | atla | etme | etmiyorum | etmeyin | istemiyorum | verme | vermiyorum | gönderme | gösterme | sorma
    kaydetme
    inte | ej | icke | aldrig | ingen | inga | inget | utan | förutom | av$ | ikke | ikkje | aldri | uten | uden
    unntatt | undtagen | fra$
    ei | eivät | älä | ^en | ilman | paitsi | nikdy | kromě | žádný | žádné | nem | soha | nélkül | kivéve
    không | chưa | đừng | tidak | jangan | tanpa | bukan | kecuali | nu | fără | niciodată | cu excepția
    не | нет | ни | никогда | без | кроме | никакой | никаких | выкл | ні | няма | освен
    δεν | μη | μην | όχι | χωρίς | ποτέ | εκτός
    לא | אל | בלי | ללא | אין | למעט | חוץ
    لا | لن | لم | ليس | ليست | غير | عدم | بدون | دون | أبدا | باستثناء
    안 | 못 | 말고 | 아니요 | 아니오 | 제외 | 빼고
"""
"""Words that deny or leave out, and verbs that turn off in languages where they come last.

`^` stands for the beginning of a name, `$` for its end: such a word means something else elsewhere.
"""
_BEFORE = """
    stop | disable | deactivate | deny | reject | refuse | decline | disallow | disagree | block | mute | hide | close
    cancel | dismiss | skip | ignore | avoid | prevent | forbid | revoke | withdraw | suspend | pause | quit | exit
    leave | undo | unfollow | unsubscribe | unlink | unselect | un | anti | nothing
    schließen | beenden | désactiver | arrêter | refuser | rejeter | interdire | bloquer | masquer | fermer | annuler
    ignorer | cesser | éteindre | couper
    desactivar | apagar | detener | rechazar | denegar | prohibir | bloquear | ocultar | cerrar | cancelar | omitir
    ignorar | dejar de | silenciar | desativar | desligar | parar | recusar | rejeitar | negar | proibir | esconder
    fechar | pular | deixar de
    disattiva | disattivare | spegni | ferma | interrompi | rifiuta | rifiutare | nega | vieta | blocca | nascondi
    chiudi | annulla | salta | ignora | smetti
    stop | sluit | annuleer | wyłącz | zatrzymaj | odrzuć | odmów | zabroń | zablokuj | ukryj | zamknij | anuluj | pomiń
    ignoruj | przestań | stäng | stoppa | avvisa | neka | avböj | blockera | dölj | avbryt | ignorera | inaktivera
    sluta | hoppa över | slå av | slå fra | avvis | afvis | skjul | lukk | estä | hylkää | vypnout | odmítnout | zakázat
    skrýt | zavřít | zrušit | přeskočit | tắt | từ chối | bỏ qua | matikan | nonaktifkan | tolak | dezactivează | refuză
    отключить | выключить | остановить | отклонить | отказаться | запретить | заблокировать | скрыть | закрыть
    отменить | пропустить | прекратить | вимкнути | відхилити | изключи | откажи | απενεργοποίηση | απόρριψη
    כבה | דחה | בטל | إيقاف | تعطيل | رفض | إلغاء | إخفاء
"""
"""Verbs that turn off or refuse what comes after them; not after another: `Save & exit` saves."""
_IN_WORDS = """
    ない | ません | なし | 無し | ずに | オフ | 拒否 | 無効 | 禁止 | 停止 | 解除 | 除く | 以外 | 却下 | 不要 | 非表示
    不 | 未 | 勿 | 无 | 無 | 没有 | 沒有 | 别 | 別 | 禁 | 拒 | 停用 | 关闭 | 關閉 | 取消 | 除外 | 除了 | 忽略
    跳过 | 跳過
    않 | 없 | 마세요 | 말기 | 안함 | 금지 | 거부 | 거절 | 해제 | 끄기 | 중지 | 차단 | 비활성 | 취소 | 숨기
    ไม่ | ห้าม | ยกเลิก | ปิด | เว้น | ปฏิเสธ
"""
"""The same in languages that put it into a word or write no spaces."""
_PREFIXES = frozenset(("un", "non", "dis", "de", "des", "dés", "in", "im", "ent", "ab"))
"""What may begin a word and make it the opposite: `Unsubscribe`, `Inactive`."""
_WORD = re.compile(r"\w+|^\^|\$$")


def negates(before: str, after: str = "") -> bool:
    """Whether the words before and after others may turn these into their opposite; so may the start of their word."""
    begun = _WORD.findall(_plain(before)) if before[-1:].isalpha() else []
    return (
        (begun != [] and begun[-1] in _PREFIXES)
        or _says(f"^ {before}", (*_entries(_ANYWHERE), *_entries(_BEFORE)))
        or _says(f"{after} $", _entries(_ANYWHERE))
    )


def denies(word: str) -> bool:
    """Whether a word denies the one that follows it: `not` in `not paid`."""
    return _says(f"^ {word}", _entries(_ANYWHERE))


def _says(text: str, entries: tuple[str, ...]) -> bool:
    plain = _plain(text)
    spaced = f" {' '.join(_WORD.findall(plain))} "
    return any(each in spaced for each in entries) or any(each.strip() in plain for each in _entries(_IN_WORDS))


@cache
def _entries(table: str) -> tuple[str, ...]:
    """The entries of a table with a space on either side."""
    spaced = _plain(table).replace("^", "^ ").replace("$", " $").replace("\n", "|")
    return tuple(f" {word} " for each in spaced.split("|") if (word := " ".join(each.split())))


def _plain(text: str) -> str:
    """A text in lower case, with spaces for apostrophes, and Turkish i without the dot that its capital leaves."""
    shown = normalize("NFKC", text).replace("\u2019", "'").replace("'", " ")
    return shown.casefold().replace("\u0307", "")
