"""The units as systemd itself reads them: no fault in them, and how far they are closed."""

import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "systemd"
PROFILES = UNITS / "profiles"


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
            (tmp_path / path.name).write_text(path.read_text().replace("/usr/bin/myisam-advisor", "/bin/true"))
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


@pytest.mark.parametrize(("profiles", "limit"), [((), 10), (("password",), 10), (("files",), 15), (("files", "residency"), 15)])
def test_little_is_exposed(units: Path, profiles: tuple[str, ...], limit: int) -> None:
    """`limit` in tenths: 1.0 without rights of its own, 1.5 with those that read table files."""
    with_profiles(units, *profiles)
    done = analyze("security", "--offline=yes", f"--threshold={limit}", "./myisam-advisor.service", cwd=units)
    assert done.returncode == 0, done.stdout.splitlines()[-1]


def test_the_check_exposes_little_either(units: Path) -> None:
    done = analyze("security", "--offline=yes", "--threshold=10", "./myisam-advisor-check.service", cwd=units)
    assert done.returncode == 0, done.stdout.splitlines()[-1]


def test_a_fault_would_be_found(units: Path) -> None:
    with (units / "myisam-advisor.service").open("a") as unit:
        unit.write("[Service]\nProtectSytem=strict\nSystemCallFilter=chachestat\n")
    done = analyze("verify", "--man=no", "./myisam-advisor.service", cwd=units)
    assert "ProtectSytem" in done.stderr
    assert "chachestat" in done.stderr


def test_no_unit_runs_as_the_servers_own_user() -> None:
    for path in UNITS.glob("*.service"):
        assert "User=myisam-advisor\n" in path.read_text()
