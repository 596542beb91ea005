"""What script/package builds: the same twice, whole, with its bills of materials; a wheel in a fresh environment knows every rule."""

import configparser
import email
import hashlib
import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from myisam_exporter.version import __version__
from tests.e2e.packages import BILLS, ENDINGS, SNAPSHOTTER, by_ending, copy_of_the_tree, package
from tests.support.repository import ROOT
from tests.support.thoroughness import thorough_only


def test_the_versions_agree() -> None:
    assert (ROOT / "debian" / "changelog").read_text().startswith(f"myisam-advisor ({__version__}) ")


@thorough_only
def test_two_builds_are_the_same(packages: dict[str, Path], tmp_path: Path) -> None:
    """The second one in another place, from a tree without a repository, at another time of day. Of the .deb test_image.py has a second one too."""
    package(copy_of_the_tree(tmp_path / "elsewhere"), tmp_path / "again")
    again = by_ending(tmp_path / "again")
    assert set(again) == set(packages) == set(ENDINGS)
    for suffix, path in packages.items():
        assert path.read_bytes() == again[suffix].read_bytes(), suffix


def test_the_file_for_old_hosts_is_in_the_package_as_it_is_beside_it(packages: dict[str, Path], tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", str(packages[".deb"]), str(tmp_path)], check=True)
    shipped = tmp_path / "usr" / "share" / "myisam-advisor" / SNAPSHOTTER
    # Debian's own Python made the one, this checkout's the other: from 3.11 on both write the same.
    if sys.version_info >= (3, 11):
        assert shipped.read_bytes() == packages[SNAPSHOTTER].read_bytes()
    for path in (shipped, packages[SNAPSHOTTER]):
        assert subprocess.run([str(path), "--version"], capture_output=True, text=True, check=True).stdout == f"{SNAPSHOTTER} {__version__}\n"


def test_a_bill_of_materials_names_the_package_and_all_it_brings(packages: dict[str, Path]) -> None:
    wheel, package = (json.loads(packages[bill].read_text()) for bill in BILLS)
    for bill, file in ((wheel, packages[".whl"]), (package, packages[".deb"])):
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
        assert bill["metadata"]["component"]["version"] == __version__
        assert bill["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    direct = {canonicalize_name(Requirement(line).name) for line in config["options"]["install_requires"].split("\n") if line}
    assert direct <= {part["name"] for part in wheel["components"]}
    assert all(part["version"] and part["hashes"] for part in wheel["components"])
    depends = subprocess.run(["dpkg-deb", "--field", str(packages[".deb"]), "Depends"], capture_output=True, text=True, check=True).stdout
    assert {part["name"] for part in package["components"]} == {one.split()[0].partition(":")[0] for one in depends.split(", ")}


@pytest.fixture(scope="module")
def installed(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(environment)
    python = environment / "bin" / "python"
    # The dependencies come from this environment: what is tested is our own wheel.
    libraries = next(Path(sys.prefix).glob("lib/python3.*/site-packages"))
    (next(environment.glob("lib/python3.*/site-packages")) / "dependencies.pth").write_text(f"{libraries}\n")
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(packages[".whl"])], check=True)
    return environment


def test_a_wheel_holds_what_users_run_and_nothing_else(packages: dict[str, Path]) -> None:
    """No benchmarks, demonstration, tools or tests, which only makers run."""
    own = f"myisam_advisor-{__version__}"
    with zipfile.ZipFile(packages[".whl"]) as file:
        assert {name.split("/")[0] for name in file.namelist()} == {"myisam_exporter", "myisam_advisor", f"{own}.data", f"{own}.dist-info"}
        # Rules of Prometheus's are data for it (share/), those that test them nobody's.
        assert [name for name in file.namelist() if name.startswith("myisam_advisor/rulebook/") and name.endswith(".yaml") and "/advice/" not in name] == []
        about = email.message_from_string(file.read(f"{own}.dist-info/METADATA").decode("utf-8"))
    described = str(about.get_payload())
    assert described.strip() == (ROOT / "tools" / "description.md").read_text().strip()
    assert about["Description-Content-Type"] == "text/markdown"
    # The project has no public address: none is made up.
    assert about.get_all("Project-URL") is about["Home-page"] is None
    assert len(about.get_all("Classifier", [])) == len(set(about.get_all("Classifier", []))) > 10


def test_a_wheel_brings_rules_plugin_and_unit(installed: Path) -> None:
    clean = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    code = "import myisam_advisor.rulebook as r; print(r.__file__)"
    place = subprocess.run([str(installed / "bin" / "python"), "-c", code], capture_output=True, text=True, cwd="/", env=clean, check=True).stdout
    assert place.startswith(str(installed))
    listed = subprocess.run([str(installed / "bin" / "myisam-advisor"), "explain"], capture_output=True, text=True, cwd="/", env=clean, check=True).stdout
    rules = {path.stem for path in (ROOT / "rules" / "advice").glob("*.yaml")}
    assert {line.split()[0] for line in listed.splitlines()} == rules
    for rule in sorted(rules)[:3]:
        assert subprocess.run([str(installed / "bin" / "myisam-advisor"), "explain", rule], capture_output=True, cwd="/", env=clean, check=False).returncode == 0
    code = "from myisam_advisor.trial import replay; from myisam_advisor.catalogue.measured import evidence; assert replay.SCRIPT.exists(); assert evidence()['servers']"
    subprocess.run([str(installed / "bin" / "python"), "-c", code], cwd="/", env=clean, check=True)
    plugin = next(installed.glob("lib/python3.*/site-packages/myisam_advisor/munin_plugin/myisam_advisor"))
    for one in (plugin, installed / "share" / "munin" / "plugins" / "myisam_advisor"):
        assert one.read_bytes() == (ROOT / "plugins" / "munin" / "myisam_advisor").read_bytes()
        assert os.access(one, os.X_OK)
    (installed / "facts.yaml").write_text("schema: 1\ntables: [{schema_name: s, table_name: t, crashed: 1}]\n")
    command = [str(installed / "bin" / "myisam-advisor"), "check", "--facts", str(installed / "facts.yaml"), "--format", "html", "--fail-on", "never"]
    assert "</html>" in subprocess.run(command, capture_output=True, text=True, cwd="/", env=clean, check=True).stdout
    units = {path.name for path in (installed / "lib" / "systemd" / "system").iterdir()}
    assert units == {path.name for path in (ROOT / "systemd").iterdir() if path.is_file()}
