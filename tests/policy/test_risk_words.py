"""Claims about words that tell a risk: sixty ways to hide them, in eight languages, and what is harmless."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces; the letters are meant to look alike

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.policy import risk_words
from vision_agent.policy.approval import risks_of
from vision_agent.policy.risk_words import is_answer, is_bin, is_named_bin, is_refusal, risks_in
from vision_agent.settings import ApprovalSettings, ObserveSettings
from vision_agent.types import Decision
from vision_agent.vision.image_limits import ImageLimits

LANGUAGES = {
    "en": ("Pay now", "Delete account"),
    "de": ("Jetzt bezahlen", "Konto löschen"),
    "fr": ("Payer maintenant", "Supprimer le compte"),
    "es": ("Pagar ahora", "Eliminar cuenta"),
    "it": ("Paga ora", "Elimina account"),
    "pt": ("Pagar agora", "Excluir conta"),
    "nl": ("Nu betalen", "Account verwijderen"),
    "pl": ("Zapłać teraz", "Usuń konto"),
}
CYRILLIC = str.maketrans("aeopcyxAEOPCTXHKM", "аеорсухАЕОРСТХНКМ")
GREEK = str.maketrans("oAEOPTXYHKMNZ", "οΑΕΟΡΤΧΥΗΚΜΝΖ")


def mathematical(text: str) -> str:
    return "".join(chr(0x1D5D4 + ord(each) - 65) if each.isascii() and each.isupper() else
                   chr(0x1D5EE + ord(each) - 97) if each.isascii() and each.islower() else each for each in text)  # fmt: skip


def wide(text: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)


def between(sign: str) -> Callable[[str], str]:
    return lambda text: sign.join(text)


def spaced(sign: str) -> Callable[[str], str]:
    return lambda text: "  ".join(sign.join(word) for word in text.split())


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "small": str.lower,
    "full width": wide,
    "mathematical letters": mathematical,
    "Cyrillic letters": lambda text: text.translate(CYRILLIC),
    "Greek letters": lambda text: text.translate(GREEK),
    "zero-width spaces": between("\u200b"),
    "zero-width joiners": between("\u200d"),
    "zero-width non-joiners": between("\u200c"),
    "word joiners": between("\u2060"),
    "soft hyphens": between("\u00ad"),
    "byte order marks": between("\ufeff"),
    "direction marks": between("\u200e"),
    "tags": between("\U000e0061"),
    "letters apart": spaced(" "),
    "dots": spaced("."),
    "hyphens": spaced("-"),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "thin spaces": lambda text: text.replace(" ", "\u2009"),
    "line breaks": lambda text: text.replace(" ", "\n"),
    "l as I": lambda text: text.replace("l", "I"),
    "o as 0 and l as 1": lambda text: text.replace("o", "0").replace("l", "1"),
    "a as @": lambda text: text.replace("a", "@"),
    "e as 3": lambda text: text.replace("e", "3"),
    "turned round": lambda text: "\u202e" + text[::-1] + "\u202c",
    "after a long text": lambda text: f"Thank you for your patience while we prepare all of it, and now {text}",
    "amid signs": lambda text: f"★ «{text}» → !!!",
    "composed apart": lambda text: __import__("unicodedata").normalize("NFD", text),
}
WAYS = {
    "painted under another name": "<button aria-label='More'>{}</button>",
    "named under another text": "<button aria-label='{}'>More</button>",
    "a title over a sign": "<button title='{}'>→</button>",
    "a title beside a text": "<button title='{}'>Go on</button>",
    "the value of a button": "<input type=button value='{}'>",
    "a value under another name": "<input type=button aria-label=More value='{}'>",
    "a submit button": "<form onsubmit='return false'><input type=submit value='{}'></form>",
    "the alternative of a picture": "<button><img alt='{}' width=30 height=16 src='data:,'></button>",
    "a picture button": "<form onsubmit='return false'><input type=image alt='{}' width=60 height=20></form>",
    "hidden from the tree": "<button aria-label='More'><span aria-hidden=true>{}</span></button>",
    "a style sheet's text": "<style>.n{n}::before{{content:'{}'}}</style><button class=n{n}></button>",
    "a style sheet's text under a name": "<style>.m{n}::before{{content:'{}'}}</style><button class=m{n} aria-label=More></button>",
    "a described button": "<span id=d{n}>{}</span> <button aria-labelledby=d{n}>More</button>",
    "in pieces": "<button><span>{}</span><i></i></button>",
    "a link": "<a href='#x'>{}</a>",
    "a link without an address": "<a role=button tabindex=0>{}</a>",
    "a clickable box": "<div onclick='1' style='cursor:pointer'>{}</div>",
    "a role": "<div role=button tabindex=0>{}</div>",
    "a menu item": "<ul role=menu><li role=menuitem tabindex=0>{}</li></ul>",
    "a tab": "<div role=tablist><div role=tab tabindex=0>{}</div></div>",
    "a box to tick": "<label><input type=checkbox> {}</label>",
    "a switch": "<button role=switch aria-checked=false>{}</button>",
    "a shadow root": "<x-{n}></x-{n}><script>document.querySelector('x-{n}').attachShadow({{mode:'open'}}).innerHTML='<button>{}</button>'</script>",
    "a drawing": "<button><svg width=90 height=20><title>{}</title><rect width=90 height=20 /></svg></button>",
    "the question of a dialog": "<div role=dialog aria-label='{}?'><h2>{}?</h2><button>Yes</button></div>",
    "the question of an alert": "<div role=alertdialog aria-labelledby=q{n}><p id=q{n}>{}?</p><button>OK</button></div>",
    "where the form goes": "<form method=post action='/{}' onsubmit='return false'><button>Go on</button></form>",
    "where the button goes": "<form onsubmit='return false'><button formaction='/x/{}'>Go on</button></form>",
    "with a long name": "<button>Yes, I have read everything above and I agree with it, so please {}</button>",
    "large and small": "<button><span style='font-size:1px'>x</span>{}</button>",
    "a summary": "<details><summary>{}</summary>x</details>",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_word_tells_its_risk(disguise: str, language: str) -> None:
    for text, risk in zip(LANGUAGES[language], ("pay", "delete"), strict=True):
        shown = DISGUISES[disguise](text)
        assert risk in set(risks_in(shown)), (shown, risk_words.readings(shown))


@pytest.mark.parametrize("way", WAYS)
async def test_a_risky_control_is_asked_about_whatever_it_is(page: Page, serve: Server, way: str) -> None:
    # One page with all languages: what matters is the element, not the load.
    words = [text for texts in LANGUAGES.values() for text in texts]
    body = "".join(f"<p>{WAYS[way].replace('{}', text).format(n=n)}</p>" if "{n}" in WAYS[way] or "{{" in WAYS[way]
                   else f"<p>{WAYS[way].replace('{}', text)}</p>" for n, text in enumerate(words))  # fmt: skip
    address = serve({"/": f"<!doctype html><title>Test</title><style>p{{margin:2px}}</style>{body}"})
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits(), start_url=address) as browser:
        await page.set_viewport_size({"width": 1000, "height": 1600})
        await browser.open(address)
        seen = await browser.observe()
    pressed = [mark for mark in seen.marks if mark.kind not in ("scroller", "surface", "field")]
    assert len(pressed) >= len(words), seen.listing
    for mark in pressed:
        found = risks_of(ApprovalSettings(), Decision(author="steps", actions=(Click(target=mark.number),)), seen)
        assert {"pay", "delete", "mismatch"} & {each.risk for each in found}, (mark.name, seen.listing)


def test_there_are_sixty_ways_in_eight_languages() -> None:
    assert len(DISGUISES) + len(WAYS) == 60
    assert len(LANGUAGES) == 8


@pytest.mark.parametrize(
    "text",
    [
        "Trash", "Transfer", "Terminate contract", "Revoke access", "Unsubscribe", "Book", "Book now", "Place bid", "Bid",
        "Deploy", "Grant access", "Merge pull request", "Papierkorb: in den Papierkorb", "Überweisen", "Kündigen", "Révoquer",
        "Se désabonner", "Transferir", "Darse de baja", "Bonifico", "Disiscriviti", "Cancelar assinatura", "Overmaken",
        "Uitschrijven", "Przelej", "Wypisz się", "Wdroż", "Déployer", "Bereitstellen", "Genehmigen", "转账", "입찰", "デプロイ",
    ],
)  # fmt: skip
def test_words_of_a_wide_corpus_tell_a_risk(text: str) -> None:
    assert list(risks_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "Upgrade to Premium for €9.99/month", "Subscribe – €9.99/month", "Start subscription", "Renew (12,00 €)", "Book for €80",
        "Start my free trial, then €9.99", "Send €50 to Bob", "1-Click", "1-click", "Confirm and authorise", "Confirm & authorize",
        "Finish order", "Only today: book for £80", "Now 9,99 € abonnieren", "Abo abschließen", "S’abonner – 9,99 €/mois",
        "Confirmer le paiement", "Renovar por 12 €", "Confirmar pago", "Assinar por 9,99 €", "Rinnova a 12 €", "Verleng voor € 12",
        "Odnów za 12 EUR", "Siparişi onayla", "Förnya för 12 €", "Оформить заказ", "9.99 € 订阅", "구독 €9.99", "تأكيد الطلب",
        "Ｓｕｂｓｃｒｉｂｅ ￡9.99", "Subscr\u200bibe €9.99", "Renеw €12",
    ],
)  # fmt: skip
def test_words_of_a_payment_tell_it_some_only_beside_an_amount(text: str) -> None:
    assert "pay" in set(risks_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "Subscribe", "Free trial", "Send", "Books, €9", "E-Book – €9.99", "The Book Thief, €9.99", "Enamel mug, €14", "Postal order, €3",
        "Payment history", "How to pay?", "Cancel payment", "Zahlungsverlauf", "Comment payer ?", "付款记录", "결제 내역",
    ],
)  # fmt: skip
def test_what_only_names_an_amount_or_speaks_of_payments_tells_none(text: str) -> None:
    assert "pay" not in set(risks_in(text))


def test_a_name_that_says_more_than_that_it_shows_payments_tells_one() -> None:
    assert all("pay" in set(risks_in(text)) for text in ("Payment history: pay now", "How to pay €5", "Pay history"))
    assert list(risks_in("Cancel payment")) == ["delete"]


@pytest.mark.parametrize(
    "text",
    [
        "Add to cart", "My books", "Book of the month", "Facebook", "Notebook", "Save", "Search", "Open first letter", "Next page",
        "Sendung verfolgen", "Bookmark this page", "Undelete", "Next month", "Profile", "Settings", "Help", "Sort by price",
        "3 items", "Log in", "Log out", "Filter", "Add a row", "Show details", "Wool jumper, rust", "Deposition", "Postcode",
    ],
)  # fmt: skip
def test_harmless_names_tell_none(text: str) -> None:
    assert not list(risks_in(text)), list(risks_in(text))


WORDS_OF_MORE_LANGUAGES = {
    "da": ("Køb nu", "Slet konto"),
    "no": ("Kjøp", "Slett"),
    "fi": ("Osta nyt", "Poista tili"),
    "cs": ("Koupit", "Smazat účet"),
    "hu": ("Fizetés", "Fiók törlése"),
    "vi": ("Thanh toán", "Xóa tài khoản"),
    "id": ("Beli sekarang", "Hapus akun"),
    "he": ("קנה עכשיו", "מחק חשבון"),
    "th": ("ซื้อเลย", "ลบบัญชี"),
    "el": ("Αγορά τώρα", "Διαγραφή λογαριασμού"),
    "ro": ("Cumpără acum", "Șterge contul"),
    "bg": ("Купи сега", "Изтрий профила"),
}


@pytest.mark.parametrize("language", WORDS_OF_MORE_LANGUAGES)
def test_buying_and_deleting_are_known_in_twelve_more_languages(language: str) -> None:
    for text, risk in zip(WORDS_OF_MORE_LANGUAGES[language], ("pay", "delete"), strict=True):
        for shown in (text, text.upper(), text.lower(), DISGUISES["zero-width spaces"](text)):
            assert risk in set(risks_in(shown)), (shown, risk_words.readings(shown))


@pytest.mark.parametrize(
    ("risk", "texts"),
    [
        ("pay", "Sell all | Place trade | Place bet | Charge card | Issue refund | Pre-order | Order again | Run payroll"),
        ("pay", "💳 | Sell for €12 | Megrendelem | Zaplatit | Maksa | Bayar | Đặt hàng | שלם עכשיו | ชำระเงิน | Плати"),
        ("delete", "Factory reset | Clear all data | Drop database | Drop table | Unlink bank account | Don't save"),
        ("delete", "Don’t save | Discard | Papierkorb leeren | Konto schließen | Vider la corbeille | Dar de baja"),
        ("delete", "🗑️ | 🗑 3 items | delete_forever | Deletes everything permanently | Fjern | Odstranit | Törlés"),
        ("delete", "Gỡ bỏ | Αφαίρεση | Elimină | Премахни | הסר"),
        ("pay", "Order | Add funds | Cash out | Settle balance | Sell 10 shares | Spend 100 gems | Unlock for 5 credits"),
        ("pay", "Become a member | Enable autopay | Complete booking | Release funds | ᴘᴀʏ | ʙᴜʏ ɴᴏᴡ"),
        ("pay", "Nu afrekenen | Kupuję i płacę | Je paie | Passer à la caisse | Einkauf abschließen | Auftrag freigeben"),
        ("pay", "Hacer pedido | Compre agora | Vai alla cassa | Hemen al | Para yatır | Till kassan | Заплатить"),
        ("pay", "決済する | レジに進む | 去结算 | 充值 | 이체하기 | اشتر الآن | إتمام الشراء | تأكيد الدفع | الدفع"),
        ("pay", "سيتم دفع 49 دولار | 49 TL ÖDENECEK | Se cobrarán 49 dólares | 4900円が引き落とされます | 49,000원이 출금됩니다"),
        ("delete", "Overwrite | Force push | Leave team | Ban user | Void | Shut down | Cancel flight | Format disk"),
        ("delete", "Alles leeren | Anular pedido | Отменить заказ | Suprimir | Töm | الحذف | احذف | 清空 | 初期化 | 비우기"),
        ("delete", "SİLİNECEK | silinsin mi | هل تريد الحذف | seront effacés | Se borrarán | gehen verloren | すべて消えます"),
    ],
)  # fmt: skip
def test_what_pays_or_deletes_in_other_words_or_signs_is_known(risk: str, texts: str) -> None:
    assert [text for text in texts.split(" | ") if risk not in set(risks_in(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "Sort order", "Order by date", "Order details", "Reset filters", "Clear search", "Clear filters", "Reorder columns", "🛒",
        "Drop shadow", "Dropdown", "Sell with us", "Charge level", "Market", "Refund policy", "Database", "Payroll", "Unlink",
        "Don't show again", "Shopping list", "Bin size", "กลับ", "ประวัติการสั่งซื้อ", "Keresés törlése", "Vapaata tilaa", "Pesan masuk",
        "Plata", "Da", "Sim", "Igen", "Slot", "file_name", "Orders", "Deposits", "Charging stations", "Format text", "Silindir",
        "Beställningar", "Zahlungsarten", "決済方法", "طرق الدفع", "الصفحة التالية", "Leave a review", "Clear all", "元に戻す",
    ],
)  # fmt: skip
def test_names_with_a_risky_word_in_another_sense_stay_harmless(text: str) -> None:
    assert not list(risks_in(text)), list(risks_in(text))


def test_answers_that_only_agree_are_known_in_several_languages() -> None:
    known = "Yes | Yes! | OK, continue | OK, go | Finish | Done | → | ✓ | Go ahead | I'm sure | Ja | Oui | Sí | Tak | Evet | Да | はい | 确定 | 확인 | نعم | כן | ตกลง"
    assert all(map(is_answer, known.split(" | ")))
    assert not any(map(is_answer, ("No", "Continue shopping", "←", "", "Cancel", "Yesterday", "Pay now")))


def test_bins_and_refusals_are_known_in_several_languages() -> None:
    assert all(map(is_bin, ("Trash", "Papierkorb", "Corbeille", "ゴミ箱")))
    assert all(map(is_named_bin, ("Bin", "Papierkorb", "Corbeille")))
    assert not any(map(is_named_bin, ("Bin size", "Корзина", "Cart")))
    assert all(map(is_refusal, ("Cancel", "No, thanks", "Nicht jetzt", "Annuler", "Anuluj", "取消")))
    assert not any(map(is_refusal, ("Yes, cancel my order", "No limits: pay", "Bezahlen")))
