"""How many files a server needs for its table cache.

Sources: sql/mysqld.cc, adjust_open_files_limit ("MyISAM requires two file handles per table").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.server_state import ServerState

TABLE_CACHES = frozenset({"table_open_cache", "table_cache"})
FILES_PER_TABLE = 2
FILES_RESERVED = 10
USUAL_CONNECTIONS = 151
SMALLEST_FILE_LIMIT = 4096


def files_for(tables: int, state: ServerState) -> int:
    """What the server reckons at its start: 10 + max_connections + 2 x table_open_cache."""
    connections = state.value("max_connections")
    connected = int(connections) if isinstance(connections, int | float) else USUAL_CONNECTIONS
    return FILES_RESERVED + connected + FILES_PER_TABLE * tables


def tables_within(limit: int, state: ServerState) -> int:
    """How many tables a limit of open files allows."""
    return max((limit - files_for(0, state)) // FILES_PER_TABLE, 0)


def limit_before(tables: int, lines: Sequence[OptionLine], state: ServerState) -> Iterable[OptionLine]:
    """The limit that must stand before a table cache, where the present one is too small."""
    limit, wanted = state.file_limit, SMALLEST_FILE_LIMIT
    if limit is None or files_for(tables, state) <= limit:
        return
    if any(line.option == "open_files_limit" for line in lines):
        return
    while wanted < files_for(tables, state):
        wanted *= 2
    yield option_line("open_files_limit", wanted)
