"""Decides by asking a person in the terminal: shows the listing and the path of the picture, and reads a step line.

Reads and writes through functions that default to the terminal. Knows no browser and no files.
"""

from __future__ import annotations

import asyncio
import select
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from vision_agent.actions import Action, Ask, Finish
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import GRAMMAR, parse
from vision_agent.models.offline.resolve_target import NotFoundError, bare_numbers, named_values
from vision_agent.observation import Observation
from vision_agent.ports import Model, Redact
from vision_agent.text.escape import escaped_line, terminal_text
from vision_agent.text.urls import shown_address
from vision_agent.types import Decision, Outcome, Step, Task

_PROMPT = "What next? (? for help) "
_POLL_S = 0.2
_ENDS = "`finish` ends the task as done, `stop` as not done."


async def read_terminal(prompt: str) -> str:
    """Reads one line that a person types.

    Raises:
        EOFError: the terminal is closed.
    """
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def resolve(line: str | None) -> None:
        if typed.done():
            return
        if line is None:
            typed.set_exception(EOFError())
        else:
            typed.set_result(line)

    def read() -> None:
        try:
            # Python's own `input` writes past `sys.stdout`, so the edge of the command line does not see the prompt.
            line: str | None = input(terminal_text(prompt))
        except (EOFError, OSError):
            line = None
        loop.call_soon_threadsafe(resolve, line)

    # A daemon thread instead of `to_thread`: Ctrl-C must end the program without waiting for a last Enter.
    threading.Thread(target=read, daemon=True, name="read-terminal").start()
    return await typed


async def wait_for_enter() -> None:
    """Returns when the person presses Enter, or the terminal is closed. Cancelled, it leaves nothing behind."""
    is_over = threading.Event()

    def wait() -> None:
        # Not within `input`: a thread that reads keeps the program from ending.
        while not is_over.is_set():
            if select.select([sys.stdin], [], [], _POLL_S)[0]:
                sys.stdin.readline()
                return

    try:
        await asyncio.to_thread(wait)
    except (OSError, ValueError, TypeError):  # it cannot be waited for: Windows has no `select` for terminals
        with suppress(EOFError):
            await read_terminal("")
    finally:
        is_over.set()


class HumanModel(Model):
    """Decides by the step lines that a person types; if they close the input, the decision is to ask them."""

    def __init__(
        self,
        *,
        picture: Callable[[Observation], str] | None = None,
        read: Callable[[str], Awaitable[str]] = read_terminal,
        say: Callable[[str], None] = print,
        redact: Redact = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = "human"
        self._picture = picture
        """Returns the path of the marked picture of an observation."""
        self._read = read
        self._tell = say
        self._redact = redact
        self._clock = clock
        self._goal = ""
        """The task that was shown last."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The action that the person typed; asks again while a line cannot be parsed or its target is missing."""
        began = self._clock()
        self._show(task, steps, observation, complaint)
        # The person sees the names of secrets and private data where the page shows their values.
        values = {each.name: each.value.get_secret_value() for each in task.secrets if not each.is_code}
        while True:
            try:
                typed = (await self._read(_PROMPT)).strip()
            except EOFError:
                question = "The input was closed before the task was done. How should it continue?"
                return self._decision("needs the person", Ask(question=question), began)
            if typed.lower() in ("", "?", "help"):
                self._say(f"{GRAMMAR}\n\n{_ENDS}" if typed else f"Type a step line. {_ENDS}")
                continue
            if typed.lower() in ("stop", "quit", "exit", "q"):
                return self._decision("stop", Finish(success=False, answer="The person stopped the run."), began)
            try:
                with bare_numbers(), named_values(values):
                    action = next(line.build(observation) for line in parse([typed]))
            except (UsageError, NotFoundError) as error:
                self._say(error.sentence if isinstance(error, UsageError) else str(error))
            except StopIteration:
                self._say("That is a note; it does nothing.")
            else:
                return self._decision(typed, action, began)

    def _show(self, task: Task, steps: Sequence[Step], observation: Observation, complaint: str) -> None:
        if task.goal != self._goal:  # a replay that is healed asks for one step at a time
            self._goal = task.goal
            self._say(f"Task: {task.goal}")
            if task.instructions:
                self._say(f"How it is to be done: {task.instructions}")
        for outcome in steps[-1].outcomes if steps else ():
            self._say(f"→ {escaped_line(_outcome_text(outcome))}")
        title, address = escaped_line(observation.title), escaped_line(shown_address(observation.url))
        self._say(f"\nStep {len(steps) + 1}: {title} · {address}")
        self._say(observation.listing)
        if self._picture is not None:
            self._say(f"Picture: {self._picture(observation)}")
        if complaint:
            self._say(complaint)

    def _say(self, text: str) -> None:
        self._tell(terminal_text(self._redact(text)))

    def _decision(self, goal: str, action: Action, began: float) -> Decision:
        seconds = self._clock() - began
        return Decision(next_goal=goal, actions=(action,), author="human", model="human", seconds=seconds)


def _outcome_text(outcome: Outcome) -> str:
    return outcome.sentence if outcome.status == "done" else f"{outcome.refusal}: {outcome.sentence}"
