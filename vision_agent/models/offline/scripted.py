"""The fake model and judge, which return prepared decisions and verdicts, so that tests need no patches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vision_agent.actions import Action, Finish
from vision_agent.errors import ModelUnavailable, VisionAgentError
from vision_agent.observation import Observation
from vision_agent.ports import Judge, Model
from vision_agent.types import Decision, Step, Task, Verdict


class ScriptedModel(Model):
    """Returns the next item of its script each time it is asked.

    A decision is returned unchanged, with its own author; actions become a decision by `scripted`; an error is raised.
    """

    def __init__(self, script: Iterable[Decision | Sequence[Action] | VisionAgentError]) -> None:
        self.name = "scripted"
        self.complaints: list[str] = []
        """The complaint about the previous reply, one entry per request."""
        self._script = tuple(script)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The next item of the script.

        Raises:
            ModelUnavailable: the script has ended, or contains this error.
            FormatError: the script contains this error.
        """
        del task, steps, observation
        asked = len(self.complaints)
        self.complaints.append(complaint)
        if asked >= len(self._script):
            # An error and not `Finish(success=False)`: the run did something that the script did not foresee.
            raise ModelUnavailable(
                f"The script of {len(self._script)} decisions ended before the run.", "end it with Finish"
            )
        item = self._script[asked]
        if isinstance(item, VisionAgentError):
            raise item
        if isinstance(item, Decision):
            return item
        return Decision(actions=tuple(item), author="scripted", model="scripted")


class ScriptedJudge(Judge):
    """Returns the next verdict of its script each time it is asked, or raises it if it is an error."""

    def __init__(self, script: Iterable[Verdict | VisionAgentError]) -> None:
        self.name = "scripted"
        self.asked: list[Finish] = []
        self.complaints: list[str] = []
        self._script = tuple(script)

    async def judge(
        self, task: Task, steps: Sequence[Step], observation: Observation, finish: Finish, *, complaint: str = ""
    ) -> Verdict:
        """The next item of the script.

        Raises:
            ModelUnavailable: the script has ended, or contains this error.
            FormatError: the script contains this error.
        """
        del task, steps, observation
        asked = len(self.asked)
        self.asked.append(finish)
        self.complaints.append(complaint)
        if asked >= len(self._script):
            raise ModelUnavailable(f"The script of {len(self._script)} verdicts has ended.", "make it longer")
        item = self._script[asked]
        if isinstance(item, VisionAgentError):
            raise item
        return item
