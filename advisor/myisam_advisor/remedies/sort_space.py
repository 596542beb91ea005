"""The file in tmpdir that sorts an index, and what comes of a rebuild that tmpdir has no room for.

Tried with 0.5 million keys of 60 bytes and a tmpdir of 16 MiB (MySQL 5.6.24, MariaDB 10.11.19): REPAIR and OPTIMIZE wait for space with the table locked, and end
a minute after there is some; ENABLE KEYS and ALTER go on key by key. storage/myisam/ha_myisam.cc: enable_indexes() takes MY_WAIT_IF_FULL away, repair() does not.
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.remedies.statements.base import Change, Statement
from myisam_advisor.remedies.statements.tables import AlterTable
from myisam_advisor.texts.templates import size
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of

# A sort keeps a pointer to each of its keys beside them (storage/myisam/sort.c).
POINTER_BYTES = 8
# Fewer bytes of keys are built through the key cache within seconds.
FELT_BYTES = 64 << 20
# Rows are added until the statement runs.
HEADROOM = 1.1
WAITING = frozenset({"REPAIR TABLE", "OPTIMIZE TABLE"})


def space_refusal(command: Statement, row: Row, indexes: Iterable[Row], host: Row, buffer_bytes: Value) -> str:
    """Why a rebuild is to wait until tmpdir has room; empty where it has, where the sort needs none, or where that is not known."""
    rows, free = number_of(row.get("rows")), number_of(host.get("temporary_directory_free_bytes"))
    key_bytes = _longest_key_bytes(command, indexes) if _sorts(command) else 0
    if rows is None or free is None or not key_bytes:
        return ""
    needed, in_memory = int(rows * key_bytes), int(rows * (key_bytes + POINTER_BYTES))
    waits = command.verb in WAITING
    if needed <= free or in_memory <= (number_of(buffer_bytes) or 0) or (needed < FELT_BYTES and not waits):
        return ""
    then = "wait there for space" if waits else "go on key by key, through the key cache"
    return (
        f"No {_name(command)} yet: to sort an index it writes about {size(needed)} to tmpdir, which has {size(free)} free; it would {then}, with the table locked. "
        f"Make room in tmpdir first, or sort in memory, where as much is available: SET SESSION myisam_sort_buffer_size = {int(in_memory * HEADROOM)}; in the session that runs it."
    )


def _name(command: Statement) -> str:
    return Change.KEYS_ON.value if Change.KEYS_ON in command.changes else command.verb


def _sorts(command: Statement) -> bool:
    """Whether it builds indexes of a MyISAM table."""
    if not command.rewrites or Change.KEYS_OFF in command.changes:
        return False
    into = [name.upper() for one in command.options for name, _ in one.pairs] if isinstance(command, AlterTable) else []
    return command.verb in WAITING or (command.verb == "ALTER TABLE" and "ENGINE" not in into)


def _longest_key_bytes(command: Statement, indexes: Iterable[Row]) -> float:
    """Of the keys that are sure to be sorted; 0 where there are none. Keys of variable length may be far shorter than they can be, so they prove nothing."""
    return max(
        (
            number_of(index["maximum_key_bytes"]) or 0.0
            for index in indexes
            if index["algorithm"] in ("btree", None)
            and index["is_packed"] == 0
            and index["is_variable_length"] == 0
            # ENABLE KEYS builds what is disabled; an ALTER writes unique indexes row by row.
            and not (Change.KEYS_ON in command.changes and index["is_enabled"] == 1)
            and not (command.verb == "ALTER TABLE" and index["is_unique"] == 1)
        ),
        default=0.0,
    )
