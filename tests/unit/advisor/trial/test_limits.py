"""Limits of a process that a private server dies of: said before anything begins, and in the place of a backtrace."""

import errno
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.full_disks import told
from myisam_advisor.trial.private.last_words import MOST_CHARACTERS, last_words
from myisam_advisor.trial.private.limits import expect_bearable, limits_met, limits_named
from myisam_advisor.trial.trial import as_trial_errors
from tests.support.program import PROGRAM

MIB = 1 << 20
Limited = Callable[..., None]
USUAL = {"RLIMIT_NOFILE": 1024, "RLIMIT_NPROC": 96_364}
NO_MEMORY = "Out of memory (Needed 1048544 bytes)"
BACKTRACE = """2026-11-30T03:32:23.4Z 1 [System] [MY-013576] [InnoDB] InnoDB initialization has started.
terminate called after throwing an instance of 'std::system_error'
  what():  Resource temporarily unavailable
2026-11-30T03:32:24Z UTC - mysqld got signal 6 ;
Signal SIGABRT (Aborted) at address 0x0 error code
Attempting backtrace. You can use the following information to find out
 #0 0x7f3d5c91ce84 <unknown>
 #1 0x7f3d59d555ff raise
"""


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Limited:
    """Has this process say that it has these limits: to have them would be the end of the tests."""
    here: dict[int, int] = {}

    def set_to(**limits: int) -> None:
        here.update({getattr(resource, name): value for name, value in {**USUAL, **limits}.items()})

    monkeypatch.setattr(resource, "getrlimit", lambda number: (here.get(number, resource.RLIM_INFINITY),) * 2)
    set_to()
    return set_to


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RLIMIT_AS", 70 * MIB, r"^RLIMIT_AS is 70 MiB here, and with less than 330 MiB no private server starts: raise it \(ulimit -v, LimitAS=\)\.$"),
        ("RLIMIT_FSIZE", MIB, r"^RLIMIT_FSIZE is 1 MiB here, .*ulimit -f"),
        ("RLIMIT_NOFILE", 12, r"^RLIMIT_NOFILE is 12 here, and with less than 25 .*ulimit -n"),
    ],
)
def test_what_no_private_server_bears_is_refused_before_it_begins(limited: Limited, name: str, value: int, said: str) -> None:
    limited(**{name: value})
    with pytest.raises(TrialError, match=said):
        expect_bearable()


@pytest.mark.parametrize("limits", [{}, {"RLIMIT_AS": 360 * MIB}, {"RLIMIT_NOFILE": 64, "RLIMIT_FSIZE": 12 * MIB}])
def test_what_some_server_bears_is_not_refused(limited: Limited, limits: Any) -> None:
    limited(**limits)
    expect_bearable()


def test_a_soft_limit_of_open_files_that_a_server_raises_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials on MySQL 5.5 and 5.6 end with 20; of memory no server raises its own."""
    monkeypatch.setattr(resource, "getrlimit", lambda number: (20 if number == resource.RLIMIT_NOFILE else resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    expect_bearable()
    monkeypatch.setattr(resource, "getrlimit", lambda number: (70 * MIB if number == resource.RLIMIT_AS else resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with pytest.raises(TrialError, match=r"^RLIMIT_AS is 70 MiB"):
        expect_bearable()


@pytest.mark.parametrize("said", ['Can\'t create table (errno: 121 "Duplicate key")', "Incorrect key file (errno: 126)", "errno: 111", "Errcode: 122"])
def test_a_longer_number_of_an_error_is_another_error(limited: Limited, said: str) -> None:
    limited(RLIMIT_AS=600 * MIB)
    assert limits_named(said) == ""
    assert "RLIMIT_AS is 600 MiB" in limits_named('Can\'t open file (errno: 12 "Cannot allocate")')


def test_of_a_server_that_died_the_low_limits_are_named_whatever_it_said(limited: Limited) -> None:
    assert limits_met("Resource temporarily unavailable") == "What limits it here: RLIMIT_NPROC is 96,364 (ulimit -u, LimitNPROC=). Raise that, and try again."
    limited(RLIMIT_AS=600 * MIB)
    # Without addresses there are no threads either, and the usual limit of those is not to blame.
    assert limits_met("Resource temporarily unavailable") == "What limits it here: RLIMIT_AS is 600 MiB (ulimit -v, LimitAS=). Raise that, and try again."
    assert limits_met("") == limits_met("Resource temporarily unavailable")


def test_without_a_limit_none_is_named(limited: Limited) -> None:
    assert limits_met(NO_MEMORY) == limits_met("no errors here") == ""


def test_what_a_running_server_refuses_names_the_limit_that_it_speaks_of_alone(limited: Limited) -> None:
    limited(RLIMIT_AS=600 * MIB)
    with pytest.raises(TrialError, match=r"\(error 5\)\. What limits it here: RLIMIT_AS is 600 MiB"), as_trial_errors():
        raise driver().error(5, NO_MEMORY)
    with pytest.raises(TrialError, match=r"^the private server refused: No such table \(error 1146\)\.$"), as_trial_errors():
        raise driver().error(1146, "No such table")
    assert limits_named("No such table") == ""
    assert "RLIMIT_NOFILE is 1,024" in told(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))


def test_a_backtrace_is_not_told_and_what_was_said_before_it_is() -> None:
    assert last_words(BACKTRACE) == "what():  Resource temporarily unavailable | 2026-11-30T03:32:24Z UTC - mysqld got signal 6 ;"


def test_errors_are_told_before_notes_and_what_is_there_where_there_is_none() -> None:
    notes = "".join(f"1 [Note] number {number}\n" for number in range(9))
    assert last_words(f"1 [ERROR] Unknown option\n{notes}") == "1 [ERROR] Unknown option"
    assert last_words(notes) == "1 [Note] number 6 | 1 [Note] number 7 | 1 [Note] number 8"
    assert last_words("") == ""
    assert len(last_words("x" * 100_000)) == MOST_CHARACTERS


@pytest.mark.parametrize("words", [("prove", "--yes"), ("trial", "engine", "--table", "a.b"), ("trial", "pack-keys", "--server", "/usr/sbin/mariadbd")])
def test_a_limit_of_addresses_is_refused_at_once(words: tuple[str, ...], tmp_path: Path) -> None:
    """Under 60 to 75 MiB `prove` hung, deaf to SIGTERM: CPython does not come out of a thread that finds no memory for an exception."""
    done = subprocess.run(
        ["prlimit", f"--as={80 * MIB}", PROGRAM, *words, "--socket", tmp_path / "nowhere"], env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2, signal.Signals(-done.returncode) if done.returncode < 0 else done.stderr
    assert done.stderr.startswith("myisam-advisor: RLIMIT_AS is 80 MiB here"), done.stderr


def test_a_high_limit_is_not_to_blame_for_a_death_that_says_nothing_of_it(limited: Limited) -> None:
    limited(RLIMIT_AS=64 << 30, RLIMIT_DATA=64 << 30, RLIMIT_FSIZE=64 << 30)
    assert limits_met("[ERROR] unknown variable 'wrong=1'") == ""
    assert "RLIMIT_AS is 64 GiB" in limits_met(NO_MEMORY)
