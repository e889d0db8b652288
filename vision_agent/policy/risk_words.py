"""The words in names that indicate a risk, in the most common page languages, and how a text is compared with them.

Some words mean a payment only beside an amount of money: `Book` may be a noun, and `Book for €80` is none.
A text is read as a person would read it, whatever letters it is written with: see `readings`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from confusable_homoglyphs import confusables

from vision_agent.text.money import amounts_in
from vision_agent.types import Risk

WORDS: dict[Risk, str] = {
    "submit": """
        submit | sign up | register | subscribe | enroll | apply now | grant* | merge | deploy* | authorize | authorise
        approve | allow access | give access | accept offer | sign contract | sign now | agree and continue
        absenden | abschicken | registrieren | anmelden | abonnieren | einreichen | beantragen | gewähren | erteilen
        zusammenführen | mergen | bereitstellen | ausrollen | autorisieren | genehmigen | unterschreiben
        soumettre | valider | s'inscrire | s'abonner | accorder | octroyer | fusionner | déployer | autoriser
        approuver | inscrever* | enviar formulario | registrarse | suscribirse | conceder | otorgar | fusionar
        combinar | desplegar | autorizar | aprobar | aprovar | mesclar | implantar | assinar
        iscriviti | invia modulo | registrati | concedi | unisci | distribuisci | autorizza | approva
        indienen | inschrijven | verlenen | toekennen | samenvoegen | uitrollen | autoriseren | goedkeuren
        wyślij formularz | zarejestruj* | przyznaj | udziel | scal | połącz | wdroż | zatwierdź | autoryzuj
        kaydol | gönder formu | birleştir | onayla | yetki ver | dağıt | godkänn | bevilja | slå ihop | distribuera
        зарегистрироваться | подать | предоставить доступ | объединить | развернуть | авторизовать | утвердить
        送信 | 登録 | 申し込む | 承認 | 許可する | マージ | デプロイ | 提交 | 注册 | 授权 | 批准 | 合并 | 部署
        제출 | 가입 | 승인 | 권한 부여 | 병합 | 배포 | إرسال | منح | موافقة | دمج | نشر التطبيق
    """,
    "pay": """
        pay | payment | buy | purchase | checkout | check out | place order | order now | complete order | donate
        book now | =book | book it | book this* | book your* | book a | book appointment | book table | book flight
        book room | book ticket* | book seat* | rent now | confirm booking | transfer | transfer money | wire | reserve
        bid | place bid | invest | withdraw | top up | paynow | buynow | send money
        start subscription | start my subscription | start your subscription | begin subscription
        activate subscription | =renew | renew now | renew subscription | renew my subscription
        renew your subscription | renew membership
        renew plan | =upgrade | upgrade now | upgrade to | upgrade plan | upgrade my plan | upgrade your plan
        start trial | start my trial | start your trial | start free trial | start my free trial | start your free trial
        finish order | finish your order | confirm order | submit order | finalise order | finalize order | 1-click
        one-click | =authorise | =authorize | and authorise | and authorize | confirm authorise | confirm authorize
        reservieren | buchen | überweisen | überweisung | bieten | gebot abgeben | investieren | abheben
        bezahl* | zahlen | kaufen | kostenpflichtig* | zahlungspflichtig* | bestellen | spenden
        abo starten | abo abschließen | abo verlängern | abonnement starten | abonnement verlängern | =verlängern
        jetzt verlängern | jetzt upgraden | upgraden auf | probeabo starten | probemonat starten | testphase starten
        kauf abschließen | kauf bestätigen | zahlung bestätigen | zahlung freigeben | zahlung abschließen | 1-klick
        ein-klick | und autorisieren | und freigeben
        payer | acheter | commander | régler | faire un don | virement | virer | transférer | réserver | enchérir
        investir | retirer de l'argent | démarrer l'abonnement | commencer l'abonnement | renouveler l'abonnement
        =renouveler | renouveler maintenant | commencer l'essai | démarrer l'essai | commencer mon essai | 1-clic
        finaliser la commande | valider la commande | confirmer la commande | passer commande | passer la commande
        confirmer le paiement | valider le paiement | procéder au paiement | et autoriser
        pagar | comprar | finalizar compra | realizar pedido | donar | finalizar pedido | doar | reservar | transferir
        pujar | ofertar | invertir | licitar | dar lance | iniciar suscripción | empezar suscripción
        activar suscripción | =renovar | renovar ahora | renovar suscripción | empezar prueba | iniciar prueba
        comenzar prueba
        tramitar pedido | confirmar pedido | confirmar pago | confirmar el pago | y autorizar
        iniciar assinatura | renovar assinatura | renovar agora | iniciar teste | começar teste | fazer upgrade
        concluir pedido | confirmar pagamento | confirmar o pagamento | e autorizar | 1-clique
        paga | acquista | compra | ordina | dona | prenota | trasferisci | bonifico | investi | fai un'offerta
        inizia abbonamento | attiva abbonamento | rinnova abbonamento | =rinnova | rinnova ora | inizia prova
        inizia la prova | conferma ordine | completa ordine | invia ordine | effettua ordine | conferma pagamento
        e autorizza
        betalen | kopen | bestel* | doneren | reserveer | boek nu | boeken | overmaken | overboeken | bieden
        abonnement verlengen | =verlengen | nu verlengen | upgraden naar | proefperiode starten | start proefperiode
        betaling bevestigen | en autoriseren
        zapłać | kup | zamawiam | zamów | przelej | przelew | zarezerwuj | licytuj | zainwestuj
        rozpocznij subskrypcję | odnów subskrypcję | =odnów | odnów teraz | rozpocznij okres próbny | złóż zamówienie
        potwierdź zamówienie | potwierdź płatność | i autoryzuj
        ödeme* | satın al* | öde | havale | teklif ver | rezervasyon yap | betala | köp | överför | boka | lägg bud
        aboneliği başlat | aboneliği yenile | denemeyi başlat | siparişi tamamla | siparişi onayla | sipariş ver
        starta prenumeration | förnya prenumeration | =förnya | förnya nu | starta provperiod | slutför beställning*
        lägg beställning | bekräfta betalning | bekräfta köp
        оплатить | купить | заказать | перевести | забронировать | сделать ставку
        оформить подписку | продлить подписку | начать пробный период | оформить заказ | подтвердить заказ
        подтвердить оплату
        支払* | 購入 | 注文 | 振込 | 予約する | 入札 | 付款 | 支付 | 购买 | 下单 | 转账 | 预订 | 出价
        購読を開始 | 無料体験を始める | ワンクリック | 开始订阅 | 续费 | 开始试用 | 提交订单 | 确认订单 | 订单确认
        결제 | 구매 | 주문 | 송금 | 예약하기 | 입찰 | ادفع | شراء | تحويل | احجز | زايد
        구독 시작 | 구독 갱신 | 체험 시작 | 원클릭 | بدء الاشتراك | تجديد الاشتراك | تأكيد الطلب | إتمام الطلب
    """,
    "delete": """
        delete | remove | erase | discard | cancel order | cancel subscription | cancel booking | cancel membership
        cancel plan | close account | deactivate | wipe | trash | move to bin | terminate | revoke* | unsubscribe
        uninstall | destroy | purge | empty bin | empty recycle bin | cancel payment | cancel transfer | cancel purchase
        löschen | entfernen | verwerfen | kündigen | stornieren | widerrufen | abbestellen | deinstallieren | vernichten
        in den papierkorb | beenden | überweisung abbrechen
        supprimer | effacer | retirer | résilier | annuler la commande | révoquer | se désabonner | désabonner
        désinstaller | détruire | mettre à la corbeille | annuler le virement
        eliminar | borrar | quitar | revocar | darse de baja | cancelar suscripción | desinstalar | destruir | rescindir
        mover a la papelera | cancelar pedido | terminar contrato
        excluir | apagar | remover | revogar | cancelar assinatura | cancelar inscrição | mover para a lixeira
        elimina | cancella | rimuovi | revoca | disdici | disiscriviti | annulla iscrizione | disinstalla | distruggi
        cestina | sposta nel cestino
        verwijder* | opzeggen | intrekken | afmelden | uitschrijven | vernietigen | beëindigen | naar de prullenbak
        usuń | skasuj | odwołaj | cofnij dostęp | wypisz się | odinstaluj | zniszcz | wypowiedz | przenieś do kosza
        sil | kaldır | iptal et | aboneliği sonlandır | ta bort | radera | återkalla | avsluta prenumeration
        удалить | стереть | отозвать | отписаться | прекратить | уничтожить | в корзину удалить
        削除 | 消去 | 退会 | 取り消す | 解約 | ゴミ箱に移動 | 删除 | 移除 | 注销 | 撤销 | 退订 | 终止 | 移到回收站
        取消付款 | 取消支付 | 삭제 | 탈퇴 | 취소하기 | 해지 | 구독 취소 | 결제 취소 | 휴지통으로 | حذف
        إلغاء الاشتراك | إنهاء | سحب الإذن
    """,
    "send": """
        send | post | publish | reply | tweet | share | invite | =message | send message | broadcast | announce
        senden | verschicken | veröffentlichen | antworten | teilen | einladen | envoyer | publier | répondre
        partager | inviter
        enviar | publicar | responder | compartir | compartilhar | invitar | convidar | invia | pubblica | rispondi
        condividi | invita
        verzenden | versturen | publiceren | beantwoorden | delen | uitnodigen | wyślij | opublikuj | odpowiedz
        udostępnij | zaproś
        gönder | yayınla | yanıtla | paylaş | davet et | skicka | publicera | bjud in | dela
        отправить | опубликовать | ответить | поделиться | пригласить
        送る | 投稿 | 返信 | 公開 | 共有 | 招待 | 发送 | 发布 | 回复 | 分享 | 邀请 | 보내기 | 게시 | 답장 | 공유 | 초대
        نشر | أرسل | مشاركة | دعوة
    """,
    "upload": """
        upload | hochladen | téléverser | subir archivo | carregar arquivo | carica | uploaden | prześlij | yükle
        ladda upp | загрузить | アップロード | 上传 | 업로드 | رفع
    """,
}
"""By risk, separated by `|` and line breaks. `word*`: every word that begins so; `=word`: that word and no other."""
WITH_AMOUNT = """
    subscribe | renew | upgrade | trial | unlock | charge | charged | authorise | authorize
    abonnieren | abonniere | verlängern | upgraden | probeabo | probemonat | testphase | freischalten | senden
    autorisieren | abgebucht
    s'abonner | abonner | abonnez | renouveler | mettre à niveau | passer à | passer au | essai | envoyer
    autoriser | débité
    suscribirse | suscribirme | suscríbete | renovar | mejorar a | prueba gratis | prueba gratuita | enviar | autorizar
    assinar | assine | fazer upgrade | teste grátis | período de teste
    abbonati | abbonarsi | rinnova | passa a | prova gratuita | invia | autorizza
    abonneren | abonneer | verlengen | verleng | proefperiode | versturen | verstuur | stuur | boek | autoriseren
    subskrybuj | odnów | przedłuż | ulepsz | okres próbny | wyślij | rezerwuj | autoryzuj
    abone ol | yenile | yükselt | deneme | gönder | prenumerera | förnya | uppgradera | provperiod | skicka | godkänn
    подписаться | подписка | продлить | пробный | отправить | авторизовать
    購読 | 更新 | アップグレード | 無料体験 | トライアル | 送る | 予約 | 承認 | 订阅 | 续订 | 升级
    试用 | 发送 | 预约 | 授权 | 구독 | 갱신 | 업그레이드 | 무료 체험 | 보내기 | 예약 | 승인
    اشترك | اشتراك | تجديد | ترقية | تجربة مجانية | أرسل | حجز
"""
"""Words that mean a payment where the text also has an amount of money."""
BEGINNING_WITH_AMOUNT = """
    book | order | send | join | start | continue | confirm
"""
"""The same, if the text, or a part of it between signs, begins with the word: later in it, it may be a noun."""
NO_PAYMENTS = """
    payment history | payments history | transfer history | purchase history | purchases history | bid history
    how to pay | ways to pay | cancel payment | cancel transfer | cancel purchase
    wie bezahlen | wie kann ich bezahlen | so bezahlen sie | überweisung abbrechen | bezahlverlauf
    comment payer | annuler le virement | historique des virements | cómo pagar | como pagar | come si paga
    hoe betalen | hoe te betalen | hoe kan ik betalen | ödeme geçmişi | как оплатить
    支払い履歴 | お支払い履歴 | 購入履歴 | 注文履歴 | 支払い方法 | お支払い方法 | 付款记录 | 支付记录
    购买记录 | 如何付款 | 如何支付 | 取消付款 | 取消支付 | 결제 내역 | 구매 내역 | 주문 내역 | 결제 방법 | 결제 취소
    كيف تدفع
"""
"""Whole names that speak of payments and do not pay."""
TO_CART = """
    to cart | to my cart | to your cart | to the cart | to basket | to my basket | to your basket | to bag | to trolley
    in den warenkorb | in den einkaufswagen | zum warenkorb hinzufügen | au panier | al carrito | a la cesta
    ao carrinho | al carrello | in winkelwagen | in winkelmandje | aan winkelwagen | do koszyka | sepete ekle
    i varukorgen
    i kundvagnen | в корзину | カートに入れる | カートに追加 | 加入购物车 | 加入購物車
    장바구니에 담기 | 장바구니 담기 | أضف إلى السلة
"""
"""Words of buttons that only put something into the cart."""
VIEWS = """
    cart | my cart | basket | bag | shopping cart | view | show | see | details | compare | filter
    warenkorb | anzeigen | ansehen | zeige | vergleichen | filtern | panier | voir | afficher | détails | comparer
    carrito | cesta | ver | mostrar | detalles | detalhes | carrinho | comparar | carrello | vedi | mostra | dettagli
    winkelwagen | bekijk | toon | koszyk | zobacz | pokaż | szczegóły | sepet | göster | varukorg | visa
    корзина | показать | подробнее | カート | 詳細 | 查看 | 详情 | 购物车 | 장바구니 | 자세히 | عرض
"""
"""Words with which the name of a button begins that only shows something."""
BINS = """
    trash | bin | recycle bin | wastebasket | garbage | papierkorb | corbeille | papelera | lixeira | cestino
    prullenbak | kosz | çöp | papperskorg | корзина | ゴミ箱 | 垃圾桶 | 回收站 | 휴지통 | سلة المهملات
"""
"""Names of drop targets that delete."""
REFUSALS = """
    cancel | no | not now | no thanks | close | dismiss | later | back | keep | go back | never mind | skip
    abbrechen | nein | nein danke | nicht jetzt | schließen | später | zurück | behalten
    annuler | non | non merci | fermer | plus tard | retour | pas maintenant | garder
    cancelar | no gracias | cerrar | más tarde | volver | ahora no | annulla | no grazie | chiudi | più tardi | indietro
    não | não obrigado | fechar | mais tarde | voltar | agora não | manter
    annuleren | nee | nee bedankt | sluiten | niet nu | terug | anuluj | nie | nie dziękuję | zamknij | później | wróć
    iptal | hayır | kapat | vazgeç | avbryt | nej | stäng | senare | отмена | нет | закрыть | позже | назад
    キャンセル | いいえ | 閉じる | 戻る | 取消 | 否 | 关闭 | 返回 | 취소 | 아니요 | 닫기 | إلغاء | لا | إغلاق
"""
"""Names of buttons that answer a dialog with no."""

_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[\w']+")
_DIGITS = re.compile(r"\d+")
_SIGNS = re.compile(r"[^\w\s'-]+|(?<!\w)-|-(?!\w)|\n")
"""What parts a text. A hyphen within a word does not: `E-Book`."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BACKWARDS = re.compile("[\u202e\u202b\u2067]")
_STRIPPED_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
_UNDIVIDED = str.maketrans({"ł": "l", "Ł": "L", "ı": "i", "ß": "ss", "ø": "o", "Ø": "O"})
"""Letters whose stroke or dot Unicode does not take for an accent."""
_APART = re.compile(r"\b\w(?: \w\b){2,}")
_LIKE_LETTERS = str.maketrans("013457$@|!", "oleastsali")
_SHORTEST_APART = 3
LONGEST = 2000
"""How many letters of a text are examined."""


def risks_in(text: str) -> Iterator[Risk]:
    """The risks that a text indicates, in the order of `WORDS`; anything after its first 2,000 letters is not read."""
    said = readings(text)
    apart = "\n".join(run.replace(" ", "") for each in said for run in _APART.findall(each))
    for risk in WORDS:
        left = [each for each in said if each not in _whole_names(NO_PAYMENTS)] if risk == "pay" else said
        is_said = any(_stands_in(word, each) for word in _entries(risk) for each in left) or _is_in_run(risk, apart)
        if is_said or (risk == "pay" and has_amount(text) and _pays_amount(text)):
            yield risk


def says_one_of(text: str, words: Iterable[str]) -> bool:
    """Whether one of the words is in the text, with `*` and `=` as in `WORDS`."""
    said = readings(text)
    return any(_stands_in(form, each) for word in words for form in _forms(word) for each in said)


def has_amount(text: str) -> bool:
    """Whether there is an amount of money in a text."""
    return bool(amounts_in(text[:LONGEST]))


def only_shows(text: str) -> bool:
    """Whether a button of this name only shows something or puts it into the cart, whatever amount the name has."""
    views = _whole_names(VIEWS)
    words = [" ".join(_DIGITS.sub(" ", each).split()) for each in readings(text)]
    begins = any(each == view or each.startswith(f"{view} ") for each in words for view in views)
    return begins or says_one_of(text, entries_of(TO_CART))


def is_bin(text: str) -> bool:
    """Whether something of this name deletes what is dropped on it."""
    return says_one_of(text, entries_of(BINS))


def is_refusal(text: str) -> bool:
    """Whether a button of this name answers a question with no."""
    return bool(_whole_names(REFUSALS) & set(readings(text)))


@cache
def readings(text: str) -> tuple[str, ...]:
    """The ways in which a person may read a text, each as lower-case words with single spaces; the plain one first.

    They have no invisible characters, no accents and no differences of width. Letters of other scripts that look like
    Latin ones are read as these (Unicode's confusables, UTS 39), and so are digits and signs among letters. Text
    that is turned round is also read backwards.
    """
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).replace("’", "'")
    is_turned = bool(_BACKWARDS.search(plain))
    shown = "".join(each for each in plain if unicodedata.category(each) not in ("Cf", "Cc", "Cs") or each in "\n\t")
    shown = _without_accents(shown)
    alike = "".join(map(_latin, shown))
    forms = [shown, alike, alike.replace("I", "l"), _CAMEL.sub(" ", alike), _letters_for_signs(alike)]
    if is_turned:
        forms += [shown[::-1], alike[::-1]]
    return tuple(dict.fromkeys(" ".join(_WORD.findall(form.casefold())) for form in forms))


def _forms(word: str) -> tuple[str, ...]:
    """A word of a list in the forms in which `readings` gives texts."""
    start, end = "=" * word.startswith("="), "*" * word.endswith("*")
    said = readings(word.strip("=*"))
    return tuple(f"{start}{each}{end}" for each in said[:2])


@cache
def _entries(risk: Risk) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for word in entries_of(WORDS[risk]) for form in _forms(word)))


@cache
def _whole_names(words: str) -> frozenset[str]:
    """The entries of a table in the forms in which `readings` gives texts."""
    return frozenset(form for word in entries_of(words) for form in _forms(word))


def _pays_amount(text: str) -> bool:
    """Whether a text with an amount of money says that it is paid."""
    if says_one_of(text, entries_of(WITH_AMOUNT)):
        return True
    first = [each.split(" ")[0] for part in _SIGNS.split(text[:LONGEST]) for each in readings(part)]
    return bool(_whole_names(BEGINNING_WITH_AMOUNT) & set(first))


@cache
def entries_of(words: str) -> tuple[str, ...]:
    """The entries of a table of words, separated by bars and line breaks."""
    return tuple(word for each in words.replace("|", "\n").splitlines() if (word := each.strip()))


def _stands_in(word: str, said: str) -> bool:
    if not word.strip("=*"):
        return False
    if word.startswith("="):
        return word[1:] == said
    if _WITHOUT_SPACES.search(word):
        return word.rstrip("*") in said
    if word.endswith("*"):
        return f" {word[:-1]}" in f" {said}"
    return f" {word} " in f" {said} "


def _without_accents(text: str) -> str:
    """The text without the accents of Latin, Greek and Cyrillic letters; in other scripts they make other letters."""
    kept, base = [], ""
    for each in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(each):
            base = unicodedata.name(each, "")
        elif base.startswith(_STRIPPED_SCRIPTS):
            continue
        kept.append(each)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_UNDIVIDED)


@cache
def _latin(letter: str) -> str:
    """The Latin letter that a letter looks like; the letter itself if it is none of another script."""
    if letter.isascii():
        return letter
    alike = [each["c"] for each in confusables.confusables_data.get(letter, ())]
    return next((each for each in alike if len(each) == 1 and each.isascii() and each.isalpha()), letter)


def _letters_for_signs(text: str) -> str:
    """The text with digits and signs among letters read as the letters that they look like."""
    words = text.split(" ")
    return " ".join(each.translate(_LIKE_LETTERS) if re.search(r"[^\W\d_]", each) else each for each in words)


def _is_in_run(risk: Risk, runs: str) -> bool:
    """Whether a word of the risk is in letters that were set apart, such as `p a y  n o w`, and are joined here."""
    words = (word.strip("=*").replace(" ", "") for word in _entries(risk)) if runs else ()
    return any(len(word) >= _SHORTEST_APART and word in runs for word in words)
