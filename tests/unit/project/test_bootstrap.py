"""What script/bootstrap and script/demo say when something is in the way. A network that fails, an apt that is locked and a full disk are played by programs that come first in PATH, with the words of the real ones."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.repository import ROOT

USED = (
    "bash", "sh", "env", "cat", "grep", "awk", "head", "tail", "cut", "dirname", "mktemp", "rm", "tput", "id", "df", "uname", "sha256sum", "flock", "setsid", "sleep", "printf", "mkdir", "ls",
    "python3",
)  # fmt: skip
TREE = ("setup.cfg", "pyproject.toml")
NOTHING_INSTALLED = "exit 0"
ALL_INSTALLED = "printf '%s ii \\n' python3-venv python3-dev gcc pkg-config libmariadb-dev mariadb-server-core sysbench openssl"
LOCKED = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (unattended-upgr)"
UNRESOLVED = "E: Failed to fetch http://deb.debian.org/debian/pool/main/s/sysbench/sysbench_1.0.20.deb  Temporary failure resolving 'deb.debian.org'"
FULL = "E: You don't have enough free space in /var/cache/apt/archives/."
CONFLICT = "E: Packages need to be removed but remove is disabled."


class Checkout:
    """A copy of what the scripts read, and a PATH with nothing in it but what they use and what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.programs = folder / "tree", folder / "programs"
        for name in ("script", "requirements"):
            (self.tree / name).mkdir(parents=True)
        for script in ("bootstrap", "demo"):
            shutil.copy(ROOT / "script" / script, self.tree / "script" / script)
        for name in (*TREE, *(str(path.relative_to(ROOT)) for path in (ROOT / "requirements").glob("*.txt"))):
            shutil.copy(ROOT / name, self.tree / name)
        self.programs.mkdir()
        for name in USED:
            (self.programs / name).symlink_to(str(shutil.which(name)))
        self.play("dpkg-query", NOTHING_INSTALLED)
        self.play("id", "echo 0")

    def play(self, name: str, lines: str) -> None:
        path = self.programs / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)

    def start(self, *words: str) -> subprocess.Popen[str]:
        environment = {"PATH": str(self.programs), "HOME": str(self.tree), "TMPDIR": str(self.tree), "LC_ALL": "C.UTF-8"}
        command = [str(self.tree / "script" / words[0]), *words[1:]]
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def refuses(self, *words: str) -> str:
        """What it says when it ends with status 2."""
        running = self.start(*words)
        output, errors = running.communicate(timeout=60)
        assert running.returncode == 2, errors
        assert output == ""
        assert "line " not in errors, "the shell complains"
        return errors


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_tier_that_is_none_is_named_with_those_that_are(checkout: Checkout) -> None:
    assert "there is no tier demoo: demo, fast, fuzz, or test" in checkout.refuses("bootstrap", "demoo")


def test_the_demonstration_takes_no_words(checkout: Checkout) -> None:
    assert "demo: it takes no words, and was given: --fast" in checkout.refuses("demo", "--fast")


def test_without_root_and_sudo_the_missing_packages_are_named(checkout: Checkout) -> None:
    checkout.play("id", "echo 1000")
    assert "neither root nor sudo is at hand: python3-venv mariadb-server-core sysbench" in checkout.refuses("demo")


def test_a_sudo_that_cannot_ask_is_said(checkout: Checkout) -> None:
    checkout.play("id", '[ "$1" = -un ] && echo ann || echo 1000')
    checkout.play("sudo", "echo 'sudo: a password is required' >&2; exit 1")
    assert "sudo does not let ann install these packages: python3-venv mariadb-server-core sysbench" in checkout.refuses("demo")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (LOCKED, "another program is installing packages; run this again when it is done"),
        (UNRESOLVED, "packages could not be fetched: is there a network?"),
        (FULL, "the disk is full (packages); make room, and run this again"),
        (CONFLICT, "cannot be installed beside what is there without removing other packages, and nothing was changed"),
        ("E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.", "packages could not be installed:"),
    ],
)
def test_what_apt_complains_of_is_told_with_what_to_do(checkout: Checkout, words: str, told: str) -> None:
    checkout.play("apt-get", f'echo "{words}"; exit 100')
    said = checkout.refuses("bootstrap", "demo")
    assert told in said
    if words != CONFLICT:
        assert words in said


def test_old_lists_of_packages_are_fetched_anew_once(checkout: Checkout) -> None:
    checkout.play("apt-get", f'echo "$@" >>"{checkout.tree}/asked"; echo "E: Unable to locate package sysbench"; case "$*" in *update*) exit 0 ;; esac; exit 100')
    assert "Unable to locate package sysbench" in checkout.refuses("bootstrap", "demo")
    asked = [("update" in line, "--no-remove" in line) for line in (checkout.tree / "asked").read_text().splitlines()]
    assert asked == [(False, True), (True, False), (False, True)]


def test_a_disk_without_room_is_told_before_anything_is_fetched(checkout: Checkout) -> None:
    checkout.play("df", "printf 'Avail\\n   34\\n'")
    checkout.play("apt-get", "echo 'apt-get was called' >&2; exit 100")
    assert "34 MB are free on the disk of /usr, and 150 MB are needed" in checkout.refuses("bootstrap", "demo")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'", "Python libraries could not be fetched: is there a network?"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full (Python libraries)"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "a library is not what it was when it was locked (requirements/demo.txt)"),
        ("ERROR: No matching distribution found for psutil==7.2.2", "there is a library without a binary for this Python"),
    ],
)
def test_what_pip_complains_of_is_told_with_what_to_do(checkout: Checkout, words: str, told: str) -> None:
    checkout.play("dpkg-query", ALL_INSTALLED)
    pip = f'#!/bin/sh\ncase "$*" in *pip*) echo "{words}"; exit 1 ;; esac\n'
    checkout.play("python3", f'case "$*" in -V) echo Python 3.11 ;; *venv*) mkdir -p .venv/bin; cat >.venv/bin/python <<"EOF"\n{pip}EOF\n{shutil.which("chmod")} +x .venv/bin/python ;; esac')
    assert told in checkout.refuses("bootstrap", "demo")
    assert not (checkout.tree / ".venv" / "bootstrapped").exists()


def record(checkout: Checkout) -> str:
    return (checkout.tree / ".venv" / "bootstrapped").read_text()


def test_a_larger_tier_completes_a_smaller_one_and_nothing_is_done_twice(checkout: Checkout) -> None:
    checkout.play("dpkg-query", ALL_INSTALLED)
    asked = checkout.tree / "asked"
    pip = f'#!/bin/sh\ncase "$*" in *"pip install"*) echo "$@" >>"{asked}" ;; esac\n'
    checkout.play("python3", f'case "$*" in *venv*) echo venv >>"{asked}"; rm -rf .venv; mkdir -p .venv/bin; cat >.venv/bin/python <<"EOF"\n{pip}EOF\n{shutil.which("chmod")} +x .venv/bin/python ;; esac')

    def done(tier: str) -> list[str]:
        asked.write_text("")
        running = checkout.start("bootstrap", tier)
        _, errors = running.communicate(timeout=60)
        assert running.returncode == 0, errors
        return ["venv" if line == "venv" else line.rpartition("/")[2] for line in asked.read_text().splitlines() if line == "venv" or "--require-hashes" in line]

    assert done("demo") == ["venv", "demo.txt"]
    assert done("demo") == []
    assert done("fuzz") == ["fuzz.txt"]
    assert done("fast") == ["build.txt", "test.txt"]
    assert done("demo") == []
    assert done("fuzz") == []
    assert [line.split()[0] for line in record(checkout).splitlines()] == ["demo", "fuzz", "test"]
    with (checkout.tree / "setup.cfg").open("a") as file:
        file.write("\n")
    # The tree changed: what was there for the tests comes again with what is asked for.
    assert done("demo") == ["venv", "build.txt", "test.txt"]
    assert done("fast") == []


def test_two_demonstrations_at_once_are_refused(checkout: Checkout) -> None:
    with (checkout.tree / "script" / "demo").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another script/demo of this checkout is at work" in checkout.refuses("demo")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_waits_for_apt_and_leaves_nothing_running(checkout: Checkout, ending: signal.Signals) -> None:
    """The scripts of a package may not be broken off: the session that they run in hears of nothing."""
    begun, ended = checkout.tree / "begun", checkout.tree / "ended"
    # It has begun when it is followed: whoever follows has to be there first.
    followed = f'until grep -qs Unpacking "{checkout.tree}"/tmp.*; do sleep 0.02; done'
    work = f'echo "pmstatus:sysbench:50:Unpacking sysbench"; {followed}; : >"{begun}"; sleep 1; : >"{ended}"; exit 0'
    checkout.play("apt-get", f'case "$*" in *--download-only*) exit 0 ;; esac; {work}')
    running = checkout.start("demo")
    while not begun.exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    os.killpg(running.pid, ending)
    _, errors = running.communicate()
    assert "bootstrap: interrupted; what was installed stays, and the next run goes on from there" in errors
    assert ended.exists()
    assert not (checkout.tree / ".venv").exists()
    assert running.returncode == 130
    with pytest.raises(ProcessLookupError):
        # Whom nobody waits for is there for a moment more. Each test has its limit of time: how long the moment is, the machine's load says.
        while True:
            os.killpg(running.pid, 0)
            time.sleep(0.02)


def test_only_one_library_is_built_and_only_where_there_is_a_compiler(checkout: Checkout) -> None:
    """What a demonstration or the fuzzer installs comes in binary form."""
    checkout.play("dpkg-query", ALL_INSTALLED)
    asked = checkout.tree / "asked"
    pip = f'#!/bin/sh\ncase "$*" in *"--requirement"*) echo "$@" >>"{asked}" ;; esac\n'
    checkout.play("python3", f'case "$*" in *venv*) rm -rf .venv; mkdir -p .venv/bin; cat >.venv/bin/python <<"EOF"\n{pip}EOF\n{shutil.which("chmod")} +x .venv/bin/python ;; esac')
    for tier, builds in (("demo", False), ("fuzz", False), ("fast", True)):
        asked.write_text("")
        running = checkout.start("bootstrap", tier)
        _, errors = running.communicate(timeout=60)
        assert running.returncode == 0, errors
        lines = asked.read_text().splitlines()
        assert all("--only-binary :all:" in line for line in lines)
        assert any("--no-binary mysqlclient" in line for line in lines) == builds


def test_a_library_that_does_not_fit_is_named_but_for_the_one_that_is_left_out(checkout: Checkout) -> None:
    checkout.play("dpkg-query", ALL_INSTALLED)
    left_out = "myisam-advisor 0.2.0 requires mysqlclient, which is not installed."
    other = "rich 13.0 requires pygments, which is not installed."
    for words, status in ((left_out, 0), (other, 2)):
        pip = f'#!/bin/sh\ncase "$*" in *"pip check"*) echo "{words}"; exit 1 ;; esac\n'
        checkout.play("python3", f'case "$*" in *venv*) rm -rf .venv; mkdir -p .venv/bin; cat >.venv/bin/python <<"EOF"\n{pip}EOF\n{shutil.which("chmod")} +x .venv/bin/python ;; esac')
        shutil.rmtree(checkout.tree / ".venv", ignore_errors=True)
        running = checkout.start("bootstrap", "demo")
        _, errors = running.communicate(timeout=60)
        assert running.returncode == status, errors
        assert ("do not fit each other" in errors) == (status == 2)
        assert (other in errors) == (status == 2)
