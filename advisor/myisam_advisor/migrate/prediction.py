"""One migration as it is predicted: its tables, what becomes of each, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from myisam_advisor.migrate.meaning import Change, Subject, TableName, changes
from myisam_advisor.migrate.refusals import Refusal, refusals
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.migrate.sizes import Contents, Range, bytes_after, seconds
from myisam_advisor.migrate.tables import FoundTable
from myisam_exporter.files.structure import Column
from myisam_exporter.server.sql import quote_table, statement

MERGE = "MRG_MyISAM"
# The target refuses partitions of MyISAM; converted before the upgrade, they are none any more.
OF_PARTITIONS = 1178


@dataclass(frozen=True, slots=True)
class Prediction:
    """What becomes of one table. Times and sizes are None where they are not known."""

    name: TableName
    engine: str
    to: str
    errors: tuple[Refusal, ...]
    changes: tuple[Change, ...]
    contents: Contents | None
    seconds: Range | None
    bytes_after: Range | None
    row_format: str = ""
    columns: tuple[Column, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the ALTER is refused, whatever rows there are."""
        return bool(self.errors)


@dataclass(frozen=True, slots=True)
class Migration:
    """All tables that were asked for, in the order in which to convert them, and those of which nothing can be said."""

    here: ServerKind
    target: ServerKind | None
    to: str
    predictions: tuple[Prediction, ...]
    order: tuple[TableName, ...]
    left_out: tuple[tuple[str, str], ...]
    key_buffer_bytes: int | None
    cache_bytes: int | None
    disk_free_bytes: int | None


def predict(
    found: Sequence[FoundTable], to: str, here: ServerKind, target: ServerKind | None, available_bytes: float | None
) -> list[Prediction]:
    """What becomes of each table, on this server; and what the target refuses besides."""
    members = _members(found)
    moved = {one.name for one in found if one.structure is not None and one.structure.engine != MERGE}
    return [_one(table, to, here, target, available_bytes, members, moved) for table in found]


def _one(
    table: FoundTable, to: str, here: ServerKind, target: ServerKind | None, available_bytes: float | None,
    members: Mapping[TableName, list[TableName]], moved: set[TableName],
) -> Prediction:  # fmt: skip
    assert table.structure is not None
    errors = [one for one in refusals(table.structure, to, here, quote_table(*table.name)) if not one.may]
    errors = [*_of_state(table, here), *_of_merge(table, moved), *errors]
    if target is not None:
        known = {one.code for one in errors}
        errors += [
            Refusal(one.code, f"on {target.label}: {one.why}", one.mend)
            for one in refusals(table.structure, to, target, quote_table(*table.name))
            if not one.may and one.code not in known and one.code != OF_PARTITIONS
        ]
    subject = Subject(table.name, table.structure, to, target or here, members.get(table.name, ()))
    after = bytes_after(table.structure, table.contents, to, here.flavour) if table.contents else None
    lasts = seconds(after, to, here.flavour, available_bytes) if after else None
    return Prediction(
        table.name, table.structure.engine, to, tuple(errors), changes(subject), table.contents, lasts, after, table.structure.row_format,
        table.structure.columns,
    )  # fmt: skip


def _members(found: Sequence[FoundTable]) -> dict[TableName, list[TableName]]:
    merged: dict[TableName, list[TableName]] = {}
    for table in found:
        for member in table.union:
            merged.setdefault(member, []).append(table.name)
        for one in table.merged_in:
            if one not in merged.setdefault(table.name, []):
                merged[table.name].append(one)
    return merged


def _of_state(table: FoundTable, here: ServerKind) -> list[Refusal]:
    """A damaged table is not copied."""
    if table.problem:
        return [Refusal(1034, table.problem, statement("REPAIR TABLE {};", quote_table(*table.name)))]
    if table.crashed and not here.recovers:
        return [Refusal(1194, "it is marked as crashed", statement("REPAIR TABLE {};", quote_table(*table.name)))]
    return []


def _of_merge(table: FoundTable, moved: set[TableName]) -> list[Refusal]:
    """A MERGE table cannot be opened any more once a member is of another engine."""
    gone = [member for member in table.union if member in moved]
    if not gone:
        return []
    named = ".".join(gone[0])
    return [
        Refusal(
            1168,
            f"it is a MERGE table, and its member {named} is converted in this run: it opens no more",
            statement("DROP TABLE {};", quote_table(*table.name))
            + " Make a view of its members instead, with UNION ALL.",
        )
    ]


def in_order(predictions: Sequence[Prediction], idle: Mapping[TableName, float]) -> tuple[TableName, ...]:
    """Small and unread first, each database's tables together: a transaction mostly stays within one database.

    Those that fail come last, as they need work before. `idle` says how many seconds ago each was written.
    """
    by_schema: dict[str, float] = {}
    for one in predictions:
        size = float(one.contents.total_bytes if one.contents else 0)
        by_schema[one.name[0]] = by_schema.get(one.name[0], 0.0) + size

    def key(one: Prediction) -> tuple[object, ...]:
        size = one.contents.total_bytes if one.contents else 0
        return (one.fails, by_schema[one.name[0]], one.name[0], size, -idle.get(one.name, 0.0), one.name[1])

    return tuple(one.name for one in sorted(predictions, key=key))


def wanted_cache_bytes(predictions: Sequence[Prediction]) -> Range:
    """What the new engine's cache would take to hold all of them."""
    known = [one.bytes_after for one in predictions if one.bytes_after and not one.fails]
    return sum(low for low, _ in known), sum(high for _, high in known)
