"""A scrape asks for the names that it reads, and shows what it would show if it had asked for all."""

import ast
import inspect
import sys
from types import ModuleType

import pytest

from myisam_exporter.collectors.base import all_collectors, with_prerequisites
from myisam_exporter.exposition.values import GroupValues, group_values
from myisam_exporter.look.pairs import Latest
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.metrics.base import Running, Scene, all_groups
from myisam_exporter.server import location, server_process
from myisam_exporter.watching.scrapes import cheap_collectors, read_names
from tests.support.recorded import RecordedLook

# Labels and states that are called as variables are.
NO_READS = {"flush", "version"}
ALL = {"status": "SHOW GLOBAL STATUS", "variables": "SHOW GLOBAL VARIABLES"}


def scraped(look: RecordedLook, names: dict[str, frozenset[str]]) -> GroupValues:
    latest, running = Latest(), Running()
    for part in ("first", "second"):
        look.machine.turn_to(part)
        with look.machine.playing():
            context = look.machine.context()
            context.names = names
            snapshot = take_snapshot(context, only=with_prerequisites(cheap_collectors()))
            found = group_values(snapshot, Scene(latest.pairs_to(snapshot), running), cheap_collectors())
    return found


def test_values_are_those_of_all_names(look: RecordedLook) -> None:
    some, everything = scraped(look, dict(read_names())), scraped(look, {})
    assert not some.failed
    assert some.values == everything.values
    assert sum(value.number is not None for values in some.values.values() for value in values) > 60


def readers() -> list[ModuleType]:
    cheap = cheap_collectors()
    units = [one for one in all_collectors() if one.name in cheap and one.name not in ALL]
    groups = [group for group in all_groups() if cheap.intersection(group.collectors)]
    return [location, server_process, *(sys.modules[type(unit).__module__] for unit in [*units, *groups])]


@pytest.mark.parametrize("module", readers(), ids=lambda module: module.__name__.removeprefix("myisam_exporter."))
def test_each_name_that_a_module_knows_is_asked(module: ModuleType, looks: dict[str, RecordedLook]) -> None:
    """Also those that it reads in a branch that no recorded machine goes through."""
    known = {str(name) for look in looks.values() for statement in ALL.values() for name, _ in look.told(statement)}
    texts = {node.value for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert sorted((texts & known) - frozenset().union(*read_names().values()) - NO_READS) == []


def test_a_server_has_many_more_names(look: RecordedLook) -> None:
    for name, statement in ALL.items():
        assert len(read_names()[name]) < len(look.told(statement)) / 8
