"""A recorded run with other values on the live page, where names have them, and repairs that keep none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext

from tests.conftest import Server
from tests.sessions import ending_of, record_lines, replay_run
from vision_agent import Decision, Observation, Settings, Step, Task
from vision_agent.actions import Action, Click, Finish
from vision_agent.ports import Model
from vision_agent.record import read
from vision_agent.replay import Patch, Replay

SHOP = """<title>Shop</title><h1>Shop</h1><label>Search <input id=q></label>%s<p id=out></p><script>
for (const each of document.querySelectorAll('button'))
  each.onclick = () => { document.title = `${each.textContent} for ${q.value}` };
</script>"""
ALL = SHOP % "".join(f"<p><button>Add {each} to cart</button></p>" for each in ("Mug", "Hat", "Scarf"))
RENAMED = ALL.replace("to cart", "to basket")
LINES = ['type "mug" into Search', 'click "Add Mug to cart"', 'finish "Order one mug"']
TASK = Task(goal="Order one mug", user_data={"product": "mug"})


class Mends(Model):
    """Does what the function says, and ends the step."""

    name = "mends"

    def __init__(self, does: Callable[[Observation], Action]) -> None:
        self._does = does

    async def decide(self, task: Task, _: Sequence[Step], observation: Observation, **__: str) -> Decision:
        """The action and `finish`."""
        actions = (self._does(observation), Finish())
        return Decision(actions=actions, author="scripted", model=self.name, next_goal=task.goal.splitlines()[0])


def number(seen: Observation, name: str) -> int:
    return next(mark.number for mark in seen.marks if mark.name == name)


@pytest.fixture
async def ordered(serve: Server, context: BrowserContext, tmp_path: Path) -> tuple[Path, dict[str, str], Settings]:
    """A run that ordered a mug, the pages of its shop, and its settings."""
    pages, settings = {"/": ALL}, Settings(runs=tmp_path / "runs")
    task = TASK.model_copy(update={"start_url": serve(pages)})
    folder = await record_lines(LINES, task, context, settings)
    return folder, pages, settings


Ordered = tuple[Path, dict[str, str], Settings]


async def test_the_button_whose_name_has_the_new_value_is_pressed_and_no_other(
    ordered: Ordered, context: BrowserContext
) -> None:
    folder, _, settings = ordered
    page = await context.new_page()
    replay = Replay(folder, page=page, settings=settings, values={"product": "hat"})
    run = await replay.run()
    assert (ending_of(run).status, run.answer) == ("done", "Order one hat")
    assert await page.title() == "Add Hat to cart for hat"

    page = await context.new_page()
    replay = Replay(folder, page=page, settings=settings, values={"product": "globe"})
    ending = ending_of(await replay.run())
    assert ending.status == "not_done"
    assert 'there is no button "Add globe to cart" here' in ending.sentence
    assert await page.title() == "Shop"


async def test_a_repair_keeps_no_value_and_does_its_step_for_others(ordered: Ordered, context: BrowserContext) -> None:
    folder, pages, settings = ordered
    pages["/"] = RENAMED
    page = await context.new_page()
    model = Mends(lambda seen: Click(target=number(seen, "Add Hat to basket")))
    healed = Replay(folder, page=page, settings=settings, values={"product": "hat"}, heal=model)
    assert ending_of(await healed.run()).status == "done"
    assert await page.title() == "Add Hat to basket for hat"
    assert healed.not_kept == ()
    assert healed.patch is not None
    (repair,) = Patch.model_validate_json(healed.patch.read_bytes()).repairs
    assert "hat" not in repair.model_dump_json(exclude={"was"}).lower().replace("what", "")
    assert repair.in_words == "Click button “Add Mug to cart” → Click button “Add mug to basket”"

    for product, title in (("scarf", "Add Scarf to basket for scarf"), (None, "Add Mug to basket for mug")):
        page = await context.new_page()
        values = {"product": product} if product else {}
        again = Replay(folder, page=page, settings=settings, values=values, patch=healed.patch)
        assert ending_of(await again.run()).status == "done", ending_of(read(again.agent.folder or folder))
        assert await page.title() == title


async def test_a_repair_from_which_the_value_cannot_be_taken_is_not_kept_and_says_so(
    ordered: Ordered, context: BrowserContext
) -> None:
    folder, pages, settings = ordered
    pages["/"] = RENAMED
    model = Mends(lambda seen: Click(target=number(seen, "Add Hat to basket")))
    healed = Replay(folder, page=await context.new_page(), settings=settings, values={"product": "Add"}, heal=model)
    assert ending_of(await healed.run()).status == "done"
    assert healed.patch is None
    assert healed.not_kept == (
        "The repair of step 2 is not in the patch: the page had the words of product, 'Add', already in the record.",
    )


ROWS = """<title>Shop</title><h1>Shop</h1><table>%s</table><script>
for (const each of document.querySelectorAll('button'))
  each.onclick = () => { document.title = each.closest('tr').cells[0].textContent };
</script>"""


def rows(*products: tuple[str, str]) -> str:
    cells = "".join(
        f"<tr><td><a href='#{at}'>{name}</a><td>{words}<td><button>Add to cart</button>"
        for at, (name, words) in enumerate(products)
    )
    return ROWS % cells


async def test_in_rows_that_differ_in_more_than_the_name_the_row_of_the_new_product_is_used(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages = {"/": rows(("Enamel mug", "In stock"), ("Tea pot", "Goes with a mug, 4 stars"), ("Scarf", "New"))}
    settings = Settings(runs=tmp_path / "runs")
    task = Task(goal="Order an Enamel mug", user_data={"product": "Enamel mug"}, start_url=serve(pages))
    lines = ["click Add to cart in row Enamel mug", "finish"]
    folder = await record_lines(lines, task, context, settings)

    async def title(product: str) -> tuple[str, str]:
        return await replay_run(folder, context, settings, values={"product": product})

    assert (await title("Tea pot"))[0] == "Tea pot"
    pages["/"] = rows(("Tea pot", "Red"), ("Tea pot XL", "Red"), ("Bowl", "Goes with a Scarf"))
    assert (await title("Tea pot"))[0] == "Shop"
    assert "'Tea pot' is in 2 rows" in (await title("Tea pot"))[1]
    assert (await title("Scarf"))[0] == "Shop"


CARDS = """<title>Shop</title><h1>Shop</h1><section>%s</section><script>
for (const each of document.querySelectorAll('button'))
  each.onclick = () => { document.title = each.parentElement.firstElementChild.textContent };
</script>"""


def cards(*products: tuple[str, str]) -> str:
    return CARDS % "".join(
        f"<article><h3>{name}</h3><p>{words}</p><button>Add to cart</button></article>" for name, words in products
    )


async def test_among_cards_the_one_that_is_called_like_the_new_product_is_used(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages = {"/": cards(("Mug", "12 cm, of clay"), ("Mug Blue", "Of glass"), ("Tray", "Goes with the Mug"))}
    settings = Settings(runs=tmp_path / "runs")
    task = Task(goal="Order a Mug", user_data={"product": "Mug"}, start_url=serve(pages))
    folder = await record_lines(["click Add to cart ‹Mug›", "finish"], task, context, settings)

    async def title(product: str) -> tuple[str, str]:
        return await replay_run(folder, context, settings, values={"product": product})

    assert (await title("Tray"))[0] == "Tray"
    assert (await title("Mug Blue"))[0] == "Mug Blue"
    assert (await title("Mug"))[0] == "Mug"
    assert (await title("Blue"))[0] == "Shop"
    pages["/"] = cards(("Tray", "Red"), ("Tray", "Blue"), ("Bowl", "Goes with a Scarf"))
    assert "2 cards or rows called 'Tray'" in (await title("Tray"))[1]
    assert (await title("Scarf"))[0] == "Shop"


TWINS = """<title>Shop</title><h1>Shop</h1><table>%s%s</table><script>
for (const each of document.querySelectorAll('button'))
  each.onclick = () => { document.title = each.closest('tr').textContent.replace(/\\s+/g, ' ') };
</script>"""


@pytest.mark.parametrize("head", ["", "<tr><th>Product<th>Price<th>", "<tr><td>Product<td>Price<td>Here"])
@pytest.mark.parametrize(
    "now",
    [
        ["Rose 5", "Tulip 3", "Rose 6"],
        ["Rose 6", "Rose 7", "Tulip 3"],
        ["Tulip 3", "Rose 6", "Rose 7"],
        ["Rose 5", "Rose 5", "Tulip 3"],
    ],
)
async def test_of_two_rows_that_differ_in_an_amount_only_none_is_taken(
    serve: Server, context: BrowserContext, tmp_path: Path, head: str, now: list[str]
) -> None:
    def table(*rows: str) -> str:
        cells = (f"<tr><th scope=row>{row.split()[0]}<td>{row.split()[1]} EUR<td><button>Buy</button>" for row in rows)
        return TWINS % (head, "".join(cells))

    pages, settings = {"/": table("Rose 5", "Tulip 3", "Fern 9")}, Settings(runs=tmp_path / "runs")
    task = Task(goal="Buy a rose", start_url=serve(pages))
    folder = await record_lines(["click Buy in row Rose", "finish"], task, context, settings)
    pages["/"] = table(*now)
    page = await context.new_page()
    run = await Replay(folder, page=page, settings=settings).run()
    assert await page.title() == "Shop", ending_of(run).sentence
    assert ending_of(run).status == "not_done"
