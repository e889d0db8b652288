"""The exception tree. Only what ends a run, or what a caller must fix, is an exception.

    VisionAgentError
    ├── UsageError            the caller asked for something impossible (exit 2)
    ├── RunFailed             a run failed, and the task's limits ask for an exception (exit 1)
    ├── FormatError           a reply is unusable; its sentence is for the model (the loop asks again)
    ├── Unavailable           something a run needs is unavailable (exit 5)
    │   ├── BrowserUnavailable
    │   └── ModelUnavailable
    └── RecordError           the run folder cannot be written or is inconsistent (exit 5)
        └── NoSuchRun         there is no such run folder (also a UsageError, exit 2)

An action that the page does not accept is not here: that is an `Outcome`, because it is a finding and not a failure.
Each error can carry a `hint`: what would help.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vision_agent.text.escape import cut_text

if TYPE_CHECKING:
    from types import TracebackType

    from vision_agent.types import Usage

_LONGEST_QUOTING = 2000
"""Characters of a sentence that quotes a model or its server, which may say anything at any length."""


class VisionAgentError(Exception):
    """The base of all exceptions that this package raises on purpose."""

    exit_code = 2

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint

    def __str__(self) -> str:
        if "\n" in self.hint:
            return f"{_without_stop(self.sentence)}; {self.hint}"
        return f"{_without_stop(self.sentence)} ({self.hint})" if self.hint else self.sentence


def why_unreadable(error: Exception) -> str:
    """Why a text file could not be read, as the end of a sentence."""
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case OSError(strerror=str(reason)):
            return reason
        case UnicodeDecodeError():
            return "it is not text in UTF-8"
    return str(error)


def decider_traceback(error: BaseException) -> TracebackType | None:
    """The traceback of an error from where a decider that somebody wrote was asked; None if it is of no such one."""
    package, found = Path(__file__).parent, error.__traceback__
    while found is not None:
        code = found.tb_frame.f_code
        if code.co_name == "decide" and package not in Path(code.co_filename).parents:
            return found
        found = found.tb_next
    return None


def _without_stop(sentence: str) -> str:
    """A sentence without its full stop; the folder `.` at its end is none."""
    return sentence if sentence.endswith(" .") else sentence.removesuffix(".")


class UsageError(VisionAgentError):
    """The caller asked for something impossible, such as an unknown setting."""


class RunFailed(VisionAgentError):
    """A run failed; raised only if `Limits.on_failure` asks for it."""

    exit_code = 1


class FormatError(VisionAgentError):
    """A model's reply is unusable; the sentence tells the model what to do about it."""

    usage: Usage | None = None
    """Usage of the reply: it costs as much as a usable one."""

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(cut_text(sentence, _LONGEST_QUOTING), hint)


class Unavailable(VisionAgentError):
    """Something a run needs is unavailable."""

    exit_code = 5


class BrowserUnavailable(Unavailable):
    """No browser could be started or reached, or the browser was lost."""


class ModelUnavailable(Unavailable):
    """The model could not be asked, or refused to answer."""

    usage: Usage | None = None
    """Usage of a reply that it gave anyway, such as a refusal."""

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(cut_text(sentence, _LONGEST_QUOTING), hint)


class RecordError(VisionAgentError):
    """The run folder cannot be written, or its contents are inconsistent."""

    exit_code = 5


class NoSuchRun(RecordError, UsageError):
    """There is no such run folder."""

    exit_code = 2
