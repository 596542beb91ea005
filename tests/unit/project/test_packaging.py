"""What is installed is whole: a wheel in a fresh environment knows every rule."""

import configparser
import email
import os
import subprocess
import sys
import venv
import zipfile
from datetime import date
from pathlib import Path

import pytest
from setuptools import find_packages

from myisam_advisor.catalogue.configuration import load_site
from myisam_exporter.version import __version__
from tests.support.repository import ROOT


def test_no_package_is_forgotten() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split()) - {"myisam_advisor.rulebook", "myisam_advisor.munin_plugin"}
    assert listed == {name for base in ("exporter", "advisor") for name in find_packages(str(ROOT / base))}


def test_the_example_of_a_configuration_is_the_guides_and_is_understood() -> None:
    example = ROOT / "docs" / "examples" / "config.yaml"
    assert f"```yaml\n{example.read_text()}```" in (ROOT / "docs" / "guide" / "configuration.md").read_text()
    site = load_site(example, [], date(2026, 11, 22))
    assert (list(site.ignored_schemas), len(site.suppressions)) == (["test", "old_*"], 2)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    environment = wheel.parent / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    # The dependencies come from this environment: what is tested is our own wheel.
    packages = next(Path(sys.prefix).glob("lib/python3.*/site-packages"))
    (next(environment.glob("lib/python3.*/site-packages")) / "dependencies.pth").write_text(f"{packages}\n")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)], check=True)
    return environment


@pytest.mark.slow
def test_a_wheel_holds_what_users_run_and_nothing_else(wheel: Path) -> None:
    """No benchmarks, demonstration, tools or tests, which only makers run."""
    own = f"myisam_advisor-{__version__}"
    with zipfile.ZipFile(wheel) as file:
        assert {name.split("/")[0] for name in file.namelist()} == {"myisam_exporter", "myisam_advisor", f"{own}.data", f"{own}.dist-info"}
        about = email.message_from_string(file.read(f"{own}.dist-info/METADATA").decode("utf-8"))
    described = str(about.get_payload())
    assert described.strip() == (ROOT / "tools" / "description.md").read_text().strip()
    assert about["Description-Content-Type"] == "text/markdown"
    # The project has no public address: none is made up.
    assert about.get_all("Project-URL") is about["Home-page"] is None
    assert len(about.get_all("Classifier", [])) == len(set(about.get_all("Classifier", []))) > 10


@pytest.mark.slow
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
