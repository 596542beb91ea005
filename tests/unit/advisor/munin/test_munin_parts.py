"""What the munin plugin is fed with, and what it says of it: without munin."""

import json
import os
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from myisam_advisor.judging.findings import Finding, Judgement, NotEvaluated
from myisam_advisor.munin.document import MAXIMUM_TABLES, document
from myisam_advisor.munin.places import SOCKET, socket_of
from myisam_advisor.munin.process_state import ProcessState, read_state, write_state
from myisam_exporter.collectors.key_caches import MAXIMUM_CACHES
from myisam_exporter.collectors.status import Status
from myisam_exporter.kernel.process import ProcessIo, read_process
from myisam_exporter.metrics.base import Running, Value
from myisam_exporter.watching.glances import KEPT_SECONDS, Glance, Glances, Peak, peak_of
from tests.support.repository import ROOT

PLUGIN = ROOT / "plugins" / "munin" / "myisam_advisor"


def test_peaks_are_of_rates_between_glances() -> None:
    glances = Glances()
    for second, reads in enumerate([0, 10, 20, 120, 130]):
        glances.take(Glance(float(second), {"Key_reads": float(reads), "Threads_running": 3.0}, {1: (reads, 0)}))
    peaks = glances.peaks(0.0)
    assert peaks["Key_reads"] == Peak(100.0, 100.0)
    assert peaks["voluntary_switches"].maximum == 100.0
    assert peaks["threads_running"] == Peak(2.0, 2.0)
    assert "Slow_queries" not in peaks
    assert glances.peaks(3.5)["Key_reads"] == Peak(10.0, 10.0)
    assert glances.peaks(99.0) == {}


def test_a_restart_makes_no_peak() -> None:
    glances = Glances()
    glances.take(Glance(0.0, {"Key_reads": 10.0}, {1: (5, 5)}))
    glances.take(Glance(1.0, {"Key_reads": 4.0}))  # FLUSH STATUS
    assert glances.peaks(0.0) == {}
    glances.interrupt()
    glances.take(Glance(2.0, {"Key_reads": 10_000.0}, {7: (99_999, 0)}))
    assert glances.peaks(0.0) == {}
    glances.take(Glance(3.0, {"Key_reads": 10_001.0}, {7: (99_999, 0), 8: (3, 1)}))
    assert glances.peaks(0.0)["Key_reads"].maximum == 1.0
    assert glances.peaks(0.0)["voluntary_switches"].maximum == 3.0
    glances.take(Glance(3.0 + 2 * KEPT_SECONDS, {}))
    assert glances.peaks(0.0) == {}


def test_95_per_cent_are_not_higher() -> None:
    assert peak_of([float(number) for number in range(1, 101)]) == Peak(100.0, 95.0)
    assert peak_of([7.0]) == Peak(7.0, 7.0)
    assert peak_of([1.0] * 19 + [9.0]) == Peak(9.0, 1.0)


VALUES = [
    Value("opened_tables_total", 7),
    Value("slow_queries_total", None),
    Value("key_cache_size_bytes", 100, ("default",)),
    Value("key_cache_size_bytes", 100, ("b",)),
    Value("key_cache_reads_total", 5, ("b",)),
    Value("table_data_bytes", 10, ("s", "small")),
    Value("table_data_bytes", 20, ("s", "large")),
    Value("table_data_bytes", 5, ("s", "busy")),
    Value("table_write_statements_total", 3, ("s", "busy")),
    Value("omitted_tables_data_bytes", 100),
    Value("table_page_cache_resident_bytes", 4, ("s", "small", "data")),
    Value("omitted_tables_page_cache_resident_bytes", 0, ("data",)),
]


def test_a_document_holds_what_is_known_and_nothing_else() -> None:
    made = document(VALUES, None, {"Key_reads": Peak(2.0, 1.0)})
    assert made["values"]["opened_tables_total"] == 7
    assert "slow_queries_total" not in made["values"]
    assert made["values"]["key_cache_reads_total[b]"] == 5
    assert made["key_caches"] == ["b", "default"]
    assert made["values"]["tables_data_bytes"] == 135
    assert "tables_data_resident_bytes" not in made["values"]  # of two tables it is not known
    assert "tables_index_bytes" not in made["values"]
    assert [one["table"] for one in made["tables"]] == ["busy", "large", "small"]
    assert made["tables"][2]["values"] == {"data_bytes": 10, "page_cache_resident_bytes[data]": 4}
    assert made["peaks"] == {"Key_reads": {"maximum": 2.0, "percentile_95": 1.0}}
    assert made["advice"] is None
    assert json.loads(json.dumps(made)) == made
    many = [Value("table_data_bytes", number, ("s", f"t{number}")) for number in range(200)]
    assert len(document(many, None)["tables"]) == MAXIMUM_TABLES


def test_a_document_has_the_advice_unless_the_server_is_down() -> None:
    finding = Finding("table-crashed", "A table is crashed", "critical", "confirmed", "table", "s.t", None, "s.t is crashed.", (), "", "", "", "", "", ())
    judgement = Judgement([finding], not_evaluated=[NotEvaluated("x", "y")])
    advice = document([], judgement)["advice"]
    assert advice["counts"] == {"critical": 1, "warning": 0, "info": 0}
    assert advice["messages"]["critical"] == ["table-crashed s.t: A table is crashed"]
    assert advice["not_evaluated"] == 1
    down = document([], judgement, failure="gone")
    assert (down["up"], down["reason"], down["advice"]) == (False, "gone", None)


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    process = read_process(Path("/proc") / str(os.getpid()), os.getpid())
    assert not hasattr(process, "reason")
    running = Running()
    running.grow(5.0, "switches", "voluntary")
    state = ProcessState(time.monotonic(), process, Status({"Uptime": 5, "Innodb_data_read": 77, "Other": 1}), running)
    path = tmp_path / "state"
    write_state(path, state)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = read_state(path)
    assert found is not None
    assert found.process.switches == state.process.switches
    assert found.process.pid == os.getpid()
    assert isinstance(found.process.io, ProcessIo)
    assert found.status.values == {"Uptime": 5.0, "Innodb_data_read": 77.0}
    assert found.running.totals == {("switches", "voluntary"): 5.0}
    assert found.seconds_until(state.moment + 10) == pytest.approx(10)  # the sum is rounded where the moment nears a power of two
    assert found.seconds_until(state.moment - 1) is None  # this machine was booted since
    assert found.seconds_until(state.moment + 86_400) is None
    assert [one.name for one in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", '{"format": 2}', '{"format": 1}', "\x00\xff", '{"format": 1, "moment": 1, "process": {"pid": "x"}, "switches": {}, "io": null, "status": {}, "totals": []}'])
def test_what_is_no_state_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "state"
    path.write_text(content, "latin-1")
    assert read_state(path) is None
    assert read_state(tmp_path / "missing") is None


def test_the_plugin_answers_a_daemon_that_is_not_ours(tmp_path: Path) -> None:
    """Whatever listens there, the plugin says U and exits with 0."""
    import socket
    import subprocess

    replies = [b"", b"junk", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n[]", b'HTTP/1.1 200 OK\r\n\r\n{"schema": 2}', b"HTTP/1.1 503 no\r\n\r\n{}",
               b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000, b'HTTP/1.1 200 OK\r\n\r\n{"schema": 1, "values": {"a": ' + b"9" * 6000 + b"}}",
               b'HTTP/1.1 200 OK\r\n\r\n{"schema": 1, "values": 5, "peaks": {}, "tables": [], "key_caches": []}',
               b'HTTP/1.1 200 OK\r\n\r\n{"schema": 1, "values": {"opened_tables_total": "1\\nevil.value 3", "threads_running": NaN, "open_tables": Infinity}, "peaks": {"Key_reads": 3}, "tables": [7], "key_caches": ["a"], "advice": 5}']  # fmt: skip
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        for reply in replies:
            thread = threading.Thread(target=_reply, args=(listener, reply))
            thread.start()
            environment = {"PATH": "/usr/bin:/bin", "socket": str(path), "advisor_program": "/nowhere"}
            done = subprocess.run([str(PLUGIN)], capture_output=True, text=True, env=environment, timeout=30, check=False)
            thread.join()
            assert done.returncode == 0, (reply, done.stderr)
            assert "Traceback" not in done.stderr
            values = {line.partition(" ")[2] for line in done.stdout.splitlines() if ".value " in line}
            assert values == {"U"}, reply


def test_where_names_cannot_be_written_nothing_is_left(tmp_path: Path) -> None:
    """On a full disk each call left an empty file: 576 a day."""
    import resource
    import socket
    import subprocess

    path = tmp_path / "s"
    places = tmp_path / "places"
    places.mkdir()
    document = {"schema": 1, "values": {}, "peaks": {}, "tables": [{"schema": "a", "table": "b", "values": {}}], "key_caches": ["default"]}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=_reply, args=(listener, b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(document).encode()))
        thread.start()
        environment = {"PATH": "/usr/bin:/bin", "socket": str(path), "advisor_program": "/nowhere", "MUNIN_PLUGSTATE": str(places)}
        done = subprocess.run([str(PLUGIN), "config"], capture_output=True, text=True, env=environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)), timeout=30, check=False)
        thread.join()
    assert done.returncode == 0, done.stderr
    assert ".label a.b\n" in done.stdout
    assert list(places.iterdir()) == []


@pytest.mark.parametrize("kind", ["nested", "a FIFO", "endless", "no names", "many names"])
def test_what_other_plugins_leave_where_names_are_kept_costs_the_names_alone(tmp_path: Path, kind: str) -> None:
    """Of one user's plugins each may write there: a file nested a hundred thousand deep took all graphs, until somebody deleted it."""
    import os
    import subprocess

    path = tmp_path / "myisam_advisor-names"
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "many names":  # each has lines in every graph: hundreds of megabytes, which munin-node read
        path.write_text(json.dumps({"key_caches": ["default", *map(str, range(100_000))], "tables": []}))
    else:
        path.write_text("[" * 100_000 if kind == "nested" else '{"key_caches": [[]], "tables": [["a"]]}')
    environment = {"PATH": "/usr/bin:/bin", "socket": "/nowhere", "advisor_program": "/nowhere", "MUNIN_PLUGSTATE": str(tmp_path)}
    done = subprocess.run([str(PLUGIN), "config"], capture_output=True, text=True, env=environment, timeout=30, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "c_default_read_requests.label default: reads\n" in done.stdout
    assert len(done.stdout) < 1_000_000


def test_a_daemon_that_is_late_is_waited_for_and_not_gone_round(tmp_path: Path) -> None:
    """The program keeps counters of its own: between the two a graph would fall, and rise by all that the daemon counted since it started."""
    import socket
    import subprocess

    path, ran = tmp_path / "s", tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "socket": str(path), "advisor_program": str(program)}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        done = subprocess.run([str(PLUGIN)], capture_output=True, text=True, env=environment, timeout=30, check=False)
    assert done.returncode == 0
    assert {line.partition(" ")[2] for line in done.stdout.splitlines() if ".value " in line} == {"U"}
    assert done.stderr == f"the daemon on {path} did not answer within 2 s\n"
    assert not ran.exists()
    # Nobody listens there any more.
    subprocess.run([str(PLUGIN)], capture_output=True, env=environment, timeout=30, check=False)
    assert ran.exists()


def test_a_daemon_that_answers_byte_by_byte_is_late_too(tmp_path: Path) -> None:
    import socket
    import subprocess

    def drip(listener: socket.socket) -> None:
        accepted, _ = listener.accept()
        with accepted, suppress(OSError):
            accepted.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                accepted.sendall(b" ")
                time.sleep(0.1)

    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        environment = {"PATH": "/usr/bin:/bin", "socket": str(path), "advisor_program": "/nowhere"}
        done = subprocess.run([str(PLUGIN)], capture_output=True, text=True, env=environment, timeout=15, check=False)
        thread.join()
    assert (done.returncode, done.stderr) == (0, f"the daemon on {path} did not answer within 2 s\n")


def test_no_more_key_caches_have_lines_than_the_exporter_tells_of(tmp_path: Path) -> None:
    import socket
    import subprocess

    told = {"schema": 1, "values": {}, "peaks": {}, "tables": [], "key_caches": [f"cache{number}" for number in range(100_000)], "advice": None}
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=_reply, args=(listener, b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(told).encode()))
        thread.start()
        environment = {"PATH": "/usr/bin:/bin", "socket": str(path), "advisor_program": "/nowhere", "tables": "\u00b2", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([str(PLUGIN), "config"], capture_output=True, text=True, env=environment, timeout=30, check=True)
        thread.join()
    assert done.stdout.count("_read_requests.label ") == MAXIMUM_CACHES


def test_a_second_server_has_graphs_of_its_own(tmp_path: Path) -> None:
    import subprocess

    def graphs(name: str, word: str, further: dict[str, str]) -> list[str]:
        environment = {"PATH": "/usr/bin:/bin", "socket": "/nowhere", "advisor_program": "/nowhere", "MUNIN_PLUGSTATE": str(tmp_path), **further}
        done = subprocess.run([str(tmp_path / name), word], capture_output=True, text=True, env=environment, timeout=30, check=True)
        return [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith("multigraph ")]

    for name in ("myisam_advisor", "myisam_advisor_forum", "myisam_advisor_a-b"):
        (tmp_path / name).symlink_to(PLUGIN)
        (tmp_path / f"{name}-names").write_text(json.dumps({"key_caches": ["default"], "tables": [["shop", "orders"]]}))
    first, second = graphs("myisam_advisor", "config", {}), graphs("myisam_advisor_forum", "config", {})
    assert len(first) == len(set(first)) == len(second) == len(set(second)) > 15
    assert not set(first) & set(second)
    assert graphs("myisam_advisor_forum", "fetch", {}) == second
    assert {"myisam_advice_forum", "myisam_tables_forum"} <= set(second)
    # What is behind the graph of all tables stays behind it.
    assert [name.partition(".")[0] for name in second if "." in name] == ["myisam_tables_forum"]
    assert "myisam_advice_a_b" in graphs("myisam_advisor_a-b", "config", {})
    # Settings are in the link's own section, and have the names of the guide.
    assert graphs("myisam_advisor_forum", "config", {"graphs": "myisam_advice"}) == ["myisam_advice_forum"]


def test_a_second_server_is_never_asked_at_the_first_ones_socket(tmp_path: Path) -> None:
    import subprocess

    for name in ("myisam_advisor", "myisam_advisor_forum"):
        (tmp_path / name).symlink_to(PLUGIN)
        environment = {"PATH": "/usr/bin:/bin", "advisor_program": "/nowhere"}
        done = subprocess.run([str(tmp_path / name)], capture_output=True, text=True, env=environment, timeout=30, check=True)
        assert f"no daemon answers on {socket_of(name.removeprefix('myisam_advisor').removeprefix('_'))} " in done.stderr
    assert socket_of("forum") != socket_of("") == SOCKET


def _reply(listener: object, reply: bytes) -> None:
    connection, _ = listener.accept()  # type: ignore[attr-defined]
    connection.recv(1 << 16)
    connection.sendall(reply)
    connection.close()
