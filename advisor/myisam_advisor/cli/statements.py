"""`--statements`: a server's statements are watched for as long as a command looks at it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from myisam_advisor.cli.options import ServerOptions
    from myisam_advisor.workload.kinds.seen import SeenStatements
    from myisam_advisor.workload.kinds.watch import StatementWatch
    from myisam_exporter.look.fact_set import FactSet


@contextlib.contextmanager
def watched(server: ServerOptions) -> Iterator[StatementWatch]:
    """The watch, which ends with this. Raises UserError where the server's statements cannot be seen."""
    from myisam_advisor.workload.kinds.choosing import watch_statements

    watch = watch_statements(server.target(), server.timeout_seconds)
    try:
        yield watch
    finally:
        watch.close()


def seen_by(watch: StatementWatch, facts: FactSet) -> SeenStatements:
    """What it saw; why it could not be told, where the rest of a report shall not be lost for it."""
    from myisam_advisor.workload.kinds.seen import myisam_tables, not_told

    try:
        return watch.take(myisam_tables(facts))
    except UserError as error:
        return not_told(error)
