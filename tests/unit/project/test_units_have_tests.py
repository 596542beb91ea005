"""Every unit that is found by its folder has a unit test module of its name, which names it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).parents if (folder / "setup.cfg").exists())
EXPORTER, ADVISOR = ROOT / "exporter" / "myisam_exporter", ROOT / "advisor" / "myisam_advisor"
# The folders of units, and the room of their tests: units of different folders share names.
FOLDERS = (
    EXPORTER / "collectors", EXPORTER / "metrics", ADVISOR / "remedies" / "planners", ADVISOR / "reports" / "formats", ADVISOR / "changes" / "formats", ADVISOR / "workload" / "sources",
)  # fmt: skip


def units() -> Iterator[tuple[str, str]]:
    """The folder's dotted name, the unit's."""
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.py")):
            if path.stem not in ("__init__", "base"):
                yield ".".join(folder.relative_to(folder.parents[len(folder.relative_to(ROOT).parts) - 2]).parts), path.stem


UNITS = list(units())


def named_in(package: str, unit: str, source: str) -> bool:
    """Whether a test's source names the unit: by its module, or by the name that its folder finds it by."""
    return f"{package}.{unit}" in source or any(f'"{name}"' in source for name in (unit, unit.replace("_", "-")))


@pytest.mark.parametrize(("package", "unit"), UNITS, ids=[f"{package}.{unit}" for package, unit in UNITS])
def test_a_unit_has_a_test_module_that_names_it(package: str, unit: str) -> None:
    modules = sorted((ROOT / "tests" / "unit").rglob(f"test_{unit}.py"))
    assert any(named_in(package, unit, path.read_text("utf-8")) for path in modules), f"write tests/unit/.../test_{unit}.py for {package}.{unit}"


def test_the_units_are_found() -> None:
    packages = [package for package, _ in UNITS]
    assert set(packages) == {"myisam_exporter.collectors", "myisam_exporter.metrics", "myisam_advisor.remedies.planners", "myisam_advisor.reports.formats", "myisam_advisor.changes.formats", "myisam_advisor.workload.sources"}
    assert len(UNITS) > 40


def test_a_module_of_another_folder_does_not_count() -> None:
    collectors_own = "from myisam_exporter.collectors.host import COLLECTOR"
    assert named_in("myisam_exporter.collectors", "host", collectors_own)
    assert not named_in("myisam_exporter.metrics", "host", collectors_own)
