"""A daemon's scans: the same as one made anew, and nothing read twice."""

import errno
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from myisam_exporter.files import directory_scanner, schema_reader
from myisam_exporter.files.data_directory import DataDirectoryScan, scan_data_directory
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.myi_header import CHANGED_CRASHED
from myisam_exporter.files.schema_reader import SchemaFiles, SchemaReader
from myisam_exporter.kernel.inotify import DirectoryWatch
from tests.support.mounts import mounted
from tests.support.moved_clock import MovedClock
from tests.support.myi import header

DAY = 86_400


def make_table(folder: Path, name: str, rows: int = 3) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.MYI").write_bytes(header(rows=rows))
    (folder / f"{name}.MYD").write_bytes(b"x" * rows)


def age(root: Path, seconds: float = 30 * DAY) -> None:
    """As if nothing had been written for long."""
    moment = time.time() - seconds
    for path in root.rglob("*.MY?"):
        os.utime(path, (moment, moment))


def contents(scan: DataDirectoryScan) -> tuple[object, ...]:
    return sorted(map(repr, scan.files)), scan.other_engine_data_bytes, scan.unreadable


@pytest.fixture(params=["told which", "told", "not told"])
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DirectoryScanner:
    """With inotify of tables and of databases, and without."""
    monkeypatch.setattr(directory_scanner, "STAYS_FROM_TABLES", 1 if request.param == "told which" else 1_000_000)
    if request.param == "not told":
        monkeypatch.setattr(directory_scanner, "_tells_of_changes", lambda directory: False)
    return DirectoryScanner()


def test_of_some_databases_the_others_are_not_read(tmp_path: Path) -> None:
    for name in ("shop", "a@002db", "other"):
        make_table(tmp_path / name, "orders")
    found = scan_data_directory(tmp_path, databases={"shop", "a-b", "none"})
    assert {file.schema_name for file in found.files} == {"shop", "a-b"}


def test_of_the_servers_own_database_what_is_damaged_is_told_and_nothing_else(tmp_path: Path, scanner: DirectoryScanner) -> None:
    make_table(tmp_path / "shop", "orders")
    for name in ("user", "db", "proc"):
        make_table(tmp_path / "mysql", name)
    (tmp_path / "mysql" / "stats.ibd").write_bytes(b"x" * 1000)
    age(tmp_path)
    sound = scanner.scan(tmp_path)
    assert [file.table_name for file in sound.files] == ["orders"]
    assert sound.other_engine_data_bytes == 0
    (tmp_path / "mysql" / "user.MYI").write_bytes(header(changed=CHANGED_CRASHED))
    (tmp_path / "mysql" / "db.MYI").write_bytes(b"no header")
    age(tmp_path, schema_reader.YOUNG_SECONDS + 1)
    time.sleep(schema_reader.YOUNG_SECONDS + 0.1)
    found = scanner.scan(tmp_path)
    assert sorted((file.schema_name, file.table_name) for file in found.files) == [("mysql", "db"), ("mysql", "user"), ("shop", "orders")]
    assert contents(found) == contents(scan_data_directory(tmp_path))
    for name in ("user", "db"):
        make_table(tmp_path / "mysql", name)
    assert [file.table_name for file in scanner.scan(tmp_path).files] == ["orders"]
    shutil.rmtree(tmp_path / "mysql")
    assert [file.table_name for file in scanner.scan(tmp_path).files] == ["orders"]


def test_a_table_that_was_damaged_before_the_clock_was_set_back_is_told_all_the_same(tmp_path: Path) -> None:
    """It was taken for one that is being made, until the clock was where it had been."""
    make_table(tmp_path / "shop", "orders")
    (tmp_path / "shop" / "orders.MYI").write_bytes(b"no header")
    clock = MovedClock()
    assert [file.problem for file in scan_data_directory(tmp_path, clock=clock).files] == [], "it may be one that is being made"
    clock.move(schema_reader.YOUNG_SECONDS)
    told = [bool(file.problem) for file in scan_data_directory(tmp_path, clock=clock).files]
    clock.set(-3600)
    assert [bool(file.problem) for file in scan_data_directory(tmp_path, clock=clock).files] == told == [True]


def test_while_nothing_changes_nothing_is_read_and_the_generation_is_the_same(tmp_path: Path, scanner: DirectoryScanner) -> None:
    for number in range(20):
        make_table(tmp_path / f"db{number % 4}", f"t{number}")
    age(tmp_path)
    first = scanner.scan(tmp_path)
    assert len(first.files) == scanner.headers_read == 20
    for _ in range(2):
        later = scanner.scan(tmp_path)
        assert (later.generation, later.files_generation) == (first.generation, first.files_generation)
    assert scanner.headers_read == 20
    scanner.close()


def test_only_what_changed_is_read_again(tmp_path: Path, scanner: DirectoryScanner) -> None:
    for number in range(20):
        make_table(tmp_path / f"db{number % 4}", f"t{number}")
    age(tmp_path)
    first = scanner.scan(tmp_path)
    make_table(tmp_path / "db1", "t5", rows=7)
    later = scanner.scan(tmp_path)
    assert later.generation != first.generation
    assert later.files_generation != first.files_generation
    assert scanner.headers_read == 21
    assert {file.header.rows for file in later.files if file.header and file.stem == "t5"} == {7}
    assert contents(later) == contents(scan_data_directory(tmp_path))
    scanner.close()


def test_databases_that_are_not_touched_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        make_table(tmp_path / f"db{number}", "t")
    age(tmp_path)
    scanner = DirectoryScanner()
    scanner.scan(tmp_path)
    listed: list[object] = []
    open_file = os.open

    def opening(path: str | Path, flags: int, *words: int, dir_fd: int | None = None) -> int:
        if flags & os.O_DIRECTORY:
            listed.append(path)
        return open_file(path, flags, *words, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", opening)
    scanner.scan(tmp_path)
    assert listed == []
    (tmp_path / "db3" / "t.MYD").write_bytes(b"more")
    scanner.scan(tmp_path)
    assert len(listed) == 1
    scanner.close()


def test_changes_within_a_tick_of_the_clock_are_seen(tmp_path: Path, scanner: DirectoryScanner) -> None:
    make_table(tmp_path / "db", "t", rows=1)
    for rows in range(2, 60):
        (tmp_path / "db" / "t.MYI").write_bytes(header(rows=rows))
        (file,) = scanner.scan(tmp_path).files
        assert file.header is not None
        assert file.header.rows == rows
    scanner.close()


def test_a_database_made_anew_under_its_old_name(tmp_path: Path, scanner: DirectoryScanner) -> None:
    make_table(tmp_path / "db", "old")
    age(tmp_path)
    scanner.scan(tmp_path)
    shutil.rmtree(tmp_path / "db")
    make_table(tmp_path / "db", "new")
    assert [file.stem for file in scanner.scan(tmp_path).files] == ["new"]
    make_table(tmp_path / "db", "newer")
    assert {file.stem for file in scanner.scan(tmp_path).files} == {"new", "newer"}
    scanner.close()


def test_another_directory_in_the_place_of_the_first(tmp_path: Path, scanner: DirectoryScanner) -> None:
    (tmp_path / "data").mkdir()
    make_table(tmp_path / "data" / "db", "a")
    scanner.scan(tmp_path / "data")
    (tmp_path / "data").rename(tmp_path / "former")
    (tmp_path / "data").mkdir()
    make_table(tmp_path / "data" / "other", "b")
    assert [file.stem for file in scanner.scan(tmp_path / "data").files] == ["b"]
    scanner.close()


def test_ages_are_told_anew_the_sooner_the_younger_they_are(tmp_path: Path) -> None:
    make_table(tmp_path / "db", "t")
    age(tmp_path, DAY)
    clock = MovedClock()
    scanner = DirectoryScanner(clock)
    first = scanner.scan(tmp_path)
    clock.move(500)
    assert scanner.scan(tmp_path).generation == first.generation
    clock.move(401)
    later = scanner.scan(tmp_path)
    assert later.generation != first.generation
    assert later.files_generation == first.files_generation
    assert later.now == pytest.approx(first.now + 901, abs=60)
    clock.move(-4501)  # it was set back
    assert scanner.scan(tmp_path).now == pytest.approx(first.now - 3600, abs=60)
    assert scanner.headers_read == 1
    scanner.close()


def test_where_the_kernel_gives_no_more_watches_it_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        make_table(tmp_path / f"db{number}", "t")
    arm = DirectoryWatch.arm
    monkeypatch.setattr(DirectoryWatch, "arm", lambda watch, path, contents, stays=False: path.endswith(("db1", "db2")) and arm(watch, path, contents=contents, stays=stays))
    scanner = DirectoryScanner()
    scanner.scan(tmp_path)
    for number in range(6):
        make_table(tmp_path / f"db{number}", "t", rows=10 + number)
        assert contents(scanner.scan(tmp_path)) == contents(scan_data_directory(tmp_path))
    make_table(tmp_path / "db9", "new")
    assert contents(scanner.scan(tmp_path)) == contents(scan_data_directory(tmp_path))
    scanner.close()


@pytest.fixture
def layers(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A container's file system, and the layer below in which its writes arrive."""
    lower, upper, work, merged = (tmp_path / name for name in ("lower", "upper", "work", "merged"))
    for folder in (lower, upper, work, merged):
        folder.mkdir()
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    with mounted(merged, "-t", "overlay", "-o", options, "overlay"):
        yield merged, upper


@pytest.mark.parametrize("told", [False, True])
def test_layers_do_not_tell_of_what_happens_below_them(layers: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, told: bool) -> None:
    """Were inotify trusted there, changes would be missed: that is why it is not."""
    merged, upper = layers
    make_table(merged / "db", "t")
    make_table(merged / "db", "other")
    age(merged)
    if told:
        monkeypatch.setattr(directory_scanner, "_tells_of_changes", lambda directory: True)
    scanner = DirectoryScanner()
    before = scanner.scan(merged)
    assert scanner.scan(merged).generation == before.generation
    assert scanner.headers_read == 2
    make_table(upper / "db", "t", rows=9)
    assert (contents(scanner.scan(merged)) == contents(scan_data_directory(merged))) == (not told)
    assert scanner.headers_read == (2 if told else 3)
    scanner.close()


def test_a_damaged_table_is_read_until_it_is_mended(tmp_path: Path, scanner: DirectoryScanner) -> None:
    make_table(tmp_path / "db", "t")
    (tmp_path / "db" / "t.MYI").write_bytes(b"garbage")
    assert scanner.scan(tmp_path).files == ()  # it may be being made
    time.sleep(0.6)
    assert [file.header for file in scanner.scan(tmp_path).files] == [None]
    make_table(tmp_path / "db", "t", rows=4)
    assert [file.header.rows for file in scanner.scan(tmp_path).files if file.header] == [4]
    scanner.close()


def change(root: Path, chance: random.Random) -> None:
    """One of the things that happen in a data directory."""
    databases = [path for path in root.iterdir() if path.is_dir()]
    tables = [path for folder in databases for path in folder.glob("*.MYI")]
    if not tables or chance.random() < 0.15:
        make_table(root / f"db{chance.randrange(5)}", f"t{chance.randrange(9)}", chance.randrange(100))
        return
    database, table = chance.choice(databases), chance.choice(tables)
    some_bytes = b"x" * chance.randrange(50)
    actions: list[Callable[[], object]] = [
        table.unlink,
        lambda: table.with_suffix(".MYD").unlink(missing_ok=True),
        lambda: table.rename(database / f"t{chance.randrange(9)}.MYI"),
        lambda: shutil.rmtree(database) if chance.random() < 0.3 else None,
        lambda: (database / "other.ibd").write_bytes(some_bytes),
        lambda: (root / "ibdata1").write_bytes(some_bytes),
        lambda: age(root, chance.randrange(1, 100 * DAY)),
        *[lambda: table.write_bytes(header(rows=chance.randrange(1000)))] * 3,
        lambda: table.with_suffix(".MYD").write_bytes(some_bytes),
        lambda: (database / "t.MRG").write_text("t1\n"),
    ]
    chance.choice(actions)()


@pytest.mark.slow
def test_whatever_happens_it_sees_what_a_fresh_scan_sees(tmp_path: Path, scanner: DirectoryScanner) -> None:
    """A thousand changes by chance."""
    chance = random.Random(20)
    for _ in range(1000):
        change(tmp_path, chance)
        if chance.random() < 0.5:
            assert contents(scanner.scan(tmp_path)) == contents(scan_data_directory(tmp_path))
    scanner.close()


def test_a_table_that_was_just_written_ages_at_once(tmp_path: Path) -> None:
    make_table(tmp_path / "db", "t")
    age(tmp_path, 2)
    clock = MovedClock()
    scanner = DirectoryScanner(clock)
    scanner.scan(tmp_path)
    ages = []
    for _ in range(60, 3600, 60):
        clock.move(60)
        scan = scanner.scan(tmp_path)
        (file,) = scan.files
        ages.append(scan.now - (file.data_modified or 0))
    assert ages[0] > 60
    assert len(set(ages)) < 15
    assert all(found > (2 + seconds) / 2 and found > seconds - 602 for found, seconds in zip(ages, range(60, 3600, 60), strict=True))
    scanner.close()


def test_a_table_whose_files_lie_elsewhere(tmp_path: Path) -> None:
    """DATA DIRECTORY and INDEX DIRECTORY: links in the database's directory, changes behind them."""
    make_table(tmp_path / "elsewhere", "t")
    data = tmp_path / "data"
    make_table(data, "unused")
    make_table(data / "db", "here")
    for ending in (".MYI", ".MYD"):
        (data / "db" / f"t{ending}").symlink_to(tmp_path / "elsewhere" / f"t{ending}")
    age(tmp_path)
    scanner = DirectoryScanner()
    first = scanner.scan(data)
    assert scanner.scan(data).generation == first.generation
    make_table(tmp_path / "elsewhere", "t", rows=9)
    assert {file.header.rows for file in scanner.scan(data).files if file.header} == {3, 9}
    assert scanner.headers_read == 3
    scanner.close()


def test_what_a_scan_found_before_it_failed_is_told_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        make_table(tmp_path / name, "t")
    age(tmp_path)
    scanner = DirectoryScanner()
    scanner.scan(tmp_path)
    for name in ("a", "b", "c"):
        make_table(tmp_path / name, "t", rows=8)
    read, calls = SchemaReader.read, [0]

    def reading(reader: SchemaReader, path: str, name: str) -> SchemaFiles | None:
        calls[0] += 1
        if calls[0] == 2:
            raise OSError(errno.EMFILE, "Too many open files")
        return read(reader, path, name)

    monkeypatch.setattr(SchemaReader, "read", reading)
    with pytest.raises(OSError, match="Too many"):
        scanner.scan(tmp_path)
    assert [file.header.rows for file in scanner.scan(tmp_path).files if file.header] == [8, 8, 8]
    scanner.close()


def test_what_is_wrong_with_a_header_is_still_said_when_the_data_change(
    tmp_path: Path, scanner: DirectoryScanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_reader, "YOUNG_SECONDS", 0.0)
    make_table(tmp_path / "db", "t")
    (tmp_path / "db" / "t.MYI").write_bytes(b"no header")
    age(tmp_path)
    (problem,) = [file.problem for file in scanner.scan(tmp_path).files]
    assert problem
    (tmp_path / "db" / "t.MYD").write_bytes(b"more")
    assert [file.problem for file in scanner.scan(tmp_path).files] == [problem]


def test_a_name_that_many_databases_have_is_kept_once(tmp_path: Path) -> None:
    reader = SchemaReader((tmp_path).stat().st_uid, remember=True)
    for database in ("a", "b"):
        make_table(tmp_path / database, "posts")
    one, other = (reader.read(str(tmp_path / name), name) for name in ("a", "b"))
    assert one is not None
    assert other is not None
    assert one.files[0].table_name is one.files[0].stem is other.files[0].table_name


def test_files_that_are_read_again_share_their_database_with_those_that_are_not(tmp_path: Path, scanner: DirectoryScanner) -> None:
    for number in range(3):
        make_table(tmp_path / "db", f"t{number}")
    age(tmp_path)
    scanner.scan(tmp_path)
    make_table(tmp_path / "db", "t1", rows=7)
    one, *others = (file.database for file in scanner.scan(tmp_path).files)
    assert all(other is one for other in others)
    scanner.close()
