"""`record --from probe`: what sessions do between their statements, the shortest and the longest statements, TLS, pools of threads."""

import ssl
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.probing.decoding import TOO_LONG
from myisam_advisor.workload.recording import record_log, source_named
from tests.servers.conftest import on_four_servers, on_one_server, schema
from tests.servers.test_record import recorded
from tests.servers.test_record_prepared import logging
from tests.servers.test_record_probe import LENGTHS, probed, recording
from tests.servers.test_record_probe import pytestmark as needs_probes
from tests.support.daemon import free_port
from tests.support.servers import CopiedServer, binaries_of, keeps_dictionary

pytestmark = needs_probes

# What a parser takes, and what it does not.
SHORT = [b"x", b"do", b"DO1", b"DO 1", b"DO 12", b"DO 123", b"BEGIN/", b"SELECT 1", b"SELECT 12", b"\xff", b"'", b"\0"]


def of_connection(events: list[Event], number: int) -> list[Event]:
    return [event for event in events if event.connection == number]


def connection(server: PrivateServer, **more: Any) -> Any:
    """By the protocol, without what a driver adds."""
    return pymysql.connect(unix_socket=str(server.socket), user="root", charset="latin1", autocommit=None, **more)


@dataclass(frozen=True)
class Seen:
    """What one session that changes its database was seen to ask; of one that asks little, what was seen and what the server logged."""

    changing: list[Event]
    short: list[bytes]
    logged: list[bytes]


@pytest.fixture(scope="module")
def seen(server: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("seen")
    with (
        schema(server, "one") as one, schema(server, "two") as two, logging(server, folder / "general.log"),
        closing(connection(server, database=one)) as client, closing(connection(server)) as brief,
        recording(server, "--output", str(folder / "w"), "--seconds", "3") as recorder,
    ):  # fmt: skip
        for statement in ("DO 'before'", f"USE {two}", "DO 'used'"):
            client.query(statement)
        client.select_db(one)
        client.query("DO 'chosen'")
        change_user(server, client, b"mysql")
        client.query("DO 'another user'")
        change_user(server, client, b"")
        client.query("DO 'no database'")
        for said in (b"", *SHORT):
            with suppress(pymysql.err.MySQLError):
                brief.query(said)
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
        changing, short = client.thread_id(), brief.thread_id()
    record_log(source_named("general_log"), folder / "general.log", folder / "logged")
    of_short = [[event.statement for event in of_connection(recorded(folder / name)[1], short)] for name in ("w", "logged")]
    return Seen(of_connection(recorded(folder / "w")[1], changing), *of_short)


def change_user(server: PrivateServer, client: Any, database: bytes) -> None:
    """COM_CHANGE_USER of root without a password: user, an empty answer, database, character set, plugin, no attributes."""
    plugin = b"caching_sha2_password" if keeps_dictionary(server) else b"mysql_native_password"
    client._execute_command(17, b"root\0\0" + database + b"\0" + b"\x08\0" + plugin + b"\0\0")
    packet = client._read_packet()
    while not packet.is_ok_packet():
        if packet.is_auth_switch_request():
            client.write_packet(b"")
        packet = client._read_packet()


@on_four_servers
def test_a_database_that_changes_is_told_however_it_does(seen: Seen) -> None:
    told = [(event.statement, event.database) for event in seen.changing if event.statement.startswith(b"DO")]
    assert told == [(b"DO 'before'", b"one"), (b"DO 'used'", b"two"), (b"DO 'chosen'", b"one"), (b"DO 'another user'", b"mysql"), (b"DO 'no database'", None)]


@on_four_servers
def test_the_shortest_statements_are_those_of_the_general_log(seen: Seen) -> None:
    assert seen.short == [b"", *SHORT]
    # The driver's SET NAMES came before the recording. MySQL logs what it could parse, and what looks cut off is not read from a log.
    assert seen.logged[0] == b"SET NAMES latin1"
    assert [statement for statement in seen.short if statement in seen.logged] == seen.logged[1:]
    assert set(seen.logged) >= {b"DO 1", b"DO 12", b"DO 123", b"SELECT 1", b"SELECT 12"}


@on_one_server
def test_what_is_longer_than_is_kept_is_counted_and_the_rest_is_there(server: PrivateServer, tmp_path: Path) -> None:
    with recording(server, "--output", str(tmp_path / "w"), "--seconds", "3") as recorder, closing(connection(server)) as client:
        for length in (65_536, 65_537, 200_000, 65_535, 1_000_000):
            client.query(probed(length))
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
        number = client.thread_id()
    workload, events = recorded(tmp_path / "w")
    assert [len(event.statement) for event in of_connection(events, number)][1:] == [65_536, 65_535]
    assert workload.totals.left_out[TOO_LONG] == 3


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    for above in (folder, *folder.parents):
        if above == Path("/tmp"):
            break
        above.chmod(0o755)
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x", "-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    (folder / "key.pem").chmod(0o644)
    return folder


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8", "mysql-9.7"])
def test_over_tls_each_statement_is_byte_by_byte_what_was_sent(kind: str, certificate: Path, tmp_path: Path) -> None:
    options = [f"--ssl-cert={certificate / 'certificate.pem'}", f"--ssl-key={certificate / 'key.pem'}"]
    sent = [b"DO 1", *map(probed, LENGTHS)]
    with CopiedServer(binaries_of(kind), options, port=free_port()) as server:
        server.execute("CREATE USER tls@'127.0.0.1'")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with recording(server, "--output", str(tmp_path / "w"), "--seconds", "4") as recorder:
            client: Any
            with closing(pymysql.connect(host="127.0.0.1", port=server.port or 0, user="tls", charset="latin1", autocommit=None, ssl=context)) as client:
                assert isinstance(client._sock, ssl.SSLSocket)
                number = client.thread_id()
                for statement in sent:
                    client.query(statement)
            _, errors = recorder.communicate()
            assert recorder.returncode == 0, errors
    assert [event.statement for event in of_connection(recorded(tmp_path / "w")[1], number)][-len(sent) :] == sent


@pytest.fixture(scope="module", params=["mariadb-10.11", "mariadb-11.8"])
def pooled(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server whose threads let a commit go while the log is written."""
    options = ["--thread-handling=pool-of-threads", "--thread-pool-size=2", "--innodb-flush-log-at-trx-commit=1"]
    with CopiedServer(binaries_of(request.param), options) as server:
        yield server


def test_a_commit_that_waits_for_its_log_is_one_statement(pooled: PrivateServer, tmp_path: Path) -> None:
    clients, rounds = 8, 60
    with ExitStack() as opened, schema(pooled, "pooled") as database:
        pooled.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=InnoDB")
        recorder = opened.enter_context(recording(pooled, "--output", str(tmp_path / "w"), "--seconds", "5"))
        connections = [opened.enter_context(closing(connection(pooled, database=database))) for _ in range(clients)]
        sent = Counter[bytes]()
        for round_ in range(rounds):
            for number, client in enumerate(connections):
                statement = b"INSERT INTO t VALUES (%d)" % (round_ * clients + number)
                sent[statement] += 1
                # All at once: answers are read when each has its statement.
                client._execute_command(3, statement)
            for client in connections:
                client._read_query_result()
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
        inserted = pooled.execute(f"SELECT COUNT(*) FROM {database}.t")
    assert inserted == [(clients * rounds,)]
    _, events = recorded(tmp_path / "w")
    told = [event for event in events if event.statement.startswith(b"INSERT INTO t")]
    assert Counter(event.statement for event in told) == sent
    assert all((event.duration_microseconds or 0) > 0 for event in told)
