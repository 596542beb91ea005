"""Databases on file systems of their own; on a recorded machine there are none."""

import os
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from myisam_exporter.collectors import schema_disks
from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.schema_disks import COLLECTOR, OwnDisk, SchemaDisks, own_disks
from myisam_exporter.collectors.server import location_of
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import read_root
from myisam_exporter.outside.clock import CLOCK
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


class Looks:
    """Looks at a data directory one after another, as a daemon's; counts how often all databases were gone through."""

    def __init__(self, look: RecordedLook, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.look, self.directory = look, directory
        self.listed = Mock(side_effect=read_root)
        self.proc = Path("/proc")
        self.last: object = None
        monkeypatch.setattr(schema_disks, "read_root", self.listed)

    def settle(self) -> None:
        """As if the last entry had come a minute ago."""
        moment = time.time() - 60
        os.utime(self.directory, (moment, moment))

    def own(self) -> set[str]:
        context = self.look.machine.context()
        context.proc, context.clock = self.proc, CLOCK
        located = replace(self.look.sample("server"), location=replace(location_of(self.look.sample("server")), data_directory=self.directory, owner=os.geteuid()))
        context.samples = {"server": located}
        context.before = {"schema_disks": self.last} if self.last else {}
        found = self.last = COLLECTOR.collect(context)
        assert isinstance(found, SchemaDisks)
        return set(found.own)


def test_while_nothing_was_mounted_and_no_entry_came_only_those_that_lie_elsewhere_are_looked_at(look: RecordedLook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / "beside").mkdir(parents=True)
    (tmp_path / "data" / "mounted").mkdir()
    (tmp_path / "data" / "later").mkdir()
    looks = Looks(look, tmp_path / "data", monkeypatch)
    assert [looks.own(), looks.own()] == [set(), set()]
    assert looks.listed.call_count == 2  # an entry came less than two seconds ago
    looks.settle()
    with mounted(tmp_path / "data" / "mounted", "-t", "tmpfs", "myisam-advisor-test"):
        assert [looks.own() for _ in range(3)] == [{"mounted"}] * 3
        assert looks.listed.call_count == 3
        with mounted(tmp_path / "data" / "later", "-t", "tmpfs", "myisam-advisor-test"):
            assert looks.own() == {"mounted", "later"}
        assert looks.own() == {"mounted"}
        assert looks.listed.call_count == 5
    (tmp_path / "data" / "new").mkdir()
    assert looks.own() == set()
    assert looks.listed.call_count == 6


def test_where_a_link_may_lead_elsewhere_or_no_mounts_are_told_all_are_looked_at_each_time(look: RecordedLook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    looks = Looks(look, tmp_path / "data", monkeypatch)
    looks.settle()
    looks.proc = tmp_path
    assert [looks.own(), looks.own()] == [set(), set()]
    assert looks.listed.call_count == 2
    looks.proc = Path("/proc")
    (tmp_path / "data" / "linked").symlink_to(tmp_path / "other")
    looks.settle()
    assert looks.own() == set()
    (tmp_path / "other").mkdir()
    with mounted(tmp_path / "other", "-t", "tmpfs", "myisam-advisor-test"):
        assert [looks.own(), looks.own()] == [{"linked"}, {"linked"}]
    assert looks.listed.call_count == 5


def test_a_disk_that_tells_no_size_leaves_it_unknown() -> None:
    sample = SchemaDisks({"a": OwnDisk(None, None, None)})
    assert "reports no size" in COLLECTOR.unknown_columns(sample)["schema_disk.free_bytes"].reason
    (block,) = COLLECTOR.facts(Pair(sample))
    assert list(block.rows) == [("a", None, None, None)]
    assert COLLECTOR.unknown_columns(SchemaDisks({"a": OwnDisk(1, 2, 3)})) == {}
