"""All that is known of one table, in words: decided once, for the terminal (`myisam-advisor table`) and for the page.

Nothing here is escaped for a medium: who draws it makes names harmless.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.reports.table_trials import Trial, table_trials
from myisam_advisor.texts.column_units import in_words
from myisam_advisor.texts.templates import count, duration, object_name, percent, size
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row, TableName, Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows, FactSet, places_by_table
from myisam_exporter.server.sql import Sql, quote_table, statement

Points = Sequence[tuple[float, float | None]]

# What is told of a table, under headings: the column, and what it is called.
SECTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("State", (
        ("crashed", "Crashed"), ("header_problem", "Index file"), ("recovery_failed", "Automatic repair failed"),
        ("crashed_partitions", "Crashed partitions"),
    )),
    ("Format and size", (
        ("row_format", "Row format"), ("fixed_row_bytes", "A row in fixed format"), ("rows", "Rows"), ("deleted_rows", "Deleted rows"),
        ("data_bytes", "Data file"), ("index_bytes", "Index file"), ("free_bytes", "Holes in the data file"),
        ("fragments_per_row", "Fragments per row"), ("max_data_bytes", "Limit of the data file"), ("max_index_bytes", "Limit of the index file"),
        ("partitions", "Partitions"), ("fullest_partition", "Fullest partition"), ("fullest_partition_used_ratio", "Of its limit used"),
        ("pack_keys_option", "PACK_KEYS"), ("blob_columns", "BLOB and TEXT columns"),
        ("auto_increment_within_index", "AUTO_INCREMENT within a group"), ("data_modified_seconds_ago", "Data changed"),
    )),
    ("Activity", (
        ("rows_read_per_second", "Rows read"), ("rows_changed_per_second", "Rows changed"), ("rows_added_per_second", "Rows added"),
        ("write_statements_per_second", "Write statements"), ("rows_per_write_statement", "Rows a write statement"),
        ("lock_wait_seconds_per_second", "Waiting for its lock"),
    )),
    ("In memory", (
        ("key_cache", "Key cache"), ("data_resident_bytes", "Data in the page cache"), ("index_resident_bytes", "Index file in the page cache"),
        ("data_dirty_bytes", "Not yet written"), ("data_recently_evicted_bytes", "Data evicted recently"),
        ("index_recently_evicted_bytes", "Index evicted recently"), ("data_evicted_bytes", "Data evicted, not back yet"),
        ("data_lookups_per_second", "Data pages asked for"), ("data_insertions_per_second", "Data pages read in"),
        ("data_page_cache_hit_ratio", "Page-cache hits of the data"), ("index_lookups_per_second", "Index pages asked for"),
        ("index_insertions_per_second", "Index pages read in"),
    )),
)  # fmt: skip
# Told where it is so, and left out where it is not.
ONLY_IF_SO = ("crashed", "recovery_failed", "auto_increment_within_index", "blob_columns")
# Missing in most tables, for no reason that somebody could mend.
MAY_BE_ABSENT = (
    "header_problem", "crashed_partitions", "fixed_row_bytes", "partitions", "fullest_partition", "fullest_partition_used_ratio",
    "fragments_per_row", "rows_per_write_statement", "data_page_cache_hit_ratio",
)  # fmt: skip
# Of what a column is the part.
WHOLES = {
    "free_bytes": "data_bytes", "data_resident_bytes": "data_bytes", "data_dirty_bytes": "data_bytes", "data_evicted_bytes": "data_bytes",
    "data_recently_evicted_bytes": "data_bytes", "index_resident_bytes": "index_bytes", "index_recently_evicted_bytes": "index_bytes",
}  # fmt: skip
LIMITS = {"max_data_bytes": "data_bytes", "max_index_bytes": "index_bytes"}
# The curves of a table, as the history has them.
CURVES = (
    ("rows", "Rows"), ("data_bytes", "Data file"), ("index_bytes", "Index file"), ("free_bytes", "Holes in the data file"),
    ("rows_read_per_second", "Rows read"), ("write_statements_per_second", "Write statements"), ("rows_added_per_second", "Rows added"),
    ("lock_wait_seconds_per_second", "Waiting for its lock"), ("data_resident_bytes", "Data in the page cache"),
    ("index_resident_bytes", "Index file in the page cache"), ("data_recently_evicted_bytes", "Data evicted recently"),
)  # fmt: skip
OF_OTHERS_ONLY = Unknown("known of other tables, not of this one")
# The index file of a table without indexes: its header alone.
HEADER_BYTES = 1024
SMALLEST_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class ToldValue:
    """Something known of a table: the fact (a column of `tables`), what it is called, and its value with the unit."""

    fact: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Section:
    """What belongs together."""

    heading: str
    values: tuple[ToldValue, ...]


@dataclass(frozen=True, slots=True)
class ToldIndex:
    """An index in words. `name` is empty where it is not known: the .MYI file does not hold it."""

    number: int
    name: str
    columns: str
    kind: str
    keys: str
    search: str
    page: str
    longest_key: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class TableCurve:
    """A fact of the table over time: (moment, value), None where it was unknown. `column` tells the unit (texts/column_units.py)."""

    column: str
    label: str
    points: tuple[tuple[float, float | None], ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """Facts of the table that are not known, for one reason, and what would tell them."""

    labels: tuple[str, ...]
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class OneTable:
    """All that is known of one table.

    `label` is its name as SQL takes it, `summary` a line that says what it is. `findings` are about it, or would change it;
    `elsewhere` are those about the whole server. `untried` says why there is no trial. `show_indexes` is the statement that tells the
    names of indexes and their cardinality, which nothing here does: it opens the table.
    """

    schema: str
    table: str
    label: str
    summary: str
    sections: tuple[Section, ...]
    indexes: tuple[ToldIndex, ...]
    indexes_unknown: str
    show_indexes: Sql
    curves: tuple[TableCurve, ...]
    findings: tuple[Finding, ...]
    elsewhere: tuple[Finding, ...]
    trials: tuple[Trial, ...]
    untried: str
    missing: tuple[Missing, ...]
    row: Row
    index_rows: tuple[Row, ...]


def table_names(facts: FactSet) -> Mapping[TableName, int]:
    """The place of each table's row in the fact table, by (database, table)."""
    return cast("Mapping[TableName, int]", facts.tables["tables"].places_by_name())  # names are texts


def curve_names(schema: str, table: str) -> dict[str, str]:
    """The names that a history has for the table's curves, each with its column."""
    return {f"tables.{column}[{schema}.{table}]": column for column, _ in CURVES}


def one_table(
    facts: FactSet, judgement: Judgement, name: TableName, curves: Mapping[str, Points] | None = None
) -> OneTable | None:
    """What is known of a table; None where the facts hold no such table. `curves` are by column (CURVES)."""
    place = table_names(facts).get(name)
    if place is None:
        return None
    rows = facts.tables["tables"]
    row = rows.row(place)
    indexes = index_rows(facts.tables["indexes"], name)
    findings = tuple(_about(judgement.findings, name))
    trials, untried = table_trials(name, row, indexes, facts.single("server"))
    return OneTable(
        *name,
        object_name(*name),
        _summary(row, indexes),
        tuple(_sections(row)),
        tuple(map(_index, indexes)),
        "" if indexes or row["index_bytes"] == HEADER_BYTES else _why_no_indexes(facts),
        statement("SHOW INDEX FROM {};", quote_table(*name)),
        tuple(_curves(curves or {})),
        findings,
        tuple(one for one in judgement.findings if one.scope == "server" and one not in findings),
        trials,
        untried,
        tuple(_missing(facts, row)),
        row,
        tuple(indexes),
    )


def index_rows(indexes: FactRows, name: tuple[Value, Value]) -> list[Row]:
    """The rows of one table's indexes; where each table's are is worked out once for each generation of facts."""
    places = indexes.once("places by name", places_by_table).get(name, ())
    return [indexes.row(place) for place in places]


def _curves(curves: Mapping[str, Points]) -> Iterable[TableCurve]:
    """Those of which anything is known."""
    for column, label in CURVES:
        points = curves.get(column, ())
        if any(value is not None for _, value in points):
            yield TableCurve(column, label, tuple(points))


def _why_no_indexes(facts: FactSet) -> str:
    return OF_OTHERS_ONLY.reason if facts.tables["indexes"].rows else facts.why_unknown("indexes").reason


def _about(findings: Iterable[Finding], name: TableName) -> Iterable[Finding]:
    """Findings about the table, then those whose statements would change it: a layout of key caches names many tables."""
    label, others = object_name(*name), []
    for finding in findings:
        if finding.object == label:
            yield finding
        elif any(isinstance(one, Statement) and one.table == name for one in finding.remedy.commands):
            others.append(finding)
    yield from others


def _summary(row: Row, indexes: Sequence[Row]) -> str:
    parts = [f"{row['row_format']} rows" if row["row_format"] else "MyISAM"]
    if isinstance(row["rows"], int):
        parts.append(f"{count(row['rows'])} {'row' if row['rows'] == 1 else 'rows'}")
    parts += [
        f"{size(value)} {what}"
        for what, value in (("data", number_of(row["data_bytes"])), ("indexes", number_of(row["index_bytes"])))
        if value is not None
    ]
    if indexes:
        parts.append(f"{len(indexes)} index{'es' if len(indexes) != 1 else ''}")
    return " · ".join([*parts, *(["crashed"] if row["crashed"] else [])])


def _sections(row: Row) -> Iterable[Section]:
    for heading, columns in SECTIONS:
        values = tuple(
            ToldValue(column, label, _in_words(column, row))
            for column, label in columns
            if row.get(column) is not None and (row[column] or column not in ONLY_IF_SO)
        )
        if values:
            yield Section(heading, values)


def _in_words(column: str, row: Row) -> str:
    value = row[column]
    if column in ("crashed", "recovery_failed", "auto_increment_within_index"):
        return "yes"
    if column == "data_modified_seconds_ago":
        age = number_of(value) or 0.0
        return f"{duration(age)} ago" if age >= 1 else "just now"
    words = in_words(column, value)
    number, whole = number_of(value), number_of(row.get(WHOLES.get(column, LIMITS.get(column, ""))))
    if number is None or whole is None:
        return words
    if column in LIMITS:
        return f"{words}, {_used(whole / number)} used" if number > 0 else words
    # Of the last page all is in memory, whatever the file has of it.
    return (
        "none"
        if not number
        else f"all of {size(whole)}"
        if number >= whole
        else f"{words} of {size(whole)} ({percent(number / whole)})"
    )


def _used(share: float) -> str:
    return percent(share) if share >= SMALLEST_SHARE or not share else f"less than {percent(SMALLEST_SHARE)}"


def _index(row: Row) -> ToldIndex:
    kind = str(row["algorithm"] or "")
    return ToldIndex(
        int(number_of(row["index_number"]) or 0),
        str(row["index_name"] or ""),
        str(row["key_description"] or ""),
        f"unique {kind}".strip() if row["is_unique"] else kind,
        _keys(row),
        _search(row),
        in_words("page_bytes", row["page_bytes"]),
        in_words("maximum_key_bytes", row["maximum_key_bytes"]),
        row["is_enabled"] != 0,
    )


def _keys(row: Row) -> str:
    if row["is_packed"] is None:
        return ""
    return (
        f"{'packed' if row['is_packed'] else 'not packed'}{', of varying length' if row['is_variable_length'] else ''}"
    )


def _search(row: Row) -> str:
    """How a page is searched; only a B-tree's may be."""
    if row["binary_search"] is None or row["algorithm"] != "btree":
        return ""
    if row["binary_search"]:
        return "by binary search"
    return "from the start" + (", by binary search with PACK_KEYS=0" if row["binary_search_without_packing"] else "")


def _missing(facts: FactSet, row: Row) -> Iterable[Missing]:
    """What is not known though it might be, by reason."""
    reasons: dict[Unknown, list[str]] = {}
    for _, columns in SECTIONS:
        for column, label in columns:
            if row.get(column) is None and column not in MAY_BE_ABSENT:
                of_others = facts.tables["tables"].has(column)
                why = OF_OTHERS_ONLY if of_others else facts.why_unknown("tables", column)
                reasons.setdefault(why, []).append(label)
    for reason, labels in reasons.items():
        yield Missing(tuple(labels), reason.reason, reason.remedy)
