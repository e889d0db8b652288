"""Asks for approval in the terminal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import UsageError
from vision_agent.models.offline.grammar import GRAMMAR
from vision_agent.models.offline.human import read_terminal
from vision_agent.observation import Observation
from vision_agent.policy.approval import words_of
from vision_agent.supervise.messages import SKIP
from vision_agent.supervise.step_line import parse_line
from vision_agent.text.escape import cut_text, escaped_line, terminal_text
from vision_agent.text.urls import shown_address
from vision_agent.types import Choice, Decision, Risky, Task

_YOURS = "You have the browser; what you do in it is recorded. Press Enter to hand it back. "
_FOLLOWS_LINES = ("steps", "replay")
"""Who decides where nothing that a person says changes it."""
_NAMELESS = "  The record will not say who answered: give your name with VISION_AGENT_SUPERVISE__NAME."
_LONGEST = 2000
"""Characters of one printed text; more would push the rest of the proposal out of sight."""


class TerminalApprover:
    """Shows each proposal and reads the answer. When the input is closed, nobody answers.

    `has_window`: whether the browser has a window for a takeover. `name`: of the person, kept with each answer.
    """

    wants_to_be_asked = False

    def __init__(
        self,
        *,
        has_window: bool = True,
        name: str = "",
        read: Callable[[str], Awaitable[str]] = read_terminal,
        say: Callable[[str], None] = print,
    ) -> None:
        self._has_window = has_window
        self._name = name
        self._read = read
        self._tell = say

    def _say(self, text: str) -> None:
        """Print the text: a page title must not move the cursor or repaint a proposal."""
        self._tell(terminal_text(text))

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """Return the person's choice; repeat the prompt until a line is understood."""
        del task
        # Each on its own line, whatever line breaks it holds: none may look like another line of the proposal.
        # The address comes first: a title can look like one, and have any length.
        self._say(f"\n{escaped_line(shown_address(observation.url))} · {_line(observation.title)}")
        if decision.next_goal:
            self._say(f"Proposed: {_line(decision.next_goal)}")
        for action in decision.actions:
            self._say(f"  {_line(describe_action(action, observation))}")
        if risks:
            self._say(f"Approval needed: {escaped_line(words_of(risks))}")
        reads = decision.author not in _FOLLOWS_LINES
        while True:
            try:
                typed = (await self._read(self._prompt(reads=reads))).strip()
            except EOFError:
                return None
            if typed.lower() in ("", "y", "yes"):
                return Choice(kind="approve", through="terminal", name=self._name)
            if typed.lower() in ("n", "no", "stop", "quit", "exit", "q"):
                return Choice(kind="stop", through="terminal", name=self._name)
            if typed.lower() == "t" and self._has_window:
                return Choice(kind="take_over", through="terminal", name=self._name)
            if typed.lower() == "t":
                self._say("The browser has no window to take over; start the run with --headed.")
            elif typed.lower() in ("?", "help"):
                self._say(self._help(reads=reads))
            elif typed == "??":
                self._say(GRAMMAR)
            elif typed.startswith("!"):
                if text := typed[1:].strip() or SKIP * (not reads):
                    return Choice(kind="instruct", text=text, through="terminal", name=self._name)
                self._say("Type what the model should know after the !")
            else:
                try:
                    action = parse_line(typed, observation)
                except UsageError as error:
                    self._say(error.sentence)
                else:
                    return Choice(kind="replace", actions=(action,), through="terminal", name=self._name)

    def _prompt(self, *, reads: bool) -> str:
        """The question, with the answers that are possible. `reads`: whoever decides reads what a person says."""
        skips = "! instruction" if reads else "!: skip this"
        ways = ["Enter: yes", "n: stop the run", skips, *["t: take over"] * self._has_window]
        return f"Do it? ({' · '.join([*ways, 'a line: do that instead', '?: help'])}) "

    def _help(self, *, reads: bool) -> str:
        ways = {
            "Enter, y": "approve",
            "n, stop, quit": "stop the run",
            **(
                {"! only the blue one": "skip these actions; the model reads this and decides again"}
                if reads
                else {"!": "skip these actions and go on with what follows"}
            ),
            **({"t": "skip these actions and take over the browser window"} if self._has_window else {}),
            "click 12": 'do this step line instead, or another: type "Ann" into Name, press Enter, scroll down',
            "??": "all step lines",
        }
        lines = [f"  {typed:<20} {meaning}" for typed, meaning in ways.items()]
        return "\n".join([*lines, *[_NAMELESS] * (not self._name)])

    async def handed_back(self) -> None:
        """Return at the next line, or when the input is closed."""
        with suppress(EOFError):
            await self._read(_YOURS)


def _line(text: str) -> str:
    """The text on one line; of a longer one, how much there is."""
    more = f" ({len(text):,} characters in all)" * (len(text) > _LONGEST)
    return escaped_line(cut_text(text, _LONGEST)) + more
