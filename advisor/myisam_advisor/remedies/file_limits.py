"""What limit of open files a server needs for its table cache.

Sources: sql/mysqld.cc, adjust_open_files_limit ("MyISAM requires two file handles per table"); of MariaDB sql/table_cache.cc, tc_add_table: each table cache
holds as many as table_open_cache says, and as many of them as table_open_cache_instances says come into use when threads contend for one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.planners.base import FILE_LIMIT, TABLE_CACHES
from myisam_advisor.remedies.server_state import FILES_PER_TABLE, ServerState
from myisam_exporter.facts.values import number_of, numbers_in

FILES_RESERVED = 10
USUAL_CONNECTIONS = 151
SMALLEST_FILE_LIMIT = 4096
LARGEST_FILE_LIMIT = 1 << 20  # fs.nr_open, above which no process may go
# A limit of which more is in use is what open-files-limit warns of.
USED_SHARE = 0.85


def files_for(tables: int, state: ServerState) -> int:
    """The limit for so many tables: what the server reckons with at its start, or what they will have open as those that are open now have, with room."""
    return max(_reckoned_files(tables, state), math.ceil(_seen_files(tables, state) / USED_SHARE))


def tables_within(limit: int, state: ServerState) -> int:
    """How many tables a limit of open files allows."""
    room, most = limit - _other_files(state), _most_table_files(state)
    caches = 1 if most is not None and most <= room else state.table_caches
    reckoned = room // (FILES_PER_TABLE * caches)
    open_files, open_tables = state.open_files, number_of(state.status("Open_tables"))
    if open_files is None or open_tables is None:
        return max(reckoned, 0)
    seen = open_tables + math.floor((USED_SHARE * limit - open_files) / state.files_per_open_table)
    return max(min(reckoned, int(seen)), 0)


def limit_before(tables: int, lines: Sequence[OptionLine], state: ServerState) -> Iterable[OptionLine]:
    """The limit that must stand before a table cache, where the present one is too small."""
    limit, wanted = state.file_limit, SMALLEST_FILE_LIMIT
    if limit is None or files_for(tables, state) <= limit:
        return
    if file_limit_of(lines) is not None:
        return
    while wanted < min(files_for(tables, state), LARGEST_FILE_LIMIT):
        wanted *= 2
    if wanted <= limit:
        return
    yield option_line(FILE_LIMIT, max(wanted, state.planned_file_limit))


def no_limit_suffices(tables: int, state: ServerState) -> bool:
    """Whether so many tables are seen to need more files than any process may have by default."""
    return _seen_files(tables, state) / USED_SHARE > LARGEST_FILE_LIMIT


def file_limit_of(lines: Iterable[OptionLine]) -> int | None:
    """The limit of open files that lines of my.cnf set; None where none of them does."""
    values = (line.partition("=")[2].strip() for line in lines if line.option == FILE_LIMIT)
    return next((int(value) for value in values if value.isdigit()), None)


def _reckoned_files(tables: int, state: ServerState) -> int:
    """What the server reckons at its start, 10 + max_connections + 2 x table_open_cache; on MariaDB for each table cache, as far as there are tables to fill them."""
    for_one = FILES_PER_TABLE * tables
    for_all, most = for_one * state.table_caches, _most_table_files(state)
    return _other_files(state) + max(for_one, for_all if most is None else min(for_all, most))


def _seen_files(tables: int, state: ServerState) -> float:
    """What is open now, and what more tables will have open; 0 where that is not known, and for a table cache that is not to be larger."""
    present = max(numbers_in(map(state.value, TABLE_CACHES)), default=0)
    if tables <= present:
        return 0.0
    more = tables - (number_of(state.status("Open_tables")) or tables)
    return (state.open_files or 0.0) + state.files_per_open_table * max(more, 0.0)


def _other_files(state: ServerState) -> int:
    """What is open beside tables: the server's own files, and a connection each."""
    connections = state.value("max_connections")
    connected = int(connections) if isinstance(connections, int | float) else USUAL_CONNECTIONS
    return FILES_RESERVED + connected


def _most_table_files(state: ServerState) -> int | None:
    """What tables can have open at all: an index file each, and a data file for each connection that ever was there at once. None where these are not known."""
    connections = state.status("Max_used_connections")
    if state.index_files is None or not isinstance(connections, int) or connections <= 0:
        return None
    return state.index_files * (1 + connections)
