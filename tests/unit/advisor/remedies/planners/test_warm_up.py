"""Reading what is missing from the page cache, the largest gaps first."""

from typing import Any

import pytest

from tests.support.planning import facts, planned, texts
from tests.support.recorded import RecordedLook

ROW = {"data_directory": "/var/lib/mysql"}


def table(name: str, data: int, resident: int | None) -> dict[str, Any]:
    return {"schema_name": "shop", "table_name": name, "data_bytes": data, "data_resident_bytes": resident}


def test_the_largest_gaps_come_first() -> None:
    known = facts(tables=[table("small", 10, 0), table("large", 1000, 0), table("half", 1000, 500), table("whole", 1000, 4096), table("dark", 1000, None)])
    plan = planned("warm_up", ROW, known)
    assert texts(plan.commands) == [f"cat /var/lib/mysql/shop/{name}.MYD > /dev/null" for name in ("large", "half", "small")]
    assert plan.values["warm_up_tables"] == "shop.large, shop.half, shop.small"


def test_eight_at_most() -> None:
    assert len(planned("warm_up", ROW, facts(tables=[table(f"t{number}", 100, 0) for number in range(20)])).commands) == 8


@pytest.mark.parametrize(("directory", "name"), [("relative", "t"), (None, "t"), ("/a\nb", "t"), ("/var/lib/mysql", "a b"), ("/var/lib/mysql", "x;y")])
def test_what_cannot_stand_in_a_line_is_only_named(directory: str | None, name: str) -> None:
    plan = planned("warm_up", {"data_directory": directory}, facts(tables=[table(name, 100, 0)]))
    assert plan.commands == ()
    assert name in str(plan.values["warm_up_tables"])


def test_on_the_recorded_machine_everything_is_warm(look: RecordedLook) -> None:
    assert planned("warm_up", ROW, look.facts).commands == ()
