"""Statements as values: text at the end, and read once where a rule's template makes text."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from myisam_advisor.remedies.statements.base import Change, Logged, Name, Now, Phase, Remark, Statement, remark
from myisam_advisor.remedies.statements.closing import FlushTables, LockTables, UnlockTables
from myisam_advisor.remedies.statements.key_caches import CacheIndex, LoadIndex
from myisam_advisor.remedies.statements.own import OwnStatement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import (
    AlterKeys,
    AlterTable,
    AnalyzeTable,
    CheckTable,
    DropIndex,
    MakeAnew,
    OptimizeTable,
    RemovePartitioning,
    RepairTable,
    TableOption,
    option,
    together,
)
from myisam_advisor.remedies.statements.variables import SetGlobal, set_global
from myisam_exporter.server.sql import Sql, plain_words, quote_value
from tests.support.hostile import NAMES

TABLE = ("a", "b")
WORDS = ("ENGINE=InnoDB", "t PACK_KEYS=0", "DISABLE KEYS", "x`.`y", "default", "b` IN `c", "PARTITION (ALL)", "")
names = some.sampled_from([*NAMES, *WORDS]) | some.text()
tables = some.tuples(names, names)
plain = some.from_regex(r"[A-Za-z0-9_]+", fullmatch=True)
variables = some.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True)
values = some.builds(quote_value, some.integers() | some.from_regex(r"[A-Za-z0-9 .,:/@+]*", fullmatch=True)) | some.builds(plain_words, plain)
options = some.builds(TableOption, some.lists(some.tuples(plain, plain), min_size=1, max_size=3).map(tuple))
statements: some.SearchStrategy[Statement] = some.one_of(
    some.builds(SetGlobal, variables, values.filter(lambda value: not value.startswith("-")), names.filter(bool) | some.just("")),
    some.builds(CacheIndex, tables, names, some.booleans()),
    some.builds(LoadIndex, tables, some.booleans()),
    some.builds(FlushTables, some.lists(tables).map(tuple), some.booleans()),
    some.builds(LockTables, some.lists(tables, min_size=1).map(tuple)),
    some.builds(UnlockTables),
    some.builds(AlterTable, tables, some.lists(options, min_size=1, max_size=3).map(tuple)),
    some.builds(AlterKeys, tables, some.booleans()),
    some.builds(MakeAnew, tables),
    some.builds(RemovePartitioning, tables, is_made_anew=some.booleans()),
    some.builds(OptimizeTable, tables, some.booleans()),
    some.builds(RepairTable, tables, some.booleans(), some.booleans()),
    some.builds(AnalyzeTable, tables, some.booleans()),
    some.builds(CheckTable, tables, some.booleans()),
    some.builds(remark, some.text()),
)


class Present(Now):
    """Values that hold now, the same for every variable and table."""

    def __init__(self, value: Sql | None = None, row_format: str | None = None, packed: str | None = None) -> None:
        self.value, self.format, self.packed = value, row_format, packed

    def of_variable(self, variable: str, cache: str) -> Sql | None:
        return self.value

    def row_format(self, table: tuple[str, str] | None) -> str | None:
        return self.format

    def pack_keys(self, table: tuple[str, str] | None) -> str | None:
        return self.packed


@given(statements)
def test_what_is_read_is_what_was_written(made: Statement) -> None:
    assert parsed(made.sql) == made
    assert made.written is None


@given(some.text().map(Sql) | some.sampled_from(["SET GLOBAL ", "ALTER TABLE ", "FLUSH TABLES ", "CACHE INDEX ", "LOCK TABLES ", "-- "]).flatmap(lambda start: some.text().map(lambda rest: Sql(start + rest))))
def test_every_text_stays_as_its_author_wrote_it(text: Sql) -> None:
    made = parsed(text)
    assert made.sql == text
    assert made.taken_back(Present()).sql
    assert made.lock


@pytest.mark.parametrize("made", [AlterTable(("x", name), (option(CHECKSUM=1),)) for name in WORDS] + [OptimizeTable((name, "x")) for name in WORDS])
def test_a_name_is_no_option(made: Statement) -> None:
    assert made.changes == frozenset()
    assert parsed(Sql(made.sql.replace(";", " ;"))).changes == frozenset()


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("SET GLOBAL hot.key_buffer_size = 8;", SetGlobal("key_buffer_size", quote_value(8), "hot", written=Sql("SET GLOBAL hot.key_buffer_size = 8;"))),
        ("SET GLOBAL x = 8 ;", SetGlobal("x", quote_value(8), written=Sql("SET GLOBAL x = 8 ;"))),
        ("set global hot.x=8", SetGlobal("x", quote_value(8), "hot", written=Sql("set global hot.x=8"))),
        ("SET @@GLOBAL.x = 8;", SetGlobal("x", quote_value(8), written=Sql("SET @@GLOBAL.x = 8;"))),
        ("SET GLOBAL x := 'a,b';", SetGlobal("x", quote_value("a,b"), written=Sql("SET GLOBAL x := 'a,b';"))),
        ("SET GLOBAL x = 16 * 1024;", SetGlobal("x", None, written=Sql("SET GLOBAL x = 16 * 1024;"))),
        ("CACHE INDEX `a`.`b` IN hot_1;", CacheIndex(TABLE, "hot_1", written=Sql("CACHE INDEX `a`.`b` IN hot_1;"))),
        ("OPTIMIZE LOCAL TABLE `a`.`b`;", OptimizeTable(TABLE, is_unlogged=True, written=Sql("OPTIMIZE LOCAL TABLE `a`.`b`;"))),
        ("LOCK TABLES `a`.`b` READ;", LockTables((TABLE,), written=Sql("LOCK TABLES `a`.`b` READ;"))),
        ("# by hand", Remark(Sql("# by hand"))),
    ],
)  # fmt: skip
def test_another_spelling_means_the_same_and_stays(text: str, made: Statement) -> None:
    assert parsed(Sql(text)) == made
    assert made.sql == text


@pytest.mark.parametrize(
    ("text", "phase", "verb", "table", "logged", "rewrites"),
    [
        ("ALTER TABLE `a`.`b` ADD COLUMN c INT;", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("ALTER TABLE a.b ENGINE=InnoDB;", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("CHECK TABLE `a`.`b`, `a`.`c`;", Phase.OFFLINE, "CHECK TABLE", None, Logged.NEVER, False),
        ("REPAIR TABLE `a`.`b` QUICK;", Phase.OFFLINE, "REPAIR TABLE", TABLE, Logged.UNLESS_TOLD, True),
        ("ANALYZE LOCAL TABLE `a`.`b`, `a`.`b`;", Phase.OFFLINE, "ANALYZE TABLE", TABLE, Logged.NEVER, False),
        ("FLUSH TABLES `a`.`b` WITH READ LOCK;", Phase.FLUSH, "", TABLE, Logged.UNLESS_TOLD, False),
        ("FLUSH LOCAL TABLES;", Phase.OFFLINE, "", None, Logged.NEVER, False),
        ("LOAD INDEX INTO CACHE `a`.`b` IGNORE LEAVES;", Phase.LOAD, "", TABLE, Logged.NEVER, False),
        ("DROP TABLE `a`.`b`;", Phase.OFFLINE, "", TABLE, Logged.ALWAYS, True),
        ("PURGE BINARY LOGS BEFORE NOW();", Phase.OFFLINE, "", None, Logged.ALWAYS, False),
        ("alter ignore table a.`b` add key (c)", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("ALTER ONLINE TABLE b FORCE;", Phase.OFFLINE, "ALTER TABLE", None, Logged.ALWAYS, True),
        ("/* why */ ALTER /* ` */ TABLE /*!50000 `a`.`b` */ FORCE -- TABLE `c`.`d`", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("CREATE UNIQUE INDEX `ON` ON a.b (c);", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("CREATE OR REPLACE INDEX i USING BTREE ON `a`.`b` (c);", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("drop index i on a.b;", Phase.OFFLINE, "ALTER TABLE", TABLE, Logged.ALWAYS, True),
        ("CREATE TABLE a.b (c INT);", Phase.OFFLINE, "", TABLE, Logged.ALWAYS, True),
        ("ALTER TABLE a.b CHECK PARTITION p1;", Phase.OFFLINE, "CHECK TABLE", TABLE, Logged.NEVER, False),
        ("optimize local table a.b;", Phase.OFFLINE, "OPTIMIZE TABLE", TABLE, Logged.NEVER, True),
        ("/* once */ DELETE FROM a.b;", Phase.OFFLINE, "", None, Logged.ALWAYS, True),
        ("ALTER EVENT a.b COMMENT 'ALTER TABLE';", Phase.OFFLINE, "", None, Logged.ALWAYS, False),
    ],
)  # fmt: skip
def test_of_a_site_own_statement_is_known_what_its_words_tell(text: str, phase: Phase, verb: str, table: Name | None, logged: Logged, rewrites: bool) -> None:
    own = parsed(Sql(text))
    assert isinstance(own, OwnStatement)
    assert (own.phase, own.verb, own.table, own.logged, own.rewrites) == (phase, verb, table, logged, rewrites)


@pytest.mark.parametrize(
    ("words", "redefines", "writes_definition", "at_once"),
    [
        ("FORCE", False, True, False),
        ("engine = myisam", True, True, False),
        ("COMMENT = 'x, ADD'", False, True, False),
        ("MODIFY c INT, RENAME TO `e`.`d`", True, True, False),
        ("RENAME TO d", False, False, True),
        ("RENAME d, DISABLE KEYS", False, False, True),
        ("ENABLE KEYS, RENAME d", False, False, False),
        ("RENAME COLUMN c TO d", False, True, False),
        ("DROP PARTITION p1, p2", False, True, True),
        ("TRUNCATE PARTITION ALL", False, False, True),
        ("WAIT 5 TRUNCATE PARTITION p1", False, False, True),
        ("NOWAIT RENAME TO d", False, False, True),
        ("REPAIR PARTITION p1", False, False, False),
        ("REORGANIZE PARTITION p1 INTO (PARTITION p2 VALUES LESS THAN (9))", False, True, False),
        ("ADD PARTITION PARTITIONS 4", True, True, False),
        ("DROP COLUMN `PARTITION`", True, True, False),
    ],
)
def test_what_an_alter_of_a_site_does_is_read_off_its_words(words: str, redefines: bool, writes_definition: bool, at_once: bool) -> None:
    own = parsed(Sql(f"ALTER TABLE `a`.`b` {words}"))
    assert (own.verb, own.table) == ("ALTER TABLE", TABLE)
    assert (own.redefines, own.writes_definition, own.is_done_at_once) == (redefines, writes_definition, at_once)
    assert own.lock.endswith("for a moment") is at_once


def test_an_option_is_read_in_every_spelling_and_not_in_a_text() -> None:
    def changes(words: str) -> frozenset[Change]:
        return parsed(Sql(f"ALTER TABLE a.b {words}, ADD c INT;")).changes

    assert changes("engine innodb") == changes("ENGINE='InnoDB'") == changes("/*!50000 Engine = `InnoDB` */") == {Change.INTO_INNODB}
    assert changes("row_format=fixed, pack_keys 0") == {Change.FIXED_ROWS, Change.UNPACKED_KEYS}
    assert changes("COMMENT='ENGINE=InnoDB', PACK_KEYS=01 /* ROW_FORMAT=FIXED */") == frozenset()


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("ALTER TABLE orders ENGINE=InnoDB;", "ALTER TABLE `orders` ENGINE=MyISAM;"),
        ("ALTER TABLE shop.orders PACK_KEYS=0;", "ALTER TABLE `shop`.`orders` PACK_KEYS=DEFAULT;"),
        ("ALTER TABLE shop.orders  PACK_KEYS = 0", "ALTER TABLE `shop`.`orders` PACK_KEYS=DEFAULT;"),
        ("ALTER TABLE orders DISABLE KEYS", "ALTER TABLE `orders` ENABLE KEYS;"),
        ("ALTER TABLE orders ENGINE=InnoDB ROW_FORMAT=DYNAMIC;", "ALTER TABLE `orders` ENGINE=MyISAM, ROW_FORMAT=DYNAMIC;"),
        ("ALTER TABLE orders ENGINE=InnoDB,PACK_KEYS=0;", "ALTER TABLE `orders` ENGINE=MyISAM, PACK_KEYS=DEFAULT;"),
        ("ALTER TABLE `a`.`b` ADD INDEX `c``d` (e, `f g`(10));", "ALTER TABLE `a`.`b` DROP INDEX `c``d`;"),
        ("ALTER TABLE orders ADD UNIQUE KEY one (two)", "ALTER TABLE `orders` DROP INDEX `one`;"),
        ("CACHE INDEX orders IN hot;", "CACHE INDEX `orders` IN default;"),
        ("LOAD INDEX INTO CACHE shop.orders;", "-- nothing to take back: LOAD INDEX INTO CACHE shop.orders;"),
        ("SET GLOBAL x = 16 * 1024;", "SET GLOBAL x = 7;"),
    ],
)  # fmt: skip
def test_what_a_site_own_statement_resembles_says_how_it_is_taken_back(text: str, back: str) -> None:
    assert parsed(Sql(text)).taken_back(Present(quote_value(7))).sql == back


@pytest.mark.parametrize(("cache", "present", "back"), [("", 0, "key_buffer_size = 4096;"), ("", 7, "key_buffer_size = 7;"), ("hot", 0, "`hot`.key_buffer_size = 0;")])
def test_the_default_key_cache_is_not_taken_back_to_0_which_it_refuses(cache: str, present: int, back: str) -> None:
    assert set_global("key_buffer_size", 9, cache).taken_back(Present(quote_value(present))).sql == f"SET GLOBAL {back}"


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE `a`.`b` ENGINE=InnoDB, ADD COLUMN c INT;",
        "ALTER TABLE `a`.`b` ENGINE=InnoDB, KEY_BLOCK_SIZE=8;",
        "ALTER TABLE `a`.`b` PACK_KEYS=DEFAULT;",
        "ALTER TABLE `a`.`b` ENGINE=myisam;",
        "ALTER TABLE `a`.`b` ADD INDEX (c);",
        "ALTER TABLE `a`.`b` ADD INDEX c (c), ADD INDEX d (d);",
        "ALTER TABLE `a`.`b` ADD INDEX c (c); DROP TABLE d;",
        "ALTER TABLE `a`.`b` DROP INDEX c;",
        "DROP TABLE `a`.`b`;",
        "SET GLOBAL a=1, b=2;",
        "SET GLOBAL a = 1, b = 2;",
    ],
)
def test_half_a_way_back_is_none(text: str) -> None:
    assert parsed(Sql(text)).taken_back(Present(row_format="fixed")).sql == f"-- what takes this back is not known: {text}"


@pytest.mark.parametrize("text", ["OPTIMIZE TABLE `a`.`b`, `a`.`c`;", "REPAIR TABLE a.b QUICK;", "FLUSH TABLES `a`.`b` FOR EXPORT;", "LOAD INDEX INTO CACHE `a`.`b` IGNORE LEAVES;"])
def test_what_leaves_nothing_behind_has_nothing_to_take_back(text: str) -> None:
    assert parsed(Sql(text)).taken_back(Present()).sql == f"-- nothing to take back: {text}"


def test_the_rows_are_given_back_the_format_they_have() -> None:
    wanted = AlterTable(TABLE, (option(ROW_FORMAT="FIXED"),))
    assert wanted.changes == {Change.FIXED_ROWS}
    assert wanted.taken_back(Present(row_format="fixed")).sql == "ALTER TABLE `a`.`b` ROW_FORMAT=FIXED;"
    assert wanted.taken_back(Present()).sql == "ALTER TABLE `a`.`b` ROW_FORMAT=DYNAMIC;"


def test_options_of_one_table_go_into_one_statement() -> None:
    fixed, unpacked = AlterTable(TABLE, (option(ROW_FORMAT="FIXED"),)), AlterTable(TABLE, (option(PACK_KEYS=0),))
    both = together([fixed, unpacked])
    assert both.sql == "ALTER TABLE `a`.`b` ROW_FORMAT=FIXED, PACK_KEYS=0;"
    assert both.changes == {Change.FIXED_ROWS, Change.UNPACKED_KEYS}
    assert both.only_option is None
    assert both.taken_back(Present(row_format="dynamic")).sql == "ALTER TABLE `a`.`b` ROW_FORMAT=DYNAMIC, PACK_KEYS=DEFAULT;"
    assert unpacked.taken_back(Present(packed="1")).sql == "ALTER TABLE `a`.`b` PACK_KEYS=1;"
    widened = together([unpacked, AlterTable(TABLE, (option(MAX_ROWS=0, AVG_ROW_LENGTH=0),))])
    assert widened.taken_back(Present()).sql == "ALTER TABLE `a`.`b` PACK_KEYS=DEFAULT;"
    narrowed = AlterTable(TABLE, (option(MAX_ROWS=9, AVG_ROW_LENGTH=5),))
    assert narrowed.taken_back(Present()).sql == "ALTER TABLE `a`.`b` MAX_ROWS=0, AVG_ROW_LENGTH=0;"
    assert AlterTable(TABLE, (option(MAX_ROWS=0, AVG_ROW_LENGTH=0),)).only_option
    assert AlterTable(TABLE, (option(ENGINE="InnoDB"),)).only_option is None


def test_a_table_made_anew_is_the_same_and_how_one_was_partitioned_nobody_noted() -> None:
    assert MakeAnew(TABLE).taken_back(Present()).sql == "-- nothing to take back: ALTER TABLE `a`.`b` FORCE;"
    removed = RemovePartitioning(TABLE)
    assert removed.taken_back(Present()).sql == "-- what takes this back is not known: ALTER TABLE `a`.`b` REMOVE PARTITIONING;"
    assert RemovePartitioning(TABLE, is_made_anew=True).sql == "ALTER TABLE `a`.`b` FORCE REMOVE PARTITIONING;"
    assert (removed.logged, removed.rewrites, removed.verb) == (Logged.ALWAYS, True, "ALTER TABLE")


def test_keys_are_enabled_while_nobody_reads_in_whichever_spelling() -> None:
    for text in ("ALTER TABLE `a`.`b` ENABLE KEYS;", "ALTER TABLE a.b  ENABLE KEYS"):
        assert parsed(Sql(text)).lock == OptimizeTable(TABLE).lock == "readers and writers wait until it is done"
    assert AlterKeys(TABLE, enabled=False).lock == "readers and writers wait for a moment"
    assert MakeAnew(TABLE).lock == "writers wait until it is done, readers for a moment at its end"


def test_a_dropped_index_is_nobodys_to_bring_back() -> None:
    dropped = DropIndex(TABLE, "c`d")
    assert parsed(dropped.sql).table == dropped.table == TABLE
    assert (dropped.phase, dropped.logged, dropped.rewrites) == (Phase.OFFLINE, Logged.ALWAYS, True)
    assert isinstance(dropped.taken_back(Present()), Remark)


def test_a_statement_without_text_is_none() -> None:
    class Silent(Statement):
        """Says nothing."""

    with pytest.raises(TypeError, match="abstract"):
        Silent()  # type: ignore[abstract]


def test_a_text_is_a_text_and_a_word_a_word() -> None:
    assert set_global("concurrent_insert", "AUTO").sql == "SET GLOBAL concurrent_insert = 'AUTO';"
    assert SetGlobal("concurrent_insert", plain_words("AUTO")).sql == "SET GLOBAL concurrent_insert = AUTO;"
    assert {made.word for made in (set_global("x", "auto"), SetGlobal("x", plain_words("AUTO")))} == {"AUTO"}
    with pytest.raises(ValueError, match="no value for x"):
        SetGlobal("x", None)
    with pytest.raises(ValueError, match="name of a system variable"):
        _ = set_global("x = 1; DROP TABLE y; --", 1).sql
