"""The workload file: what is written is read again, nobody else reads it, and what is no workload is named."""

import gzip
import json
import os
import resource
import stat
import tracemalloc
from pathlib import Path

import pytest

from myisam_advisor.workload import file as workload_file
from myisam_advisor.workload import file_writer
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import Workload, read_workload
from myisam_advisor.workload.file_format import (
    FIRST_MOMENT,
    LAST_MOMENT,
    LONGEST_MICROSECONDS,
    MAXIMUM_STATEMENT_BYTES,
    Header,
)
from myisam_advisor.workload.file_writer import WorkloadWriter, expect_place
from myisam_exporter.errors import UserError

EVERY_BYTE = bytes(range(256))
EVENTS = [
    Event(1, 1_700_000_000_000_000, 12, b"shop", b"SELECT 1"),
    Event(2, 1_700_000_000_000_001, None, None, EVERY_BYTE, 1, 2, 3, 1062, prepared=True),
    Event(2, FIRST_MOMENT, 0, EVERY_BYTE, b'"]},\n[{\\u0000', 0, 0, 0, 0),
]
HEADER = Header("slow_log", "10.11.6-MariaDB", "mariadb", 1_700_000_000_000_000, 1_000_000, {"log": "slow.log"})


def written(path: Path, *events: Event, header: Header = HEADER) -> Path:
    with WorkloadWriter(path, header) as writer:
        for event in events:
            writer.write(event)
        writer.left_out["LOAD DATA"] = 3
        writer.ended_at_microseconds = 1_700_000_060_000_000
        writer.note["connections before"] = "7"
    return path


def packed(path: Path, *lines: str) -> Path:
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
    return path


def read(path: Path) -> Workload:
    workload = read_workload(path)
    list(workload.events())
    return workload


HEAD = json.dumps({"format": "myisam-advisor workload", "version": 1, "source": "slow_log"})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    workload = read_workload(written(tmp_path / "a.workload", *EVENTS))
    assert workload.header == HEADER
    assert list(workload.events()) == EVENTS
    totals = workload.totals
    assert (totals.statements, totals.left_out, totals.truncated) == (3, {"LOAD DATA": 3}, False)
    assert (totals.ended_at_microseconds, totals.note) == (1_700_000_060_000_000, {"connections before": "7"})


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    assert stat.S_IMODE(written(tmp_path / "a").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_no_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(UserError, match="a is there already"):
        written(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "mine"


def test_a_file_that_appears_meanwhile_is_not_replaced_either(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a is there already"), WorkloadWriter(tmp_path / "a", HEADER):
        (tmp_path / "a").write_text("mine")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "mine")]


def test_nothing_is_left_after_an_exception(tmp_path: Path) -> None:
    with pytest.raises(KeyError), WorkloadWriter(tmp_path / "a", HEADER) as writer:
        writer.write(EVENTS[0])
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_of_the_user(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(UserError, match=r"cannot write .*a: File too large"):
            written(tmp_path / "a", *EVENTS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert list(tmp_path.iterdir()) == []


def test_a_statement_that_is_too_long_is_left_out_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = b"x" * MAXIMUM_STATEMENT_BYTES
    workload = read_workload(written(tmp_path / "a", Event(1, FIRST_MOMENT, 0, None, longest), Event(1, FIRST_MOMENT, 0, None, longest + b"x")))
    assert [len(event.statement) for event in workload.events()] == [MAXIMUM_STATEMENT_BYTES]
    assert workload.totals.left_out == {"longer than 16 MiB": 1, "LOAD DATA": 3}


def test_a_statement_that_would_be_too_long_a_line_is_left_out_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_writer, "MAXIMUM_LINE_BYTES", 1 << 20)
    workload = read(written(tmp_path / "a", Event(1, FIRST_MOMENT, 0, None, b"\0" * (1 << 18))))
    assert workload.totals.left_out == {file_writer.LONG_LINE: 1, "LOAD DATA": 3}


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (Event(1, 0, 0, None, b"SELECT 1"), "of no known time"), (Event(1, FIRST_MOMENT - 1, 0, None, b"SELECT 1"), "of no known time"),
        (Event(1, LAST_MOMENT, 0, None, b"SELECT 1"), "of no known time"), (Event(1, FIRST_MOMENT, LONGEST_MICROSECONDS + 1, None, b"SELECT 1"), "took longer than a day"),
    ],
)  # fmt: skip
def test_what_no_reader_takes_is_not_written(tmp_path: Path, event: Event, reason: str) -> None:
    assert read(written(tmp_path / "a", event, EVENTS[0])).totals.left_out == {reason: 1, "LOAD DATA": 3}


def test_what_is_there_of_a_file_that_was_cut_off_is_used(tmp_path: Path) -> None:
    path = written(tmp_path / "a", *(Event(1, FIRST_MOMENT + number, 0, None, b"SELECT %d" % (number * 7919)) for number in range(20_000)))
    path.write_bytes(path.read_bytes()[:-5000])
    workload = read_workload(path)
    events = list(workload.events())
    assert 10_000 < len(events) < 20_000
    assert workload.totals.truncated
    assert workload.totals.statements == len(events)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty, or cut off"),
        (b"hello", "line 1: it is not a gzip file, or it is damaged"),
        (b"\0" * 4096, "line 1: it is not a gzip"),
        (gzip.compress(b"# Time: 1\n", mtime=0), "is not a myisam-advisor workload"),
        (gzip.compress(b'{"format": "other"}\n', mtime=0), "is not a myisam-advisor workload"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 2}\n', mtime=0), "version 2; this program reads 1"),
        (gzip.compress(b"{" * 100_000 + b"\n", mtime=0), "line 1: it is not a JSON object"),
        (gzip.compress(b"{\xff}\n", mtime=0), "line 1: it is not UTF-8"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 1, "source": 5}\n', mtime=0), "line 1: source is not text"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 1, "note": {"a": 1}}\n', mtime=0), "line 1: note is not an object of texts"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 1, "began_at_microseconds": "now"}\n', mtime=0), "is not a whole number"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 1, "began_at_microseconds": 99999999999999999}\n', mtime=0), "line 1: began_at_microseconds is before 1995 or after 2999"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 1, "began_at_microseconds": 5}\n', mtime=0), "line 1: began_at_microseconds is before 1995 or after 2999"),
        (gzip.compress(b'{"format": "myisam-advisor workload", "version": 1, "resolution_microseconds": 86400000001}\n', mtime=0), "resolution_microseconds is longer than a day"),
        (gzip.compress("é☃ no workload\n".encode(), mtime=0), "line 1: it is not an event"),
    ],
)  # fmt: skip
def test_what_is_no_workload_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(UserError, match=says):
        read_workload(tmp_path / "a")


GOOD = '[1,1700000000000000,3,null,"x",null,null,null,null,false]'


@pytest.mark.parametrize(
    "line",
    [
        "[]", "null", "7", '["1",1700000000000000,3,null,"x",null,null,null,null,false]', '[1,-1700000000000000,3,null,"x",null,null,null,null,false]', GOOD[:-1], GOOD + " ",
        GOOD.replace('"x"', "null"), GOOD.replace("false", "0"), GOOD.replace("x", "\u0101"), GOOD.replace("x", "\\ud800"), GOOD.replace("1", "1" * 30, 1),
        GOOD.replace("x", '"'), GOOD.replace("null", "[]", 1), GOOD.replace("1", "1.5", 1), "[" * 100_000,
    ],
)  # fmt: skip
def test_a_line_that_is_no_event_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(UserError, match="a, line 3: it is not an event"):
        read(packed(tmp_path / "a", HEAD, GOOD, line))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (GOOD.replace("1700000000000000", "32503680000000000"), "it began before 1995 or after 2999"), (GOOD.replace("1700000000000000", "999999999999999999"), "it began before 1995 or after 2999"),
        (GOOD.replace("1700000000000000", "788918399999999"), "it began before 1995 or after 2999"), (GOOD.replace(",3,", ",86400000001,"), "it took longer than a day"),
        (GOOD.replace(",3,", ",-3,"), "it is not an event"), (GOOD.replace("x", "x" * (MAXIMUM_STATEMENT_BYTES + 1)), "its statement is longer than 16 MiB"),
    ],
    ids=["3000", "far", "1994", "long", "negative", "16 MiB"],
)  # fmt: skip
def test_an_event_that_no_server_has_is_named(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(UserError, match=f"a, line 3: {says}"):
        read(packed(tmp_path / "a", HEAD, GOOD, line))


@pytest.mark.parametrize("character", ["\u0100", "\u0fff", "\U0001f600", "\\ud83d\\ude00", "\\\\\\u0100"])
def test_characters_that_no_byte_is_written_as_are_refused(tmp_path: Path, character: str) -> None:
    with pytest.raises(UserError, match="a, line 2: it is not an event"):
        read(packed(tmp_path / "a", HEAD, GOOD.replace("x", "a" + character)))


@pytest.mark.parametrize("filler", ["a", "\u0100", "\\\\"], ids=["plain", "foreign", "backslashes"])
def test_a_hostile_line_takes_bounded_memory(tmp_path: Path, filler: str) -> None:
    # A character of four bytes makes each of the line one of four in memory.
    part = filler.encode() * ((1 << 20) // len(filler.encode()))
    with gzip.open(tmp_path / "a", "wb", 1) as file:
        file.write((HEAD + "\n" + GOOD.partition("x")[0]).encode())
        for _ in range(39):
            file.write(part)
        file.write("\U0001f600".encode() + GOOD.partition("x")[2].encode() + b"\n")
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match="a, line 2: it is not an event"):
            read(tmp_path / "a")
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("last", "says"),
    [
        ('{"statements": 2}', "line 3: 2 statements were written, 1 is there"),
        ("{}", "line 3: it does not say how many statements were written"),
        ('{"statements": 1, "left_out": []}', "left_out is not an object of counts"),
        ('{"statements": 1, "left_out": {"a": -1}}', "left_out is not an object of counts"),
        ('{"statements": 1, "left_out": {"a": true}}', "left_out is not an object of counts"),
        ('{"statements": 1}\n' + GOOD, "line 4: there is more behind the last line"),
    ],
)  # fmt: skip
def test_totals_that_are_none_are_named(tmp_path: Path, last: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        read(packed(tmp_path / "a", HEAD, GOOD, last))


def test_damage_within_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a", *(Event(1, FIRST_MOMENT + number, 0, None, b"SELECT %d" % (number * 7919)) for number in range(2000)))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 64] = b"\xff" * 64
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a, line \d+: it is"):
        read(path)


def test_a_line_without_end_takes_no_memory_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_file, "MAXIMUM_LINE_BYTES", 1 << 20)
    (tmp_path / "a").write_bytes(gzip.compress(HEAD.encode() + b"\n" + b"a" * (64 << 20), 1))
    with pytest.raises(UserError, match="line 2: it is longer than a statement can be"):
        read(tmp_path / "a")


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_file, "MAXIMUM_UNPACKED_BYTES", 1000)
    with pytest.raises(UserError, match="unpacked it is longer than"):
        read(packed(tmp_path / "a", HEAD, *[GOOD] * 100))


@pytest.mark.parametrize("name", ["missing", "folder", "\0"])
def test_what_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="cannot read the workload"):
        read_workload(tmp_path / name)


def test_a_pipe_is_no_workload_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="not a regular file"):
        read_workload(tmp_path / "pipe")


def test_what_would_be_refused_at_the_end_is_refused_before_anything_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expect_place(tmp_path / "w")
    (tmp_path / "there").symlink_to("nowhere")
    with pytest.raises(UserError, match="is there already"):
        expect_place(tmp_path / "there")
    with pytest.raises(UserError, match=r"cannot write into .*/none: No such file or directory\. Give another --output"):
        expect_place(tmp_path / "none" / "w")
    monkeypatch.setattr(file_writer, "LEAST_FREE_BYTES", 1 << 62)
    with pytest.raises(UserError, match=r"free, and a recording needs more\. Give an --output elsewhere"):
        expect_place(tmp_path / "w")
