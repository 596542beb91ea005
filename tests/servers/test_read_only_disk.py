"""A disk that fails below a running server: ext4 turns its file system to read only. The server goes on reading, or InnoDB ends it."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.mounts import mounted
from tests.support.program import run
from tests.support.servers import binaries_of

from .test_full_disk import PatientServer

RULE = "data-directory-read-only"
IMAGE_BYTES = 700 << 20
ENDED_SECONDS = 60.0


@pytest.fixture
def on_ext4(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[PrivateServer, Path]]:
    """A server of this name and with these options on an ext4 of its own, and the file that provokes an error there (Documentation/ABI/testing/sysfs-fs-ext4)."""
    name, options = request.param
    make = shutil.which("mkfs.ext4", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if make is None:
        pytest.skip("mkfs.ext4 is not installed")
    image, place = tmp_path / "image", Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    image.touch()
    os.truncate(image, IMAGE_BYTES)
    subprocess.run([make, "-q", image], check=True)
    try:
        with mounted(place, "-o", "loop,errors=remount-ro", str(image)):
            place.chmod(0o755)
            device = place.stat().st_dev
            disk = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").readlink().name
            server = PatientServer(binaries_of(name), [*options, "--tmpdir=/tmp"], directory=place)
            server.error_log = Path("/dev/null")  # on that disk it could not be written, and the server would end
            with server:
                yield server, Path(f"/sys/fs/ext4/{disk}/trigger_fs_error")
    finally:
        place.rmdir()


@pytest.mark.parametrize("on_ext4", [("mariadb-10.11", ("--innodb=OFF", "--default-storage-engine=MyISAM"))], indirect=True, ids=["without InnoDB"])
def test_a_disk_that_failed_below_a_server_is_critical(on_ext4: tuple[PrivateServer, Path]) -> None:
    """Every write failed, and nothing was found wrong."""
    server, trigger = on_ext4
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
    words = ("check", "--interval", "0", "--socket", server.socket, "--user", "root", RULE)
    before = run(*words)
    assert before.returncode == 0, before.stdout
    trigger.write_text("provoked by a test")
    told = run(*words)
    assert told.returncode == 1
    assert "CRITICAL" in told.stdout
    assert "Nobody can write to the file system of the data directory" in " ".join(told.stdout.split())
    assert server.execute("SELECT a FROM d.t") == [(1,)]
    with pytest.raises(driver().error, match="corrupt"):  # as the rule says, and nothing is
        server.execute("INSERT INTO d.t VALUES (2)")


@pytest.mark.parametrize("on_ext4", [("mysql-9.7", ())], indirect=True, ids=["with InnoDB"])
def test_with_innodb_the_server_soon_ends(on_ext4: tuple[PrivateServer, Path]) -> None:
    server, trigger = on_ext4
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT) ENGINE=MyISAM")
    trigger.write_text("provoked by a test")
    ended = time.monotonic() + ENDED_SECONDS
    while server.answers():
        assert time.monotonic() < ended
        time.sleep(0.1)
