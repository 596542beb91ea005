"""A server that may use less of its machine than there is."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.mounts import mounted
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, on_one_server

QUOTA_GROUPS = Path("/sys/fs/cgroup/cpu")


def usable(server: PrivateServer) -> object:
    return look(server).single("mysqld")["usable_cpu_count"]


@contextmanager
def half_a_processor(pid: int) -> Iterator[None]:
    """A control group with a quota, which the process is in."""
    if not os.access(QUOTA_GROUPS / "cpu.cfs_quota_us", os.W_OK):
        pytest.skip("no quota of the first version can be set here")
    group = QUOTA_GROUPS / f"myisam-advisor-test-{pid}"
    group.mkdir()
    try:
        (group / "cpu.cfs_quota_us").write_text("50000")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (QUOTA_GROUPS / "cgroup.procs").write_text(str(pid))
        group.rmdir()


@on_one_server
def test_a_server_that_is_bound_to_one_processor_may_use_one(server: PrivateServer) -> None:
    """As taskset and cpusets do."""
    before = os.sched_getaffinity(server.pid)
    assert usable(server) == len(before)
    os.sched_setaffinity(server.pid, {min(before)})
    try:
        assert usable(server) == 1
    finally:
        os.sched_setaffinity(server.pid, before)


@on_one_server
def test_a_quota_limits_it_whatever_it_is_bound_to(server: PrivateServer) -> None:
    """As docker --cpus and CPUQuota= do; on a machine whose groups are of the second version the unit tests alone see it."""
    with half_a_processor(server.pid):
        assert usable(server) == 0.5


def test_a_data_directory_on_a_file_system_without_a_size_is_not_full() -> None:
    """tmpfs with size=0 may take all of memory, and tells zeros."""
    place = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    try:
        with mounted(place, "-t", "tmpfs", "-o", "size=0,mode=0755", "myisam-advisor-test"), CopiedServer(binaries_of("mariadb-10.11"), directory=place) as running:
            facts = look(running)
            assert facts.single("host")["data_directory_free_bytes"] is None
            assert "reports no size" in facts.unknown["host.data_directory_free_bytes"].reason
            assert "disk-nearly-full" not in {finding.rule for finding in judge(prepared(complete(facts), Site(shipped_rules()))).findings}
    finally:
        place.rmdir()
