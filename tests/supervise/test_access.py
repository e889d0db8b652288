"""The supervision page is reached from elsewhere only as its settings say, and by whoever signs in once."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from playwright.async_api import Page, expect

from tests.ready_python import python
from vision_agent.errors import UsageError
from vision_agent.settings import SuperviseSettings
from vision_agent.supervise.access import Session, SignIns, addresses, require_servable
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.supervise.server import Renewal


def write_certificate(
    folder: Path, name: str, *, password: bytes | None = None, begins: timedelta = -timedelta(days=1)
) -> tuple[Path, Path]:
    """A certificate for `localhost` that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    first = datetime.now(UTC) + begins
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(first)
        .not_valid_after(first + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secrecy = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secrecy))
    return paths


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"host": "0.0.0.0"}, "not served on 0.0.0.0 without TLS"),
        ({"host": "192.0.2.7"}, "not served on 192.0.2.7 without TLS"),
        ({"host": "::"}, "not served on :: without TLS"),
        ({"host": "agent.example"}, "not served on agent.example without TLS"),
        ({"host": "0.0.0.0", "plain_http": True}, "name it with --supervise-url"),
        ({"key": Path("page.key")}, "a key without a certificate"),
        ({"certificate": Path("missing.pem")}, "missing.pem cannot be read: No such file"),
        ({"url": "agent.example"}, "is not an address"),
        ({"url": "ftp://agent.example"}, "is not an address"),
        ({"url": "https://agent.example:99999"}, "is not an address"),
        ({"url": "https://me@agent.example"}, "has a user name in it"),
        ({"url": "http://agent.example"}, "http://agent.example is not encrypted"),
        ({"host": "0.0.0.0", "plain_http": True, "url": "http://192.0.2.7:81"}, "http://192.0.2.7:81 is not encrypted"),
        ({"url": "https://agent.example/run?a=1"}, "more than a host and a port"),
        ({"webhook": "hooks.example"}, "--webhook is not an address"),
        ({"webhook": "http://hooks.example/a"}, "hooks.example is not encrypted"),
        ({"webhook": "https://hooks.example/a"}, "is missing"),
        ({"webhook": "https://hooks.example/a", "webhook_secret": "short"}, "is too short"),
    ],
)
def test_what_cannot_be_served_safely_is_refused_with_the_way_out(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        require_servable(SuperviseSettings(**given))
    assert said in str(refused.value)
    assert refused.value.hint


def test_a_wrong_certificate_or_key_is_named(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path, "one")
    other_certificate, other_key = write_certificate(tmp_path, "other")
    _, locked = write_certificate(tmp_path, "locked", password=b"1234")
    expired, expired_key = write_certificate(tmp_path, "expired", begins=-timedelta(days=9))
    coming, coming_key = write_certificate(tmp_path, "coming", begins=timedelta(days=1))
    (tmp_path / "cut").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("no certificate")
    (tmp_path / "both").write_bytes(certificate.read_bytes() + key.read_bytes())
    for first, second, said in (
        (certificate, other_key, "is not that of the certificate"),
        (tmp_path / "empty", key, "is empty"),
        (tmp_path / "text", key, "text has no certificate in PEM form"),
        (tmp_path / "cut", key, "cannot be used"),
        (certificate, tmp_path / "text", "text has no private key in PEM form"),
        (key, certificate, "one.key has no certificate in PEM form"),
        (expired, expired_key, "expired.pem has expired: browsers would warn"),
        (coming, coming_key, "coming.pem is not valid yet"),
        (certificate, locked, "encrypted, and nobody is asked"),
        (certificate, None, "one.pem has no private key in PEM form .*with --supervise-key"),
        (tmp_path, key, "Is a directory"),
    ):
        with pytest.raises(UsageError, match=said):
            require_servable(SuperviseSettings(host="192.0.2.7", certificate=first, key=second))
    require_servable(SuperviseSettings(host="192.0.2.7", certificate=other_certificate, key=other_key))
    require_servable(SuperviseSettings(host="192.0.2.7", certificate=tmp_path / "both"))
    require_servable(SuperviseSettings(host="192.0.2.7", plain_http=True))


def test_behind_a_proxy_the_address_is_encrypted_or_of_this_machine_and_no_error_quotes_a_password() -> None:
    for url in ("https://agent.example", "http://127.0.0.1:8000", "http://localhost:8000"):
        require_servable(SuperviseSettings(host="0.0.0.0", plain_http=True, url=url))
    with pytest.raises(UsageError) as refused:
        require_servable(SuperviseSettings(url="https://me:hunter2@agent.example"))
    assert "hunter2" not in str(refused.value)


def test_a_token_works_once_and_not_for_ever() -> None:
    now = [0.0]
    sign_ins = SignIns(clock=lambda: now[0])
    token, late = sign_ins.new_token(10), sign_ins.new_token(10)
    assert sign_ins.sign_in("guess") == "wrong"
    session = sign_ins.sign_in(token)
    assert isinstance(session, Session)
    assert sign_ins.sign_in(token) == "used"
    now[0] = 11
    assert sign_ins.sign_in(late) == "expired"
    assert sign_ins.sign_in(late) == "used"
    assert sign_ins.has_key(session.cookie, session.key)
    assert not sign_ins.has_key(session.cookie, "guess")
    assert not sign_ins.has_key("guess", session.key)


def test_each_tab_of_a_browser_signs_in_by_itself_and_the_others_stay_signed_in() -> None:
    sign_ins = SignIns()
    first = sign_ins.sign_in(sign_ins.new_token(10))
    assert isinstance(first, Session)
    second = sign_ins.sign_in(sign_ins.new_token(10), first.cookie)
    other = sign_ins.sign_in(sign_ins.new_token(10), "a cookie of another run")
    assert isinstance(second, Session)
    assert isinstance(other, Session)
    assert (second.cookie, other.cookie != first.cookie) == (first.cookie, True)
    assert sign_ins.has_key(first.cookie, first.key)
    assert sign_ins.has_key(first.cookie, second.key)
    assert not sign_ins.has_key(first.cookie, other.key)


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ({}, "http://127.0.0.1:81"),
        ({"host": "::1"}, "http://[::1]:81"),
        ({"host": "0.0.0.0", "url": "https://agent.example"}, "https://agent.example"),
        ({"host": "0.0.0.0", "url": "https://agent.example:8443/"}, "https://agent.example:8443"),
        ({"host": "192.0.2.7", "certificate": "page.pem"}, "https://192.0.2.7:81"),
    ],
)
def test_the_address_that_is_printed_is_the_one_that_browsers_reach(given: Any, first: str) -> None:
    assert addresses(SuperviseSettings(**given), 81)[0] == first


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[SupervisionPage, str, Path, list[str]]]:
    """The page behind TLS, its address, its certificate, and the addresses that it told later."""
    certificate, key = write_certificate(tmp_path, "page")
    page = SupervisionPage(settings=SuperviseSettings(host="localhost", certificate=certificate, key=key))
    told: list[str] = []
    async with page.opened(told.append) as address:
        yield page, address, certificate, told


async def test_behind_tls_the_cookie_is_for_tls_only_and_a_new_address_is_told_where_the_run_was_started(
    opened: Any,
) -> None:
    _, address, certificate, told = opened
    assert address.startswith("https://localhost:")
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with httpx.AsyncClient(verify=trusting) as person, httpx.AsyncClient(verify=trusting) as other:
        assert (await person.get(address)).status_code == 200
        (cookie,) = person.cookies.jar
        assert cookie.secure
        wrong = await other.get(address.replace("token=", "token=x"))
        assert (wrong.status_code, told) == (403, [])
        for turn in range(3):
            used = await other.get(address)
            assert (used.status_code, "already opened" in used.text) == (403, True)
            assert "A new address was printed where the run was started" in used.text
            assert ("Another is printed if you open this one again in" in used.text) == (turn > 0)
        assert len(told) == 1  # not once for each try
        assert (await other.get(told[0])).status_code == 200
        with pytest.raises(httpx.HTTPError):
            await other.get(address.replace("https:", "http:"))


def test_the_page_says_that_a_new_address_was_printed_only_if_it_was_and_else_when_there_will_be_one() -> None:
    told, now = list[str](), 0.0
    renew = Renewal(lambda: f"address {now:g}", told.append, lambda: now)
    assert renew() == "A new address was printed where the run was started."
    now = 18.5
    assert renew() == (
        "A new address was printed where the run was started 19 seconds ago: open that one. Another is printed if you "
        "open this one again in 42 seconds."
    )
    assert told == ["address 0"]
    now = 60.0
    assert renew() == "A new address was printed where the run was started."
    assert told == ["address 0", "address 60"]


async def test_a_link_after_the_number_sign_signs_in_when_a_person_presses_the_button(
    page: Page,
) -> None:
    supervision = SupervisionPage(goal="Pay for it")
    async with supervision.opened() as address, httpx.AsyncClient() as looks_only:
        link = supervision.new_link(60)
        seen = await looks_only.get(link)  # what follows the # is not sent
        assert (seen.status_code, seen.request.url.raw_path) == (403, b"/")
        await page.goto(link)
        assert "token" not in page.url
        await expect(page.locator("#enter")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator("#phase")).to_contain_text("Working")
        await page.goto("about:blank")
        await page.goto(link)
        await page.reload()  # in a tab that is signed in it opens the run
        await expect(page.locator("#phase")).to_contain_text("Working")
        another = await page.context.new_page()
        await another.goto(link)
        await another.click("#enter")
        await expect(another.locator("#said")).to_contain_text("already opened")
        await another.goto(supervision.new_link(60))
        await another.click("#enter")
        await expect(another.locator("#phase")).to_contain_text("Working")
        plain = await page.context.new_page()
        await plain.goto(address.partition("?")[0])
        await expect(plain.locator("#idle-text")).to_contain_text("Each tab signs in by itself")
        await expect(plain.locator("#phase")).to_have_text("Not signed in")
        await expect(plain.locator("button:visible, input:visible")).to_have_count(0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--supervise-port", "8443"], "--supervise-port needs --supervise"),
        (["--webhook", "https://hooks.example"], "--webhook needs --supervise"),
        (["--supervise", "--supervise-host", "0.0.0.0"], "without TLS"),
        (["--supervise", "--supervise-certificate", "missing.pem"], "missing.pem cannot be read"),
        (["--supervise", "--supervise-port", "99999"], "--supervise-port 99999"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_starts(tmp_path: Path, options: list[str], said: str) -> None:
    command = [python(), "-m", "vision_agent", "run", "example.org", "Look", "--model", "human", *options]
    ran = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}, capture_output=True, text=True,
        timeout=150,
    )  # fmt: skip
    assert (ran.returncode, said in ran.stderr, list(tmp_path.iterdir())) == (2, True, []), ran.stderr


async def test_a_port_that_is_taken_is_said() -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    with pytest.raises(UsageError, match=f"127.0.0.1 port {port}: Address already in use"):
        async with SupervisionPage(settings=SuperviseSettings(port=port)).opened():
            pass
    taken.close()
