"""The host's client as the driver: asked line by line, told of by errors, cut when it is late. The clients here are scripts of a few lines."""

import contextlib
import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_exporter.errors import ServerLostError, StatementRefusedError, UserError
from myisam_exporter.server.target import Target
from myisam_exporter.server.wire import Allowance, one_look
from tools.snapshotter.parts import client_driver
from tools.snapshotter.parts.client_driver import (
    BrokenConnectionError,
    ServerConnection,
    UnreachableError,
    second_handle,
)
from tools.snapshotter.parts.client_program import Client

TARGET = Target("us\\er", "p\"a's#s\n\\", socket=Path("/run/s.sock"))
# Answers SELECT 1, and what the test says: one line of input, one answer.
CLIENT = r"""#!/usr/bin/env python3
import sys
def answer(statement, value):
    field = '<field name="a" xsi:nil="true" />' if value is None else '<field name="a">%s</field>' % value
    sys.stdout.write('<?xml version="1.0"?>\n\n<resultset statement="%s\n" xmlns:xsi="x">\n  <row>\n\t%s\n  </row>\n</resultset>\n' % (statement, field))
    sys.stdout.flush()
def complain(text):
    sys.stderr.write(text)
    sys.stderr.flush()
for number, line in enumerate(iter(sys.stdin.readline, ""), 1):
    statement = line.rstrip("\n").rstrip(";")
    if statement == "SELECT 1":
        answer(statement, 1)
        continue
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The client; what it does with statements is written behind."""
    path = tmp_path / "mysql"
    path.write_text(CLIENT)
    path.chmod(0o755)
    monkeypatch.setattr(Client, "path", str(path))
    yield path
    for connection in made:
        connection.close()
    made.clear()
    assert not Client.running


def answering(script: Path, *lines: str) -> None:
    script.write_text(CLIENT + "".join(f"    {line}\n" for line in lines))


made: list[ServerConnection] = []


def connected(target: Target = TARGET, timeout: float = 5) -> ServerConnection:
    """Closed when the test ends."""
    made.append(ServerConnection(target, timeout, lambda _: None))
    return made[-1]


def test_rows_and_null(script: Path) -> None:
    answering(script, "answer(statement, None if 'nothing' in statement else 'NULL &amp; &lt;x&gt;')")
    connection = connected()
    assert connection.query("SELECT 'x'") == [("NULL & <x>",)]
    assert connection.query("SHOW nothing") == [(None,)]
    assert connection.query("SELECT a", names=True) == [("a",), ("NULL & <x>",)]
    connection.close()
    connection.close()
    assert not Client.running


def test_a_setting_has_no_rows_and_is_waited_for(script: Path) -> None:
    answering(script, "if statement.startswith('SET'): continue", "answer(statement, 2)")
    connection = connected()
    assert connection.query("SET SESSION lock_wait_timeout=1") == []
    assert connection.query("SELECT 2") == [("2",)]
    connection.close()


def test_an_error_is_the_statements_own(script: Path) -> None:
    answering(
        script,
        "if 'refused' in statement: complain('ERROR 1142 (42000) at line %d: no right\\nto it\\n' % number)",
        "else: answer(statement, number)",
    )
    connection = connected()
    for _ in range(2):
        with pytest.raises(StatementRefusedError, match="no right") as refused:
            connection.query("SELECT refused")
        assert refused.value.number == 1142
        assert connection.query("SELECT 2") != []
    connection.close()


def test_an_error_of_another_line_is_not_taken_for_ones_own(script: Path) -> None:
    answering(script, "complain('ERROR 1142 (42000) at line 77: no right\\n')", "answer(statement, 3)")
    assert connected().query("SELECT 3") == [("3",)]


def test_an_answer_to_another_statement_ends_the_connection(script: Path) -> None:
    answering(script, "answer('SELECT something', 3)")
    with pytest.raises(BrokenConnectionError, match="another statement"):
        connected().query("SELECT 3")


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ("ERROR 1045 (28000): Access denied for user", StatementRefusedError, "Access denied"),
        ("ERROR 2002 (HY000): Can't connect to local server through socket '/x' (2)", UnreachableError, ""),
        (
            "ERROR 2003 (HY000): Can't connect to MySQL server on 'h:1' (111 \"Connection refused\")",
            UnreachableError,
            "",
        ),
        ("ERROR 2059 (HY000): Authentication plugin 'x' cannot be loaded", UserError, "another plugin"),
        ("ERROR 2026 (HY000): TLS/SSL error: no", UserError, "could not connect: TLS/SSL error"),
        ("mysql: unknown option '--xml'", UserError, "ended before it asked anything: mysql: unknown option"),
    ],
)
def test_why_there_is_no_connection(script: Path, said: str, error: type[Exception], message: str) -> None:
    script.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}\nEND\nexit 1\n")
    with pytest.raises(error, match=message or None):
        connected()


def test_what_cannot_be_started_is_named(script: Path) -> None:
    script.write_bytes(b"\0\0")
    with pytest.raises(UserError, match="cannot be started: Exec format error"):
        connected()


def test_the_client_that_dies_is_a_broken_connection(script: Path) -> None:
    answering(script, "sys.exit(1)")
    with pytest.raises(BrokenConnectionError, match="the client ended"):
        connected().query("SELECT 2")


@pytest.mark.slow
def test_one_that_hangs_is_cut_from_another_handle(script: Path) -> None:
    answering(script, "import time; time.sleep(60)")
    handles: list[socket.socket] = []
    connection = ServerConnection(TARGET, 5, lambda wire: handles.append(second_handle(wire)))
    import threading

    threading.Timer(0.3, lambda: handles[0].shutdown(socket.SHUT_RDWR)).start()
    started = time.monotonic()
    with pytest.raises(BrokenConnectionError):
        connection.query("SELECT 2")
    assert time.monotonic() - started < 10
    assert not Client.running
    handles[0].close()


def test_no_option_tells_the_password_and_nothing_of_ours_leads_elsewhere(
    script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MYSQL_PWD", "secret")
    monkeypatch.setenv("MYSQL_HOST", "elsewhere")
    told = tmp_path / "told"
    script.write_text(f'#!/bin/sh\n{{ echo "$@"; env; cat "${{1#--defaults-file=}}"; }} > {told}\nexit 1\n')
    with pytest.raises(UserError):
        connected()
    text = told.read_text()
    words, _, rest = text.partition("\n")
    environment, _, options = rest.partition("[client]\n")
    assert "secret" not in text
    assert "pas" not in words
    assert "MYSQL_HOST" not in environment
    assert "MYSQL_TEST_LOGIN_FILE=/nonexistent" in environment
    assert options.splitlines()[:4] == [
        'user="us\\\\er"',
        'password="p\\"a\'s#s\\n\\\\"',
        'socket="/run/s.sock"',
        'protocol="SOCKET"',
    ]


def test_tcp_stays_on_this_machine(script: Path) -> None:
    assert 'host="127.0.0.1"\nport="3307"\nprotocol="TCP"' in client_driver._option_file(Target("u", port=3307), 5)


def test_a_zero_byte_has_no_place(script: Path) -> None:
    with pytest.raises(UserError, match="zero byte"):
        connected(Target("u", "a\0b", socket=Path("/s")))


@pytest.mark.parametrize(
    "statement", ["SELECT 1; DROP TABLE t", "SELECT 1 \\! sh", "SELECT 1\nSELECT 2", "SELECT '\0'"]
)
def test_a_statement_that_the_client_would_take_apart_is_refused(script: Path, statement: str) -> None:
    connection = connected()
    with pytest.raises(ValueError, match="more than one"):
        connection.query(statement)
    connection.close()


def test_arguments_are_quoted(script: Path) -> None:
    answering(script, "answer(statement, statement.partition('LIKE ')[2])")
    connection = connected()
    assert connection.query("SHOW STATUS LIKE %s", ("Uptime",)) == [("'Uptime'",)]
    assert connection.query("SHOW STATUS LIKE %s", ("a'b\\",)) == [("_utf8mb4 0x6127625c",)]
    connection.close()


def test_too_many_rows_and_too_many_bytes_are_given_up(script: Path) -> None:
    answering(script, "answer(statement, 'x' * 100)")
    with pytest.raises(ServerLostError, match="1 rows in one answer"):
        connected().query("SELECT 2", maximum_rows=0)
    connection = connected()
    with one_look(50), pytest.raises(ServerLostError, match="one look"):
        connection.query("SELECT 2")
    assert Allowance().remaining_bytes > 100


def test_an_endless_answer_is_given_up(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_driver, "ANSWER_BYTES", 1 << 17)
    answering(script, "while True: sys.stdout.write('x' * 65536)")
    with pytest.raises(ServerLostError, match="in one answer"):
        connected().query("SELECT 2")


def test_nothing_is_inherited_or_left_open(script: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        connected().close()
        script_was = script.read_text()
        script.write_text("#!/bin/sh\nexit 1\n")
        with contextlib.suppress(UserError):
            connected()
        script.write_text(script_was)
    assert set(os.listdir("/proc/self/fd")) == before


def test_the_client_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "path", "")
    monkeypatch.setattr("tools.snapshotter.parts.client_program.CLIENT_PLACES", ())
    monkeypatch.setenv("PATH", f"relative:{tmp_path}:")
    with pytest.raises(UserError, match="there is no client program mysql or mariadb"):
        Client.find(None)
    for name in ("mysql", "mariadb"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(stat.S_IRWXU)
        Client.find(None)
        assert Client.path == str(tmp_path / name)
    for wrong in (str(tmp_path / "nothing"), str(tmp_path)):
        with pytest.raises(UserError, match="--client"):
            Client.find(wrong)


@pytest.mark.parametrize(("target", "over_tcp"), [(TARGET, False), (Target("u", "p", host="127.0.0.1", port=3306), True)])
def test_a_server_that_asks_for_a_file_or_for_the_password_gets_neither(script: Path, target: Target, over_tcp: bool) -> None:
    answering(script, "answer(statement, ' '.join(sys.argv[2:]))")
    words = str(connected(target).query("SELECT 2")[0][0]).split()
    assert "--loose-local-infile=0" in words
    assert ("--plugin-dir=/nonexistent" in words, "--loose-skip-enable-cleartext-plugin" in words) == (over_tcp, over_tcp)
