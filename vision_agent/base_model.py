"""The base classes of all data models (pydantic's, not language models): frozen, without unknown fields."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator
from pydantic_core import ErrorDetails

from vision_agent.text.escape import cut_text, printable_line

RECORDED = "recorded"
"""Validation context for data from a record, whose field names nobody can update: old names do not warn."""


class FrozenModel(BaseModel):
    """A model that is immutable and rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def replacing(self, **fields: Any) -> Self:
        """A copy with these fields, which are not checked: `model_copy` in half the time, for hundreds of marks."""
        copy = self.__new__(type(self))
        # The model is frozen, and its own attributes are all that a pydantic model without private ones consists of.
        object.__setattr__(copy, "__dict__", {**self.__dict__, **fields})
        object.__setattr__(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__ | fields.keys())
        object.__setattr__(copy, "__pydantic_extra__", None)
        object.__setattr__(copy, "__pydantic_private__", None)
        return copy

    def has_same_fields(self, other: Self, *, apart_from: str) -> bool:
        """Whether all but one of the fields are equal; takes no time for models that share the objects in them."""
        one, two = self.__dict__, other.__dict__
        return one == {**two, apart_from: one[apart_from]}


class DisplayedModel(FrozenModel):
    """A model that is printed in few words, without the secrets of the run that it comes from.

    Facts beside its fields, such as where it is recorded, are neither compared nor written anywhere.
    """

    def beside(self, **facts: Any) -> Self:
        """A copy that also has these facts."""
        copied = self.model_copy()
        for name, fact in facts.items():
            object.__setattr__(copied, f"_{name}", fact)
        return copied

    def fact(self, name: str) -> Any:
        """A fact that is not among the fields; None if it is not known."""
        return self.__dict__.get(f"_{name}")

    def shown(self, text: str, longest: int = 120) -> str:
        """The text as it may be printed: without secrets, and cut."""
        hide: Callable[[str], str] | None = self.fact("hide")
        return cut_text(hide(text) if hide is not None else text, longest)

    def _shown_fields(self) -> Iterator[tuple[str, Any]]:
        """The names and values to print."""
        raise NotImplementedError

    def __str__(self) -> str:
        return repr(self)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What prompts, notebooks and debuggers print; fields that are empty are left out."""
        return ((name, value) for name, value in self._shown_fields() if value not in (None, "", (), []))


class SettingsModel(FrozenModel):
    """A model of settings, whose numbers are finite: no other number bounds anything."""

    model_config = ConfigDict(allow_inf_nan=False)


class RenamedFields(FrozenModel):
    """A model that still accepts its fields' names of the previous version, with a warning."""

    old_names: ClassVar[Mapping[str, str]] = {}
    """Current field names by old ones."""

    @model_validator(mode="before")
    @classmethod
    def _with_new_names(cls, given: Any, info: ValidationInfo) -> Any:
        if not isinstance(given, Mapping):
            return given
        taken, is_recorded = dict(given), info.mode == "json" or info.context == RECORDED
        for old, new in cls.old_names.items():
            if old not in taken:
                continue
            if new in taken:
                raise ValueError(f"{old} = {taken[old]} and {new} = {taken[new]} are the same; keep {new}")
            if not is_recorded:
                warnings.warn(f"{old} is now called {new}", FutureWarning, stacklevel=2)
            taken[new] = taken.pop(old)
        return taken


UNKNOWN_FIELD = "extra_forbidden"
"""The type of pydantic's error for a field that a model does not have."""


def unknown_field(place: Sequence[int | str], model: type[BaseModel]) -> str:
    """What is said of a field that the model does not have: ``there is no field `expects`; did you mean `expect`?``

    Args:
        place: where pydantic found it; its last part is the field.
        model: what was validated.
    """
    inner: type[BaseModel] | None = model
    for name in place[:-1]:
        if isinstance(name, str):
            field = inner.model_fields.get(name) if inner is not None else None
            inner = model_in(field.annotation) if field is not None else None
    name = str(place[-1])
    near = difflib.get_close_matches(name.lower(), inner.model_fields if inner is not None else (), n=1)
    return f"there is no field `{printable_line(name[:60])}`" + (f"; did you mean `{near[0]}`?" if near else "")


def words_of(fault: ErrorDetails) -> str:
    """What is wrong with a value, in the words of the check that found it and without pydantic's name for it."""
    return fault["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of a field, also of one that may be None or holds several; None if there is none, or more than one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = {each for each in map(model_in, get_args(annotation)) if each is not None}
    return found.pop() if len(found) == 1 else None
