"""The index of a memory folder: an SQLite file with a full-text table, which is only a cache.

It is made of the exemplars' files, catches up with them when they change, and may be deleted at any time. One that is
damaged, or of another version, is made again; where none can be written it is made in memory, for that one look.

A look does not ask 10,000 files whether they changed, which takes 35 ms: a folder's own time changes when a file in it
is added, replaced or taken away, and all files are walked only then, and on an object's first look. What is edited in
place in between keeps its old rank until then; what is handed out is always read from its file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from math import log
from pathlib import Path
from typing import NamedTuple

from vision_agent.errors import RecordError
from vision_agent.memory.file import exemplar_in
from vision_agent.memory.goal import VARYING, Goal, parse
from vision_agent.types import Kind, Standing

FOLDER, NAME = "index", "index.sqlite"
"""In a folder of its own: what is written beside it would change the time of the memory's folder."""
VERSION = 1
"""Of the tables below; one of another version is made again."""
MOST_CANDIDATES = 60
"""That are weighed closely, word by word."""
MOST_MATCHED = 4_000
"""Of words in exemplars that are ranked by their text. The rarest of a goal tell; "click" and "the" are everywhere."""
_SAME_SITE = 1.5
"""What a candidate's rank is multiplied by, so that those of this site are among them."""
_UNSETTLED_NS = 2_000_000_000
"""The coarsest clock of a file system. What changed so recently may change again without its time telling."""
_WAIT_S = 5.0
_ELSEWHERE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
              sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM)  # fmt: skip
"""Not the index's fault: somebody else writes it, or it cannot be written here."""

_TABLES = """
CREATE TABLE stamp (folder INTEGER, exemplars INTEGER);
CREATE TABLE files (id TEXT PRIMARY KEY, changed INTEGER, size INTEGER, fault TEXT);
CREATE INDEX faults ON files (id) WHERE fault IS NOT NULL;
CREATE TABLE pictures (id TEXT, sha256 TEXT);
CREATE INDEX pictures_by_id ON pictures (id);
CREATE TABLE exemplars (row INTEGER PRIMARY KEY, id TEXT UNIQUE, goal TEXT, site TEXT, kinds TEXT,
    helped INTEGER, failed INTEGER, standing REAL, learned_at TEXT, turns INTEGER);
CREATE VIRTUAL TABLE goals USING fts5(steady, varying, tokenize = 'unicode61 remove_diacritics 0');
CREATE TABLE words (word TEXT PRIMARY KEY, exemplars INTEGER) WITHOUT ROWID;
"""


class Entry(NamedTuple):
    """What the index knows of one exemplar."""

    id: str
    goal: str
    site: str
    kinds: Mapping[Kind, int]
    standing: Standing
    learned_at: datetime
    turns: int


class Index:
    """The index of one folder. Nothing is opened before it is asked, or stays open afterwards."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_walked = False

    def entries(self) -> tuple[Entry, ...]:
        """Every exemplar, the latest first."""
        with self._caught_up() as index:
            rows = index.execute(f"SELECT {_COLUMNS} FROM exemplars ORDER BY learned_at DESC, id DESC")
            return tuple(map(_entry, rows))

    def candidates(self, goal: Goal, site: str) -> tuple[tuple[Entry, ...], dict[str, float]]:
        """The exemplars whose goals share most with this one, and how rare each word of all of them is."""
        with self._caught_up() as index:
            # Words are letters and digits only, and stand in quotes: no goal can be an operator.
            telling = _telling(goal, _having(index, goal.words))
            # What varies is sought among what varied: a name that is typed here may be what is clicked there.
            asked = " OR ".join(f'{"steady" if word in goal.steady else "varying"} : "{word}"' for word in telling)
            if not asked:
                return (), {}
            rows = index.execute(
                f"SELECT {_COLUMNS} FROM goals JOIN exemplars ON row = goals.rowid WHERE goals MATCH ? "
                f"ORDER BY bm25(goals, 1.0, {VARYING}) * standing * iif(site = ?, {_SAME_SITE}, 1.0), id "
                f"LIMIT {MOST_CANDIDATES}",
                (asked, site),
            )
            found = tuple(map(_entry, rows))
            return found, _rarity(index, {word for each in found for word in parse(each.goal).words} | {*goal.words})

    def faults(self) -> tuple[str, ...]:
        """A sentence for each file that is no exemplar."""
        with self._caught_up() as index:
            rows = index.execute("SELECT fault FROM files WHERE fault IS NOT NULL ORDER BY id")
            return tuple(fault for (fault,) in rows)

    def pictures(self) -> frozenset[str]:
        """The hashes that any file names, one that is no exemplar too."""
        with self._caught_up() as index:
            return frozenset(sha256 for (sha256,) in index.execute("SELECT DISTINCT sha256 FROM pictures"))

    def walk_again(self) -> None:
        """At the next look ask every file whether it changed."""
        self._is_walked = False

    @contextmanager
    def _caught_up(self) -> Iterator[sqlite3.Connection]:
        """The open index, as new as the files."""
        connection = self._opened()
        try:
            yield connection
        except sqlite3.DatabaseError as error:  # damage that shows only where it is read
            self._drop()
            raise RecordError(
                f"The index of {self._folder} is damaged: {error}", "try again: it is made anew"
            ) from error
        finally:
            connection.close()

    def _drop(self) -> None:
        file = self._folder / FOLDER / NAME
        self._is_walked = False
        with contextlib.suppress(OSError):
            for each in (file, file.with_name(f"{NAME}-journal")):
                each.unlink(missing_ok=True)

    def _opened(self) -> sqlite3.Connection:
        file = self._folder / FOLDER / NAME
        for _ in range(2):
            try:
                return self._catch_up(file)
            except sqlite3.Error as error:
                if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _ELSEWHERE:
                    break
                self._drop()
        return self._catch_up(":memory:")

    def _catch_up(self, path: Path | str) -> sqlite3.Connection:
        if not self._folder.is_dir():
            path = ":memory:"  # a look makes no folder for exemplars
        elif isinstance(path, Path):
            with contextlib.suppress(OSError):  # where it cannot be made, SQLite says so too
                path.parent.mkdir(exist_ok=True)
        connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        try:
            if path == ":memory:" or not self._is_fresh(connection):
                connection.execute("BEGIN IMMEDIATE")
                _catch_up(connection, self._folder)
                connection.execute("COMMIT")
                self._is_walked = path != ":memory:"
        except OSError as error:
            connection.close()
            raise RecordError(f"The memory {self._folder} cannot be read: {error.strerror}") from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_fresh(self, connection: sqlite3.Connection) -> bool:
        if not self._is_walked or connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
            return False
        stamp = connection.execute("SELECT folder FROM stamp").fetchone()
        return bool(stamp == (self._folder.stat().st_mtime_ns,))


# --- catching up ------------------------------------------------------------------------------------------------------


def _catch_up(index: sqlite3.Connection, folder: Path) -> None:
    (version,) = index.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for each in _TABLES.split(";\n"):
            index.execute(each)
        index.execute(f"PRAGMA user_version = {VERSION}")
    elif version != VERSION:
        raise sqlite3.DatabaseError(f"the index is of version {version}")
    begun = time.time_ns()
    stamp, there = _files(folder)
    known = {name: (changed, size) for name, changed, size in index.execute("SELECT id, changed, size FROM files")}
    for name in known.keys() - there.keys():
        _forget(index, name)
    for name in sorted(name for name, state in there.items() if known.get(name) != state):
        changed, size = there[name]
        _forget(index, name)
        _learn(index, folder, name, (changed if changed < begun - _UNSETTLED_NS else -1, size))
    (count,) = index.execute("SELECT count(*) FROM exemplars").fetchone()
    now = (stamp if stamp < begun - _UNSETTLED_NS else -1, count)
    if index.execute("SELECT * FROM stamp").fetchall() != [now]:
        index.execute("DELETE FROM stamp")
        index.execute("INSERT INTO stamp VALUES (?, ?)", now)


def _files(folder: Path) -> tuple[int, dict[str, tuple[int, int]]]:
    """When the folder changed, and when each file in it did and how large it is."""
    if not folder.is_dir():
        return -1, {}
    stamp = folder.stat().st_mtime_ns
    with os.scandir(folder) as found:
        files = [each for each in found if each.name.endswith(".json") and not each.name.startswith(".")]
    states = {}
    for each in files:
        with contextlib.suppress(FileNotFoundError):  # taken away meanwhile
            state = each.stat()
            # A name that is no text is read as a file that is not there, and so is said to be left out.
            name = os.fsencode(each.name).decode("utf-8", "replace").removesuffix(".json")
            states[name] = (state.st_mtime_ns, state.st_size)
    return stamp, states


def _forget(index: sqlite3.Connection, name: str) -> None:
    found = index.execute("SELECT row, goal FROM exemplars WHERE id = ?", (name,)).fetchone()
    if found:
        row, goal = found
        index.execute("DELETE FROM goals WHERE rowid = ?", (row,))
        index.execute("DELETE FROM exemplars WHERE row = ?", (row,))
        words = [(word,) for word in parse(goal).words]
        index.executemany("UPDATE words SET exemplars = exemplars - 1 WHERE word = ?", words)
    index.execute("DELETE FROM files WHERE id = ?", (name,))
    index.execute("DELETE FROM pictures WHERE id = ?", (name,))


def _learn(index: sqlite3.Connection, folder: Path, name: str, state: tuple[int, int]) -> None:
    try:
        content = (folder / f"{name}.json").read_bytes()
    except OSError as error:
        fault = f"{folder / name}.json cannot be read and is left out: {error.strerror}"
        index.execute("INSERT INTO files VALUES (?, ?, ?, ?)", (name, *state, fault))
        return
    found = exemplar_in(content, folder / f"{name}.json")
    fault_or_none = found if isinstance(found, str) else None
    index.execute("INSERT INTO files VALUES (?, ?, ?, ?)", (name, *state, fault_or_none))
    named = {each.decode() for each in re.findall(rb"\b[0-9a-f]{64}\b", content)}
    index.executemany("INSERT INTO pictures VALUES (?, ?)", [(name, sha256) for sha256 in named])
    if isinstance(found, str):
        return
    goal = parse(found.goal)
    row = index.execute(
        f"INSERT INTO exemplars ({_COLUMNS}, standing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            found.id,
            found.goal,
            found.site,
            json.dumps(found.turns[0].kinds),
            found.standing.helped,
            found.standing.failed,
            found.learned_at.isoformat(),
            len(found.turns),
            trust(found.standing),
        ),
    ).lastrowid
    index.execute(
        "INSERT INTO goals (rowid, steady, varying) VALUES (?, ?, ?)",
        (row, " ".join(goal.steady), " ".join(goal.varying)),
    )
    index.executemany(
        "INSERT INTO words VALUES (?, 1) ON CONFLICT (word) DO UPDATE SET exemplars = exemplars + 1",
        [(word,) for word in goal.words],
    )


def trust(standing: Standing) -> float:
    """How far an exemplar is trusted, 0 to 1: one that failed once and never helped is trusted half."""
    return (1 + standing.helped) / (1 + standing.helped + standing.failed)


# --- rows -------------------------------------------------------------------------------------------------------------

_COLUMNS = "id, goal, site, kinds, helped, failed, learned_at, turns"


def _entry(row: tuple[str, str, str, str, int, int, str, int]) -> Entry:
    id, goal, site, kinds, helped, failed, learned_at, turns = row
    standing = Standing(helped=helped, failed=failed)
    return Entry(id, goal, site, json.loads(kinds), standing, datetime.fromisoformat(learned_at), turns)


def _telling(goal: Goal, having: Mapping[str, int]) -> list[str]:
    """The words that find exemplars: the rarest, steady ones first, until there are enough of those."""
    chosen: list[str] = []
    found = 0
    for words in (goal.steady, goal.varying):
        for word in sorted((each for each in words if having.get(each)), key=lambda each: having[each]):
            if chosen and found + having[word] > MOST_MATCHED:
                break
            chosen.append(word)
            found += having[word]
    return chosen


def _rarity(index: sqlite3.Connection, words: Collection[str]) -> dict[str, float]:
    """How much each word says: less the more exemplars have it."""
    (count,) = index.execute("SELECT exemplars FROM stamp").fetchone()
    having = _having(index, words)
    return {word: log(1 + (count + 1) / (having.get(word, 0) + 1)) for word in words}


def _having(index: sqlite3.Connection, words: Collection[str]) -> dict[str, int]:
    """How many exemplars have each word; those that none has are missing."""
    # As JSON, because the number of question marks is limited.
    asked = "SELECT word, exemplars FROM words WHERE word IN (SELECT value FROM json_each(?))"
    return dict(index.execute(asked, (json.dumps([*words]),)))
