"""Claims about the real loop on a real page whose controls do nothing, or do something that hardly shows."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.browser.hand import Hand, On
from tests.browser.test_effect_paint import DEAD, PLAIN
from vision_agent.actions import Click
from vision_agent.agent import Loop
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.policy.stall import detect_stall
from vision_agent.record.store import RunInMemory
from vision_agent.types import Decision, Limits, Run, Task

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


async def clicked(hand: Hand, *names: str, steps: int) -> tuple[Run, list[int]]:
    """The run of a model that clicks these in turn, and how many steps in a row had brought nothing new after each."""
    script = [
        Decision(author="model", actions=(Click(target=hand.number(names[at % len(names)])),)) for at in range(steps)
    ]
    task = Task(goal="Save it", limits=Limits(stall=6, steps=steps))
    run = await Loop(Run(id="r1", task=task, started_at=NOW), hand.browser, ScriptedModel(script), RunInMemory()).run()
    seen = run.steps
    after = [at for at in range(1, len(seen)) if seen[at - 1].decision.author == "model"]
    return run, [detect_stall(seen[:at], seen[at].observation).times for at in after]


WIDE = "<style>button{display:block;width:1200px;height:90px}button:hover{background:#000}</style><button>Dead</button><button>Other</button>"
LINKS = "<style>a:hover{color:red}a:focus{outline:3px solid}</style><a href='#'>Dead</a> <a href='#there'>Other</a>"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("<button>Dead</button>", ["Dead"]),
        (DEAD["hover colour"], ["Dead"]),
        *[(DEAD[name], ["Dead", "Other"]) for name in ("hover colour", "focus ring", "transition", "ripple", "row")],
        (WIDE, ["Dead", "Other"]),
        (LINKS, ["Dead"]),
        (LINKS, ["Dead", "Other"]),
    ],
)
async def test_a_standstill_on_dead_controls_is_counted_from_the_first_step_and_ends_the_run(
    on: On, body: str, names: list[str]
) -> None:
    async with on(body) as hand:
        run, times = await clicked(hand, *names, steps=12)
        assert times == [1, 2, 3, 4, 5, 6], [step.outcomes for step in run.steps]
        assert run.ending is not None
        assert run.ending.sentence.startswith("A limit was reached: 6 steps in a row led nowhere: Click [")
        assert "They repeated what was done before, or had no effect." in run.ending.sentence


# It comes and goes with the clicks, so that what a picture catches of it does not depend on the machine.
SPINNER = """<style>i{position:absolute;left:300px;top:200px;width:40px;height:40px;border:6px dotted}</style>
<button onclick='const i = document.querySelector(`i`); i ? i.remove() : document.body.append(document.createElement(`i`))'>Dead</button>"""


async def test_a_spinner_that_goes_away_again_is_news_once(on: On) -> None:
    async with on(SPINNER) as hand:
        run, times = await clicked(hand, "Dead", steps=14)
        assert times[-1] == 6, times
        assert times.count(0) <= 2, times  # at first, and once more
        assert run.ending is not None
        assert "had no effect" in run.ending.sentence


CANVAS = "<canvas id=c width=400 height=80></canvas><button onclick='c.getContext(`2d`).fillRect(14 * ++n, 10, 11, 11)'>Go</button><script>n = 0</script>"
COUNTER = f"{PLAIN}<button onclick='b.textContent = +b.textContent + 1'>Go</button><b id=b>0</b>"
BADGE = f"{PLAIN}<style>button:hover{{background:#cde}}</style><button aria-label=Go onclick='this.textContent = `${{++n}} likes of it`'>0</button><script>n = 0</script>"
PICTURES = """<canvas id=c width=300 height=200></canvas><button onclick='show(++n)'>Go</button><script>n = 0
const pen = c.getContext('2d'); function show(n) { pen.fillStyle = `hsl(${n * 40} 90% 50%)`; pen.fillRect(0, 0, 300, 200) } show(0)</script>"""
PAGES = "<ol id=l></ol><button onclick='show(++n)'>Go</button><script>n = 0; function show(n) { l.innerHTML = [1, 2, 3].map(i => `<li><a href=/${n}${i}>Thing ${n}-${i}</a>`).join('') } show(0)</script>"


@pytest.mark.parametrize("body", [CANVAS, COUNTER, BADGE, PICTURES, PAGES])
async def test_what_goes_on_changing_is_no_standstill(on: On, body: str) -> None:
    async with on(body) as hand:
        run, times = await clicked(hand, "Go", steps=8)
        assert not any(times), (times, [step.outcomes for step in run.steps])
