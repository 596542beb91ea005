"""Which account and which way our options lead to: the same as those of the server's own clients, asked side by side."""

import os
import pty
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from myisam_advisor.cli.options import ServerOptions, server_options
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.errors import UserError
from myisam_exporter.server.session import Session

from .clients import client

USERS = ("file", "extra", "home", "suffix", "login", "named", "environment")
REFUSED = "refused"
LETTERS = ("-u", "named")


def password(user: str) -> str:
    return f"{user}'s pass # \"word\""


@pytest.fixture(scope="module")
def accounts(mariadb: PrivateServer) -> Iterator[PrivateServer]:
    for user in USERS:
        quoted = password(user).replace("'", "''")
        mariadb.execute(f"CREATE USER '{user}'@'%' IDENTIFIED BY '{quoted}'", f"CREATE USER '{user}'@'localhost' IDENTIFIED BY '{quoted}'")
    try:
        yield mariadb
    finally:
        for user in USERS:
            mariadb.execute(f"DROP USER '{user}'@'%', '{user}'@'localhost'")


def group(name: str, user: str, **further: object) -> str:
    escaped = password(user).replace('"', '\\"')
    return f'[{name}]\nuser={user}\npassword="{escaped}"\n' + "".join(f"{key}={value}\n" for key, value in further.items())


def typed(words: list[str], text: str, environment: Mapping[str, str]) -> None:
    """Start a program on a terminal of its own, and type this where it asks."""
    process, terminal = pty.fork()
    if process == 0:
        os.execve(words[0], words, dict(environment))
    read, deadline = b"", time.monotonic() + 20
    while b"password: " not in read and time.monotonic() < deadline:
        read += os.read(terminal, 1000)
    os.write(terminal, f"{text}\n".encode())
    try:
        while os.read(terminal, 1000):
            pass
    except OSError:
        pass
    assert os.waitpid(process, 0)[1] == 0, read
    os.close(terminal)


@pytest.fixture
def home(accounts: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MYSQL_PWD", "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "MYSQL_GROUP_SUFFIX", "MYSQL_TEST_LOGIN_FILE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    socket = accounts.socket
    (tmp_path / "file.cnf").write_text(group("client", "file", socket=socket) + group("client_x", "suffix"))
    (tmp_path / "extra.cnf").write_text(group("client", "extra", socket=socket))
    return tmp_path


def with_own_file(home: Path) -> None:
    (home / ".my.cnf").write_text(group("client", "home"))


def with_login_file(home: Path, name: str = "client") -> None:
    words = client("mysql-client")
    editor = [*words[:3], words[3].removesuffix("mysql") + "mysql_config_editor"]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], **({"MYSQL_TEST_LOGIN_FILE": path} if (path := os.environ.get("MYSQL_TEST_LOGIN_FILE")) else {})}
    typed([*editor, "set", f"--login-path={name}", "--user=login", "--password"], password("login"), environment)


def theirs(kind: str, words: list[str]) -> str:
    """Whom the server takes their client for."""
    program = [word for word in client(kind) if word != "--no-defaults"]
    files = [word for word in words if word.startswith(("--defaults", "--login-path"))]
    others = [word for word in words if word not in files]
    plugin = [word for word in program if word.startswith("--plugin-dir")]
    done = subprocess.run([*program[: len(program) - len(plugin)], *files, *plugin, *others, "--batch", "--skip-column-names", "--execute", "SELECT CURRENT_USER()"], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.strip().partition("@")[0] if done.returncode == 0 else REFUSED


def ours(words: list[str]) -> str:
    found: list[ServerOptions] = []

    @click.command()
    @server_options
    def connect(server: ServerOptions) -> None:
        found.append(server)

    connect.main(words, standalone_mode=False)
    try:
        with Session(found[0].target(), 10) as session:
            ((user,),) = session.rows("SELECT CURRENT_USER()")
            return (user or "").partition("@")[0]
    except UserError as error:
        assert not any(password(user) in str(error) for user in USERS)
        return REFUSED


def both(words: list[str], kinds: tuple[str, ...] = ("mariadb", "mysql-client")) -> str:
    """Whom the server takes all of us for. MYSQL_PWD is gone from our environment once we took it: theirs are asked first."""
    answers = {kind: theirs(kind, words) for kind in kinds if kind != "mariadb" or shutil.which("mariadb")}
    answers["ours"] = ours(words)
    assert len(set(answers.values())) == 1, answers
    return answers["ours"]


def test_files_and_options(home: Path, accounts: PrivateServer) -> None:
    file, extra = f"--defaults-file={home}/file.cnf", f"--defaults-extra-file={home}/extra.cnf"
    assert both([file]) == "file"
    assert both([file, "--defaults-group-suffix=_x"]) == "suffix"
    assert both([extra]) == "extra"
    with_own_file(home)
    assert both([extra]) == "home"
    assert both([file]) == "file"
    assert both([file, *LETTERS]) == REFUSED  # another user, the file's password
    assert both(["-S", str(accounts.socket)]) == "home"


def test_the_names_of_groups_have_no_case(home: Path, accounts: PrivateServer) -> None:
    words = [f"--defaults-file={home}/capitals.cnf", "--defaults-group-suffix=_X"]
    (home / "capitals.cnf").write_text(group("CLIENT", "file", socket=accounts.socket))
    assert both(words) == "file"
    (home / "capitals.cnf").write_text(group("Client_x", "suffix", socket=accounts.socket))
    assert both(words) == "suffix"


def test_the_environment(home: Path, accounts: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    file = f"--defaults-file={home}/file.cnf"
    (home / "none.cnf").write_text("")
    none = f"--defaults-file={home}/none.cnf"
    monkeypatch.setenv("MYSQL_GROUP_SUFFIX", "_x")
    assert both([file]) == "suffix"
    monkeypatch.delenv("MYSQL_GROUP_SUFFIX")
    monkeypatch.setenv("MYSQL_UNIX_PORT", str(accounts.socket))
    for user, expected in (("environment", "environment"), ("named", REFUSED)):
        monkeypatch.setenv("MYSQL_PWD", password("environment"))
        assert both([none, "-u", user]) == expected
    monkeypatch.setenv("MYSQL_PWD", password("environment"))
    assert both([file]) == "file"  # the file before the environment
    monkeypatch.setenv("MYSQL_UNIX_PORT", "/nowhere/at.all")
    monkeypatch.setenv("MYSQL_PWD", password("environment"))
    assert both([none, "-u", "environment"]) == REFUSED
    assert both([file]) == "file"


def test_host_and_port(home: Path, accounts: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "none.cnf").write_text("[client]\n" + group("client", "named"))
    none = f"--defaults-file={home}/none.cnf"
    for host in ("127.0.0.1", "localhost"):
        monkeypatch.setenv("MYSQL_HOST", host)
        monkeypatch.setenv("MYSQL_TCP_PORT", "1")
        monkeypatch.setenv("MYSQL_UNIX_PORT", str(accounts.socket))
        assert both([none]) == ("named" if host == "localhost" else REFUSED)
        assert both([none, "-h", "localhost"]) == "named"


def test_login_paths(home: Path, accounts: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only MySQL's client reads them. What mysql_config_editor writes, it and we find alike."""
    socket = ["-S", str(accounts.socket)]
    with_own_file(home)
    with_login_file(home)
    mysql = ("mysql-client",)
    assert both(socket, mysql) == "login"
    assert both([f"--defaults-file={home}/file.cnf"], mysql) == "login"
    (home / ".mylogin.cnf").chmod(0o640)
    assert both(socket, mysql) == "home"
    monkeypatch.setenv("MYSQL_TEST_LOGIN_FILE", str(home / "elsewhere"))
    assert both(socket, mysql) == "home"
    with_login_file(home, "path")
    assert both(socket, mysql) == "home"
    assert both([*socket, "--login-path=path"], mysql) == "login"
    assert both([*socket, "--login-path=path", *LETTERS], mysql) == REFUSED
