"""The pages of text behind the list: one table, the findings, what is not known, the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from myisam_advisor.judging.findings import Finding
from myisam_advisor.reports.one_table import index_rows
from myisam_advisor.reports.seen_statements import (
    SCANS,
    cells,
    heading,
    headings,
    is_scan,
    locks_of,
    remarks,
    shortened,
    shown_kinds,
)
from myisam_advisor.texts.templates import count, percent, size
from myisam_advisor.top.columns import COLUMNS, names_of
from myisam_advisor.top.scene import Scene, findings_naming, missing, table
from myisam_advisor.top.trails import GAUGES
from myisam_advisor.top.view import FINDINGS, HELP, STATEMENTS, TABLE, WHY
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows, FactSet

# Of a kind in the list; all of it stands below.
KIND_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with what stands below it: pairs of a label and a text, a grid whose first row are its headings, or paragraphs.

    `tone` is the colour of the heading, as a verdict has one.
    """

    heading: str
    pairs: Sequence[tuple[str, str]] = ()
    grid: Sequence[Sequence[str]] = ()
    paragraphs: Sequence[str] = field(default=())
    tone: str = ""


KEYS = (
    ("up, down, k, j", "choose a table; also Page Up, Page Down, Home, End"),
    ("Enter", "all that is known of the chosen table"),
    ("s, S or >, <", "sort by the next column, by the one before"),
    ("r", "reverse the order"),
    ("/", "show the tables only whose name holds a text; Esc takes that back"),
    ("p or space", "pause: the server is not looked at meanwhile"),
    ("+, -", "look less often, more often"),
    ("f", "the findings"),
    ("t", "the kinds of statements that hold locks (with --statements)"),
    ("w", "why a number is not known, and what helps"),
    ("? or h", "this page"),
    ("Esc", "back to the list"),
    ("q", "quit"),
)


def page(scene: Scene) -> list[Part]:
    """The page that the view asks for."""
    return list(
        {TABLE: _table, FINDINGS: _findings, STATEMENTS: _statements, WHY: _why, HELP: _help}[scene.view.page](scene)
    )


def _help(_: Scene) -> Iterable[Part]:
    yield Part("Keys", pairs=KEYS)
    yield Part("The numbers above", pairs=[(gauge.label, gauge.means) for gauge in GAUGES])
    yield Part("The columns of the tables", pairs=[(column.heading, column.means) for column in COLUMNS])
    yield Part(
        "What is judged",
        paragraphs=(
            "Numbers are those since the look before; the verdict is over the last ten seconds. A dash is a number that is not known.",
        ),
    )


def _why(scene: Scene) -> Iterable[Part]:
    found = missing(scene)
    if not found:
        yield Part("Every number that is shown is known.")
    for one in found:
        remedy = [("remedy", one.reason.remedy)] if one.reason.remedy else []
        yield Part(", ".join(one.labels), pairs=[("unknown", one.reason.reason), *remedy])
    for spot in scene.moment.judgement.blind if scene.moment else ():
        yield Part(spot.sentence, pairs=[("why", spot.why), ("remedy", spot.remedy)], tone="unknown")


def _findings(scene: Scene) -> Iterable[Part]:
    findings = scene.moment.judgement.findings if scene.moment else ()
    if not findings:
        yield Part("No findings." if scene.moment else "Nothing was judged so far.")
    yield from map(_finding, findings)


def _statements(scene: Scene) -> Iterable[Part]:
    if scene.moment is None:
        return
    seen = scene.moment.statements
    if seen is None:
        yield Part("Statements are not watched.", paragraphs=("Begin with `myisam-advisor top --statements`.",))
        return
    if not seen.seconds:
        yield Part(heading(seen), paragraphs=seen.notes)
        return
    shown = list(enumerate(shown_kinds(seen), 1))
    rows = [(f"{number}.", *cells(kind, seen.seconds), _clipped(kind.fingerprint)) for number, kind in shown]
    yield Part(heading(seen), grid=[("", *headings(seen), "kind"), *rows] if rows else ())
    for number, kind in shown:
        yield Part(
            f"{number}. {shortened(kind.fingerprint)}{SCANS if is_scan(kind) else ''}", paragraphs=(locks_of(kind),)
        )
    yield Part("What is not in it", paragraphs=remarks(seen))


def _clipped(fingerprint: str) -> str:
    return fingerprint if len(fingerprint) <= KIND_WIDTH else f"{fingerprint[: KIND_WIDTH - 1]}…"


def _finding(finding: Finding) -> Part:
    about = f" · {finding.object}" if finding.object else ""
    pairs = [("do", finding.recommendation), ("cost", finding.cost), ("more", f"myisam-advisor explain {finding.rule}")]
    heading = f"{finding.severity}: {finding.title}{about}"
    return Part(heading, paragraphs=(finding.message,), pairs=pairs, tone=finding.severity)


def _table(scene: Scene) -> Iterable[Part]:
    rows, name = scene.tables, scene.view.selected or ""
    place = names_of(rows).index(name) if rows is not None and name in names_of(rows) else None
    if rows is None or scene.facts is None or place is None:
        yield Part(f"{name}: this table is not there any more, or cannot be seen.", tone="unknown")
        return
    row = rows.row(place)
    yield Part(name, pairs=list(_of_file(row)), tone="critical" if row.get("crashed") else "")
    yield Part("Now", pairs=_now(rows, place))
    yield Part("Indexes", grid=_indexes(scene.facts, row))
    findings = findings_naming(scene.moment.judgement.findings if scene.moment else (), name)
    if not findings:
        yield Part("No finding names this table.")
    yield from map(_finding, findings)


def _now(rows: FactRows, place: int) -> list[tuple[str, str]]:
    shown = table(rows, place, COLUMNS)
    return [
        (f"{column.heading}", f"{cell}  ({column.means})") for column, cell in zip(COLUMNS, shown.cells, strict=True)
    ]


def _of_file(row: Row) -> Iterable[tuple[str, str]]:
    def number(name: str) -> float | None:
        return number_of(row.get(name))

    def has(name: str) -> bool:
        return number(name) is not None

    if row.get("crashed"):
        yield "state", "marked crashed: statements on it fail, or return wrong rows"
    if row.get("header_problem"):
        yield "header", str(row["header_problem"])
    fragments = (
        f", each row in {count(number('fragments_per_row'))} parts on average"
        if number("fragments_per_row") not in (None, 1)
        else ""
    )
    yield "row format", f"{row.get('row_format') or 'unknown'}{fragments}"
    deleted = f", {count(number('deleted_rows'))} deleted" if has("deleted_rows") else ""
    yield "rows", f"{count(number('rows'))}{deleted}"
    holes = f", {size(number('free_bytes'))} of it holes" if number("free_bytes") else ""
    limit = f", of at most {size(number('max_data_bytes'))}" if has("max_data_bytes") else ""
    yield "data", f"{size(number('data_bytes'))}{limit}{holes}"
    yield "indexes", size(number("index_bytes"))
    yield "in memory", f"data {_resident(row, 'data')}, index file {_resident(row, 'index')}"
    if has("data_evicted_bytes"):
        recently = number("data_recently_evicted_bytes")
        yield "evicted", size(number("data_evicted_bytes")) + (f", {size(recently)} recently" if recently else "")
    if row.get("key_cache"):
        yield "key cache", str(row["key_cache"])
    if has("partitions"):
        yield "partitions", count(number("partitions"))


def _resident(row: Row, part: str) -> str:
    resident, whole = row.get(f"{part}_resident_bytes"), row.get(f"{part}_bytes")
    if not isinstance(resident, int | float) or not isinstance(whole, int | float):
        return "unknown"
    return f"{size(resident)} ({percent(min(resident / whole, 1.0))})" if whole else size(resident)


def _indexes(facts: FactSet, row: Row) -> list[Sequence[str]]:
    indexes = facts.tables["indexes"]
    mine = index_rows(indexes, (row["schema_name"], row["table_name"]))
    if not mine:
        why = facts.why_unknown("indexes")
        return [(f"none is known: {why.reason}",)] if not indexes.rows else [("it has none",)]
    heading = ("no.", "columns", "kind", "packed", "search", "page", "entry")
    return [heading, *map(_index, mine)]


def _index(row: Row) -> tuple[str, ...]:
    kind = f"{'unique ' if row.get('is_unique') else ''}{row.get('algorithm') or 'unknown'}"
    enabled = "" if row.get("is_enabled") in (None, 1) else ", disabled"
    return (
        str(row.get("index_number")),
        str(row.get("index_name") or row.get("key_description") or "unknown"),
        kind + enabled,
        _one_or_other(row.get("is_packed"), "yes", "no"),
        _one_or_other(row.get("binary_search"), "binary", "from its start"),
        size(row.get("page_bytes")),  # type: ignore[arg-type]  # of each index the header has both
        size(row.get("maximum_key_bytes")),  # type: ignore[arg-type]
    )


def _one_or_other(value: Value, yes: str, no: str) -> str:
    return "unknown" if value is None else yes if value else no
