"""What the tests of the browser room share."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.browser.hand import On, opener
from tests.conftest import Server


@pytest.fixture
def on(page: Page, serve: Server) -> On:
    """`async with on(body, pages) as hand`: a page that has been looked at once."""
    return opener(page, serve)
