"""-p asks, -h is the host, and what is no way to give a password is refused without showing it."""

import hashlib
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from myisam_advisor.cli.group import cli
from myisam_advisor.cli.options import ServerOptions, server_options
from tests.support.program import PROGRAM, run

SECRET = "Secret-Of-Mine"
CONTEXT = click.Context(cli)
CONNECTING = [name for name in cli.list_commands(CONTEXT) if any("--host" in parameter.opts for parameter in getattr(cli.get_command(CONTEXT, name), "params", []))]


def test_the_commands_that_connect_are_found() -> None:
    assert {"check", "plan", "facts", "query", "snapshot", "doctor", "serve", "munin", "grants", "trial"} <= set(CONNECTING)


@pytest.mark.parametrize("name", CONNECTING)
@pytest.mark.parametrize("words", [(f"-p{SECRET}",), (f"--password={SECRET}",), ("-p", SECRET), ("--password", SECRET), ("-h", "db1", f"-p{SECRET}")])
def test_a_password_among_the_words_is_refused_and_not_shown(name: str, words: tuple[str, ...]) -> None:
    done = run(name, *words)
    assert done.returncode == 2
    assert "Write -p alone" in done.stderr
    assert SECRET not in done.stderr + done.stdout
    assert SECRET[1:] not in done.stderr + done.stdout


def test_one_behind_other_letters_is_found_and_nagios_hears_of_it() -> None:
    assert "Write -p alone" in run("check", f"-vp{SECRET}").stderr
    done = run("check", "--format", "nagios", f"-p{SECRET}")
    assert (done.returncode, done.stdout[:17]) == (3, "MYISAM UNKNOWN - ")
    assert SECRET not in done.stdout


@pytest.mark.parametrize("words", [("-h", "pear"), ("-upaul",), ("-P3307",), ("-S", "/tmp/p"), ("-vu", "peter")])
def test_a_p_in_a_value_is_none(words: tuple[str, ...]) -> None:
    done = run("check", "--interval", "0", "-h", "127.0.0.1", "-P", "1", *words)
    assert "Write -p alone" not in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("words", [("-h",), ("-h", "--verbose")])
def test_the_host_is_missing(words: tuple[str, ...]) -> None:
    done = run("check", *words)
    assert done.returncode == 2
    assert "write -h HOST" in done.stderr


@pytest.mark.parametrize("words", [("-h",), ("-?",), ("--help",), ("explain", "-h"), ("check", "-?"), ("check", "--help"), ("trial", "-?")])
def test_help_is_where_hands_look_for_it(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: ")


def test_without_a_terminal_nobody_is_asked() -> None:
    """A session of its own has none."""
    done = subprocess.run([str(PROGRAM), "check", "-p"], capture_output=True, text=True, stdin=subprocess.DEVNULL, start_new_session=True, timeout=60, check=False, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 2
    assert "-p asks for the password on the terminal, and there is none" in done.stderr


ASKING = """
import click, hashlib, sys
from myisam_advisor.cli.options import ServerOptions, server_options
@click.command()
@server_options
def ask(server):
    first, second = server.target(), server.target()
    print('\\nfound', hashlib.sha256(first.password.encode()).hexdigest(), first == second, first.password_origin)
ask(['-p', '-h', 'nowhere', '--defaults-file', sys.argv[1]])
"""


def test_the_terminal_is_asked_once_and_echoes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\npassword=nor-this\n")
    process, terminal = pty.fork()
    if process == 0:
        os.environ["MYSQL_PWD"] = "not-this"
        os.execv(sys.executable, [sys.executable, "-c", ASKING, str(path)])
    read = b""
    deadline = time.monotonic() + 30
    while b"Enter password: " not in read and time.monotonic() < deadline:
        read += os.read(terminal, 1000)
    os.write(terminal, SECRET.encode() + b"\n")
    try:
        while more := os.read(terminal, 1000):
            read += more
    except OSError:
        pass
    os.waitpid(process, 0)
    os.close(terminal)
    assert read.count(b"Enter password: ") == 1
    assert f"found {hashlib.sha256(SECRET.encode()).hexdigest()} True from the terminal".encode() in read
    assert SECRET.encode() not in read


def target_of(words: list[str]) -> ServerOptions:
    found: list[ServerOptions] = []

    @click.command()
    @server_options
    def look(server: ServerOptions) -> None:
        found.append(server)

    look.main(words, standalone_mode=False)
    return found[0]


def test_mysql_pwd_is_used_with_a_warning_and_inherited_by_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name, value in (("MYSQL_PWD", SECRET), ("MYSQL_HOST", "db7"), ("MYSQL_GROUP_SUFFIX", "_x"), ("HOME", "/nonexistent")):
        monkeypatch.setenv(name, value)
    path = tmp_path / "my.cnf"
    path.write_text("[client_x]\nuser=suffixed\n")
    server = target_of(["--defaults-file", str(path)])
    for _ in range(2):
        target = server.target()
        assert (target.user, target.host, target.password) == ("suffixed", "db7", SECRET)
    assert "MYSQL_PWD" not in os.environ
    assert caplog.text.count("the password came from MYSQL_PWD") == 1
    assert SECRET not in caplog.text + repr(server)
    # A password that somebody wrote into the option file since then is taken.
    path.write_text("[client_x]\nuser=suffixed\npassword=newer\n")
    assert server.target().password == "newer"
