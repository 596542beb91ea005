"""A crashed table: its files are copied before anything is repaired."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.planning import MARIADB, MYSQL, facts, planned, texts
from tests.support.recorded import PLACE, RecordedLook

ROW = {"schema_name": "shop", "table_name": "orders", "data_bytes": 1000, "index_bytes": 2000, "header_problem": None}


def row_of(look: RecordedLook, table: str) -> dict[str, Any]:
    return next(row for row in look.facts.tables["tables"].dictionaries() if row["table_name"] == table)


def test_the_recorded_table_is_copied_checked_and_repaired(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    for look, files in ((on_mariadb, f"{PLACE}/data/archive/broken.*"), (on_mysql, f"{PLACE}/data/archive/broken.MY[ID] {PLACE}/data/archive/broken_*.sdi")):
        plan = planned("crashed_table", row_of(look, "broken"), look.facts)
        closed, copied, check, repair = texts(plan.commands)
        assert closed == "FLUSH TABLES `archive`.`broken`;"
        assert copied == f'df -h /var/tmp && copied="$(mktemp -d /var/tmp/archive.broken.XXXXXX)" && echo "$copied" && cp -p {files} "$copied"'
        assert (check, repair) == ("CHECK TABLE `archive`.`broken`;", "REPAIR TABLE `archive`.`broken`;")


def test_the_line_prints_where_the_copy_is_and_keeps_it_for_the_shell(tmp_path: Path) -> None:
    database = tmp_path / "a 'data' directory" / "shop"
    database.mkdir(parents=True)
    for name in ("orders.MYD", "orders.MYI", "orders.frm"):
        (database / name).write_text(name)
    known = facts(server=MARIADB | {"data_directory": str(database.parent)})
    _, line, *_ = texts(planned("crashed_table", ROW, known).commands)
    shell = subprocess.run(["sh", "-c", f'{line}\nls "$copied"\ncp -p "$copied"/* {shlex.quote(str(tmp_path))}\nrm -r -- "$copied"'], capture_output=True, text=True, check=True)
    copy, *copied = shell.stdout.splitlines()[-4:]
    assert re.fullmatch(r"/var/tmp/shop\.orders\.\w{6}", copy)
    assert copied == ["orders.MYD", "orders.MYI", "orders.frm"]
    assert (tmp_path / "orders.MYD").read_text() == "orders.MYD"


def test_partitions_are_copied_too(on_mariadb: RecordedLook) -> None:
    copied = texts(planned("crashed_table", row_of(on_mariadb, "parted"), on_mariadb.facts).commands)[1]
    assert f"{PLACE}/data/archive/parted#*" in copied


@pytest.mark.parametrize(("server", "files"), [(MARIADB, ".MYI, .MYD and .frm"), (MYSQL, ".MYI, .MYD and .sdi"), ({"flavour": "mysql"}, ".MYI, .MYD and .frm or .sdi")])
def test_the_files_are_those_of_the_version(server: dict[str, Any], files: str) -> None:
    assert planned("crashed_table", ROW, facts(server=server)).values["files"] == files


@pytest.mark.parametrize("name", ["a b", "x'; rm -rf /", "ünï"])
def test_a_name_that_stands_in_files_as_codes_gets_a_remark_and_no_line(name: str) -> None:
    commands = texts(planned("crashed_table", ROW | {"table_name": name}, facts(server=MARIADB)).commands)
    assert not any("cp -p" in command for command in commands)
    assert commands[0].startswith("-- between FLUSH TABLES and CHECK TABLE, copy the files of ")


def test_a_copy_that_would_fill_the_disk_goes_to_another() -> None:
    known = facts(server=MARIADB, host={"data_directory_free_bytes": 2999})
    assert "to another disk" in texts(planned("crashed_table", ROW, known).commands)[0]


@pytest.mark.parametrize(("data_bytes", "is_copied"), [((1 << 30) - 2000, True), ((1 << 30) - 1999, False), (None, False)])
def test_only_a_small_copy_goes_where_the_room_is_not_known(data_bytes: int | None, is_copied: bool) -> None:
    plan = planned("crashed_table", ROW | {"data_bytes": data_bytes}, facts(server=MARIADB, host={"data_directory_free_bytes": 1 << 40}))
    commands = texts(plan.commands)
    assert any("cp -p" in command for command in commands) is is_copied
    assert plan.values["copied_to"] == ("/var/tmp" if is_copied else "")
    assert is_copied or "to a disk with room for them, outside of it" in commands[0]


def test_a_header_that_is_gone_is_made_anew_and_a_number_alone_gives_no_command() -> None:
    assert texts(planned("crashed_table", ROW | {"header_problem": "empty"}, facts(server=MARIADB)).commands)[-1] == "REPAIR TABLE `shop`.`orders` USE_FRM;"
    nameless = planned("crashed_table", {"table_name": None, "crashed_tables": 3}, facts(server=MARIADB))
    assert nameless.commands == ()


@pytest.mark.parametrize(("option", "said"), [("OFF", ""), ("BACKUP,QUICK", "BACKUP,QUICK")])
def test_what_recovery_is_set_to_is_said(option: str, said: str) -> None:
    assert planned("crashed_table", ROW, facts(server=MARIADB, variable={"myisam_recover_options": option})).values["recovery"] == said


GIB = 1 << 30


@pytest.mark.parametrize(
    ("server", "more", "by_name"),
    [
        (MARIADB, {}, True), (MYSQL | {"version_number": 50127}, {}, True), (MYSQL | {"version_number": 50126}, {}, False), ({}, {}, False),
        (MARIADB, {"header_problem": "cut short"}, False), (MARIADB, {"crashed_partitions": None}, False), (MARIADB, {"crashed_partitions": "p1, p 2"}, False),
    ],
)  # fmt: skip
def test_damaged_partitions_are_repaired_by_name_where_server_and_names_allow_it(server: dict[str, Any], more: dict[str, Any], by_name: bool) -> None:
    """Then the size of all of them is not told as that of the copy, unless it is small."""
    row = ROW | {"crashed_partitions": "p1, p2", "data_bytes": 3 * GIB} | more
    plan = planned("crashed_table", row, facts(server=server))
    assert ("PARTITION `p1`, `p2`" in texts(plan.commands)[-1]) == by_name
    assert plan.values["partitions_alone"] is by_name
    assert plan.values["backup_bytes"] == (None if by_name else 3 * GIB + 2000)
    small = planned("crashed_table", row | {"data_bytes": GIB - 2000}, facts(server=server))
    assert small.values["backup_bytes"] == GIB
