"""What the gate refuses of rebuilds: those that would leave a disk nearly full, and those that part a table from its MERGE table."""

from typing import Any

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import (
    AlterKeys,
    AlterTable,
    CheckTable,
    DropIndex,
    OptimizeTable,
    RepairTable,
    option,
)
from myisam_exporter.server.sql import quote_table, statement

MIB = 1 << 20
TABLE = ("x", "t")
NAME = quote_table(*TABLE)
OPTIMIZE, REPAIR = OptimizeTable(TABLE), RepairTable(TABLE)
TO_INNODB = AlterTable(TABLE, (option(ENGINE="InnoDB"),))


def admitted(command: Statement, **facts: Any) -> Admitted:
    return RemedyGate(PlanFacts(complete(facts_from_document({"schema": 1, **facts})))).admit(Remedy(commands=(command,)))


def table(**columns: Any) -> list[dict[str, Any]]:
    return [{"schema_name": "x", "table_name": "t", **columns}]


@pytest.mark.parametrize(("command", "host", "passes"), [
    (OPTIMIZE, {"data_directory_free_bytes": 756 * MIB}, True),
    (OPTIMIZE, {"data_directory_free_bytes": 756 * MIB - 1}, False),
    (OPTIMIZE, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, False),
    (OPTIMIZE, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB, "data_directory_growth_bytes_per_day": 0}, True),
    (TO_INNODB, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, False),
    (AlterKeys(TABLE, enabled=False), {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, True),
    (REPAIR, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, True),
    (REPAIR, {"data_directory_free_bytes": 551 * MIB}, True),
])  # fmt: skip
def test_a_rebuild_that_can_wait_leaves_what_disk_nearly_full_wants(command: Statement, host: dict[str, Any], passes: bool) -> None:
    passed = admitted(command, host=host, tables=table(row_format="fixed", rows=1000, data_bytes=400 * MIB, index_bytes=100 * MIB))
    assert bool(passed.remedy.commands) is passes
    assert passes or "disk-nearly-full warns below" in " ".join(passed.instead)


MERGED = table(row_format="dynamic", rows=10, fixed_row_bytes=9, merge_tables="x.whole")


@pytest.mark.parametrize("command", [
    TO_INNODB,
    AlterTable(TABLE, (option(ENGINE="Aria"),)),
    AlterTable(TABLE, (option(ROW_FORMAT="FIXED"),)),
    AlterTable(TABLE, (option(PACK_KEYS=0), option(ROW_FORMAT="DYNAMIC"))),
    parsed(statement("ALTER TABLE {} ROW_FORMAT = FIXED", NAME)),
    parsed(statement("ALTER TABLE {} ENGINE=InnoDB, ADD PRIMARY KEY (a);", NAME)),
    parsed(statement("ALTER TABLE {} ADD INDEX of_a (a);", NAME)),
    DropIndex(TABLE, "of_a"),
])  # fmt: skip
def test_a_member_of_a_merge_table_stays_like_it(command: Statement) -> None:
    passed = admitted(command, tables=MERGED)
    assert passed.remedy.commands == ()
    assert "belongs to a MERGE table (x.whole)" in " ".join(passed.instead)
    assert "1168" in " ".join(passed.instead)
    assert admitted(command, tables=table(row_format="dynamic", rows=10, fixed_row_bytes=9)).remedy.commands == (command,)


@pytest.mark.parametrize(("words", "says"), [
    ("ALTER TABLE {} RENAME TO x.u;", "no table has this name"), ("ALTER TABLE {} RENAME u, DISABLE KEYS;", "no table has this name"), ("RENAME TABLE {} TO x.u;", "no table has this name"),
    ("drop table if exists {}", "no table has this name"), ("DROP TABLE x.a, {}, x.b;", "no table has this name"), ("RENAME TABLE x.a TO x.b, {} TO x.c;", "no table has this name"), ("ALTER TABLE {} ADD c INT;", "made in another way"),
    ("CREATE OR REPLACE TABLE {} (a INT, b INT);", "No CREATE OR REPLACE TABLE: "), ("create or replace table {} SELECT y.a, z.b FROM y, z;", "made in another way"), ("CREATE OR REPLACE TABLE {} (a INT) ENGINE=InnoDB;", "another engine"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["`x`.`t`", "x.t", "t", "`T`"])
def test_a_merge_table_keeps_its_members_under_their_names(words: str, says: str, name: str) -> None:
    """Without a database in the statement each table of that name may be meant, in whichever letter case."""
    command = parsed(statement(words.replace("{}", name)))
    passed = admitted(command, tables=[*MERGED, *table(schema_name="y", row_format="dynamic", rows=10, fixed_row_bytes=9)])
    assert passed.remedy.commands == ()
    (why,) = passed.instead
    assert "x.t belongs to a MERGE table (x.whole)" in why
    assert says in why
    assert ("write its database before it" in why) is ("x" not in name)
    assert admitted(command, tables=table(row_format="dynamic", rows=10, fixed_row_bytes=9)).remedy.commands == (command,)


@pytest.mark.parametrize("command", [AlterKeys(TABLE, enabled=False), parsed(statement("ALTER TABLE t DISABLE KEYS")), parsed(statement("alter table {} disable keys;", NAME))])
def test_a_member_of_a_merge_table_keeps_its_indexes_on(command: Statement) -> None:
    passed = admitted(command, tables=MERGED)
    assert passed.remedy.commands == ()
    assert "x.t belongs to a MERGE table (x.whole)" in " ".join(passed.instead)
    assert "Got error 124" in " ".join(passed.instead)
    assert admitted(command, tables=table(row_format="dynamic", rows=10)).remedy.commands == (command,)


@pytest.mark.parametrize("words", ["TRUNCATE TABLE x.t;", "DROP TEMPORARY TABLE x.t;", "ALTER TABLE x.u RENAME TO x.t;", "ALTER TABLE y.t RENAME TO y.u;", "ALTER TABLE x.t RENAME COLUMN a TO b;", "ALTER TABLE tt RENAME TO u;", "RENAME TABLE x.t TO x.old, x.fresh TO x.t;", "RENAME TABLE x.a TO x.t, y.t TO x.b;", "DROP TABLE y.t, x.tt;", "CREATE TABLE x.t (a INT);", "CREATE OR REPLACE TEMPORARY TABLE x.t (a INT);", "CREATE OR REPLACE TABLE x.whole (a INT, b INT) SELECT x.t FROM x.t;", "DROP TABLE x.whole, x.t;", "DROP TABLE IF EXISTS t, u, whole;"])
def test_what_leaves_a_member_its_name_passes(words: str) -> None:
    command = parsed(statement(words))
    assert admitted(command, tables=MERGED).remedy.commands == (command,)


@pytest.mark.parametrize("words", ["DROP TABLE x.whole, x.t;", "DROP TABLE x.other, x.t;", "DROP TABLE whole, other, x.t;", "DROP TABLE y.whole, x.other, x.t;", "RENAME TABLE x.whole TO x.a, x.other TO x.b, x.t TO x.c;"])
def test_a_member_is_dropped_with_all_of_its_merge_tables_or_not_at_all(words: str) -> None:
    """Tried on MySQL 5.5 and MariaDB 10.11: a MERGE table that is renamed wants its members as before."""
    tables = table(row_format="dynamic", rows=10, fixed_row_bytes=9, merge_tables="x.other, x.whole")
    assert admitted(parsed(statement(words)), tables=tables).remedy.commands == ()
    assert admitted(parsed(statement("DROP TABLE x.whole, x.t, x.other;")), tables=tables).remedy.commands


@pytest.mark.parametrize("command", [OPTIMIZE, REPAIR, AlterTable(TABLE, (option(PACK_KEYS=0),)), AlterTable(TABLE, (option(MAX_ROWS=0, AVG_ROW_LENGTH=0),)), AlterKeys(TABLE, enabled=True), parsed(statement("ANALYZE TABLE {};", NAME)), parsed(statement("ALTER TABLE {} FORCE;", NAME))])
def test_a_member_of_a_merge_table_takes_what_leaves_it_alike(command: Statement) -> None:
    assert admitted(command, tables=MERGED).remedy.commands == (command,)


@pytest.mark.parametrize(("command", "unpacks"), [
    (parsed(statement("ALTER TABLE {} FORCE;", NAME)), True), (AlterTable(TABLE, (option(MAX_ROWS=0, AVG_ROW_LENGTH=0),)), True), (AlterKeys(TABLE, enabled=True), False),
])  # fmt: skip
def test_the_copy_of_a_compressed_table_is_not_and_takes_nobody_knows_how_much(command: Statement, *, unpacks: bool) -> None:
    told = admitted(command, host={"data_directory_free_bytes": 900 * MIB}, tables=table(row_format="compressed", rows=9, data_bytes=4 * MIB, index_bytes=MIB))
    assert told.remedy.commands
    assert ("The table is compressed, and its copy is not" in " ".join(told.cost)) is unpacks
    assert ("How much disk it needs is not known here" in " ".join(told.cost)) is unpacks


def key(**columns: Any) -> list[dict[str, Any]]:
    """An index of 60 bytes a key, which a million rows sort in a file of 57.2 MiB, two in 114.4."""
    return [{"schema_name": "x", "table_name": "t", "index_number": 1, "algorithm": "btree", "is_packed": 0, "is_variable_length": 0, "is_unique": 0, "is_enabled": 1, "maximum_key_bytes": 60, **columns}]


LITTLE = {"temporary_directory_free_bytes": 32 * MIB}
KEYS_ON, WIDER = AlterKeys(TABLE, enabled=True), AlterTable(TABLE, (option(MAX_ROWS=0),))


@pytest.mark.parametrize(("command", "rows", "index", "buffer_bytes", "says"), [
    (REPAIR, 1_000_000, {}, None, "it would wait there for space"),
    (OPTIMIZE, 1_000_000, {"is_unique": 1}, 8 * MIB, "No OPTIMIZE TABLE yet: to sort an index it writes about 57.2 MiB to tmpdir, which has 32 MiB free"),
    (KEYS_ON, 2_000_000, {"is_enabled": 0}, 8 * MIB, "No ENABLE KEYS yet: to sort an index it writes about 114 MiB"),
    (WIDER, 2_000_000, {}, 8 * MIB, "it would go on key by key, through the key cache, with the table locked"),
    (REPAIR, 1_000_000, {}, 8 * MIB, "SET SESSION myisam_sort_buffer_size = 74800000;"),
])  # fmt: skip
def test_a_sort_that_tmpdir_has_no_room_for_waits_until_it_has(command: Statement, rows: int, index: dict[str, Any], buffer_bytes: int | None, says: str) -> None:
    variables = {"variable": {"myisam_sort_buffer_size": buffer_bytes}} if buffer_bytes else {}
    refused = admitted(command, host=LITTLE, tables=table(row_format="fixed", rows=rows), indexes=key(**index), **variables)
    assert not refused.remedy.commands
    assert says in " ".join(refused.instead)


@pytest.mark.parametrize(("command", "host", "index", "buffer_bytes"), [
    (REPAIR, {"temporary_directory_free_bytes": 58 * MIB}, {}, 8 * MIB),  # there is room
    (REPAIR, {}, {}, 8 * MIB),  # nobody knows
    (REPAIR, LITTLE, {}, 65 * MIB),  # it is sorted in memory
    (REPAIR, LITTLE, {"is_variable_length": 1}, 8 * MIB),  # its keys may be short
    (REPAIR, LITTLE, {"algorithm": "rtree"}, 8 * MIB),  # it is not sorted
    (KEYS_ON, LITTLE, {}, 8 * MIB),  # it is not disabled
    (AlterKeys(TABLE, enabled=False), LITTLE, {}, 8 * MIB),
    (WIDER, LITTLE, {}, 8 * MIB),  # 57 MiB of keys are built in seconds
    (TO_INNODB, LITTLE, {}, 8 * MIB),  # InnoDB sorts by itself
])  # fmt: skip
def test_what_sorts_little_or_has_room_passes(command: Statement, host: dict[str, Any], index: dict[str, Any], buffer_bytes: int) -> None:
    passed = admitted(command, host=host, variable={"myisam_sort_buffer_size": buffer_bytes}, tables=table(row_format="fixed", rows=1_000_000), indexes=key(**index))
    assert passed.remedy.commands


@pytest.mark.parametrize(("beside", "limit_bytes", "passes"), [
    ({"algorithm": "rtree", "maximum_key_bytes": 38}, None, True),
    ({"is_variable_length": 1, "maximum_key_bytes": 300}, 299 * 1_000_000, True),
    ({"is_variable_length": 1, "maximum_key_bytes": 300}, 300 * 1_000_000, False),
    ({"is_variable_length": 1, "maximum_key_bytes": 300}, None, False),  # nobody knows
    ({"algorithm": "fulltext", "is_variable_length": 1, "maximum_key_bytes": 300}, 299 * 1_000_000, False),  # it is reckoned with less
    ({"maximum_key_bytes": 30}, 1 * MIB, False),  # the limit is not for keys of fixed length
])  # fmt: skip
def test_beside_an_index_that_cannot_be_sorted_none_is(beside: dict[str, Any], limit_bytes: int | None, passes: bool) -> None:
    """Seen on servers: sort_space.py."""
    variables = {"variable": {"myisam_max_sort_file_size": limit_bytes}} if limit_bytes else {}
    told = admitted(REPAIR, host=LITTLE, tables=table(row_format="fixed", rows=1_000_000), indexes=[*key(), *key(index_number=2, **beside)], **variables)
    assert bool(told.remedy.commands) == passes


@pytest.mark.parametrize(("command", "free", "buffer_bytes", "passes", "says"), [
    # 1,000,000 keys take 68,000,000 bytes of buffers: 31 of them hold 2,193,548.4 bytes each.
    (REPAIR, 58 * MIB, 2193549, True, ""),
    (REPAIR, 58 * MIB, 2193548, False, "writes about 114 MiB to tmpdir, in two files, as its keys are more than 31 sort buffers, which has 58 MiB free"),
    (REPAIR, 58 * MIB, 2193548, False, "or need one file alone: SET SESSION myisam_sort_buffer_size = 2412903;"),
    (REPAIR, 57 * MIB, 2193548, False, "or sort in memory, where as much is available: SET SESSION myisam_sort_buffer_size = 74800000;"),
    (REPAIR, 115 * MIB, 2193548, True, ""),
    (KEYS_ON, 58 * MIB, 2193548, True, ""),  # 57 MiB of keys are built in seconds
])  # fmt: skip
def test_more_than_31_buffers_of_keys_are_sorted_in_two_files(command: Statement, free: int, buffer_bytes: int, passes: bool, says: str) -> None:
    off = {"is_enabled": 0} if command is KEYS_ON else {}
    told = admitted(
        command, host={"temporary_directory_free_bytes": free}, variable={"myisam_sort_buffer_size": buffer_bytes},
        tables=table(row_format="fixed", rows=1_000_000), indexes=key(**off),
    )  # fmt: skip
    assert bool(told.remedy.commands) == passes
    assert says in " ".join(told.instead)


@pytest.mark.parametrize(("command", "rows", "threads", "keys", "passes"), [
    (REPAIR, 1_000_000, 4, 2, False),  # 57.2 MiB each, and 60 MiB are free
    (REPAIR, 1_000_000, 1, 2, True),
    (REPAIR, 1_000_000, None, 2, True),  # MySQL 8.0 has no such threads
    (REPAIR, 1_000_000, 4, 1, True),
    (KEYS_ON, 1_000_000, 2, 2, False),
    (WIDER, 1_000_000, 2, 2, False),
    (WIDER, 500_000, 2, 2, True),
])  # fmt: skip
def test_several_threads_sort_all_indexes_at_once(command: Statement, rows: int, threads: int | None, keys: int, passes: bool) -> None:
    """Seen on servers: sort_space.py. One after the other each of them has room."""
    indexes = [one for number in range(keys) for one in key(index_number=number + 1, is_enabled=0)]
    variables = {"myisam_sort_buffer_size": 8 * MIB, "myisam_repair_threads": threads}
    told = admitted(
        command, host={"temporary_directory_free_bytes": 60 * MIB}, variable={name: value for name, value in variables.items() if value is not None},
        tables=table(row_format="fixed", rows=rows), indexes=indexes,
    )  # fmt: skip
    assert bool(told.remedy.commands) == passes
    assert passes or "sorts all indexes at once and writes about 114 MiB to tmpdir, which has 60 MiB free. SET SESSION myisam_repair_threads = 1;" in " ".join(told.instead)


@pytest.mark.parametrize(("server", "key_bytes", "passes"), [
    ({"flavour": "mariadb", "version": "10.5.23", "version_number": 100523}, 60, False),
    ({"flavour": "mariadb", "version": "10.5.23", "version_number": 100523}, 16, True),  # that of an AUTO_INCREMENT column is written row by row
    ({"flavour": "mariadb", "version": "10.4.34", "version_number": 100434}, 60, True),  # not tried
    ({"flavour": "mysql", "version": "9.7.4", "version_number": 90704}, 60, True),
    ({}, 60, True),
])  # fmt: skip
def test_an_alter_of_mariadb_sorts_unique_indexes_too(server: dict[str, Any], key_bytes: int, passes: bool) -> None:
    indexes = key(is_unique=1, maximum_key_bytes=key_bytes)
    altered = admitted(WIDER, host=LITTLE, server=server, tables=table(row_format="fixed", rows=10_000_000), indexes=indexes)
    assert bool(altered.remedy.commands) == passes


@pytest.mark.parametrize("command", [OPTIMIZE, REPAIR, TO_INNODB, AlterKeys(TABLE, enabled=True)])
def test_no_rebuild_begins_while_statements_wait_for_space(command: Statement) -> None:
    """Which file system is full, the state does not tell: the data directory has room here."""
    known: dict[str, Any] = {"host": {"data_directory_free_bytes": 1 << 40}, "tables": table(row_format="fixed", rows=1000, data_bytes=400 * MIB, index_bytes=100 * MIB)}
    waiting = [{"state": "Waiting for someone to free space (errno: 28)", "command": "Query", "threads": 1}]
    assert admitted(command, **known).remedy.commands
    passed = admitted(command, processlist=waiting, **known)
    assert passed.remedy.commands == ()
    assert "statements wait for disk space at this moment" in " ".join(passed.instead)
    assert admitted(CheckTable(TABLE), processlist=waiting, **known).remedy.commands


@pytest.mark.parametrize(("free_inodes", "passes"), [(1, False), (99, False), (100, True)])
def test_no_rebuild_begins_where_tmpdir_takes_no_file(free_inodes: int, passes: bool) -> None:
    passed = admitted(OPTIMIZE, host={"data_directory_free_bytes": 1 << 40, "temporary_directory_free_inodes": free_inodes}, tables=table(row_format="fixed", rows=1000, data_bytes=400 * MIB, index_bytes=100 * MIB))
    assert bool(passed.remedy.commands) is passes
    assert passes or "files of tmpdir" in " ".join(passed.instead)


@pytest.mark.parametrize(("words", "copies"), [
    ("CREATE INDEX of_a ON {} (a);", True), ("drop index of_a on x.t", True), ("alter ignore table {} add unique (a);", True),
    ("ALTER TABLE {} DROP PARTITION p1;", False), ("alter table x.t rename to x.u", False), ("ALTER TABLE {} TRUNCATE PARTITION p1;", False),
])  # fmt: skip
def test_what_a_rule_of_the_site_writes_is_held_back_only_where_it_writes_a_table_anew(words: str, *, copies: bool) -> None:
    """DROP PARTITION gives back space at once: it is what a full disk wants."""
    command, known = parsed(statement(words.replace("{}", NAME))), table(row_format="fixed", rows=2_000_000, data_bytes=400 * MIB, index_bytes=100 * MIB)
    waiting = [{"state": "Waiting for someone to free space (errno: 28)", "command": "Query", "threads": 1}]
    hosts: list[dict[str, Any]] = [{"temporary_directory_free_inodes": 1}, LITTLE, {"data_directory_free_bytes": MIB}, {"data_directory_free_inodes": 1}]
    for host in hosts:
        told = admitted(command, host={"data_directory_free_bytes": 1 << 40, **host}, variable={"myisam_sort_buffer_size": 8 * MIB}, tables=known, indexes=key())
        assert bool(told.remedy.commands) is not copies, host
    assert bool(admitted(command, processlist=waiting, tables=known).remedy.commands) is not copies


@pytest.mark.parametrize(("columns", "passes"), [
    ({"row_format": "dynamic"}, False), ({"row_format": "dynamic", "fixed_row_bytes": 9}, True), ({"row_format": "fixed"}, True), ({}, False),
])  # fmt: skip
def test_rows_become_fixed_where_the_columns_are_known_or_they_are(columns: dict[str, Any], *, passes: bool) -> None:
    command = AlterTable(TABLE, (option(ROW_FORMAT="FIXED"),))
    passed = admitted(command, tables=table(rows=10, **columns))
    assert passed.remedy.commands == ((command,) if passes else ())
    assert passes or "No ALTER while its columns are not known" in " ".join(passed.instead)
