"""Up to when the age of a table that was told is good enough."""

from collections.abc import Mapping

import pytest

from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import TableGroups, grouped
from myisam_exporter.files.told_ages import STRETCH, ToldAges
from tests.support.myi import header

HEADER, DATABASE = parse_header(header()), Database("d", "/d")
NOW = 1_763_816_400.0
OLD = NOW - 1e8


def groups(modified: Mapping[int, float | None], tables: int = 1) -> TableGroups:
    """So many tables, written long ago but for these."""
    return grouped([TableFile(DATABASE, NamedFile(f"t{place:05}", f"t{place:05}", None), HEADER, None, modified.get(place, OLD)) for place in range(tables)])


def is_too_old(ages: ToldAges, now: float) -> bool:
    return list(ages.too_old(now)) == [0]


@pytest.mark.parametrize(
    ("age", "lag"),
    [(1.0, 1.0), (599.0, 599.0), (600.0, 600.0), (601.0, 600.0), (59_000.0, 600.0), (60_000.0, 600.0), (70_000.0, 700.0), (1e8, 1e6), (0.0, 0.0), (-50.0, 50.0)],
)
def test_an_age_may_lag_behind_by_itself_by_ten_minutes_or_by_a_hundredth(age: float, lag: float) -> None:
    ages = ToldAges.told_now(groups({0: NOW - age}), NOW)
    assert not is_too_old(ages, NOW + lag - 0.001)
    assert is_too_old(ages, NOW + lag)


def test_what_has_no_time_has_no_age_that_could_be_too_old() -> None:
    assert not is_too_old(ToldAges.told_now(groups({0: None}), NOW), NOW + 1e12)


def test_ages_are_told_again_in_their_places_and_the_ones_before_stay() -> None:
    tables = STRETCH + 9
    places = [0, STRETCH - 1, STRETCH, tables - 1]
    known = groups(dict.fromkeys(places, NOW - 10.0), tables)
    first = ToldAges.told_now(known, NOW)
    assert list(first.too_old(NOW + 10)) == places
    second = first.told_again(NOW + 10, [tables - 1, 0, STRETCH], known)
    assert second.moments_at([*places, 1]) == [NOW + 10, NOW, NOW + 10, NOW + 10, NOW]
    assert first.moments_at([*places, 1]) == [NOW] * 5
    assert list(second.too_old(NOW + 10)) == [STRETCH - 1]
    assert list(second.too_old(NOW + 30)) == places
    assert list(first.too_old(NOW + 10)) == places
