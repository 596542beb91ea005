"""What is to be installed is listed; tests/e2e/test_builds.py installs it."""

import configparser
from datetime import date

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
