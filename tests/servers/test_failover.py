"""An address that leads to another server from one moment to the next: the daemon's connection breaks, and the next one is with that server."""

from contextlib import closing
from pathlib import Path

from myisam_advisor.history.reader import curves
from tests.support.daemon import serving, wait_for
from tests.support.servers import CopiedServer, binaries_of

STATEMENTS = 20_000


def test_what_another_server_ever_counted_is_no_work_of_an_interval(tmp_path: Path) -> None:
    """It was told as the work of the few seconds between two looks, on the page and in the history."""
    kind, link, history = binaries_of("mariadb-10.11"), tmp_path / "s", tmp_path / "h.sqlite"
    with CopiedServer(kind) as second, CopiedServer(kind) as first:
        with second.session() as connection, closing(connection.cursor()) as cursor:
            for _ in range(STATEMENTS):
                cursor.execute("DO 1")
        link.symlink_to(first.socket)
        with serving("--socket", link, "--user", "root", "--history", history, "--collect.interval", "6s") as daemon:

            def rates() -> list[float]:
                (curve,) = curves(history, "status.Questions.per_second", 0)
                return [value for _, value in curve.points if value is not None]

            daemon.looked()
            link.unlink()
            link.symlink_to(second.socket)
            for (number,) in first.execute("SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()"):
                first.execute(f"KILL {number}")
            # Scrapes find that the connection broke, and make another one before the next look.
            assert wait_for(lambda: (daemon.get().value("questions_total") or 0) > STATEMENTS, 30)
            told = len(rates())
            assert wait_for(lambda: len(rates()) > told, 30)
            assert max(rates()) < STATEMENTS / 100
            daemon.stop()
            assert b"Traceback" not in daemon.log
