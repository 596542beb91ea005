"""One table's page: all that is known of it, as `myisam-advisor table` tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.reports.one_table import OneTable, Points, ToldIndex, one_table
from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.sparkline import sparkline
from myisam_advisor.reports.page.view import (
    CURVE_SECONDS,
    Block,
    CurveView,
    FindingView,
    cleaner,
    finding_views,
    moment,
)
from myisam_advisor.reports.told import told
from myisam_advisor.texts.column_units import in_words
from myisam_advisor.texts.templates import object_name, printable
from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TablePageView:
    """All that the template sets. `indexes` have a line each: number or name, then what is known of it."""

    title: str
    server: str
    taken: str
    warning: str
    summary: str
    crashed: bool
    findings: tuple[FindingView, ...]
    elsewhere: tuple[tuple[str, str, str], ...]
    sections: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    indexes: tuple[tuple[str, ...], ...]
    indexes_unknown: str
    show_indexes: Block
    curves: tuple[CurveView, ...]
    trials: tuple[tuple[str, Block], ...]
    untried: str
    missing: tuple[tuple[str, str, str], ...]
    links: Links


@dataclass(frozen=True, slots=True)
class NoTableView:
    """A table that the last look has not seen."""

    title: str
    server: str
    search: str
    links: Links


def table_page_view(
    look: Look, name: tuple[str, str], curves: Mapping[str, Points], links: Links, *, warning: str, paths: bool
) -> TablePageView | NoTableView:
    """The page of a table; `curves` are by column."""
    told_table = one_table(look.facts, look.judgement, name, curves)
    if told_table is None:
        return NoTableView(printable(object_name(*name)), look.name, name[1], links)
    return _view(told_table, look, links, warning, paths)


def _view(table: OneTable, look: Look, links: Links, warning: str, paths: bool) -> TablePageView:
    clean, command = cleaner(look, paths)
    rules = told(replace(look.judgement, findings=table.findings), look.facts).rules
    statement = printable(str(table.show_indexes))
    return TablePageView(
        title=printable(table.label),
        server=look.name,
        taken=moment(look.taken_at),
        warning=clean(warning),
        summary=printable(table.summary),
        crashed=bool(table.row["crashed"]),
        findings=tuple(finding_views(rules, clean, command)),
        elsewhere=tuple((one.rule, one.severity, clean(one.title)) for one in table.elsewhere),
        sections=tuple(
            (part.heading, tuple((value.label, clean(value.value)) for value in part.values)) for part in table.sections
        ),
        indexes=tuple(map(_index, table.indexes)),
        indexes_unknown=clean(table.indexes_unknown),
        show_indexes=Block("Names and cardinality (it opens the table)", statement, statement != table.show_indexes),
        curves=tuple(_curves(table, look.taken_at)),
        trials=tuple((clean(one.why), _trial(text_of(one.command))) for one in table.trials),
        untried=clean(table.untried),
        missing=tuple((", ".join(one.labels), clean(one.why), clean(one.remedy)) for one in table.missing),
        links=links,
    )


def _trial(line: str) -> Block:
    shown = printable(line)
    return Block("On a copy of it", shown, shown != line)


def _index(index: ToldIndex) -> tuple[str, ...]:
    enabled = "" if index.enabled else "disabled"
    told_of = (index.name, index.columns, index.kind, index.keys, index.search, index.page, index.longest_key, enabled)
    return (str(index.number), *map(printable, told_of))


def _curves(table: OneTable, end: float) -> list[CurveView]:
    views = []
    for curve in table.curves:
        line = sparkline(curve.points, end, CURVE_SECONDS)
        if line is not None:
            latest, lowest, highest = (
                in_words(curve.column, value) for value in (line.latest, line.lowest, line.highest)
            )
            views.append(CurveView(curve.label, line, latest, lowest, highest))
    return views
