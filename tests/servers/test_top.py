"""`top` on a real server and in a terminal emulator: what a person sees, types and is left with."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.program import PROGRAM, run_process
from tests.support.servers import binaries_of, working
from tests.support.terminal import OnTerminal, on_terminal

from .conftest import OTHER_UID, on_one_server, schema

pytestmark = on_one_server

TABLE = "CREATE TABLE {} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, KEY (k)) ENGINE=MyISAM"
LOAD = ["INSERT INTO busy (k) SELECT 1 FROM (SELECT SLEEP(0.02)) paused"]
OPENED = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Opened_tables'"
RESTING = "SELECT COALESCE(MIN(TIME), 0) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Sleep'"
HOSTILE = "x\x1b]0;evil\x07\u202ey"


@contextmanager
def loaded(server: PrivateServer) -> Iterator[str]:
    """A database with a busy table, an idle one, and one whose name would steer a terminal."""
    with schema(server, "watched") as name:
        server.execute(*(TABLE.format(f"`{one}`") for one in ("busy", "idle", HOSTILE)), "INSERT INTO busy (k) VALUES (1)", database=name)
        with working(server, name, LOAD):
            yield name


@contextmanager
def top(server: PrivateServer, *words: object, columns: int = 80, lines: int = 24, environment: dict[str, str] | None = None) -> Iterator[OnTerminal]:
    """The live screen of a server."""
    with on_terminal("top", "--socket", server.socket, "--user", "root", *words, columns=columns, lines=lines, environment=environment) as terminal:
        yield terminal


def shows_rates(terminal: OnTerminal) -> bool:
    """Whether the busy table has write statements in each second."""
    line = next((line for line in terminal.lines if "watched.busy" in line), "")
    return len(line.split()) > 4 and line.split()[2] not in ("-", "0")


def value(server: PrivateServer, statement: str) -> int:
    """The one number that a statement gives."""
    return int(str(server.execute(statement)[0][0]))


def test_a_person_watches_chooses_filters_and_leaves(server: PrivateServer) -> None:
    with loaded(server), top(server) as terminal:
        terminal.wait(shows_rates, "rates of the busy table")
        assert terminal.is_whole_screen
        assert "default" in terminal.text
        assert "\\x1b]0;" in terminal.text
        assert terminal.screen.title == ""
        first = next(line for line in terminal.lines if line.startswith(">"))
        assert "watched.busy" in first, terminal.text
        terminal.press("/")
        terminal.wait_for("show tables whose name holds:")
        terminal.press("idl\r")
        terminal.wait_for(">watched.idle")
        assert "watched.busy" not in terminal.text
        terminal.press("\r")
        terminal.wait_for("Indexes")
        assert "row format  fixed" in terminal.text
        terminal.press("\x1b")
        terminal.wait_for("/idl")
        terminal.press("\x1b")
        terminal.wait_for("watched.busy")
        terminal.press("?")
        terminal.wait_for("sort by the next column")
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.is_given_back


def test_the_terminal_changes_its_size(mariadb: PrivateServer) -> None:
    with loaded(mariadb), top(mariadb) as terminal:
        terminal.wait(shows_rates, "rates")
        terminal.resize(20, 24)
        terminal.wait_for("too small: 20 by 24")
        terminal.resize(120, 40)
        terminal.wait(lambda one: "watched.busy" in one.text and "q quit" in one.lines[-1], "the list again, down to the last line")
        assert len(terminal.lines) == 40
        assert len(terminal.lines[0]) > 100
        terminal.press("q")
        assert terminal.ended() == 0


@pytest.mark.parametrize(("ends", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_whichever_signal_ends_it_the_terminal_is_given_back(mariadb: PrivateServer, ends: signal.Signals, status: int) -> None:
    with top(mariadb) as terminal:
        terminal.wait_for("key cache")
        assert not terminal.is_given_back
        terminal.send(ends)
        assert terminal.ended() == status
        assert terminal.is_given_back
        assert "Traceback" not in terminal.text


def test_it_stops_and_goes_on_as_a_job_does(mariadb: PrivateServer) -> None:
    with top(mariadb) as terminal:
        terminal.wait_for("key cache")
        terminal.press("\x1a")
        terminal.wait(OnTerminal.is_stopped, "stopped")
        assert terminal.is_given_back
        terminal.send(signal.SIGCONT)
        terminal.wait(lambda one: one.is_whole_screen and "key cache" in one.text, "the screen again")
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.is_given_back


def test_a_server_that_dies_and_comes_back_is_said_and_watched_again() -> None:
    with PrivateServer(binaries_of("mariadb-10.11")) as server:
        server.execute("CREATE DATABASE watched", TABLE.format("watched.busy"))
        with top(server) as terminal:
            terminal.wait_for("watched.busy")
            server.stop()
            terminal.wait_for("No answer since")
            assert "watched.busy" in terminal.text
            assert "below is what was seen at" in " ".join(terminal.text.split())
            server.start()
            terminal.wait(lambda one: "No answer" not in one.text and "watched.busy" in one.text, "the server again")
            terminal.press("q")
            assert terminal.ended() == 0


def test_while_a_server_hangs_keys_are_heard() -> None:
    with PrivateServer(binaries_of("mariadb-10.11")) as server, top(server, "--timeout", "5") as terminal:
        terminal.wait_for("key cache")
        os.kill(server.pid, signal.SIGSTOP)
        try:
            terminal.read(4.0)
            terminal.press("?")
            terminal.wait_for("sort by the next column")
            terminal.press("?")
            terminal.wait_for("No answer since")
            terminal.press("q")
            assert terminal.ended() == 0
            assert terminal.is_given_back
        finally:
            os.kill(server.pid, signal.SIGCONT)


def test_while_it_is_paused_the_server_is_not_asked(mariadb: PrivateServer) -> None:
    with loaded(mariadb), top(mariadb) as terminal:
        terminal.wait(shows_rates, "rates")
        terminal.press("p")
        terminal.wait_for("PAUSED")
        terminal.read(1.0)
        terminal.wait(lambda _: value(mariadb, RESTING) >= 4, "a connection that rests")
        terminal.press("p")
        terminal.wait(lambda one: "PAUSED" not in one.text, "on again")
        terminal.press("q")
        assert terminal.ended() == 0


def test_without_colours_there_are_none(mariadb: PrivateServer) -> None:
    with top(mariadb, environment={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("key cache")
        cells = [cell for row in terminal.screen.buffer.values() for cell in row.values()]
        assert {(cell.fg, cell.bg) for cell in cells} == {("default", "default")}
        terminal.press("q")
        assert terminal.ended() == 0


def test_a_terminal_without_utf_8_gets_letters_that_it_has(mariadb: PrivateServer) -> None:
    with loaded(mariadb), top(mariadb, environment={"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}) as terminal:
        terminal.wait(shows_rates, "rates")
        assert terminal.text.isascii()
        assert "\\u" not in terminal.lines[0]
        terminal.press("q")
        assert terminal.ended() == 0


def test_a_dumb_terminal_is_refused_with_a_way_out(mariadb: PrivateServer) -> None:
    with top(mariadb, environment={"TERM": "dumb"}) as terminal:
        assert terminal.ended() == 2
        assert "cannot place its cursor" in terminal.text
        assert "--once" in terminal.text
        assert terminal.is_given_back


def test_watching_opens_no_table(mariadb: PrivateServer) -> None:
    with schema(mariadb, "many") as name:
        mariadb.execute(*(TABLE.format(f"t{number}") for number in range(30)), "FLUSH TABLES", database=name)
        before = value(mariadb, OPENED)
        with top(mariadb, "--interval", "500ms") as terminal:
            terminal.wait_for("30 tables")
            terminal.wait(lambda one: "Not known yet" not in one.text and "under way" not in one.text, "a second look")
            terminal.press("q")
            assert terminal.ended() == 0
        after = value(mariadb, OPENED)
        assert after - before < 5


def test_once_prints_a_screen_without_a_terminal(server: PrivateServer) -> None:
    with loaded(server):
        done = run_process("top", "--once", "--interval", "1s", "--socket", server.socket, "--user", "root")
    assert done.returncode == 0, done.stderr
    assert "watched.busy" in done.stdout
    assert "q quit" not in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--socket", "/nonexistent/s"), "/nonexistent/s"),
        (("--interval", "1ms"), "too short"),
        (("--interval", "2h"), "longer than an hour"),
        (("--interval", "soon"), "not a duration"),
        (("--config", "/nonexistent.yaml"), "/nonexistent.yaml"),
    ],
)
def test_bad_input_is_named_and_ends_with_2(words: tuple[str, ...], said: str) -> None:
    done = run_process("top", "--user", "root", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_terminal_is_refused_with_a_way_out(mariadb: PrivateServer) -> None:
    done = run_process("top", "--socket", mariadb.socket, "--user", "root")
    assert done.returncode == 2
    assert "is no terminal" in done.stderr
    assert "--once" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take rights away from itself")
def test_who_may_see_no_files_is_told_what_is_missing_and_how_to_have_it(mariadb: PrivateServer) -> None:
    onlooker = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups", str(PROGRAM)]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    if subprocess.run([*onlooker, "--version"], capture_output=True, check=False, env=environment).returncode:
        pytest.skip("this checkout, or its Python, is closed to other users")
    words = ["top", "--once", "--interval", "1s", "--socket", str(mariadb.socket), "--user", "root"]
    mode = mariadb.data_directory.stat().st_mode
    mariadb.data_directory.chmod(0o700)
    try:
        with loaded(mariadb):
            done = subprocess.run([*onlooker, *words], capture_output=True, text=True, check=False, timeout=60, env=environment)
    finally:
        mariadb.data_directory.chmod(mode)
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "watched.busy" in line)
    assert row.split()[5] == "-", row
    assert "sudo" in done.stdout, done.stdout
