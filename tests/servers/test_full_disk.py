"""A server whose data directory lies on a disk that is full: what of a damaged table's remedies is left, and that what was refused would have hung."""

import os
import subprocess
import tempfile
import threading
import time
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
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.tables import RepairTable
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.myi_header import CHANGED_CRASHED
from myisam_exporter.files.schema_reader import YOUNG_SECONDS
from tests.support.compressed_tables import make_compressed_table
from tests.support.mounts import mounted
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, schema

DISK_MEGABYTES = 192
LEFT_BYTES = 64 << 10
STATE_CHANGED_POSITION = 26
SCHEMA = "full"


class PatientServer(CopiedServer):
    """A server as users have it: nobody ends it while its disk is full."""

    waits_for_room = True


@pytest.fixture(scope="module")
def cramped() -> Iterator[PrivateServer]:
    """A MariaDB on a file system of its own."""
    place = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    try:
        with (
            mounted(place, "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=0755", "myisam-advisor-test"),
            PatientServer(binaries_of("mariadb-10.11"), ["--myisam-recover-options=OFF"], directory=place) as running,
        ):
            yield running
    finally:
        place.rmdir()


@contextmanager
def full(server: PrivateServer) -> Iterator[Path]:
    """The disk with next to nothing free; whoever removes the file makes room."""
    filler = server.directory / "filler"
    free = os.statvfs(server.directory)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - LEFT_BYTES)
    try:
        yield filler
    finally:
        filler.unlink(missing_ok=True)


def damaged(server: PrivateServer) -> dict[str, Finding]:
    """What table-crashed says, by table."""
    facts = complete(look(server))
    assert PlanFacts(facts).all.single("host")["data_directory_free_bytes"] is not None
    found = {finding.object: finding for finding in judge(prepared(facts, Site(shipped_rules()))).findings if finding.rule == "table-crashed"}
    return {name.removeprefix(f"{SCHEMA}."): finding for name, finding in found.items()}


def repairs(finding: Finding) -> list[str]:
    return [one.sql for one in finding.remedy.commands if isinstance(one, RepairTable)]


def plan(server: PrivateServer) -> str:
    done = run("plan", "--socket", server.socket, "--user", "root", "--interval", "0", "--format", "sql")
    assert done.returncode == 0, done.stderr
    return done.stdout


def mark_crashed(path: Path) -> None:
    header = bytearray(path.read_bytes())
    header[STATE_CHANGED_POSITION] |= CHANGED_CRASHED
    path.write_bytes(header)


def grown(server: PrivateServer, name: str) -> None:
    """A table of some megabytes with the mark that it is crashed."""
    table = f"{SCHEMA}.{name}"
    server.execute(
        f"CREATE TABLE {table} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, note CHAR(200) NOT NULL) ENGINE=MyISAM", f"INSERT INTO {table} (note) VALUES ('a')",
        *[f"INSERT INTO {table} (note) SELECT note FROM {table}"] * 14, f"FLUSH TABLES {table}",
    )  # fmt: skip
    mark_crashed(server.data_directory / SCHEMA / f"{name}.MYI")


def test_no_repair_where_the_disk_has_no_room_for_it(cramped: PrivateServer) -> None:
    with schema(cramped, SCHEMA):
        grown(cramped, "broken")
        (with_room,) = damaged(cramped).values()
        assert repairs(with_room) == [f"REPAIR TABLE `{SCHEMA}`.`broken`;"]
        assert "REPAIR TABLE" in plan(cramped)
        with full(cramped) as filler:
            (finding,) = damaged(cramped).values()
            assert repairs(finding) == []
            assert "No REPAIR TABLE yet: it writes about" in finding.recommendation
            assert "Make room first" in finding.recommendation
            assert "myisamchk -r" in finding.recommendation
            # A copy in the file system that is full would be the next thing to fail.
            assert not any(isinstance(one, ShellLine) and str(cramped.directory) in one.split()[-1] for one in finding.commands)
            script = plan(cramped)
            assert "REPAIR TABLE `" not in script
            told = " ".join(script.replace("\n--", " ").split())
            assert "LEFT OUT: No REPAIR TABLE yet: it writes about" in told
            assert "Make room first" in told
            waits(cramped, filler)
        assert damaged(cramped) == {}


def waits(server: PrivateServer, filler: Path) -> None:
    """What was refused stands still with the table locked, until somebody makes room."""
    repair = threading.Thread(target=server.execute, args=(f"REPAIR TABLE {SCHEMA}.broken",))
    repair.start()
    try:
        repair.join(3)
        assert repair.is_alive()
        assert "Disk" in server.error_log.read_text("utf-8", "replace")
    finally:
        filler.unlink()
        repair.join(90)
    assert not repair.is_alive()
    time.sleep(YOUNG_SECONDS)


def test_a_compressed_table_is_never_repaired_in_the_server_and_an_unknown_one_not_from_its_definition(cramped: PrivateServer) -> None:
    with schema(cramped, SCHEMA) as name:
        folder = cramped.data_directory / name
        for table in ("packed", "headless"):
            make_compressed_table(cramped, cramped.binaries, name, table)
        if (folder / "packed.MYD").read_bytes()[:3] != b"\xfe\xfe\x08":
            pytest.skip("this server came without myisampack")
        mark_crashed(folder / "packed.MYI")
        with (folder / "headless.MYI").open("r+b") as header:
            header.truncate(10)
        time.sleep(YOUNG_SECONDS + 0.1)
        for disk_is_full in (False, True):
            with full(cramped) if disk_is_full else schema(cramped, "nothing"):
                found = damaged(cramped)
                script = plan(cramped)
            assert set(found) == {"packed", "headless"}
            assert repairs(found["packed"]) == repairs(found["headless"]) == []
            assert "repaired with the server stopped, by myisamchk -r" in found["packed"].recommendation
            assert "No REPAIR TABLE ... USE_FRM yet" in found["headless"].recommendation
            assert "fe fe 08" in found["headless"].recommendation
            assert "REPAIR TABLE `" not in script
            assert "myisamchk -r" in script
        # The hint leads to the truth.
        shown = subprocess.run(["od", "-An", "-tx1", "-N3", str(folder / "headless.MYD")], capture_output=True, text=True, check=True).stdout
        assert shown.split() == ["fe", "fe", "08"]
