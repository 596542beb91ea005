"""Databases on file systems of their own; on a recorded machine there are none."""

import os
from pathlib import Path

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.schema_disks import COLLECTOR, OwnDisk, SchemaDisks, own_disks
from myisam_exporter.facts.unknown import Unknown
from tests.support.mounts import mounted
from tests.support.recorded import RecordedLook


def test_the_recorded_machine_has_one_disk(look: RecordedLook) -> None:
    assert look.rows("schema_disks", "schema_disk") == []


def test_without_a_server_nothing_is_asked(look: RecordedLook) -> None:
    gone = Unknown("no server")
    assert look.collected("schema_disks", server=gone) is gone


def test_a_mount_and_a_link_are_told_and_what_lies_beside_is_not(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    for directory in (data / "beside", data / "odd@0020name", other):
        directory.mkdir(parents=True)
    with mounted(data / "odd@0020name", "-t", "tmpfs", "-o", "size=1m,nr_inodes=50", "myisam-advisor-test"), mounted(other, "-t", "tmpfs", "-o", "size=0,nr_inodes=0", "myisam-advisor-test"):
        (data / "linked").symlink_to(other)
        found = own_disks(data, os.geteuid())
    assert found == {"odd name": OwnDisk(1 << 20, 1 << 20, 49), "linked": OwnDisk(None, None, None)}


def test_a_disk_that_tells_no_size_leaves_it_unknown() -> None:
    sample = SchemaDisks({"a": OwnDisk(None, None, None)})
    assert "reports no size" in COLLECTOR.unknown_columns(sample)["schema_disk.free_bytes"].reason
    (block,) = COLLECTOR.facts(Pair(sample))
    assert list(block.rows) == [("a", None, None, None)]
    assert COLLECTOR.unknown_columns(SchemaDisks({"a": OwnDisk(1, 2, 3)})) == {}
