"""Tables with series of their own, and sums over the others."""

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.tables import GROUP
from tests.support.recorded import RecordedLook


@pytest.mark.parametrize(("table", "rows"), [("items", 70), ("posts", 72)])
def test_sizes_and_states_of_a_table(look: RecordedLook, table: str, rows: int) -> None:
    values = look.values(GROUP)
    assert values["table_rows", "shop", table] == rows
    assert values["table_data_bytes", "shop", table] == (look.machine.data / "shop" / f"{table}.MYD").stat().st_size
    assert values["table_index_bytes", "shop", table] == (look.machine.data / "shop" / f"{table}.MYI").stat().st_size
    assert values["table_crashed", "shop", table] == 0
    assert values["table_crashed", "archive", "broken"] == 1


def test_totals_are_of_all_tables(look: RecordedLook) -> None:
    values = look.values(GROUP)
    stems = {path.relative_to(look.machine.data).as_posix().partition("#P#")[0] for path in look.machine.data.rglob("*.MYI")}
    assert values["tables",] == len({stem.removesuffix(".MYI") for stem in stems})
    assert (values["tables_crashed",], values["tables_compressed",], values["tables_omitted",]) == (1, 1, values["tables",] - 4)
    index_bytes = sum(number for (name, *_), number in values.items() if name == "table_index_bytes")
    assert index_bytes + values["omitted_tables_index_bytes",] == sum(path.stat().st_size for path in look.machine.data.rglob("*.MYI"))


def test_writes_count_what_two_looks_show(look: RecordedLook) -> None:
    running = Running()
    first, second = look.values(GROUP, running), look.values(GROUP, running)
    inserts = [look.number_told("SHOW GLOBAL STATUS", "Com_insert", part) for part in (0, 1)]
    assert first["table_write_statements_total", "shop", "orders"] == pytest.approx(inserts[1] - inserts[0], abs=3)
    assert second["table_write_statements_total", "shop", "orders"] == pytest.approx(2 * first["table_write_statements_total", "shop", "orders"])
    assert first["table_rows_read_total", "shop", "posts"] > 1000
    # The counters' table has no series; its updates are in the sum.
    assert first["omitted_tables_write_statements_total",] > 50


def test_without_facts_nothing_is_said(look: RecordedLook) -> None:
    assert list(GROUP.values(Pair(look.sample("myi")), Scene({}, Running()))) == []
