"""SHOW GLOBAL VARIABLES: as the server prints them, and as numbers where rules want numbers."""

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_exporter.collectors.variables import COLLECTOR, Variables
from myisam_exporter.look.merging import Remembered
from tests.support.recorded import RecordedLook


def test_every_variable_is_there_once(look: RecordedLook) -> None:
    names = [name for name, _ in look.told("SHOW GLOBAL VARIABLES")]
    assert [row["name"] for row in look.rows("variables", "variable")] == names
    assert len(names) > 400


def test_values_are_those_that_the_server_was_started_with(look: RecordedLook) -> None:
    values = {row["name"]: row["value"] for row in look.rows("variables", "variable")}
    assert values["key_buffer_size"] == 8 << 20
    assert values["table_open_cache"] == 64
    assert values["myisam_recover_options"] == "OFF"
    assert values["datadir"] == f"{look.machine.data}/"


@pytest.mark.parametrize(("text", "number", "on"), [("ON", None, True), ("1", 1, True), ("YES", None, True), ("OFF", None, False), ("0", 0, False), ("8388608", 8388608, False), ("", None, False)])
def test_numbers_and_switches(text: str, number: int | None, on: bool) -> None:
    variables = Variables({"v": text})
    assert variables.number("v") == number
    assert variables.is_on("v") is on
    assert variables.number("w") is None
    assert variables.is_on("w") is False


def test_variables_that_stayed_are_the_sample_of_the_last_look(look: RecordedLook) -> None:
    sample: Variables = look.sample("variables")
    with look.machine.playing():
        context = look.machine.context()
        context.before = look.second.samples
        assert COLLECTOR.collect(context) is sample
        context.before = {"variables": Variables({**sample.values, "key_buffer_size": "1"})}
        found = COLLECTOR.collect(context)
    assert found == sample
    assert found is not context.before["variables"]


def test_their_table_is_made_ready_once(look: RecordedLook) -> None:
    remembered = Remembered()
    with look.machine.playing():
        tables = [complete(look.interval.facts(remembered)).tables for _ in range(2)]
    assert tables[0]["variable"] is tables[1]["variable"]
    assert tables[0]["status"] is not tables[1]["status"]
