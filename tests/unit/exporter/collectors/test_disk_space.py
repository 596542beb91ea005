"""Free space: where the data are, and in each place that tmpdir names."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_exporter.collectors import disk_space
from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.disk_space import COLLECTOR, FreeSpace, Space, space_of
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.mounts import mount_under
from myisam_exporter.kernel.rights import SHOW_PROCESS
from tests.support.recorded import RecordedLook


def test_the_recorded_machine_has_what_the_kernel_said(look: RecordedLook) -> None:
    free, total = look.machine.moment["space"].values()
    assert total > free > 1 << 30
    assert look.rows("disk_space", "host") == [
        {
            "data_directory_free_bytes": free,
            "data_directory_total_bytes": total,
            "data_directory_read_only": 0,
            "temporary_directory_free_bytes": free,
            "temporary_directory_total_bytes": total,
        }
    ]


def test_free_is_what_an_unprivileged_program_may_write(tmp_path: Path) -> None:
    status = os.statvfs(tmp_path)
    space = space_of(tmp_path)
    assert isinstance(space, Space)
    assert space.free_bytes == pytest.approx(status.f_bavail * status.f_frsize, rel=0.05)
    assert space.total_bytes == status.f_blocks * status.f_frsize
    with pytest.raises(FileNotFoundError):
        space_of(tmp_path / "nothing")


@pytest.mark.parametrize(("tmpdir", "reason"), [("", "names no tmpdir"), (":", "names no tmpdir")])
def test_a_server_without_tmpdir_leaves_that_part_unknown(look: RecordedLook, tmpdir: str, reason: str) -> None:
    sample = look.collected("disk_space", variables=Variables({"tmpdir": tmpdir}))
    assert isinstance(sample, FreeSpace)
    assert sample.data == Space(**look.machine.moment["space"])
    assert reason in COLLECTOR.unknown_columns(sample)["host.temporary_directory_free_bytes"].reason
    (block,) = COLLECTOR.facts(Pair(sample))
    assert not {column for column in block.columns if column.startswith("temporary")}


def test_without_the_servers_place_nothing_is_asked(look: RecordedLook) -> None:
    gone = Unknown("no server")
    assert look.collected("disk_space", server=gone) is gone


def test_a_file_system_that_tells_no_size_is_not_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """As tmpfs with size=0, which may take all of memory, or what FUSE serves without saying. /proc is such a one everywhere."""
    none = space_of(Path("/proc"))
    assert isinstance(none, Unknown)
    assert none.off
    monkeypatch.setattr(disk_space, "space_of", lambda path: none if str(path) == "/told/nothing" else Space(5, 10))
    assert disk_space.temporary_space("/told/nothing:/other", 1, Path("/nothing")) == Space(5, 10)
    alone = disk_space.temporary_space("/told/nothing", 1, Path("/nothing"))
    assert alone is none
    assert COLLECTOR.unknown_columns(FreeSpace(Space(5, 10), alone, None))["host.temporary_directory_free_bytes"] is none


@pytest.mark.parametrize(("said", "told"), [(True, [1]), (False, [0]), (None, [])])
def test_a_read_only_disk_is_a_fact_where_it_is_told(said: bool | None, told: list[int]) -> None:
    (block,) = COLLECTOR.facts(Pair(FreeSpace(Space(5, 10), Space(5, 10), is_read_only=said)))
    assert [row[place] for row in block.rows for place, column in enumerate(block.columns) if column == "data_directory_read_only"] == told


def mounts(proc: Path, process: str, *lines: str) -> None:
    (proc / process).mkdir()
    (proc / process / "mountinfo").write_text("".join(f"{number} 1 {line} rw - ext4 none rw\n" for number, line in enumerate(lines)))


def test_a_tmpdir_of_the_servers_own_is_not_taken_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As PrivateTmp=disconnected, TemporaryFileSystem= and containers have it: ours was told, whatever that had."""
    mounts(tmp_path, "self", "8:1 / /", "8:1 /tmp/x /tmp")
    mounts(tmp_path, "7", "8:1 / /", "0:99 / /tmp")
    mounts(tmp_path, "8", "8:1 / /", "8:1 /tmp/systemd-private-1/tmp /tmp")
    monkeypatch.setattr(os.path, "realpath", str)
    seen = disk_space.temporary_space("/tmp", 7, tmp_path)
    assert isinstance(seen, Unknown)
    assert "another file system at /tmp than is seen from here" in seen.reason
    # PrivateTmp= is another directory of the same file system; where nothing is told of mounts, nothing speaks against ours.
    for pid in (8, 9, Unknown("not readable")):
        assert isinstance(disk_space.temporary_space("/tmp", pid, tmp_path), Space)
    hidden = Unknown("in a container", SHOW_PROCESS)
    assert disk_space.temporary_space("/tmp", hidden, tmp_path) is hidden
    assert disk_space.temporary_space("/tmp:/", 7, tmp_path) == seen


def test_what_is_found_lies_in_the_mount_that_was_told_whatever_its_device_says() -> None:
    """Of btrfs stat(2) tells other devices than /proc does."""
    mount = mount_under("/", "self", Path("/proc"))
    assert mount is not None
    assert isinstance(space_of(Path("/"), replace(mount, device="0:7777")), Space)
    with pytest.raises(OSError, match="leads elsewhere"):
        space_of(Path("/"), replace(mount, number="0"))


@pytest.mark.parametrize("tmpdir", ["/tmp\0x", "/tmp/\ud800"])
def test_a_tmpdir_that_no_file_can_be_called_is_unknown(tmpdir: str) -> None:
    """As a server may send it: the look at links raises what is no OSError."""
    assert isinstance(disk_space.temporary_space(tmpdir, os.getpid(), Path("/proc")), Unknown)


def test_the_servers_own_tmpdir_is_looked_at_where_that_is_allowed(tmp_path: Path) -> None:
    words = ["unshare", "--mount", "/bin/sh", "-c", 'mount -t tmpfs -o size=2m none "$0" && echo mounted && read -r _', str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        if server.stdout.readline() != "mounted\n":
            pytest.skip("no namespace of mounts can be made here")
        found = disk_space.temporary_space(str(tmp_path), server.pid, Path("/proc"))
        assert found == Space(2 << 20, 2 << 20, found.free_inodes if isinstance(found, Space) else None)
        ours = disk_space.temporary_space(str(tmp_path), os.getpid(), Path("/proc"))
        assert isinstance(ours, Space)
        assert ours.total_bytes > 2 << 20
        server.communicate("")
