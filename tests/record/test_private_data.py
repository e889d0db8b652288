"""Private data is known by its check digits, read by the model, and in nothing that a run leaves behind."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.async_api import Page
from pydantic import SecretStr

from tests.conftest import Server
from tests.sessions import agent
from tests.text.test_disguises import contents, everything_made_of
from vision_agent import Agent, Decision, Observation, Secret, Settings, Step, Task
from vision_agent.actions import Click, Finish, Type
from vision_agent.errors import ModelUnavailable, UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.prompt.prompt import task_text
from vision_agent.ports import Model
from vision_agent.record import Redactor
from vision_agent.record.private_data import find_private
from vision_agent.replay import Replay, resume
from vision_agent.text.disguises import fold

CARD, GROUPED = "4111111111111111", "4111 1111 1111 1111"
KINDS = ("card", "iban", "national-id")
FORM = """<!doctype html><title>Pay</title><body style="font: 16px sans-serif">
<label>Card <input id=card style="width:300px"></label> <button id=pay>Pay</button>
<p>Order 4711 of Ann <p>Paid to DE89 3704 0044 0532 0130 00
<p id=told></p><script>
  pay.onclick = () => { told.textContent = 'Paid with ' + card.value.replace(/(.{4})/g, '$1 ') }
</script>"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4111111111111111", "card"),
        ("5500 0000 0000 0004", "card"),
        ("3782-822463-10005", "card"),
        ("４１１１１１１１１１１１１１１１", "card"),
        ("4111\u200b1111\u200b1111\u200b1111", "card"),
        ("DE89370400440532013000", "iban"),
        ("gb82 west 1234 5698 7654 32", "iban"),
        ("FR14 2004 1010 0505 0001 3M02 606", "iban"),
        ("12345678Z", "national-id"),
        ("756.9217.0769.85", "national-id"),
        ("111.444.777-35", "national-id"),
        ("RSSMRA85T10A562S", "national-id"),
    ],
)
def test_a_number_with_the_right_check_digits_is_private(text: str, kind: str) -> None:
    said = f"It is {text}, as agreed"
    [found] = find_private(said, KINDS)
    assert (said[found.start : found.end], found.name) == (text, kind)
    assert Redactor((), KINDS)(said) == f"It is <private:{kind}>, as agreed"


@pytest.mark.parametrize(
    "text",
    [
        "CARD 12/28",
        "CARD 123",
        "CARD 99.00 EUR",
        "2 CARD",
        "123 CARD 45",
        "12.11.2026 CARD 49.90",
        "CARD 07/29 737",
        "Pay 20 with CARD",
    ],
)
@pytest.mark.parametrize("card", [CARD, GROUPED, "4111-1111-1111-1111", "5555 5555 5555 4444", "3782 822463 10005"])
def test_a_card_is_found_beside_other_numbers(text: str, card: str) -> None:
    assert Redactor((), KINDS)(text.replace("CARD", card)) == text.replace("CARD", "<private:card>")


@pytest.mark.parametrize("sign", ["", "/", "_", ",", ", ", "|", " | ", "+", ".", "-", " - ", "  ", "%20", "%2F", "\n"])
def test_a_number_is_found_with_any_sign_between_its_groups(sign: str) -> None:
    card, account = (sign.join(each.split()) for each in (GROUPED, "DE89 3704 0044 0532 0130 00"))
    assert Redactor((), KINDS)(f"Is {card}: {account}!") == "Is <private:card>: <private:iban>!"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("4111111111111111.00", "<private:card>.00"),
        ("4111-1111-1111-1111-123", "<private:card>-123"),
        ("7,4111111111111111,12/29,123", "7,<private:card>,12/29,123"),
        ("No:4111111111111111exp12/29", "No:<private:card>exp12/29"),
        ("4111 1111 1111 1111 5500 0000 0000 0004", "<private:card> <private:card>"),
        ("x4111111111111111", "x<private:card>"),
        ("?card%3D4111111111111111&cvc=123", "?card%3D<private:card>&cvc=123"),
        ("IBANDE89370400440532013000", "IBAN<private:iban>"),
        ("DE 89 3704 0044 0532 0130 00", "<private:iban>"),
    ],
)
def test_a_number_is_found_among_letters_and_signs(text: str, redacted: str) -> None:
    assert Redactor((), KINDS)(text) == redacted


@pytest.mark.parametrize(
    "account",
    [
        "BE68 5390 0754 7034",
        "BE68539007547034",
        "BE71 0961 2345 6769",
        "AT61 1904 3002 3457 3201",
        "DE89 3704 0044 0532 0130 00",
    ],
)
@pytest.mark.parametrize("following", ["", "\nX", "\nA1", "\nS11 ", " 25.00"])
def test_each_account_of_a_list_is_found_whatever_follows(account: str, following: str) -> None:
    listed = "S10 ACCOUNT" + following + "\nS11 ACCOUNT" + following
    assert Redactor((), KINDS)(listed.replace("ACCOUNT", account)) == listed.replace("ACCOUNT", "<private:iban>")


@pytest.mark.parametrize(
    "number",
    [
        "20-40105820-7",
        "12.516.497-8",
        "780115/0863",
        "070761-4285",
        "37605053401",
        "2 95 10 99 126 111 93",
        "2.95.10.99.126.111.93",
        "295109912611193",
        "01018048924",
        "6433435F",
        "120174-5840",
        "971013-9655538",
        "BOXW310820HNERXN09",
        "01018056182",
        "010180-56182",
        "00000000 0 ZZ4",
        "676484807034",
        "0101006500006",
        "536-90-4399",
        "7503309055131",
        "AB 12 34 56 C",
        "AB123456C",
    ],
)
def test_identity_numbers_of_strong_form_are_found(number: str) -> None:
    assert Redactor((), KINDS)(f"9 {number} 12") == "9 <private:national-id> 12"


def test_places_that_overlap_are_one() -> None:
    [found] = find_private("4111 1111 1111 1111 003", ["card"])
    assert (found.start, found.end) == (0, 23)


def test_hashes_and_ids_made_of_digits_and_letters_are_left_alone() -> None:
    names = [str(number) for number in range(2000)]
    hashes = [hashlib.sha256(each.encode()) for each in names]
    ids = [str(uuid.uuid5(uuid.NAMESPACE_URL, each)) for each in names]
    codes = [base64.b64encode(each.digest()).decode() for each in hashes]
    text = "\n".join([*(each.hexdigest() for each in hashes), *ids, *codes])
    assert len(find_private(text, KINDS)) <= 2


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111112",
        "41111111111111111",
        "0.4111111111111111",
        "[12.4111111111111111, 0.5555555555554444]",
        "a1b4111111111111111c2d3",
        "No 1234567890123 of Ann",
        "BSN 111222333, Aadhaar 2341 2341 2346",
        "https://shop.example/p/41111111?id=1732641234567&s=4711",
        "49.90 | 4711 | 1,280.00 | 12.11.2026 | 09:30:15",
        "2019 2020 2021 2022 2023 2024 2025 2026",
        "135519658801137480",
        "order 1732641234567 of 2026-03-04 09:30:15",
        "DE88370400440532013000",
        "12345678A",
        "call +49 30 901820 or 0800 123 4567",
        "ISBN 978-3-16-148410-0",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "pixels 1280 800 1280 800 64 64",
    ],
)
def test_other_numbers_are_not(text: str) -> None:
    assert find_private(text, KINDS) == []


class Payer(Model):
    """Types the number as it reads it in the task, and keeps what it was shown."""

    name = "payer"

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.listings: list[str] = []

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        del complaint
        self.tasks.append(task_text(task))
        self.listings.append(observation.listing)
        number = {mark.name: mark.number for mark in observation.marks}
        actions = [
            (Type(target=number["Card"], text=CARD), Click(target=number["Pay"])),
            (Finish(answer=f"Paid with {GROUPED}"),),
        ]
        return Decision(actions=actions[len(steps)], author="model")


@pytest.mark.parametrize("by", ["value", "kind"])
async def test_private_data_is_read_by_the_model_and_in_nothing_that_a_run_leaves_behind(
    by: str, page: Page, serve: Server, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    private = Secret(name="card", value=SecretStr(CARD), is_private=True)
    task = (
        Task(goal="Pay", start_url=site, secrets=(private,))
        if by == "value"
        else Task(goal=f"Pay with {CARD}", start_url=site, private_kinds=("card", "iban"))
    )
    model, settings = Payer(), Settings(runs=tmp_path / "runs")
    ran = Agent(task, model=model, page=page, settings=settings)
    run = await ran.run()
    assert CARD in model.tasks[0]
    assert await page.inner_text("#told") == f"Paid with {GROUPED}"
    assert ran.folder is not None
    values = {"card": SecretStr(CARD)} if by == "value" else None
    texts = None if by == "value" else {"1": CARD}
    again = await Replay(ran.folder, page=page, settings=settings, secrets=values, values=texts).run()
    assert again.ending is not None
    files = everything_made_of(ran.folder, ran.folder.parent / again.id, tmp_path)
    searched = [each for path in files for each in contents(path)]
    assert len(searched) > 6
    assert not [name for name, content in searched if fold(CARD) in fold(content.decode("utf-8", "replace"))]
    assert b"DE89 3704" in b"".join(each for _, each in searched) if by == "value" else True
    held = run.steps[1].observation
    field = next(mark for mark in held.marks if mark.name == "Card")
    assert field.state.masked


async def test_what_stands_for_private_data_that_nobody_recorded_is_not_typed(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    script = [[Type(target=1, text="<private:card>")], [Finish()]]
    run = await agent(Task(goal="Pay", start_url=site), [*script], tmp_path, page).run()
    assert run.steps[0].outcomes[0].refusal == "blocked"
    assert "which is not recorded" in run.steps[0].outcomes[0].sentence


@pytest.mark.parametrize("words", [{"goal": f"Pay with {CARD}"}, {"goal": "Pay", "instructions": f"Use {CARD}"}])
async def test_a_run_whose_task_held_private_data_is_not_resumed_without_it(
    words: dict[str, str], page: Page, serve: Server, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    task = Task(**words, start_url=site, private_kinds=("card",))
    ran = Agent(task, model=ScriptedModel([]), page=page, settings=Settings(runs=tmp_path))
    with pytest.raises(ModelUnavailable):
        await ran.run()
    assert ran.folder is not None
    with pytest.raises(UsageError, match="has private data in its words"):
        resume(ran.folder, model=ScriptedModel([]), page=page)
