"""What results come to: a row for each setting, and a line for each two of them.

A setting is a model with its settings, on one suite. Errors and what nobody could judge are counted beside every rate,
and are in none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from vision_agent.evals.ablation import left_out_of
from vision_agent.evals.figures import Figures
from vision_agent.evals.grades import Rates, by_operation, rates
from vision_agent.evals.items import Result, differing, full_id, hash_of, settings_id
from vision_agent.evals.pictures import pictures_told
from vision_agent.evals.statistics import (
    Interval,
    bootstrap,
    holm,
    mcnemar,
    paired_bootstrap,
    pass_all,
    pass_at,
    wilson,
)

CEILINGS = ("solver", "steps")
"""Deciders that know the way: what they reach is what the marks and actions allow."""
FLOORS = ("random",)
"""Deciders that know nothing."""


@dataclass(frozen=True)
class Bound:
    """What a decider that knows the way, or nothing, came to on the items that a setting has a score for."""

    model: str
    items: int
    """Those that both have a score for."""
    passed: int
    rate: float


@dataclass(frozen=True)
class Agreement:
    """How often a judge, which looks at the page, said of an end what its score says."""

    judged: int
    """Ends that have both."""
    agreed: int
    rate: Interval | None
    """Of those, with Wilson's interval."""
    wrongly_done: int
    wrongly_not_done: int
    could_not_tell: int
    """Ends with a score of which the judge could not tell; they are in none of the others."""


@dataclass(frozen=True)
class Reached:
    """Whether acts that named a mark reached its element, as a witness saw it."""

    witnessed: int
    wrong: int
    """Of those that were witnessed: they reached another element."""
    rate: Interval | None
    """Of those too, with Wilson's interval."""
    unwitnessed: int
    """Beside them."""


@dataclass(frozen=True)
class Row:
    """One setting on one suite."""

    label: str
    suite: str
    model: str
    items: int
    scored: int
    errors: int
    unscored: int
    """Ran, and nobody could tell what came of it."""
    passed: int
    success: Interval | None
    """Of those with a score, with Wilson's interval."""
    ceiling: Bound | None
    """None where no such decider is among the results, or this is one."""
    floor: Bound | None
    score: Interval | None
    """The mean, with a bootstrap interval over tasks."""
    pass_at: dict[int, float]
    """How probable one of so many tries passes."""
    pass_all: dict[int, float]
    """How probable all of so many tries pass."""
    steps: Interval | None
    step_success: float | None
    """Steps of which all was carried out, of all steps."""
    refusals: dict[str, int]
    reached: Reached | None
    """None where nobody watched."""
    judge: Agreement | None
    """None where no judge was asked."""
    tokens: int
    cost_usd: float | None
    """None where one came at a price that is not known."""
    seconds: Interval | None
    """Of an item, all of it."""
    model_s: float | None
    page_s: float | None
    agent_s: float | None
    answers: Rates | None
    """Of questions about recorded pages, by Mind2Web's measures; None where pages were acted on."""
    operations: dict[str, Rates]
    """The same of each kind of operation that was right, such as `CLICK`; empty where there was one kind."""


@dataclass(frozen=True)
class Pair:
    """Two settings on the items that both have a score for."""

    suite: str
    first: str
    second: str
    items: int
    both: int
    """Passed by both."""
    only_first: int
    only_second: int
    neither: int
    difference: Interval | None
    """Of success, second minus first, with a bootstrap interval over tasks."""
    p: float
    """McNemar's, exact."""
    p_adjusted: float
    """The same by Holm, because so many pairs were looked at."""


@dataclass(frozen=True)
class Summary:
    """All of it."""

    rows: list[Row]
    pairs: list[Pair]
    ablations: list[Pair]
    """Those of `pairs` in which the second is the first without something; p is adjusted for their number alone."""
    wrong: tuple[str, ...] = ()
    """Each act that reached another element than the one it named, in a sentence."""
    pictures: tuple[str, ...] = ()
    """Whether those who were asked about recorded pages were shown the same, in a sentence for each suite."""


@dataclass(frozen=True)
class Group:
    """The results of one setting on one suite."""

    label: str
    """What tells it from the others of the suite."""
    suite: str
    model: str
    name: str
    """What their folder is called."""
    settings: str
    """Their hash."""
    full: str
    """The same, whatever is kept from the model."""
    ablated: frozenset[str]
    results: list[Result]


def grouped(results: Mapping[str, Sequence[Result]]) -> list[Group]:
    """Results by setting; `results` are by what their folder is called, which is told where there are several."""
    settings = differing([result for each in results.values() for result in each])
    groups: dict[tuple[str, str, str, str], list[Result]] = defaultdict(list)
    for name, each in results.items():
        for result in each:
            item = result.item
            groups[name, item.suite, item.model, settings_id(item)].append(result)
    return [
        Group(
            " ".join(filter(None, (name if len(results) > 1 else "", model, settings[chosen]))),
            suite,
            model,
            name,
            chosen,
            full_id(each[0].item),
            frozenset(left_out_of(each[0].item.settings)),
            each,
        )
        for (name, suite, model, chosen), each in groups.items()
    ]


def summary(results: Mapping[str, Sequence[Result]]) -> Summary:
    """The summary of results, by what their folder is called; the name is told where there are several."""
    groups = grouped(results)
    # What is whole comes before what lacks something, and what is plain before its variants, so that a difference is
    # what leaving it out made, or the variant.
    groups.sort(key=lambda group: (group.suite, len(group.ablated), "variant" in group.results[0].item.settings))
    found = [(one, other, _pair(one, other)) for one, other in combinations(groups, 2) if one.suite == other.suite]
    return Summary(
        rows=[_row(group, groups) for group in groups],
        pairs=_adjusted([pair for _, _, pair in found]),
        ablations=_adjusted([pair for one, other, pair in found if _lacks(one, other)]),
        wrong=tuple(
            f"{group.label}, {each.item.task} seed {each.item.seed}, step {wrong.step}: {wrong.sentence}"
            for group in groups
            for each in group.results
            for wrong in (each.witness.wrong if each.witness else ())
        ),
        pictures=tuple(pictures_told([result for each in results.values() for result in each])),
    )


def _lacks(one: Group, other: Group) -> bool:
    """Whether the other is the same setting with something left out."""
    return one.ablated < other.ablated and (one.name, one.model, one.full) == (other.name, other.model, other.full)


def _adjusted(pairs: Sequence[Pair]) -> list[Pair]:
    adjusted = holm([pair.p for pair in pairs])
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _row(group: Group, groups: Sequence[Group]) -> Row:
    results = group.results
    scored = [result for result in results if result.passed is not None]
    figures = [result.figures for result in results if result.figures is not None]
    outcomes = [[bool(result.passed) for result in task] for task in _by_task(scored)]
    passed, steps = sum(map(sum, outcomes)), sum(each.steps for each in figures)
    costs = [each.cost_usd for each in figures]
    grades = [[result.grades for result in task] for task in _by_task(scored)]
    answers = rates(grades)
    return Row(
        label=group.label,
        suite=group.suite,
        model=group.model,
        items=len(results),
        scored=len(scored),
        errors=sum(bool(result.error) for result in results),
        unscored=sum(not result.error and result.passed is None for result in results),
        passed=passed,
        success=wilson(passed, len(scored)),
        ceiling=_bound(group, groups, CEILINGS),
        floor=_bound(group, groups, FLOORS),
        score=bootstrap([[result.score or 0.0 for result in task] for task in _by_task(scored)]),
        pass_at=_by_tries(pass_at, outcomes),
        pass_all=_by_tries(pass_all, outcomes),
        steps=bootstrap([[each.figures.steps for each in task if each.figures] for task in _by_task(results)]),
        step_success=sum(each.good_steps for each in figures) / steps if steps and answers is None else None,
        refusals=dict(sorted(sum((Counter(each.refusals) for each in figures), Counter()).items())),
        reached=_reached(results),
        judge=_agreement(scored),
        tokens=sum(each.tokens for each in figures),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=bootstrap([[each.seconds for each in task if not each.error] for task in _by_task(results)]),
        model_s=_mean(figures, "model_s"),
        page_s=_mean(figures, "page_s"),
        agent_s=_mean(figures, "agent_s"),
        answers=answers,
        operations=by_operation(grades),
    )


def _by_tries(
    rate_of: Callable[[int, Sequence[Sequence[bool]]], float | None], outcomes: Sequence[Sequence[bool]]
) -> dict[int, float]:
    """A rate for each number of tries, up to the most that a task had."""
    tries = max(map(len, outcomes), default=0)
    return {k: rate for k in range(1, tries + 1) if (rate := rate_of(k, outcomes)) is not None}


def _reached(results: Sequence[Result]) -> Reached | None:
    seen = [each.witness for each in results if each.witness is not None]
    if not seen:
        return None
    witnessed, wrong = sum(each.witnessed for each in seen), sum(len(each.wrong) for each in seen)
    return Reached(witnessed, wrong, wilson(wrong, witnessed), sum(each.unwitnessed for each in seen))


def _agreement(scored: Sequence[Result]) -> Agreement | None:
    said = Counter((each.figures.judged, bool(each.passed)) for each in scored if each.figures and each.figures.judged)
    if not said:
        return None
    agreed = said["done", True] + said["not_done", False]
    could_not_tell = said["cannot_tell", True] + said["cannot_tell", False]
    judged = said.total() - could_not_tell
    return Agreement(
        judged=judged,
        agreed=agreed,
        rate=wilson(agreed, judged),
        wrongly_done=said["done", False],
        wrongly_not_done=said["not_done", True],
        could_not_tell=could_not_tell,
    )


def _bound(group: Group, groups: Sequence[Group], models: Sequence[str]) -> Bound | None:
    """Of several, the one with most items in common, then of the same folder and settings."""
    if group.model in models:
        return None
    mine, best, found = _scored(group), (0, False, False), None
    for each in groups:
        if each.suite == group.suite and each.model in models:
            theirs = _scored(each)
            common = mine.keys() & theirs.keys()
            rank = len(common), each.name == group.name, each.settings == group.settings
            if common and rank > best:
                passed = sum(theirs[item] for item in common)
                best, found = rank, Bound(each.model, len(common), passed, passed / len(common))
    return found


def _pair(one: Group, other: Group) -> Pair:
    # The same item means the same task as well: with another goal or check they cannot be held against each other.
    mine, theirs = _scored(one), _scored(other)
    common = [each for each in mine if each in theirs]
    times = Counter((mine[each], theirs[each]) for each in common)
    tasks: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
    for each in common:
        tasks[each[0]].append((float(mine[each]), float(theirs[each])))
    p = mcnemar(times[True, False], times[False, True])
    return Pair(
        suite=one.suite,
        first=one.label,
        second=other.label,
        items=len(common),
        both=times[True, True],
        only_first=times[True, False],
        only_second=times[False, True],
        neither=times[False, False],
        difference=paired_bootstrap(list(tasks.values())),
        p=p,
        p_adjusted=p,
    )


def _scored(group: Group) -> dict[tuple[str, int, str], bool]:
    return {what_of(result): result.passed for result in group.results if result.passed is not None}


def what_of(result: Result) -> tuple[str, int, str]:
    """The same for results of the same task and seed, whoever decided."""
    return result.item.task, result.item.seed, hash_of(result.item.content)


def _by_task(results: Sequence[Result]) -> list[list[Result]]:
    tasks: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        tasks[result.item.task].append(result)
    return list(tasks.values())


def _mean(figures: Sequence[Figures], name: str) -> float | None:
    return sum(getattr(each, name) for each in figures) / len(figures) if figures else None
