"""The words of a refusal: one statement of each kind is asked again, and what the server says is told without the statement's values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from myisam_advisor.trial.private.driver import Connection
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.answers import asking, refusal_of
from myisam_advisor.trial.statements.survey import Judging
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.upgrade.recorded_result import RefusedKind
from myisam_advisor.trial.upgrade.server_words import without_values
from myisam_advisor.trial.upgrade.two_answers import Group
from myisam_advisor.workload.events import Event
from myisam_exporter.server.sql import quote_table, quote_text, statement

# A kind, the number of the error, and with what the other version ends it.
Refused = tuple[tuple[int, int, int], Group]


class Refusals:
    """Asks servers again, on tables as they were."""

    def __init__(self, judging: Judging, events: Callable[[], Iterator[Event]], sources: Sequence[Source]) -> None:
        self._kinds = {number: text for text, number in judging.kinds.items()}
        self._events, self._sources = events, sources

    def told(self, server: PrivateServer, groups: Sequence[Refused], other_mode: str | None) -> tuple[RefusedKind, ...]:
        """What this server refuses, in its words; `other_mode` is a sql_mode under which to ask once more (None: do not)."""
        if not groups:
            return ()
        names, examples = self._names(server), self._examples(groups)
        with asking(server) as plain, asking(server) as under_mode:
            if other_mode is not None:
                with closing(under_mode.cursor()) as cursor:
                    cursor.execute(statement("SET SESSION sql_mode = {}", quote_text(other_mode)))
            return tuple(
                self._told(group, examples[group[1].position], names, plain, None if other_mode is None else under_mode)
                for group in groups
            )

    def _told(
        self, group: Refused, event: Event, names: Sequence[str], plain: Connection, under_mode: Connection | None
    ) -> RefusedKind:
        (kind, code, other_code), counted = group
        text = self._kinds[kind]
        said = refusal_of(plain, event)
        # Where it now ends otherwise, what came before it in the recording decides, and these words would be another's.
        is_same = said is not None and said[0] == code
        words = without_values(said[1], text, names) if said is not None and is_same else ""
        taken = None
        if under_mode is not None and is_same:
            again = refusal_of(under_mode, event)
            taken = again is None or again[0] != code
        return RefusedKind(text, counted.statements, code, words, other_code, taken)

    def _examples(self, groups: Sequence[Refused]) -> dict[int, Event]:
        wanted = {counted.position for _, counted in groups}
        return {place: event for place, event in enumerate(self._events()) if place in wanted}

    def _names(self, server: PrivateServer) -> list[str]:
        """Of databases, tables and columns: none of them is a value."""
        names = [name for source in self._sources for name in (source.schema, source.table)]
        for source in self._sources:
            rows = server.execute(f"SHOW COLUMNS FROM {quote_table(source.schema, source.table)}")
            names += [str(row[0]) for row in rows]
        return names
