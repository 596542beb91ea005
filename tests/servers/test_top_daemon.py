"""`top --daemon`: a daemon's last look on a screen, over its UNIX socket, and what else may answer there."""

import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.program import PROGRAM, run_process
from tests.support.terminal import on_terminal

from .conftest import OTHER_UID, schema
from .test_unix_socket import ask

TABLE = "CREATE TABLE {} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM"


@contextmanager
def watching(server: PrivateServer, folder: Path) -> Iterator[tuple[Path, Daemon]]:
    """A daemon that looks each second, and its socket, once it has looked over an interval."""
    path = folder / "s"
    with serving("--socket", server.socket, "--user", "root", "--web.socket", path) as daemon:
        assert wait_for(lambda: path.exists() and ask(path, "/top.json")[0] == 200)
        assert daemon.looked().value("advice_interval_seconds")
        yield path, daemon


@contextmanager
def answering(folder: Path, answer: bytes) -> Iterator[Path]:
    """Something that answers each question with these bytes."""
    path = folder / "a"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer, suppress(BrokenPipeError, ConnectionResetError):
                    peer.recv(4096)
                    peer.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield path
        listener.shutdown(socket.SHUT_RDWR)


def test_the_daemons_last_look_is_shown_and_its_end_is_said(mariadb: PrivateServer, tmp_path: Path) -> None:
    with schema(mariadb, "seen") as name:
        mariadb.execute(TABLE.format("whole"), "INSERT INTO whole VALUES (1)", database=name)
        with watching(mariadb, tmp_path) as (path, daemon), on_terminal("top", "--daemon", path, columns=100, lines=50) as terminal:
            terminal.wait_for("seen.whole")
            assert "seen by the daemon" in terminal.text
            assert "default" in terminal.text
            terminal.press("\r")
            terminal.wait_for("row format  fixed")
            terminal.wait_for("no more")
            assert "none is known: a daemon tells what is in the list and no more" in " ".join(terminal.text.split())
            terminal.press("\x1b")
            daemon.stop()
            terminal.wait_for("No answer since")
            assert "seen.whole" in terminal.text
            terminal.press("q")
            assert terminal.ended() == 0
            assert terminal.is_given_back


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")
def test_whoever_may_ask_the_socket_sees_what_he_could_not_see_himself(mariadb: PrivateServer, tmp_path: Path) -> None:
    onlooker = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups", str(PROGRAM)]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    if subprocess.run([*onlooker, "--version"], capture_output=True, check=False, env=environment).returncode:
        pytest.skip("this checkout, or its Python, is closed to other users")
    with schema(mariadb, "seen") as name:
        mariadb.execute(TABLE.format("whole"), "INSERT INTO whole VALUES (1)", database=name)
        with watching(mariadb, tmp_path) as (path, _):
            # Pytest's own, however deep they lie, and never the directory that all share.
            for folder in takewhile(lambda folder: folder != Path(tempfile.gettempdir()), (tmp_path, *tmp_path.parents)):
                folder.chmod(0o755)
            path.chmod(0o666)
            done = subprocess.run([*onlooker, "top", "--once", "--daemon", str(path)], capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "seen.whole" in line)
    assert row.split()[5:] != ["-", "-", "-"], row
    assert "seen by the daemon" in done.stdout


def test_over_tcp_without_a_login_it_is_refused(mariadb: PrivateServer, tmp_path: Path) -> None:
    with watching(mariadb, tmp_path) as (_, daemon):
        answer = daemon.get("/top.json")
    assert answer.status == 403
    assert "UNIX socket" in answer.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "answers 404"),
        (b'HTTP/1.1 503 No\r\n\r\n{"schema":1,"error":"\\u001b]0;evil"}', "\\x1b]0;evil"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "not a daemon of this version"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\xff\xff", "not a daemon of this version"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * (9 << 20), "says more than"),
        (b"SSH-2.0-OpenSSH\r\n", "no daemon answers"),
        (b"", "no daemon answers"),
    ],
)
def test_what_is_no_daemon_is_named(tmp_path: Path, answer: bytes, said: str) -> None:
    with answering(tmp_path, answer) as path:
        done = run_process("top", "--once", "--daemon", path)
    assert done.returncode == 2
    assert said in done.stderr, done.stderr
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("words", "option"), [(("--socket", "/s"), "--socket"), (("--defaults-file", "/f"), "--defaults-file"), (("--user", "root"), "--user")])
def test_a_server_and_a_daemon_are_one_too_many(words: tuple[str, ...], option: str) -> None:
    done = run_process("top", "--once", "--daemon", *words)
    assert done.returncode == 2
    assert f"leave out {option}," in done.stderr


def test_no_daemon_is_named_with_what_to_do(tmp_path: Path) -> None:
    done = run_process("top", "--once", "--daemon", tmp_path / "nobody")
    assert done.returncode == 2
    assert "no daemon answers at" in done.stderr
    assert "leave out --daemon" in done.stderr
