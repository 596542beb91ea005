"""Files are read to a limit: what a process says of itself may be as long as it likes."""

import errno
import io
import os
import threading
from pathlib import Path

import pytest

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel import process
from myisam_exporter.kernel.process import read_process
from myisam_exporter.outside.bounded_reading import at_most, bounded_bytes, bounded_lines, bounded_text, first_bytes


def test_what_fits_is_read_whole_and_what_does_not_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "status"
    path.write_bytes(b"0123456789")
    assert bounded_bytes(path, 10) == b"0123456789"
    assert first_bytes(path, 4) == b"0123"
    assert first_bytes(path, 100) == b"0123456789"
    with pytest.raises(OSError, match="File too large") as refused:
        bounded_bytes(path, 9)
    assert (refused.value.errno, refused.value.filename) == (errno.EFBIG, str(path))


def test_a_file_without_end_ends(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File too large"):
        bounded_bytes("/dev/zero", 1 << 20)
    assert len(first_bytes("/dev/zero", 1 << 18)) == 1 << 18


def test_a_pipe_that_gives_a_little_at_a_time_is_read_to_its_end() -> None:
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb", buffering=0) as file:
            for part in (b"one ", b"two ", b"three"):
                file.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    with open(reading, "rb", buffering=0) as file:
        assert at_most(file, 100) == b"one two three"
    writer.join()


def test_one_byte_more_tells_that_there_is_more() -> None:
    assert at_most(io.BytesIO(b"x" * 100), 10) == b"x" * 11


def test_text_in_another_encoding_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "comm").write_bytes("mysqld \u00e9".encode())
    assert bounded_text(tmp_path / "comm", "utf-8") == "mysqld \u00e9"
    assert bounded_text(tmp_path / "comm") == "mysqld \ufffd\ufffd"


def test_lines_are_counted_together() -> None:
    assert list(bounded_lines(["ab\n", "cd\n"], "maps", 6)) == ["ab\n", "cd\n"]
    with pytest.raises(OSError, match="File too large"):
        list(bounded_lines(["ab\n", "cd\n"], "maps", 5))


def test_mappings_without_end_are_unknown_and_the_rest_of_the_process_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile server maps as many files with names as long as the kernel lets it."""
    own = Path("/proc/self")
    for name in ("stat", "status", "limits", "io"):
        (tmp_path / name).write_bytes((own / name).read_bytes())
    (tmp_path / "maps").write_text("".join(f"{n:x}000-{n + 1:x}000 r--s 0 08:01 {n} /data/{'x' * 200}{n}.MYD\n" for n in range(1, 1000)))
    (tmp_path / "fd").mkdir()
    (tmp_path / "task" / "1").mkdir(parents=True)
    (tmp_path / "task" / "1" / "status").write_text("voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t8\n")
    whole = read_process(tmp_path, 1)
    assert isinstance(whole, process.ProcessSample)
    assert isinstance(whole.mapped, process.MappedFiles)
    assert whole.mapped.data_files == 999
    monkeypatch.setattr("myisam_exporter.kernel.process_files.MAXIMUM_ANSWER_BYTES", 100_000)
    cut = read_process(tmp_path, 1)
    assert isinstance(cut, process.ProcessSample)
    assert isinstance(cut.mapped, Unknown)
    assert "File too large" in cut.mapped.reason
    assert cut.switches == {1: (7, 8)}
