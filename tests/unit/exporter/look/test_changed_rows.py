"""What a look saw changed is what is merged, chosen and judged; the result is that of doing it all anew, whatever happens to the files."""

import os
import random
import shutil
import struct
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.myi import MYI, write_statements
from myisam_exporter.facts.columns import Change, Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.pages_by_table import PagesByTable
from myisam_exporter.files.sweeper import PageCacheSweep
from myisam_exporter.files.writes import statements_between
from myisam_exporter.kernel.residency import FilePages
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.merging import Remembered
from myisam_exporter.look.pairs import pairs_between
from myisam_exporter.look.snapshot import Snapshot
from myisam_exporter.look.table_choice import TableChooser
from tests.support.moved_clock import MovedClock
from tests.support.myi import header

from .test_interval import snapshot, status

AGE = "data_modified_seconds_ago"
SLACK_SECONDS = 5.0  # the clock of the test goes on while it reckons
ROWS_AT, UPDATE_COUNT_AT = 28, struct.calcsize(">4s7H5BxHBB9QQ4I") - 4
KEYS = ((0, ((4, 0, 4),)), (1, ((4, 0, 4), (3, 0, 2))))
SITE = Site(shipped_rules())
KINDS = ("write", "write", "write", "create", "drop", "rename", "truncate", "crash", "evict", "wait", "nothing")


class Tables:
    """Files of tables, and what happens to them."""

    def __init__(self, root: Path, count: int, chance: random.Random) -> None:
        self.root, self.chance, self.made = root, chance, 0
        for _ in range(count):
            self.create()

    def files(self) -> list[Path]:
        return sorted(self.root.glob("*/*.MYI"))

    def create(self) -> None:
        folder = self.root / f"db{self.chance.randrange(3)}"
        folder.mkdir(exist_ok=True)
        keys = KEYS[: self.chance.randrange(3)]
        for partition in self.chance.choice(("", "", "", "#P#p0 #P#p1")).split(" "):
            path = folder / f"t{self.made}{partition}.MYI"
            path.write_bytes(header(keys=keys, rows=self.chance.randrange(5)))
            path.with_suffix(".MYD").write_bytes(b"x")
        self.made += 1

    def write(self) -> None:
        path = self.chance.choice(self.files())
        with path.open("r+b") as file:
            for place, form in ((ROWS_AT, ">Q"), (UPDATE_COUNT_AT, ">I")):
                file.seek(place)
                found = file.read(struct.calcsize(form))
                if len(found) < struct.calcsize(form):
                    return
                file.seek(place)
                file.write(struct.pack(form, struct.unpack(form, found)[0] + 1))
        os.utime(path.with_suffix(".MYD"))

    def drop(self) -> None:
        path = self.chance.choice(self.files())
        path.unlink()
        path.with_suffix(".MYD").unlink()

    def rename(self) -> None:
        path = self.chance.choice(self.files())
        for ending in (".MYI", ".MYD"):
            path.with_suffix(ending).rename(path.with_name(f"r{self.made}{ending}"))
        self.made += 1

    def truncate(self) -> None:
        path = self.chance.choice(self.files())
        path.write_bytes(path.read_bytes()[: self.chance.choice((0, 10, 130))])

    def crash(self) -> None:
        self.chance.choice(self.files()).write_bytes(header(changed=2, rows=9))


def pages_of(scan: DataDirectoryScan, chance: random.Random) -> PagesByTable:
    pages = [
        (FilePages(chance.randrange(3), 0, 0, 0, 0), FilePages(1)) if chance.random() < 0.9 else None for _ in scan.groups()
    ]
    return PagesByTable(scan.groups().places, pages)


class Looks:
    """Two daemons at one server: one that takes over what did not change, and one that is never told what that is."""

    def __init__(self, tables: Tables, clock: MovedClock) -> None:
        self.tables, self.clock = tables, clock
        self.scanner, self.remembered, self.database = DirectoryScanner(clock), Remembered(), FactDatabase()
        self.choosers = TableChooser(2), TableChooser(2)
        self.before: tuple[Snapshot, Snapshot] | None = None
        self.sweep: PageCacheSweep | None = None
        self.started, self.uptime = clock.time() - 5000, 5000
        self.taken_over = 0

    def look(self, evicts: bool) -> tuple[FactSet, FactSet]:
        self.clock.move(10)
        self.uptime = int(self.clock.time() - self.started)
        scan = self.scanner.scan(self.tables.root)
        self.sweep = self.swept(scan, evicts)
        one = snapshot(float(self.uptime), status=status(self.uptime), myi=scan, page_cache=self.sweep)
        other = snapshot(
            float(self.uptime),
            status=status(self.uptime),
            myi=replace(scan, now=self.clock.time()),
            page_cache=replace(self.sweep, change=None),
        )
        before = self.before or (None, None)
        self.before = one, other
        found = Interval(one, before[0]).facts(self.remembered), Interval(other, before[1]).facts()
        if before[0] is not None:
            expect_statements_of_these_scans(MYI.pair(pairs_between(before[0], one)))
        return found

    def swept(self, scan: DataDirectoryScan, evicts: bool) -> PageCacheSweep:
        """The last one, or one of which some tables differ, as a sweeper tells it."""
        last, tables = self.sweep, scan.groups()
        if last is None or list(last.pages.places) != list(tables):
            return PageCacheSweep(pages_of(scan, self.tables.chance), 0, (), 0.1)
        if not evicts:
            return last
        found = pages_of(scan, self.tables.chance)
        changed = {name: pages for name, pages in found.items() if last.pages.get(name) != pages}
        pages = last.pages.of(tables, [tables.places[name] for name in last.pages])
        pages = pages.with_pages({tables.places[name]: one for name, one in changed.items()})
        return PageCacheSweep(pages, 0, (), 0.1, 0, Change(last.generation, frozenset(changed)))

    def compare(self, evicts: bool) -> tuple[FactSet, FactSet]:
        mine, whole = self.look(evicts)
        self.taken_over += mine.tables["tables"].change is not None
        expect_same_rows(mine.tables["tables"], whole.tables["tables"])
        assert list(map(tuple, mine.tables["indexes"].rows)) == list(map(tuple, whole.tables["indexes"].rows))
        assert mine.tables["totals"] == whole.tables["totals"]
        assert mine.unknown == whole.unknown
        tables = mine.tables["tables"]
        assert tables.places_by_name() == replace(tables).places_by_name()
        for column in tables.columns:
            assert tables.sum_of(column) == replace(tables).sum_of(column), column
            assert tables.has(column) == replace(tables).has(column), column
        told, anew = self.choosers[0].choose(tables), self.choosers[1].choose(replace(tables))
        assert told.shown == anew.shown
        assert told.omitted_count == anew.omitted_count
        assert told.omitted_total("data_bytes") == anew.omitted_total("data_bytes")
        kept, fresh = self.database.holding(mine), FactDatabase()
        every = "SELECT * FROM tables ORDER BY rowid"
        assert kept.query(every) == fresh.holding(mine).query(every)
        fresh.close()
        return mine, with_ages_of(mine, whole)

    def close(self) -> None:
        self.scanner.close()
        self.database.close()


def expect_statements_of_these_scans(pair: Pair[DataDirectoryScan] | Unknown) -> None:
    """What was counted while the facts were put together is what their files say."""
    assert not isinstance(pair, Unknown)
    if pair.before is not None:
        assert write_statements(pair) == statements_between(pair.before.files, pair.after.files)


def expect_same_rows(mine: FactRows, whole: FactRows) -> None:
    """Ages alone may lag behind: the row by what the table's age was, at most ten minutes, later by a hundredth; the scan by what it was then."""
    assert len(mine.rows) == len(whole.rows)
    for one, other in zip(mine.dictionaries(), whole.dictionaries(), strict=True):
        told, age = one.pop(AGE), other.pop(AGE)
        assert one == other
        if told is None or age is None:
            assert told is age is None
        else:
            assert isinstance(told, float)
            assert isinstance(age, float)
            row_lags = max(min(600.0, told), told / 100)
            then = told + row_lags
            assert -0.01 <= age - told <= row_lags + max(min(600.0, then), then / 100) + SLACK_SECONDS


def with_ages_of(mine: FactSet, whole: FactSet) -> FactSet:
    place = mine.tables["tables"].columns.index(AGE)
    rows: list[list[Value]] = [list(row) for row in whole.tables["tables"].rows]
    for row, told in zip(rows, mine.tables["tables"].values(AGE), strict=True):
        row[place] = told
    return replace(whole, tables={**whole.tables, "tables": FactRows(mine.tables["tables"].columns, rows)})


def judged(facts: FactSet, database: FactDatabase | None) -> Mapping[str, object]:
    judgement = judge(prepared(facts, SITE), database)
    return {
        name: getattr(judgement, name)
        for name in ("findings", "quiet", "not_evaluated", "dropped", "suspicious", "blind")
    }


def in_a_directory(work: Callable[[Path], None]) -> None:
    directory = Path(tempfile.mkdtemp())
    try:
        work(directory)
    finally:
        shutil.rmtree(directory)


def looked_twice(happened: list[list[str]], seed: int) -> int:
    """What happens between looks, and how many of these took rows over."""
    taken_over = 0

    def work(root: Path) -> None:
        nonlocal taken_over
        chance, clock = random.Random(seed), MovedClock()
        tables = Tables(root, 12, chance)
        looks = Looks(tables, clock)
        for _ in range(2):
            looks.compare(evicts=False)
        database = FactDatabase()
        for kinds in happened:
            for kind in kinds:
                if kind == "wait":
                    clock.move(chance.choice((30, 700, 90_000)))
                elif hasattr(tables, kind):
                    getattr(tables, kind)()
            mine, whole = looks.compare("evict" in kinds)
        assert judged(mine, database) == judged(whole, FactDatabase()) == judged(whole, None)
        taken_over = looks.taken_over
        looks.close()
        database.close()

    in_a_directory(work)
    return taken_over


def test_looks_that_take_over_what_did_not_change_are_as_looks_made_anew() -> None:
    taken_over = 0

    # A failure is told as it came: making it smaller would take longer than reading it.
    @settings(
        max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate), suppress_health_check=[HealthCheck.too_slow]
    )
    @given(st.lists(st.lists(st.sampled_from(KINDS), max_size=3), min_size=2, max_size=7), st.integers(0, 2**32))
    def whatever(happened: list[list[str]], seed: int) -> None:
        nonlocal taken_over
        taken_over += looked_twice(happened, seed)

    whatever()
    assert taken_over, "both daemons looked at everything anew"


def test_of_a_look_after_a_write_few_rows_are_others() -> None:
    def work(root: Path) -> None:
        clock = MovedClock()
        tables = Tables(root, 40, random.Random(1))
        for path in root.rglob("*.MY?"):
            os.utime(path, (1_000_000_000, 1_000_000_000))
        looks = Looks(tables, clock)
        for _ in range(3):
            looks.compare(evicts=False)
        database, filled = FactDatabase(), []
        for kind in ("nothing", "write", "nothing", "nothing"):
            getattr(tables, kind, lambda: None)()
            mine, whole = looks.compare(evicts=False)
            change = mine.tables["tables"].change
            filled.append(None if change is None else len(change.before))
            assert judged(mine, database) == judged(whole, FactDatabase()) == judged(whole, None)
        # The one that was written, then the same without its rate; its age is told again as it grows.
        assert filled[1:3] == [1, 1]
        looks.close()

    in_a_directory(work)


def test_what_was_found_in_no_row_is_looked_for_in_rows_that_differ() -> None:
    looked: list[int] = []

    def odd(rows: FactRows) -> list[Value]:
        looked.append(len(rows.rows))
        return [value for value in rows.values("number") if isinstance(value, int) and value % 2]

    first = FactRows(("number",), [(2,), (4,), (6,)])
    assert first.found_by_row("odd", odd) == []
    second = first.with_rows({1: (8,)})
    third = second.with_rows({2: (5,)})
    assert third.found_by_row("odd", odd) == [5]
    assert looked == [3, 3]  # nobody had looked at the second: all are looked at
    assert second.found_by_row("odd", odd) == []
    assert second.with_rows({0: (7,)}).found_by_row("odd", odd) == [7]
    assert looked[2:] == [1, 1, 3]
