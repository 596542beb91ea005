"""A disk that fails below a running server: ext4 turns its file system to read only, and the server goes on reading."""

import os
import shutil
import subprocess
import tempfile
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
IMAGE_BYTES = 256 << 20


@pytest.fixture
def on_ext4(tmp_path: Path) -> Iterator[tuple[PrivateServer, Path]]:
    """A MariaDB on an ext4 of its own, and the file that provokes an error there (Documentation/ABI/testing/sysfs-fs-ext4)."""
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
            name = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").readlink().name
            server = PatientServer(binaries_of("mariadb-10.11"), ["--innodb=OFF", "--default-storage-engine=MyISAM", "--tmpdir=/tmp"], directory=place)  # InnoDB ends the server at its next write
            server.error_log = Path("/dev/null")  # on that disk it could not be written, and the server would end
            with server:
                yield server, Path(f"/sys/fs/ext4/{name}/trigger_fs_error")
    finally:
        place.rmdir()


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
