"""Names of tables from names of files.

The server keeps [0-9A-Za-z_] and writes every other character as `@` and a code: two characters for common letters, four
hexadecimal digits for the rest of the basic plane. Partitions are `table#P#partition[#SP#subpartition]`; `#sql...` are temporary.
Names of Windows' devices have `@@@` behind them. Source: manual, "Mapping of Identifiers to File Names"; server source, mysys/my_access.c:
reserved_names; the codes come from the servers themselves (file_name_codes.py).

A file may be spelt otherwise than a server writes its name: a copy of A.MYI as @0041.MYI, a `con` of before 5.1. SHOW TABLES lists it as A, a second
time, but A never leads to it: a server opens what it would write itself. MySQL 5.5 and 5.6 and MariaDB 10.5 open it as #mysql50#@0041; MariaDB 10.11 and
11.8 (error 1103) and MySQL 9.7 by no name. So that is its name here, and no two files have one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from myisam_exporter.files.file_name_codes import SHORT_CODES

OLD_NAME_PREFIX = "#mysql50#"
TEMPORARY_PREFIX = "#sql"
KEPT_NAMES = 10_000
_PLAIN = re.compile(r"[0-9A-Za-z_]+")
# The servers take no capital for a digit of a code: C@002D is no name to them.
_TOKEN = re.compile(r"([0-9A-Za-z_]+)|@([0-9a-f]{4})|@(..)", re.DOTALL)
_DEVICE = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(@@@)?", re.IGNORECASE)
_LONGEST_DEVICE = len("com1@@@")
_END = "\0"
_PARTITION = re.compile(r"#[pP]#")
_CHARACTERS = {
    first + second: character
    for first, (seconds, characters) in SHORT_CODES.items()
    for second, character in zip(seconds, characters, strict=True)
}
_WITH_SHORT_CODE = frozenset(_CHARACTERS.values())


def decode_identifier(encoded: str) -> str:
    """The identifier by which servers open a file or directory of this name.

    A name that no server of 5.1 or later would write comes back with `#mysql50#` before it, by which older ones of those open it.
    """
    device = _DEVICE.fullmatch(encoded) if len(encoded) <= _LONGEST_DEVICE else None
    if device:
        return device[1] if device[2] else OLD_NAME_PREFIX + encoded
    if _PLAIN.fullmatch(encoded):
        return encoded
    decoded = _decoded(encoded, _character_as_written)
    return OLD_NAME_PREFIX + _without_surrogates(encoded) if decoded is None else decoded


def listed_as(identifier: str) -> str:
    """The name that servers list a file or directory by, which need not lead to it: A of #mysql50#@0041."""
    encoded = identifier[len(OLD_NAME_PREFIX) :]
    if not identifier.startswith(OLD_NAME_PREFIX):
        return identifier
    decoded = _decoded(encoded, _character_as_listed)
    return identifier if decoded is None else decoded.partition(_END)[0]


def _decoded(encoded: str, character_of: Callable[[re.Match[str]], str | None]) -> str | None:
    """What the codes stand for; None where one stands for nothing."""
    decoded, position = [], 0
    while position < len(encoded):
        token = _TOKEN.match(encoded, position)
        character = character_of(token) if token else None
        if token is None or character is None:
            return None
        decoded.append(character)
        position = token.end()
    return "".join(decoded)


def _without_surrogates(name: str) -> str:
    """A file name that is no UTF-8 with its odd bytes written as escapes: nothing downstream could encode it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _character(token: re.Match[str]) -> str | None:
    plain, hexadecimal, short = token.groups()
    if plain:
        return str(plain)
    if hexadecimal:
        code = int(hexadecimal, 16)
        return None if 0xD800 <= code <= 0xDFFF or code == 0 else chr(code)
    return _CHARACTERS.get(short)


def _character_as_listed(token: re.Match[str]) -> str | None:
    """As `_character`; servers take what stands behind devices for the end of the name, wherever it stands."""
    return _END if token[3] == "@@" else _character(token)


def _character_as_written(token: re.Match[str]) -> str | None:
    """As `_character`; None where servers write the character otherwise: as it is, or by its short code."""
    found = _character(token)
    if found is None or not token[2]:
        return found
    return None if found in _WITH_SHORT_CODE or _PLAIN.fullmatch(found) else found


@lru_cache(maxsize=4096)
def decode_schema(encoded: str) -> str:
    """`decode_identifier` for a database directory; a server has few of these and asks often."""
    return decode_identifier(encoded)


def decode_table(stem: str) -> tuple[str, str | None] | None:
    """Table and partition (None for a table without) of a file name without its ending; None for a temporary table."""
    if stem.startswith(TEMPORARY_PREFIX):
        return None
    if "#" not in stem:
        return decode_identifier(stem), None
    table, *partition = _PARTITION.split(stem, maxsplit=1)
    if not partition or not table:
        return decode_identifier(stem), None
    parts = re.split(r"#[sS][pP]#", partition[0])
    if any(part.endswith(("#TMP#", "#REN#", "#tmp#", "#ren#")) for part in parts):
        return None  # an ALTER TABLE of partitions is at work
    return decode_identifier(table), "/".join(decode_identifier(part) for part in parts)


class NamedFile(NamedTuple):
    """The name of a table's files without ending, and what it stands for; `partition` is None for a table without."""

    stem: str
    table: str
    partition: str | None


class FileNames:
    """What names of files stand for, each worked out and kept once: hosting has the same names in every database. Beyond so many it begins anew.

    Not sys.intern: Python 3.12 never gives up what was interned, and names may come and go for years.
    """

    def __init__(self) -> None:
        self._known: dict[str, NamedFile] = {}

    def of(self, stem: str) -> NamedFile | None:
        """As `decode_table` has it, as the object that was given for the same name before; None for a temporary table."""
        known = self._known.get(stem)
        return known or self._decoded(stem)

    def _decoded(self, stem: str) -> NamedFile | None:
        named = decode_table(stem)
        if named is None:
            return None
        if len(self._known) >= KEPT_NAMES:
            self._known.clear()
        found = self._known[stem] = NamedFile(stem, *named)
        return found


def undivided(stem: str) -> str:
    """The file name of the table that a partition belongs to, without ending; of a table without partitions its own."""
    return _PARTITION.split(stem, maxsplit=1)[0] if "#" in stem else stem
