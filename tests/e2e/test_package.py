"""The Debian package installed, started, upgraded, removed and purged in a Debian with systemd and MariaDB.

Each test finds the service running, its account known and no drop-in, and leaves it so: any of them can be asked alone. What one needs besides is a fixture of its own, or `drop_in`.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.rights.drop_in import Wanted, drop_in_text
from myisam_exporter.version import __version__
from tests.e2e.debian import System, chrooted, in_chroot, small_debian
from tests.e2e.intrusion import DROP_INS, SECRETS, SERVICE, STATE, intrude
from tests.e2e.service import (
    capabilities,
    doctor,
    drop_account,
    drop_in,
    main_process,
    make_account,
    restart,
    rights,
    words_of_the_service,
)
from tests.support.daemon import free_port, wait_for
from tests.support.repository import ROOT

PROCESS_SERVICE, PROCESS_SOCKET_UNIT = "myisam-advisor-process.service", "myisam-advisor-process.socket"
PROCESS_SOCKET = "/run/myisam-advisor-process.sock"
TEXTFILE = "/var/lib/prometheus/node-exporter/myisam_advisor.prom"
RIGHTS_DROP_IN = f"/etc/systemd/system/{SERVICE}.d/rights.conf"
INSTALL = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "/advisor.deb")
FETCH = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:9942/metrics').read().decode())"


@pytest.fixture(scope="module")
def newer(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Debian package of the next version: to dpkg it is another one by its version alone."""
    folder = tmp_path_factory.mktemp("newer")
    tree, package = folder / "tree", folder / "newer.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", str(packages[".deb"]), str(tree)], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(control.read_text().replace(f"Version: {__version__}\n", f"Version: {__version__}+next\n", 1))
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", str(tree), str(package)], check=True, capture_output=True)
    return package


@pytest.fixture(scope="module")
def prepared(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Debian with what the package depends on, as apt found and fetched it: installing that takes ten times as long as the package itself."""
    with chrooted(tmp_path_factory.mktemp("prepared")) as root:
        shutil.copy(packages[".deb"], root / "advisor.deb")
        in_chroot(root, "sh", "-c", "apt-get update -qq && apt-get install -y -qq --no-install-recommends /advisor.deb sysbench && dpkg --purge myisam-advisor")
        yield root


def test_without_systemd_it_is_installed_started_upgraded_and_taken_away(prepared: Path, newer: Path, tmp_path: Path) -> None:
    with chrooted(tmp_path, prepared) as root:
        in_chroot(root, *INSTALL)
        assert in_chroot(root, "myisam-advisor", "--version").split()[-1] == __version__
        assert in_chroot(root, "id", "--user", "--name", "myisam-advisor") == "myisam-advisor\n"
        port = free_port()
        in_chroot(root, "install", "-d", "-o", "myisam-advisor", STATE)
        words = ["chroot", "--userspec=myisam-advisor", str(root), "myisam-advisor", "serve", "--web.listen-address", f"127.0.0.1:{port}", "--history", f"{STATE}/history.sqlite"]
        daemon = subprocess.Popen(words, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": STATE}, stderr=subprocess.DEVNULL)
        try:
            assert wait_for(lambda: "myisam_up 0.0" in in_chroot(root, "sh", "-c", f'python3 -c "{FETCH.replace("9942", str(port))}" || true'))
        finally:
            daemon.terminate()
            assert daemon.wait(10) == 0
        shutil.copy(newer, root / "newer.deb")
        in_chroot(root, "dpkg", "--install", "/newer.deb")
        assert in_chroot(root, "dpkg-query", "--show", "--showformat=${Version}", "myisam-advisor") == f"{__version__}+next"
        assert (root / STATE[1:] / "history.sqlite").exists()
        in_chroot(root, "dpkg", "--remove", "myisam-advisor")
        assert (root / STATE[1:] / "history.sqlite").exists()
        in_chroot(root, "dpkg", "--purge", "myisam-advisor")
        assert in_chroot(root, "find", "/etc", "/usr", "/var/lib", "/lib/systemd", "-xdev", "-not", "-path", "/var/lib/dpkg/*", "-name", "*myisam?advisor*") == ""


@pytest.fixture(scope="module")
def booted(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A Debian that was booted after the package was installed, whose server knows the account and has a table."""
    with small_debian(tmp_path_factory.mktemp("debian"), prepared) as debian:
        debian.run_at_rest(*INSTALL)
        debian.boot()
        debian.run("mariadb", text="CREATE DATABASE shop; CREATE TABLE shop.orders (a INT PRIMARY KEY) ENGINE=MyISAM; INSERT INTO shop.orders VALUES (1), (2);")
        make_account(debian)
        yield debian


@pytest.fixture
def system(booted: System) -> System:
    """The same for each test: the one of the package's end may have been before."""
    if not (booted.root / "usr/bin/myisam-advisor").exists():
        booted.run("dpkg", "--install", "/advisor.deb")
    return booted


@pytest.fixture
def without_account(system: System) -> Iterator[None]:
    """Its server does not know the account yet."""
    drop_account(system)
    yield
    drop_account(system)
    make_account(system)


@pytest.fixture
def with_files(system: System) -> Iterator[None]:
    """The service has files.conf."""
    with drop_in(system, "files", (system.root / DROP_INS[1:] / "files.conf").read_text()):
        yield
    system.run("systemctl", "stop", PROCESS_SOCKET_UNIT, PROCESS_SERVICE)


@pytest.mark.usefixtures("without_account")
def test_it_starts_before_the_account_is_there_and_says_so(system: System) -> None:
    assert system.run("systemctl", "is-enabled", SERVICE, "myisam-advisor.socket").split() == ["enabled", "enabled"]
    assert system.run("systemctl", "is-active", SERVICE, "myisam-advisor.socket").split() == ["active", "active"]
    assert "refused the user 'myisam-advisor'" in system.run("systemctl", "status", SERVICE)
    assert "sudo myisam-advisor rights" in system.run("systemctl", "show", "--property=StatusText", SERVICE)
    assert "myisam_up 0.0" in system.run("python3", "-c", FETCH)


@pytest.mark.usefixtures("without_account")
def test_the_rights_are_given_and_taken_in_one_command_each(system: System) -> None:
    """Before there is an account."""
    system.run("mariadb", text="CREATE DATABASE given; CREATE TABLE given.t (a INT PRIMARY KEY) ENGINE=MyISAM; INSERT INTO given.t VALUES (1), (2), (3);")
    assert "\nnot seen   server login " in rights(system, 1)
    assert system.attempt("ls", RIGHTS_DROP_IN).returncode != 0
    given = rights(system, 0, "--apply", "--yes")
    assert given.index("These changes will be made") < given.index("made the account: 3 statements") < given.index("Everything that exists here ")
    assert system.run("stat", "--format=%A %U", RIGHTS_DROP_IN) == "-rw-r--r-- root\n"
    exposed = system.run("python3", "-c", FETCH)
    assert 'myisam_table_rows{schema="given",table="t"} 3.0' in exposed
    assert " 0.0\n" not in "".join(f"{line}\n" for line in exposed.splitlines() if "_collector_success{" in line)
    assert capabilities(system, SERVICE) == 1 << 2
    assert "These changes will be made" not in rights(system, 0, "--apply", "--yes")
    taken = rights(system, 0, "--undo")
    assert f"removed {RIGHTS_DROP_IN}\nrestarted {SERVICE}\n" in taken
    less = json.loads(rights(system, 1, "--format", "json"))
    assert {sight["name"] for sight in less["sights"] if sight["state"] == "not seen"} == {"headers", "page-cache", "io", "maps", "fd", "disk"}
    assert capabilities(system, SERVICE) == 0
    assert system.attempt("systemctl", "is-active", PROCESS_SERVICE).stdout == "inactive\n"
    system.run("mariadb", text=f"DROP DATABASE given; {taken.rpartition(': ')[2]}")


@pytest.mark.usefixtures("without_account")
def test_a_drop_in_that_it_does_not_start_with_is_taken_back(system: System) -> None:
    broken = f"/etc/systemd/system/{SERVICE}.d/zz-broken.conf"
    system.run("install", "-D", "-m", "0644", "/dev/stdin", RIGHTS_DROP_IN, text="[Service]\nNice=11\n")
    system.run("tee", broken, text="[Service]\nExecStartPre=/usr/bin/test -e /etc/shadow\n")
    try:
        done = system.attempt("myisam-advisor", "rights", "--apply", "--yes")
        assert done.returncode == 2
        assert "the service runs as before. The account stays." in done.stderr
        assert system.run("cat", RIGHTS_DROP_IN) == "[Service]\nNice=11\n"
        assert system.run("systemctl", "show", "--property=Nice", "--value", SERVICE) == "11\n"
        assert system.attempt("systemctl", "is-active", PROCESS_SERVICE, PROCESS_SOCKET_UNIT).stdout.split() == ["inactive", "inactive"]
        assert "left alone" in system.attempt("myisam-advisor", "rights", "--undo").stderr
    finally:
        system.run("rm", RIGHTS_DROP_IN, broken)


def test_a_trial_runs_with_the_libraries_of_debian(system: System) -> None:
    """Its mysqlclient is the oldest one that private servers are asked by."""
    system.run("mariadb", text="CREATE DATABASE tried; CREATE TABLE tried.t (a INT PRIMARY KEY, b VARCHAR(20)) ENGINE=MyISAM; INSERT INTO tried.t SELECT seq, seq FROM mysql.seq_1_to_5000;")
    done = system.attempt("myisam-advisor", "trial", "row-format", "--table", "tried.t", "--no-keep", "--seconds", "0.05", "--rounds", "1")
    assert (done.returncode, "full scan" in done.stdout) == (0, True), done.stderr
    system.run("mariadb", text="DROP DATABASE tried")


@pytest.mark.usefixtures("without_account")
def test_the_printed_grants_are_enough(system: System) -> None:
    make_account(system)
    exposed = system.run("python3", "-c", FETCH)
    assert "myisam_up 1.0" in exposed
    assert "myisam_omitted_tables_rows" not in exposed
    told = doctor(system)
    assert DROP_INS + "/files.conf" in told
    assert "myi                 off" in told


def test_words_for_the_service_come_from_etc_default(system: System) -> None:
    with words_of_the_service(system, "--collect.interval 30s --log.format json"):
        restart(system, SERVICE)
        words = system.run("cat", f"/proc/{main_process(system)}/cmdline").split("\0")
        assert words[-5:-1] == ["--collect.interval", "30s", "--log.format", "json"]


def test_another_address_is_a_drop_in_of_the_sockets_and_no_word_of_the_services(system: System) -> None:
    """As docs/guide/fleet.md has it; whoever gives the word all the same is told in the log."""
    [text] = re.findall(r"```ini\n# /etc/systemd/system/myisam-advisor.socket.d/override.conf\n(.*?)```", (ROOT / "docs/guide/fleet.md").read_text("utf-8"), re.DOTALL)
    elsewhere = FETCH.replace("127.0.0.1", "127.0.0.2")
    with words_of_the_service(system, "--web.listen-address 127.0.0.2:9942"):
        restart(system, "myisam-advisor.socket", SERVICE)
        assert "Connection refused" in system.attempt("python3", "-c", elsewhere).stderr
        system.until("not listening on 127.0.0.2:9942: systemd opened the socket", "journalctl", "--unit", SERVICE, "--no-pager")
        with drop_in(system, "override", text, "myisam-advisor.socket", SERVICE):
            assert "myisam_up " in system.run("python3", "-c", elsewhere)


def test_debians_own_test_of_the_package_passes(system: System) -> None:
    shutil.copy(ROOT / "debian" / "tests" / "check", system.root / "own-test")
    system.run("sh", "/own-test")


def test_a_reload_and_a_kill(system: System) -> None:
    before = main_process(system)
    system.run("systemctl", "reload", SERVICE)
    assert main_process(system) == before
    restarts = ("systemctl", "show", "--property=NRestarts", SERVICE)
    count = int(system.run(*restarts).strip().partition("=")[2])
    system.run("systemctl", "kill", "--signal=KILL", SERVICE)
    system.until(f"NRestarts={count + 1}\n", *restarts)  # it counts as active until its end is noticed
    system.until("active\n", "systemctl", "is-active", SERVICE)
    assert main_process(system) != before


def test_a_stopped_daemon_is_replaced_by_the_watchdog(system: System) -> None:
    with drop_in(system, "watchdog", "[Service]\nWatchdogSec=3\nRestartSec=1\n"):
        system.run("systemctl", "kill", "--signal=STOP", SERVICE)
        system.until("Watchdog timeout", "journalctl", "--no-pager", "--unit", SERVICE)
        system.until("active\n", "systemctl", "is-active", SERVICE)


@pytest.mark.usefixtures("with_files")
def test_the_drop_in_brings_the_files(system: System) -> None:
    exposed = system.run("python3", "-c", FETCH)
    assert 'myisam_table_rows{schema="shop",table="orders"} 2.0' in exposed
    assert 'myisam_exporter_collector_success{collector="page_cache"} 1.0' in exposed
    # What the kernel tells tracers only, which the daemon is not: of a process beside it.
    for metric in ("read_calls_total", "storage_read_bytes_total", "mapped_data_files"):
        assert f"\nmyisam_mysqld_{metric} " in exposed
    assert 'collector_success{collector="mysqld_process"} 1.0' in exposed
    assert " 0.0\n" not in "".join(f"{line}\n" for line in exposed.splitlines() if "_collector_success{" in line)
    assert capabilities(system, SERVICE) == 1 << 2  # DAC_READ_SEARCH
    assert capabilities(system, PROCESS_SERVICE) == 1 << 2 | 1 << 19  # and SYS_PTRACE
    more = "+dac_read_search,+sys_ptrace"
    told = doctor(system, "--groups=mysql", f"--bounding-set={more}", f"--inh-caps={more}", f"--ambient-caps={more}")
    for collector in ("myi", "page_cache", "mysqld_process"):
        assert f"\n{collector:20}working" in told
    assert DROP_INS not in told


@pytest.mark.parametrize("profiles", [(), ("files",), ("files", "residency", "network")], ids="-".join)
def test_who_takes_the_daemon_over_gets_no_further(system: System, profiles: tuple[str, ...]) -> None:
    tried = intrude(system, *profiles)
    assert len(tried) > 3 * len(SECRETS)
    # It is the drop-in that is looked at: with it the tables can be seen.
    assert tried.pop("tables seen") == ("done" if profiles else "ENOENT")
    done = {attempt for attempt, outcome in tried.items() if outcome not in {"EACCES", "EPERM", "ENOENT", "EROFS", ""}}
    assert done == set()
    if profiles:
        assert {tried[f"{when} {secret}"] for when in ("first", "second") for secret in SECRETS} == {"ENOENT"}
        assert tried["tables written"] == "EROFS"
    # Of itself a process may do all of these: it is the filter that refuses.
    assert {outcome for attempt, outcome in tried.items() if attempt.startswith("own ")} == {"EPERM"}


@pytest.mark.usefixtures("with_files")
def test_the_daemon_alone_may_ask_about_processes(system: System) -> None:
    assert system.run("stat", "--format=%A %U", PROCESS_SOCKET) == "srw------- myisam-advisor\n"
    asking = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'maps 1\\n'); print(s.recv(99).decode())"
    asked = system.run("setpriv", "--reuid=myisam-advisor", "--clear-groups", "python3", "-c", asking, PROCESS_SOCKET)
    assert asked == "it is no database server\n\n"
    assert "PermissionError" in system.attempt("setpriv", "--reuid=mysql", "--clear-groups", "python3", "-c", asking, PROCESS_SOCKET).stderr


@pytest.mark.usefixtures("with_files")
def test_what_reads_processes_comes_and_goes_with_the_daemon(system: System) -> None:
    system.run("systemctl", "stop", SERVICE)
    assert system.attempt("systemctl", "is-active", PROCESS_SERVICE, PROCESS_SOCKET_UNIT).stdout.split() == ["inactive", "inactive"]
    assert system.attempt("ls", PROCESS_SOCKET).returncode != 0
    system.run("systemctl", "start", SERVICE)
    assert "\nmyisam_mysqld_read_calls_total " in system.run("python3", "-c", FETCH)


def test_a_server_that_is_started_anew_is_seen_again(system: System) -> None:
    """Its directory below /run and its socket are others then."""
    system.run("sh", "-c", "systemctl stop mariadb.socket mariadb.service && rm -rf /run/mysqld && systemd-tmpfiles --create mariadb.conf && systemctl start mariadb.service")
    system.until("myisam_up 1.0", "python3", "-c", FETCH)


@pytest.mark.usefixtures("with_files")
def test_a_data_directory_elsewhere_is_named_in_a_drop_in(system: System) -> None:
    system.run("sh", "-c", "systemctl stop mariadb.socket mariadb.service && mkdir -p /srv/db && mv /var/lib/mysql /srv/db/mysql")
    system.run("tee", "/etc/mysql/mariadb.conf.d/99-elsewhere.cnf", text="[mariadbd]\ndatadir=/srv/db/mysql\n")
    try:
        system.run("systemctl", "start", "mariadb.service")
        restart(system, SERVICE)
        system.until("myisam_up 1.0", "python3", "-c", FETCH)
        assert 'myisam_table_rows{schema="shop",table="orders"}' not in system.run("python3", "-c", FETCH)
        with drop_in(system, "zz-elsewhere", "[Service]\nBindReadOnlyPaths=/srv/db/mysql\n"):
            system.until('myisam_table_rows{schema="shop",table="orders"} 2.0', "python3", "-c", FETCH)
    finally:
        system.run("sh", "-c", "systemctl stop mariadb.service; rm /etc/mysql/mariadb.conf.d/99-elsewhere.cnf; mv /srv/db/mysql /var/lib/mysql; systemctl start mariadb.service")


def test_another_password_is_known_after_a_restart(system: System) -> None:
    def password(text: str) -> None:
        system.run("install", "-m", "0600", "/dev/null", "/etc/myisam-advisor/client.cnf")
        system.run("tee", "/etc/myisam-advisor/client.cnf", text=f"[client]\nuser=watcher\npassword={text}\n")
        system.run("mariadb", text=f"CREATE OR REPLACE USER watcher@localhost IDENTIFIED BY '{text}'; GRANT PROCESS ON *.* TO watcher@localhost;")

    password("one")
    with drop_in(system, "password", (system.root / DROP_INS[1:] / "password.conf").read_text()):
        assert "myisam_up 1.0" in system.run("python3", "-c", FETCH)
        password("two")
        restart(system, SERVICE)
        assert "myisam_up 1.0" in system.run("python3", "-c", FETCH)
    system.run("rm", "/etc/myisam-advisor/client.cnf")


def test_munin_asks_the_daemon_over_its_socket(system: System) -> None:
    system.run("systemctl", "enable", "myisam-advisor-munin.socket")
    try:
        restart(system, SERVICE)
        assert system.run("stat", "--format=%A %G", "/run/myisam-advisor-munin.sock") == "srw-rw---- munin\n"
        system.run("myisam-advisor", "munin", "install")
        system.run("systemctl", "restart", "munin-node")
        printed = system.attempt("munin-run", "myisam_advisor")
        assert "c_default_read_requests.value " in printed.stdout
        assert "c_default_read_requests.value U" not in printed.stdout
        assert printed.stderr == ""
    finally:
        system.run("systemctl", "disable", "--now", "myisam-advisor-munin.socket")
        restart(system, SERVICE)


def test_the_daily_check_leaves_its_advice_for_node_exporter(system: System) -> None:
    # A minute is too long for a test.
    command = next(line for line in (ROOT / "systemd" / "myisam-advisor-check.service").read_text().splitlines() if line.startswith("ExecStart="))
    interval = "/etc/systemd/system/myisam-advisor-check.service.d/interval.conf"
    system.run("install", "-D", "-m", "0644", "/dev/stdin", interval, text=f"[Service]\nExecStart=\n{command.replace('--interval 60s', '--interval 1s')}\n")
    system.run("systemctl", "daemon-reload")
    try:
        system.run("systemctl", "start", "myisam-advisor-check.service")
    finally:
        system.run("rm", interval)
    assert "myisam_advice_interval_seconds " in system.run("cat", TEXTFILE)
    exposed = system.run("python3", "-c", FETCH.replace("9942", "9100"))
    assert "myisam_advice_interval_seconds " in exposed
    assert "myisam_advice_findings{" in exposed or "myisam_advice_blind{" in exposed
    assert "node_textfile_scrape_error 0" in exposed


def test_the_shell_and_man_know_it(system: System) -> None:
    script = (
        "source /usr/share/bash-completion/completions/myisam-advisor; COMP_WORDS=(myisam-advisor explain key-buffer); COMP_CWORD=2; "
        '_myisam_advisor_completion myisam-advisor; echo "${COMPREPLY[@]}"'
    )
    assert system.run("bash", "-c", script).split() == ["key-buffer-too-large", "key-buffer-too-small"]
    listed = system.run("dpkg", "--listfiles", "myisam-advisor").split()
    for command in ("", "-check", "-serve", "-munin-install"):
        assert f"/usr/share/man/man1/myisam-advisor{command}.1.gz" in listed


def test_upgrade_remove_and_purge(system: System, newer: Path) -> None:
    system.run("systemctl", "enable", "myisam-advisor-munin.socket")
    restart(system, SERVICE)
    system.until("history.sqlite", "ls", STATE)
    history = system.run("stat", "--format=%i", f"{STATE}/history.sqlite")
    before = main_process(system)
    shutil.copy(newer, system.root / "newer.deb")
    system.run("dpkg", "--install", "/newer.deb")
    assert system.run("dpkg-query", "--show", "--showformat=${Version}", "myisam-advisor") == f"{__version__}+next"
    system.until("myisam_up 1.0", "python3", "-c", FETCH)
    assert main_process(system) != before
    assert system.run("systemctl", "is-active", "myisam-advisor.socket", "myisam-advisor-munin.socket").split() == ["active", "active"]
    assert system.run("stat", "--format=%i", f"{STATE}/history.sqlite") == history

    system.run("systemctl", "disable", "myisam-advisor-munin.socket")
    own = {"/etc/munin/plugins/myisam_advisor_own", "/etc/munin/plugin-conf.d/myisam-advisor-own"}
    system.run("sh", "-c", f"myisam-advisor munin install && myisam-advisor munin install --instance forum && touch {TEXTFILE} {' '.join(own)} && systemctl start --no-block myisam-advisor-check")  # a minute's
    system.run("dpkg", "--remove", "myisam-advisor")
    assert (system.attempt("systemctl", "is-active", "myisam-advisor-check.service").stdout, (system.root / TEXTFILE[1:]).exists()) == ("inactive\n", False)
    assert system.attempt("systemctl", "is-active", SERVICE).stdout == "inactive\n"
    assert not (system.root / "usr/bin/myisam-advisor").exists()
    assert (system.root / STATE[1:] / "history.sqlite").exists()

    folder = str(Path(RIGHTS_DROP_IN).parent)
    for text, name in ((drop_in_text(Wanted()), RIGHTS_DROP_IN), ("[Service]\nNice=11\n", f"{RIGHTS_DROP_IN}.kept")):
        system.run("install", "-D", "-m", "0644", "/dev/stdin", name, text=text)
    system.run("dpkg", "--purge", "myisam-advisor")
    assert not (system.root / STATE[1:]).exists()
    # What `rights` wrote goes, what it kept for somebody stays.
    assert system.run("ls", folder) == "rights.conf.kept\n"
    system.run("rm", "-r", folder)
    left = system.run("find", "/etc", "/usr", "/lib/systemd", "/run", "-xdev", "-name", "*myisam?advisor*").split()
    assert own <= set(left)
    # Folders of drop-ins of other tests.
    assert set(left) - own <= {f"/etc/systemd/system/{unit}.d" for unit in ("myisam-advisor.socket", "myisam-advisor-check.service")}
    assert system.run("systemctl", "list-units", "--failed", "--no-legend") == ""
