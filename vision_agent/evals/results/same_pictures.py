"""Says whether all models were shown the same recorded pages, by the picture hashes in the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from vision_agent.evals.ablation import OF_PICTURES, left_out_parts
from vision_agent.evals.items import ItemResult, json_hash, settings_id


def picture_sentences(results: Sequence[ItemResult]) -> Iterator[str]:
    """Yield one sentence for each suite of recorded pages on which several models or settings answered."""
    for suite in dict.fromkeys(result.item.suite for result in results if result.grades):
        answered = [result for result in results if result.item.suite == suite and result.grades]
        if len({(result.item.model, settings_id(result.item)) for result in answered}) > 1:
            yield _sentence(suite, answered)


def _sentence(suite: str, answered: Sequence[ItemResult]) -> str:
    shown: dict[tuple[str, str, frozenset[str]], set[tuple[str, ...]]] = defaultdict(set)
    for result in answered:
        drawn = OF_PICTURES.intersection(left_out_parts(result.item.settings))
        shown[result.item.task, json_hash(result.item.content), drawn].add(result.pictures)
    differ = sorted({task for (task, _, _), pictures in shown.items() if len(pictures) > 1})
    but = ", except for ablations" if len({drawn for _, _, drawn in shown}) > 1 else ""
    if differ:
        some = f"{', '.join(differ[:3])}{' …' if len(differ) > 3 else ''}"
        return f"{suite}: the pictures of {len(differ)} tasks differed between settings ({some}), by their hashes."
    many = len({picture for result in answered for picture in result.pictures})
    return (
        f"{suite}: all settings were shown the same {many} pictures, by their hashes{but}."
        if many
        else (f"{suite}: no pictures were shown.")
    )
