"""Summarises results: a row for each setting, and a comparison for each pair of settings.

A setting is a model with its settings on one suite. Errors and unscored items are reported separately and excluded from
all rates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from vision_agent.evals.ablation import left_out_parts
from vision_agent.evals.answer_grading import Rates, by_operation, rates
from vision_agent.evals.items import ItemResult, full_id, json_hash, setting_differences, settings_id
from vision_agent.evals.results.same_pictures import picture_sentences
from vision_agent.evals.run_metrics import RunMetrics
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
"""Baselines that know the solution: their rate is what marks and actions allow."""
FLOORS = ("random",)
"""Baselines that know nothing."""


@dataclass(frozen=True)
class BaselineScore:
    """The result of a ceiling or floor baseline on the items that a setting has scores for."""

    model: str
    items: int
    """Items that both have a score for."""
    passed: int
    rate: float


@dataclass(frozen=True)
class Agreement:
    """How often a judge model, which looks at the page, agreed with the score."""

    judged: int
    """Final states that have both, without those the judge could not tell."""
    agreed: int
    rate: Interval | None
    """Share of agreement, with Wilson's interval."""
    wrongly_done: int
    wrongly_not_done: int
    could_not_tell: int
    """Scored final states that the judge could not tell; they are excluded from the other counts."""


@dataclass(frozen=True)
class Reached:
    """Whether actions that named a mark reached its element, by the hit oracle."""

    witnessed: int
    wrong: int
    """Witnessed actions that reached another element."""
    rate: Interval | None
    """Share of wrong among witnessed, with Wilson's interval."""
    unwitnessed: int
    """Actions with an unknown result, excluded from the rate."""


@dataclass(frozen=True)
class SuiteRow:
    """The summary of one setting on one suite."""

    label: str
    suite: str
    model: str
    items: int
    scored: int
    errors: int
    unscored: int
    """Runs without an error that nobody could judge."""
    passed: int
    success: Interval | None
    """Pass rate of scored items, with Wilson's interval."""
    ceiling: BaselineScore | None
    """None if the results have no such baseline, or this row is one."""
    floor: BaselineScore | None
    score: Interval | None
    """Mean score, with a bootstrap interval over tasks."""
    pass_at: dict[int, float]
    """Probability that at least one of k tries passes, by k."""
    pass_all: dict[int, float]
    """Probability that all of k tries pass, by k."""
    steps: Interval | None
    step_success: float | None
    """Share of steps in which every action was done."""
    refusals: dict[str, int]
    reached: Reached | None
    """None without a hit oracle."""
    judge: Agreement | None
    """None if no judge was asked."""
    tokens: int
    cost_usd: float | None
    """None if the price of a reply is unknown."""
    seconds: Interval | None
    """Whole duration of an item."""
    model_s: float | None
    page_s: float | None
    agent_s: float | None
    answers: Rates | None
    """Mind2Web's measures for answers about recorded pages; None for live pages."""
    operations: dict[str, Rates]
    """The same by kind of operation in the reference, such as `CLICK`; empty if there is only one kind."""

    def reaches(self, percent: float) -> bool:
        """Whether at least this share of the scored items passed; False if none was scored."""
        return self.scored > 0 and 100 * self.passed >= percent * self.scored


@dataclass(frozen=True)
class SettingPair:
    """The comparison of two settings on the items that both have a score for."""

    suite: str
    first: str
    second: str
    items: int
    both: int
    """Items that both passed."""
    only_first: int
    only_second: int
    neither: int
    difference: Interval | None
    """Difference of success, second minus first, with a bootstrap interval over tasks."""
    p: float
    """p-value of McNemar's exact test."""
    p_adjusted: float
    """The p-value corrected by Holm for the number of pairs."""


@dataclass(frozen=True)
class ResultsSummary:
    """The summary of all results."""

    rows: list[SuiteRow]
    pairs: list[SettingPair]
    ablations: list[SettingPair]
    """The pairs in which the second is the first with something left out; p is corrected for their number alone."""
    wrong: tuple[str, ...] = ()
    """One sentence for each action that reached another element than the one it named."""
    pictures: tuple[str, ...] = ()
    """One sentence for each suite of recorded pages: whether all settings were shown the same pictures."""


@dataclass(frozen=True)
class Group:
    """The results of one setting on one suite."""

    label: str
    """Distinguishes it from the suite's other groups."""
    suite: str
    model: str
    name: str
    """Name of the result folder."""
    settings: str
    """Hash of its settings."""
    full: str
    """Hash of its settings without ablations."""
    ablated: frozenset[str]
    results: list[ItemResult]


def grouped(results: Mapping[str, Sequence[ItemResult]]) -> list[Group]:
    """Results by setting; `results` maps folder names to results, and labels include the names if there are several."""
    settings = setting_differences([result for each in results.values() for result in each])
    groups: dict[tuple[str, str, str, str], list[ItemResult]] = defaultdict(list)
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
            frozenset(left_out_parts(each[0].item.settings)),
            each,
        )
        for (name, suite, model, chosen), each in groups.items()
    ]


def summary(results: Mapping[str, Sequence[ItemResult]]) -> ResultsSummary:
    """The summary of results by folder name; labels include the names if there are several."""
    groups = grouped(results)
    # Complete settings come before ablations, and the plain suite before variants, so that a difference is the effect
    # of the ablation or the variant.
    groups.sort(key=lambda group: (group.suite, len(group.ablated), "variant" in group.results[0].item.settings))
    found = [(one, other, _pair(one, other)) for one, other in combinations(groups, 2) if one.suite == other.suite]
    return ResultsSummary(
        rows=[_row(group, groups) for group in groups],
        pairs=_with_adjusted_p([pair for _, _, pair in found]),
        ablations=_with_adjusted_p([pair for one, other, pair in found if _lacks(one, other)]),
        wrong=tuple(
            f"{group.label}, {each.item.task} seed {each.item.seed}, step {wrong.step}: {wrong.sentence}"
            for group in groups
            for each in group.results
            for wrong in (each.witness.wrong if each.witness else ())
        ),
        pictures=tuple(picture_sentences([result for each in results.values() for result in each])),
    )


def _lacks(one: Group, other: Group) -> bool:
    """Whether the other group is the same setting with something left out."""
    return one.ablated < other.ablated and (one.name, one.model, one.full) == (other.name, other.model, other.full)


def _with_adjusted_p(pairs: Sequence[SettingPair]) -> list[SettingPair]:
    adjusted = holm([pair.p for pair in pairs])
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _row(group: Group, groups: Sequence[Group]) -> SuiteRow:
    results = group.results
    scored = [result for result in results if result.passed is not None]
    figures = [result.figures for result in results if result.figures is not None]
    outcomes = [[bool(result.passed) for result in task] for task in _by_task(scored)]
    passed, steps = sum(map(sum, outcomes)), sum(each.steps for each in figures)
    costs = [each.cost_usd for each in figures]
    grades = [[result.grades for result in task] for task in _by_task(scored)]
    answers = rates(grades)
    return SuiteRow(
        label=group.label,
        suite=group.suite,
        model=group.model,
        items=len(results),
        scored=len(scored),
        errors=sum(bool(result.error) for result in results),
        unscored=sum(not result.error and result.passed is None for result in results),
        passed=passed,
        success=wilson(passed, len(scored)),
        ceiling=_nearest_baseline(group, groups, CEILINGS),
        floor=_nearest_baseline(group, groups, FLOORS),
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
    """A rate for each number of tries, up to the most tries of any task."""
    tries = max(map(len, outcomes), default=0)
    return {k: rate for k in range(1, tries + 1) if (rate := rate_of(k, outcomes)) is not None}


def _reached(results: Sequence[ItemResult]) -> Reached | None:
    seen = [each.witness for each in results if each.witness is not None]
    if not seen:
        return None
    witnessed, wrong = sum(each.witnessed for each in seen), sum(len(each.wrong) for each in seen)
    return Reached(witnessed, wrong, wilson(wrong, witnessed), sum(each.unwitnessed for each in seen))


def _agreement(scored: Sequence[ItemResult]) -> Agreement | None:
    verdicts = Counter(
        (each.figures.judged, bool(each.passed)) for each in scored if each.figures and each.figures.judged
    )
    if not verdicts:
        return None
    agreed = verdicts["done", True] + verdicts["not_done", False]
    could_not_tell = verdicts["cannot_tell", True] + verdicts["cannot_tell", False]
    judged = verdicts.total() - could_not_tell
    return Agreement(
        judged=judged,
        agreed=agreed,
        rate=wilson(agreed, judged),
        wrongly_done=verdicts["done", False],
        wrongly_not_done=verdicts["not_done", True],
        could_not_tell=could_not_tell,
    )


def _nearest_baseline(group: Group, groups: Sequence[Group], models: Sequence[str]) -> BaselineScore | None:
    """The baseline with the most items in common; ties go to the same folder, then the same settings.

    What passed less often than the setting itself, on the items of both, is no ceiling.
    """
    if group.model in models:
        return None
    mine, best, found = _scored(group), (0, False, False), None
    for each in groups:
        if each.suite == group.suite and each.model in models:
            theirs = _scored(each)
            common = mine.keys() & theirs.keys()
            passed = sum(theirs[item] for item in common)
            if models == CEILINGS and passed < sum(mine[item] for item in common):
                continue
            rank = len(common), each.name == group.name, each.settings == group.settings
            if common and rank > best:
                best, found = rank, BaselineScore(each.model, len(common), passed, passed / len(common))
    return found


def _pair(one: Group, other: Group) -> SettingPair:
    # Tasks must be equal too: items with another goal or check cannot be compared.
    mine, theirs = _scored(one), _scored(other)
    common = [each for each in mine if each in theirs]
    times = Counter((mine[each], theirs[each]) for each in common)
    tasks: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
    for each in common:
        tasks[each[0]].append((float(mine[each]), float(theirs[each])))
    p = mcnemar(times[True, False], times[False, True])
    return SettingPair(
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
        p_adjusted=p,  # adjusted once all pairs are known
    )


def _scored(group: Group) -> dict[tuple[str, int, str], bool]:
    return {item_key(result): result.passed for result in group.results if result.passed is not None}


def item_key(result: ItemResult) -> tuple[str, int, str]:
    """A key that is equal for results on the same task and seed, whatever the model."""
    return result.item.task, result.item.seed, json_hash(result.item.content)


def _by_task(results: Sequence[ItemResult]) -> list[list[ItemResult]]:
    tasks: dict[str, list[ItemResult]] = defaultdict(list)
    for result in results:
        tasks[result.item.task].append(result)
    return list(tasks.values())


def _mean(figures: Sequence[RunMetrics], name: str) -> float | None:
    return sum(getattr(each, name) for each in figures) / len(figures) if figures else None
