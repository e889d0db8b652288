"""Writes the text of a PDF, page by page, as JSON. It runs in its own process, so that a bad file harms nothing else.

`python pdf_text.py FILE CHARACTERS`: `{"pages": 2, "text": "…"}`, or `{"error": "…"}`. It imports nothing of this
package.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

_MOST_BYTES = 1 << 30
"""The most memory, where the system can limit it: a small file can expand beyond measure."""
_MOST_SECONDS = 20
"""The most processor time."""


def pdf_text(path: str, most: int) -> dict[str, Any]:
    """The number of pages, and their text up to about `most` characters; or why it cannot be read."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"error": "it is encrypted"}
        pages = len(reader.pages)
        texts: list[str] = []
        for number, page in enumerate(reader.pages, 1):
            texts.append(f"[page {number} of {pages}]\n{page.extract_text().strip()}")
            if sum(map(len, texts)) > most:
                break
    except MemoryError:
        return {"error": "it takes too much memory"}
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError) as error:
        return {"error": str(error).splitlines()[0][:200] if str(error) else type(error).__name__}
    return {"pages": pages, "text": "\n".join(texts)}


if __name__ == "__main__":
    with suppress(ImportError, ValueError, OSError):  # Windows has no limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    sys.stdout.write(json.dumps(pdf_text(sys.argv[1], int(sys.argv[2]))))
