"""Computes distinctions: the words that tell marks of the same name apart, such as `‹Ann›` in `Delete ‹Ann›`.

A distinction comes from the row, the heading or the place of a mark, and is shown in the signs ‹ and ›; those signs are
replaced wherever a page itself uses them. Knows marks and words, but no page and no model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from vision_agent.observation import Mark, Wording
from vision_agent.text.negations import denies
from vision_agent.text.signed_words import ASTERISKS, DASHES

LONGEST = 40
"""The most characters shown of a context or a heading."""
_MOST_WORDS = 4
_SHORTEST = 3
"""The preferred least length of a piece in Latin letters: `In` or `to` may be unique to a row but tell a reader
little."""

_SIGNS = str.maketrans(
    dict.fromkeys("‹\u276c\u276e\u27e8\u2329\u3008\u02c2\u1438\u29fc", "<")
    | dict.fromkeys("›\u276d\u276f\u27e9\u232a\u3009\u02c3\u1433\u29fd", ">")
)
"""Maps the two signs, and characters that look like them, to `<` and `>`."""
_OPENING, _CLOSING = ("".join(chr(each) for each, sign in _SIGNS.items() if sign == side) for side in "<>")
_CLAIM = re.compile(f"[{_OPENING}][^{_OPENING}{_CLOSING}]*[{_CLOSING}]")
_EDGES = " ,;:.!?¡¿()[]{}<>\"'“”„‘’«»·•|/\\—*:,。、…"
_LOOSE = frozenset(f"+±{DASHES}")
"""Signs that belong to the word before them also after a space: `Zoom +`."""
_HYPHENS = frozenset(DASHES) - {"−"}
"""Dashes that also part words."""
_COMMA = re.compile(r",\s+")
_RATED = re.compile(rf"[\W\d]*\w?[{re.escape(ASTERISKS)}]+")
"""A grade or a number with an asterisk, which tells it from the one without: `A*`. Other asterisks refer to a note."""
_SAID_BESIDE = re.compile(
    r"‹([^‹›]+)›|<([^<>]+)>|\sin\s+row\s+\"?(.+?)\"?(?:\s+within\s+[\d.]+\s*s(?:econds?)?)?$", re.IGNORECASE
)
"""The words beside a name in a step line."""
_AT_ENDS = " ,;:.·•|\"'“”„‘’«»"
"""Punctuation at the ends of a text that says nothing; brackets, as in `[1]`, do."""
_SAME_MINUS = str.maketrans(dict.fromkeys(DASHES, "-"))

_PAINT = re.compile(
    r"\burl\((?:\"[^\"]*\"?|'[^']*'?|[^)\s]*)\)?"
    r"|\b(?:(?:repeating-)?(?:linear|radial|conic)-gradient|image-set|cross-fade)\("
    r"(?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)?"
    r"|(?<!\S)(?:data|blob):\S+",
    re.IGNORECASE,
)
_PATH_LETTERS = "[MLHVCSQTAZ]"
_PATH_SIGNS = "[MLHVCSQTAZ0-9.,+-]"
_PATH = re.compile(
    rf"(?<!\S)M{_PATH_SIGNS}*+(?!\S)(?:\s+(?={_PATH_LETTERS}?[0-9.+-]|{_PATH_LETTERS}(?!\S)){_PATH_SIGNS}++(?!\S))*+",
    re.IGNORECASE,
)
_PATH_START = re.compile(rf"M[\s,]*-?[\d.]+[\s,-]+[\d.]+.*{_PATH_LETTERS}", re.IGNORECASE | re.DOTALL)

_Words = tuple[str, ...]


class Distinction(NamedTuple):
    """The words or place that distinguish a mark from others of its name; parts that are not needed are empty."""

    context: str = ""
    heading: str = ""
    nth: int = 0
    """The place in reading order, from 1, among marks that the words do not distinguish; 0 if they do."""
    of: int = 0
    """The number of marks that the words do not distinguish."""

    def __str__(self) -> str:
        place = f"{ordinal(self.nth)} of {self.of}" if self.nth else ""
        return ", ".join(filter(None, (self.context, self.heading, place)))


def distinctions(marks: Sequence[Mark], *, by_title: bool = True) -> dict[int, Distinction]:
    """The distinction of each mark that shares its description in the listing with others, by mark number.

    The marks must be in reading order. `by_title`: see `distinguish`.
    """
    found: dict[int, Distinction] = {}
    for kind in _group_marks(marks, _description_key):
        if kind[0].source != "dom" and not any(mark.context for mark in kind):
            continue  # of most drawn things it is not known what is beside them
        # The listing already names each mark's frame; marks that are alone in their frames are distinguished by words.
        frames = _group_marks(kind, lambda mark: mark.frame)
        alone = [group[0] for group in frames if len(group) == 1]
        for group in [*(group for group in frames if len(group) > 1), *([alone] if len(alone) > 1 else [])]:
            found |= zip((mark.number for mark in group), distinguish(group, by_title=by_title), strict=True)
    return found


def _group_marks(marks: Iterable[Mark], key: Callable[[Mark], Hashable]) -> list[list[Mark]]:
    groups: defaultdict[Hashable, list[Mark]] = defaultdict(list)
    for mark in marks:
        groups[key(mark)].append(mark)
    return [*groups.values()]


def distinguish(group: Sequence[Mark], *, by_title: bool = True) -> Sequence[Distinction]:
    """The distinction of each mark from the others in the group, which is in reading order.

    `by_title`: what their cards or rows are called is enough, if that differs. It is not on another page, where it may
    be a part of another title.
    """
    return _distinguish(tuple(_texts_of(mark, by_title=by_title) for mark in group))


class _Texts(NamedTuple):
    """The words by which a mark may be told from others."""

    context: _Words
    heading: _Words
    title: _Words
    row: tuple[_Words, ...]
    """What may be all of its row: up to the rows that lie in it, what it is called, and what it says after that."""
    outer: _Words
    """The same of the row that its row lies in."""
    within: tuple[_Words, ...]
    """The names of what it lies in."""
    further: tuple[_Words, ...]
    """What it lies in, and what is over it from further off."""


def _texts_of(mark: Mark, *, by_title: bool) -> _Texts:
    wording, context, title = mark.wording or Wording(), _context_words(mark), _words(mark.title)
    row = [_words(each) for each in wording.own]
    if title and _fold(context[: len(title)]) == _fold(title):
        row.append(context[len(title) :])  # the only row under a heading looks like a card that is called by it
    within = tuple(map(_words, wording.within))
    further = (*within, *map(_words, wording.over))
    shown_title = title if by_title else ()
    return _Texts(context, _words(mark.heading), shown_title, tuple(row), _words(wording.outer), within, further)


def _is_over(words: _Words, mark: _Texts) -> bool:
    """Whether the words are in the heading over a mark, and that is not what the row is called that its row lies in."""
    heading = _fold(mark.heading)
    return _is_part(words, heading) and heading != _fold(mark.outer)


def _is_around(words: _Words, mark: _Texts) -> bool:
    """Whether the words are the name of something that a mark lies in."""
    return any(words == _fold(name) for name in mark.within)


@lru_cache(maxsize=1024)
def _distinguish(group: tuple[_Texts, ...]) -> tuple[Distinction, ...]:
    """What tells each mark from the others.

    Cached, because most rows of a page are the same in the next observation.
    """
    headings, titles = [each.heading for each in group], [each.title for each in group]
    if _are_all_different(headings):
        by_heading = _unique_pieces(tuple(headings))  # each mark has a heading of its own, which is enough
        found = [Distinction(heading=by_heading[_fold(heading)]) for heading in headings]
        if not any(_is_beside_others(each.heading, index, group) for index, each in enumerate(found)):
            return _with_places(_with_further(found, group), len(group))
    if _are_all_different(titles) and all(len(" ".join(title)) <= LONGEST for title in titles):
        found = [Distinction(" ".join(title)) for title in titles]
    else:
        found = _by_context(group)
    return _with_places(_with_further(_told_from_other_words(found, group), group), len(group))


def _is_beside_others(piece: str, index: int, group: Sequence[_Texts]) -> bool:
    """Whether a piece of a heading is also beside another mark, where it means that one's row."""
    words = _fold(_words(piece))
    return any(
        _is_part(words, _fold(each.context)) for at, each in enumerate(group) if at != index and each.context and words
    )


def _told_from_other_words(found: Sequence[Distinction], group: Sequence[_Texts]) -> list[Distinction]:
    """The distinctions, with more where the words are also over another mark, or all that another row says itself."""
    told = list(found)
    for index, each in enumerate(found):
        words = _fold(_words(each.context))
        if not words or each.heading:
            continue
        others = [other for at, other in enumerate(group) if at != index]
        is_heading = any(_is_over(words, other) or _is_around(words, other) for other in others)
        is_row = any(words == _fold(row) for other in others for row in other.row)
        own = group[index]
        more = " ".join((is_row and own.outer) or own.heading)
        if (is_heading or is_row) and more and len(more) <= LONGEST:
            told[index] = each._replace(heading=more)
        elif (is_heading or is_row) and len(words) < len(own.context) and len(" ".join(own.context)) <= LONGEST:
            told[index] = each._replace(context=" ".join(own.context))
        elif is_heading or is_row:
            alike = [at for at, other in enumerate(group) if at == index or _may_be_called(words, other)]
            told[index] = each._replace(nth=alike.index(index) + 1, of=len(alike))
    return [_without_comma_alone(index, told, group) for index in range(len(told))]


def _without_comma_alone(index: int, told: Sequence[Distinction], group: Sequence[_Texts]) -> Distinction:
    """The distinction; for a row with others in it, its place if only a comma told it: `Bob Ann` from `Bob, Ann`."""
    each, words, [row, *_] = told[index], _fold(_words(str(told[index]))), [*group[index].row, ()]
    same = any(words == _fold(_words(str(other))) for at, other in enumerate(told) if at != index and other.heading)
    if each.heading or each.nth or not same or not row:
        return each
    alike = [
        at for at, other in enumerate(group) if at == index or _fold(row) in map(_fold, (other.context, *other.row))
    ]
    return Distinction(" ".join(row), nth=alike.index(index) + 1, of=len(alike))


def _may_be_called(words: _Words, mark: _Texts) -> bool:
    return _is_over(words, mark) or _is_around(words, mark) or any(words == _fold(row) for row in mark.row)


def _by_context(group: Sequence[_Texts]) -> list[Distinction]:
    contexts, headings = [each.context for each in group], [each.heading for each in group]
    by_context: defaultdict[_Words, list[_Words]] = defaultdict(list)
    for context, heading in zip(contexts, headings, strict=True):
        by_context[_fold(context)].append(heading)
    of_context = _unique_pieces(tuple(contexts))
    of_heading = {context: _unique_pieces(tuple(under)) for context, under in by_context.items()}
    found = [
        Distinction(of_context[_fold(context)], of_heading[_fold(context)][_fold(heading)])
        for context, heading in zip(contexts, headings, strict=True)
    ]
    elsewhere = _headings_of_longer(tuple(contexts), tuple(headings))
    for index, (each, heading) in enumerate(zip(found, headings, strict=True)):
        others = elsewhere.get(_fold(contexts[index]), frozenset()) - {_fold(heading)}
        if each.context and not each.heading and others and len(" ".join(heading)) <= LONGEST:
            found[index] = each._replace(heading=" ".join(heading))  # `Ann` alone would be beside `South Ann` too
    return found


def _with_further(given: Sequence[Distinction], group: Sequence[_Texts]) -> list[Distinction]:
    """The distinctions, with what a mark lies in or what is over it from further off where several are the same."""
    found = list(given)
    for index, each in enumerate(given):
        alike = [at for at, other in enumerate(given) if other == each and at != index]
        if not alike or each.nth:
            continue
        others = {_fold(name) for at in alike for name in group[at].further}
        names = (name for name in group[index].further if name and _fold(name) not in others)
        name = next((name for name in names if _tells_alone(name, index, group)), ())
        found[index] = each._replace(heading=", ".join(filter(None, (each.heading, " ".join(name)))))
    return found


def _tells_alone(name: _Words, index: int, group: Sequence[_Texts]) -> bool:
    """Whether a name is short, and not among the words beside or over another mark."""
    words, others = _fold(name), [other for at, other in enumerate(group) if at != index]
    is_beside = any(_is_part(words, _fold(text)) for each in others for text in (each.context, each.heading))
    return len(" ".join(name)) <= LONGEST and not is_beside


def _with_places(given: Sequence[Distinction], of: int) -> tuple[Distinction, ...]:
    """The distinctions, with the place in reading order where several are the same or say nothing."""
    found = list(given)
    counts = Counter(found)
    seen: Counter[Distinction] = Counter()
    for index, each in enumerate(found):
        seen[each] += 1
        if not str(each):
            found[index] = Distinction(nth=index + 1, of=of)
        elif counts[each] > 1:
            found[index] = each._replace(nth=seen[each], of=counts[each])
    return tuple(found)


def find_distinction(mark: Mark, marks: Iterable[Mark]) -> Distinction:
    """The distinction of one mark; empty if its name is unique."""
    alike = [each for each in marks if _description_key(each) == _description_key(mark)]
    return distinctions(alike).get(mark.number, Distinction())


def spelled_out(apart: Distinction, mark: Mark) -> Distinction:
    """The distinction of this mark with the words around it, for use on another page: `Ann Smith` where `Smith` does.

    There a shorter one may fit somebody else, such as Bob Smith, where the one that was meant is gone.
    """
    return apart._replace(
        context=_with_words_around(apart.context, _context_words(mark)),
        heading=_with_words_around(apart.heading, _words(mark.heading)),
    )


def distinction_suffix(mark: Mark, marks: Iterable[Mark]) -> str:
    """The distinction of a mark as a suffix for its name, ` ‹Ann›`, or an empty string."""
    return bracketed(str(find_distinction(mark, marks)))


def bracketed(words: str) -> str:
    """The words of a distinction in its signs, ` ‹Ann›`, or an empty string."""
    return f" ‹{words}›" if words else ""


def safe_name(name: str) -> str:
    """The name with anything that looks like `‹Ann›` replaced by `<Ann>`."""
    return _CLAIM.sub(lambda found: found.group().translate(_SIGNS), name)


def distinction_match(
    mark: Mark, text: str, shown: Distinction | None, *, is_exact: bool = False, in_row: bool = False
) -> int:
    """How well words match a mark: 2 for its shown distinction or title, 1 if they are beside or over it, else 0.

    The time that its row begins with counts as beside it, with `am` or `pm` or without. So does what something in it
    says sign for sign, such as `=1+1`. `is_exact`: the words are no place among others, and not only a part of what the
    row or card, or something in it, is itself called. `in_row`: they begin with words of the row or card, if any.
    """
    if in_row and mark.context and not _is_called_by_heading(mark):
        mark, shown = _without_heading(mark), shown if shown is not None and shown.context else None
    if mark.wording is None:
        return _match_of_words(mark, text, shown, is_exact=is_exact)
    as_it_is = _exact_match(mark, mark.wording, text, shown)
    return as_it_is if is_exact else _match_of_words(mark, text, shown, is_exact=False) or as_it_is


def _is_called_by_heading(mark: Mark) -> bool:
    """Whether the heading over a mark is what its row is called, as a term is over what it is defined as."""
    return mark.title != "" and mark.title == mark.heading


def _without_heading(mark: Mark) -> Mark:
    wording = mark.wording and mark.wording.model_copy(update={"heading": ""})
    return mark.model_copy(update={"heading": "", "wording": wording})


def is_within(mark: Mark, text: str) -> bool:
    """Whether the words are the name of a section, panel or group that a mark lies in."""
    return _is_name(text, mark.wording.within if mark.wording else ())


def is_under(mark: Mark, text: str) -> bool:
    """Whether the words are a heading over a mark from further off, the month over a day, or a chosen tab."""
    return _is_name(text, mark.wording.over if mark.wording else ())


def _is_name(text: str, names: Iterable[str]) -> bool:
    words = _fold(_said_words(text))
    return words != () and any(words == _fold(_words(name)) for name in names)


def is_all_of(mark: Mark, text: str, *, in_row: bool = False) -> bool:
    """Whether words are all that a mark's row says, what it is called, or the heading over it if not `in_row`."""
    words, texts = _fold(_said_words(text)), _texts_of(mark, by_title=True)
    headings = [_words(each) for each in (mark.heading, *mark.heading.split(" › "))]
    over = headings if not (in_row and mark.context) and _is_over(words, texts) else []
    return words != () and any(words == _fold(each) for each in (texts.context, texts.title, *texts.row, *over))


def _match_of_words(mark: Mark, text: str, shown: Distinction | None, *, is_exact: bool) -> int:
    """The same, whatever punctuation is between the words."""
    words = _fold(_said_words(text))
    if not words or (is_exact and longer_wording(mark, text)):
        return 0
    if is_exact and shown is not None:
        shown = shown._replace(nth=0, of=0)
    wording = mark.wording or Wording()
    names = [mark.title, *wording.own, *([str(shown)] if shown is not None else [])]
    if any(words == _fold(_words(name)) for name in names):
        return 2
    context, heading = _fold(_context_words(mark)), _fold(_words(mark.heading))
    # `11:00` may be meant where the row says `11:00 am` or `11:00am`.
    times = (_fold(_words(mark.time)), () if is_exact else (mark.time.rstrip("apmAPM. \u00a0\u202f"),))
    if mark.time and words in times:
        return 1
    if (_is_part(words, context) and not _is_denied(words, wording.parts)) or _is_part(words, heading):
        return 1
    halves = ((words[:at], words[at:]) for at in range(1, len(words)))
    return int(any(_is_part(first, context) and _is_part(then, heading) for first, then in halves))


def _is_denied(words: _Words, parts: Sequence[str]) -> bool:
    """Whether the words are only in what says the opposite, as `paid` in `not paid`."""
    having = [_fold(_words(part)) for part in parts if _is_part(words, _fold(_words(part)))]
    before = [part[at - 1] for part in having for at in range(1, len(part)) if part[at : at + len(words)] == words]
    starts = any(part[: len(words)] == words for part in having)
    return bool(before) and not starts and all(denies(each) for each in before)


def longer_words_beside(mark: Mark, line: str) -> str:
    """The longer words that a step line means by those beside a name, such as `Mug Blue` by `‹Mug›`; empty if none."""
    found = _SAID_BESIDE.search(line)
    said = next(filter(None, found.groups()), "") if found else ""
    is_exact = mark.wording is None or _exact_match(mark, mark.wording, said, None) > 0
    return "" if is_exact else longer_wording(mark, said)


def longer_wording(mark: Mark, text: str) -> str:
    """What the row or card of a mark, or something in it, is called that has these words and more; or nothing."""
    words = _fold(_said_words(text))
    wording = mark.wording or Wording(title=mark.title)
    called = (wording.title, *wording.parts, wording.heading)
    return next((each for each in called if words and _is_longer(_fold(_words(each)), words)), "")


def _is_longer(text: _Words, words: _Words) -> bool:
    return len(words) < len(text) and _is_part(words, text)


def _exact_match(mark: Mark, wording: Wording, text: str, shown: Distinction | None) -> int:
    """The same for words that are all of the title, the heading, or what stands by itself beside a mark.

    Several parts may be said together where one follows the other, and the heading after them.
    """
    said, title, heading = _exactly(text), _exactly(wording.title), _exactly(wording.heading)
    if said and said == title:
        return 2
    words = _fold(_said_words(text))
    if not said or (words and _is_part(words, _fold(_words(wording.title)))):
        return 0  # what is called so in it is not what the row or card is
    parts = [_exactly(each) for each in wording.parts]
    headings = {heading, *map(_exactly, wording.heading.split(" › "))} - {""}
    halves = [said.removesuffix(each).rstrip(" ,") for each in headings if said.endswith(each)]
    if said in headings or any(_is_run(each, parts) for each in (said, *halves) if each):
        return 2 if shown is not None and said == _exactly(str(shown)) else 1
    return int(said == _exactly(mark.time))


def _is_run(text: str, parts: Sequence[str]) -> bool:
    """Whether a text is one of the parts, or several that follow each other."""
    for first in range(len(parts)):
        left = f"{text} "
        for part in filter(None, parts[first:]):
            if not left.startswith((f"{part} ", f"{part},")):
                break
            left = left[len(part) + 1 :].lstrip()
            if not left:
                return True
    return False


def _exactly(text: str) -> str:
    """A text as it is compared word for word: in one case, with one minus, without the punctuation at its ends."""
    same = normalize("NFC", text.translate(_SIGNS)).translate(_SAME_MINUS)
    return " ".join(same.casefold().split()).strip(_AT_ENDS)


def _are_all_different(texts: Sequence[_Words]) -> bool:
    return len({_fold(text) for text in texts if text}) == len(texts)


# --- one group --------------------------------------------------------------------------------------------------------


def _description_key(mark: Mark) -> Hashable:
    return mark.source, mark.tag, mark.role, mark.kind, mark.name


@lru_cache(maxsize=64)
def _unique_pieces(texts: tuple[_Words, ...]) -> dict[_Words, str]:
    """For each text, its shortest run of words that no other text has; empty if all texts are the same.

    Cached, because the columns of a table share their rows.
    """
    written: dict[_Words, _Words] = {}
    for text in texts:
        written.setdefault(_fold(text), text)
    if len(written) < 2:
        return dict.fromkeys(written, "")
    found: dict[_Words, str] = {}
    for is_good in (_is_meaningful, bool):
        for length in range(1, _MOST_WORDS + 1):
            left = [text for text in written if text not in found]
            if not left:
                return found
            counts = Counter(run for text in written for run in _runs(text, length))
            for text in left:
                own = (at for at in range(len(text) - length + 1) if counts[text[at : at + length]] == 1)
                pieces = (" ".join(written[text][at : at + length]) for at in own)
                piece = next((each for each in pieces if len(each) <= LONGEST and is_good(each)), None)
                if piece:
                    found[text] = piece
    # Each remaining text is part of another, or differs only in words too long to show.
    wholes = {text: " ".join(words) for text, words in written.items()}
    return {text: found.get(text, whole if len(whole) <= LONGEST else "") for text, whole in wholes.items()}


def _headings_of_longer(texts: tuple[_Words, ...], headings: tuple[_Words, ...]) -> dict[_Words, frozenset[_Words]]:
    """For each text that is a part of others, the headings over those."""
    by_length: defaultdict[int, set[_Words]] = defaultdict(set)
    for text in {_fold(text) for text in texts if text}:
        by_length[len(text)].add(text)
    found: defaultdict[_Words, set[_Words]] = defaultdict(set)
    for text, heading in {(_fold(text), _fold(heading)) for text, heading in zip(texts, headings, strict=True)}:
        for length, shorter in by_length.items():
            if length < len(text):
                for part in _runs(text, length) & shorter:
                    found[part].add(heading)
    return {part: frozenset(over) for part, over in found.items()}


def _with_words_around(piece: str, words: _Words) -> str:
    """The piece of a text with the words around it, up to a number, as many as are shown."""
    own = _fold(_words(piece))
    start = next((at for at in range(len(words)) if own and _fold(words[at : at + len(own)]) == own), None)
    if start is None:
        return piece
    end = start + len(own)

    def may_have(at: int, start: int, end: int) -> bool:
        is_word = words[at].replace("-", "").replace("'", "").isalpha()
        return is_word and end - start <= _MOST_WORDS and len(" ".join(words[start:end])) <= LONGEST

    while start and may_have(start - 1, start - 1, end):
        start -= 1
    while end < len(words) and may_have(end, start, end + 1):
        end += 1
    return " ".join(words[start:end])


def _is_meaningful(piece: str) -> bool:
    return any(letter.isalpha() for letter in piece) and (len(piece) >= _SHORTEST or not piece.isascii())


def _runs(text: _Words, length: int) -> set[_Words]:
    return {text[at : at + length] for at in range(len(text) - length + 1)}


# --- words ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _words(text: str) -> _Words:
    """The words of a text, without drawings and punctuation around them; long ones are cut.

    A sign at the end or before a comma belongs to the word before it: `Zoom -`. Other dashes alone say nothing.
    """
    pieces = _COMMA.split(_without_drawings(text))
    return _cut([word for each in pieces for word in _joined(_bare_words(each), ())])


@lru_cache(maxsize=4096)
def _said_words(text: str) -> _Words:
    """The words of a text that a line has, with a dash before them if there is one."""
    words = _bare_words(text)
    return (*words[: len(words) > 1 and words[0] in DASHES], *_words(text))


def _context_words(mark: Mark) -> _Words:
    """The words beside a mark. A sign belongs to the word before it where a cell or block ends with both."""
    if mark.wording is None:
        return _words(mark.context)
    return _words_of_parts(mark.context, tuple(part for part in mark.wording.parts if part[-1:] in _LOOSE))


@lru_cache(maxsize=4096)
def _words_of_parts(context: str, parts: tuple[str, ...]) -> _Words:
    ends = tuple(_bare_words(part)[-2:] for part in parts)
    return _cut(_joined(_bare_words(context), ends, is_whole=False))


def _joined(words: _Words, ends: Sequence[_Words], *, is_whole: bool = True) -> list[str]:
    """The words, with each sign at the one before it if both are one of these ends, or the end of the whole."""
    joined: list[str] = []
    for at, word in enumerate(words):
        if word not in _LOOSE:
            joined.append(word)
        elif at and (words[at - 1 : at + 1] in ends or (is_whole and at == len(words) - 1)):
            joined[-1:] = [" ".join((*joined[-1:], word))]
        elif word not in _HYPHENS:
            joined.append(word)
    return joined


def _bare_words(text: str) -> _Words:
    shown = _without_drawings(text).translate(_SIGNS)
    if not shown.isprintable():
        shown = "".join(letter if letter.isprintable() else " " * letter.isspace() for letter in shown)
    return tuple(filter(None, map(_strip_edges, shown.split())))


def _cut(words: Sequence[str]) -> _Words:
    return tuple(word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in words)


def _without_drawings(text: str) -> str:
    """The text without backgrounds, addresses that hold a picture, and data of drawn paths.

    A page compares what stands beside a mark by them, but they tell a reader nothing.
    """
    return _PATH.sub(lambda found: " " if _PATH_START.match(found[0]) else found[0], _PAINT.sub(" ", text))


def _strip_edges(word: str) -> str:
    """The word without punctuation around it, but with its signs: those of `C+`, `C-`, `-1` and `A*`."""
    bare = word.strip(_EDGES)
    rated = word.rstrip(_EDGES.replace("*", "")).lstrip(_EDGES)
    if bare and set(bare) <= set(DASHES) and (len(bare) > 1 or "<" in word or ">" in word):
        return ""  # an arrow or a line
    return rated if _RATED.fullmatch(rated) and bare else bare


@lru_cache(maxsize=4096)
def _fold(words: _Words) -> _Words:
    return tuple(normalize("NFC", word.rstrip("…")).translate(_SAME_MINUS).casefold() for word in words)


def _is_part(words: _Words, text: _Words) -> bool:
    return any(text[at : at + len(words)] == words for at in range(len(text) - len(words) + 1))


def ordinal(number: int) -> str:
    """A place as it is written: `1st`, `22nd`."""
    last = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"
