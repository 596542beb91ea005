"""Links, devices and other users' files in a data directory: none ends a scan, none is taken for a damaged table, none is told of."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.myi import COLLECTOR
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import NOBODY_AT_ALL, DataDirectoryScan, owner_of, scan_data_directory
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.residency import Prober
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.server.location import _owner
from tests.support.myi import header, of_length

from .test_directory_scanner import age, make_table

Scan = Callable[[Path], DataDirectoryScan]
OTHER_UID = 54321
SECRET_BYTES = 300_000


@pytest.fixture(params=["anew", "in a daemon"])
def scan(request: pytest.FixtureRequest) -> Scan:
    """Both ways of looking."""
    return scan_data_directory if request.param == "anew" else DirectoryScanner().scan


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with one sound table."""
    directory = tmp_path / "data"
    directory.mkdir()
    make_table(directory / "db", "sound")
    age(directory)
    return directory


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Somebody else's file."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a file away")
    path = tmp_path / "secret"
    path.write_bytes(b"x" * SECRET_BYTES)
    os.chown(path, OTHER_UID, OTHER_UID)
    return path


def names(found: DataDirectoryScan) -> set[str]:
    return {f"{file.schema_name}.{file.table_name}" for file in found.files}


def told(found: DataDirectoryScan) -> str:
    return " | ".join(note.reason for note in COLLECTOR.notes(found))


def totals(found: DataDirectoryScan) -> dict[str, object]:
    blocks = [block for block in COLLECTOR.facts(Pair(found)) if block.table == "totals"]
    return dict(zip(blocks[0].columns, next(iter(blocks[0].rows)), strict=True)) if blocks else {}


@pytest.mark.parametrize("lead", ["itself", "nowhere", "a circle"])
def test_a_link_that_leads_nowhere_is_one_entry_left_out_and_told(data: Path, scan: Scan, lead: str) -> None:
    (data / "x").symlink_to({"itself": "x", "nowhere": "gone", "a circle": "y"}[lead])
    if lead == "a circle":
        (data / "y").symlink_to("x")
    (data / "db" / "x.MYI").symlink_to({"itself": "x.MYI", "nowhere": "gone", "a circle": "../x"}[lead])
    found = scan(data)
    assert names(found) == {"db.sound"}
    assert "x (it is a symbolic link" in told(found)
    assert "db.x (it is a symbolic link" in told(found)
    assert totals(found)["myisam_tables"] == 1
    assert totals(found)["crashed_tables"] == 0


@pytest.mark.parametrize("kind", ["fifo", "socket", "directory", "device", "link to a fifo", "link to a device"])
def test_what_is_no_file_is_no_damaged_table(data: Path, scan: Scan, kind: str, tmp_path: Path) -> None:
    path = data / "db" / "odd.MYI"
    place = tmp_path / "place" if kind.startswith("link") else path
    if kind.endswith("fifo"):
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif kind == "directory":
        path.mkdir()
    elif kind == "device":
        if os.geteuid() != 0:
            pytest.skip("needs root, to make a device")
        os.mknod(path, 0o020600, os.makedev(1, 5))
    if kind.startswith("link"):
        path.symlink_to("/dev/ptmx" if kind.endswith("device") else place)
    found = scan(data)
    assert names(found) == {"db.sound"}
    assert "db.odd (it is not a regular file)" in told(found)
    assert totals(found)["crashed_tables"] == 0


def test_a_device_behind_a_link_is_not_opened(data: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    for ending in (".MYI", ".MYD"):
        (data / "db" / f"tty{ending}").symlink_to("/dev/ptmx")
    (data / "db" / "sound.MYD").unlink()
    (data / "db" / "sound.MYD").symlink_to("/dev/ptmx")
    opened: list[str] = []
    real = os.open

    def noted(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = real(path, flags, mode, dir_fd=dir_fd)
        if not flags & os.O_PATH:
            opened.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        return descriptor

    monkeypatch.setattr(os, "open", noted)
    found = scan(data)
    Sweeper().sweep(found, 10)
    assert any(path.endswith("sound.MYI") for path in opened)
    assert not [path for path in opened if path.startswith("/dev")]


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_size_times_and_pages_of_another_users_file_are_not_told(data: Path, scan: Scan, secret: Path, link: Callable[[Path, Path], None]) -> None:
    (data / "db" / "sound.MYD").unlink()
    link(secret, data / "db" / "sound.MYD")
    link(secret, data / "db" / "big.ibd")
    link(secret, data / "ibdata1")
    link(secret, data / "db" / "leak.MYI")
    found = scan(data)
    (table,) = found.files
    assert table.data_modified is None
    assert found.other_engine_data_bytes == 0
    assert "db.sound (its data file) (it belongs to another user" in told(found)
    assert "db.leak (it belongs to another user" in told(found)
    assert totals(found) == {}  # it may be a table that the server reads: a part must not pass for the whole
    assert isinstance(COLLECTOR.unknown_columns(found)["totals.myisam_tables"], Unknown)
    pages, index = Sweeper().sweep(found, 10).pages["db", "sound"]
    assert pages is None
    assert index is not None or Prober().probe(str(data / "db" / "sound.MYI")) is None


def test_a_database_that_is_a_link_is_followed_to_the_servers_own_directory_only(data: Path, scan: Scan, tmp_path: Path) -> None:
    make_table(tmp_path / "own", "there")
    (data / "linked").symlink_to(tmp_path / "own")
    assert names(scan(data)) == {"db.sound", "linked.there"}
    if os.geteuid() != 0:
        return
    make_table(tmp_path / "others", "hidden")
    os.chown(tmp_path / "others", OTHER_UID, OTHER_UID)
    (data / "leak").symlink_to(tmp_path / "others")
    found = scan(data)
    assert names(found) == {"db.sound", "linked.there"}
    assert "leak (it belongs to another user" in told(found)


def test_a_link_that_is_turned_to_another_directory_is_followed_there(data: Path, tmp_path: Path) -> None:
    make_table(tmp_path / "one", "first")
    make_table(tmp_path / "two", "second")
    age(tmp_path)
    (data / "linked").symlink_to(tmp_path / "one")
    scanner = DirectoryScanner()
    assert names(scanner.scan(data)) == {"db.sound", "linked.first"}
    (data / "new").symlink_to(tmp_path / "two")
    (data / "new").rename(data / "linked")
    assert names(scanner.scan(data)) == {"db.sound", "linked.second"}
    scanner.close()


def test_a_database_on_a_disk_that_is_mounted_later_is_found(data: Path, tmp_path: Path) -> None:
    (data / "linked").symlink_to(tmp_path / "disk")
    scanner = DirectoryScanner()
    assert names(scanner.scan(data)) == {"db.sound"}
    make_table(tmp_path / "disk", "there")
    assert names(scanner.scan(data)) == {"db.sound", "linked.there"}
    assert told(scanner.scan(data)) == ""
    scanner.close()


def test_a_link_into_a_closed_directory_is_one_entry_that_cannot_be_read(data: Path, scan: Scan, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    (tmp_path / "closed").mkdir()
    make_table(tmp_path / "closed" / "db", "there")
    (tmp_path / "closed").chmod(0o700)
    (data / "inside").symlink_to(tmp_path / "closed" / "db")
    (data / "db" / "part.MYI").symlink_to(tmp_path / "closed" / "db" / "there.MYI")
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    os.seteuid(OTHER_UID)
    try:
        found = scan(data)
    finally:
        os.seteuid(0)
    assert names(found) == {"db.sound"}
    assert set(found.unreadable) == {"inside", "db.part"}
    assert "not all tables can be seen: inside (it cannot be read), db.part (it cannot be read)" in told(found)


def test_tables_with_directories_of_their_own_are_followed_and_told_whole(data: Path, scan: Scan, tmp_path: Path) -> None:
    make_table(tmp_path / "elsewhere", "t", rows=9)
    for ending in (".MYI", ".MYD"):
        (data / "db" / f"t{ending}").symlink_to(tmp_path / "elsewhere" / f"t{ending}")
    found = scan(data)
    assert names(found) == {"db.sound", "db.t"}
    assert told(found) == ""
    assert all(file.data_modified for file in found.files)
    assert totals(found)["myisam_rows"] == 12


def test_the_owner_is_the_directorys_or_where_that_is_root_the_system_databases(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to give files away")
    assert owner_of(tmp_path) == 0
    (tmp_path / "mysql").mkdir()
    os.chown(tmp_path / "mysql", OTHER_UID, OTHER_UID)
    assert owner_of(tmp_path) == OTHER_UID
    tmp_path.chmod(0o777)
    assert owner_of(tmp_path) == NOBODY_AT_ALL  # anybody could have put it there
    os.chown(tmp_path, 12345, 12345)
    assert owner_of(tmp_path) == 12345


def test_lengths_that_add_up_to_more_than_a_number_holds_are_the_most_that_it_holds(data: Path, scan: Scan) -> None:
    for name in ("huge", "huger"):
        make_table(data / "db", name)
        (data / "db" / f"{name}.MYI").write_bytes(of_length(2**63 - 1, 2**63 - 1))
    for part in ("a", "b"):
        (data / "db" / f"parted#P#{part}.MYI").write_bytes(of_length(2**63 - 1))
    age(data)
    assert totals(scan(data))["myisam_data_bytes"] == totals(scan(data))["myisam_index_bytes"] == 2**63 - 1
    blocks = {block.table: block for block in COLLECTOR.facts(Pair(scan(data)))}
    assert all(value < 2**63 for row in blocks["tables"].rows for value in row if isinstance(value, int))


def test_lengths_that_no_file_can_have_are_a_damaged_table_each(data: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_exporter.files.schema_reader.YOUNG_SECONDS", 0)
    for name in ("forged", "forged_too"):
        make_table(data / "db", name)
        (data / "db" / f"{name}.MYI").write_bytes(of_length(2**64 - 1))
    found = scan(data)
    assert {file.table_name: file.problem is not None for file in found.files} == {"sound": False, "forged": True, "forged_too": True}
    assert totals(found)["crashed_tables"] == 2


def test_the_indexes_that_have_no_room_are_counted_and_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from myisam_exporter.files import index_rows

    wide = header(keys=tuple((0, ((4, 0, 4),) * 16) for _ in range(64)))
    for number in range(20):
        (data / "db" / f"t{number}.MYI").write_bytes(wide)
    monkeypatch.setattr(index_rows, "MAXIMUM_TEXT_BYTES", 300_000)
    found = scan_data_directory(data)
    rows = next(block.rows for block in COLLECTOR.facts(Pair(found)) if block.table == "indexes")
    assert len(list(rows)) == 9 * 64
    assert "the indexes of 11 tables are not told" in told(found)


def test_index_rows_are_the_same_by_place_and_in_turn(data: Path) -> None:
    shapes = [header(keys=tuple((number, ((4, 16 * (number % 2), number + key),)) for key in range(number))) for number in range(6)]
    for number, shape in enumerate(shapes * 2):
        (data / "db" / f"t{number}.MYI").write_bytes(shape)
    block = next(block for block in COLLECTOR.facts(Pair(scan_data_directory(data))) if block.table == "indexes")
    rows = block.rows
    assert not isinstance(rows, list)
    in_turn = list(rows)
    assert [rows[place] for place in range(len(rows))] == in_turn  # type: ignore[index,arg-type]
    assert rows[-1] == in_turn[-1]  # type: ignore[index]
    assert rows[3:9] == in_turn[3:9]  # type: ignore[index]
    assert len(in_turn) == 2 * sum(range(6))
    with pytest.raises(IndexError):
        rows[len(in_turn)]  # type: ignore[index]
    assert {row[2] for row in in_turn} >= {1, 5}
    facts = FactRows(tuple(block.columns), rows)  # type: ignore[arg-type]
    assert [facts.values(column) for column in facts.columns] == [list(values) for values in zip(*in_turn, strict=True)]
    assert [facts.has(column) for column in ("index_name", "key_description")] == [False, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to own a directory as root does")
@pytest.mark.parametrize("mode", [0o1777, 0o770])
def test_roots_own_files_are_nobodys_where_others_may_write(tmp_path: Path, mode: int) -> None:
    (tmp_path / "d").mkdir()
    tmp_path.chmod(mode)
    assert owner_of(tmp_path) == NOBODY_AT_ALL
    (tmp_path / "mysql").mkdir()
    assert owner_of(tmp_path) == NOBODY_AT_ALL
    os.chown(tmp_path / "mysql", OTHER_UID, OTHER_UID)
    assert owner_of(tmp_path) == (NOBODY_AT_ALL if mode == 0o1777 else OTHER_UID)
    tmp_path.chmod(0o755)
    (tmp_path / "mysql").rmdir()
    assert owner_of(tmp_path) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to own a directory as root does")
def test_a_process_of_roots_makes_roots_files_the_servers_only_where_root_alone_writes(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert _owner(tmp_path, 1, Path("/proc")) != 0
    tmp_path.chmod(0o700)
    assert _owner(tmp_path, 1, Path("/proc")) == 0
