"""What PACK_KEYS=0 would do to the indexes of a recorded table, and to the key cache."""

from typing import Any

import pytest

from myisam_advisor.remedies.planners.base import NotWorth
from tests.support.planning import MYSQL, asked, facts, planned
from tests.support.recorded import RecordedLook


def row_of(look: RecordedLook, **more: Any) -> dict[str, Any]:
    return next(row for row in look.facts.tables["tables"].dictionaries() if row["table_name"] == "items") | more


def test_each_packed_index_gets_a_sentence(look: RecordedLook) -> None:
    plan = planned("pack_keys_growth", row_of(look), look.facts)
    first, second = (row for row in look.facts.tables["indexes"].dictionaries() if row["table_name"] == "items")
    keys = [index["maximum_key_bytes"] for index in (first, second)]
    assert plan.values["grown_bytes"] == int(sum(70 * (key + 4) / 0.67 for key in keys if isinstance(key, int)))
    said = str(plan.values["by_index"])
    assert f"{first['index_name'] or 'Index 1'} ({first['key_description']}) is searched from the start of each page now, and could use binary search" in said
    assert f"{second['index_name'] or 'Index 2'} ({second['key_description']}) stays linear" in said
    assert plan.values["fits_now"] is True


def test_room_is_kept_only_where_a_trial_proved_it(look: RecordedLook) -> None:
    assert planned("pack_keys_growth", row_of(look), look.facts).index_bytes == {}
    proved = planned("pack_keys_growth", row_of(look, proved=1), look.facts)
    assert proved.index_bytes == {("shop", "items"): float(str(proved.values["grown_bytes"]))}


def test_indexes_that_would_not_fit_any_more_are_left_packed(look: RecordedLook) -> None:
    assert isinstance(asked("pack_keys_growth", row_of(look, rows=10**12), look.facts), NotWorth)


@pytest.mark.parametrize(("description", "mistake"), [("DOUBLE NOT NULL", True), ("CHAR(20 bytes) NOT NULL", False)])
def test_numbers_that_mysql_packs_by_mistake_are_named(description: str, mistake: bool) -> None:
    index = {"schema_name": "s", "table_name": "t", "index_number": 1, "algorithm": "btree", "is_packed": 1, "maximum_key_bytes": 15, "key_description": description}
    plan = planned("pack_keys_growth", {"schema_name": "s", "table_name": "t", "rows": 10, "index_bytes": 2048}, facts(server=MYSQL, indexes=[index]))
    assert plan.values["has_packed_numbers"] is mistake
    assert ("because of MySQL's bug" in str(plan.values["by_index"])) is mistake
