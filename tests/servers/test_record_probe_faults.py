"""`record --from probe` where something is missing or too slow: counted or said, and within its memory."""

import os
import pty
import re
import shutil
import signal
import subprocess
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.probing.capture import LOST
from myisam_advisor.workload.probing.watched_server import RING_BYTES
from tests.servers.conftest import OTHER_UID, on_one_server
from tests.servers.test_record import command, recorded
from tests.servers.test_record_probe import pytestmark as needs_probes
from tests.servers.test_record_probe import recording
from tests.support.daemon import wait_for

pytestmark = needs_probes

MAXIMUM_MEMORY_KIB = 64 << 10


def peak_memory_kib(pid: int) -> int:
    """Of a process, 0 when it has ended."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text("ascii"))
        return int(found[1]) if found else 0
    return 0


@on_one_server
def test_what_a_stopped_recorder_has_no_room_for_is_counted_and_its_memory_is_bounded(server: PrivateServer, tmp_path: Path) -> None:
    number, length = 400, 60_000
    assert number * length > 2 * RING_BYTES
    sent = [(b"DO '%d" % at).ljust(length - 1, b"x") + b"'" for at in range(number)]
    client: Any = pymysql.connect(unix_socket=str(server.socket), user="root", charset="latin1", autocommit=None)
    with closing(client), recording(server, "--output", str(tmp_path / "w"), "--seconds", "4") as recorder:
        recorder.send_signal(signal.SIGSTOP)
        for statement in sent:
            client.query(statement)
        recorder.send_signal(signal.SIGCONT)
        peak = 0

        def has_ended() -> bool:
            nonlocal peak
            peak = max(peak, peak_memory_kib(recorder.pid))
            return recorder.poll() is not None

        assert wait_for(has_ended, 60, 0.005)
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
        ours = client.thread_id()
    workload, events = recorded(tmp_path / "w")
    told = [event.statement for event in events if event.connection == ours]
    # In their order, and the first ones.
    assert told == sent[: len(told)]
    assert 50 < len(told) < number
    assert len(told) + workload.totals.left_out[LOST] == number
    assert 0 < peak < MAXIMUM_MEMORY_KIB


@on_one_server
def test_who_is_not_root_is_told_what_is_needed(server: PrivateServer, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    words = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups", *command(server, "--from", "probe", "--output", "/tmp/of-nobody", "--seconds", "1")]
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    said = " ".join(done.stderr.split())
    assert (done.returncode, "Run this as root" in said, "Traceback" in said) == (2, True, False), said
    assert not Path("/tmp/of-nobody").exists()


@on_one_server
def test_where_no_tracefs_is_mounted_it_records(server: PrivateServer, tmp_path: Path) -> None:
    assert shutil.which("unshare")
    without = "for place in /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug; do umount --recursive $place 2>/dev/null; done; test ! -e /sys/kernel/tracing/uprobe_events && exec \"$@\""
    words = ["unshare", "--mount", "sh", "-c", without, "sh", *command(server, "--from", "probe", "--output", str(tmp_path / "w"), "--seconds", "2")]
    with closing(server.connect()) as connection, subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder, closing(connection.cursor()) as cursor:
        while recorder.poll() is None:
            cursor.execute("DO 'asked meanwhile'")
        assert recorder.returncode == 0, recorder.communicate()[1]
    assert b"DO 'asked meanwhile'" in {event.statement for event in recorded(tmp_path / "w")[1]}


@on_one_server
@pytest.mark.parametrize("words", [("--from", "probe"), ("--yes",)], ids=["probe", "slow log"])
def test_on_a_terminal_it_is_shown_how_long_it_still_takes(server: PrivateServer, tmp_path: Path, words: tuple[str, ...]) -> None:
    ours, its = pty.openpty()
    asked = command(server, *words, "--output", str(tmp_path / "w"), "--seconds", "2")
    shown = b""
    with closing(os.fdopen(ours, "rb", buffering=0)) as terminal, subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=its, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}):
        os.close(its)
        # It ends with an error when nobody has the other end any more.
        with suppress(OSError):
            while part := terminal.read(1 << 16):
                shown += part
                server.execute("DO 'asked meanwhile'")
    text = shown.decode("utf-8", "replace")
    assert "recording" in text, text
    assert "at most 0:01 left" in text
    # Nothing of the bar is left: the line is erased.
    assert "\x1b[2K" in text
