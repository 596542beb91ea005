"""Sweeps of many tables: as many questions as it takes, and what is known stays known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from unittest.mock import Mock

import pytest

from myisam_exporter.files import sweep_turns, sweeper
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.myi_header import Header, parse_header
from myisam_exporter.files.sweep_pace import STILL_PACE
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import TableGroups
from myisam_exporter.kernel.residency import FilePages, Prober
from tests.support.moved_clock import MovedClock
from tests.support.myi import header

HEADER = parse_header(header())


class Told(Prober):
    """Pages as the test says, by file; counts the questions. Directories are not opened."""

    def __init__(self) -> None:
        super().__init__()
        self.resident: dict[str, int] = {}
        self.asked: list[str] = []
        self.counted = True

    @property
    def sees_counted_files_only(self) -> bool:
        return self.counted

    def probe(self, file: str, directory: int | None = None) -> FilePages | None:
        self.asked.append(file)
        return FilePages(self.resident.get(file, 2), 0, 0, 0, 0)


def scan_of(files: Sequence[TableFile]) -> DataDirectoryScan:
    return DataDirectoryScan(tuple(files), 0, (), 1.0)


def tables(count: int) -> DataDirectoryScan:
    return scan_of([TableFile(Database("db", "/"), NamedFile(f"t{number}", f"t{number}", None), HEADER, None, 1.0) for number in range(count)])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setattr(sweep_turns, "LARGEST_TABLES", 10)
    monkeypatch.setattr(sweep_turns, "TABLES_IN_TURN", 20)
    monkeypatch.setattr(sweep_turns, "NEVER_ASKED_IN_TURN", 20)
    return Told()


def asked(told: Told) -> set[str]:
    names = {name.partition(".")[0] for name in told.asked}
    told.asked.clear()
    return names


def test_the_first_sweep_asks_for_all_and_later_ones_in_turn(told: Told) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    first = sweeps.sweep(scan, 10)
    assert len(asked(told)) == len(first.pages) == 100
    seen: set[str] = set()
    for _ in range(5):
        sweeps.sweep(scan, 10)
        names = asked(told)
        assert len(names) <= 23
        seen |= names
    assert len(seen) == 100
    assert sweeps.sweep(scan, 10).sweeps_in_turn == 5


def test_where_the_kernel_counts_hardly_a_page_fewer_are_asked_about_and_all_of_them_in_the_end(told: Told) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(scan, 10, pages_moved=1000)
    asked(told)
    looks = []
    for _ in range(STILL_PACE * sweep_turns.SWEEPS_OF_LARGEST + STILL_PACE * 5):
        sweeps.sweep(scan, 10, pages_moved=1000)
        looks.append(asked(told))
    assert max(map(len, looks)) <= 1 + 20 // STILL_PACE
    assert len(set().union(*looks)) == 100


@pytest.mark.parametrize("moved", [1_000_000, None, 0])
def test_where_pages_moved_or_nobody_counts_as_many_as_usual_are_asked_about(told: Told, moved: int | None) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(scan, 10, pages_moved=1000)
    asked(told)
    sweeps.sweep(scan, 10, pages_moved=moved)
    assert len(asked(told)) >= 20


def test_on_a_file_system_whose_reads_nobody_counts_as_many_as_usual_are_asked_about(told: Told) -> None:
    told.counted = False
    scan, sweeps = tables(100), Sweeper(told)
    for _ in range(2):
        asked(told)
        sweeps.sweep(scan, 10, pages_moved=1000)
    assert len(asked(told)) >= 20


def test_at_the_slow_pace_too_all_are_asked_about_where_many_calm_tables_moved(told: Told) -> None:
    """As where a program gave up their pages itself, which is counted nowhere."""
    scan, sweeps = tables(1000), Sweeper(told)
    sweeps.sweep(scan, 10, pages_moved=1000)
    sweeps.sweep(scan, 10, pages_moved=1000)
    asked(told)
    told.resident = {f"t{number}.MYI": 0 for number in range(1000)}
    sweeps.sweep(scan, 10, pages_moved=1000)
    names = asked(told)
    assert names >= {f"t{number}" for number in range(10)}
    assert len(names) == 10 + 20 // STILL_PACE + 20


def test_while_nothing_differs_sweeps_are_of_one_generation(told: Told) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(scan, 10)
    second = sweeps.sweep(scan, 10)
    assert all(sweeps.sweep(scan, 10).generation == second.generation for _ in range(30))
    asked(told)
    older = scan.again(99.0, 0, (), ())
    assert older.generation != scan.generation
    assert sweeps.sweep(older, 10).generation == second.generation  # ages are no matter of the page cache
    assert len(asked(told)) <= 23
    assert replace(second, skipped_tables=1).generation != second.generation


def test_little_is_told_late_and_much_at_once(told: Told) -> None:
    scan, sweeps = tables(1000), Sweeper(told)
    sweeps.sweep(scan, 10)
    settled = sweeps.sweep(scan, 10)
    told.resident["t0.MYD"] = 1
    late = [sweeps.sweep(scan, 10) for _ in range(sweeper.LONGEST_SILENCE_SWEEPS)]
    assert late[0].generation == settled.generation
    assert late[-1].generation != settled.generation
    data, _ = late[-1].pages["db", "t0"]
    assert data is not None
    assert data.resident == 1
    told.resident["t1.MYD"] = 500
    data, _ = [sweeps.sweep(scan, 10) for _ in range(sweep_turns.SWEEPS_OF_LARGEST)][-1].pages["db", "t1"]
    assert data is not None
    assert data.resident == 500


def test_a_table_that_moves_is_asked_about_each_time_until_it_is_calm(told: Told) -> None:
    scan, sweeps = tables(1000), Sweeper(told)
    sweeps.sweep(scan, 10)
    times = []
    for resident in (3, 4, 5, 6, 7, 7, 7, 7, 7):
        told.resident["t1.MYD"] = resident
        sweeps.sweep(scan, 10)
        times.append("t1" in asked(told))
    first = times.index(True)
    assert first < sweep_turns.SWEEPS_OF_LARGEST
    # Once more after it was found as it was; then it waits for its turn.
    assert times[first:6] == [True] * (6 - first)
    assert times.count(True) < len(times)


def test_where_many_calm_tables_moved_the_others_are_asked_about_too(told: Told) -> None:
    scan, sweeps = tables(1000), Sweeper(told)
    sweeps.sweep(scan, 10)
    sweeps.sweep(scan, 10)
    asked(told)
    told.resident = {f"t{number}.MYI": 0 for number in range(1000)}
    moved = sweeps.sweep(scan, 10)
    names = asked(told)
    assert names >= {f"t{number}" for number in range(10)}
    assert len(names) == 10 + 2 * 20
    assert sum(index.resident == 0 for _, index in moved.pages.values() if index) == len(names)


def test_few_tables_are_all_asked_about_each_time(told: Told) -> None:
    scan, sweeps = tables(10), Sweeper(told)
    for _ in range(3):
        assert sweeps.sweep(scan, 10).sweeps_in_turn == 0
        assert asked(told) == {f"t{number}" for number in range(10)}


def test_of_few_tables_everything_is_told_at_once(told: Told) -> None:
    scan, sweeps = tables(10), Sweeper(told)
    sweeps.sweep(scan, 10)
    told.resident["t3.MYI"] = 1
    _, index = sweeps.sweep(scan, 10).pages["db", "t3"]
    assert index is not None
    assert index.resident == 1


def written(scan: DataDirectoryScan, number: int, rows: int) -> DataDirectoryScan:
    new: Header = parse_header(header(rows=rows))
    file = TableFile(Database("db", "/"), NamedFile(f"t{number}", f"t{number}", None), new, None, 2.0)
    return scan_of([*scan.files[:number], file, *scan.files[number + 1 :]])


def test_what_was_written_is_asked_for_and_what_went_is_forgotten(told: Told) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(scan, 10)
    asked(told)
    sweeps.sweep(written(scan, 77, 9), 10)
    assert "t77" in asked(told)
    fewer = sweeps.sweep(scan_of(scan.files[:50]), 10)
    assert set(fewer.pages) == {("db", f"t{number}") for number in range(50)}
    assert len(sweeps.sweep(scan, 10).pages) == 100  # the others are new again: all of them were written


def test_where_a_table_came_for_one_that_went_nothing_is_told_as_a_change_of_the_sweep_before(told: Told) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(scan, 10)
    told.resident["t0.MYD"] = 5000
    assert sweeps.sweep(written(scan, 0, 9), 10).change is not None
    others = scan_of([*scan.files[1:], *tables(101).files[100:]])
    assert sweeps.sweep(others, 10).change is None


def grown(scan: DataDirectoryScan, numbers: Iterable[int], data_bytes: int) -> DataDirectoryScan:
    """A later scan in which these tables became that large, and nothing else changed."""
    new = HEADER._replace(data_bytes=data_bytes)
    changed = [TableFile(Database("db", "/"), NamedFile(f"t{number}", f"t{number}", None), new, None, 2.0) for number in numbers]
    files = list(scan.files)
    for number, file in zip(numbers, changed, strict=True):
        files[number] = file
    later = scan_of(files)
    later.follow(scan, changed)
    return later


def test_a_table_that_became_one_of_the_largest_is_asked_about_each_time_until_all_are_ordered_anew(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_turns, "MOST_GROWN", 3)
    ordered = Mock(side_effect=TableGroups.bytes_of_each)

    def bytes_of_each(groups: TableGroups) -> Iterator[int | None]:
        return iter(ordered(groups))

    monkeypatch.setattr(TableGroups, "bytes_of_each", bytes_of_each)
    scan, sweeps = tables(100), Sweeper(told)
    scan.groups()
    sweeps.sweep(scan, 10)
    numbers: list[int] = []
    for number in (70, 71, 72):
        numbers.append(number)
        scan = grown(scan, [number], 5000)
        asked(told)
        for _ in range(6):
            sweeps.sweep(scan, 10)
            assert {f"t{one}" for one in numbers} <= asked(told)
    assert ordered.call_count == 1
    scan = grown(scan, [73], 5000)
    sweeps.sweep(scan, 10)
    assert ordered.call_count == 2
    asked(told)
    in_turns: list[set[str]] = []
    for _ in range(sweep_turns.SWEEPS_OF_LARGEST):
        sweeps.sweep(scan, 10)
        in_turns.append(asked(told))
    assert all(any(f"t{number}" in names for names in in_turns) for number in (70, 71, 72, 73))
    assert not all("t70" in names for names in in_turns)


def test_a_sweep_that_ran_out_of_time_goes_on_where_it_stopped(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    assert sweeps.sweep(scan, -1).skipped_tables == 100
    skipped = [sweeps.sweep(scan, 10).skipped_tables for _ in range(5)]
    assert skipped == sorted(skipped, reverse=True)
    assert skipped[-1] == 0


def test_tables_that_come_take_nobodys_turn(told: Told) -> None:
    sweeps = Sweeper(told)
    sweeps.sweep(tables(100), 10)
    asked(told)
    seen: set[str] = set()
    for count in range(101, 111):
        sweeps.sweep(tables(count), 10)
        seen |= asked(told)
    assert seen == {f"t{number}" for number in range(110)}


def test_a_difference_that_goes_back_is_none(told: Told) -> None:
    scan, sweeps = tables(100), Sweeper(told)
    sweeps.sweep(scan, 10)
    known = sweeps.sweep(scan, 10)
    told.resident["t0.MYD"] = 3
    assert sweeps.sweep(scan, 10) is known  # so little is gathered
    told.resident["t0.MYD"] = 2
    assert all(sweeps.sweep(scan, 10) is known for _ in range(sweeper.LONGEST_SILENCE_SWEEPS + 1))


class Slow(Told):
    """Each question takes a second of a clock that nobody waits for."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__()
        self.clock = clock

    def probe(self, file: str, directory: int | None = None) -> FilePages | None:
        self.clock.move(0.5)
        return super().probe(file, directory)


def test_a_sweep_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "CLOCK_EVERY_FILES", 1)
    clock = MovedClock()
    sweep = Sweeper(Slow(clock), clock).sweep(tables(100), 10)
    # Data and index file of a table: a second.
    assert len(sweep.pages) == pytest.approx(11, abs=2)
    assert sweep.skipped_tables == 100 - len(sweep.pages)
    assert sweep.seconds == pytest.approx(len(sweep.pages), abs=2)


def test_where_each_page_is_looked_at_the_time_is_asked_for_each_table() -> None:
    clock = MovedClock()
    slow = Slow(clock)
    slow.has_walked_pages = True  # by mincore: a large file takes seconds
    assert len(Sweeper(slow, clock).sweep(tables(100), 10).pages) == pytest.approx(11, abs=2)


def test_where_later_sweeps_have_too_little_time_other_tables_come_and_it_is_told(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "CLOCK_EVERY_FILES", 1)
    clock = MovedClock()
    slow = Slow(clock)
    sweeps, scan = Sweeper(slow, clock), tables(100)
    assert sweeps.sweep(scan, 1000).problems == ()
    seen: set[str] = set()
    for _ in range(200):
        slow.asked.clear()
        swept = sweeps.sweep(scan, 4)
        seen |= asked(slow)
    assert any("older than is said" in problem.reason for problem in swept.problems)
    assert len(seen) == 100
    assert not any("older than is said" in problem.reason for problem in sweeps.sweep(scan, 1000).problems)
