"""Databases with file systems of their own below one data directory: what is judged, planned and foretold of their tables goes by the space there."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.mounts import mounted
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look

MEBIBYTE = 1 << 20
DISK = ("-t", "tmpfs", "-o", f"size={64 * MEBIBYTE},nr_inodes=250,mode=0777", "myisam-advisor-test")
FILLED = (
    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(200)) ENGINE=MyISAM", "INSERT INTO t (a) SELECT 'short' FROM seq_1_to_60000", "UPDATE t SET a = REPEAT('x', 100)",
    "UPDATE t SET a = REPEAT('x', 190)", "FLUSH TABLES",
)  # fmt: skip


@pytest.fixture(scope="module")
def spread() -> Iterator[PrivateServer]:
    """A server with a database on a disk of its own, by a mount; one on another, by a link; and one beside the rest."""
    place, linked = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp")), Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    try:
        with CopiedServer(binaries_of("mariadb-10.11"), directory=place) as running, mounted(linked, *DISK):
            running.execute("CREATE DATABASE mounted", "CREATE DATABASE beside")
            owner = running.data_directory.stat()
            os.chown(linked, owner.st_uid, owner.st_gid)
            (running.data_directory / "linked").symlink_to(linked)
            with mounted(running.data_directory / "mounted", *DISK):
                os.chown(running.data_directory / "mounted", owner.st_uid, owner.st_gid)
                for name in ("mounted", "linked", "beside"):
                    running.execute(*FILLED, database=name)
                yield running
                running.stop()
    finally:
        shutil.rmtree(place, ignore_errors=True)
        linked.rmdir()


@contextmanager
def filled(directory: Path, left: int) -> Iterator[None]:
    """That disk with little left."""
    status = os.statvfs(directory)
    with (directory / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, status.f_bavail * status.f_frsize - left)
    try:
        yield
    finally:
        (directory / "filler").unlink()


def judged(server: PrivateServer) -> list[Finding]:
    return list(judge(prepared(complete(look(server)), Site(shipped_rules()))).findings)


def test_the_databases_on_disks_of_their_own_are_told_with_their_space(spread: PrivateServer) -> None:
    rows = {str(row["schema_name"]): row for row in look(spread).tables["schema_disk"].dictionaries()}
    assert sorted(rows) == ["linked", "mounted"]
    for name, row in rows.items():
        status = os.statvfs(spread.data_directory / name)
        assert (row["free_bytes"], row["total_bytes"]) == (status.f_bavail * status.f_frsize, 64 * MEBIBYTE)


def test_a_rebuild_is_refused_where_its_own_disk_is_short_and_nowhere_else(spread: PrivateServer) -> None:
    """The data directory has room for all of them; a table of the linked database finds none beside it."""
    with filled(spread.data_directory / "linked", 64 << 10):
        found = judged(spread)
        advice = {one.object: " ".join(one.refused) for one in found if one.rule == "fragmented-table"}
        assert "OPTIMIZE TABLE yet" in advice["linked.t"]
        assert "OPTIMIZE TABLE yet" not in advice["beside.t"]
        (full,) = [one for one in found if one.rule == "disk-nearly-full"]
        assert (full.object, full.severity) == ("database linked", "critical")


@contextmanager
def without_inodes(directory: Path) -> Iterator[None]:
    """That disk with room for bytes, and for no further file."""
    made = []
    for number in range(os.statvfs(directory).f_favail):
        made.append(directory / f"filler{number}")
        made[-1].touch()
    try:
        yield
    finally:
        for path in made:
            path.unlink()


def test_a_rebuild_is_refused_where_no_file_can_be_made(spread: PrivateServer) -> None:
    with without_inodes(spread.data_directory / "linked"):
        found = judged(spread)
        advice = {one.object: " ".join(one.refused) for one in found if one.rule == "fragmented-table"}
        assert "room for 0 more" in advice["linked.t"]
        (full,) = [one for one in found if one.rule == "disk-nearly-full"]
        assert (full.object, full.severity) == ("database linked", "critical")
        # What was refused would have done harm.
        spread.execute("OPTIMIZE TABLE t", database="linked")
        assert "linked.t" in {one.object for one in judged(spread) if one.rule == "table-crashed"}
    spread.execute("REPAIR TABLE t", database="linked")


@pytest.mark.parametrize("name", ["linked", "mounted"])
def test_a_migration_says_where_no_room_is(spread: PrivateServer, name: str) -> None:
    with filled(spread.data_directory / name, 64 << 10):
        done = run("migrate", "--to", "innodb", "-S", str(spread.socket), "-u", "root", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    tables = {f"{table['schema_name']}.{table['table_name']}": [change["id"] for change in table["changes"]] for table in json.loads(done.stdout)["tables"]}
    assert {table for table, changes in tables.items() if "disk-full" in changes} == {f"{name}.t"}
