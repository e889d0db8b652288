"""The index of a memory folder: an SQLite file with a full-text table, used only as a cache.

It is built from the exemplars' files, updated when they change, and may be deleted at any time. A damaged index, or one
of another version, is rebuilt; where no file can be written, the index is built in memory for that one query.

A query does not check 10,000 files for changes, which takes 35 ms: the folder's own time changes when a file is added,
replaced or removed, and the files are scanned only then and at an object's first query. A file edited in place keeps
its old rank until then; a returned exemplar is always read from its file.
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
from vision_agent.exemplars import Standing
from vision_agent.memory.file import parse_exemplar, read_exemplar
from vision_agent.memory.goal_words import VARYING, Goal, parse
from vision_agent.observation import Kind

FOLDER, NAME = "index", "index.sqlite"
"""The index has a subfolder of its own: written beside the exemplars, it would change their folder's time."""
VERSION = 1
"""The version of the tables below; an index of another version is rebuilt."""
MOST_CANDIDATES = 60
"""The most candidates compared word by word."""
MOST_MATCHED = 4_000
"""The most matches that a query ranks. It uses the goal's rarest words; "click" and "the" are in every goal."""
_SAME_SITE = 1.5
"""The factor on the rank of candidates of this site, so that they are among those chosen."""
_UNSETTLED_NS = 2_000_000_000
"""The coarsest resolution of file times. A file changed this recently may change again without a new time."""
_WAIT_S = 5.0
_ELSEWHERE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
              sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM)  # fmt: skip
"""Errors that do not mean damage: another process is writing, or the file cannot be written here."""

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


class IndexEntry(NamedTuple):
    """The index's data about one exemplar."""

    id: str
    goal: str
    site: str
    kinds: Mapping[Kind, int]
    standing: Standing
    learned_at: datetime
    turns: int


class MemoryIndex:
    """The index of one folder, opened for each query and closed afterwards."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_scanned = False

    def entries(self) -> tuple[IndexEntry, ...]:
        """Every exemplar, latest first."""
        with self._open_current() as index:
            rows = index.execute(f"SELECT {_COLUMNS} FROM exemplars ORDER BY learned_at DESC, id DESC")
            return tuple(map(_entry, rows))

    def candidates(self, goal: Goal, site: str) -> tuple[tuple[IndexEntry, ...], dict[str, float]]:
        """The exemplars whose goals share most with this one, and the rarity of each word in all these goals."""
        with self._open_current() as index:
            # Words are only letters and digits, and quoted, so no goal can contain an operator.
            rarest = _rarest_words(goal, _count_exemplars(index, goal.words))
            # Varying words are searched only among varying ones: a name typed here may be a button there.
            query = " OR ".join(f'{"steady" if word in goal.steady else "varying"} : "{word}"' for word in rarest)
            if not query:
                return (), {}
            rows = index.execute(
                f"SELECT {_COLUMNS} FROM goals JOIN exemplars ON row = goals.rowid WHERE goals MATCH ? "
                f"ORDER BY bm25(goals, 1.0, {VARYING}) * standing * iif(site = ?, {_SAME_SITE}, 1.0), id "
                f"LIMIT {MOST_CANDIDATES}",
                (query, site),
            )
            found = tuple(map(_entry, rows))
            return found, _rarity(index, {word for each in found for word in parse(each.goal).words} | {*goal.words})

    def faults(self) -> tuple[str, ...]:
        """A sentence for each file that is not an exemplar."""
        with self._open_current() as index:
            rows = index.execute("SELECT fault FROM files WHERE fault IS NOT NULL ORDER BY id")
            return tuple(fault for (fault,) in rows)

    def pictures(self) -> frozenset[str]:
        """The hashes named by any file, even one that is not an exemplar."""
        with self._open_current() as index:
            return frozenset(sha256 for (sha256,) in index.execute("SELECT DISTINCT sha256 FROM pictures"))

    def invalidate(self) -> None:
        """Makes the next query check every file for changes."""
        self._is_scanned = False

    @contextmanager
    def _open_current(self) -> Iterator[sqlite3.Connection]:
        """Opens the index, updated to the files."""
        connection = self._open()
        try:
            yield connection
        except sqlite3.DatabaseError as error:  # damage that is noticed only when it is read
            self._drop()
            raise RecordError(
                f"The index of {self._folder} is damaged: {error}", "try again: it will be rebuilt"
            ) from error
        finally:
            connection.close()

    def _drop(self) -> None:
        file = self._folder / FOLDER / NAME
        self._is_scanned = False
        if not _is_plain(file.parent):
            return
        with contextlib.suppress(OSError):
            for each in (file, file.with_name(f"{NAME}-journal")):
                each.unlink(missing_ok=True)

    def _open(self) -> sqlite3.Connection:
        file = self._folder / FOLDER / NAME
        for _ in range(2):
            try:
                return self._open_updated(file)
            except sqlite3.Error as error:
                if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _ELSEWHERE:
                    break
                self._drop()
        return self._open_updated(":memory:")

    def _open_updated(self, path: Path | str) -> sqlite3.Connection:
        if not self._folder.is_dir() or not _is_plain(self._folder / FOLDER):
            path = ":memory:"  # a query must not create the exemplars' folder, nor follow a link
        elif isinstance(path, Path):
            with contextlib.suppress(OSError):  # SQLite reports it too if this fails
                path.parent.mkdir(mode=0o700, exist_ok=True)
                if not path.exists():  # SQLite would let everybody read it
                    path.touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        try:
            if path == ":memory:" or not self._is_fresh(connection):
                connection.execute("BEGIN IMMEDIATE")
                _update(connection, self._folder)
                connection.execute("COMMIT")
                self._is_scanned = path != ":memory:"
        except OSError as error:
            connection.close()
            raise RecordError(f"The memory {self._folder} cannot be read: {error.strerror}") from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_fresh(self, connection: sqlite3.Connection) -> bool:
        if not self._is_scanned or connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
            return False
        stamp = connection.execute("SELECT folder FROM stamp").fetchone()
        return bool(stamp == (self._folder.stat().st_mtime_ns,))


def _is_plain(folder: Path) -> bool:
    """Whether a folder is no link and has only plain files in it; SQLite would follow links and wait for pipes."""
    try:
        with os.scandir(folder) as found:
            return not folder.is_symlink() and all(each.is_file(follow_symlinks=False) for each in found)
    except FileNotFoundError:
        return not folder.is_symlink()
    except OSError:
        return False


# --- updating ---------------------------------------------------------------------------------------------------------


def _update(index: sqlite3.Connection, folder: Path) -> None:
    (version,) = index.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for each in _TABLES.split(";\n"):
            index.execute(each)
        index.execute(f"PRAGMA user_version = {VERSION}")
    elif version != VERSION:
        raise sqlite3.DatabaseError(f"the index has version {version}")
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
    """The folder's time of change, and each file's time of change and size, by name."""
    if not folder.is_dir():
        return -1, {}
    stamp = folder.stat().st_mtime_ns
    with os.scandir(folder) as found:
        files = [each for each in found if each.name.endswith(".json") and not each.name.startswith(".")]
    states = {}
    for each in files:
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            state = each.stat(follow_symlinks=False)
            # A name that is not valid UTF-8 becomes the name of a missing file, which is then reported as skipped.
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
        content = read_exemplar(folder, name)
    except OSError as error:
        fault = f"{folder / name}.json cannot be read and is skipped: {error.strerror}"
        index.execute("INSERT INTO files VALUES (?, ?, ?, ?)", (name, *state, fault))
        return
    found = parse_exemplar(content, folder / f"{name}.json")
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
    """The trust in an exemplar, 0 to 1; after one failure and no success it is 0.5."""
    return (1 + standing.helped) / (1 + standing.helped + standing.failed)


# --- rows -------------------------------------------------------------------------------------------------------------

_COLUMNS = "id, goal, site, kinds, helped, failed, learned_at, turns"


def _entry(row: tuple[str, str, str, str, int, int, str, int]) -> IndexEntry:
    id, goal, site, kinds, helped, failed, learned_at, turns = row
    standing = Standing(helped=helped, failed=failed)
    return IndexEntry(id, goal, site, json.loads(kinds), standing, datetime.fromisoformat(learned_at), turns)


def _rarest_words(goal: Goal, counts: Mapping[str, int]) -> list[str]:
    """The words to search for: the rarest, steady ones first, until they match enough exemplars."""
    chosen: list[str] = []
    found = 0
    for words in (goal.steady, goal.varying):
        for word in sorted((each for each in words if counts.get(each)), key=lambda each: counts[each]):
            if chosen and found + counts[word] > MOST_MATCHED:
                break
            chosen.append(word)
            found += counts[word]
    return chosen


def _rarity(index: sqlite3.Connection, words: Collection[str]) -> dict[str, float]:
    """The weight of each word, smaller the more exemplars have it."""
    (total,) = index.execute("SELECT exemplars FROM stamp").fetchone()
    counts = _count_exemplars(index, words)
    return {word: log(1 + (total + 1) / (counts.get(word, 0) + 1)) for word in words}


def _count_exemplars(index: sqlite3.Connection, words: Collection[str]) -> dict[str, int]:
    """The number of exemplars that have each word; words that none has are missing."""
    # Passed as JSON, because SQLite limits the number of parameters.
    query = "SELECT word, exemplars FROM words WHERE word IN (SELECT value FROM json_each(?))"
    return dict(index.execute(query, (json.dumps([*words]),)))
