"""Ages are told again when they are too old, and not looked for in tables beside those that were written."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import TableGroups, grouped
from myisam_exporter.files.told_ages import AGE_TOLERANCE, AGE_TOLERANCE_SECONDS, STRETCH
from myisam_exporter.files.told_tables import Telling, ToldTables, told_again, told_anew

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


class CountedGroups(TableGroups):
    """Counts of which tables it was asked when their files changed."""

    def __init__(self, known: TableGroups) -> None:
        super().__init__(known.places, list(map(known.at, range(len(known)))))
        self.asked: list[int] = []

    def modified_at(self, place: int) -> float | None:
        self.asked.append(place)
        return super().modified_at(place)


def test_files_of_tables_beside_one_that_was_written_are_not_asked_even_when_its_age_is_too_old() -> None:
    modified: dict[int, float] = {}
    told = written(told_anew((AGE,), groups(modified), telling(BEGAN), {}), modified, BEGAN + 5, {3, STRETCH + 4})
    for seconds in (10, 30, 80):
        counted = CountedGroups(groups(modified))
        told = told_again(told, counted, telling(BEGAN + seconds), {}, ())
        assert sorted(counted.asked) == [3, STRETCH + 4]


def test_an_age_of_files_of_which_no_time_is_known_is_never_too_old() -> None:
    database = Database("db", "/data/db")
    unknown = grouped([TableFile(database, NamedFile("t", "t", None), SAMPLE, None, None)])
    told = told_anew((AGE,), unknown, telling(BEGAN), {})
    again = told_again(told, unknown, telling(BEGAN + 10_000_000), {}, ())
    assert again.generation == told.generation


def test_files_from_the_future_are_told_again_when_that_has_come() -> None:
    modified = {3: BEGAN + 50.0}
    told = told_again(told_anew((AGE,), groups(modified), telling(BEGAN), {}), groups(modified), telling(BEGAN + 10), {}, ())
    later = told_again(told, groups(modified), telling(BEGAN + 40), {}, ())
    assert later.generation == told.generation
    assert ages(told_again(later, groups(modified), telling(BEGAN + 60), {}, ()))[3] == 10.0


def test_a_table_is_as_old_as_the_partition_that_was_written_last() -> None:
    database = Database("db", "/data/db")
    parts = [
        TableFile(database, NamedFile(f"t#P#{part}", "t", part), SAMPLE, None, modified)
        for part, modified in (("a", BEGAN - 9_000.0), ("b", BEGAN - 2.0), ("c", None))
    ]
    tables = grouped(parts)
    assert list(tables.modified_of_each()) == [tables.modified_at(0)] == [BEGAN - 2.0]
    told = told_anew((AGE,), tables, telling(BEGAN), {})
    assert told_again(told, tables, telling(BEGAN + 1), {}, ()).generation == told.generation
    assert told_again(told, tables, telling(BEGAN + 3), {}, ()).generation != told.generation
