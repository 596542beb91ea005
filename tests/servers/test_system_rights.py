"""What each right of the operating system brings: without it these facts are unknown, with the reason and the remedy, and all others stay."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from myisam_advisor.cli.examination import OR_ELSE
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.kernel.rights import FILES_DROP_IN
from tests.support.repository import ROOT

from .conftest import schema

READ_ANY_FILE, OWN_ANY_FILE, TRACE_ANY_PROCESS = 1 << 2, 1 << 3, 1 << 19  # CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_SYS_PTRACE: capability.h
PROCESS_FILES = {
    f"mysqld.{name}"
    for name in (
        "read_syscalls_per_second", "read_bytes_per_second", "disk_read_bytes_per_second", "page_cache_hit_ratio", "page_cache_accesses_per_second",
        "page_cache_misses_per_second", "page_cache_method",
    )
}  # fmt: skip
MAPS = {"mysqld.malloc", "mysqld.mapped_data_bytes", "mysqld.mapped_data_files"}
RESIDENCY = ("tables.data_", "tables.index_")
DISK = ("host.data_directory_", "host.temporary_directory_", "host.disk_")
ONLY_FROM_FILES = ("tables.", "indexes.", "totals.")


def seen(server: PrivateServer, group: bool, capabilities: int) -> Any:
    groups = str(server.data_directory.stat().st_gid) if group else ""
    words = [sys.executable, "-m", "tests.servers.lesser", str(server.socket), groups, str(capabilities)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def closed(flavour: PrivateServer) -> Iterator[PrivateServer]:
    """A server with a table in a database that is closed to others, as packages leave it."""
    server = flavour
    if os.geteuid() != 0:
        pytest.skip("only root can take rights away from itself")
    with schema(server, "closed") as name:
        # Tables that others left open leave no room to ask about any: collectors/sql_tables.py.
        server.execute("FLUSH TABLES", "CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", "SELECT * FROM t", database=name)
        assert (server.data_directory / name).stat().st_mode & 0o007 == 0
        yield server


def residency(server: PrivateServer) -> int:
    """MySQL 8.0 and later leave table files closed to the group's writing: residency.conf."""
    return 0 if (server.data_directory / "closed" / "t.MYI").stat().st_mode & 0o020 else OWN_ANY_FILE


@pytest.fixture(scope="module")
def whole(closed: PrivateServer) -> Any:
    """With all of profile B."""
    seen_by_all = seen(closed, True, READ_ANY_FILE | TRACE_ANY_PROCESS | residency(closed))
    assert FILES_DROP_IN not in seen_by_all["doctor"]
    assert {"tables.data_resident_bytes", "tables.crashed", "mysqld.read_syscalls_per_second", "mysqld.open_files"} <= set(seen_by_all["known"])
    return seen_by_all


def lost(less: Any, whole: Any) -> set[str]:
    """What is unknown now and was known, each with a reason, and a remedy that doctor prints."""
    gone = set(whole["known"]) - set(less["known"])
    for name in gone:
        reason, remedy = less["why"][name]
        assert reason != "not known here", name
        assert FILES_DROP_IN in remedy, (name, reason, remedy)
        # What mends one problem alone stands beside that problem, the right that mends several once.
        assert all(way in less["doctor"] for way in remedy.split(OR_ELSE)), remedy
    return gone


def test_without_ptrace(closed: PrivateServer, whole: Any) -> None:
    gone = lost(seen(closed, True, READ_ANY_FILE | residency(closed)), whole)
    assert gone == (PROCESS_FILES | MAPS) & set(whole["known"])


def test_without_reading_any_file(closed: PrivateServer, whole: Any) -> None:
    less = seen(closed, True, TRACE_ANY_PROCESS | residency(closed))
    gone = lost(less, whole)
    process = {name for name in gone if not name.startswith(ONLY_FROM_FILES)}
    assert process == (PROCESS_FILES | {"mysqld.open_files"}) & set(whole["known"])
    if (closed.data_directory / "closed").stat().st_mode & 0o010:
        assert gone == process  # MySQL 8.0 and later: the group may enter
        return
    assert {"tables.crashed", "tables.data_resident_bytes", "indexes.is_packed", "totals.myisam_tables"} <= gone
    # The sample by SQL steps in, and is not taken for the whole.
    assert {"tables.rows", "tables.data_bytes"} <= set(less["known"])


def test_without_the_servers_group(closed: PrivateServer, whole: Any) -> None:
    """Or, on MySQL, without what stands in for it."""
    gone = lost(seen(closed, False, READ_ANY_FILE | TRACE_ANY_PROCESS), whole)
    assert gone == {name for name in whole["known"] if name.startswith(RESIDENCY) and name.endswith(("resident_bytes", "dirty_bytes", "evicted_bytes"))}
    assert gone


def test_with_nothing(closed: PrivateServer, whole: Any) -> None:
    """Profile A."""
    gone = lost(seen(closed, False, 0), whole)
    assert {name for name in gone if not name.startswith((*ONLY_FROM_FILES, *DISK))} == (PROCESS_FILES | MAPS | {"mysqld.open_files"}) & set(whole["known"])
    assert {"tables.crashed", "totals.myisam_tables"} <= gone
    # What needs no right is there.
    assert not gone & {"mysqld.voluntary_context_switches_per_second", "status.value", "key_cache.size_bytes", "host.memory_bytes"}
