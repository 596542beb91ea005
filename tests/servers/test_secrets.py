"""The password: in the option file, in memory, on its way to the server, and nowhere else."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.login_files import encrypted
from tests.support.program import PROGRAM, run

SECRET = "Tr0ub4dor&3-#;'$(x)"
COMMANDS = (
    ("check", "--interval", "0", "--fail-on", "never", "--verbose"),
    *(("check", "--interval", "0", "--fail-on", "never", "--format", form) for form in ("json", "html", "prometheus")),
    ("check", "--interval", "0", "--format", "nagios", "--unknown-as", "ok"),
    ("doctor",), ("facts",), ("snapshot", "--interval", "0"), ("grants",), ("plan", "--interval", "0"), ("munin",), ("query", "SELECT * FROM variable"),
)  # fmt: skip


@pytest.fixture
def option_file(mariadb: PrivateServer, tmp_path: Path) -> Iterator[Path]:
    quoted = SECRET.replace("'", "''")
    mariadb.execute(f"CREATE USER 'keeper'@'localhost' IDENTIFIED BY '{quoted}'", "GRANT PROCESS, SELECT ON *.* TO 'keeper'@'localhost'")
    path = tmp_path / "client.cnf"
    path.write_text(f'[client]\nuser=keeper\npassword="{SECRET}"\nsocket={mariadb.socket}\n')
    path.chmod(0o600)
    try:
        yield path
    finally:
        mariadb.execute("DROP USER 'keeper'@'localhost'")


@pytest.mark.parametrize("way", ["environment", "login path"])
def test_no_command_shows_one_that_came_another_way(option_file: Path, tmp_path: Path, way: str) -> None:
    """By MYSQL_PWD, or in a login file as mysql_config_editor writes it."""
    without = tmp_path / "without.cnf"
    without.write_text("\n".join(line for line in option_file.read_text().splitlines() if not line.startswith("password")) + "\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    words = ["--defaults-file", str(without)]
    if way == "environment":
        environment["MYSQL_PWD"] = SECRET
    else:
        escaped = SECRET.replace("\\", "\\\\")
        login = tmp_path / ".mylogin.cnf"
        login.write_bytes(encrypted(f'[keeper]\npassword = "{escaped}"\n'))
        login.chmod(0o600)
        words += ["--login-path", "keeper"]

    def asked(*command: str) -> subprocess.CompletedProcess[str]:
        if way == "environment":  # which a process takes it out of when it starts
            return subprocess.run([str(PROGRAM), *command, *words], capture_output=True, text=True, timeout=60, env=environment, check=False)
        return run(*command, *words, environment=environment)

    for command in COMMANDS:
        done = asked(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert SECRET not in done.stdout + done.stderr, command
        assert ("came from MYSQL_PWD" in done.stderr) == (way == "environment"), command
    without.write_text(without.read_text().replace("user=keeper", "user=nobody"))
    refused = asked("--debug", "check")
    assert refused.returncode == 2
    assert "refused the user 'nobody'" in refused.stderr
    assert SECRET not in refused.stdout + refused.stderr


def told_by_the_system(process: psutil.Process) -> str:
    """The words and the environment of a process and of all that it started."""
    parts = []
    for one in [process, *process.children(recursive=True)]:
        try:
            parts += [" ".join(one.cmdline()), repr(one.environ())]
        except psutil.Error:
            continue  # it is over
    return "\n".join(parts)


def test_no_command_shows_it(option_file: Path) -> None:
    for command in COMMANDS:
        done = run(*command, "--defaults-file", option_file)
        assert done.returncode == 0, (command, done.stderr)
        assert SECRET not in done.stdout + done.stderr, command


@pytest.mark.parametrize("form", ["text", "json"])
def test_rights_does_not_show_it_whatever_is_seen(option_file: Path, form: str) -> None:
    done = run("rights", "--service", "myisam-advisor-that-is-not-here", "--format", form, "--defaults-file", option_file)
    assert done.returncode in (0, 1), done.stderr
    assert "server login" in done.stdout
    assert SECRET not in done.stdout + done.stderr


def test_errors_do_not_show_it(option_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.cnf"
    for text in (option_file.read_text().replace(SECRET, f"not-{SECRET}"), option_file.read_text().replace("user=", "usr="), option_file.read_text() + "port=none\n", option_file.read_text() + "]["):
        wrong.write_text(text)
        done = run("check", "--interval", "0", "--defaults-file", wrong)
        assert SECRET not in done.stdout + done.stderr
    missing = option_file.read_text().replace("socket=", "socket=/nowhere")
    wrong.write_text(missing)
    done = run("check", "--interval", "0", "--defaults-file", wrong)
    assert done.returncode == 2
    assert SECRET not in done.stderr


def everything_served(daemon: Daemon) -> str:
    pages = [daemon.get(path, timeout=10) for path in ("/metrics", "/", "/advice.json", "/munin.json", "/-/healthy", "/nothing")]
    return "\n".join(page.text for page in pages)


def test_the_daemon_shows_it_nowhere_and_leaves_no_core(option_file: Path, tmp_path: Path) -> None:
    history = tmp_path / "kept" / "history.sqlite"
    with serving("--defaults-file", option_file, "--history", history) as daemon:
        daemon.looked()
        process = psutil.Process(daemon.pid)
        assert SECRET not in everything_served(daemon)
        assert SECRET not in told_by_the_system(process)
        limits = Path(f"/proc/{daemon.pid}/limits").read_text()
        assert next(line for line in limits.splitlines() if line.startswith("Max core file size")).split()[4:6] == ["0", "0"]
        assert wait_for(lambda: history.stat().st_size > 0)
        # Its memory, where the password is, is written nowhere when it dies.
        daemon.stop(signal.SIGABRT)
    assert SECRET.encode() not in daemon.log
    for path in tmp_path.rglob("*"):
        if path.is_file() and path != option_file:
            assert SECRET.encode() not in path.read_bytes(), path
    assert not list(Path.cwd().glob("core*"))


def test_what_a_trial_starts_does_not_get_it(option_file: Path, mariadb: PrivateServer) -> None:
    """A private server, programs that copy and replay: none of them needs it."""
    command = [str(PROGRAM), "trial", "key-cache", "--defaults-file", str(option_file), "--seconds", "0.2"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    try:
        watched, deadline, seen = psutil.Process(process.pid), time.monotonic() + 60, 0
        while process.poll() is None and time.monotonic() < deadline:
            told = told_by_the_system(watched)
            assert SECRET not in told
            if seen <= 1 < told.count("\n"):
                deadline = time.monotonic() + 10
            seen = max(seen, told.count("\n"))
            time.sleep(0.02)
        assert seen > 1, "it started nothing"
    finally:
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=30)
    assert SECRET.encode() not in printed
