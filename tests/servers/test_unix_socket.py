"""The daemon's UNIX socket, and sockets that systemd opened for it."""

import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import bcrypt
import pytest

from myisam_advisor.cli.commands.serve import serve
from myisam_advisor.daemon.sockets import DEFAULT_ADDRESS
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, free_port, serving, wait_for
from tests.support.program import PROGRAM, run_process

HANDING_OVER = """
import os, socket, sys
sockets = []
for path in sys.argv[1].split(','):
    one = socket.socket(socket.AF_INET) if path.isdigit() else socket.socket(socket.AF_UNIX)
    one.bind(('127.0.0.1', int(path)) if path.isdigit() else path)
    one.listen()
    sockets.append(one)
for number, one in enumerate(sockets):
    os.dup2(one.fileno(), 3 + number)
    os.set_inheritable(3 + number, True)  # dup2 onto itself does not
os.environ |= {'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': str(len(sockets)), 'LISTEN_FDNAMES': 'a:b'}
os.execv(sys.argv[2], sys.argv[2:])
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(str(self.path))


def ask(path: Path, page: str = "/munin.json", method: str = "GET") -> tuple[int, bytes]:
    connection = UnixConnection(path)
    try:
        connection.request(method, page)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def answers(path: Path, page: str = "/munin.json") -> bool:
    try:
        return ask(path, page)[0] == 200
    except OSError:
        return False


def test_permissions_stand_for_a_login(mariadb: PrivateServer, tmp_path: Path) -> None:
    hashed = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    config = tmp_path / "web.yaml"
    config.write_text(f"basic_auth_users: {{reader: '{hashed}'}}\n")
    path = tmp_path / "advisor.sock"
    daemon = Daemon(["--socket", str(mariadb.socket), "--user", "root", "--no-history", "--web.config.file", str(config), "--web.socket", str(path)])
    try:
        assert wait_for(lambda: answers(path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert daemon.get("/munin.json").status == 401
        for page in ("/", "/metrics", "/-/healthy"):
            assert ask(path, page)[0] == 200
        assert ask(path, "/-/reload")[0] == 405
        assert ask(path, "/", "POST")[0] == 405
        assert ask(path, "/nowhere")[0] == 404
    finally:
        assert daemon.stop() == 0
    assert not path.exists()


def test_a_socket_left_behind_is_replaced_and_one_in_use_is_not(mariadb: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "advisor.sock"
    words = ("--socket", mariadb.socket, "--user", "root", "--web.socket", path)
    with serving(*words) as daemon:
        assert ask(path)[0] == 200
        second = run_process("serve", "--web.listen-address", f"127.0.0.1:{free_port()}", "--no-history", *words)
        assert second.returncode == 2
        assert f"cannot listen on {path}: Address already in use. Stop the daemon that answers there" in second.stderr
        assert ask(path)[0] == 200
        daemon.stop(signal.SIGKILL)
    assert path.exists()
    with serving(*words):
        assert ask(path)[0] == 200


@pytest.mark.parametrize(
    ("make", "words", "said"),
    [
        (lambda path: path.write_text("mine"), (), "a file that is not a socket is in the way"),
        (lambda path: None, ("--web.socket-group", "no such group"), "there is no group 'no such group'"),
        (lambda path: path.mkdir(), (), "a file that is not a socket is in the way"),
    ],
)
def test_a_socket_that_cannot_be_made(tmp_path: Path, make, words: tuple[str, ...], said: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "advisor.sock"
    make(path)
    done = run_process("serve", "--web.listen-address", f"127.0.0.1:{free_port()}", "--no-history", "--no-own-server", "--web.socket", path, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_path_that_is_too_long(tmp_path: Path) -> None:
    done = run_process("serve", "--web.listen-address", f"127.0.0.1:{free_port()}", "--no-history", "--no-own-server", "--web.socket", tmp_path / ("x" * 200))
    assert done.returncode == 2
    assert "cannot listen on" in done.stderr
    assert "Traceback" not in done.stderr


def test_sockets_that_systemd_opened_are_served(mariadb: PrivateServer, tmp_path: Path) -> None:
    path, port, other = tmp_path / "handed.sock", free_port(), free_port()
    words = ["serve", "--socket", str(mariadb.socket), "--user", "root", "--no-history", "--web.listen-address", f"127.0.0.1:{other}", "--web.socket", str(tmp_path / "own.sock")]
    command = [sys.executable, "-c", HANDING_OVER, f"{path},{port}", str(PROGRAM), *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"})
    try:
        assert wait_for(lambda: answers(path))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/-/healthy")
        assert connection.getresponse().status == 200
        connection.close()
        assert not (tmp_path / "own.sock").exists()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", other), timeout=2)
    finally:
        process.terminate()
        _, log = process.communicate(timeout=10)
    assert path.exists()  # it is systemd's
    assert f"not listening on 127.0.0.1:{other}: systemd opened the socket" in log.decode()


def test_nobody_is_told_of_addresses_that_nobody_gave(tmp_path: Path) -> None:
    port = free_port()
    words = ["serve", "--no-own-server", "--no-history", "--log.level", "info"]
    for further in ((), ("--web.listen-address", f":{port}"), ("--web.listen-address", f"127.0.0.1:{port}")):
        command = [sys.executable, "-c", HANDING_OVER, f"{tmp_path / 'handed.sock'},{port}", str(PROGRAM), *words, *further]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"})
        try:
            assert wait_for(lambda: answers(tmp_path / "handed.sock", "/-/healthy"))
        finally:
            process.terminate()
            _, log = process.communicate(timeout=10)
            (tmp_path / "handed.sock").unlink()
        assert f"listening on http://127.0.0.1:{port}/" in log.decode()
        assert "not listening" not in log.decode()


def test_the_default_address_is_the_one_that_is_no_wish() -> None:
    options = {parameter.name: parameter.default for parameter in serve.params}
    assert options["listen_addresses"] == [DEFAULT_ADDRESS]


def test_what_is_handed_over_must_be_a_socket(tmp_path: Path) -> None:
    code = "import os, sys; os.dup2(os.open(os.devnull, 0), 3, inheritable=True); os.environ |= {'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '1'}; os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, str(PROGRAM), "serve", "--no-own-server", "--no-history"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "descriptor 3 of LISTEN_FDS is not a socket" in done.stderr
