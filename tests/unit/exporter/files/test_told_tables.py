"""Ages are told again when they are too old, and not looked for in tables beside those that were written."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myisam_exporter.files import told_tables
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import TableGroups, grouped
from myisam_exporter.files.told_tables import (
    AGE_TOLERANCE,
    AGE_TOLERANCE_SECONDS,
    STRETCH,
    Telling,
    ToldTables,
    told_again,
    told_anew,
)

from .test_table_file import SAMPLE

AGE = "data_modified_seconds_ago"
BEGAN = 1_000_000.0
TABLES = 2 * STRETCH + 9


def groups(modified: dict[int, float]) -> TableGroups:
    """So many tables, all written long ago but for these."""
    database = Database("db", "/data/db")
    files = [
        TableFile(database, NamedFile(f"t{number}", f"t{number}", None), SAMPLE, None, modified.get(number, BEGAN - 86_400.0))
        for number in range(TABLES)
    ]
    return grouped(files)


def telling(now: float) -> Telling:
    return Telling(now, None, {}, {})


def ages(told: ToldTables) -> list[float]:
    (found,) = told.columns_at(range(TABLES))
    return [float(str(age)) for age in found]


def written(told: ToldTables, modified: dict[int, float], now: float, numbers: set[int]) -> ToldTables:
    """The tables of a scan at that moment, in which these are found written."""
    modified |= dict.fromkeys(numbers, now - 1.0)
    return told_again(told, groups(modified), telling(now), {}, {("db", f"t{number}") for number in numbers})


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from([5.0, 700.0, 5_000.0, 90_000.0]), st.sets(st.integers(0, TABLES - 1), max_size=4)), min_size=1, max_size=7))
def test_no_age_lags_behind_by_more_than_it_may(looks: list[tuple[float, set[int]]]) -> None:
    modified: dict[int, float] = {}
    told, now = told_anew((AGE,), groups(modified), telling(BEGAN), {}), BEGAN
    for seconds, numbers in looks:
        now += seconds
        told = written(told, modified, now, numbers)
        for number, age in enumerate(ages(told)):
            true = now - modified.get(number, BEGAN - 86_400.0)
            assert 0 <= true - age < max(min(AGE_TOLERANCE_SECONDS, age), AGE_TOLERANCE * age)


def test_tables_beside_one_that_was_written_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    modified: dict[int, float] = {}
    told = told_anew((AGE,), groups(modified), telling(BEGAN), {})
    assert len(told.due) == 3
    looked: list[int] = []
    due = told_tables._due

    def noted(groups: TableGroups, moments: array[float], place: int) -> float:
        looked.append(place)
        return due(groups, moments, place)

    monkeypatch.setattr(told_tables, "_due", noted)
    written(told, modified, BEGAN + 5, {3, STRETCH + 4})
    assert sorted(looked) == [3, STRETCH + 4]
