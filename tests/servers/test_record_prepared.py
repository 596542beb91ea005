"""`record --from probe` of prepared statements: each with its values, as the general log of the same run has it."""

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.probing.executions import NOT_SEEN
from myisam_advisor.workload.probing.parameters import TYPES_BEFORE
from myisam_advisor.workload.recording import record_log, source_named
from tests.servers.conftest import on_four_servers
from tests.servers.prepared_client import LAST, UNSIGNED, Parameter, PreparingClient, long_text
from tests.servers.test_record import recorded
from tests.servers.test_record_probe import pytestmark as needs_probes
from tests.servers.test_record_probe import recording
from tests.support.servers import CopiedServer, binaries_of

pytestmark = needs_probes

TINY, SHORT, LONG, FLOAT, DOUBLE, NULL, TIMESTAMP, LONGLONG, DATE, TIME, DATETIME = 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12
DECIMAL, BLOB, VAR_STRING, STRING = 246, 252, 253, 254
# Of -0 some servers write the sign, which a statement does not tell.
REALS = (0.0, 1.0, -1.5, 0.1, 1e14, 123456789012345.0, 1e15, 1e16, 1.5e300, 1e-14, 1e-15, 1e-16, 2.5e-300, 1 / 3, 123456.789, 1e22, 4.35, 99999999999999.9)
MOMENT = struct.pack("<HBBBBB", 2026, 11, 23, 7, 8, 9)
VALUES: tuple[Parameter, ...] = (
    (TINY, struct.pack("<b", -128)), (TINY | UNSIGNED, b"\xff"), (SHORT, struct.pack("<h", -2)), (SHORT | UNSIGNED, b"\xff\xff"),
    (LONG, struct.pack("<i", -(1 << 31))), (LONG | UNSIGNED, b"\xff\xff\xff\xff"), (LONGLONG, struct.pack("<q", -(1 << 63))), (LONGLONG | UNSIGNED, b"\xff" * 8),
    *((DOUBLE, struct.pack("<d", value)) for value in REALS), *((FLOAT, struct.pack("<f", value)) for value in (0.5, 0.1, 1e20)),
    *((DECIMAL, long_text(text)) for text in (b"12.50", b"-0.5", b".5", b"0012", b"1e3", b"-99999999999999999999.000000001", b"0.0")),
    *((kind, long_text(text)) for kind in (STRING, VAR_STRING, BLOB) for text in (b"", b"it's", b'a"b\\c', b"\0\n\r\x1a\t%_", "é ☃".encode(), b"?", b"x" * 300)),
    (BLOB, long_text(bytes(range(128)))), (STRING, long_text(b"y" * 60_000)),
    (DATE, b"\4" + MOMENT[:4]), (DATETIME, b"\7" + MOMENT), (DATETIME, b"\4" + MOMENT[:4]), (TIMESTAMP, b"\x0b" + MOMENT + struct.pack("<I", 120_000)),
    (TIME, b"\x08" + struct.pack("<BIBBB", 0, 0, 7, 8, 9)), (TIME, b"\x0c" + struct.pack("<BIBBBI", 1, 2, 3, 4, 5, 6)), (TIME, b"\0"),
    (LONG, None), (NULL, None), (STRING, None),
)  # fmt: skip


@contextmanager
def logging(server: PrivateServer, path: Path) -> Iterator[None]:
    """The general log, into this file when it is over."""
    log = Path(str(server.execute("SELECT @@general_log_file")[0][0]))
    log = log if log.is_absolute() else Path(str(server.execute("SELECT @@datadir")[0][0])) / log
    server.execute("SET GLOBAL general_log = ON")
    try:
        yield
    finally:
        server.execute("SET GLOBAL general_log = OFF")
        path.write_bytes(log.read_bytes())
        log.unlink()


def executed(events: list[Event], connections: set[int]) -> list[bytes]:
    """What these connections executed."""
    return [event.statement for event in events if event.prepared and event.connection in connections]


def comparable(statements: list[bytes], loses_fractions: bool) -> list[bytes]:
    """Without fractions of a second that are none, and without those that MySQL 5.6 has in no log."""
    return [re.sub(rb"\.\d{6}(?=')" if loses_fractions else rb"\.000000(?=')", b"", statement) for statement in statements]


def use_each_way(client: PreparingClient) -> None:
    """All types, one by one and together, types sent once, long values, numbers that other statements took, what is no parameter."""
    one = client.prepare(b"DO ?")
    for value in VALUES:
        client.execute(one, value)
    client.execute(one, VALUES[4])
    client.execute(one, (LONG, struct.pack("<i", 7)), types=False)
    many = client.prepare(b"DO " + b",".join([b"?"] * len(VALUES)))
    client.execute(many, *VALUES)
    client.query(b"PREPARE by_text FROM 'DO 1'")
    client.query(b"EXECUTE by_text")
    tricky = client.prepare(b"SELECT '?', \"a\\\"?\", `?`.a /* ? */, ? -- ?\n FROM (SELECT 1 AS a) AS `?` # ?\n WHERE ? = 'it''s ?'")
    client.execute(tricky, (LONG, struct.pack("<i", 1)), (STRING, long_text(b"?")))
    long_one = client.prepare(b"DO LENGTH(?), ?")
    for round_ in range(2):
        client.send_long_data(long_one, 0, b"part 'one'\\")
        client.send_long_data(long_one, 0, b" and two %d" % round_)
        client.execute(long_one, (BLOB, None), (TINY, b"\1"), long_data=(0,))
    client.send_long_data(long_one, 0, b"forgotten")
    client.reset_statement(long_one)
    client.execute(long_one, (BLOB, long_text(b"sent")), (TINY, b"\2"))
    client.close_statement(long_one)
    none = client.prepare(b"DO 5")
    client.execute(none)
    again = client.prepare(b"DO ?, 'again'")
    client.execute(again, VALUES[0])
    client.execute(one, VALUES[0])


@on_four_servers
def test_each_execution_has_its_values_as_the_server_logs_them(server: PrivateServer, tmp_path: Path) -> None:
    with logging(server, tmp_path / "general.log"), PreparingClient(server, "mysql") as there_before:
        before = there_before.prepare(b"DO ?, 'from before'")
        with recording(server, "--output", str(tmp_path / "w"), "--seconds", "6") as recorder:
            with PreparingClient(server) as client:
                use_each_way(client)
                use_each_way(there_before)
                there_before.execute(before, VALUES[0])
                connections = {client.number, there_before.number}
                if "mariadb" in server.binaries.name:
                    client.prepare(b"DO ?, 'the last'")
                    client.execute(LAST, VALUES[1])
            _, errors = recorder.communicate()
            assert recorder.returncode == 0, errors
    workload, events = recorded(tmp_path / "w")
    record_log(source_named("general_log"), tmp_path / "general.log", tmp_path / "logged")
    loses_fractions = server.binaries.name == "mysql-5.6"
    logged = comparable(executed(recorded(tmp_path / "logged")[1], connections), loses_fractions)
    told = comparable(executed(events, connections), loses_fractions)
    assert len(logged) > 2 * len(VALUES)
    # Where performance_schema is on, it knows what was prepared before.
    is_known = NOT_SEEN not in workload.totals.left_out
    assert is_known == (b"DO -128, 'from before'" in told)
    assert told == [statement for statement in logged if is_known or b"from before" not in statement]
    assert [reason for reason in workload.totals.left_out if "prepared" in reason] == [NOT_SEEN] * (not is_known)
    own = [event for event in events if event.prepared and event.connection == there_before.number]
    assert {event.database for event in own} == {b"mysql"}
    assert all((event.duration_microseconds or 0) > 0 for event in own)


@pytest.mark.parametrize("kind", ["mysql-9.7", "mariadb-11.8"])
def test_what_was_prepared_before_is_asked_of_performance_schema(kind: str, tmp_path: Path) -> None:
    options = ["--key-buffer-size=16M", "--performance-schema=ON", "--performance-schema-instrument=statement/%=ON"]
    with CopiedServer(binaries_of(kind), options) as server, PreparingClient(server) as client:
        client.query(b"PREPARE by_text FROM 'DO 1'")
        short, long_one = client.prepare(b"DO ?, 'from before'"), client.prepare(b"DO ? /*" + b"x" * 1100 + b"*/")
        typed = client.prepare(b"DO ?, 'typed before'")
        client.execute(typed, VALUES[4])
        with recording(server, "--output", str(tmp_path / "w"), "--seconds", "4") as recorder:
            client.execute(short, VALUES[4])
            client.execute(long_one, VALUES[4])
            client.execute(typed, VALUES[4], types=False)
            _, errors = recorder.communicate()
            assert recorder.returncode == 0, errors
    workload, events = recorded(tmp_path / "w")
    assert executed(events, {client.number}) == [b"DO -2147483648, 'from before'"]
    assert {reason: number for reason, number in workload.totals.left_out.items() if "prepared" in reason} == {NOT_SEEN: 1, TYPES_BEFORE: 1}


def test_clients_that_may_send_attributes_are_understood(tmp_path: Path) -> None:
    with (
        CopiedServer(binaries_of("mysql-9.7")) as server,
        logging(server, tmp_path / "general.log"),
        PreparingClient(server, attributes=True) as client,
        recording(server, "--output", str(tmp_path / "w"), "--seconds", "4") as recorder,
    ):
        one, none = client.prepare(b"SELECT ?, 'one'"), client.prepare(b"SELECT 5")
        client.execute(one, VALUES[4], names=())
        client.execute(one, VALUES[4], (STRING, long_text(b"an attribute's value")), names=(b"an attribute",))
        client.execute(one, VALUES[4], (STRING, None), types=False, names=())
        client.execute(none, names=())
        client.execute(none, (LONG, struct.pack("<i", 7)), names=(b"another",))
        client.query(b"SELECT 'as text'")
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
    workload, events = recorded(tmp_path / "w")
    record_log(source_named("general_log"), tmp_path / "general.log", tmp_path / "logged")
    logged = executed(recorded(tmp_path / "logged")[1], {client.number})
    assert executed(events, {client.number}) == logged == [b"SELECT -2147483648, 'one'"] * 3 + [b"SELECT 5"] * 2
    assert b"SELECT 'as text'" in {event.statement for event in events}
    assert not [reason for reason in workload.totals.left_out if "prepared" in reason]
