"""What is installed and run besides this tree is what was chosen: each version, by its bytes."""

import base64
import configparser
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.repository import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
EXTRAS = {"runtime": (), "demo": ("demo",), "fuzz": ("demo", "fuzz"), "test": ("demo", "test", "fuzz")}
# The one library that is built from source: not for a demonstration, nor for the fuzzer.
SOURCE, WITHOUT_SOURCE = "mysqlclient", ("demo", "fuzz")
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MACHINES = ("x86_64", "aarch64")
HASH = r"--hash=sha256:[0-9a-f]{64}"


def locked(lock: Path) -> list[tuple[Requirement, int]]:
    """The lines of a lock, each with the number of its hashes."""
    joined = lock.read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if not line.startswith("#")]
    return [(Requirement(re.sub(HASH, "", line).strip()), len(re.findall(HASH, line))) for line in lines]


def asked_for(extras: tuple[str, ...]) -> list[Requirement]:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    texts = [config["options"]["install_requires"], *(config["options.extras_require"][extra] for extra in extras)]
    return [Requirement(line) for text in texts for line in text.splitlines() if line and not line.startswith("#")]


def applies(marker: Marker | None, python: str, machine: str) -> bool:
    """Whether a marker is true for CPython on Linux."""
    there = {
        "python_version": python, "python_full_version": f"{python}.7", "platform_machine": machine, "sys_platform": "linux", "os_name": "posix",
        "platform_system": "Linux", "implementation_name": "cpython", "platform_python_implementation": "CPython",
    }  # fmt: skip
    return marker is None or marker.evaluate(there)


def test_there_is_a_lock_for_the_tests_for_users_for_builds_for_tools_and_for_the_site() -> None:
    assert [lock.stem for lock in LOCKS] == ["build", "demo", "docs", "fuzz", "runtime", "test", "tools"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_library_has_one_version_and_hashes_and_no_address(lock: Path) -> None:
    lines = locked(lock)
    assert lines
    for requirement, hashes in lines:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes >= 1, requirement
        assert requirement.url is None
    assert not re.search(r"://|^-", lock.read_text(), re.MULTILINE)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", sorted(EXTRAS))
def test_a_lock_has_one_fitting_version_of_everything_that_is_asked_for(name: str, python: str, machine: str) -> None:
    there = [requirement for requirement, _ in locked(ROOT / "requirements" / f"{name}.txt") if applies(requirement.marker, python, machine)]
    versions = {canonicalize_name(requirement.name): next(iter(requirement.specifier)).version for requirement in there}
    assert len(versions) == len(there)
    assert (SOURCE in versions) == (name not in WITHOUT_SOURCE)
    for requirement in asked_for(EXTRAS[name]):
        if applies(requirement.marker, python, machine) and (requirement.name != SOURCE or name not in WITHOUT_SOURCE):
            assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_one_extra_has_all_the_tiers() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert config["options.extras_require"]["dev"].strip() == f"{config['metadata']['name']}[{','.join(EXTRAS['test'])}]"


@pytest.mark.parametrize("name", ["build", "runtime", "demo", "fuzz"])
def test_the_other_locks_agree_with_the_one_that_the_tests_run_with(name: str) -> None:
    lines = {str(requirement) for requirement, _ in locked(ROOT / "requirements" / f"{name}.txt")}
    assert {line.partition(";")[0] for line in lines} <= {str(requirement).partition(";")[0] for requirement, _ in locked(ROOT / "requirements" / "test.txt")}


def test_what_runs_the_tests_is_what_is_locked() -> None:
    told = subprocess.run([sys.executable, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"], capture_output=True, text=True, check=True).stdout
    installed = {canonicalize_name(one["name"]): one["version"] for one in json.loads(told)}
    there = {canonicalize_name(one.name): next(iter(one.specifier)).version for one, _ in locked(ROOT / "requirements" / "test.txt") if one.marker is None or one.marker.evaluate()}
    assert {name: installed.get(name) for name in there} == there


@pytest.mark.parametrize("script", ["bootstrap", "lock", "audit", "docs"])
def test_no_script_has_pip_install_what_it_does_not_know_by_its_hash(script: str) -> None:
    lines = [line for line in (ROOT / "script" / script).read_text().splitlines() if "pip install" in line or '"${pip[@]}"' in line]
    assert lines
    for line in lines:
        assert "--require-hashes" in line or "--no-index" in line or line.strip().startswith("pip=("), line


# What npm would fetch: a registry cannot be made to lie, so npm is another program here.
NPM = """#!/bin/sh
cp "$TARBALL" "$PWD/axe-core.tgz"
"""


def tarball(path: Path) -> str:
    """A package of npm's; its SHA-512 in base64."""
    with tarfile.open(path, "w:gz") as archive:
        for name in ("axe.min.js", "LICENSE"):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"text"))
    return base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def fetch(tmp_path: Path, npm: str, script: str) -> subprocess.CompletedProcess[str]:
    """script/servers axe, as it is or changed, with this npm."""
    for name, text in (("npm", npm), ("servers", script)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MYISAM_ADVISOR_SERVERS": str(tmp_path / "cache"), "TARBALL": str(tmp_path / "axe-core.tgz")}
    return subprocess.run([str(tmp_path / "servers"), "axe"], env=environment, capture_output=True, text=True, check=False)


def test_a_package_of_other_bytes_is_not_unpacked(tmp_path: Path) -> None:
    script = (ROOT / "script" / "servers").read_text()
    got = tarball(tmp_path / "axe-core.tgz")
    done = fetch(tmp_path, NPM, script)
    assert done.returncode == 1
    assert f"axe-core@4.14.1 is not what it was: its SHA-512 is {got}, and was " in done.stderr
    assert list((tmp_path / "cache").iterdir()) == []

    changed = re.sub(r"(axe-core 4\.14\.1 )\S+", lambda found: found[1] + got, script)
    assert fetch(tmp_path, NPM, changed).returncode == 0
    assert sorted(path.name for path in (tmp_path / "cache" / "axe").iterdir()) == ["LICENSE", "axe.min.js", "complete", "versions"]
    assert (tmp_path / "cache" / "axe" / "versions").read_text() == f"axe-core 4.14.1 npm sha512:{got}\n"


def test_what_could_not_be_fetched_does_not_count_as_fetched(tmp_path: Path) -> None:
    done = fetch(tmp_path, "#!/bin/sh\nexit 1\n", (ROOT / "script" / "servers").read_text())
    assert done.returncode == 1
    assert "npm gave no axe-core@4.14.1" in done.stderr
    assert list((tmp_path / "cache").iterdir()) == []


def audited(tmp_path: Path, answer: object) -> subprocess.CompletedProcess[str]:
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    words = [sys.executable, str(ROOT / "script" / "audit_report.py"), "runtime.txt", str(tmp_path / "answer.json")]
    return subprocess.run(words, capture_output=True, text=True, check=False)


SOUND = {"name": "rich", "version": "15.0.0", "vulns": []}
BROKEN = {"name": "jinja2", "version": "3.1.6", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.7"]}]}
UNKNOWN = {"name": "psutil", "skip_reason": "Dependency not found on PyPI and could not be audited"}


def test_an_audit_tells_sound_from_not_asked(tmp_path: Path) -> None:
    sound = audited(tmp_path, {"dependencies": [SOUND]})
    assert (sound.returncode, sound.stdout, sound.stderr) == (0, "runtime.txt: 1 libraries, 0 known vulnerabilities\n", "")
    broken = audited(tmp_path, {"dependencies": [SOUND, BROKEN]})
    assert broken.returncode == 1
    assert "jinja2 3.1.6: PYSEC-1, mended in 3.1.7\n" in broken.stdout
    unanswered: tuple[object, ...] = ({"dependencies": [UNKNOWN]}, {"dependencies": [SOUND, UNKNOWN]}, {}, {"dependencies": []})
    for answer in unanswered:
        unasked = audited(tmp_path, answer)
        assert unasked.returncode == 2
        assert unasked.stdout == ""
        assert "the advisory database could not be asked" in unasked.stderr
    both = audited(tmp_path, {"dependencies": [UNKNOWN, BROKEN]})
    assert both.returncode == 2
    assert "PYSEC-1" in both.stdout


@pytest.mark.slow
def test_a_bill_of_materials_leaves_out_no_line_of_a_lock(tmp_path: Path) -> None:
    (tmp_path / "runtime.txt").write_text("rich==15.0.0 \\\n    --hash=sha256:" + 64 * "0" + "\nunpinned>=1\n")
    wheel = tmp_path / "a_b-1.0-py3-none-any.whl"
    wheel.write_bytes(b"")
    done = subprocess.run([sys.executable, str(ROOT / "script" / "sbom.py"), str(tmp_path / "runtime.txt"), str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "not every line names a version and hashes" in done.stderr
    assert not wheel.with_name(f"{wheel.name}.cdx.json").exists()
