"""Who waits while a statement of a plan runs, as its words say: tried with readers and writers that come while it runs."""

import threading
import time
from collections.abc import Iterator

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.remedies.effects import copies_online
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.tables import AlterKeys, AlterTable, CheckTable, OptimizeTable, option
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.servers.conftest import look, schema

NAME = ("locks", "t")
DOUBLINGS = 16
ATTEMPTS = 6
# What is left of a statement when another comes says something of it from here on.
SHORTEST_SECONDS = 0.02
DOUBLE = f"INSERT INTO {NAME[0]}.{NAME[1]} (b, c, d) SELECT LEFT(SHA2(RAND(), 256), 60), LEFT(SHA2(RAND(), 256), 60), RAND() * 100000 FROM {NAME[0]}.{NAME[1]}"
# What a server says of a statement that has begun its work on the table. Before it ("System lock"), MySQL 5.6 lets an INSERT by that an ALTER would hold up.
AT_WORK = ("repair", "copy", "checking", "optimiz", "sort")
READERS_WAIT = "readers and writers wait until it is done"


@pytest.fixture(scope="module")
def filled(server: PrivateServer) -> Iterator[PrivateServer]:
    """A server with a table whose indexes take a while to build."""
    with schema(server, NAME[0]) as database:
        server.execute(
            "CREATE TABLE t (a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b CHAR(60) NOT NULL, c CHAR(60) NOT NULL, d INT NOT NULL, KEY (b), KEY (c), KEY (d)) ENGINE=MyISAM CHARSET=latin1",
            "INSERT INTO t (b, c, d) VALUES ('x', 'y', 1)",
            *[DOUBLE] * DOUBLINGS,
            database=database,
        )
        yield server


def waits(server: PrivateServer, statement: str, other: str, *before: str) -> bool:
    """Whether another statement, which comes while the first works on the table, ends with it rather than soon. The first may be over by then: the table is made twice as large, and it is begun anew, after what is to be done before it."""
    for _ in range(ATTEMPTS):
        server.execute(*before)
        if (found := _waits(server, statement, other)) is not None:
            return found
        server.execute(DOUBLE)
    raise AssertionError("it was over before the other came, each time: the table is too small")


def _waits(server: PrivateServer, statement: str, other: str) -> bool | None:
    """None where the first was over before it was seen, or too soon after the other began: at its end each lets nobody by for a moment."""
    ended: list[float] = []

    def work() -> None:
        server.execute(statement)
        ended.append(time.monotonic())

    def is_at_work() -> bool:
        cursor.execute("SHOW PROCESSLIST")
        return any(row[7] and row[7].startswith(statement[:12]) and str(row[6]).lower().startswith(AT_WORK) for row in cursor.fetchall())

    working = threading.Thread(target=work)
    with server.session() as connection:
        cursor = connection.cursor()
        working.start()
        while working.is_alive() and not is_at_work():
            pass
        if not working.is_alive():
            return None
        began = time.monotonic()
        cursor.execute(other)
        cursor.fetchall()
        over = time.monotonic()
    working.join()
    if ended[0] - began < SHORTEST_SECONDS:
        return None
    # Both end at one moment, and either may be told first.
    return over - began > (ended[0] - began) / 2


@pytest.mark.parametrize(
    ("made", "before"),
    [
        (AlterKeys(NAME, enabled=True), AlterKeys(NAME, enabled=False)), (OptimizeTable(NAME), None), (CheckTable(NAME), None),
        (AlterTable(NAME, (option(PACK_KEYS=0),)), AlterTable(NAME, (option(PACK_KEYS="DEFAULT"),))),
    ],
    ids=lambda one: one.sql.rstrip(";") if isinstance(one, Statement) else "",
)  # fmt: skip
def test_readers_wait_for_what_is_said_to_hold_them_up_and_for_nothing_else(filled: PrivateServer, made: Statement, before: Statement | None) -> None:
    change = f"INSERT INTO {NAME[0]}.{NAME[1]} (b, c, d) VALUES ('changed', '', 2)"
    read = f"SELECT a FROM {NAME[0]}.{NAME[1]} WHERE a = 1"
    assert waits(filled, made.sql.rstrip(";"), read, change, *([] if before is None else [before.sql])) == (made.lock == READERS_WAIT)


def test_inserts_go_on_where_an_alter_is_said_to_copy_online_and_an_update_waits(filled: PrivateServer) -> None:
    made, table = AlterTable(NAME, (option(MAX_ROWS=0, AVG_ROW_LENGTH=0),)), f"{NAME[0]}.{NAME[1]}"
    write = f"INSERT INTO {table} (b, c, d) VALUES ('meanwhile', '', 3)"
    assert waits(filled, made.sql.rstrip(";"), write) != copies_online(made, PlanFacts(complete(look(filled))))
    assert int(str(filled.execute(f"SELECT COUNT(*) FROM {table} WHERE b = 'meanwhile'")[0][0])) >= 1
    assert waits(filled, made.sql.rstrip(";"), f"UPDATE {table} SET d = 4 WHERE a = 1")
