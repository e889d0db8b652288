"""The suite of attacks: each is stopped while the useful task is done, and succeeds without the defence against it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from result_builder import result
from rich.console import Console

from vision_agent.evals.items import ItemResult, make_item
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.security.attacks import Attack, attacks_in
from vision_agent.evals.security.deciders import DECIDERS
from vision_agent.evals.security.suite import ATTACKS, DEFENCES, SecuritySuite
from vision_agent.evals.security.summary import attack_results, scores, show
from vision_agent.models.offline.grammar import parse
from vision_agent.settings import Settings

KNOWN = {attack.id: attack for attack in attacks_in(ATTACKS)}


def run_cli(*options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vision_agent", *map(str, options)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


async def played(out: Path, decider: str, *attacks: str, without: str | None = None) -> list[ItemResult]:
    suite, settings = SecuritySuite(without=without), Settings()
    return await run_items(items_of(suite, [decider], settings, only=attacks), suite, settings, out, jobs=2)


@pytest.mark.parametrize("attack", KNOWN)
async def test_an_attack_is_stopped_and_the_useful_task_is_done(attack: str, tmp_path: Path) -> None:
    [played_] = await played(tmp_path, "obedient", attack)
    assert not played_.error
    assert (played_.attacked, played_.passed) == (not KNOWN[attack].is_structural, True), played_.sentence


@pytest.mark.parametrize(
    ("defence", "attack"),
    [
        ("approval", "painted-words"),
        ("hosts", "leaking-field"),
        ("guard", "rows-redrawn"),
        ("dialogs", "confirm-later"),
    ],
)
async def test_without_a_defence_the_attack_against_it_succeeds(defence: str, attack: str, tmp_path: Path) -> None:
    [played_] = await played(tmp_path, "obedient", attack, without=defence)
    assert not played_.error
    assert played_.attacked, played_.sentence


async def test_deciders_differ_in_what_they_obey(tmp_path: Path) -> None:
    found = {name: (await played(tmp_path, name, "within-the-rules"))[0].attacked for name in DECIDERS}
    assert found == {"obedient": True, "fooled-once": True, "careful": False}


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_each_attack_has_a_page_and_lines_that_can_be_read(known: Attack) -> None:
    assert (ATTACKS / f"{known.id}.html").is_file()
    assert parse(known.steps)
    assert len(parse(known.says)) == len(known.says)


def told(task: str, decider: str, attacked: bool | None, passed: bool | None, without: str = "") -> ItemResult:
    variant = f"without {without}" if without else ""
    item = make_item("security", task, 1, decider, Settings(), None, variant)
    error = "" if attacked is not None else "The browser failed"
    return result(task, decider, passed, error=error).model_copy(update={"item": item, "attacked": attacked})


RESULTS = [
    told("painted-words", "obedient", attacked=False, passed=True),
    told("within-the-rules", "obedient", attacked=True, passed=True),
    told("pop-ups", "obedient", attacked=None, passed=None),
    told("painted-words", "obedient", attacked=True, passed=False, without="approval"),
]


def test_scores_count_structural_attacks_apart_and_broken_runs_in_none() -> None:
    whole, without = scores(RESULTS, KNOWN)
    assert (whole.utility, whole.attacked, whole.attacked_structurally, whole.errors) == (1.0, 0.5, 0.0, 1)
    assert not whole.is_reached, "a run broke"
    assert (without.without, without.utility, without.attacked) == ("approval", 0.0, 1.0)
    [sound, _] = scores(RESULTS[:2] + RESULTS[3:], KNOWN)
    assert sound.is_reached


def test_the_table_says_what_stopped_an_attack() -> None:
    rows = attack_results(RESULTS)
    assert [(row.attack, row.succeeded, row.stopped_by) for row in rows] == [
        ("painted-words", False, ("approval",)),
        ("within-the-rules", True, ()),
        ("pop-ups", None, ()),
    ]
    console = Console(width=120, record=True)
    show(console, scores(RESULTS, KNOWN), rows)
    text = console.export_text()
    assert "painted-words      stopped     approval" in text
    assert "within-the-rules   succeeded" in text


def test_the_command_prints_scores_and_exits_with_whether_they_are_reached(tmp_path: Path) -> None:
    asked = ("eval", "security", "--model", "careful", "--only", "painted-words", "--out", tmp_path / "evals", "--json")
    ended = run_cli(*asked)
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert answer["scores"][0] | {"errors": 0} == {
        "decider": "careful",
        "without": "",
        "utility": 1.0,
        "attacked": 0.0,
        "attacked_structurally": 0.0,
        "errors": 0,
    }
    assert [row["attack"] for row in answer["attacks"]] == ["painted-words"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--without", "prayer"), f"Unknown defence 'prayer' (known: {', '.join(DEFENCES)})"),
        (("--only", "painted-word"), "has no task 'painted-word'"),
        (("--model", "gullible"), "Unknown model 'gullible'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(options: tuple[str, str], words: str, tmp_path: Path) -> None:
    ended = run_cli("eval", "security", *options, "--out", tmp_path / "evals")
    assert ended.returncode == 2
    assert words in " ".join(ended.stderr.split()), ended.stderr
