"""Dataclasses from JSON, taken from a process that is not believed: of each field the type that was declared, or ResultError."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from myisam_advisor.errors import TrialError
from myisam_exporter.outside.numbers import is_number

Made = TypeVar("Made")
MAXIMUM_NUMBER = 1e18
NONSENSE = "the trial's process sent something that is not a result of it."


class ResultError(TrialError):
    """It is no result of a trial."""


def made(of_class: type[Made], document: Any) -> Made:
    """What was made a document by dataclasses.asdict. Raises ResultError for whatever is of another form or type."""
    if not isinstance(document, dict):
        raise ResultError(NONSENSE)
    hints = typing.get_type_hints(of_class)
    if set(document) - set(hints):
        raise ResultError(NONSENSE)
    try:
        return of_class(**{name: _value(hints[name], value) for name, value in document.items()})
    except TypeError:
        raise ResultError(NONSENSE) from None


def _value(hint: Any, value: Any) -> Any:
    """The value, where it is of the type that was declared."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return None if value is None else _value(next(one for one in inner if one is not types.NoneType), value)
    if origin in (tuple, Sequence) and isinstance(value, list | tuple):
        parts = [_value(inner[0], one) for one in value]
        return tuple(parts) if origin is tuple else parts
    if origin is Mapping and isinstance(value, dict):
        return {_value(str, name): _value(inner[1], one) for name, one in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return made(hint, value)
    if hint in (str, bool) and isinstance(value, hint):
        return value
    if hint in (int, float) and is_number(value, MAXIMUM_NUMBER) and (hint is float or isinstance(value, int)):
        return value
    raise ResultError(NONSENSE)


def number(value: Any) -> float:
    """A finite number of a size that occurs. Raises ResultError for anything else."""
    if not is_number(value, MAXIMUM_NUMBER):
        raise ResultError(NONSENSE)
    return value
