"""Free space: where the data are, and in each place that tmpdir names."""

import os
from pathlib import Path

import pytest

from myisam_exporter.collectors import disk_space
from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.disk_space import COLLECTOR, FreeSpace, Space, space_of
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
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
    assert disk_space._temporary(Variables({"tmpdir": "/told/nothing:/other"})) == Space(5, 10)
    alone = disk_space._temporary(Variables({"tmpdir": "/told/nothing"}))
    assert alone is none
    assert COLLECTOR.unknown_columns(FreeSpace(Space(5, 10), alone, None))["host.temporary_directory_free_bytes"] is none


@pytest.mark.parametrize(("said", "told"), [(True, [1]), (False, [0]), (None, [])])
def test_a_read_only_disk_is_a_fact_where_it_is_told(said: bool | None, told: list[int]) -> None:
    (block,) = COLLECTOR.facts(Pair(FreeSpace(Space(5, 10), Space(5, 10), is_read_only=said)))
    assert [row[place] for row in block.rows for place, column in enumerate(block.columns) if column == "data_directory_read_only"] == told
