"""The list of all tables, as far as somebody wants to see it: searched, sorted, a page at a time.

An order is worked out once for each generation of facts, whoever asks how often: of a hundred thousand tables it takes a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.map_view import cut_table
from myisam_advisor.reports.page.view import moment
from myisam_advisor.texts.templates import count, percent, rate, size
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import numbers_in, real_of
from myisam_exporter.look.fact_set import FactRows

TABLES_A_PAGE = 100
LONGEST_SEARCH = 200
SHOWN_NAME = 64
RATES = ("rows_read_per_second", "write_statements_per_second")


def _activity(rates: Iterable[Value]) -> float | None:
    """The sum of those that are known."""
    known = numbers_in(rates)
    return float(sum(known)) if known else None


def _share(resident: Value, data: Value) -> float | None:
    if not (isinstance(resident, int | float) and isinstance(data, int | float) and data):
        return None
    return min(resident / data, 1.0)


def _numbers(column: str) -> Callable[[FactRows], Iterable[float | None]]:
    return lambda facts: map(real_of, facts.values(column))


def _shares(facts: FactRows) -> Iterable[float | None]:
    return map(_share, facts.values("data_resident_bytes"), facts.values("data_bytes"))


def _activities(facts: FactRows) -> Iterable[float | None]:
    return map(_activity, zip(*map(facts.values, RATES), strict=True))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list: its key in the address, its heading, what it says of a row, and what all rows are sorted by, the largest first."""

    key: str
    heading: str
    says: Callable[[Row], str]
    sorts_by: Callable[[FactRows], Iterable[float | None]]


COLUMNS = (
    Column("rows", "rows", lambda row: count(real_of(row["rows"])), _numbers("rows")),
    Column("data", "data", lambda row: size(real_of(row["data_bytes"])), _numbers("data_bytes")),
    Column("index", "index", lambda row: size(real_of(row["index_bytes"])), _numbers("index_bytes")),
    Column("memory", "in memory", lambda row: percent(_share(row["data_resident_bytes"], row["data_bytes"])), _shares),
    Column("activity", "rows read, statements", lambda row: rate(_activity(map(row.__getitem__, RATES))), _activities),
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
        tables=tuple(_line(facts.row(place), links) for place in shown),
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
    """By name, or by what is known the largest first; equals by name."""
    if sort == NAME:
        names = [*zip(map(str, facts.values("schema_name")), map(str, facts.values("table_name")), strict=True)]
        return sorted(range(len(names)), key=names.__getitem__)
    by_name = facts.once(("order of the list", NAME), lambda rows: _ordered(rows, NAME))
    if sort == WORST:
        return sorted(by_name, key=_worst(facts).__getitem__, reverse=True)
    values = [*map(_comparable, _column(sort).sorts_by(facts))]
    return sorted(by_name, key=values.__getitem__, reverse=True)


def _column(key: str) -> Column:
    return next(column for column in COLUMNS if column.key == key)


def _comparable(value: float | None) -> float:
    """What is not known comes last."""
    return -1.0 if value is None else value


def _worst(facts: FactRows) -> list[tuple[float, float, float]]:
    crashed, data = (map(_comparable, _numbers(name)(facts)) for name in ("crashed", "data_bytes"))
    activities = (activity or 0.0 for activity in _activities(facts))
    return [*zip(crashed, activities, data, strict=True)]


def _folded_names(facts: FactRows) -> list[str]:
    names = zip(facts.values("schema_name"), facts.values("table_name"), strict=True)
    return [f"{schema}.{table}".casefold() for schema, table in names]


def _line(row: Row, links: Links) -> ListedTable:
    schema, table = str(row["schema_name"]), str(row["table_name"])
    cells = tuple(column.says(row) for column in COLUMNS)
    name = cut_table(schema, table, SHOWN_NAME)
    return ListedTable(name, links.table(schema, table), cells, bool(row["crashed"]))
