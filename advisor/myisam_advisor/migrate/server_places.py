"""Directories that a server's InnoDB knows: below them a table may lie that has a DATA DIRECTORY.

MySQL 8.0.21 and later refuse any other one, and that of undo logs, too, which the manual names among them ("Creating Tables Externally"), unless
innodb_directories has it. Tried on MySQL 8.0 and 9.7.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping

from myisam_exporter.declaring.lean_dataclasses import dataclass

# The server writes several with a semicolon between them.
SEPARATOR = ";"
# Of MySQL 8.0, the releases that let a table lie anywhere.
LENIENT = re.compile(r"8\.0\.([0-9]|1[0-9]|20)(?![0-9])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Places:
    """`known` are the directories below which a table may lie, as far as they are told."""

    known: tuple[str, ...] = ()
    anywhere: bool = False

    def takes(self, directory: str) -> bool:
        """Whether InnoDB puts a table there."""
        return self.anywhere or any(_is_below(directory, place) for place in self.known)


NO_PLACES = Places()


def of_variables(told: Mapping[str, str]) -> Places:
    """What the server's variables, by their names in small letters, say."""
    data = told.get("datadir", "")
    named = [data, told.get("innodb_data_home_dir", ""), *told.get("innodb_directories", "").split(SEPARATOR)]
    return Places(
        tuple(_whole(place, data) for place in named if place.strip()),
        LENIENT.match(told.get("version", "")) is not None,
    )


def _whole(place: str, data: str) -> str:
    """A path without steps back, of one that begins in the data directory."""
    return os.path.normpath(os.path.join(data, place.strip()))  # noqa: PTH118 - normpath has its place there alone


def _is_below(directory: str, place: str) -> bool:
    """By their names, or by where these lead."""
    pairs = ((os.path.normpath(directory), place), (os.path.realpath(directory), os.path.realpath(place)))
    return any(one == of or one.startswith(of.rstrip("/") + "/") for one, of in pairs)
