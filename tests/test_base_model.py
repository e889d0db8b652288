"""Claims about the models that all data are."""

from __future__ import annotations

import pickle

import pytest
from pydantic import ValidationError

from vision_agent.geometry import Box
from vision_agent.observation import Label, Mark


def test_a_copy_with_other_fields_is_what_pydantic_would_make_of_it() -> None:
    box = Box(x=1, y=2, width=3, height=4)
    mark = Mark(number=1, tag="a", role="link", kind="link", name="Home", box=box, point=box.center)
    label = Label(box=box, colour="#ffffff")
    copy, expected = mark.replacing(label=label), mark.model_copy(update={"label": label})
    assert (copy, copy.model_dump(), copy.model_fields_set) == (
        expected,
        expected.model_dump(),
        expected.model_fields_set,
    )
    assert copy.model_dump(exclude_unset=True) == expected.model_dump(exclude_unset=True)
    assert pickle.loads(pickle.dumps(copy)) == copy
    assert mark.label is None
    assert "label" not in mark.model_fields_set
    with pytest.raises(ValidationError):
        copy.label = None
