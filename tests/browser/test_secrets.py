"""Claims about secrets: where one is typed, and that its value stands nowhere afterwards."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest
from pydantic import SecretStr

from tests.browser.hand import On
from tests.conftest import Server
from vision_agent import totp
from vision_agent.actions import Click, Press, Read, Type
from vision_agent.browser.network.host_policy import origin_matches
from vision_agent.types import Secret

LOGIN = "<input id=u aria-label=User><input id=p type=password aria-label=Password><button onclick='p.type = `text`'>Show</button>"
HUNTER = (Secret(name="pass", value=SecretStr("hunter2"), origins=("127.0.0.1",), fields=("any",)),)


@pytest.mark.parametrize("name", ["User", "Password"])
async def test_a_secret_is_typed_and_then_stands_nowhere(on: On, name: str) -> None:
    async with on(LOGIN, secrets=HUNTER) as hand:
        before = hand.seen
        outcome = await hand.act(Type(target=hand.number(name), text="<secret:pass>"))
        assert await hand.js("u.value + p.value") == "hunter2"
        assert (outcome.status, outcome.value) == ("done", None)
        seen = [await hand.look()]
        if name == "Password":
            await hand.act(Click(target=hand.number("Show")))
            seen.append(await hand.look())
        for observation in seen:
            mark = observation.mark(hand.number(name))
            assert mark is not None
            assert mark.state.masked
            assert "hunter2" not in observation.model_dump_json() + outcome.model_dump_json()
        assert before.clean.sha256 != seen[-1].clean.sha256


HIDING = [
    "<input aria-label=Password type=password>",
    "<input aria-label=Password autocomplete=current-password>",
    "<div aria-label=Password contenteditable style='-webkit-text-security: disc'></div>",
]


@pytest.mark.parametrize("html", HIDING, ids=["password", "current-password", "text-security"])
async def test_a_password_field_shows_a_hidden_value_only_when_something_is_in_it(on: On, html: str) -> None:
    async with on(html) as hand:
        empty = hand.seen.listing
        outcome = await hand.act(Type(target=hand.number("Password"), text="hunter2"))
        filled = await hand.look()
        assert "value=•••" not in empty
        assert "value=•••" in filled.listing
        assert outcome.value is None
        assert "hunter2" not in filled.model_dump_json()


async def test_a_field_that_held_a_secret_stays_hidden_and_is_told_to_be_empty(on: On) -> None:
    async with on(LOGIN, secrets=HUNTER) as hand:
        await hand.act(Type(target=hand.number("User"), text="<secret:pass>"))
        filled = (await hand.look()).mark(hand.number("User"))
        await hand.act(Type(target=hand.number("User"), text=""))
        emptied = (await hand.look()).mark(hand.number("User"))
        assert filled is not None
        assert emptied is not None
        assert [(each.state.masked, each.state.value) for each in (filled, emptied)] == [(True, None), (True, "")]


async def test_a_field_that_holds_a_secret_is_not_read(on: On) -> None:
    async with on("<textarea id=t aria-label=Notes></textarea>", secrets=HUNTER) as hand:
        await hand.js("void (t.value = 'far below: hunt\\ner2')")
        await hand.look()
        outcome = await hand.act(Read(mark=hand.number("Notes")))
        assert (outcome.status, outcome.refusal, outcome.read) == ("refused", "blocked", "")


@pytest.mark.parametrize("keys", ["Control+c", "ControlOrMeta+x", "Control+Insert", "Shift+Delete"])
async def test_what_a_field_hides_is_not_copied(on: On, keys: str) -> None:
    async with on(LOGIN, secrets=HUNTER) as hand:
        await hand.act(Type(target=hand.number("User"), text="<secret:pass>"))
        await hand.look()
        by_focus, by_target = (
            await hand.act(Press(keys=keys)),
            await hand.act(Press(keys=keys, target=hand.number("User"))),
        )
        assert {by_focus.refusal, by_target.refusal} == {"blocked"}
        assert by_focus.sentence.endswith("which is not copied. Type it by its name where it is needed.")


async def test_of_a_key_for_one_time_codes_the_code_of_the_moment_is_typed(on: On) -> None:
    code = Secret(name="code", value=SecretStr("JBSWY3DPEHPK3PXP"), origins=("127.0.0.1",), is_code=True)
    async with on(LOGIN, secrets=(code,)) as hand:
        await hand.act(Type(target=hand.number("User"), text="<secret:code>"))
        typed = await hand.js("u.value")
        assert typed in totp.recent_codes(code)
        mark = (await hand.look()).mark(hand.number("User"))
        assert mark is not None
        assert mark.state.masked


CODE = Secret(name="code", value=SecretStr("JBSWY3DPEHPK3PXP"), origins=("127.0.0.1",), is_code=True)
BOXES = "".join(f"<input class=box LIMIT style='width:30px;height:36px' aria-label='Digit {n}'>" for n in range(1, 7))
PASSES = """<script>const all = [...document.querySelectorAll('.box')];
all.forEach((each, i) => each.oninput = () => { const go = () => all[i + 1]?.focus(); LATER ? setTimeout(go, 60) : go(); });
</script>"""


@pytest.mark.parametrize(("limit", "later"), [("maxlength=1", "false"), ("maxlength=1", "true"), ("", "false")])
async def test_a_code_is_typed_into_boxes_of_one_digit_which_are_all_masked(on: On, limit: str, later: str) -> None:
    async with on(BOXES.replace("LIMIT", limit) + PASSES.replace("LATER", later), secrets=(CODE,)) as hand:
        outcome = await hand.act(Type(target=hand.number("Digit 1"), text="<secret:code>"))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("all.map((each) => each.value).join('')") in totp.recent_codes(CODE)
        marks = [mark for mark in (await hand.look()).marks if mark.name.startswith("Digit")]
        assert [(mark.state.masked, mark.state.value) for mark in marks] == [(True, None)] * 6


async def test_a_code_that_finds_no_second_box_is_partly_typed_and_goes_nowhere_else(on: On) -> None:
    other = "<p><input id=other maxlength=6 aria-label=Other></p>"
    steals = "<script>document.querySelector('.box').oninput = () => other.focus()</script>"
    async with on(BOXES.replace("LIMIT", "maxlength=1") + other + steals, secrets=(CODE,)) as hand:
        outcome = await hand.act(Type(target=hand.number("Digit 1"), text="<secret:code>"))
        assert outcome.status == "partial"
        assert "took 1 of 6 characters, and no box beside it the rest" in outcome.sentence
        assert await hand.js("other.value") == ""


async def test_a_password_longer_than_its_field_is_not_said_to_be_typed(on: On) -> None:
    async with on("<input type=password id=p maxlength=4 aria-label=Password>", secrets=HUNTER) as hand:
        outcome = await hand.act(Type(target=hand.number("Password"), text="<secret:pass>"))
        assert outcome.status == "partial"
        assert "took 4 of 7 characters" in outcome.sentence


async def test_the_picture_of_a_field_with_a_secret_does_not_depend_on_the_secret(on: On) -> None:
    async with on(LOGIN, secrets=HUNTER) as hand:
        await hand.act(Type(target=hand.number("User"), text="<secret:pass>"))
        await hand.js("document.activeElement.blur()")
        one = await hand.look()
        await hand.js("void (u.value = 'hunter2hunter2')")
        two = await hand.look()
        assert one.clean.sha256 == two.clean.sha256


@pytest.mark.parametrize(
    ("secret", "text", "words"),
    [
        (
            Secret(name="pass", value=SecretStr("hunter2"), origins=("bank.example",)),
            "<secret:pass>",
            "may not be typed on http://127.0.0.1:",
        ),
        (
            Secret(name="pass", value=SecretStr("hunter2"), fields=("password",)),
            "<secret:pass>",
            "may not be typed into",
        ),
        (
            Secret(name="pass", value=SecretStr("hunter2")),
            "<secret:other>",
            "There is no secret other; the secrets are: pass",
        ),
        (Secret(name="pass", value=SecretStr("hunter2")), "<private:pass>", "not recorded: write <secret:pass>."),
        (Secret(name="pass", value=SecretStr("hunter2")), "<private:card>", "not recorded: type the value."),
    ],
)
async def test_a_secret_enters_no_other_host_and_no_other_field(on: On, secret: Secret, text: str, words: str) -> None:
    async with on(LOGIN, secrets=(secret,)) as hand:
        outcome = await hand.act(Type(target=hand.number("User"), text=text))
        assert outcome.refusal == "blocked"
        assert words in outcome.sentence
        assert await hand.js("u.value + p.value") == ""


async def test_a_secret_is_not_typed_into_a_frame_of_another_host_nor_at_a_point(on: On) -> None:
    body = "<iframe width=400 height=90></iframe><script>document.querySelector('iframe').src = `//localhost:${location.port}/in`</script>"
    async with on(body, {"/in": LOGIN}, secrets=HUNTER) as hand:
        outcome = await hand.act(Type(target=hand.number("User"), text="<secret:pass>"))
        assert outcome.refusal == "blocked"
        assert "localhost" in outcome.sentence
        assert (await hand.act(Type(target=hand.point("User"), text="<secret:pass>"))).refusal == "blocked"


STEALING = """<label>Password <input id=p type=password></label> <iframe id=f width=300 height=60></iframe>
<script>
f.src = `//localhost:${location.port}/in`;
let pressed = false;
p.addEventListener('keydown', () => {
  if (pressed) return;
  pressed = true;
  const began = performance.now(), { port1, port2 } = new MessageChannel();
  port1.onmessage = () => (performance.now() - began < WAIT ? port2.postMessage(0) : STEAL);
  port2.postMessage(0);
});
</script>"""


@pytest.mark.parametrize("wait_ms", [0, 5, 10, 15, 25])
@pytest.mark.parametrize(
    "steal", ["(f.focus(), f.contentWindow.focus())", "(p.value || (p.type = `text`))", "(p.value || p.remove())"]
)
async def test_a_page_that_changes_what_is_typed_into_after_the_first_key_gets_no_secret(
    on: On, wait_ms: int, steal: str
) -> None:
    body = STEALING.replace("WAIT", str(wait_ms)).replace("STEAL", steal)
    inside = "<body><input id=x autofocus><script>onfocus = () => x.focus()</script>"
    async with on(body, {"/in": inside}, secrets=HUNTER) as hand:
        outcome = await hand.act(Type(target=hand.number("Password"), text="<secret:pass>"))
        [frame] = [each for each in hand.page.frames if each.parent_frame]
        assert await frame.evaluate("x.value") == ""
        typed = await hand.js("document.querySelector('#p[type=password]')?.value ?? ''")
        assert typed == ("hunter2" if outcome.status == "done" else ""), outcome.sentence
        assert "hunter2" not in await hand.js("document.querySelector('[type=text]')?.value ?? ''")


async def test_a_secret_enters_no_other_port_of_its_host(on: On, serve: Server) -> None:
    elsewhere = serve({"/": LOGIN})
    secrets = (
        Secret(name="pin", value=SecretStr("hunter2")),
        Secret(name="code", value=SecretStr("hunter3"), origins=(elsewhere,)),
    )
    async with on(f"{LOGIN}<a href='{elsewhere}'>Away</a>", secrets=secrets) as hand:
        here = await hand.act(Type(target=hand.number("User"), text="<secret:pin>"))
        refused = await hand.act(Type(target=hand.number("User"), text="<secret:code>"))
        await hand.act(Click(target=hand.number("Away")))
        await hand.look()
        away = await hand.act(Type(target=hand.number("User"), text="<secret:pin>"))
        there = await hand.act(Type(target=hand.number("User"), text="<secret:code>"))
        assert (here.status, there.status) == ("done", "done")
        assert refused.sentence == f"The secret code may not be typed on {hand.address}: it is for {elsewhere}."
        assert away.sentence == f"The secret pin may not be typed on {elsewhere}: it is for {hand.address}."
        assert await hand.js("u.value") == "hunter3"


@pytest.mark.parametrize(
    ("origin", "pattern", "matches"),
    [
        ("https://bank.example", "https://bank.example", True),
        ("https://bank.example", "https://bank.example:443/", True),
        ("http://bank.example", "https://bank.example", False),
        ("https://bank.example:8443", "https://bank.example", False),
        ("https://bank.example:8443", "https://bank.example:8443", True),
        ("https://pay.bank.example", "https://*.bank.example", True),
        ("https://bank.example", "https://*.bank.example", False),
        ("https://bank.example.evil.test", "https://bank.example", False),
        ("https://bank.example", "bank.example", True),
        ("http://bank.example", "bank.example", False),
        ("https://bank.example:8443", "bank.example", False),
        ("http://bank.example:8000", "bank.example", True),
        ("https://pay.bank.example", "*.bank.example", True),
        ("https://bank.example:8443", "bank.example:8443", True),
        ("https://bank.example", "https://user@bank.example", False),
        ("https://bank.example", "", False),
        ("", "bank.example", False),
    ],
)
def test_an_origin_has_a_scheme_a_host_and_a_port(origin: str, pattern: str, matches: bool) -> None:
    assert origin_matches(origin, [pattern], "http://start.example:8000") is matches


def test_the_old_name_of_origins_is_known_for_a_version_and_records_have_it_without_a_warning() -> None:
    with pytest.warns(FutureWarning, match="hosts is now called origins"):
        given = Secret.model_validate({"name": "pin", "value": "hunter2", "hosts": ("bank.example",)})
    assert given.origins == ("bank.example",)
    recorded = '{"name": "pin", "value": "***", "hosts": ["bank.example"]}'
    assert Secret.model_validate_json(recorded).origins == ("bank.example",)
