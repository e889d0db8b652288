"""Exemplars made by hand, and a run folder of a task that was done: what the memory's tests are about."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "record"))

from vision_agent.exemplars import Exemplar, PastAct, PastTurn, Standing
from vision_agent.memory.exemplar import exemplar_of

learn = partial(exemplar_of, confirmed=True)
"""Learns a run that a person confirmed: most of these runs have neither a check nor a judge."""

LEARNED = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)


def turn(**fields: object) -> PastTurn:
    given: dict[str, object] = {
        "url": "http://shop.test/jumper",
        "title": "Wool jumper",
        "lines": ("<button>Add to cart",),
        "kinds": {"button": 1, "field": 2, "link": 1},
        "next_goal": "Put it into the cart",
        "acts": (PastAct(action={"kind": "click", "target": "<button>Add to cart"}, outcome="changed: Clicked it."),),
        **fields,
    }
    return PastTurn.model_validate(given)


def exemplar(
    id: str = "one", goal: str = 'Enter "Ann" into the text field and press Submit', **fields: object
) -> Exemplar:
    given: dict[str, object] = {
        "id": id,
        "goal": goal,
        "site": "shop.test",
        "learned_at": LEARNED,
        "run": id,
        "head": "0" * 64,
        "turns": (turn(),),
        "standing": Standing(),
        **fields,
    }
    return Exemplar.model_validate(given)
