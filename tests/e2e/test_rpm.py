"""The RPM: built twice, held against the Debian package, unpacked and run. Installing it wants a Fedora, which cannot be had here."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from myisam_exporter.version import __version__
from tests.e2e import packages as built
from tests.support.repository import ROOT
from tests.support.thoroughness import thorough_only

MODULES = "/usr/lib/myisam-advisor"
# What lies elsewhere in the one than in the other, and what only one of them has.
MOVED = (
    ("/usr/lib/python3/dist-packages/", f"{MODULES}/"),
    ("/lib/systemd/", "/usr/lib/systemd/"),
    ("/usr/share/zsh/vendor-completions/", "/usr/share/zsh/site-functions/"),
    ("/etc/default/", "/etc/sysconfig/"),
    ("/usr/share/doc/myisam-advisor/copyright", "LICENSE"),
    ("/usr/share/doc/myisam-advisor/changelog", "/usr/share/doc/myisam-advisor/CHANGELOG.md"),
)
OF_DEBIAN_ALONE = re.compile(r".*\.egg-info/.*|.*\.dist-info/.*|.*/changelog\.Debian\.gz|/usr/share/lintian/.*")
FACTS = "schema: 1\ntables: [{schema_name: s, table_name: t, crashed: 1}]\n"


def rpm_in(out: Path) -> Path:
    """The package, which has its bill of materials beside it and nothing else."""
    package, bill = sorted(out.iterdir(), key=lambda path: len(path.name))
    assert (package.name, bill.name) == (f"myisam-advisor-{__version__}-1.noarch.rpm", f"{package.name}.cdx.json")
    return package


@pytest.fixture(scope="module")
def package() -> Path:
    """What `script/package rpm` makes of this tree."""
    if shutil.which("rpmbuild") is None:
        pytest.skip("rpm is not installed")
    return rpm_in(built.once("rpm", lambda out: built.package(ROOT, out, "rpm")))


def told(package: Path, *words: str) -> list[str]:
    """What rpm says of it, line by line."""
    return subprocess.run(["rpm", "--query", "--nosignature", "--package", *words, str(package)], capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    content = subprocess.run(["rpm2cpio", str(package)], capture_output=True, check=True).stdout
    subprocess.run(["cpio", "--extract", "--make-directories", "--quiet", "--no-absolute-filenames"], cwd=folder, input=content, check=True)
    return folder


def moved(name: str) -> str:
    """A name in the Debian package as the RPM has it."""
    found = next((new + name[len(old) :] for old, new in MOVED if name.startswith(old)), name)
    return found.removesuffix(".gz")


@thorough_only
def test_two_builds_are_the_same(package: Path, tmp_path: Path) -> None:
    """The second one in another place, from a tree without a repository, at another time of day."""
    built.package(built.copy_of_the_tree(tmp_path / "elsewhere"), tmp_path / "again", "rpm")
    again = rpm_in(tmp_path / "again")
    assert package.read_bytes() == again.read_bytes()
    bills = [path.with_name(f"{path.name}.cdx.json").read_bytes() for path in (package, again)]
    assert bills[0] == bills[1]


def test_it_holds_what_the_debian_package_does(package: Path, packages: dict[str, Path], unpacked: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", str(packages[".deb"]), str(tmp_path / "there")], check=True)

    def listed(root: Path) -> set[str]:
        return {f"/{path.relative_to(root)}" for path in root.rglob("*") if not path.is_dir() and not OF_DEBIAN_ALONE.fullmatch(f"/{path.relative_to(root)}")}

    theirs = {moved(name) for name in listed(tmp_path / "there")}
    ours = {"LICENSE" if "/licenses/" in name else name.removesuffix(".gz") for name in listed(unpacked)}
    assert sorted(ours ^ theirs) == []
    assert {name.split("/")[4] for name in ours if name.startswith(f"{MODULES}/")} == {"myisam_exporter", "myisam_advisor"}
    # As whom, and how, the files lie there; what an administrator writes is kept.
    assert {line.split()[0] for line in told(package, "--queryformat", "[%{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\\n]")} == {"root:root"}
    assert told(package, "--configfiles") == ["/etc/sysconfig/myisam-advisor"]
    assert not [path for path in unpacked.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o022]


def test_the_service_finds_its_words_and_its_user(package: Path, unpacked: Path) -> None:
    unit = (unpacked / "usr/lib/systemd/system/myisam-advisor.service").read_text()
    assert "EnvironmentFile=-/etc/sysconfig/myisam-advisor\n" in unit
    assert "/etc/default" not in unit
    assert 'ARGS=""' in (unpacked / "etc/sysconfig/myisam-advisor").read_text()
    account = next(line for line in (unpacked / "usr/lib/sysusers.d/myisam-advisor.conf").read_text().splitlines() if line.startswith("u "))
    scripts = told(package, "--scripts")
    assert account in scripts
    for name in ("PREIN", "POSTIN", "PREUN", "POSTUN", "POSTTRANS"):
        script = "\n".join(told(package, "--queryformat", f"%{{{name}}}"))
        assert subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False).stderr == "", name


def test_it_requires_what_setup_cfg_names_by_the_names_of_fedora(package: Path) -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    wanted = {}
    for line in filter(None, config["options"]["install_requires"].split("\n")):
        one = Requirement(line)
        (least,) = one.specifier
        wanted[canonicalize_name(one.name)] = Version(least.version)
    found = {}
    for line in told(package, "--requires"):
        if one_of_python := re.fullmatch(r"python3dist\((.+)\) >= (.+)", line.strip()):
            found[one_of_python[1]] = Version(one_of_python[2])
    assert found == wanted
    assert f"python3 {config['options']['python_requires'].replace('>=', '>= ')}" in told(package, "--requires")
    bill = json.loads(package.with_name(f"{package.name}.cdx.json").read_text())
    assert {part["name"] for part in bill["components"]} == {*wanted, "python3"}
    assert bill["metadata"]["component"]["version"] == f"{__version__}-1"


def test_unpacked_it_runs_on_its_own_modules(unpacked: Path, tmp_path: Path) -> None:
    """With this checkout's libraries, and none of its modules."""
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    program = unpacked / "usr/bin/myisam-advisor"
    assert program.read_text().startswith("#!/usr/bin/python3 -s\n")

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-s", str(program), *words], cwd="/", env=clean, capture_output=True, text=True, check=False)

    assert ran("--version").stdout.split()[-1] == __version__
    facts = tmp_path / "facts.yaml"
    facts.write_text(FACTS)
    judged = ran("check", "--facts", str(facts), "--format", "json")
    assert (judged.returncode, judged.stderr) == (1, "")
    assert [finding["rule"] for finding in json.loads(judged.stdout)["findings"]] == ["table-crashed"]
    own = unpacked / "usr/lib/myisam-advisor/myisam_advisor"
    loaded = subprocess.run([sys.executable, "-s", "-v", str(program), "--version"], cwd="/", env=clean, capture_output=True, text=True, check=False).stderr
    assert str(own) in loaded
    assert str(ROOT / "advisor" / "myisam_advisor") not in loaded


def test_who_looks_as_the_service_finds_its_modules(unpacked: Path, tmp_path: Path) -> None:
    """`rights` starts the program anew, by a Python that looks in no such place. This one knows the checkout, so its own tells which it is."""
    modules = tmp_path / "modules"
    shutil.copytree(f"{unpacked}{MODULES}", modules)
    with (modules / "myisam_advisor/cli/main.py").open("a") as file:
        file.write("\n\ndef main() -> None:\n    print('{\"error\": \"of the package\"}')\n")
    looking = "import os, sys; sys.path.insert(0, sys.argv[1]); from myisam_advisor.rights.looking import Identity, look_as; "
    looking += "print(look_as(Identity(os.geteuid(), os.getegid(), (), ()), [], None)['error'])"
    done = subprocess.run([sys.executable, "-s", "-c", looking, str(modules)], cwd="/", env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("of the package\n", "")


def test_what_reads_processes_finds_its_modules(unpacked: Path) -> None:
    """As its unit starts it, without what systemd would hand over."""
    unit = (unpacked / "usr/lib/systemd/system/myisam-advisor-process.service").read_text()
    words = shlex.split(re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)[0].replace(MODULES, f"{unpacked}{MODULES}"))
    assert words[:2] == ["/usr/bin/python3", "-I"]
    # The system's own Python, which knows nothing of this checkout.
    done = subprocess.run(words, cwd="/", env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "process_reader: systemd starts this, by myisam-advisor-process.socket\n")


def test_the_versions_agree() -> None:
    spec = (ROOT / "rpm" / "myisam-advisor.spec").read_text()
    assert re.search(r"^Version: +(\S+)$", spec, re.MULTILINE).group(1) == __version__  # type: ignore[union-attr]
    assert f"- {__version__}-1\n" in spec.partition("%changelog\n")[2].partition("\n")[0] + "\n"
