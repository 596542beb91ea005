"""An end to statements on a private server that has no limit of its own for them: MySQL before 5.7.4.

Another connection, of the server's root, looks once a second how long the statement has run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from myisam_advisor.trial.private.driver import Connection, driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import statement

LOOKS_SECONDS = 1.0


@contextmanager
def ended_by_hand(server: PrivateServer, connection: Connection, seconds: float) -> Iterator[None]:
    """Within it no statement of the connection takes longer than so many seconds, and one more: it ends with error 1317.

    Raises the driver's error where the server takes no further connection.
    """
    is_over = threading.Event()
    # Opened here: a thread that cannot connect would leave the statements without an end, and nobody would hear of it.
    with closing(server.connect()) as other:
        watcher = threading.Thread(
            target=_end_long_ones, args=(other, connection.thread_id(), seconds, is_over), daemon=True
        )
        watcher.start()
        try:
            yield
        finally:
            is_over.set()
            watcher.join()


def _end_long_ones(other: Connection, number: int, seconds: float, is_over: threading.Event) -> None:
    # A server that is gone ends what it ran by itself.
    with suppress(driver().error):
        while not is_over.wait(LOOKS_SECONDS):
            with closing(other.cursor()) as cursor:
                cursor.execute(
                    statement(
                        "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {} AND COMMAND = 'Query' AND TIME >= {}",
                        number, seconds,
                    )
                )  # fmt: skip
                if cursor.fetchone():
                    cursor.execute(statement("KILL QUERY {}", number))
