"""What PACK_KEYS=0 would do to the indexes of a recorded table, and to the key cache."""

from typing import Any

import pytest

from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanNeeds
from tests.support.planning import MARIADB, MYSQL, asked, facts, planned
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


KIB = 1 << 10
FULL = {"memory_bytes": 1 << 30, "memory_available_bytes": 0}
MACHINE = {"memory_bytes": 64 << 30, "memory_available_bytes": 60 << 30}


@pytest.mark.parametrize(
    ("own_kib", "all_kib", "cache_kib", "machine", "fits"),
    [
        # Indexes of 3,000 KiB, of which one of 500 becomes 2,000.
        (500, 3000, 5000, {}, True), (500, 3000, 4500, {}, True), (500, 3000, 4499, {}, None), (500, 3000, 4499, MACHINE, False), (500, 3000, 4499, FULL, None),
        (500, 3000, None, {}, True), (500, 3000, None, MACHINE, True),
        # One that is larger already does not shrink.
        (2500, 3000, 3000, {}, True), (2500, 3000, 2999, {}, None),
        # Where the others are not known, its own must fit.
        (500, None, 2000, {}, True), (500, None, 1998, {}, None), (500, None, 1998, MACHINE, False),
    ],
)  # fmt: skip
def test_grown_indexes_fit_now_or_with_the_memory_that_is_left_or_stay_packed(own_kib: int, all_kib: int | None, cache_kib: int | None, machine: dict[str, int], fits: bool | None) -> None:
    index = {"schema_name": "s", "table_name": "t", "index_number": 1, "algorithm": "btree", "is_packed": 1, "maximum_key_bytes": 16, "key_description": "CHAR(15 bytes)"}
    known = facts(
        server=MYSQL, indexes=[index], host=machine, totals={"myisam_index_bytes": all_kib and all_kib * KIB},
        key_cache=[{"name": "default", "usable_bytes": cache_kib and cache_kib * KIB}],
    )  # fmt: skip
    found = asked("pack_keys_growth", {"schema_name": "s", "table_name": "t", "rows": 67 * KIB, "index_bytes": own_kib * KIB}, known)
    if fits is None:
        assert isinstance(found, NotWorth if machine else PlanNeeds), "how much memory there is decides"
    else:
        assert isinstance(found, Plan)
        assert (found.values["grown_bytes"], found.values["fits_now"]) == (pytest.approx(2000 * KIB, abs=1), fits)


def test_of_an_index_whose_keys_have_no_known_length_no_size_is_told_and_others_than_packed_trees_are_not_named() -> None:
    common = {"schema_name": "s", "table_name": "t", "is_packed": 1, "algorithm": "btree"}
    indexes = [
        common | {"index_number": 1, "is_packed": 0, "maximum_key_bytes": 8},
        common | {"index_number": 2, "algorithm": "fulltext", "maximum_key_bytes": 254},
        common | {"index_number": 3, "key_description": "DOUBLE NOT NULL"},
        common | {"index_number": 4, "binary_search_without_packing": 0, "maximum_key_bytes": 16},
    ]
    plan = planned("pack_keys_growth", {"schema_name": "s", "table_name": "t", "rows": 67_000, "index_bytes": 2048, "proved": 1}, facts(server=MARIADB, indexes=indexes))
    assert plan.values == {
        "grown_bytes": None, "has_packed_numbers": False, "fits_now": True,
        "by_index": "Index 3 (DOUBLE NOT NULL) may use binary search. Index 4 stays linear: it has a variable-length or nullable column; unpacked it takes up to 1.9 MiB.",
    }  # fmt: skip
    assert plan.index_bytes == {}
