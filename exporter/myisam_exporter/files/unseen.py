"""What a look into the data directory did not see, in words: what cannot be read, what is no table, and what there is no room for."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.definition_reader import MAXIMUM_NAMES
from myisam_exporter.files.indexes_of_scan import indexes_of
from myisam_exporter.files.left_out import NOT_READ, LeftOut
from myisam_exporter.kernel.rights import READ_FILES

NAMED_UNREADABLE = 5
NOT_LOOKED_INTO = "take away links and special files that are not the server's"
GIVE_BACK = "give them to the user that the server runs as (chown), or take them away"
# Nothing is said of REPAIR TABLE: it would write to that disk, and may lose rows that another try reads.
CHECK_DISK = (
    "the disk, or what serves it, failed: the kernel's log says more (journalctl -k); copy what can be read to another disk, "
    "and repair no table before that"
)
CHECK_DEFINITIONS = (
    "ask the server whether it can read them (CHECK TABLE), and restore those that it cannot from a backup"
)


def unseen_in(scan: DataDirectoryScan) -> list[Unknown]:
    """All of it."""
    found = (
        incomplete(scan),
        _not_looked_into(scan),
        _without_indexes(scan),
        _without_merge_lists(scan),
        definitions_unread(scan),
    )
    return [one for one in found if one is not None]


def incomplete(scan: DataDirectoryScan) -> Unknown | None:
    """Directories and files of tables that could not be read, or that are another user's; None where there are none."""
    unread = [LeftOut(name, NOT_READ, True) for name in scan.unreadable]
    others = [one for one in scan.left_out if one.is_table]
    if not unread and not others:
        return None
    seen = "not all tables" if scan.files else "none of the tables"
    has_failed = any(one.has_failed for one in others)
    remedy = CHECK_DISK if has_failed else READ_FILES if unread else GIVE_BACK
    return Unknown(f"{seen} can be seen: {_named([*others, *unread])}", remedy)


def definitions_unread(scan: DataDirectoryScan) -> Unknown | None:
    """Tables whose .frm could not be read; None where there are none."""
    tables = scan.read_definitions().unread
    if not tables:
        return None
    count = f"{len(tables)} table{'s' if len(tables) != 1 else ''}"
    names = _named([LeftOut(name, "", True) for name in tables])
    return Unknown(f"the definitions (.frm) of {count} cannot be read: {names}", CHECK_DEFINITIONS)


def _not_looked_into(scan: DataDirectoryScan) -> Unknown | None:
    no_tables = [one for one in scan.left_out if not one.is_table]
    if not no_tables:
        return None
    return Unknown(f"in the data directory, but not looked into: {_named(no_tables)}", NOT_LOOKED_INTO)


def _without_indexes(scan: DataDirectoryScan) -> Unknown | None:
    left_out = indexes_of(scan).tables_left_out
    if not left_out:
        return None
    return Unknown(f"the indexes of {left_out} tables are not told: all of them together would take too much memory")


def _without_merge_lists(scan: DataDirectoryScan) -> Unknown | None:
    left_out = scan.merge_lists_left_out
    if not left_out:
        return None
    lists = f"{left_out} MERGE table{'s are' if left_out != 1 else ' is'}"
    return Unknown(f"what {lists} made of is not told: their lists would name more than {MAXIMUM_NAMES} tables")


def _named(entries: Sequence[LeftOut]) -> str:
    """The first of them, each with why, and how many more there are."""
    more = len(entries) - NAMED_UNREADABLE
    named = [f"{one.name} ({one.why})" if one.why else one.name for one in entries[:NAMED_UNREADABLE]]
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
