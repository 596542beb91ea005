"""`--statements`: a server's statements are watched for as long as a command looks at it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from myisam_advisor.cli.options import ServerOptions
    from myisam_advisor.workload.kinds.watch import StatementWatch


@contextlib.contextmanager
def watched(server: ServerOptions) -> Iterator[StatementWatch]:
    """The watch, which ends with this. Raises UserError where the server's statements cannot be seen."""
    from myisam_advisor.workload.kinds.choosing import watch_statements

    watch = watch_statements(server.target(), server.timeout_seconds)
    try:
        yield watch
    finally:
        watch.close()
