"""Key caches with names that the watched server has, and a replay has not: no server tells which table is in which.

MariaDB shows all of them; MySQL tells the size of one to whoever knows its name, from the command line or from the server's init_file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from myisam_advisor.texts.lists import listed
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE, MAXIMUM_INIT_FILE_BYTES, cache_names
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.foreign_files import read_small
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_variable, statement

ALL_OF_MARIADB = "SELECT KEY_CACHE_NAME, FULL_SIZE FROM information_schema.KEY_CACHES WHERE SEGMENT_NUMBER IS NULL"
MOST_NAMED = 10


def named_cache_notes(
    session: Session, variables: Mapping[str, str], directory: Path, planned: Iterable[str]
) -> Iterator[str]:
    """What is to be told of them; `planned` are the names of the command line."""
    names = sorted(_named_caches(session, variables, directory, planned))
    if not names:
        return
    told = listed(names, MOST_NAMED)
    yield (
        f"The watched server has key caches with names ({told}), and no server tells which table is in which: "
        "here all indexes begin in the default cache, so that there is less room for them, and more contention."
    )


def _named_caches(
    session: Session, variables: Mapping[str, str], directory: Path, planned: Iterable[str]
) -> Iterator[str]:
    if session.version.flavour == "mariadb":
        rows = session.rows_or_unknown(ALL_OF_MARIADB, 2)
        for name, size in [] if isinstance(rows, Unknown) else rows:
            if name and name.lower() != DEFAULT_CACHE and whole_number(size):
                yield name
        return
    for name in dict.fromkeys((*planned, *_in_init_file(variables, directory))):
        asked = statement("SELECT @@GLOBAL.{}", quote_variable("key_buffer_size", name))
        rows = session.rows_or_unknown(asked, 1)
        if name.lower() != DEFAULT_CACHE and not isinstance(rows, Unknown) and rows and whole_number(rows[0][0]):
            yield name


def _in_init_file(variables: Mapping[str, str], directory: Path) -> list[str]:
    path = variables.get("init_file", "")
    if not path:
        return []
    try:
        return cache_names(read_small(directory / path, MAXIMUM_INIT_FILE_BYTES))
    except OSError:
        return []
