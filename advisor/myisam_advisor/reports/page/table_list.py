"""The list of all tables, as far as somebody wants to see it: searched, sorted, a page at a time.

An order is worked out once for each generation of facts, whoever asks how often: of a hundred thousand tables it takes a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.map_view import cut
from myisam_advisor.reports.page.view import moment
from myisam_advisor.texts.templates import count, percent, rate, size
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows

TABLES_A_PAGE = 100
LONGEST_SEARCH = 200
SHOWN_NAME = 64
Row = Mapping[str, Value]
READ = ("schema_name", "table_name", "rows", "data_bytes", "index_bytes", "data_resident_bytes", "rows_read_per_second",
        "write_statements_per_second", "crashed")  # fmt: skip


def _number(value: Value) -> float:
    """What is not known comes last."""
    return float(value) if isinstance(value, int | float) else -1.0


def _activity(row: Row) -> float | None:
    known = [row[name] for name in ("rows_read_per_second", "write_statements_per_second")]
    rates = [float(value) for value in known if isinstance(value, int | float)]
    return sum(rates) if rates else None


def _share(row: Row) -> float | None:
    resident, data = row["data_resident_bytes"], row["data_bytes"]
    return (
        min(resident / data, 1.0)
        if isinstance(resident, int | float) and isinstance(data, int | float) and data
        else None
    )


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list: its heading, its key in the address, what it says of a row, and what rows are sorted by, the largest first."""

    key: str
    heading: str
    says: Callable[[Row], str]
    sorts_by: Callable[[Row], float]


COLUMNS = (
    Column("rows", "rows", lambda row: count(_known(row["rows"])), lambda row: _number(row["rows"])),
    Column("data", "data", lambda row: size(_known(row["data_bytes"])), lambda row: _number(row["data_bytes"])),
    Column("index", "index", lambda row: size(_known(row["index_bytes"])), lambda row: _number(row["index_bytes"])),
    Column("memory", "in memory", lambda row: percent(_share(row)), lambda row: _number(_share(row))),
    Column("activity", "rows read, statements", lambda row: rate(_activity(row)), lambda row: _number(_activity(row))),
)  # fmt: skip
# How rows are sorted that are asked for by none of them: by name; or crashed ones first, then the most active, then the largest.
NAME, WORST = "name", "worst"
SORTS = (WORST, NAME, *(column.key for column in COLUMNS))


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be shown: names that hold `search`, sorted by one of SORTS; pages count from 1."""

    search: str = ""
    sort: str = WORST
    page: int = 1


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, the list sorted by it, and whether it is."""

    words: str
    address: str
    is_sorted: bool
    is_number: bool


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table as a line."""

    name: str
    address: str
    cells: tuple[str, ...]
    crashed: bool


@dataclass(frozen=True, slots=True)
class TableListView:
    """All that the template sets; `first` and `last` are addresses of pages, empty where there is none."""

    title: str
    server: str
    taken: str
    warning: str
    sentence: str
    search: str
    sort: str
    headings: tuple[Heading, ...]
    tables: tuple[ListedTable, ...]
    previous: str
    next: str
    links: Links


def table_list_view(look: Look, chosen: Chosen, links: Links, warning: str = "") -> TableListView:
    """The page of the list; a page behind the last one is the last."""
    facts = look.facts.tables["tables"]
    places = _found(facts, chosen)
    pages = max(-(-len(places) // TABLES_A_PAGE), 1)
    page = min(chosen.page, pages)
    shown = places[(page - 1) * TABLES_A_PAGE : page * TABLES_A_PAGE]

    def address(number: int, sort: str = chosen.sort) -> str:
        return links.tables(search=chosen.search, sort=sort, page=str(number))

    return TableListView(
        title="Tables",
        server=look.name,
        taken=moment(look.taken_at),
        warning=warning,
        sentence=_sentence(len(places), len(facts.rows), chosen.search, page, pages),
        search=chosen.search,
        sort=chosen.sort,
        headings=(
            Heading("table", address(1, NAME), chosen.sort == NAME, is_number=False),
            *(Heading(one.heading, address(1, one.key), chosen.sort == one.key, is_number=True) for one in COLUMNS),
        ),
        tables=tuple(_line(_row(facts, place), links) for place in shown),
        previous=address(page - 1) if page > 1 else "",
        next=address(page + 1) if page < pages else "",
        links=links,
    )


def _sentence(found: int, tables: int, search: str, page: int, pages: int) -> str:
    of_all = f" of {count(tables)}" if search else ""
    what = f"{count(found)}{of_all} MyISAM table{'s' if (tables if search else found) != 1 else ''}"
    return f"{what}{f'; page {count(page)} of {count(pages)}' if pages > 1 else ''}."


def _found(facts: FactRows, chosen: Chosen) -> Sequence[int]:
    """The places of the rows that are wanted, in their order."""
    order = facts.once(("order of the list", chosen.sort), lambda rows: _ordered(rows, chosen.sort))
    if not chosen.search:
        return order
    names, wanted = facts.once("folded names", _folded_names), chosen.search.casefold()
    return [place for place in order if wanted in names[place]]


def _ordered(facts: FactRows, sort: str) -> list[int]:
    rows = list(zip(*(facts.values(name) for name in READ), strict=True))
    by_name = sorted(range(len(rows)), key=lambda place: (str(rows[place][0]), str(rows[place][1])))
    if sort == NAME:
        return by_name
    columns = {column.key: column.sorts_by for column in COLUMNS}
    values = [_sort_value(dict(zip(READ, row, strict=True)), columns.get(sort)) for row in rows]
    return sorted(by_name, key=lambda place: values[place], reverse=True)  # which keeps the order of equals


def _sort_value(row: Row, sorts_by: Callable[[Row], float] | None) -> tuple[float, ...]:
    if sorts_by is not None:
        return (sorts_by(row),)
    return _number(row["crashed"]), _activity(row) or 0.0, _number(row["data_bytes"])


def _folded_names(facts: FactRows) -> list[str]:
    names = zip(facts.values("schema_name"), facts.values("table_name"), strict=True)
    return [f"{schema}.{table}".casefold() for schema, table in names]


def _row(facts: FactRows, place: int) -> Row:
    return dict(zip(facts.columns, facts.rows[place], strict=True))


def _line(row: Row, links: Links) -> ListedTable:
    schema, table = str(row["schema_name"]), str(row["table_name"])
    cells = tuple(column.says(row) for column in COLUMNS)
    return ListedTable(
        f"{cut(schema, SHOWN_NAME)}.{cut(table, SHOWN_NAME)}", links.table(schema, table), cells, bool(row["crashed"])
    )


def _known(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None
