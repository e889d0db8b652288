"""One exemplar as a file that a person may edit: its name is its id, and what was not said is not in it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from vision_agent.types import Exemplar


def content_of(exemplar: Exemplar) -> bytes:
    """What stands in its file."""
    return exemplar.model_dump_json(indent=2, exclude={"id"}, exclude_defaults=True).encode() + b"\n"


def exemplar_in(content: bytes, path: Path) -> Exemplar | str:
    """The exemplar in a file, which is called what its file is called, or a sentence with what is wrong with it."""
    try:
        # Unlike the standard library's, this refuses half a character, which SQLite cannot hold.
        return Exemplar.model_validate({**from_json(content), "id": path.stem})
    except ValidationError as error:
        first = error.errors()[0]
        fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (ValueError, TypeError) as error:
        fault = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{path} is no exemplar and is left out: {fault}"
