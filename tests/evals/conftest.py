from __future__ import annotations

from pathlib import Path

import pytest
from pages import MissingPages, pages


@pytest.fixture(scope="module")
def html() -> Path:
    try:
        return pages("miniwob") / "html"
    except MissingPages as error:
        pytest.skip(str(error))
