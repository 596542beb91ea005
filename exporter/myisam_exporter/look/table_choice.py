"""Which tables get series of their own: the most active and the largest, up to a limit; the others are summed, never lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from myisam_exporter.errors import UserError
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows

DEFAULT_LIMIT = 100
# Activity fades by half in ten looks: a table does not lose its series the moment it pauses.
FADING = 0.5**0.1
NEGLIGIBLE_PER_SECOND = 1e-3
TableName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Choice:
    """The tables shown and those that are summed: rows of the fact table `tables`."""

    shown: FactRows
    omitted: FactRows


@dataclass(slots=True)
class TableChooser:
    """Chooses tables, look after look; `include` and `exclude` are matched against `schema.table`, whole.

    Half of the places go to the most active, the rest to the largest; damaged tables come first.
    """

    limit: int = DEFAULT_LIMIT
    include: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None
    activity: dict[TableName, float] = field(default_factory=dict)
    _last: tuple[int, Choice] | None = field(default=None, repr=False, compare=False)

    def choose(self, tables: FactRows) -> Choice:
        """The choice among these tables; the last one where they are the same and none was active lately."""
        if self._last is not None and self._last[0] == tables.generation and not self.activity:
            return self._last[1]
        choice = self._choose(tables)
        self._last = (tables.generation, choice)
        return choice

    def _choose(self, tables: FactRows) -> Choice:
        names = list(names_of(tables))
        self._observe(names, tables)
        sizes = [(number_of(data) or 0.0) + (number_of(index) or 0.0) for data, index in zip(tables.values("data_bytes"), tables.values("index_bytes"), strict=True)]  # fmt: skip
        crashed = [bool(value) for value in tables.values("crashed")]
        allowed = [place for place, name in enumerate(names) if self._is_allowed(name)]
        active = sorted(
            (place for place in allowed if crashed[place] or names[place] in self.activity),
            key=lambda place: (crashed[place], self.activity.get(names[place], 0.0)),
            reverse=True,
        )
        half = max((self.limit + 1) // 2, sum(crashed[place] for place in active))
        shown = set(active[: min(half, self.limit)])
        by_size = sorted((place for place in allowed if place not in shown), key=sizes.__getitem__, reverse=True)
        shown.update(by_size[: self.limit - len(shown)])
        return Choice(
            FactRows(tables.columns, [tables.rows[place] for place in sorted(shown, key=names.__getitem__)]),
            FactRows(tables.columns, [row for place, row in enumerate(tables.rows) if place not in shown]),
        )

    def _observe(self, names: list[TableName], tables: FactRows) -> None:
        writes, reads = tables.values("write_statements_per_second"), tables.values("rows_read_per_second")
        now: dict[TableName, float] = {}
        for name, written, read in zip(names, writes, reads, strict=True):
            value = max((number_of(written) or 0.0) + (number_of(read) or 0.0), self.activity.get(name, 0.0) * FADING)
            if value > NEGLIGIBLE_PER_SECOND:
                now[name] = value
        self.activity = now

    def _is_allowed(self, name: TableName) -> bool:
        text = ".".join(name)
        if self.exclude and self.exclude.fullmatch(text):
            return False
        return self.include is None or self.include.fullmatch(text) is not None


def names_of(tables: FactRows) -> Iterable[TableName]:
    """The rows' tables."""
    return ((str(schema), str(table)) for schema, table in zip(tables.values("schema_name"), tables.values("table_name"), strict=True))  # fmt: skip


def table_pattern(text: str | None, option: str) -> re.Pattern[str] | None:
    """A pattern from the command line. Raises UserError when it is no regular expression."""
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise UserError(f"{option} {text!r} is no regular expression: {error}.") from None
