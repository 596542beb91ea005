"""A private server whose disk becomes full: it waits for room without end, and is ended, with the reason said."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.full_disks import PATIENCE_SECONDS, ROOM_BYTES
from myisam_advisor.trial.private.private_server import PrivateServer, PrivateServerError
from tests.support.mounts import mounted
from tests.support.servers import CopiedServer, binaries_of

SECONDS = 20
OF_A_SERVER = "size=300m,mode=0755"


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory with a short name that the servers' user may enter: a socket is in it."""
    directory = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    yield directory
    directory.rmdir()


def test_a_statement_that_finds_no_room_ends_and_the_reason_is_said(place: Path) -> None:
    with mounted(place, "-t", "tmpfs", "-o", OF_A_SERVER, "myisam-advisor-test"), CopiedServer(binaries_of("mariadb-10.11"), directory=place) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (a LONGBLOB) ENGINE=MyISAM")
        with (place / "others").open("wb", buffering=0) as others, pytest.raises(OSError, match="No space left"):
            while True:
                others.write(bytes(ROOM_BYTES))
        began = time.monotonic()
        with pytest.raises(driver().error):
            server.execute("INSERT INTO d.t VALUES (REPEAT('x', 1000000))")
        assert time.monotonic() - began < PATIENCE_SECONDS + SECONDS
        with pytest.raises(PrivateServerError, match=r"the disk of .* is full: the trial was given up\. Make room there"):
            server.expect_alive()


def test_a_server_that_cannot_start_as_its_disk_is_full_is_told_as_that(place: Path) -> None:
    with mounted(place, "-t", "tmpfs", "-o", OF_A_SERVER, "myisam-advisor-test"), CopiedServer(binaries_of("mariadb-10.11"), directory=place) as server:
        server.stop()
        with (place / "others").open("wb", buffering=0) as others, pytest.raises(OSError, match="No space left"):
            while True:
                others.write(bytes(ROOM_BYTES))
        with pytest.raises(PrivateServerError, match=r"the disk of .* is full: the trial was given up\. Make room there"):
            server.restart(["--innodb-data-file-path=ibdata1:12M;more:64M:autoextend"])


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-9.7"])
def test_a_server_that_makes_its_tables_on_a_full_disk_is_told_as_that(place: Path, name: str) -> None:
    with mounted(place, "-t", "tmpfs", "-o", "size=4m,mode=0755", "myisam-advisor-test"):
        began = time.monotonic()
        with pytest.raises(PrivateServerError, match=r"the disk of .* is full: the trial was given up\. Make room there"), PrivateServer(binaries_of(name), directory=place):
            pass
        assert time.monotonic() - began < PATIENCE_SECONDS + SECONDS
