"""Which tables this server refuses to convert to InnoDB, for findings that would give the ALTER: no table is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from myisam_advisor.remedies.refused_conversions import Refusals
from myisam_advisor.texts.templates import object_name
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TableName
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.session import Session

# A look lists the whole data directory. What it tells changes with a definition, or a setting.
KEPT_SECONDS = 600.0
# alter_algorithm, which the script of `migrate` sets for itself, and a finding's command does not.
OF_THE_ALGORITHM = 1845


def refused_here(session: Session, names: Sequence[TableName], proc: Path) -> Refusals:
    """Why the ALTER of each table is refused, by number; nothing of tables whose files nobody here may see."""
    # Much is imported for it, which a daemon without such a finding never needs.
    from myisam_advisor.migrate.looking import looked_at
    from myisam_advisor.migrate.server_kind import INNODB

    try:
        migration = looked_at(session, [object_name(*name) for name in names], INNODB, None, proc)
    except (UserError, OSError):
        return {}
    found = {}
    for one in migration.predictions:
        of_session = (error for error in one.errors if error.code == OF_THE_ALGORITHM)
        found[one.name] = tuple(f"{error.label}: {error.why}" for error in (*of_session, *one.script_errors))
    return found


class KeptRefusals:
    """The same for somebody who looks again and again: what was found is kept for a while, also that nobody may look."""

    def __init__(self, session: Callable[[], Session], proc: Path, clock: Clock = CLOCK) -> None:
        self._session, self._proc, self._clock = session, proc, clock
        self._asked: frozenset[TableName] = frozenset()
        self._found: Refusals = {}
        self._looked_at = 0.0

    def __call__(self, names: Sequence[TableName]) -> Refusals:
        """Why the ALTER of each table is refused."""
        now = self._clock.monotonic()
        if not self._asked.issuperset(names) or now - self._looked_at >= KEPT_SECONDS:
            try:
                self._found = refused_here(self._session(), names, self._proc)
            except UserError:
                self._found = {}
            self._asked, self._looked_at = frozenset(names), now
        return self._found
