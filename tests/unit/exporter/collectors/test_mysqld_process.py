import resource
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.mysqld_process import COLLECTOR
from myisam_exporter.collectors.status import Status
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.page_cache_hits import page_cache_hits
from myisam_exporter.kernel.process import ProcessSample, read_process
from myisam_exporter.kernel.residency import PAGE_BYTES
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.mysqld_process import GROUP

PID = 77


def record(root: Path, threads: dict[int, tuple[int, int]], io: tuple[int, int, int] | None = (10, 1000, 4096), major: int = 0) -> Path:
    """A recorded /proc/77."""
    folder = root / str(PID)
    fields = ["S", *["0"] * 6, "500", "0", str(major), "0", "200", "100", "0", "0", "0", "0", str(len(threads)), "0", "9000"]
    (folder / "task").mkdir(parents=True, exist_ok=True)
    for old in (folder / "task").iterdir():
        (old / "status").unlink()
        old.rmdir()
    (folder / "stat").write_text(f"{PID} (my)sqld) {' '.join(fields)}\n")
    (folder / "status").write_text("VmRSS:\t 2048 kB\nRssAnon:\t 1024 kB\n")
    (folder / "maps").write_text(
        "7f00-9f00 r--s 00000000 08:01 5 /data/a/t1.MYD\n"
        "aa00-bb00 r--s 00000000 08:01 6 /data/a/t 2.MYD\n"
        "cc00-dd00 r-xp 00000000 08:01 7 /usr/lib/libjemalloc.so.2\n"
    )
    (folder / "limits").write_text("Max open files            1024                 4096                 files\n")
    (folder / "fd").mkdir(exist_ok=True)
    (folder / "fd" / "0").touch()
    if io:
        (folder / "io").write_text("rchar: {1}\nwchar: 0\nsyscr: {0}\nsyscw: 0\nread_bytes: {2}\nwrite_bytes: 0\ncancelled_write_bytes: 0\n".format(*io))
    elif (folder / "io").exists():
        (folder / "io").unlink()
    for thread, (voluntary, involuntary) in threads.items():
        (folder / "task" / str(thread)).mkdir()
        (folder / "task" / str(thread) / "status").write_text(f"Name:\tx\nvoluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{involuntary}\n")
    return folder


def sample(folder: Path) -> ProcessSample:
    taken = read_process(folder, PID)
    assert isinstance(taken, ProcessSample)
    return taken


def facts(before: ProcessSample, after: ProcessSample, **status: int) -> dict[str, object]:
    pair = Pair(after, before, 10.0, {"status": Status(status)}, {"status": Status(dict.fromkeys(status, 0))})
    (block,) = COLLECTOR.facts(pair)
    return dict(zip(block.columns, next(iter(block.rows)), strict=True))


def test_before_linux_4_5_what_is_no_file_is_told_by_statm(tmp_path: Path) -> None:
    folder = record(tmp_path, {1: (1, 1)})
    (folder / "status").write_text("VmRSS:\t 2048 kB\n")
    assert sample(folder).anonymous_bytes is None
    for text, pages in (("9000 512 100 5 0 300 0\n", 412), ("9000 512 600 5 0 300 0\n", 0), ("9000 some\n", None)):
        (folder / "statm").write_text(text)
        assert sample(folder).anonymous_bytes == (None if pages is None else pages * PAGE_BYTES)


def test_switches_that_no_thread_tells_are_not_none(tmp_path: Path) -> None:
    """gVisor's threads have none in their status; a security module may hide it."""
    told, untold = record(tmp_path / "a", {1: (100, 10)}), record(tmp_path / "b", {1: (100, 10)})
    (untold / "task" / "1" / "status").write_text("Name:\tx\n")
    assert facts(sample(told), sample(told))["voluntary_switches_per_second"] == 0
    row = facts(sample(untold), sample(untold))
    assert row["voluntary_switches_per_second"] is row["involuntary_switches_per_second"] is None


def test_a_kernel_that_counts_no_reads_asks_for_no_right(tmp_path: Path) -> None:
    io = sample(record(tmp_path, {1: (1, 1)}, io=None)).io
    assert isinstance(io, Unknown)
    assert (io.off, io.remedy) == (True, "")


@pytest.mark.parametrize("text", ["", "rchar: 1\nsyscr: 2\n", "nothing\n", "rchar: x\nsyscr: 1\nread_bytes: 1\n"])
def test_reads_that_are_told_otherwise_hide_nothing_else(tmp_path: Path, text: str) -> None:
    folder = record(tmp_path, {1: (1, 1)})
    (folder / "io").write_text(text)
    found = sample(folder)
    assert isinstance(found.io, Unknown)
    assert found.open_files == 1
    (folder / "stat").write_text("77 (mysqld) S 1\n")
    assert isinstance(read_process(folder, PID), Unknown)


def test_switches_are_summed_over_threads_that_came_stayed_and_went(tmp_path: Path) -> None:
    before = sample(record(tmp_path, {1: (100, 10), 2: (5000, 7), 3: (40, 0)}))
    after = sample(record(tmp_path, {1: (150, 10), 3: (140, 20), 4: (30, 3)}))
    row = facts(before, after)
    assert row["voluntary_switches_per_second"] == (50 + 100 + 30) / 10  # thread 2 ended: its 5000 do not count backwards
    assert row["involuntary_switches_per_second"] == (0 + 20 + 3) / 10


def test_a_name_with_a_parenthesis_and_spaces_in_paths_are_read(tmp_path: Path) -> None:
    taken = sample(record(tmp_path, {1: (1, 1)}))
    assert (taken.minor_faults, taken.user_ticks, taken.system_ticks, taken.anonymous_bytes, taken.open_files_limit, taken.open_files) == (500, 200, 100, 1048576, 1024, 1)
    assert not isinstance(taken.mapped, Unknown)
    assert (taken.mapped.data_files, taken.mapped.data_bytes, taken.mapped.malloc) == (2, 0x9F00 - 0x7F00 + 0xBB00 - 0xAA00, "jemalloc")


def test_without_the_right_to_read_io_the_ratio_is_unknown_with_a_reason(tmp_path: Path) -> None:
    taken = sample(record(tmp_path, {1: (1, 1)}, io=None))
    assert "mysqld.page_cache_hit_ratio" in COLLECTOR.unknown_columns(taken)
    assert facts(taken, taken)["page_cache_hit_ratio"] is None


def test_another_process_has_no_rates(tmp_path: Path) -> None:
    before = sample(record(tmp_path, {1: (100, 10)}))
    folder = record(tmp_path, {1: (900, 10)})
    (folder / "stat").write_text((folder / "stat").read_text().replace(" 9000", " 9999"))
    assert facts(before, sample(folder))["voluntary_switches_per_second"] is None


def test_the_ratio_counts_pages_not_bytes() -> None:
    hits = page_cache_hits(calls=6000, read_bytes=600_000, storage_bytes=600 * PAGE_BYTES, blind_spot="")
    assert hits.ratio == pytest.approx(0.9)  # by bytes it would be minus 310 %
    assert hits.misses == 600


@pytest.mark.parametrize(
    ("calls", "read_bytes", "storage", "blind", "why"),
    [
        (500, 50_000, 0, "", "fewer than 1000"),
        (2000, 200_000, 3000 * PAGE_BYTES, "", "readahead"),
        (2000, 200_000, 0, "data files are mapped", "mapped"),
    ],
)
def test_there_is_no_ratio_when_it_cannot_be_true(calls: int, read_bytes: int, storage: int, blind: str, why: str) -> None:
    hits = page_cache_hits(calls, read_bytes, storage, blind)
    assert hits.ratio is None
    assert why in hits.method
    assert hits.misses == storage / PAGE_BYTES


@pytest.mark.parametrize(("status", "why"), [({"Ssl_accepts": 3}, "TLS"), ({"Innodb_data_read": 90_000_000}, "InnoDB")])
def test_blind_spots_are_named(tmp_path: Path, status: dict[str, int], why: str) -> None:
    before = sample(record(tmp_path, {1: (1, 1)}, io=(0, 0, 0)))
    after = sample(record(tmp_path, {1: (1, 1)}, io=(5000, 100_000_000, 90_000_000)))
    row = facts(before, after, **status)
    assert row["page_cache_hit_ratio"] is None
    assert why in str(row["page_cache_method"])


@pytest.mark.parametrize("why", ["the data lie on NFS, whose reads are not counted"])
def test_storage_that_is_not_counted_gives_no_ratio(tmp_path: Path, why: str) -> None:
    before = sample(record(tmp_path, {1: (1, 1)}, io=(0, 0, 0)))
    after = replace(sample(record(tmp_path, {1: (1, 1)}, io=(5000, 1_000_000, 0))), storage_blind_spot=why)
    row = facts(before, after)
    assert row["page_cache_hit_ratio"] is None
    assert why in str(row["page_cache_method"])
    assert facts(before, replace(after, storage_blind_spot=""))["page_cache_hit_ratio"] == 1.0


def test_a_vanished_process_is_unknown(tmp_path: Path) -> None:
    assert isinstance(read_process(tmp_path / "1", 1), Unknown)


def test_switches_and_pages_are_counted_whatever_the_interval(tmp_path: Path) -> None:
    before = sample(record(tmp_path, {1: (100, 10)}, io=(0, 0, 0)))
    after = sample(record(tmp_path, {1: (148, 21)}, io=(7001, 0, 49 * PAGE_BYTES)))
    known = {"status": Status({})}
    pair = Pair(after, before, 0.7, known, known)
    running = Running()
    values = {(value.name, *value.labels): value.number for value in GROUP.values(pair, Scene({}, running))}
    assert values["mysqld_context_switches_total", "voluntary"] == 48
    assert values["mysqld_context_switches_total", "involuntary"] == 11
    assert (values["mysqld_page_cache_accesses_total",], values["mysqld_page_cache_misses_total",]) == (7001, 49)


@pytest.mark.parametrize("limit", [209_715_200, None])
def test_the_largest_file_that_it_may_write_is_told_where_there_is_a_limit(limit: int | None) -> None:
    """The kernel ends a server that writes beyond (SIGXFSZ), and no log says so."""
    soft = resource.RLIM_INFINITY if limit is None else limit
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))
            found = read_process(Path(f"/proc/{process.pid}"), process.pid)
        finally:
            process.kill()
    assert isinstance(found, ProcessSample)
    assert found.file_size_limit_bytes == limit
