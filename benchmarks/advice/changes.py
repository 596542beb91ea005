"""Changes that several advisers propose are one change: how two are told to be the same, and which cannot touch any load of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.advice.model import Advice, Change
from myisam_exporter.outside.documents import read_yaml_document

UNTOUCHING = Path(__file__).with_name("untouching.yaml")
# Of a change that cannot touch a load, so many scenarios measure it all the same.
MEASURED_ALL_THE_SAME = 3
_SIZE = re.compile(r"(\d+)([kmg])b?")
_FACTORS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
# Variables whose words have numbers too, in the order of these (SHOW VARIABLES prints the words).
_NUMBERED = {
    "concurrent_insert": ("never", "auto", "always"),
    "delay_key_write": ("off", "on", "all"),
    "query_cache_type": ("off", "on", "demand"),
}
_SWITCHES = {"on": "1", "yes": "1", "true": "1", "off": "0", "no": "0", "false": "0"}
# Of two limits the smaller one counts, so that where both are equal neither does anything alone: whoever proposes both proposes one change
# (https://mariadb.com/kb/en/server-system-variables/#tmp_table_size; measured on MariaDB 10.11: each 0.99 times as fast, both 21.8).
TOGETHER = (("max_heap_table_size", "tmp_table_size"),)


@dataclass(frozen=True, slots=True)
class Piece:
    """One change, whoever proposed it; `key` is the same for the same change. One of several variables that only count together has `parts`, and nothing else."""

    key: str
    variable: str | None
    value: str | None
    statement: str | None
    parts: tuple[Piece, ...] = ()

    @property
    def each(self) -> tuple[Piece, ...]:
        """What is to be done, one by one."""
        return self.parts or (self,)


def piece_of(change: Change) -> Piece:
    """The change without who proposed it and why. Raises ValueError where it is not exactly one of variable and statement."""
    if (change.variable is None) == (change.statement is None):
        raise ValueError(f"{change.rule}: exactly one of variable and statement is wanted")
    if change.variable is not None:
        if change.value is None:
            raise ValueError(f"{change.rule}: {change.variable} without a value")
        name = change.variable.strip().lower().replace("-", "_")
        return Piece(f"{name}={plain_value(change.value, name)}", name, change.value.strip(), None)
    statement = " ".join(str(change.statement).split()).rstrip("; ")
    return Piece(statement, None, None, str(change.statement))


def plain_value(value: str, name: str = "") -> str:
    """A value in one of the ways in which it can be written: bytes, and numbers for words (1 and 0 for on and off)."""
    word = value.strip().strip("'\"").lower()
    if word in _NUMBERED.get(name, ()):
        return str(_NUMBERED[name].index(word))
    size = _SIZE.fullmatch(word)
    if size:
        return str(int(size[1]) * _FACTORS[size[2]])
    return _SWITCHES.get(word, word)


def pieces(changes: Iterable[Change]) -> list[Piece]:
    """What these changes of one adviser are, each once, in the order in which they were first proposed; those that only count together are one."""
    found: dict[str, Piece] = {}
    for change in changes:
        piece = piece_of(change)
        found.setdefault(piece.key, piece)
    for names in TOGETHER:
        last = {piece.variable: piece for piece in found.values()}
        if all(name in last for name in names):
            parts = tuple(found.pop(last[name].key) for name in names)
            joint = joint_key(part.key for part in parts)
            found[joint] = Piece(joint, None, None, None, parts)
    return list(found.values())


def joint_key(keys: Iterable[str]) -> str:
    """The key of the change that has these parts."""
    return "; ".join(sorted(keys))


def is_joint(keys: Iterable[str]) -> bool:
    """Whether these changes are those that only count together."""
    return tuple(sorted(key.partition("=")[0] for key in keys)) in TOGETHER


def keys_of(pieces: Iterable[Piece]) -> frozenset[str]:
    """All that is done by these changes together, by the keys of their parts."""
    return frozenset(part.key for piece in pieces for part in piece.each)


def whole(advice: Advice) -> list[Piece]:
    """An adviser's whole advice; of a variable that it names twice, what it said last."""
    found: dict[str, Piece] = {}
    for piece in pieces(advice.changes):
        for part in piece.each:
            found[part.variable or part.key] = piece
    return list(dict.fromkeys(found.values()))


@dataclass(frozen=True, slots=True)
class Untouching:
    """Changes that cannot make a load of ours faster or slower, and why."""

    patterns: Sequence[tuple[re.Pattern[str], str]]
    measured_all_the_same: int = MEASURED_ALL_THE_SAME

    def why(self, piece: Piece) -> str | None:
        """Why it cannot touch a load; None where it, or a part of it, may."""
        whys = [self.why_key(part.key) for part in piece.each]
        return None if None in whys else whys[0]

    def why_key(self, key: str) -> str | None:
        """The same of a change that is known by its key."""
        return next((why for pattern, why in self.patterns if pattern.match(key)), None)


@lru_cache(maxsize=2)
def untouching(innodb_is_used: bool) -> Untouching:
    """The list, each entry a pattern for the beginning of a change's key and a reason; where InnoDB has nothing to do, with what it has of its own."""
    document: Mapping[str, Mapping[str, str]] = read_yaml_document(UNTOUCHING, "list of changes that touch no load")
    parts = [document["anywhere"], *([] if innodb_is_used else [document["without_innodb"]])]
    return Untouching([(re.compile(pattern, re.IGNORECASE), why) for part in parts for pattern, why in part.items()])
