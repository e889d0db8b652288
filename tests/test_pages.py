"""Pages of other projects are fetched once, whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import MissingPages, pages, versions


def test_pages_that_are_here_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    here = tmp_path / f"miniwob-{versions()['miniwob']}" / "miniwob"
    here.mkdir(parents=True)

    assert pages("miniwob", cache=tmp_path) == here


def test_pages_that_cannot_be_fetched_say_so_in_one_line_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(MissingPages) as missing:
        pages("miniwob", cache=tmp_path)

    assert str(missing.value).startswith(f"pip could not fetch miniwob=={versions()['miniwob']}: ")
    assert "\n" not in str(missing.value)
    assert not list(tmp_path.iterdir())
