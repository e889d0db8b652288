"""Private data is known by its check digits, read by the model, and in nothing that a run leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.async_api import Page
from pydantic import SecretStr

from tests.conftest import Server
from tests.sessions import agent
from tests.test_disguises import contents, everything_made_of
from vision_agent import Agent, Decision, Observation, Secret, Settings, Step, Task
from vision_agent.actions import Click, Finish, Type
from vision_agent.disguises import fold
from vision_agent.errors import ModelUnavailable, UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.prompt.prompt import task_text
from vision_agent.ports import Model
from vision_agent.private_data import find_private
from vision_agent.record import Redactor
from vision_agent.replay import Replay, resume

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
        "4111111111111112",
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


async def test_a_run_whose_task_held_private_data_is_not_resumed_without_it(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/favicon.ico": b""})
    task = Task(goal=f"Pay with {CARD}", start_url=site, private_kinds=("card",))
    ran = Agent(task, model=ScriptedModel([]), page=page, settings=Settings(runs=tmp_path))
    with pytest.raises(ModelUnavailable):
        await ran.run()
    assert ran.folder is not None
    with pytest.raises(UsageError, match="has private data in its words"):
        resume(ran.folder, model=ScriptedModel([]), page=page)
