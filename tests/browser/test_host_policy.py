"""Claims about which hosts and addresses pass: as a browser reads them."""

from __future__ import annotations

import pytest

from vision_agent.browser.network.host_policy import Gate, Policy, check, host_matches, policy_for
from vision_agent.browser.refusal import Refused
from vision_agent.errors import UsageError

ALLOWED = policy_for(["example.org", "*.shop.test", "127.0.0.1", "[::1]", "bücher.test"], ["ads.shop.test"])


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "https://example.org:8443/a?b#c",
        "HTTPS://EXAMPLE.ORG/",
        "http://example.org./",
        "http://exa%6Dple.org/",
        "http://ex\tample.org/",
        "http:/example.org",
        "http://foreign.test@example.org/",
        "http://example.org\\@foreign.test/",
        "http://www.shop.test/",
        "http://a.b.shop.test/",
        "http://127.0.0.1:8000/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://xn--bcher-kva.test/",
        "http://BÜCHER.test/",
        "http://ｅｘａｍｐｌｅ。org/",
    ],
)
def test_a_host_that_is_allowed_is_opened_however_it_is_written(url: str) -> None:
    check(url, ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "http://foreign.test/",
        "http://example.org@foreign.test/",
        "http://example.org:80@foreign.test/",
        "http://foreign.test\\@example.org/",
        "http:/\\foreign.test/example.org",
        "http:foreign.test",
        "http://example.org.foreign.test/",
        "http://evilexample.org/",
        "http://example.org.evil/",
        "http://www.example.org/",
        "http://example.orgg/",
        "http://foreign.test#example.org",
        "http://foreign.test?example.org",
        "http://shop.test/",
        "http://evilshop.test/",
        "http://shop.test.foreign.test/",
        "http://ads.shop.test/",
        "http://ADS.shop.test./",
        "http://localhost/",
        "http://0.0.0.0/",
        "http://127.0.0.2/",
        "http://[::]/",
        "http://bucher.test/",
        "http://ехample.org/",  # its first two letters are Cyrillic
        "http:///",
        "//example.org/",
        "example.org",
        "",
        "ftp://example.org/",
        "ws://example.org/",
        "file:///etc/passwd",
        "file://example.org/share",
        "javascript:alert(1)//example.org",
        "JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<p>example.org",
        "view-source:http://example.org/",
        "blob:http://example.org/0",
        "about:blank",
        "chrome://version",
    ],
)
def test_what_only_looks_allowed_is_refused(url: str) -> None:
    with pytest.raises(Refused) as refused:
        check(url, ALLOWED)
    assert refused.value.refusal == "blocked"


@pytest.mark.parametrize("url", ["http://example.org/", "http://localhost/", "https://127.0.0.1/"])
def test_an_empty_list_lets_nothing_through(url: str) -> None:
    with pytest.raises(Refused, match="allowed ones \\(none\\)"):
        check(url, policy_for([]))


def test_without_a_list_everything_but_what_is_denied_passes() -> None:
    policy = policy_for(None, ["*.ads.test"])
    check("http://anything.test/", policy)
    with pytest.raises(Refused, match="its host is denied"):
        check("http://a.ads.test/", policy)
    assert policy_for(None).is_open
    assert not policy.is_open
    assert not policy_for([]).is_open


@pytest.mark.parametrize(
    "url", ["localhost:28312/a.html", "shop.example:8000", "a.example:80?q=1", "a.example/a", "127.0.0.1:80"]
)
def test_an_address_without_a_scheme_says_what_to_write_before_it(url: str) -> None:
    with pytest.raises(Refused, match="it has no scheme; write http:// or https:// before it"):
        check(url, policy_for(None))


def test_a_scheme_that_the_person_used_passes_without_a_host_and_only_so() -> None:
    policy = Policy(("example.org",), schemes=("http", "https", "file"))
    check("file:///tmp/page.html", policy)
    with pytest.raises(Refused):
        check("file://foreign.test/share/page.html", policy)


@pytest.mark.parametrize(
    "host",
    [
        *("", "*", "*.", "*.*.org", ".example.org", "a..b", "a b", "a@b", "a%2eb", "exa\tmple.org", "::1", "999.1.1.1"),
        *("http://example.org", "example.org:80", "example.org/a"),
    ],
)
def test_what_is_no_hosts_name_is_a_usage_error_that_quotes_it(host: str) -> None:
    with pytest.raises(UsageError) as error:
        policy_for(["example.org", host])
    assert repr(host) in error.value.sentence
    with pytest.raises(UsageError):
        policy_for(None, [host])


@pytest.mark.parametrize("host", ["*.0.0.1", "*.127.0.0.1", "*.[::1]", "*.1"])
def test_a_star_before_an_address_is_refused_and_shown_as_it_was_written(host: str) -> None:
    with pytest.raises(UsageError) as error:
        policy_for(None, [host])
    told = f"{host!r} stands for no host: an address has nothing below it (name each address, such as 127.0.0.1)"
    assert str(error.value) == told


def test_no_host_at_all_matches_no_pattern_however_broken() -> None:
    assert not host_matches("", ("", "*.", ":80", "*.:80"))
    assert not host_matches("example.org", ("", "*.", "*", ":80"))


def test_what_is_turned_away_is_told_with_the_reason() -> None:
    told: list[str] = []
    gate = Gate(ALLOWED, told.append)
    assert gate.allows("example.org")
    assert told == []
    assert not gate.allows("ads.shop.test")
    assert not gate.allows("[::2]", 443)
    assert not gate.allows("shop.test", 8001, "a frame")
    assert told == [
        "a request to ads.shop.test was blocked: its host is denied",
        "a request to [::2] was blocked: its host is not among the allowed ones "
        "(example.org, *.shop.test, 127.0.0.1, [::1], xn--bcher-kva.test)",
        "a request to shop.test:8001 was blocked (asked for by a frame): its host is not among the allowed ones "
        "(example.org, *.shop.test, 127.0.0.1, [::1], xn--bcher-kva.test)",
    ]
