"""What a trial is made of, where no server is needed for it."""

import grp
import os
import pwd
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import click
import pytest

from myisam_advisor.cli.options import Size
from myisam_advisor.errors import TrialError
from myisam_advisor.trial import trial
from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.chart import draw
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.base import experiment_named, run_workload
from myisam_advisor.trial.experiments.io import (
    by_asynchronous_reads,
    by_buffer,
    by_call,
    by_windows,
    can_read_asynchronously,
)
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private import binaries, machine
from myisam_advisor.trial.private.binaries import ServerBinaries, ServerChoice, programs_of_watched
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.replay import PREAMBLE, write_statements
from myisam_advisor.trial.results import TrialResult, Workload
from myisam_advisor.trial.rounds import Limits
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.trial import TrialMaterial, as_trial_errors, run_trial


def test_a_workload_runs_in_rounds_that_are_heard_of() -> None:
    class Counting(Listener):
        def __init__(self) -> None:
            self.done, self.heard = 0, list[str]()

        def doing(self, what: str) -> None:
            self.heard.append(what)

        def ran(self) -> None:
            self.done += 1

    listener = Counting()
    result = run_workload(Workload("work", "rows", {"A": lambda: Run(1.0, 1.0), "B": lambda: Run(1.0, 2.0)}), Limits(maximum_rounds=4), listener)
    assert listener.done == 8
    assert listener.heard[0] in ("work: A (round 1)", "work: B (round 1)")
    assert {name: len(runs) for name, runs in result.runs.items()} == {"A": 4, "B": 4}
    assert result.baseline == "A"
    assert [one.ratio for one in result.comparisons] == [pytest.approx(2.0)]
    assert result.course is not None
    assert result.course.rounds == 4


class NeverStarted:
    """A server program that nobody gets to start."""

    def __getattr__(self, name: str) -> str:
        pytest.fail("a server was started")


@pytest.mark.parametrize("experiment", ["key-cache", "mmap", "row-format", "columns", "drop-index", "delay-key-write", "pack-keys"])
def test_a_table_of_few_rows_is_refused_before_a_server_is_started(experiment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "expect_not_root", lambda: None)
    monkeypatch.setattr(trial, "sender_program", lambda: "")
    material = TrialMaterial(cast(ServerBinaries, NeverStarted()), (), [Source("shop", name, "shop", name, rows, 1 << 20, ()) for name, rows in (("many", 1000), ("few", 999))])
    with pytest.raises(TrialError, match=r"^shop\.few has 999 rows: too few to measure anything \(at least 1000\)\.$"):
        run_trial(experiment, material, TrialOptions(), Listener())


def test_a_table_of_few_wide_rows_may_be_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "expect_not_root", lambda: None)
    monkeypatch.setattr(trial, "sender_program", lambda: "")
    material = TrialMaterial(None, (), [Source("shop", "few", "shop", "few", 999, 1 << 20, ())])
    with pytest.raises(TrialError, match="no server program is known"):
        run_trial("read-buffer", material, TrialOptions(), Listener())


def test_a_statement_with_a_line_break_cannot_be_written_down(tmp_path: Path) -> None:
    assert write_statements(tmp_path / "s", [[b"SELECT 1", b"SELECT '\\n'"], [b"SELECT 2"]]) == 3
    assert (tmp_path / "s" / "1").read_bytes().splitlines() == [*PREAMBLE, b"SELECT 2"]
    for statement in (b"SELECT '\n'", b"SELECT '\r'"):
        with pytest.raises(TrialError, match="line break in its name"):
            write_statements(tmp_path / "s", [[statement]])


def test_one_trial_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LOCK_NAME", f"\0myisam-advisor-test-{os.getpid()}")
    with machine.only_one():
        for _ in range(5):  # whoever asked before is still in the queue of a socket that accepts nobody
            with pytest.raises(TrialError, match=rf"another trial is running on this machine \(process {os.getpid()} of user {os.geteuid()}\)"), machine.only_one():
                pass
    with machine.only_one():
        pass


def test_who_has_the_lock_without_a_trial_can_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user may bind this name. One that does not listen was called a trial, and not told."""
    monkeypatch.setattr(machine, "LOCK_NAME", f"\0myisam-advisor-test-{os.getpid()}")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(machine.LOCK_NAME)
        with pytest.raises(TrialError, match=r"no trial that answers: ss -xap"), machine.only_one():
            pass


def test_room_is_asked_for_before_it_is_taken(tmp_path: Path) -> None:
    machine.expect_room(tmp_path, 1, 1)
    # Without the tenth it read "has 602 MiB free, and needs about 600 MiB".
    with pytest.raises(TrialError, match="free, a tenth of which stays free, and the trial needs about"):
        machine.expect_room(tmp_path, 1 << 60, 1)
    with pytest.raises(TrialError, match="of memory are available, a tenth of which stays so, and the trial needs about"):
        machine.expect_room(tmp_path, 1, 1 << 60)


def test_no_server_program_anywhere() -> None:
    with pytest.raises(TrialError, match=r"no server program found: .* Name it \(--server"):
        ServerChoice(candidates=tuple(map(str, programs_of_watched(None, {"basedir": "/nonexistent"})))).binaries()


def test_whoever_is_not_root_runs_no_program_of_somebody_elses_that_a_server_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What answers in a server's place says what it likes of itself, and a trial of an unprivileged user's runs as that user."""
    base, program = tmp_path / "$(base)", tmp_path / "$(base)" / "bin" / "mariadbd"
    program.parent.mkdir(parents=True)
    program.write_text("")
    (base / "sbin").symlink_to(program.parent)
    said = {"basedir": str(base)}
    ourselves = os.geteuid() or 4321
    monkeypatch.setattr(os, "geteuid", lambda: ourselves)
    assert programs_of_watched(None, said) == [program, program]
    for open_to_others, mode in ((program, 0o775), (program.parent, 0o775), (base, 0o777)):
        former = open_to_others.stat().st_mode
        open_to_others.chmod(mode)
        with pytest.raises(TrialError, match=r"can be changed by others than root and you: .* say so: --server '/"):
            programs_of_watched(None, said)
        open_to_others.chmod(former)
    program.chmod(0o775)
    alone = SimpleNamespace(pw_name="us", gr_name="us", gr_mem=[])
    monkeypatch.setattr(pwd, "getpwuid", lambda _: alone)
    monkeypatch.setattr(grp, "getgrgid", lambda _: alone)
    assert programs_of_watched(None, said) == [program, program]  # the group that somebody has alone
    alone.gr_mem = ["us", "somebody"]
    with pytest.raises(TrialError):
        programs_of_watched(None, said)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    base.chmod(0o777)  # root's trials run it as a user of their own
    assert programs_of_watched(None, said)[0] == base / "sbin" / "mariadbd"


def test_a_chart_obeys_no_settings_that_lie_where_it_is_drawn(tmp_path: Path) -> None:
    """Matplotlib reads those of the working directory before all others."""
    pytest.importorskip("matplotlib")
    (tmp_path / "matplotlibrc").write_text("figure.facecolor: ff0000\n")
    code = "from pathlib import Path; from myisam_advisor.trial.chart import draw_bars; draw_bars([], '', 't', Path('out.svg'))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert "#ff0000" not in (tmp_path / "out.svg").read_text()


def test_a_reaped_directory_goes() -> None:
    with ReapedDirectory() as directory:
        (directory.path / "file").write_text("x")
    assert not directory.path.exists()


@pytest.mark.parametrize("read", [by_call, by_buffer, by_windows, by_asynchronous_reads])
def test_every_way_of_reading_finds_every_record(tmp_path: Path, read: object) -> None:
    if read is by_asynchronous_reads and not can_read_asynchronously():
        pytest.skip("no 64-bit glibc")
    path = tmp_path / "records"
    count = 4096 * 4 * 3 + 4096  # not a multiple of the buffers' and windows' sizes
    path.write_bytes(b"".join(bytes([number % 251]) + b"r" * 102 for number in range(count)))
    assert callable(read)
    assert read(path) == sum(number % 251 for number in range(count))


@pytest.mark.parametrize(("text", "size"), [("100", 100), ("1.5G", 3 << 29), ("2 m", 2 << 20), ("10K", 10240)])
def test_sizes(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size


def test_what_is_no_size_is_said() -> None:
    with pytest.raises(click.BadParameter, match="write 500M or 2G"):
        Size().convert("much", None, None)


def test_a_chart_is_written_through_nobodys_link(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / "chart.svg").symlink_to(precious)
    draw(experiment_named("io"), TrialResult("io", "", "", "", (), (), ""), tmp_path / "chart.svg")
    assert precious.read_text() == "kept"
    assert not (tmp_path / "chart.svg").is_symlink()
    assert "<svg" in (tmp_path / "chart.svg").read_text()


def test_a_server_that_is_dying_is_waited_for_until_it_is_dead(tmp_path: Path) -> None:
    asked = 0

    def expect_alive() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise TrialError("it died")

    # Its sockets are closed, and its process is there for a moment.
    with pytest.raises(TrialError, match="it died"), as_trial_errors(expect_alive):
        driver().connect(tmp_path / "no-socket")
    assert asked == 3


def test_a_program_that_says_nothing_is_given_up_in_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "VERSION_SECONDS", 0.2)
    with pytest.raises(TrialError, match=r"^sleep 9 did not say within 0 s which server it is: --server takes the path of mysqld or mariadbd\.$"):
        binaries._version(["sh", "-c", "sleep 9"])
