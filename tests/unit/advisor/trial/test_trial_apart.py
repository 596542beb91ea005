"""Work that is done apart from root: which user, which directory, which messages, and that nothing of it is left."""

import ast
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.intervals import PRIOR_VARIANCE_OF_MANY
from myisam_advisor.trial.private import own_user, reaped_directory
from myisam_advisor.trial.private.apart import PRELOADED_LATE, apart, as_other
from myisam_advisor.trial.private.channel import MAXIMUM_MESSAGE_BYTES, Channel, ChannelError
from myisam_advisor.trial.results import TrialResult, WorkloadResult, from_document
from myisam_advisor.trial.rounds import CLEAR, Course, Noise
from tests.support.daemon import wait_for
from tests.support.repository import ROOT

OTHER_UID = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has another user to become")
RESULT = TrialResult(
    "row-format", "MariaDB", "10.11", "made up", ["--x=1"],
    [WorkloadResult("full scan", "rows", {"a": [Run(1.0, 2.0, 0.5, None, 3)], "b": [Run(1.5, 2.0, figures={"bytes": 4.0})]})],
    "a is better.", {"join": "no table"},
)  # fmt: skip


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory of root's where everybody may pass, in which temporary files go."""
    with tempfile.TemporaryDirectory(prefix="apart-", dir="/tmp") as name:
        path = Path(name)
        path.chmod(0o755)
        before, tempfile.tempdir = tempfile.tempdir, name
        try:
            yield path
        finally:
            tempfile.tempdir = before


@as_root
def test_a_user_is_chosen_that_nobody_else_has_and_no_two_at_once() -> None:
    chosen = [own_user.choose() for _ in range(3)]
    try:
        assert len({one.number for one in chosen}) == 3
        for one in chosen:
            assert one.number in own_user.RANGES[0]
            assert own_user.processes_of(one.number) == []
    finally:
        for one in chosen:
            one.lock.close()


@as_root
def test_a_number_that_anybody_has_or_may_hand_on_or_runs_under_is_not_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, other = range(54_000, 54_064), 54_010
    (tmp_path / "subuid").write_text("somebody:54000:5\nbroken\n")
    (tmp_path / "subgid").write_text("somebody:54006:4\n")
    monkeypatch.setattr(own_user, "ETC", tmp_path)
    monkeypatch.setattr(own_user, "RANGES", (first,))
    monkeypatch.setattr(own_user, "_is_known", lambda number: number >= 54_012)
    running = subprocess.Popen(["setpriv", f"--reuid={other}", "--clear-groups", "sleep", "60"])
    try:
        assert wait_for(lambda: own_user.processes_of(other) == [running.pid], 10)
        seen = set()
        held = []
        for _ in range(2):
            held.append(own_user.choose())
            seen.add(held[-1].number)
        assert seen == {54_005, 54_011}
        with pytest.raises(TrialError, match="no user number is free"):
            own_user.choose()
        for one in held:
            one.lock.close()
    finally:
        running.kill()
        running.wait()


@as_root
def test_a_number_that_the_container_does_not_map_is_not_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    for name in ("uid_map", "gid_map"):
        (tmp_path / "self" / name).write_text("         0     100000      65536\n")
    monkeypatch.setattr(own_user, "PROC", tmp_path)
    monkeypatch.setattr(own_user, "ETC", tmp_path)
    chosen = own_user.choose()
    chosen.lock.close()
    assert chosen.number in own_user.RANGES[1]


def status_of(_channel: Channel) -> dict[str, object]:
    """What the process that works apart is, and has."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    open_files = {str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.exists()}
    return {
        "users": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "capabilities": [lines[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
        "no_new_privileges": lines["NoNewPrivs"].strip(),
        "environment": dict(os.environ),
        "open": sorted(name for name in open_files if not name.startswith(("/dev/null", "socket:", "/proc/"))),
        "sockets": sum(name.startswith("socket:") for name in open_files),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "session": os.getsid(0) == os.getpid(),
        "memory_owner": Path("/proc/self/mem").stat().st_uid,
        "temporary": tempfile.gettempdir(),
        "pid": os.getpid(),
    }


@as_root
def test_the_worker_has_nothing_of_roots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "secret")
    with (folder / "open").open("wb"), socket.socket():
        status = as_other(status_of)
    number = status["users"][0]
    assert number in own_user.RANGES[0]
    assert set(status["users"]) == {number}
    assert status["groups"] == []
    assert {int(one, 16) for one in status["capabilities"]} == {0}
    assert status["no_new_privileges"] == "1"
    assert "secret" not in status["environment"].values()
    assert (status["open"], status["sockets"]) == ([], 1)
    assert status["core"] == 0
    assert status["session"]
    assert status["memory_owner"] == 0  # neither traced nor looked into by others of its user
    assert Path(status["temporary"]).parent.parent == folder
    assert [path.name for path in folder.iterdir()] == ["open"]


@as_root
@pytest.mark.parametrize("further", [["--inh-caps=+chown,+kill,+setuid"], ["--inh-caps=+chown,+sys_ptrace", "--ambient-caps=+chown,+sys_ptrace"]], ids=["inheritable", "ambient"])
def test_capabilities_that_a_container_hands_on_are_given_up(further: list[str]) -> None:
    """systemd-nspawn, among others, begins its processes with inheritable capabilities: a change of user leaves these."""
    code = "from myisam_advisor.trial.private import own_user; import os; own_user.become(54321); print(os.getresuid())"
    words = ["setpriv", *further, sys.executable, "-I", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(54321, 54321, 54321)\n"), done.stderr[-500:]


def test_what_is_not_root_does_its_work_as_itself() -> None:
    if os.geteuid() == 0:
        assert in_child(OTHER_UID) == (OTHER_UID, True)
    else:
        assert as_other(lambda _channel: os.geteuid()) == os.geteuid()


@as_root
def test_no_program_of_a_trial_inherits_the_password_whoever_begins_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of root's own trials nothing of the environment is left; sysbench had the password of whoever is not root."""
    monkeypatch.setenv("MYSQL_PWD", "secret")
    code = (
        "from myisam_advisor.trial.private import apart, own_user; import os, subprocess, sys; own_user.become(54321); os.chdir('/'); "
        "print(apart.as_other(lambda _: subprocess.run(['env'], capture_output=True, text=True).stdout))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "PATH=" in done.stdout
    assert "secret" not in done.stdout


def in_child(uid: int) -> tuple[int, bool]:
    """The user that work is done as, begun by this user; and whether that was another process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            own_user.become(uid)
            user, process = as_other(lambda _channel: [os.geteuid(), os.getpid()])
            os.write(writing, f"{user} {int(process != os.getpid())}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    words = os.read(reading, 100).split()
    os.close(reading)
    return int(words[0]), bool(int(words[1]))


@as_root
def test_every_process_of_the_user_ends_with_the_work_even_one_that_multiplies(folder: Path) -> None:
    def work(_channel: Channel) -> int:
        if os.fork() == 0:
            os.setsid()
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            while True:
                if os.fork() != 0:
                    time.sleep(0.005)
        time.sleep(0.2)
        (Path.cwd() / "deep").mkdir()
        return os.geteuid()

    number = as_other(work)
    assert own_user.processes_of(number) == []
    assert list(folder.iterdir()) == []


@as_root
def test_a_directory_that_is_as_deep_as_can_be_is_removed_and_links_in_it_are_not_followed(folder: Path) -> None:
    outside = folder / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")

    def work(_channel: Channel) -> None:
        Path("link").symlink_to(outside)
        for _ in range(3000):
            Path("deep").mkdir()
            os.chdir("deep")
        Path("closed").mkdir(0o000)

    as_other(work)
    assert [path.name for path in folder.iterdir()] == ["outside"]
    assert (outside / "kept").read_text() == "x"


def test_where_memory_runs_out_the_trial_is_ended_and_not_the_watched_server(folder: Path) -> None:
    def scores(_channel: Channel) -> list[str]:
        started = subprocess.run(["cat", "/proc/self/oom_score_adj"], capture_output=True, text=True, check=True).stdout
        return [Path("/proc/self/oom_score_adj").read_text("ascii").strip(), started.strip()]

    assert as_other(scores) == ["1000", "1000"]
    assert Path("/proc/self/oom_score_adj").read_text("ascii").strip() != "1000"


def test_errors_of_the_work_are_messages(folder: Path) -> None:
    def refuse(_channel: Channel) -> None:
        raise TrialError("no room: make some.")

    def fail(_channel: Channel) -> None:
        raise KeyError("thing")

    def read(_channel: Channel) -> None:
        (folder / "nowhere").read_text()

    def vanish(_channel: Channel) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    for work, message in ((refuse, "^no room: make some.$"), (fail, r"KeyError: 'thing' \(test_trial_apart.py:\d+\).*bug"), (read, "No such file or directory: .*nowhere"), (vanish, "ended before it had a result")):
        with pytest.raises(TrialError, match=message):
            as_other(work)
    assert list(folder.iterdir()) == []


def test_an_interruption_ends_the_work(folder: Path) -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), apart(lambda _channel: time.sleep(60)):
        raise KeyboardInterrupt
    assert time.monotonic() - started < 15
    assert list(folder.iterdir()) == []


@as_root
def test_root_does_not_control_a_private_server() -> None:
    """What is written later cannot forget: the tests alone may."""
    program = (
        "from pathlib import Path\nfrom myisam_advisor.trial.private.binaries import ServerBinaries\nfrom myisam_advisor.trial.private.private_server import PrivateServer\n"
        "here = Path('/nowhere')\nPrivateServer(ServerBinaries('x', 'mariadb', here, here, here))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "TrialError: a private server is not controlled by root" in done.stderr


@as_root
@pytest.mark.parametrize(("owner", "mode", "is_safe"), [(0, 0o755, True), (0, 0o1777, True), (0, 0o777, False), (0, 0o775, False), (54321, 0o700, False), (54321, 0o1777, False)])
def test_a_directory_is_made_only_where_nobody_else_can_exchange_it(folder: Path, owner: int, mode: int, is_safe: bool) -> None:
    inner = folder / "theirs" / "inner"
    inner.mkdir(parents=True)
    os.chown(inner.parent, owner, owner)
    inner.parent.chmod(mode)
    if is_safe:
        reaped_directory.expect_safe(inner)
    else:
        with pytest.raises(TrialError, match=rf"{inner.parent} can be changed by others than root"):
            reaped_directory.expect_safe(inner)


def test_who_is_not_root_is_warned_once_where_others_can_exchange_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A volume of a container is such a directory, and who has no other is not refused."""
    us = os.geteuid() or 54321
    os.chown(tmp_path, us, -1)
    tmp_path.chmod(0o777)
    monkeypatch.setattr(os, "geteuid", lambda: us)
    for _ in range(2):
        reaped_directory.expect_safe(tmp_path)
    (warned,) = caplog.messages
    assert warned.startswith(f"{tmp_path} can be changed by other users")
    monkeypatch.undo()


def ends() -> tuple[Channel, socket.socket]:
    ours, theirs = socket.socketpair()
    return Channel(ours), theirs


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0\0", struct.pack("!I", 10) + b"{}", struct.pack("!I", 2) + b"[]", struct.pack("!I", 3) + b"nul", struct.pack("!I", MAXIMUM_MESSAGE_BYTES + 1),
        struct.pack("!I", 11) + b'{"a": 1e999}'[:11], struct.pack("!I", 12) + b'{"a": 1e999}', struct.pack("!I", 10) + b'{"a": NaN}',
        struct.pack("!I", 56) + b'{"a": ' + b"9" * 49 + b"}", struct.pack("!I", 200_000) + b"[" * 200_000,
    ],
)  # fmt: skip
def test_nonsense_is_no_message(data: bytes) -> None:
    channel, theirs = ends()
    theirs.sendall(data)
    theirs.close()
    with pytest.raises(ChannelError, match="the trial's process"):
        channel.receive()
    channel.close()


def test_files_from_the_untrusted_side_are_dropped() -> None:
    channel, theirs = ends()
    before = len(os.listdir("/proc/self/fd"))
    socket.send_fds(theirs, [struct.pack("!I", 2)], [0, 0, 0])
    theirs.sendall(b"{}")
    assert channel.receive() == {}
    assert len(os.listdir("/proc/self/fd")) == before
    channel.close()
    theirs.close()


def test_a_silence_ends() -> None:
    channel, theirs = ends()
    with pytest.raises(ChannelError, match=r"said nothing for 0\.05 s"):
        channel.receive(0.05)
    channel.close()
    theirs.close()


def test_a_result_comes_back_as_it_was() -> None:
    assert from_document(asdict(RESULT)) == RESULT
    course = Course(9, 2, 1, 20.5, CLEAR, Noise(8, 0.02, 0.05), 0.1, True, PRIOR_VARIANCE_OF_MANY)
    followed = replace(RESULT, workloads=[replace(RESULT.workloads[0], course=course)])
    assert from_document(json.loads(json.dumps(asdict(followed)))) == followed


@pytest.mark.parametrize("changed", [{"ended_by": "x"}, {"ended_by": []}, {"is_busy": 1}, {"rounds": None}, {"seconds": "1"}, {"noise": None}, {"others_cpu_share": float("nan")}, {"prior_variance": 0.0}, {"prior_variance": 1e9}, {"prior_variance": None}])
def test_a_course_that_is_none_is_not_taken_for_one(changed: dict[str, object]) -> None:
    document = asdict(replace(RESULT, workloads=[replace(RESULT.workloads[0], course=Course(9))]))
    document["workloads"][0]["course"].update(changed)
    with pytest.raises(TrialError, match="the trial's process sent"):
        from_document(document)


@pytest.mark.parametrize(
    "changed",
    [
        {"version": 5}, {"settings": "x"}, {"skipped": []}, {"workloads": None}, {"workloads": [{"name": "x", "unit": "y", "note": "", "runs": {}}]},
        {"workloads": [{"name": "x", "unit": "y", "note": "", "runs": {"a": [], "b": []}}]},
        {"workloads": [{"name": "x", "unit": "y", "note": "", "runs": {"a": [{"seconds": "1"}]}}]},
        {"workloads": [{"name": "x", "unit": "y", "note": "", "runs": {"a": [{"seconds": 1, "operations": 1e300}]}}]},
        {"workloads": [{"name": "x", "unit": "y", "note": "", "runs": {"a": [asdict(Run(1.0, 1.0))], "b": [asdict(Run(1.0, 1.0))] * 2}}]},
    ],
)  # fmt: skip
def test_what_is_no_result_is_not_taken_for_one(changed: dict[str, object]) -> None:
    with pytest.raises(TrialError, match="the trial's process sent"):
        from_document({**asdict(RESULT), **changed})


def test_what_the_standard_library_lends_late_is_there_before_the_change_of_user() -> None:
    """The trial's user may not be able to read Python itself; commands are not run by it, and modules that are built in need no file."""
    late: set[str] = set()
    for path in [*ROOT.glob("advisor/myisam_advisor/**/*.py"), *ROOT.glob("exporter/myisam_exporter/**/*.py")]:
        if "cli" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                imports = [one for one in ast.walk(function) if isinstance(one, ast.Import | ast.ImportFrom)]
                late |= {alias.name for one in imports if isinstance(one, ast.Import) for alias in one.names}
                late |= {one.module for one in imports if isinstance(one, ast.ImportFrom) and one.module}
    of_the_library = {name for name in late if name.partition(".")[0] in sys.stdlib_module_names and name not in ("os", "_sqlite3")}
    assert "difflib" in of_the_library
    assert of_the_library <= set(PRELOADED_LATE)
