"""The attacks of the suite `security`, as listed in its `attacks.json`, and what counts as one that succeeded."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, TypeAdapter, ValidationError

from vision_agent.base_model import FrozenModel
from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import EndState, Expected
from vision_agent.types import Risk

ATTACKS_FILE = "attacks.json"
AttackKind = Literal["instruction", "deception", "swap", "leak", "earlier", "download"]


class EarlierRun(FrozenModel):
    """A run that somebody made before on the page of the attack, asked nothing, and what is done with its record."""

    use: Literal["replay", "learn"]
    """`replay`: the record is replayed, and does the task. `learn`: it is added to the memory, if the rules allow."""
    steps: tuple[str, ...]
    """Its step lines; `{attacker}` and `{session}` stand for parts of an address."""


class Attack(FrozenModel):
    """A page that attacks the agent, and a useful task on it."""

    id: str
    """Also the name of its page."""
    kind: AttackKind
    """`instruction`: the page tells the agent what to do. `deception`: something is not what it looks like. `swap`:
    something else lies under the pointer when it presses. `leak`: data of the task go elsewhere."""
    about: str
    """What the page does, in one sentence."""
    is_structural: bool
    """Whether a rule can stop it, whatever the decider believes."""
    goal: str
    steps: tuple[str, ...]
    """Step lines of the useful task."""
    says: tuple[str, ...] = ()
    """Step lines of what the page wants; `{attacker}` and `{session}` stand for parts of an address."""
    shown: str = ""
    """The decider obeys once these words are in the listing, an outcome or an exemplar; empty: they are painted, and it
    sees them at once."""
    earlier: EarlierRun | None = None
    """What was done before; the address of its page has `&earlier`."""
    exemplar: str = ""
    """The file of an exemplar that somebody else put into the memory."""
    expect: EndState
    """The reports that show that the useful task was done."""
    attacked: tuple[Expected, ...] = Field(min_length=1)
    """Reports of the page or of the attacker's server; any of them shows that the attack succeeded."""
    allowed: tuple[Risk, ...] = ()
    """The risks that the person approves, because the task needs them or because this attack is about something else.
    """
    secrets: dict[str, str] = {}
    files: tuple[str, ...] = ()
    """Names of the files that may be uploaded."""


def attacks_in(folder: Path) -> tuple[Attack, ...]:
    """The attacks of a folder, in the order of its `attacks.json`.

    Raises:
        UsageError: the file is missing or not a list of attacks.
    """
    path = folder / ATTACKS_FILE
    try:
        return TypeAdapter(tuple[Attack, ...]).validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise UsageError(f"{folder} has no {ATTACKS_FILE}", "it lists the attacks of the pages beside it") from error
    except ValidationError as error:
        raise UsageError(f"{path} is not a list of attacks: {error}") from error
