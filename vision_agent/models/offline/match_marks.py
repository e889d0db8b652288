"""Which marks the words of a target match best. Knows marks and words, but no grammar, page or model.

An exact name beats one that differs in case, which beats one that differs in punctuation. Signs are no punctuation:
`Zoom +` is never `Zoom -`. With words beside the name, as in `Delete ‹Ann›`, punctuation counts too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from unicodedata import normalize

from vision_agent.describe.distinctions import (
    distinction_match,
    distinctions,
    is_all_of,
    is_under,
    is_within,
    safe_name,
)
from vision_agent.models.offline.line_targets import NamedTarget
from vision_agent.models.offline.mark_kinds import KIND_WORDS, is_list, is_of_kind
from vision_agent.observation import Mark
from vision_agent.text.fold import folded
from vision_agent.text.signed_words import ASTERISKS, SignedWords, is_sign, signed_words

_PUNCTUATION = re.compile(r"""(?<!\d)[-.,:;!?…'"’“”–—−]+(?!\d)""")
_READ_ALIKE = str.maketrans({"i": "l", "|": "l"})
_SIGNS_READ_AS = {"×": "x", ".": "•·", "-": "−–—", "−": "-–—"}
"""Signs alone, as on the keys of a drawn calculator, and what OCR may read in their place."""
_NEVER_VERBS = {"button", "checkbox"}
"""Words for a kind that hardly begin a name; `Link account` and `Switch user` are names."""
SHAPES = {"circle": "round", "disc": "round", "dot": "round", "ellipse": "round", "rectangle": "box", "square": "box"}
"""Other words for drawn shapes."""
_NO_FIELDS = ("button", "link")
"""Kinds of marks on which an asterisk says nothing about what a form requires."""
_REQUIRED = re.compile(rf"(?<!(?<!\w)\w)[{re.escape(ASTERISKS)}]+(?=\s*:?\s*$)|^\s*[{re.escape(ASTERISKS)}]+(?=\s)")
"""The asterisk of a required field, at the end of its name or before it; `A*` is a name."""


def matching_marks(where: NamedTarget, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that match the words best, all equally well; those with exactly these words as name come first."""
    of_kind = [mark for mark in marks if is_of_kind(mark, where.kind)]
    if where.beside:
        # A page may have a name with ‹ › in it, so both readings are possible.
        literal = marks_called(where.words, marks)
        return literal + [mark for mark in _matching_beside(where, of_kind, marks) if mark not in literal]
    called = marks_called(where.words, marks) or marks_called(where.name, of_kind)
    if called or where.is_exact:
        return called
    looking = _marks_looking(where.words, marks) or _marks_looking(where.name, marks)
    return looking or _marks_nearly_called(where.name, of_kind) or _marks_after_kind(where, marks)


def marks_called(words: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks with this name, or else this placeholder; only if none has it exactly, in another case."""
    for test in (_equal, is_same_name):
        for labels in (names_of, _placeholders):
            found = [mark for mark in marks if any(test(words, label) for label in labels(mark))]
            if found:
                return found
    return []


def _matching_beside(where: NamedTarget, of_kind: Sequence[Mark], marks: Sequence[Mark]) -> list[Mark]:
    """The marks of this name with this distinction; if the listing shows it for some of them, only those."""
    shown = distinctions(marks)
    match = partial(distinction_match, is_exact=where.is_beside_exact, in_row=where.in_row)
    strength = {mark.number: match(mark, where.beside, shown.get(mark.number)) for mark in marks}
    there = [mark for mark in of_kind if strength[mark.number]] or _further_off(where, of_kind)
    found, kind = marks_called(where.name, there), where.name.lower()
    if not found and (not kind or kind in KIND_WORDS):  # `checkbox ‹Ann›` has no name of its own
        found = [mark for mark in there if not labels_of(mark) and is_of_kind(mark, kind)]
    best = max((strength[mark.number] for mark in found), default=0)
    listed = [mark for mark in found if folded_name(where.beside) == folded_name(str(shown.get(mark.number, "")))]

    def may_be_meant(mark: Mark) -> bool:
        """Whether the words are all of another row, or of its heading, and the listing tells it by no other ones."""
        is_told_apart = any(_place_and_kind(mark) == _place_and_kind(each) for each in listed)
        return not is_told_apart and is_all_of(mark, where.beside, in_row=where.in_row)

    beside = [mark for mark in found if strength[mark.number] == best or may_be_meant(mark)]
    return beside + [mark for mark in _within_instead(where, beside, of_kind) if mark not in beside]


def _within_instead(where: NamedTarget, beside: Sequence[Mark], marks: Sequence[Mark]) -> list[Mark]:
    """The marks of a target's name that lie in what its words name, if one that has them beside it does not.

    What lies beside a section called Profile is not the one that `‹Profile›` means for certain.
    """
    if all(is_within(mark, where.beside) for mark in beside):
        return []
    return [mark for mark in marks_called(where.name, marks) if is_within(mark, where.beside)]


def _further_off(where: NamedTarget, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that lie in what has the words of a target for its name, or have these for a heading further off.

    A heading counts only if it tells some of the name from others: one that is over them all says nothing of them.
    """
    if where.in_row or where.is_beside_exact:
        return []
    called = marks_called(where.name, marks)
    if within := [mark for mark in called if is_within(mark, where.beside)]:
        return within
    under = [mark for mark in called if is_under(mark, where.beside)]
    return under if len(under) < len(called) else []


def _place_and_kind(mark: Mark) -> tuple[str, ...]:
    return mark.frame, mark.tag, mark.role, mark.kind


def _marks_looking(words: str, marks: Sequence[Mark]) -> list[Mark]:
    """The drawn marks without a name whose colour and shape or role these words are, in either order: `blue round`."""
    said = sorted(SHAPES.get(word, word) for word in folded_name(words).split())
    return [mark for mark in marks if len(said) > 1 and any(said == sorted(looks) for looks in all_looks(mark))]


def all_looks(mark: Mark) -> list[list[str]]:
    """Its look words, also with its role in place of its shape: `<box red role=tile>` is a red tile too."""
    looks = look_words(mark)
    return [looks, [*looks[:-1], *folded_name(mark.looks_like).split()]] if looks and mark.looks_like else [looks]


def look_words(mark: Mark) -> list[str]:
    """The words of a drawn mark's colour and shape, as the listing has them; none for one that has a name."""
    is_bare = mark.source != "dom" and mark.kind != "surface" and not mark.name
    return [*mark.look.split(), mark.tag] if is_bare and mark.look else []


def _marks_nearly_called(words: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks whose name differs in punctuation only; for words read from pixels, also in spaces and in `i` and `l`.

    A letter or sign more or less is another name: `Ann Lee` is not `Ann Lea`, nor `D+` `D-`.
    """

    def is_nearly(mark: Mark, label: str) -> bool:
        if mark.source != "dom" and (other := _SIGNS_READ_AS.get(words.strip())) and folded_name(label) in list(other):
            return True
        said, its = signed_name(words, mark), signed_name(label, mark)
        if _without_punctuation(words) == _without_punctuation(label):
            return said.words == its.words
        has_its_digits = re.findall(r"\d+", words) == re.findall(r"\d+", label)
        has_its_signs = _signs_of(said) == _signs_of(its)
        is_drawn = mark.source != "dom"
        return is_drawn and has_its_digits and has_its_signs and _as_read(words) == _as_read(label)

    return [mark for mark in marks if any(is_nearly(mark, label) for label in labels_of(mark))]


def _without_punctuation(text: str) -> str:
    """A name without what may be left out when it is said; beside digits, `-` and `.` mean something."""
    return " ".join(_PUNCTUATION.sub(" ", folded_name(text)).split()) or text


def _signs_of(name: SignedWords) -> str:
    return "".join(letter for word in name.words for letter in word if is_sign(letter))


def _as_read(text: str) -> str:
    """A name as OCR may read it: without spaces, and with one letter for those that it confuses."""
    return _without_punctuation(text).replace(" ", "").translate(_READ_ALIKE)


def _marks_after_kind(where: NamedTarget, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that are called as messages show them, what they are before the name: `round A1`, `button 'Cancel'`.

    Nothing may be called so itself, nor have all the words in its name. Without quotes only a drawn thing is called by
    its shape, and a page's by a word that hardly begins a name; both count capitals: `Round 1` is no `round 1`.
    """
    if (
        where.is_quoted
        or where.kind
        or where.nth
        or any(folded_name(where.name) in folded_name(each.name) for each in marks)
    ):
        return []

    def is_so_called(mark: Mark, label: str) -> bool:
        quoted = (repr(label), json.dumps(label, ensure_ascii=False))
        return any(
            where.name.endswith(f" {said}") and _says_kind(where.name.removesuffix(said).split(), mark, said in quoted)
            for said in (*quoted, label)
        )

    return [mark for mark in marks if any(is_so_called(mark, label) for label in names_of(mark))]


def _says_kind(said: Sequence[str], mark: Mark, is_quoted: bool) -> bool:
    """Whether these words say what a mark is: all of the shape of something drawn, and its colour if any is said."""
    if mark.source != "dom" and mark.kind != "surface":
        looks = [shape for shape in ([mark.tag], mark.looks_like.split()) if shape]
        looks += [[*mark.look.split(), *shape] for shape in looks]
        return sorted(SHAPES.get(word, word) for word in said) in map(sorted, looks)
    if len(said) != 1:
        return False
    [word] = said
    is_kind = (word in KIND_WORDS and is_of_kind(mark, word)) or word == mark.role
    return is_kind and (is_quoted or word in _NEVER_VERBS)


def names_of(mark: Mark) -> tuple[str, ...]:
    """What a line may call a mark: what a person sees on it, and only that where its name says something else."""
    name = mark.shows or mark.name
    return (name,) if name else ()


def _placeholders(mark: Mark) -> tuple[str, ...]:
    return (mark.state.placeholder,) if mark.state.placeholder else ()


def labels_of(mark: Mark) -> tuple[str, ...]:
    """What a line may call a mark, its placeholder too."""
    return (*names_of(mark), *_placeholders(mark))


def _equal(words: str, label: str) -> bool:
    return normalize("NFC", " ".join(words.split())) == normalize("NFC", " ".join(label.split()))


def is_same_name(words: str, label: str) -> bool:
    """Whether two names differ in case, spacing or the form of accents at most."""
    return folded_name(words) == folded_name(label)


def folded_name(text: str) -> str:
    """A text in one case and spacing, and with its accents written in one way."""
    return folded(safe_name(text))


def signed_name(name: str, mark: Mark) -> SignedWords:
    """The words of a name for a mark, with their signs, without the asterisk of a field that must be filled in."""
    return signed_words(folded_name(name if mark.kind in _NO_FIELDS and not is_list(mark) else _REQUIRED.sub("", name)))
