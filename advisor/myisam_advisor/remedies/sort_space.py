"""The file in tmpdir that sorts an index, and what comes of a rebuild that tmpdir has no room for.

Tried with 0.5 million keys of 60 bytes and a tmpdir of 16 MiB (MySQL 5.6.24, MariaDB 10.11.19): REPAIR and OPTIMIZE wait for space with the table locked, and end
a minute after there is some; ENABLE KEYS and ALTER go on key by key. storage/myisam/ha_myisam.cc: enable_indexes() takes MY_WAIT_IF_FULL away, repair() does not.

storage/myisam/sort.c, merge_many_buff: more than 31 sort buffers of keys (MERGEBUFF2) are merged into a second file before the first is closed. Tried with as many keys,
34.6 MB, on MySQL 5.6 and 9.7, MariaDB 10.11: a buffer of 1.3 MB takes 34.6 MB of tmpdir, one of 256 KiB 67 to 69 MB, whichever statement it is.

With myisam_repair_threads above 1 all indexes are sorted at once, whichever statement it is: four of 5.1 MB each took 5.1 to 5.3 MB of tmpdir one after the other,
and 19.3 to 20.5 MB with 4 threads (REPAIR, ENABLE KEYS and an ALTER that copies, MySQL 5.6 and MariaDB 10.11).

Where one index cannot be sorted, none of its table is (mi_check.c: mi_test_if_sort_rep): a SPATIAL one, or one of variable length for which
myisam_max_sort_file_size is too small. Tried with REPAIR on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8. All in memory, a million rows with 138 MB of
indexes of random keys took MariaDB 10.11 5 s (REPAIR) and 7 s (ALTER) by sorting, 29 and 71 s through a key cache of 256 MiB, 117 and 141 s through one of 8 MiB
(a busy machine: read the ratios).

MariaDB's ALTER sorts unique indexes too, but for that of the AUTO_INCREMENT column (mi_disable_indexes_for_rebuild; tried on 10.5, 10.11, 11.4 and 11.8); MySQL's writes
them row by row (tried on 5.6 and 9.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.factbase.storable import LARGEST_INTEGER
from myisam_advisor.remedies.planners.base import FELT_BYTES, SORT_FILE_LIMIT, is_kept_from_sorting
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import Change, Statement
from myisam_advisor.remedies.statements.tables import AlterTable
from myisam_advisor.texts.templates import count, size
from myisam_exporter.facts.columns import Row
from myisam_exporter.facts.values import number_of

# A sort keeps a pointer to each of its keys beside them (storage/myisam/sort.c).
POINTER_BYTES = 8
# Rows are added until the statement runs.
HEADROOM = 1.1
# So many buffers of keys are merged from one file.
BUFFERS_IN_ONE_FILE = 31
MARIADB_SORTS_UNIQUE_FROM = 100500  # tried from here on
# The index of an AUTO_INCREMENT column alone is no longer than that, with its row pointer.
LONGEST_COUNTER_BYTES = 16
WAITING = frozenset({"REPAIR TABLE", "OPTIMIZE TABLE"})
REPAIR_THREADS = "myisam_repair_threads"


def space_refusal(command: Statement, row: Row, indexes: Iterable[Row], host: Row, state: ServerState) -> str:
    """Why a rebuild is to wait until tmpdir has room; empty where it has, where the sort needs none, or where that is not known."""
    rows, free = number_of(row.get("rows")), number_of(host.get("temporary_directory_free_bytes"))
    known = list(indexes)
    lengths = _key_bytes(command, known, state) if _sorts(command) else []
    key_bytes = max(lengths, default=0.0)
    limit = number_of(state.value(SORT_FILE_LIMIT))
    if rows is None or free is None or not key_bytes or is_kept_from_sorting(known, rows, limit):
        return ""
    one_file, in_memory = int(rows * key_bytes), int(rows * (key_bytes + POINTER_BYTES))
    buffer, waits = number_of(state.value("myisam_sort_buffer_size")), command.verb in WAITING
    is_twice = buffer is not None and in_memory > BUFFERS_IN_ONE_FILE * buffer
    needed = 2 * one_file if is_twice else one_file
    if needed <= free:
        return _refusal_of_threads(command, rows, lengths, free, state)
    if in_memory <= (buffer or 0) or (one_file < FELT_BYTES and not waits):
        return ""
    then = "wait there for space" if waits else "go on key by key, through the key cache"
    files = f", in two files, as its keys are more than {BUFFERS_IN_ONE_FILE} sort buffers" if is_twice else ""
    buffers, other = (
        (BUFFERS_IN_ONE_FILE, "need one file alone")
        if one_file <= free
        else (1, "sort in memory, where as much is available")
    )
    return (
        f"No {_name(command)} yet: to sort an index it writes about {size(needed)} to tmpdir{files}, which has {size(free)} free; it would {then}, with the table locked. "
        f"Make room in tmpdir first, or {other}: SET SESSION myisam_sort_buffer_size = {min(int(in_memory * HEADROOM / buffers), LARGEST_INTEGER)}; in the session that runs it."
    )


def _refusal_of_threads(
    command: Statement, rows: float, lengths: Sequence[float], free: float, state: ServerState
) -> str:
    """Why it is to sort its indexes one after the other; empty where it does, or where tmpdir has room for all of them at once."""
    threads, buffer = number_of(state.value(REPAIR_THREADS)), number_of(state.value("myisam_sort_buffer_size"))
    needed, waits = int(rows * sum(lengths)), command.verb in WAITING
    is_in_memory = rows * sum(length + POINTER_BYTES for length in lengths) <= (buffer or 0)
    if threads is None or threads <= 1 or needed <= free or is_in_memory or (needed < FELT_BYTES and not waits):
        return ""
    return (
        f"No {_name(command)} yet: {REPAIR_THREADS} is {count(threads)}, so it sorts all indexes at once and writes about {size(needed)} to tmpdir, which has {size(free)} free. "
        f"SET SESSION {REPAIR_THREADS} = 1; in the session that runs it: one after the other they have room."
    )


def _name(command: Statement) -> str:
    return Change.KEYS_ON.value if Change.KEYS_ON in command.changes else command.verb


def _sorts(command: Statement) -> bool:
    """Whether it builds indexes of a MyISAM table."""
    if not command.rewrites or command.is_done_at_once:
        return False
    into = [name.upper() for one in command.options for name, _ in one.pairs] if isinstance(command, AlterTable) else []
    return command.verb in WAITING or (command.verb == "ALTER TABLE" and "ENGINE" not in into)


def _key_bytes(command: Statement, indexes: Iterable[Row], state: ServerState) -> list[float]:
    """Of the keys that are sure to be sorted. Keys of variable length may be far shorter than they can be, so they prove nothing."""
    return [
        number_of(index["maximum_key_bytes"]) or 0.0
        for index in indexes
        if index["algorithm"] in ("btree", None)
        and index["is_packed"] == 0
        and index["is_variable_length"] == 0
        # ENABLE KEYS builds what is disabled.
        and not (Change.KEYS_ON in command.changes and index["is_enabled"] == 1)
        and not (command.verb == "ALTER TABLE" and index["is_unique"] == 1 and not _sorts_unique(index, state))
    ]


def _sorts_unique(index: Row, state: ServerState) -> bool:
    """Whether an ALTER of this server is sure to sort such a unique index."""
    longest = number_of(index["maximum_key_bytes"]) or 0.0
    return state.is_mariadb and not state.is_before(MARIADB_SORTS_UNIQUE_FROM) and longest > LONGEST_COUNTER_BYTES
