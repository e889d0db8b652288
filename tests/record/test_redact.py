"""Secrets leave a text in every form in which they could stand there."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from pydantic import SecretStr
from record_builder import done, mark, observation, task

from vision_agent import totp
from vision_agent.errors import UsageError
from vision_agent.events import LastLook, Observed
from vision_agent.record import Redactor, redact_model
from vision_agent.record.redact import with_values
from vision_agent.record.redact_events import redacted_event
from vision_agent.types import Outcome, Secret

AWKWARD = 'pä"s/wörd 🔑 +&\\n%7B'


def secret(name: str = "password", value: str = AWKWARD) -> Secret:
    return Secret.model_validate({"name": name, "value": value})


def redacted(text: str, *secrets: Secret) -> str:
    return Redactor(secrets or (secret(),))(text)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda v: json.dumps(v)[1:-1],
    "json with letters kept": lambda v: json.dumps(v, ensure_ascii=False)[1:-1],
    "json with upper-case hex": lambda v: "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 else c for c in v),
    "json with escaped slashes": lambda v: json.dumps(v)[1:-1].replace("/", "\\/"),
    "json in json": lambda v: json.dumps(json.dumps(v)[1:-1])[1:-1],
    "url": quote,
    "url, nothing safe": lambda v: quote(v, safe=""),
    "url in lower case": lambda v: quote(v, safe="").replace("%C3%A4", "%c3%a4").replace("%2F", "%2f"),
    "form": quote_plus,
    "url in url": lambda v: quote(quote(v)),
    "every byte percent-encoded": lambda v: "".join(f"%{b:02x}" for b in v.encode()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [AWKWARD, "hunter2", "a+b c", "\\\\srv\\share", 'end"\\', "line\nbreak"])
def test_every_written_form_becomes_the_name(form: str, value: str) -> None:
    assert redacted(f"before {FORMS[form](value)} after", secret(value=value)) == "before <secret:password> after"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "u", "us", "user:", "user::"])
@pytest.mark.parametrize("after", ["", "!", "!!", "\n and more"])
@pytest.mark.parametrize("value", ["abc", "hunter2", AWKWARD, "ÿÿÿ>>>???ûïþ"])
def test_base64_is_found_wherever_it_begins_in_a_longer_text(
    encode: Callable[[bytes], bytes], before: str, after: str, value: str
) -> None:
    text = encode((before + value + after).encode()).decode()
    cleaned = redacted(text, secret(value=value))
    assert "<secret:password>" in cleaned
    assert len(cleaned) - len("<secret:password>") <= len(text) - len(value.encode()) * 4 // 3


@pytest.mark.parametrize("value", ["Grün-Käse-47", "contraseña9", "pé1"])
@pytest.mark.parametrize("before", ["", "a", "ann:"])
def test_base64_of_latin_1_is_found_as_btoa_and_basic_auth_make_it(before: str, value: str) -> None:
    redact = Redactor([Secret(name="word", value=SecretStr(value))])
    code = base64.b64encode(f"{before}{value}".encode("latin-1")).decode()
    told = redact(f"Authorization: Basic {code} sent")
    assert "<secret:word>" in told
    assert told.endswith(" sent")
    assert code[-8:] not in told


def test_base64_of_the_escaped_forms_is_found_too() -> None:
    body = json.dumps({"password": AWKWARD}).encode()
    assert "<secret:password>" in redacted(base64.b64encode(body).decode())
    assert "<secret:password>" in redacted(base64.b64encode(quote_plus(AWKWARD).encode()).decode())


def test_base64_inside_an_address_is_found() -> None:
    text = quote(base64.b64encode("ÿÿÿ>>>???ûïþ".encode()).decode(), safe="")
    assert redacted(f"?t={text}", secret(value="ÿÿÿ>>>???ûïþ")).startswith("?t=<secret:password>")


def test_a_secret_that_is_learned_later_is_taken_out_from_then_on() -> None:
    redact = Redactor(())
    assert (redact("a hunter2 b"), redact.is_empty) == ("a hunter2 b", True)
    redact.learn(secret("by-hand", "hunter2"))
    with pytest.raises(UsageError):
        redact.learn(secret("short", "ab"))
    assert (redact("a hunter2 b, ab"), redact.is_empty) == ("a <secret:by-hand> b, ab", False)


def test_the_longer_of_two_values_wins() -> None:
    short, long = secret("pin", "1234"), secret("card", "12345678")
    assert redacted("12345678 and 1234", short, long) == "<secret:card> and <secret:pin>"


def test_an_address_that_was_recorded_leads_to_where_it_led() -> None:
    secret = Secret(name="ticket", value=SecretStr("a/b &c"))
    address = "http://shop.test/<secret:ticket>?again=<secret:other>"
    opened = with_values(address, [secret])
    assert opened == "http://shop.test/a/b%20%26c?again=<secret:other>"
    assert Redactor([secret])(opened) == address


def test_a_second_pass_leaves_the_names_alone() -> None:
    redactor = Redactor([secret("code", "ecre-t"), secret()])
    once = redactor(f"{AWKWARD} ecre-t")
    assert redactor(once) == once == "<secret:password> <secret:code>"


def test_text_without_a_secret_comes_back_as_it_was() -> None:
    text = 'nothing %41 \\u0041 "here" aHVudGVy'
    assert redacted(text) == text
    assert Redactor([])(text) == text


@pytest.mark.parametrize("value", ["", "a", "ab"])
def test_a_value_that_would_redact_everything_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="occurs in almost every text"):
        Redactor([secret(value=value)])


def test_a_value_shown_by_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="occurs in the placeholder <secret:password>"):
        Redactor([secret("password", "pass")])


def test_a_name_that_would_break_its_placeholder_is_refused() -> None:
    with pytest.raises(UsageError, match="does not fit into"):
        Redactor([secret('a">b', "hunter2")])


def test_a_page_full_of_backslashes_is_no_trap() -> None:
    text = "\\" * 50_000
    assert redacted(text, secret(value='\\\\"\\"\\"abc')) == text


def test_the_last_look_is_told_without_secrets_and_with_its_pictures() -> None:
    seen = observation(marks=(mark(name="hunter2 is shown"),))
    heard = redacted_event(LastLook(observation=seen), Redactor([secret("password", "hunter2")]))
    assert isinstance(heard, LastLook)
    assert heard.observation is not None
    assert heard.observation.marks[0].name == "<secret:password> is shown"
    assert heard.observation.clean.data == seen.clean.data
    failed = LastLook(problem="lost at hunter2")
    assert redacted_event(failed, Redactor([secret("password", "hunter2")])) == LastLook(
        problem="lost at <secret:password>"
    )


def test_words_of_the_format_stay_even_when_they_are_secrets() -> None:
    """A secret called `click`, `2026` or a few hex digits would otherwise make the record unreadable."""
    seen = Observed(step=1, observation=observation(marks=(mark(name="click done 2026"),)))
    digits = seen.observation.clean.sha256[:4]
    values = [
        secret("a", "done"),
        secret("b", "2026"),
        secret("c", digits),
        secret("d", "button"),
        secret("e", "click"),
    ]
    kept = redact_model(seen, Redactor(values))
    assert Observed.model_validate(kept).observation.clean.sha256 == seen.observation.clean.sha256
    assert kept["observation"]["marks"][0]["name"] == "<secret:e> <secret:a> <secret:b>"
    outcome = redact_model(done("It is done"), Redactor(values))
    assert Outcome.model_validate(outcome).status == "done"
    assert outcome["sentence"] == "It is <secret:a>"


def test_keys_of_free_data_are_redacted_too() -> None:
    kept = redact_model(task(user_data={"hunter2": "my hunter2"}), Redactor([secret(value="hunter2")]))
    assert kept["user_data"] == {"<secret:password>": "my <secret:password>"}


def test_codes_of_the_last_minutes_and_the_next_one_are_taken_out_and_so_is_their_key() -> None:
    key = "JBSWY3DPEHPK3PXP"
    code = Secret.model_validate({"name": "code", "value": key, "is_code": True})
    now = time.time()
    _, *recent = totp.recent_codes(code, now)  # the oldest is forgotten if a period ends before the next line
    redact = Redactor([code])
    for text in (*recent, totp.current_text(code), key):
        assert redact(f"typed {text} into it") == "typed <secret:code> into it"
        assert text not in redact(base64.b64encode(f"pin={text}".encode()).decode())
    old = totp.recent_codes(code, now - 3600)[0]
    assert redact(old) in (old, "<secret:code>")  # by a rare chance an hour ago it was the same


def test_the_key_of_codes_is_taken_out_however_it_is_written() -> None:
    address = "otpauth://totp/shop:ada?secret=JBSWY3DPEHPK3PXP&issuer=shop"
    redact = Redactor([Secret.model_validate({"name": "code", "value": address, "is_code": True})])
    for text in (address, "JBSWY3DPEHPK3PXP", "jbswy3dpehpk3pxp", "JBSW Y3DP EHPK 3PXP", "jbsw y3dp ehpk 3pxp"):
        assert redact(f"the key {text} is") == "the key <secret:code> is"


def test_what_we_name_and_count_ourselves_stays_readable_under_a_short_secret() -> None:
    seen = observation("o1", phash="0000" * 16)
    kept = redact_model(seen, Redactor([secret("pin", "0000")]))
    assert kept["phash"] == "0000" * 16


@pytest.mark.parametrize("key", ["not base 32!", "otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=1", "0189"])
def test_what_is_no_key_for_codes_is_refused_before_the_run(key: str) -> None:
    with pytest.raises(UsageError, match="'code'"):
        Redactor([Secret.model_validate({"name": "code", "value": key, "is_code": True})])


@pytest.mark.parametrize("value", ["HUNTER2SECRET", AWKWARD])
def test_a_value_whose_end_was_cut_off_is_taken_out_too(value: str) -> None:
    forms = [value, json.dumps(value)[1:-1], quote(value, safe=""), base64.b64encode(value.encode()).decode()]
    for form in forms:
        for length in range(len(form) // 2, len(form) - 2):
            told = redacted(f"It said {form[:length]}… and {form[:length]}…", secret(value=value))
            assert told == "It said <secret:password>… and <secret:password>…"
    assert redacted(f"Ends in {value[:3]}…, and more", secret(value=value)) == f"Ends in {value[:3]}…, and more"


@pytest.mark.parametrize(
    ("shown", "kept"),
    [
        ("…dor wörd/7%+Q", "…<secret:password>"),
        ("...dor wörd/7%+Q!", "...<secret:password>!"),
        ("Tr0ub&dor wörd/7%••", "<secret:password>%••"),
        ("Tr0ub&dor wö********", "<secret:password>********"),
        ("••••••b&dor wörd/7%+Q", "••••••<secret:password>"),
        ("Tr0ub&dor wör", "<secret:password>"),
        ("typed r0ub&dor wörd/7%+Q here", "typed <secret:password> here"),
        ("Tr0ub •••••", "Tr0ub •••••"),
        ("•••7%+Q", "•••7%+Q"),
        ("... dor wörd/7%+Q", "... dor wörd/7%+Q"),
    ],
)
def test_most_of_a_value_is_taken_out_whichever_end_is_missing(shown: str, kept: str) -> None:
    assert redacted(shown, secret(value="Tr0ub&dor wörd/7%+Q")) == kept


@pytest.mark.parametrize(
    ("value", "ordinary"),
    [
        ("info24@example-shop.org", "https://example-shop.org/pay, info@example-shop.org, • example-shop.org"),
        ("password12", "Password, password: ••••••••, password ****"),
        ("correct horse battery staple", "The correct horse battery of 12 guns"),
        ("4929123412341234", "•••• •••• •••• 1234, 4929 5000"),
        ("Anna Steinbach-Lee 7", "Anna Steinbach"),
    ],
)
def test_words_that_a_value_shares_with_others_stay(value: str, ordinary: str) -> None:
    assert redacted(ordinary, secret(value=value)) == ordinary


@pytest.mark.parametrize(
    "value", ["Zebra47Quokka", "correcthorse7battery", "Tr0ub&dor wörd/7%+Q", "x9-x9-x9-x9-x9-x9", "1a2b3c4d5e6f7g"]
)
def test_a_value_cut_off_in_front_is_taken_out_wherever_it_was_cut(value: str) -> None:
    written = "in {}, in <b>{}</b>"
    for start in range(1, len(value) // 2 - 1):
        if value[start].isalnum():
            told = redacted(written.replace("{}", "…" + value[start:]), secret(value=value))
            assert value[start:] not in told, (start, told)
    for cut in range(1, len(value)):
        for at in (f"…{value[cut:]}", f"{value[:cut]}••", f"{value[:cut]} • {value[cut:]}"):
            assert value not in redacted(written.replace("{}", at), secret(value=value))
