"""A log that is read while its server writes, rotates or cuts it."""

import gzip
import os
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from myisam_advisor.workload import log_file
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.log_file import LogFile
from myisam_advisor.workload.recording import record_log, source_named

BLOCK = 1000
ENTRY = "# Time: 2026-11-22T20:00:00.000000Z\n# User@Host: app[app] @ localhost []  Id:     7\n# Query_time: 0.000100  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1795377600;\nSELECT {number};\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A slow log of many blocks."""
    monkeypatch.setattr(log_file, "_BLOCK_BYTES", BLOCK)
    path = tmp_path / "slow.log"
    path.write_text("".join(ENTRY.format(number=number) for number in range(100)))
    return path


def test_what_is_written_after_it_was_opened_is_not_read(log: Path) -> None:
    counted = log.stat().st_size
    with LogFile(log, "slow log") as file:
        with log.open("a") as more:
            more.write("later")
        assert sum(map(len, file.blocks())) == counted
        assert not file.shrank


def test_one_that_is_cut_while_it_is_read_ends_there_and_is_told(log: Path) -> None:
    with LogFile(log, "slow log") as file:
        blocks = file.blocks()
        next(blocks)
        os.truncate(log, BLOCK + 10)
        assert [len(block) for block in blocks] == [10]
        assert file.shrank


def test_one_that_is_renamed_while_it_is_read_is_read_to_its_end(log: Path) -> None:
    """As logrotate does it: the descriptor stays with the file, and the new one of that name is another."""
    counted = log.stat().st_size
    with LogFile(log, "slow log") as file:
        blocks = file.blocks()
        first = next(blocks)
        log.rename(log.with_suffix(".1"))
        log.write_text("a new one")
        assert len(first) + sum(map(len, blocks)) == counted
        assert not file.shrank


@pytest.mark.parametrize(("end", "moved"), [("kept", False), ("removed", False), ("renamed", True), ("rotated", True)])
def test_one_that_was_open_while_it_was_written_tells_whether_it_was_moved(log: Path, end: str, moved: bool) -> None:
    with LogFile(log, "slow log", os.open(log, os.O_RDONLY)) as file:
        if end == "removed":
            log.unlink()
        elif end != "kept":
            log.rename(log.with_suffix(".1"))
        if end == "rotated":
            log.write_text("a new one")
        list(file.blocks())
        assert file.was_moved is moved


def test_a_recording_of_one_that_was_cut_says_so(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = LogFile._read
    calls: list[None] = []

    def read(file: LogFile) -> bytes:
        calls.append(None)
        if len(calls) == 3:
            os.truncate(log, 0)
        return kept(file)

    monkeypatch.setattr(LogFile, "_read", read)
    recorded = record_log(source_named("slow_log"), log, tmp_path / "w")
    assert recorded.totals.note["shrank"] == "the log became shorter while it was read: what was cut off is lost"
    assert 0 < recorded.totals.statements < 100
    workload = read_workload(tmp_path / "w")
    assert len(list(workload.events())) == recorded.totals.statements
    assert workload.totals.note["shrank"]


def test_what_follows_each_of_many_packed_parts_is_copied_in_short_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 bytes are a part: were all that was read handed on from one to the next, a megabyte of them would be 26 GB of copies."""
    path = tmp_path / "slow.log.gz"
    path.write_bytes(gzip.compress(b"") * 10_000 + gzip.compress(b"said"))
    kept, left = zlib.decompressobj, []

    def watched(wbits: int) -> SimpleNamespace:
        inflating = kept(wbits)
        watching = SimpleNamespace(eof=False, unused_data=b"", unconsumed_tail=b"")

        def decompress(packed: bytes, maximum: int) -> bytes:
            unpacked = inflating.decompress(packed, maximum)
            watching.eof, watching.unused_data, watching.unconsumed_tail = inflating.eof, inflating.unused_data, inflating.unconsumed_tail
            left.append(len(watching.unused_data))
            return unpacked

        watching.decompress = decompress
        return watching

    monkeypatch.setattr(log_file, "zlib", SimpleNamespace(decompressobj=watched, error=zlib.error, MAX_WBITS=zlib.MAX_WBITS))
    with LogFile(path, "slow log") as file:
        assert b"".join(file.blocks()) == b"said"
    assert max(left) < 1 << 16


@pytest.mark.parametrize("size", [1, 2, 3, 21, 50])
def test_packed_parts_begin_anywhere_in_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    path = tmp_path / "slow.log.gz"
    path.write_bytes(b"".join(gzip.compress(b"%d " % number) for number in range(100)))
    monkeypatch.setattr(log_file, "_PACKED_BYTES", size)
    with LogFile(path, "slow log") as file:
        assert b"".join(file.blocks()).split() == [b"%d" % number for number in range(100)]
