"""Views, triggers and stored routines that recorded statements use are on the private servers too, or the statements are left out by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.events import Event
from tests.support import workloads
from tests.support.workloads import event

from .conftest import on_every_server
from .test_trial_replay import shop
from .trials import measured, temporary

__all__ = ["temporary"]  # a fixture that tests of a trial share
INSERTS = 7
FEW = "few"


@contextmanager
def with_code(server: PrivateServer) -> Iterator[None]:
    """A shop whose views, triggers and routines use each other, some of them a table that no trial copies."""
    with shop(server):
        server.execute(
            "CREATE TABLE audit (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40)) ENGINE=MyISAM",
            "CREATE TABLE other (id INT NOT NULL) ENGINE=MyISAM",
            "CREATE VIEW named AS SELECT id, name FROM words",
            "CREATE ALGORITHM=MERGE VIEW first_named AS SELECT id, name FROM named WHERE id <= 3",
            "CREATE VIEW unnamed AS SELECT id FROM kept",
            "CREATE FUNCTION twice (a INT) RETURNS INT DETERMINISTIC RETURN 2 * a",
            "CREATE PROCEDURE note (word VARCHAR(40)) BEGIN INSERT INTO log (place, what) VALUES (twice(1), word); SELECT id FROM log WHERE what = word; END",
            "CREATE PROCEDURE keep () INSERT INTO kept VALUES (1)",
            "CREATE TRIGGER `after it` AFTER INSERT ON log FOR EACH ROW INSERT INTO audit (what) VALUES (CONCAT('`', NEW.what, '%s'))",
            "CREATE TRIGGER kept_too AFTER INSERT ON other FOR EACH ROW INSERT IGNORE INTO kept VALUES (NEW.id)",
            "FLUSH TABLES",
            database="shop",
        )
        server.execute("CREATE PROCEDURE mysql.of_the_server () SELECT 1")
        try:
            yield
        finally:
            server.execute("DROP PROCEDURE mysql.of_the_server")


def recorded() -> list[Event]:
    """Statements of one connection, each with the rows that it has where everything is there."""
    inserts = [b"INSERT INTO log (place, what) VALUES (%d, 'a')" % number for number in range(INSERTS - 1)]
    statements = [
        *((one, 0) for one in inserts),
        (b"CALL note('b')", 1),
        (b"SELECT id FROM audit", INSERTS),
        (b"SELECT id FROM first_named", 3),
        (b"SELECT id FROM words WHERE id = twice(2)", 1),
        (b"SELECT id FROM unnamed", 0),
        (b"CALL keep()", 0),
        (b"CALL shop.nothing(1)", 0),
        (b"CALL mysql.of_the_server()", 0),
        (b"INSERT INTO other VALUES (1)", 0),
        (b"SELECT id FROM other", 0),
    ]
    return [event(1, number * 1000, statement, rows) for number, (statement, rows) in enumerate(statements)]


def replayed(server: PrivateServer, folder: Path, path: Path, user: str = "root") -> dict[str, Any]:
    words = ("replay", "--workload", path, "-S", server.socket, "-u", user, "--interval", "0", "--set", "key_buffer_size=1M", "--budget", "4s")
    found: dict[str, Any] = measured(folder, *words)["fidelity"]
    return found


@on_every_server
def test_what_statements_use_is_there_and_begins_anew_with_each_run(server: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    path = workloads.write(tmp_path / "w", recorded())
    with with_code(server):
        fidelity = replayed(server, temporary, path)
    assert fidelity["differences"] == []
    assert (fidelity["sent"], fidelity["rows_equal"]) == (INSERTS + 4, INSERTS + 4)
    left_out = dict(fidelity["left_out"])
    # Among them the call of what is in a database of the server's own, where the sender has no rights.
    assert sum(left_out.values()) == 5
    said = " ".join(left_out)
    for name in ("view shop.unnamed uses shop.kept", "trigger shop.kept_too uses shop.kept", "procedure shop.keep uses shop.kept", "CALL of a procedure"):
        assert name in said, left_out
    assert "were taken over" in " ".join(fidelity["notes"])


def test_what_may_not_be_seen_takes_its_statements_with_it(mariadb: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    path = workloads.write(tmp_path / "w", recorded())
    with with_code(mariadb):
        mariadb.execute(f"CREATE USER {FEW}@localhost", f"GRANT SELECT, PROCESS ON *.* TO {FEW}@localhost", f"REVOKE SELECT ON *.* FROM {FEW}@localhost", f"GRANT SELECT ON shop.* TO {FEW}@localhost")
        try:
            fidelity = replayed(mariadb, temporary, path, FEW)
        finally:
            mariadb.execute(f"DROP USER {FEW}@localhost")
    # What is sent all the same, and answers otherwise for want of these, is told.
    differing = {one["fingerprint"]: one["error"] for one in fidelity["differences"]}
    assert differing == {"select id from audit": 0, "select id from words where id = twice(?)": 1305}
    left_out = dict(fidelity["left_out"])
    reasons = {reason: count for reason, count in left_out.items() if "may not be seen" in reason}
    # Writes of the tables with triggers; the view; calls.
    assert left_out["shop.log has triggers that may not be seen (GRANT TRIGGER)"] == INSERTS - 1
    assert any("view shop.first_named" in reason for reason in reasons), left_out
    assert any("CALL of a procedure" in reason for reason in reasons), left_out
