"""Views, triggers and stored routines on the private server, and what that means for the statements that use them.

They belong to the account that sends the statements, so that none of them may do more than that. One that cannot be made, or uses a table that was not
copied, takes the statements with it that need it: by the name of its view, of its trigger's table, of its routine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.definitions import FUNCTION, PROCEDURE, TRIGGER, VIEW, Definition
from myisam_advisor.trial.statements.effects import Effects
from myisam_advisor.trial.statements.stages import ACCOUNT
from myisam_exporter.facts.columns import TableName
from myisam_exporter.server.sql import quote_identifier, quote_text

# Views may be of views, in any order: so often those are tried again that could not be made.
TRIES = 10
_ORDER = (FUNCTION, PROCEDURE, VIEW, TRIGGER)


def make_definitions(
    server: PrivateServer, definitions: Sequence[Definition], copied: Collection[TableName]
) -> Effects:
    """Make what can be made, beside the copied tables."""
    problems = {one: one.problem for one in definitions if one.problem}
    by_key = {one.key: one for one in definitions if one.kind != TRIGGER}
    waiting = sorted((one for one in definitions if not one.problem), key=lambda one: _ORDER.index(one.kind))
    for one in _lacking(waiting, by_key, copied):
        problems[one] = f"the {one.label} uses {_missing(one, by_key, copied)}, which was not copied"
    waiting = [one for one in waiting if one not in problems]
    for _ in range(TRIES):
        problems_now = {one: _made(server, one) for one in waiting}
        waiting = [one for one, problem in problems_now.items() if problem]
        if not waiting or len(waiting) == len(problems_now):
            break
    problems.update({one: f"the {one.label} cannot be made here: {problems_now[one]}" for one in waiting})
    return _effects(definitions, problems, by_key)


def _lacking(
    waiting: Iterable[Definition], by_key: Mapping[TableName, Definition], copied: Collection[TableName]
) -> list[Definition]:
    return [one for one in waiting if _missing(one, by_key, copied)]


def _missing(one: Definition, by_key: Mapping[TableName, Definition], copied: Collection[TableName]) -> str:
    for name in one.uses:
        routine = (name[0], name[1].lower())
        if name not in copied and name not in by_key and routine not in by_key:
            return object_name(*name)
    return ""


def _made(server: PrivateServer, one: Definition) -> str:
    """Why it could not be made; empty where it was."""
    mine = f"DEFINER={quote_identifier(ACCOUNT)}@{quote_identifier('localhost')} "
    # Behind CREATE and, of a view, its ALGORITHM.
    place = len("CREATE ")
    algorithm, words = "", one.create[place:].lstrip()
    if words.upper().startswith("ALGORITHM"):
        algorithm, _, words = words.partition(" ")
    try:
        server.execute(
            f"SET SESSION sql_mode = {quote_text(one.sql_mode)}", f"CREATE {algorithm} {mine}{words}", database=one.schema
        )  # fmt: skip
    except driver().error as error:
        return f"{error.args[-1]} (error {error.args[0]})"
    return ""


def _effects(
    definitions: Sequence[Definition], problems: Mapping[Definition, str], by_key: Mapping[TableName, Definition]
) -> Effects:
    bad = _spread(definitions, problems, by_key)
    triggers: dict[TableName, list[Definition]] = {}
    for one in definitions:
        if one.kind == TRIGGER:
            triggers.setdefault((one.schema, one.table), []).append(one)
    views = {one.key: one for one in definitions if one.kind == VIEW}
    routines = {one.key: one for one in definitions if one.kind in (PROCEDURE, FUNCTION)}
    closure = _Closure(by_key, triggers)
    return Effects(
        frozenset(key for key, one in views.items() if one not in bad),
        frozenset(key for key, one in routines.items() if one not in bad),
        {key: bad[one] for key, one in views.items() if one in bad},
        {table: bad[one] for table, those in triggers.items() for one in those if one in bad},
        {key: bad[one] for key, one in routines.items() if one in bad},
        {table: closure.of(table) for table in {*triggers, *views}},
        {key: closure.of_definition(one) for key, one in routines.items()},
    )


def _spread(
    definitions: Sequence[Definition], problems: Mapping[Definition, str], by_key: Mapping[TableName, Definition]
) -> dict[Definition, str]:
    """The problems, also of what uses one that has any."""
    bad = dict(problems)
    for _ in range(TRIES):
        for one in definitions:
            used = (by_key.get(name) or by_key.get((name[0], name[1].lower())) for name in one.uses)
            hit = next((bad[other] for other in used if other is not None and other in bad), "")
            if hit and one not in bad:
                bad[one] = hit
    return bad


class _Closure:
    """Which tables are written when one is, or when a routine runs: what triggers and routines that write name, and what these set off."""

    def __init__(
        self, by_key: Mapping[TableName, Definition], triggers: Mapping[TableName, Sequence[Definition]]
    ) -> None:
        self._by_key, self._triggers = by_key, triggers

    def of(self, table: TableName) -> frozenset[TableName]:
        """The table itself, or of a view the tables below it, and all that their triggers write."""
        return frozenset(self._walk([table], []))

    def of_definition(self, routine: Definition) -> frozenset[TableName]:
        """What a routine writes."""
        return frozenset(self._walk([], [routine]))

    def _walk(self, tables: list[TableName], definitions: list[Definition]) -> set[TableName]:
        found: set[TableName] = set()
        seen: set[object] = set()
        while tables or definitions:
            if tables:
                table = tables.pop()
                if table in seen:
                    continue
                seen.add(table)
                view = self._by_key.get(table)
                if view is not None and view.kind == VIEW:
                    tables += view.uses
                    continue
                found.add(table)
                definitions += self._triggers.get(table, ())
                continue
            one = definitions.pop()
            if one in seen:
                continue
            seen.add(one)
            for name in one.uses:
                used = self._by_key.get((name[0], name[1].lower()))
                if used is not None and used.kind in (PROCEDURE, FUNCTION):
                    definitions.append(used)
                elif one.writes:
                    tables.append(name)
        return found
