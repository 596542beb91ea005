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
def test_a_start_never_takes_for_ever(path: Path) -> None:
    """Type=oneshot has no limit of its own, all others have systemd's 90 s."""
    told = dict(settings(path))
    assert told.get("Type") != "oneshot" or told["TimeoutStartSec"] == "12min"
    assert told.get("TimeoutStartSec") != "infinity"
