"""What the tests of the browser room share."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser.hand import On, opener
from tests.browser.libraries import Foreign, Widget, foreign_pages, widgets
from tests.conftest import Server


@pytest.fixture
def on(page: Page, serve: Server) -> On:
    """`async with on(body, pages) as hand`: a page that has been looked at once."""
    return opener(page, serve)


@pytest.fixture
def widget(page: Page, serve: Server, tmp_path: Path) -> Widget:
    """`async with widget(package, body) as hand`: a page that uses a component library."""
    return widgets(page, serve, tmp_path / "site")


@pytest.fixture
def foreign(page: Page, serve: Server) -> Foreign:
    """`async with foreign(package, path) as hand`: a page of another project, as it is."""
    return foreign_pages(page, serve)
