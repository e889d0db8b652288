"""Claims about what is cut from a crowded listing, what never is, and that a cut says so and takes no target away."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page
from seen import AT, mark, seen, step, unchanged

from vision_agent import attach
from vision_agent.actions import Click
from vision_agent.evals.listing_tokens import count_tokens
from vision_agent.geometry import Box, Size
from vision_agent.models.prompt.prompt import render
from vision_agent.models.reply import ModelReply, parse_decision
from vision_agent.observation import Covered, MarkState, Observation
from vision_agent.settings import ModelSettings, Settings
from vision_agent.types import Message, Task

MANY = 200
GOAL = "Find the imprint of the shop"


def crowded(
    changed: dict[int, dict[str, Any]] | None = None, context: dict[int, str] | None = None, **more: Any
) -> Observation:
    """A page of 200 links; the last is called Imprint. What is said of a number is said of its mark."""
    given = {number: {"name": f"Story {number}", "kind": "link"} for number in range(1, MANY)}
    given[MANY] = {"name": "Imprint", "kind": "link"}
    for number, other in (changed or {}).items():
        given[number] = {**given[number], **other}
    marks = tuple(mark(number, **fields) for number, fields in given.items())
    lines = [
        line for each in marks for line in (f"{each.number}[:]<{each.tag}>{each.name}", *_text(each.number, context))
    ]
    return seen(*marks, listing="\n".join([*lines, "... 900 px below"]), viewport=Size(width=640, height=4000), **more)


def _text(number: int, context: dict[int, str] | None) -> list[str]:
    return [f"_[:]{context[number]}"] if context and number in context else []


def listed(page: Observation, steps: Any = (), task: Task | None = None, **settings: Any) -> list[str]:
    told = ModelSettings.model_validate(settings)
    now = render(task or Task(goal=GOAL), steps, page, redact=unchanged, settings=told).now
    return now.split("Marks:\n")[1].removesuffix("</page_text>\n").splitlines()


def test_of_a_crowded_page_stays_what_has_a_word_of_the_task_and_what_is_near_it() -> None:
    lines = listed(crowded())
    assert lines == [
        "1[:]<a>Story 1",
        "... 192 links not listed here",
        *(f"{number}[:]<a>Story {number}" for number in range(194, MANY)),
        "200[:]<a>Imprint",
        "... 192 links not listed: no word of the task is in or near them; zoom in to read them · 900 px below",
    ]


def test_a_mark_whose_line_was_cut_can_be_named_for_its_number_is_drawn() -> None:
    reply = '{"judgement": "unknown", "actions": [{"kind": "click", "target": 50}]}'
    page = crowded()
    assert "50[:]<a>Story 50" not in listed(page)
    assert parse_decision(ModelReply(reply), page).actions == (Click(target=50),)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "The shop's imprints"},
        {"kind": "field"},
        {"kind": "button"},
        {"state": MarkState(focused=True)},
        {"change": "new"},
        {"change": "changed"},
        {"in_dialog": True},
    ],
)
def test_what_may_be_needed_is_never_cut(changed: dict[str, Any]) -> None:
    assert any(line.startswith("50[:]") for line in listed(crowded({50: changed})))
    assert not any(line.startswith("50[:]") for line in listed(crowded()))


def test_what_was_named_before_is_near_it_or_covers_something_is_never_cut() -> None:
    considered = {"candidates": ({"mark": 70, "reason": "it may lead there"},)}
    page = crowded(covered=(Covered(count=3, blocker="<a>", blocker_mark=120),))
    kept = {
        line.split("[")[0]
        for line in listed(page, [step(0, Click(target=50), **considered), step(1, Click(target=30))])
    }
    assert {"50", "70", "120", "30", "25", "35"} <= kept
    assert not {"60", "90", "150"} & kept


def test_what_the_person_says_later_and_what_is_to_be_remembered_count_as_the_task() -> None:
    task = Task(goal=GOAL, messages=(Message(text="No: story 77, please", at=AT),))
    assert any(line.startswith("77[:]") for line in listed(crowded({77: {"name": "77 ways"}}), task=task))
    assert any(
        line.startswith("50[:]") for line in listed(crowded({50: {"name": "Legal"}}), [step(0, memory="legal notes")])
    )


def test_what_has_a_word_of_the_persons_instructions_stays() -> None:
    task = Task(goal=GOAL, instructions="Prefer what is about owls")
    assert any(line.startswith("77[:]") for line in listed(crowded({77: {"name": "77 owls"}}), task=task))
    assert not any(line.startswith("77[:]") for line in listed(crowded({77: {"name": "77 owls"}})))


def test_text_goes_with_the_marks_around_it_and_stays_with_a_word_of_the_task() -> None:
    lines = listed(crowded(context={60: "An old text", 100: "The imprint is below"}))
    assert "_[:]An old text" not in lines
    assert "_[:]The imprint is below" in lines
    assert "100[:]<a>Story 100" in lines
    assert "1 text" in lines[-1]


@pytest.mark.parametrize(
    ("task", "page", "settings"),
    [
        (Task(goal=GOAL), crowded(), {"filter": {"above_lines": 200}}),
        (Task(goal=GOAL), crowded(), {"ablate": ["filter"]}),
        (Task(goal=GOAL), crowded(), {"ablate": ["picture"]}),
        (Task(goal=GOAL), crowded(), {"ablate": ["marks"]}),
        (Task(goal=GOAL), crowded(region=Box(x=0, y=0, width=9, height=9)), {}),
        (Task(goal="Finde das Impressum"), crowded(), {}),
        (Task(goal=GOAL), crowded(), {"filter": {"kinds": ["button"]}}),
        (Task(goal=GOAL), crowded(), {"filter": {"words": ["story"]}}),
        (Task(goal=GOAL), crowded(), {"filter": {"region": [0, 0, 1, 1]}}),
    ],
    ids=["small", "ablated", "no picture", "no marks", "zoomed", "no word at all", "kind", "words", "region"],
)
def test_the_listing_is_whole_where_a_predicate_keeps_it_or_nothing_could_be_told_or_got_back(
    task: Task, page: Observation, settings: dict[str, Any]
) -> None:
    assert "\n".join(listed(page, task=task, **settings)) == page.listing


def test_a_region_keeps_what_is_in_it() -> None:
    lines = listed(crowded(), filter={"region": [0, 0.25, 1, 0.5]})
    assert {"50[:]<a>Story 50", "99[:]<a>Story 99"} <= {*lines}
    assert "120[:]<a>Story 120" not in lines


DIRECTORY = """<title>Directory</title>
<style>body{columns:8;font:12px sans-serif} a{display:block;line-height:20px}
[role=dialog]{position:fixed;right:0;bottom:0;background:#fff;border:1px solid}</style>
<body><script>
for (let i = 1; i <= 280; i++) document.write(`<a href="#${i}" onclick="document.title = 'At ${i}'">Place ${i}</a>`);
document.write('<a href="#imprint">Imprint</a>');
document.write('<div role=dialog aria-label=Cookies><p><a href="#more">More about us</a></p></div>');
</script>"""


async def test_a_real_directory_costs_a_third_and_a_number_without_a_line_is_still_pressed(page: Page) -> None:
    await page.set_content(DIRECTORY)
    async with attach(page, Settings()) as browser:
        seen_now = await browser.observe()
        lines = listed(seen_now)
        assert count_tokens("\n".join(lines)) < count_tokens(seen_now.listing) / 3
        assert any(line.endswith(">More about us") for line in lines)
        cut = next(each for each in seen_now.marks if each.name == "Place 120")
        assert not any(line.startswith(f"{cut.number}[:]") for line in lines)
        assert [each.name for each in seen_now.marks if each.in_dialog] == ["More about us"]
        outcome = await browser.act(Click(target=cut.number), seen_now)
    assert outcome.status == "done"
    assert await page.title() == "At 120"
