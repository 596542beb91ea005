"""What is installed is whole: a wheel in a fresh environment knows every rule."""

import configparser
import os
import subprocess
import sys
import venv
from datetime import date
from pathlib import Path

import pytest
from setuptools import find_packages

from myisam_advisor.catalogue.configuration import load_site
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
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True)
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    # The dependencies come from this environment: what is tested is our own wheel.
    packages = next(Path(sys.prefix).glob("lib/python3.*/site-packages"))
    (next(environment.glob("lib/python3.*/site-packages")) / "dependencies.pth").write_text(f"{packages}\n")
    (wheel,) = folder.glob("*.whl")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)], check=True)
    return environment


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
