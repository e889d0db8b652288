"""Whether those who were asked about recorded pages were shown the same pictures: told by the hashes in the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from vision_agent.evals.ablation import OF_PICTURES, left_out_of
from vision_agent.evals.items import Result, hash_of, settings_id


def pictures_told(results: Sequence[Result]) -> Iterator[str]:
    """A sentence for each suite of recorded pages on which several models or settings answered."""
    for suite in dict.fromkeys(result.item.suite for result in results if result.grades):
        answered = [result for result in results if result.item.suite == suite and result.grades]
        if len({(result.item.model, settings_id(result.item)) for result in answered}) > 1:
            yield _told(suite, answered)


def _told(suite: str, answered: Sequence[Result]) -> str:
    shown: dict[tuple[str, str, frozenset[str]], set[tuple[str, ...]]] = defaultdict(set)
    for result in answered:
        drawn = OF_PICTURES.intersection(left_out_of(result.item.settings))
        shown[result.item.task, hash_of(result.item.content), drawn].add(result.pictures)
    differ = sorted({task for (task, _, _), pictures in shown.items() if len(pictures) > 1})
    but = ", but for what was left out of them to measure it" if len({drawn for _, _, drawn in shown}) > 1 else ""
    if differ:
        some = f"{', '.join(differ[:3])}{' …' if len(differ) > 3 else ''}"
        return f"{suite}: not everyone was shown the same pictures of {len(differ)} tasks ({some}), by their hashes."
    many = len({picture for result in answered for picture in result.pictures})
    return (
        f"{suite}: everyone was shown the same {many} pictures, by their hashes{but}."
        if many
        else (f"{suite}: nobody was shown a picture.")
    )
