"""Reads and writes one exemplar as a file that a person may edit; its name is its id, and defaults are left out."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from vision_agent.base_model import words_of
from vision_agent.exemplars import Exemplar
from vision_agent.record.run_files import read_file

MOST_OF_EXEMPLAR = 16 << 20
"""The largest file of an exemplar that is read, in bytes; a long one has 0.1 MB."""


def read_exemplar(folder: Path, id: str) -> bytes:
    """The content of an exemplar's file.

    Raises:
        OSError: it is missing, is not a plain file, or is too large.
    """
    return read_file(folder, f"{id}.json", MOST_OF_EXEMPLAR)


def serialize_exemplar(exemplar: Exemplar) -> bytes:
    """The content of the exemplar's file."""
    return exemplar.model_dump_json(indent=2, exclude={"id"}, exclude_defaults=True).encode() + b"\n"


def parse_exemplar(content: bytes, path: Path) -> Exemplar | str:
    """The exemplar in a file, with the file's name as its id, or a sentence about what is wrong with it."""
    try:
        # Unlike the standard library's, this parser refuses lone surrogates, which SQLite cannot hold.
        return Exemplar.model_validate({**from_json(content), "id": path.stem})
    except ValidationError as error:
        first = error.errors()[0]
        fault = f"{'.'.join(map(str, first['loc']))}: {words_of(first)}"
    except (ValueError, TypeError) as error:
        fault = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{path} is not an exemplar and is skipped: {fault}"
