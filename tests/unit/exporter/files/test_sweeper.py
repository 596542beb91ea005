"""Sweeps of many tables: as many questions as it takes, and what is known stays known."""

from collections.abc import Sequence

import pytest

from myisam_exporter.files import sweeper
from myisam_exporter.files.data_directory import TableFile
from myisam_exporter.files.myi_header import Header, parse_header
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.residency import FilePages, Prober
from tests.support.myi import header

HEADER = parse_header(header())


class Told(Prober):
    """Pages as the test says, by file; counts the questions. Directories are not opened."""

    def __init__(self) -> None:
        super().__init__()
        self.resident: dict[str, int] = {}
        self.asked: list[str] = []

    def probe(self, file: str, directory: int | None = None) -> FilePages | None:
        self.asked.append(file)
        return FilePages(self.resident.get(file, 2), 0, 0, 0, 0)


def tables(count: int) -> tuple[TableFile, ...]:
    return tuple(TableFile("db", f"t{number}", None, "/", f"t{number}", HEADER, None, 1.0) for number in range(count))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setattr(sweeper, "LARGEST_TABLES", 10)
    monkeypatch.setattr(sweeper, "TABLES_IN_TURN", 20)
    return Told()


def asked(told: Told) -> set[str]:
    names = {name.partition(".")[0] for name in told.asked}
    told.asked.clear()
    return names


def test_the_first_sweep_asks_for_all_and_later_ones_in_turn(told: Told) -> None:
    files, sweeps = tables(100), Sweeper(told)
    first = sweeps.sweep(files, 10)
    assert len(asked(told)) == len(first.pages) == 100
    seen: set[str] = set()
    for _ in range(5):
        sweeps.sweep(files, 10)
        names = asked(told)
        assert len(names) <= 30
        seen |= names
    assert len(seen) == 100
    assert sweeps.sweep(files, 10).sweeps_in_turn == 5


def test_while_nothing_differs_it_is_the_same_sweep(told: Told) -> None:
    files, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(files, 10)
    second = sweeps.sweep(files, 10)
    assert all(sweeps.sweep(files, 10) is second for _ in range(30))


def test_little_is_told_late_and_much_at_once(told: Told) -> None:
    files, sweeps = tables(1000), Sweeper(told)
    sweeps.sweep(files, 10)
    settled = sweeps.sweep(files, 10)
    told.resident["t0.MYD"] = 1
    late = [sweeps.sweep(files, 10) for _ in range(sweeper.LONGEST_SILENCE_SWEEPS)]
    assert late[0] is settled
    data, _ = late[-1].pages["db", "t0"]
    assert data is not None
    assert data.resident == 1
    told.resident["t1.MYD"] = 500
    data, _ = sweeps.sweep(files, 10).pages["db", "t1"]
    assert data is not None
    assert data.resident == 500


def test_of_few_tables_everything_is_told_at_once(told: Told) -> None:
    files, sweeps = tables(10), Sweeper(told)
    sweeps.sweep(files, 10)
    told.resident["t3.MYI"] = 1
    _, index = sweeps.sweep(files, 10).pages["db", "t3"]
    assert index is not None
    assert index.resident == 1


def written(files: Sequence[TableFile], number: int, rows: int) -> tuple[TableFile, ...]:
    new: Header = parse_header(header(rows=rows))
    return tuple(TableFile("db", f"t{number}", None, "/", f"t{number}", new, None, 2.0) if place == number else file for place, file in enumerate(files))


def test_what_was_written_is_asked_for_and_what_went_is_forgotten(told: Told) -> None:
    files, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(files, 10)
    asked(told)
    sweeps.sweep(written(files, 77, 9), 10)
    assert "t77" in asked(told)
    fewer = sweeps.sweep(files[:50], 10)
    assert set(fewer.pages) == {("db", f"t{number}") for number in range(50)}
    assert len(sweeps.sweep(files, 10).pages) == 100  # the others are new again: all of them were written


def test_a_sweep_that_ran_out_of_time_goes_on_where_it_stopped(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    files, sweeps = tables(100), Sweeper(told)
    assert sweeps.sweep(files, -1).skipped_tables == 100
    skipped = [sweeps.sweep(files, 10).skipped_tables for _ in range(5)]
    assert skipped == sorted(skipped, reverse=True)
    assert skipped[-1] == 0
