"""The image: what it is, and what it sees beside a server in another container, on a host, and of a remote server; with a read-only root, as no root."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.e2e.containers import Container, Start, container, needs_containers, unpacked
from tests.e2e.munin import root_of
from tests.e2e.packages import copy_of_the_tree, package
from tests.support.daemon import free_port, wait_for
from tests.support.repository import ROOT
from tests.support.servers import CopiedServer, binaries_of
from tests.support.thoroughness import thorough_only
from tools.image.root import USER_NUMBER

MAXIMUM_BYTES = 150 << 20
OPTIONS = "[client]\nuser=myisam-advisor\npassword=secret\n"
PAGE = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:9942/metrics', timeout=20).read().decode())"
# Without iproute2: the loopback interface of a network of its own, and an address on it that is no loopback's.
ADDRESS = "10.99.0.1"
INTERFACE = """
import fcntl, socket, struct
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def name(text): return text.encode().ljust(16, b"\\0")
fcntl.ioctl(asking, 0x8914, name("lo") + struct.pack("h", 0x1 | 0x40) + bytes(14))
fcntl.ioctl(asking, 0x8916, name("lo:1") + struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("ADDRESS")))
""".replace("ADDRESS", ADDRESS)
SCHEMA = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.orders (id INT PRIMARY KEY, note VARCHAR(200)) ENGINE=MyISAM",
    "INSERT INTO shop.orders SELECT seq, REPEAT('x', 150) FROM shop.seq_1_to_20000",
    "SELECT COUNT(note) FROM shop.orders",
)
ACCOUNT = tuple(
    f"{statement} 'myisam-advisor'@'{host}'{way}"
    for host in ("localhost", "%")
    for statement, way in (("CREATE USER", " IDENTIFIED BY 'secret'"), ("GRANT PROCESS ON *.* TO", ""), ("GRANT SELECT ON performance_schema.* TO", ""))
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What script/package image makes, by how it ends: of a tree elsewhere, without a repository."""
    needs_containers()
    out = tmp_path_factory.mktemp("image")
    package(copy_of_the_tree(tmp_path_factory.mktemp("elsewhere") / "tree"), out, "image")
    return {path.suffix: path for path in out.iterdir()}


@pytest.fixture(scope="module")
def image(built: dict[str, Path]) -> Iterator[Path]:
    """The bundle, where any user may go."""
    with TemporaryDirectory(prefix="image-") as folder:
        Path(folder).chmod(0o755)
        yield unpacked(built[".tar"], Path(folder))


def test_it_is_small(built: dict[str, Path], image: Path) -> None:
    unpacked_bytes = sum(path.lstat().st_size for path in image.rglob("rootfs/**/*"))
    print(f"image: {built['.tar'].stat().st_size / 1e6:.1f} MB packed, {unpacked_bytes / 1e6:.1f} MB unpacked")
    assert built[".tar"].stat().st_size < unpacked_bytes < MAXIMUM_BYTES


def test_its_debian_package_is_the_one_that_is_built_of_this_checkout(built: dict[str, Path], packages: dict[str, Path]) -> None:
    """In another place, from a tree without a repository, at another time of day."""
    assert built[".deb"].read_bytes() == packages[".deb"].read_bytes()


@thorough_only
def test_two_builds_have_the_same_digest(built: dict[str, Path], tmp_path: Path) -> None:
    """Of the same package; elsewhere, and later."""
    with tarfile.open(built[".tar"]) as archive:
        seconds = archive.getmember("index.json").mtime
    again = tmp_path / "again.tar"
    words = [sys.executable, "-m", "tools.image.build", str(built[".deb"]), str(again)]
    subprocess.run(words, cwd=ROOT, env={**os.environ, "SOURCE_DATE_EPOCH": f"{seconds:.0f}"}, check=True)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(built[".tar"].read_bytes()).digest()


def test_it_has_a_user_of_its_own_no_shell_and_says_what_it_is(image: Path) -> None:
    config = json.loads((image / "config.json").read_text())
    assert config["process"]["user"] == {"uid": USER_NUMBER, "gid": USER_NUMBER}
    assert config["process"]["args"] == ["/usr/bin/myisam-advisor", "serve", "--web.listen-address", ":9942"]
    assert config["annotations"]["org.opencontainers.image.licenses"] == "GPL-3.0-or-later"
    root = image / "rootfs"
    assert {path.name for path in (root / "usr/bin").iterdir()} == {"myisam-advisor", "python3", "python3.11"}
    assert not [path for path in root.rglob("*") if path.lstat().st_mode & 0o6000 and not path.is_symlink()]
    # Each package's licence, and what scanners of vulnerabilities read.
    described = {path.name for path in (root / "var/lib/dpkg/status.d").iterdir()}
    assert {"libc6", "libssl3", "python3.11", "myisam-advisor"} <= described
    assert (root / "usr/share/doc/libc6/copyright").exists()


@dataclass
class Server:
    """A server, and what of it can be mounted and shared; `pid` is its process on this machine."""

    pid: int
    user: tuple[int, int]
    sockets: tuple[Path, str]
    data: tuple[Path, str]
    options: Path

    def start(self, **given: Any) -> Start:
        """All that is needed to see everything."""
        mounts = [(*self.sockets, "ro"), (*self.data, "ro"), (self.options, "/etc/mysql/my.cnf", "ro")]
        return replace(Start(user=self.user, mounts=mounts, pid=self.pid), **given)


def fill(socket: Path) -> None:
    words = ["mariadb", "--no-defaults", "--user=root", f"--socket={socket}", "--execute", ";".join((*SCHEMA, *ACCOUNT))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@contextmanager
def option_file(place: Path, socket: str) -> Iterator[Path]:
    path = place / "client.cnf"
    path.write_text(f"{OPTIONS}socket={socket}\n")
    path.chmod(0o644)
    yield path


@pytest.fixture(scope="module")
def contained(image: Path) -> Iterator[Server]:
    """MariaDB in a container of its own: its first process, its own network, its files on two volumes."""
    debian = root_of("debian") / "root"
    user = next(line.split(":")[2:4] for line in (debian / "etc/passwd").read_text().splitlines() if line.startswith("mysql:"))
    owner = (int(user[0]), int(user[1]))
    with TemporaryDirectory(prefix="volumes-") as name, option_file(Path(name), "/run/mysqld/mysqld.sock") as options:
        place = Path(name)
        place.chmod(0o755)
        for volume in ("data", "run", "run/mysqld", "bundle"):
            (place / volume).mkdir()
            os.chown(place / volume, *owner)
        volumes = [(place / "data", "/var/lib/mysql", "rw"), (place / "run", "/run", "rw")]
        plain = ["--no-defaults", "--datadir=/var/lib/mysql"]
        install = [*plain, "--auth-root-authentication-method=socket", "--auth-root-socket-user=root"]
        with container(bundle_of(image, debian, "/usr/bin/mariadb-install-db", place), Start(install, owner, volumes)) as installing:
            done = installing.run()
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        words = [*plain, "--socket=/run/mysqld/mysqld.sock", "--pid-file=/run/mysqld/mysqld.pid", "--innodb-buffer-pool-size=16M", "--performance-schema=ON"]
        with container(bundle_of(image, debian, "/usr/sbin/mariadbd", place), Start(words, owner, volumes)) as server:
            server.start()
            assert wait_for((place / "run/mysqld/mysqld.sock").exists, 120), server.log
            with_loopback(server)
            fill(place / "run/mysqld/mysqld.sock")
            yield Server(server.pid, owner, (place / "run/mysqld", "/run/mysqld"), (place / "data", "/var/lib/mysql"), options)


def bundle_of(image: Path, root: Path, program: str, place: Path) -> Path:
    """A bundle of another root, as umoci makes them: all but the program is the same."""
    config = json.loads((image / "config.json").read_text())
    config["root"]["path"] = str(root)
    config["process"]["args"], config["process"]["env"] = [program], ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    config["mounts"] = [mount for mount in config["mounts"] if not mount["destination"].startswith("/var/lib")]
    config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]})
    (place / "bundle" / "config.json").write_text(json.dumps(config))
    return place / "bundle"


@pytest.fixture(scope="module")
def on_host() -> Iterator[Server]:
    """A server that is a process of this machine."""
    with CopiedServer(binaries_of("mariadb-10.11")) as server, TemporaryDirectory(prefix="options-") as name, option_file(Path(name), str(server.socket)) as options:
        Path(name).chmod(0o755)
        server.execute(*SCHEMA[:3], *ACCOUNT)
        owner = server.data_directory.stat()
        yield Server(server.pid, (owner.st_uid, owner.st_gid), (server.directory, str(server.directory)), (server.data_directory, str(server.data_directory)), options)


def doctor(image: Path, start: Start) -> dict[str, Any]:
    with container(image, replace(start, words=["doctor", "--format", "json"])) as running:
        done = running.run()
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    return {source["name"]: source for source in json.loads(done.stdout)["sources"]}


def remedies(sources: dict[str, Any]) -> str:
    return "\n".join(problem["remedy"] for source in sources.values() for problem in source["problems"])


def check(image: Path, start: Start) -> str:
    """The report in full; whatever was found, it ends as one."""
    with container(image, replace(start, words=["check", "--interval", "2", *start.words])) as running:
        done = running.run()
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert done.stderr == ""
    return " ".join(done.stdout.split())


def refused(image: Path, start: Start, *words: str) -> str:
    """The one message of a command that ends with status 2."""
    with container(image, replace(start, words=words)) as running:
        done = running.run()
    assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def with_loopback(running: Container) -> None:
    """What a container engine does for a network of its own."""
    assert wait_for(lambda: running.pid > 0, 60), running.log
    subprocess.run(["nsenter", f"--net=/proc/{running.pid}/ns/net", sys.executable, "-c", INTERFACE], check=True)


def page(running: Container) -> str:
    """Its metrics, asked within its own network; "" while it does not answer."""
    done = subprocess.run(["nsenter", f"--net=/proc/{running.pid}/ns/net", sys.executable, "-c", PAGE], capture_output=True, text=True, check=False)
    return done.stdout


@contextmanager
def serving(image: Path, start: Start) -> Iterator[tuple[Container, str]]:
    """The daemon, until it has looked twice: with the image's own words, and a shorter interval."""
    with container(image, replace(start, words=[*SERVE, *start.words])) as running:
        running.start()
        with_loopback(running)
        assert wait_for(lambda: "myisam_advice_interval_seconds" in page(running), 150, 1), running.log
        yield running, page(running)


def value(text: str, series: str) -> float | None:
    return next((float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"{series} ")), None)


SERVE = ("serve", "--web.listen-address", ":9942", "--collect.interval", "1s")
RESIDENT = 'myisam_table_page_cache_resident_bytes{file="data",schema="shop",table="orders"}'
DATA_BYTES = 'myisam_table_data_bytes{schema="shop",table="orders"}'


def everything_is_seen(image: Path, start: Start) -> None:
    """Files, page cache and process, by both ways to ask."""
    report = check(image, start)
    assert "1 MyISAM table (3.1 MiB data" in report
    assert not any(words in report for words in ("could not be verified", "does not exist here", "cannot be read", "--pid"))
    with serving(image, start) as (running, told):
        data_bytes, resident = value(told, DATA_BYTES), value(told, RESIDENT)
        assert data_bytes is not None
        # Just written and read: what the page cache holds is whole pages.
        assert resident is not None
        assert data_bytes <= resident < data_bytes + 4096
        assert (value(told, "myisam_mysqld_read_calls_total") or 0) > 0
        # Asked to end it ends, though it is the first process of its container.
        assert running.stop() == 0


def only_counters_are_seen(image: Path, start: Start) -> None:
    """By a connection alone, whose words follow the command; what is not known is absent."""
    with serving(image, start) as (_, told):
        assert value(told, "myisam_up") == 1
        assert "myisam_key_cache_read_requests_total" in told
        assert value(told, RESIDENT) is None
        assert value(told, "myisam_mysqld_read_calls_total") is None


def test_beside_a_server_in_another_container(image: Path, contained: Server) -> None:
    everything_is_seen(image, contained.start())


def test_on_the_host_of_a_server(image: Path, on_host: Server) -> None:
    everything_is_seen(image, on_host.start(pid="host"))


def test_on_the_host_of_a_server_in_a_container(image: Path, contained: Server) -> None:
    """Whose pid file names it by its number in there."""
    everything_is_seen(image, contained.start(pid="host"))


def test_for_a_remote_server(image: Path, contained: Server) -> None:
    """By TCP, at an address that is none of a loopback interface: nothing is mounted but the password."""
    options = (contained.options.with_name("remote.cnf"), "/etc/mysql/my.cnf", "ro")
    options[0].write_text(f"{OPTIONS}host={ADDRESS}\n")
    start = Start(mounts=[options], network=contained.pid)
    assert "would travel to another host without TLS" in refused(image, start, "check", "--interval", "2")
    report = check(image, replace(start, words=["--allow-cleartext"]))
    assert "the server is on another host" in report
    only_counters_are_seen(image, replace(start, words=["--allow-cleartext"]))


def test_without_the_servers_socket_the_mount_is_named(image: Path) -> None:
    for words in (["check", "--interval", "0"], ["doctor"], ["top", "--once"]):
        said = refused(image, Start(), *words)
        assert "the socket /run/mysqld/mysqld.sock does not exist" in said
        assert "-v /run/mysqld:/run/mysqld" in said


def test_a_socket_where_this_user_may_not_go_says_as_whom(image: Path, contained: Server) -> None:
    contained.sockets[0].chmod(0o700)
    try:
        said = refused(image, contained.start(user=None), "check", "--interval", "0")
    finally:
        contained.sockets[0].chmod(0o755)
    assert "Permission denied" in said
    assert "--user NUMBER:GROUP" in said


def test_without_the_data_directory_the_mount_is_named(image: Path, contained: Server) -> None:
    start = contained.start()
    start = replace(start, mounts=[mount for mount in start.mounts if mount[1] != "/var/lib/mysql"])
    sources = doctor(image, start)
    assert sources["mysqld_process"]["state"] == "working"
    assert sources["page_cache"]["state"] == "off"
    assert "-v /var/lib/mysql:/var/lib/mysql:ro" in remedies(sources)
    assert "-v /var/lib/mysql:/var/lib/mysql:ro" in check(image, start)


def test_without_shared_process_numbers_the_flag_is_named(image: Path, contained: Server) -> None:
    """The server's pid file says 1, which is this program here."""
    sources = doctor(image, contained.start(pid=""))
    assert sources["mysqld_process"]["state"] == "off"
    assert "process 1 (from /run/mysqld/mysqld.pid) is myisam-advisor here" in json.dumps(sources)
    assert "--pid=container:NAME" in remedies(sources)
    assert "--pid=container:NAME" in check(image, contained.start(pid=""))
    only_counters_are_seen(image, contained.start(pid=""))


@pytest.mark.parametrize("user", [None, (54321, 54321)], ids=["its own", "no user that it knows"])
def test_as_another_user_than_the_servers_it_says_as_whom(image: Path, contained: Server, user: tuple[int, int] | None) -> None:
    sources = doctor(image, contained.start(user=user))
    assert sources["status"]["state"] == "working"
    assert "--user NUMBER:GROUP" in remedies(sources)
    assert "systemd" not in remedies(sources)
    only_counters = contained.start(user=user)
    with serving(image, only_counters) as (running, told):
        assert value(told, RESIDENT) is None
        assert running.stop() == 0


def test_a_history_that_cannot_be_kept_names_the_volume(image: Path) -> None:
    closed = image.parent / "closed"
    closed.mkdir(exist_ok=True)
    said = refused(image, Start(mounts=[(closed, "/var/lib/myisam-advisor", "ro")]), "serve", "--web.listen-address", f"127.0.0.1:{free_port()}")
    assert "the history cannot be kept" in said
    assert "-v NAME:/var/lib/myisam-advisor" in said


def test_by_itself_it_serves_and_says_that_there_is_no_server(image: Path) -> None:
    """The image's own words, without anything mounted."""
    with container(image, Start()) as running:
        running.start()
        with_loopback(running)
        assert wait_for(lambda: "myisam_up 0.0" in page(running), 60, 0.5), running.log
        assert "-v /run/mysqld:/run/mysqld" in running.log
        assert running.stop() == 0
