"""Samples are looked up by keys that know their type, and a collector only by those it names in `after`."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from myisam_exporter import collectors
from myisam_exporter.collectors.base import Collector, Pair, SampleKey, all_collectors, units_of
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.collectors.variables import VARIABLES, Variables
from myisam_exporter.facts.unknown import Unknown

FAILED = Unknown("not now")


def test_a_key_gives_its_own_type_or_why_there_is_none() -> None:
    status = Status({"Uptime": 5})
    pair = Pair(Variables({}), others={"status": status}, others_before={"status": FAILED})
    assert pair.other(STATUS) is status
    assert pair.other_before(STATUS) is FAILED
    assert isinstance(pair.other(VARIABLES), Unknown)


def test_a_sample_of_another_type_is_a_mistake_that_shows() -> None:
    with pytest.raises(TypeError, match="the sample of status is Variables, not Status"):
        STATUS.of({"status": Variables({})})


def keys() -> dict[str, SampleKey[object]]:
    """Every key that a collector's module declares, by the name it has there."""
    modules = map(import_module, units_of(collectors))
    return {name: value for module in modules for name, value in vars(module).items() if isinstance(value, SampleKey)}


def test_every_key_is_named_as_its_collector() -> None:
    assert {key.name for key in keys().values()} <= {collector.name for collector in all_collectors()}


@pytest.mark.parametrize("collector", all_collectors(), ids=lambda collector: collector.name)
def test_a_collector_looks_only_at_those_that_it_comes_after(collector: Collector[object]) -> None:
    path = import_module(type(collector).__module__).__file__
    assert path is not None
    asked = [
        keys()[call.args[0].id].name
        for call in ast.walk(ast.parse(Path(path).read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("sample", "other", "other_before")
        and isinstance(call.args[0], ast.Name) and call.args[0].id in keys()
    ]
    assert set(asked) <= set(collector.after)
