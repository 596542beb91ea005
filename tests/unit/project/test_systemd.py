"""The units as systemd itself reads them: no fault in them, and how far they are closed. What that keeps out: tests/e2e/test_package.py."""

import shutil
import subprocess
from pathlib import Path

import pytest

from myisam_advisor.rights.drop_in import NAME, Wanted, drop_in_text
from tests.support.repository import ROOT

UNITS = ROOT / "systemd"
PROFILES = UNITS / "profiles"
SERVICES = sorted(UNITS.glob("*.service"))
ONLY_HERE = "myisam-advisor-process.service"


def analyze(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with a program that is there, since systemd looks."""
    for path in UNITS.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_text(path.read_text().replace("/usr/bin/myisam-advisor", "/bin/true").replace("/usr/bin/python3", "/bin/true"))
    return tmp_path


def with_profiles(units: Path, *names: str) -> None:
    folder = units / "myisam-advisor.service.d"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.conf").write_text((PROFILES / f"{name}.conf").read_text().replace("/usr/bin/myisam-advisor", "/bin/true"))


@pytest.mark.parametrize("profiles", [(), ("files",), ("password",), ("network",), ("files", "residency"), ("files", "network", "password", "residency")])
def test_systemd_finds_no_fault(units: Path, profiles: tuple[str, ...]) -> None:
    with_profiles(units, *profiles)
    names = sorted(path.name for path in units.iterdir() if path.is_file())
    done = analyze("verify", "--man=no", "--recursive-errors=no", *(f"./{name}" for name in names), cwd=units)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize(("profiles", "limit"), [((), 7), (("password",), 7), (("files",), 10), (("files", "residency"), 10)])
def test_little_is_exposed(units: Path, profiles: tuple[str, ...], limit: int) -> None:
    """`limit` in tenths: 0.7 without rights of its own, 1.0 with those that read table files."""
    with_profiles(units, *profiles)
    done = analyze("security", "--offline=yes", f"--threshold={limit}", "./myisam-advisor.service", cwd=units)
    assert done.returncode == 0, done.stdout.splitlines()[-1]


@pytest.mark.parametrize("wanted", [Wanted(), Wanted("dba", Path("/srv/db/mysql"), True), Wanted("1234", Path("/srv/@x+y=z,1.0"))])
def test_what_rights_writes_is_as_good(units: Path, wanted: Wanted) -> None:
    with_profiles(units)
    (units / "myisam-advisor.service.d" / NAME).write_text(drop_in_text(wanted))
    done = analyze("verify", "--man=no", "--recursive-errors=no", "./myisam-advisor.service", cwd=units)
    assert (done.returncode, done.stderr) == (0, "")
    done = analyze("security", "--offline=yes", "--threshold=10", "./myisam-advisor.service", cwd=units)
    assert done.returncode == 0, done.stdout.splitlines()[-1]


@pytest.mark.parametrize(("name", "limit"), [("myisam-advisor-check.service", 7), (ONLY_HERE, 11)])
def test_the_other_services_expose_little_either(units: Path, name: str, limit: int) -> None:
    done = analyze("security", "--offline=yes", f"--threshold={limit}", f"./{name}", cwd=units)
    assert done.returncode == 0, done.stdout.splitlines()[-1]


def test_a_fault_would_be_found(units: Path) -> None:
    with (units / "myisam-advisor.service").open("a") as unit:
        unit.write("[Service]\nProtectSytem=strict\nSystemCallFilter=chachestat\n")
    done = analyze("verify", "--man=no", "./myisam-advisor.service", cwd=units)
    assert "ProtectSytem" in done.stderr
    assert "chachestat" in done.stderr


def settings(path: Path) -> list[tuple[str, str]]:
    """Each assignment of a unit."""
    lines = path.read_text().splitlines()
    return [(name, value) for name, found, value in (line.partition("=") for line in lines) if found and not line_is_comment(name)]


def line_is_comment(line: str) -> bool:
    return line.startswith(("#", ";"))


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_no_unit_runs_as_root_or_as_the_servers_own_user(path: Path) -> None:
    assert ({("User", "myisam-advisor"), ("DynamicUser", "yes")} & set(settings(path))) != set()


@pytest.mark.parametrize("path", [*SERVICES, *sorted(PROFILES.glob("*.conf"))], ids=lambda path: path.name)
def test_only_the_process_that_does_nothing_else_may_look_into_others(path: Path) -> None:
    granted = {word for name, value in settings(path) if name in ("CapabilityBoundingSet", "AmbientCapabilities") for word in value.split()}
    assert ("CAP_SYS_PTRACE" in granted) == (path.name == ONLY_HERE)
    assert granted <= {"CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER"}


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_no_service_runs_what_its_user_left_in_its_home(path: Path) -> None:
    """The user's own packages (PEP 370): the state directory is the home, and can be written."""
    text = path.read_text("utf-8")
    assert "Environment=PYTHONNOUSERSITE=1\n" in text or "ExecStart=/usr/bin/python3 -I " in text


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_a_start_never_takes_for_ever(path: Path) -> None:
    """Type=oneshot has no limit of its own, all others have systemd's 90 s."""
    told = dict(settings(path))
    assert told.get("Type") != "oneshot" or told["TimeoutStartSec"] == "12min"
    assert told.get("TimeoutStartSec") != "infinity"


def test_the_service_is_not_started_anew_for_ever() -> None:
    """A configuration that was refused is the same five seconds later: all starts that are allowed must fall within the interval, or there is no limit."""
    told = dict(settings(UNITS / "myisam-advisor.service"))
    assert told["Restart"] == "on-failure"
    assert int(told["StartLimitBurst"]) * int(told["RestartSec"]) < int(told["StartLimitIntervalSec"]) / 2


def taken_by_root(runtime: Path, node_exporter: Path) -> int:
    """What root does after the check, in other directories: one command after the other, until one fails; its status."""
    unit = UNITS / "myisam-advisor-check.service"
    commands = [value.removeprefix("+") for name, value in settings(unit) if name == "ExecStartPost"]
    assert len(commands) >= 2
    status = 0
    for command in commands:
        words = command.replace("${RUNTIME_DIRECTORY}", str(runtime)).replace("/var/lib/prometheus/node-exporter", str(node_exporter)).split()
        status = subprocess.run(words, capture_output=True, check=False).returncode
        if status:
            break
    return status


def test_root_puts_the_advice_in_place(tmp_path: Path) -> None:
    runtime, node_exporter = tmp_path / "run", tmp_path / "node-exporter"
    runtime.mkdir()
    node_exporter.mkdir()
    for words in ("first 1\n", "second 2\n"):
        (runtime / "myisam_advisor.prom").write_text(words)
        assert taken_by_root(runtime, node_exporter) == 0
        assert [(path.name, path.read_text()) for path in node_exporter.iterdir()] == [("myisam_advisor.prom", words)]


@pytest.mark.parametrize("stop", ["/proc", "a directory", "a file", "/dev/zero", "nothing"])
def test_root_follows_no_link_of_a_service_that_was_taken_over(tmp_path: Path, stop: str) -> None:
    """Three runs were enough: a link to /proc made mv fail, the next was left behind by it, and cp wrote through that."""
    runtime, node_exporter, roots_own, elsewhere = tmp_path / "run", tmp_path / "node-exporter", tmp_path / "passwd", tmp_path / "elsewhere"
    for directory in (runtime, node_exporter, elsewhere):
        directory.mkdir()
    roots_own.write_text("root's\n")
    left = runtime / "myisam_advisor.prom"
    places = {"a directory": str(elsewhere), "a file": str(roots_own)}
    for target in (places.get(stop, stop), str(roots_own), str(elsewhere), None):
        left.unlink(missing_ok=True)
        if target is None:
            left.write_text("attacker::0:0::/:/bin/sh\n")
        else:
            left.symlink_to(target)
        assert (taken_by_root(runtime, node_exporter) == 0) == (target is None)
        shown = node_exporter / "myisam_advisor.prom"
        assert not shown.is_symlink()
    assert roots_own.read_text() == "root's\n"
    assert list(elsewhere.iterdir()) == []
    assert shown.read_text().startswith("attacker"), "what it says of itself is its own affair"
