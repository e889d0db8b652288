from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE

from seen import mark, refused, seen, step

from vision_agent.actions import Ask, Click, Finish, Type
from vision_agent.models.offline.grammar import GRAMMAR
from vision_agent.models.offline.human import HumanModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.types import Task

TASK = Task(goal="Sign in.")


def person(*typed):
    """A model before which someone types these lines, and what it says to them."""
    lines, said = list(typed), []

    async def read(prompt):
        if not lines:
            raise EOFError
        return lines.pop(0)

    return HumanModel(read=read, say=said.append, picture=lambda seen: f"/shots/{seen.id}.png"), said


async def test_a_person_sees_the_listing_and_where_the_picture_is_and_types_a_line():
    model, said = person("click Sign in")
    decision = await model.decide(TASK, (), seen())

    assert decision.actions == (Click(target=12),)
    assert decision.author == "human"
    assert decision.next_goal == "click Sign in"
    shown = "\n".join(said)
    assert "Task: Sign in." in shown
    assert "12[:]<button>Sign in" in shown
    assert "Picture: /shots/o1.png" in shown
    assert "http://shop.test/login" in shown


async def test_a_person_reads_how_it_is_to_be_done():
    model, said = person("finish")
    await model.decide(Task(goal="Sign in.", instructions="Do not stay signed in."), (), seen())
    assert "How it is to be done: Do not stay signed in." in said


async def test_a_line_that_cannot_be_read_or_found_is_said_and_asked_again():
    model, said = person("clikc x", "click Sign out", "", "# note", "?", 'type "a" into Email')
    decision = await model.decide(TASK, (), seen())

    assert decision.actions == (Type(target=3, text="a"),)
    shown = "\n".join(said)
    assert "not a known word" in shown
    assert "Nothing here is called 'Sign out'" in shown
    assert "a note" in shown
    assert GRAMMAR in shown


async def test_a_number_alone_is_that_of_a_mark_where_nothing_has_it_for_a_name():
    model, _ = person("click 12")
    assert (await model.decide(TASK, (), seen())).actions == (Click(target=12),)
    model, _ = person('type "12" into 3')
    assert (await model.decide(TASK, (), seen())).actions == (Type(target=3, text="12"),)
    named = seen(mark(2, "12"), mark(12, "Sign in"))
    model, _ = person("click 12")
    assert (await model.decide(TASK, (), named)).actions == (Click(target=2),)
    written = StepsModel(["click 12"])  # before anybody saw a number
    assert [each.kind for each in (await written.decide(TASK, (), seen())).actions] != ["click"]


async def test_a_person_gets_help_and_can_stop():
    model, said = person("help", "quit")
    decision = await model.decide(TASK, (), seen())
    assert decision.actions == (Finish(success=False, answer="The person stopped the run."),)
    assert GRAMMAR in "\n".join(said)
    assert "`stop` as not done" in "\n".join(said)


async def test_what_came_of_the_last_step_is_told():
    model, said = person("back")
    await model.decide(TASK, (step(0, outcome=refused("mark 12 is covered")),), seen(), complaint="That made no sense.")
    assert "→ covered: mark 12 is covered" in said
    assert "That made no sense." in said


async def test_closed_input_means_that_the_person_is_needed():
    model, _ = person("")
    decision = await model.decide(TASK, (), seen())
    assert isinstance(decision.actions[0], Ask)
    assert decision.author == "human"


async def test_the_terminal_is_read_by_default():
    """In a process of its own, because the terminal is the process's; the second read finds the input closed."""
    program = """
import asyncio
from seen import seen
from vision_agent.models.offline.human import HumanModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.types import Task

async def main():
    model = HumanModel()
    for _ in range(2):
        print((await model.decide(Task(goal="g"), (), seen())).actions)

asyncio.run(main())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate(b"click Sign in\n")
    assert b"Click(kind='click', target=12" in out, err
    assert b"Ask(kind='ask'" in out, err
