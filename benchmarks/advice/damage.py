"""Damage that can be provoked: part of a scenario, for each rule of ours that warns of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_WORDS = {"type": "array", "items": {"type": "string", "minLength": 1}}
SCHEMA: dict[str, Any] = {
    "type": "object", "additionalProperties": False, "required": ["seen_by"],
    "properties": {"provoked_by": _WORDS, "killed": {"type": "boolean"}, "sessions": {"type": "integer", "minimum": 1, "maximum": 100}, "seen_by": {**_WORDS, "minItems": 1}},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Damage:
    """How it is provoked, by statements and by killing the server, and by which statements it is seen: they fail, or CHECK TABLE finds an error.

    Each of so many `sessions` sends them, one after another, and none of them ends before all did.
    """

    seen_by: tuple[str, ...]
    provoked_by: tuple[str, ...] = ()
    killed: bool = False
    sessions: int = 1


def as_damage(document: Mapping[str, Any]) -> Damage:
    """As a scenario's file has it, which was held against SCHEMA."""
    return Damage(
        tuple(document["seen_by"]),
        tuple(document.get("provoked_by", ())),
        document.get("killed", False),
        document.get("sessions", 1),
    )
