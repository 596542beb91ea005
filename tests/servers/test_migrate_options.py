"""Options of tables and indexes on real servers: what the ALTER says of them was told, and the way back gives a table as it was, word by word."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.places import NOT_GIVEN_BACK
from myisam_advisor.migrate.prediction import Prediction
from myisam_advisor.migrate.script import alter, as_script, runs
from myisam_advisor.migrate.way_back import back
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from tests.support.servers import CopiedServer, binaries_of

from .conftest import error_of, schema, target
from .test_migrate_schemas import FOUR

PROC = Path("/proc")
LINKS = "--loose-symbolic-links"  # MySQL 8.0 and later pass over DATA DIRECTORY without it
# Aria's, which MyISAM passes over as a comment, and which no ALTER of MyISAM's takes away.
COMMENT_OF_ARIA = " /* TRANSACTIONAL=1 */"


@dataclass(frozen=True)
class Made:
    """A table `t`; `where` is the beginning of the servers' names that make it, `engines` what it is converted to, where that engine is there, `then` what it went through."""

    columns: str = "a INT"
    options: str = ""
    where: str = ""
    engines: tuple[str, ...] = ("InnoDB", "Aria")
    then: str = ""


NUMBERS = ", ".join(f"c{number} TINYINT" for number in range(1018))
SIZED = "a INT NOT NULL, b INT AUTO_INCREMENT, c TEXT, g POINT NOT NULL, PRIMARY KEY (b) KEY_BLOCK_SIZE=8192, UNIQUE u (a) USING BTREE KEY_BLOCK_SIZE=2048 COMMENT 'one', KEY k (b, c(5)) KEY_BLOCK_SIZE=8192, KEY plain (a), FULLTEXT f (c) KEY_BLOCK_SIZE=2048, SPATIAL s (g) KEY_BLOCK_SIZE=4096"
MADE = {
    **{f"ROW_FORMAT={name}": Made("a INT, b VARCHAR(9)", f"ROW_FORMAT={name}") for name in ("DYNAMIC", "FIXED", "COMPRESSED", "COMPACT", "REDUNDANT", "DEFAULT")},
    "options of MyISAM's": Made(options="PACK_KEYS=1 DELAY_KEY_WRITE=1 CHECKSUM=1 MAX_ROWS=1000000 MIN_ROWS=10 AVG_ROW_LENGTH=100 COMMENT='c'"),
    "indexes not packed": Made(options="PACK_KEYS=0"),
    "index pages of 4 kB": Made("a INT, KEY (a)", "KEY_BLOCK_SIZE=4096"),
    "index pages of 4 kB, each index": Made("a INT, KEY k (a) KEY_BLOCK_SIZE=4096"),
    "indexes with pages of their own": Made(SIZED),
    "index pages of the table, and of their own": Made("a INT NOT NULL, b INT, UNIQUE u (a), KEY k (b) KEY_BLOCK_SIZE=8192", "KEY_BLOCK_SIZE=2048"),
    "index pages of their own and compressed rows": Made("a INT, PRIMARY KEY (a), KEY k (a) KEY_BLOCK_SIZE=8192", "ROW_FORMAT=COMPRESSED"),
    "an index that nobody uses, with pages of its own": Made("a INT, KEY k (a) KEY_BLOCK_SIZE=8192 INVISIBLE", where="mysql-9"),
    "an index that nobody uses": Made("a INT, b INT, KEY k (a) KEY_BLOCK_SIZE=8192 IGNORED, KEY l (b)", where="mariadb-1"),
    "downwards": Made("a INT, b VARCHAR(20), KEY k (a DESC, b(5) DESC) KEY_BLOCK_SIZE=8192", where="mariadb-1"),
    "keys longer than the pages that were asked for": Made("a VARCHAR(250), b VARCHAR(250), UNIQUE u (a, b), KEY k (b)", "CHARSET=latin1 KEY_BLOCK_SIZE=1"),
    "a comment with a quote": Made("a INT, KEY k (a) KEY_BLOCK_SIZE=8192 COMMENT 'it''s größer'"),
    "compressed pages and a long key": Made("v VARCHAR(900), KEY (v(800))", "CHARSET=latin1 ROW_FORMAT=COMPACT PAGE_COMPRESSED=1", where="mariadb-1"),
    # MariaDB keeps the size that an index has got, though nobody asked for one.
    "altered before": Made("a INT PRIMARY KEY, b VARCHAR(20), KEY k (b)", then="ALTER TABLE t ADD c INT"),
    "converted and given back before": Made("a INT PRIMARY KEY, b VARCHAR(250), c TEXT, KEY k (b), FULLTEXT (c)", then="ALTER TABLE t ENGINE=InnoDB, ALGORITHM=COPY; ALTER TABLE t ENGINE=MyISAM"),
    "altered before, one index with pages of its own": Made("a INT PRIMARY KEY, b VARCHAR(20), KEY k (b) KEY_BLOCK_SIZE=2048", then="ALTER TABLE t ADD c INT"),
    "altered before, others behind": Made("a INT, b VARCHAR(20), c INT NOT NULL, KEY k (b) KEY_BLOCK_SIZE=2048, UNIQUE n (a), KEY l (c), UNIQUE m (c), FULLTEXT w (b)", then="ALTER TABLE t ADD d INT"),
    "USING": Made("a INT, b INT, KEY k (a) USING BTREE, KEY l (b) USING HASH"),
    "kept by a hash": Made("a INT, b BLOB, t TEXT, v VARCHAR(300), KEY k (a), UNIQUE p (b(1000)) USING HASH, UNIQUE h (a, t(20), v(5)) USING HASH KEY_BLOCK_SIZE=4096 COMMENT 'it''s', UNIQUE n (a), UNIQUE w (v) USING HASH", "CHARSET=utf8mb4", where="mariadb-1"),
    "kept by a hash, of whole texts and longer ones than MyISAM holds": Made("a INT, b BLOB, t TEXT, UNIQUE u (b) USING HASH KEY_BLOCK_SIZE=4096, UNIQUE l (t(700)) KEY_BLOCK_SIZE=2048, UNIQUE s (t(30)) USING HASH, UNIQUE n (a) KEY_BLOCK_SIZE=2048", "CHARSET=utf8mb4", where="mariadb-1"),
    "kept by a hash, of shapes": Made("g GEOMETRY UNIQUE, p POINT NOT NULL, UNIQUE u (p, g)", where="mariadb-1"),
    "prefixes": Made("a VARCHAR(300), b TEXT, KEY k (a(10)), KEY l (b(20))"),
    "rows elsewhere": Made("a INT, KEY (a)", "DATA DIRECTORY='{elsewhere}'"),
    "index elsewhere": Made("a INT, KEY (a)", "INDEX DIRECTORY='{elsewhere}'"),
    "both elsewhere": Made("a INT, KEY (a)", "DATA DIRECTORY='{elsewhere}' INDEX DIRECTORY='{elsewhere}'"),
    "rows elsewhere, FIXED": Made(options="DATA DIRECTORY='{elsewhere}' ROW_FORMAT=FIXED"),
    "rows elsewhere, counter within": Made("a INT, b INT AUTO_INCREMENT, KEY (a, b)", "DATA DIRECTORY='{elsewhere}'"),
    "rows elsewhere, a name of InnoDB's": Made("DB_ROW_ID INT", "DATA DIRECTORY='{elsewhere}'"),
    "rows elsewhere, an index of InnoDB's name": Made("a INT, KEY GEN_CLUST_INDEX (a)", "DATA DIRECTORY='{elsewhere}'", engines=("InnoDB",)),
    "rows elsewhere, too many columns": Made(NUMBERS, "DATA DIRECTORY='{elsewhere}'"),
    **{f"TABLESPACE {options}": Made(options=f"TABLESPACE {options}", where="mysql-9") for options in (
        "absent", "ours", "ours ROW_FORMAT=COMPRESSED", "ours KEY_BLOCK_SIZE=16", "ours ROW_FORMAT=FIXED", "ours COMPRESSION='zlib'", "ours DATA DIRECTORY='{elsewhere}'", "innodb_system", "innodb_system KEY_BLOCK_SIZE=3",
        "innodb_system COMPRESSION='none'", "innodb_file_per_table", "innodb_file_per_table DATA DIRECTORY='{elsewhere}'", "innodb_file_per_table INDEX DIRECTORY='{elsewhere}'", "innodb_temporary ROW_FORMAT=FIXED", "innodb_undo_001", "`a/b`", "absent ROW_FORMAT=FIXED",
    )},
    "TABLESPACE before all": Made("a INT, b INT AUTO_INCREMENT, KEY (a, b)", "TABLESPACE absent", where="mysql-9"),
    **{f"COMPRESSION={options}": Made(options=f"COMPRESSION={options}", where="mysql-9") for options in ("'ZLIB'", "'none' ROW_FORMAT=COMPRESSED", "'other'", "'zlib' ROW_FORMAT=COMPRESSED", "'zlib' KEY_BLOCK_SIZE=4", "'other' DATA DIRECTORY='{elsewhere}'")},
    **{options: Made(options=options, where="mariadb-1") for options in (
        "ENCRYPTED=YES", "`encrypted`='yes' ENCRYPTION_KEY_ID=7", "ENCRYPTED=NO ENCRYPTION_KEY_ID=7", "ENCRYPTED=2", "ENCRYPTED=other", "ENCRYPTION_KEY_ID=99", "PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=9", "PAGE_COMPRESSED=0 PAGE_COMPRESSION_LEVEL=9",
        "PAGE_COMPRESSION_LEVEL=x", "PAGE_COMPRESSED='on' ROW_FORMAT=COMPRESSED", "PAGE_COMPRESSED=1 ROW_FORMAT=REDUNDANT", "PAGE_COMPRESSED=1 KEY_BLOCK_SIZE=4", "PAGE_COMPRESSED=1 ROW_FORMAT=FIXED", "PAGE_COMPRESSED=other", "NONSENSE='x'",
    )},
    "a long text before": Made(options=f"LENGTHY='{'x' * 2000}' PAGE_COMPRESSION_LEVEL=2", where="mariadb-1"),
    "options of columns and indexes are the table's own": Made("a INT FOO=bar, KEY k (a) PAGE_COMPRESSION_LEVEL=3", where="mariadb-1"),
}  # fmt: skip


@pytest.fixture(scope="module", params=FOUR)
def four(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    with CopiedServer(binaries_of(request.param), [LINKS, "--sql-mode="]) as server:
        if request.param == "mysql-9.7":
            server.execute("CREATE TABLESPACE ours ADD DATAFILE 'ours.ibd'")
        yield server


def directory_of(server: PrivateServer) -> Path:
    """A directory of the server's own, beside its data."""
    place = server.directory / "elsewhere"
    place.mkdir(exist_ok=True)
    server.give_away(place)
    return place


def made(server: PrivateServer, table: Made) -> None:
    mode = "IGNORE_BAD_TABLE_OPTIONS" if "mariadb" in server.binaries.name else ""
    options = table.options.format(elsewhere=directory_of(server))
    server.execute(f"SET SESSION sql_mode = '{mode}'", f"CREATE TABLE t ({table.columns}) ENGINE=MyISAM {options}", *filter(None, table.then.split(";")), database="options")


def told(server: PrivateServer, to: str = "InnoDB") -> Prediction:
    with Session(target(server), 10) as session:
        (found,) = looked_at(session, ["options.t"], to, None, PROC).predictions
    return found


def definition(server: PrivateServer) -> list[str]:
    """What SHOW CREATE TABLE says, in its order."""
    ((_, text),) = server.execute("SHOW CREATE TABLE t", database="options")
    return [line.strip().rstrip(",") for line in str(text).replace(COMMENT_OF_ARIA, "").split("\n")]


@pytest.mark.parametrize("to", ["InnoDB", "Aria"])
@pytest.mark.parametrize("table", MADE.values(), ids=MADE)
def test_what_becomes_of_options_was_told_and_the_way_back_gives_them(four: PrivateServer, table: Made, to: str) -> None:
    name = four.binaries.name
    if not name.startswith(table.where) or to not in table.engines or (to == "Aria" and "mariadb" not in name):
        pytest.skip(f"{name} has none such")
    with schema(four, "options"):
        made(four, table)
        found = told(four, to)
        code = error_of(four, f"ALTER TABLE t ENGINE={to}", "options")
        assert (found.errors[0].code if found.errors else 0) == code, found.errors
        four.execute("DROP TABLE t", database="options")
        made(four, table)
        before = definition(four)
        assert (error_of(four, alter(found), "options") == 0) == runs(found), found.script_errors
        if runs(found):
            assert [error_of(four, one, "options") for one in back(found)] == [0] * len(back(found))
            lost = NOT_GIVEN_BACK & {change.id for change in found.changes}
            assert (definition(four) == before) == (not lost)


@contextmanager
def globally(server: PrivateServer, **values: object) -> Iterator[None]:
    """Settings, and their former values behind."""
    before = {name: server.execute(f"SELECT @@global.{name}")[0][0] for name in values}
    server.execute(*(f"SET GLOBAL {name} = {value!r}" for name, value in values.items()))
    try:
        yield
    finally:
        server.execute(*(f"SET GLOBAL {name} = {value!r}" for name, value in before.items()))


@pytest.mark.parametrize("strict", [0, 1])
@pytest.mark.parametrize("own_file", [0, 1])
@pytest.mark.parametrize("options", ["DATA DIRECTORY='{elsewhere}'", "INDEX DIRECTORY='{elsewhere}'", "COMPRESSION='zlib'", "COMPRESSION='other'", "TABLESPACE innodb_file_per_table ROW_FORMAT=COMPRESSED", "TABLESPACE ours ROW_FORMAT=FIXED", "TABLESPACE ours INDEX DIRECTORY='{elsewhere}'"])
def test_settings_decide_what_becomes_of_places_and_pages(four: PrivateServer, options: str, own_file: int, strict: int) -> None:
    if not re.match("(DATA|INDEX) DIRECTORY", options) and four.binaries.name != "mysql-9.7":
        pytest.skip("it has none such")
    with schema(four, "options"), globally(four, innodb_strict_mode=strict, innodb_file_per_table=own_file):
        made(four, Made(options=options))
        before, found = definition(four), told(four)
        code = error_of(four, "ALTER TABLE t ENGINE=InnoDB", "options")
        assert (found.errors[0].code if found.errors else 0) == code, found.errors
        if not code:
            assert [error_of(four, one, "options") for one in back(found)] == [0]
            lost = NOT_GIVEN_BACK & {change.id for change in found.changes}
            assert (definition(four) == before) == (not lost)


@pytest.mark.parametrize("words", ["ROW_FORMAT=FIXED", "ROW_FORMAT=DYNAMIC", "ROW_FORMAT=COMPRESSED", "KEY_BLOCK_SIZE=8", "KEY_BLOCK_SIZE=1024", "ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE=8"])
def test_words_that_innodb_passes_over_stop_a_later_alter_and_that_was_told(four: PrivateServer, words: str) -> None:
    with schema(four, "options"), globally(four, innodb_strict_mode=0):
        made(four, Made("a INT PRIMARY KEY, b TEXT", words))
        found = told(four)
        said = [change.what for change in found.changes if change.id == "format-ignored"]
        four.execute("ALTER TABLE t ENGINE=InnoDB", "SET GLOBAL innodb_strict_mode = 1", database="options")
        later = error_of(four, "ALTER TABLE t ENGINE=InnoDB", "options")
        assert later == (1478 if said else 0)
        assert all(f"error {later}," in what for what in said)
        four.execute("SET GLOBAL innodb_strict_mode = 0", "DROP TABLE t", database="options")
        made(four, Made("a INT PRIMARY KEY, b TEXT", words))
        four.execute(alter(found), "SET GLOBAL innodb_strict_mode = 1", database="options")
        assert error_of(four, "ALTER TABLE t ENGINE=InnoDB", "options") == 0, "the script has reset them"


@pytest.mark.parametrize("columns", ["b TEXT", "b POINT", "b VARCHAR(300)", "b TEXT AS (a) VIRTUAL", "b INT"])
@pytest.mark.parametrize("row_format", ["FIXED", "DYNAMIC", "COMPRESSED", "DEFAULT"])
def test_what_aria_shows_of_a_format_and_whether_it_keeps_a_log_was_told(four: PrivateServer, row_format: str, columns: str) -> None:
    if "mariadb" not in four.binaries.name:
        pytest.skip("MySQL has no Aria")
    with schema(four, "options"):
        made(four, Made(f"a INT PRIMARY KEY, {columns}", f"ROW_FORMAT={row_format}"))
        said = {change.id: change for change in told(four, "Aria").changes}
        four.execute("ALTER TABLE t ENGINE=Aria", database="options")
        ((*status,),) = four.execute("SHOW TABLE STATUS FROM options LIKE 't'")
        assert ("transactional=0" in str(status[16])) == ("aria-not-crash-safe" in said)
        if "aria-not-crash-safe" in said:
            assert ("says PAGE already" in said["aria-not-crash-safe"].what) == (status[3] == "Page") == ("ROW_FORMAT=PAGE" in " ".join(definition(four)))
            assert four.execute(said["aria-not-crash-safe"].statement)[0][3] == status[3]
            four.execute("ALTER TABLE t ROW_FORMAT=PAGE", database="options")
            assert "transactional=1" in str(four.execute("SHOW TABLE STATUS FROM options LIKE 't'")[0][16])


@pytest.mark.parametrize("named", ["{elsewhere}", "{elsewhere}/", "/nowhere;{parent}", "../elsewhere", "{elsewhere}/below", "{link}"])
def test_rows_lie_where_innodb_knows_a_directory_and_nowhere_else(named: str) -> None:
    server = CopiedServer(binaries_of("mysql-9.7"), [LINKS, "--sql-mode="])
    server.initialise()
    elsewhere, link = directory_of(server), server.directory / "link"
    link.symlink_to(elsewhere)
    server.options.append("--innodb-directories=" + named.format(elsewhere=elsewhere, parent=server.directory, link=link))
    with server, schema(server, "options"):
        made(server, Made(options="DATA DIRECTORY='{elsewhere}'"))
        found = told(server)
        assert [error.code for error in found.errors] == ([3121] if named.endswith("below") else [])
        assert error_of(server, "ALTER TABLE t ENGINE=InnoDB", "options") == (found.errors[0].code if found.errors else 0)


@pytest.mark.parametrize("known", [True, False])
def test_undo_logs_make_no_place_for_rows(known: bool) -> None:
    server = CopiedServer(binaries_of("mysql-9.7"), [LINKS, "--sql-mode="])
    server.initialise()
    elsewhere = directory_of(server)
    for log in server.data_directory.glob("undo_0*"):
        log.rename(elsewhere / log.name)
    server.options += [f"--innodb-undo-directory={elsewhere}", *([f"--innodb-directories={elsewhere}"] if known else [])]
    with server, schema(server, "options"):
        made(server, Made(options="DATA DIRECTORY='{elsewhere}'"))
        assert [error.code for error in told(server).errors] == ([] if known else [3121])
        assert error_of(server, "ALTER TABLE t ENGINE=InnoDB", "options") == (0 if known else 3121)


def test_a_table_in_the_tablespace_of_all_keeps_its_word(running: Callable[[str], PrivateServer]) -> None:
    server = running("mysql-9.7")
    with schema(server, "options"), globally(server, innodb_file_per_table=0):
        made(server, Made())
        found = told(server)
        assert "tablespace-word" in [change.id for change in found.changes]
        server.execute(alter(found), *back(found), "SET GLOBAL innodb_file_per_table = 1", database="options")
        assert "TABLESPACE `innodb_system`" in " ".join(definition(server))
        assert "tablespace" in [change.id for change in told(server).changes]


def test_the_script_says_what_it_does_not_give_back(four: PrivateServer) -> None:
    with schema(four, "options"), globally(four, innodb_strict_mode=0):
        made(four, Made(options="INDEX DIRECTORY='{elsewhere}'"))
        with Session(target(four), 10) as session:
            script = as_script(looked_at(session, ["options.t"], "InnoDB", None, PROC))
        assert re.search(r"^-- Not given back by it: INDEX DIRECTORY is passed over", script, re.MULTILINE)


KEYS = "1;770A8A65DA156D24EE2A093277530142\n2;770A8A65DA156D24EE2A093277530143\n"
OF_KEYS = ("ENCRYPTED=YES", "ENCRYPTED=YES ENCRYPTION_KEY_ID=2", "ENCRYPTED=NO", "ENCRYPTED=NO ENCRYPTION_KEY_ID=2", "ENCRYPTION_KEY_ID=2", "PAGE_COMPRESSED=1", "NONSENSE=1")
SPATIAL = "g POINT NOT NULL, SPATIAL KEY (g)"


@pytest.fixture(scope="module", params=["full_crc32", "crc32"])
def with_keys(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    server = CopiedServer(binaries_of("mariadb-10.11"), ["--sql-mode=", "--plugin-load-add=file_key_management", f"--innodb-checksum-algorithm={request.param}"])
    server.initialise()
    keys = server.directory / "keys"
    keys.write_text(KEYS)
    server.give_away(keys)
    server.options.append(f"--file-key-management-filename={keys}")
    with server:
        yield server


@pytest.mark.parametrize("encrypts", ["OFF", "ON", "FORCE"])
@pytest.mark.parametrize("own_file", [0, 1])
@pytest.mark.parametrize("columns", ["a INT", SPATIAL], ids=["numbers", "boxes"])
def test_whether_innodb_encrypts_was_told(with_keys: PrivateServer, columns: str, own_file: int, encrypts: str) -> None:
    for options in OF_KEYS:
        with schema(with_keys, "options"), globally(with_keys, innodb_encrypt_tables=encrypts, innodb_file_per_table=own_file):
            made(with_keys, Made(columns, options))
            found = told(with_keys)
            code = error_of(with_keys, "ALTER TABLE t ENGINE=InnoDB", "options")
            assert (found.errors[0].code if found.errors else 0) == code, (options, found.errors)
            scheme = with_keys.execute("SELECT ENCRYPTION_SCHEME, CURRENT_KEY_ID FROM information_schema.INNODB_TABLESPACES_ENCRYPTION WHERE NAME = 'options/t'")
            said = {change.id: change.what for change in found.changes}
            if not code and own_file:
                is_encrypted = bool(scheme) and scheme[0][0] == 1
                assert ("encrypted" in said) == is_encrypted
                assert not is_encrypted or f"with key {scheme[0][1]};" in said["encrypted"]
                assert ("not-encrypted" in said) == (encrypts != "OFF" and not is_encrypted)


def counted(server: PrivateServer, words: str) -> int:
    ((number,),) = server.execute(f"SELECT COUNT(*) FROM t WHERE MATCH (x) AGAINST ('{words}' IN BOOLEAN MODE)", database="options")
    return int(str(number))


NGRAM_ROWS = "('the ngram abc of the fox'), ('an abcd about because'), ('apple pie'), ('ratfox pietop'), ('foxtrot'), ('xyz')"


@pytest.mark.parametrize("stopwords", ["ON", "OFF"])
def test_what_ngram_finds_otherwise_is_told(running: Callable[[str], PrivateServer], stopwords: str) -> None:
    server = running("mysql-9.7")
    with schema(server, "options"), globally(server, innodb_ft_enable_stopword=int(stopwords == "ON")):
        made(server, Made("x TEXT, FULLTEXT (x) WITH PARSER ngram"))
        server.execute(f"INSERT INTO t VALUES {NGRAM_ROWS}", database="options")
        said = {change.id: change for change in told(server).changes}
        assert not said.keys() & {"fulltext-length", "fulltext-stopwords", "fulltext-required", "fulltext-syntax"}
        before = [counted(server, words) for words in ("ab", "foxz", "xy")]
        server.execute("ALTER TABLE t ENGINE=InnoDB", database="options")
        after = [counted(server, words) for words in ("ab", "foxz", "xy")]
        assert ("ngram-stopwords" in said) == (stopwords == "ON") == (before[0] != after[0])
        assert "ngram-sequences" in said
        assert before[1] > after[1] == 0
        assert before[2] == after[2] == 1
        # What InnoDB's own parser refuses, and what it requires, it does not with ngram.
        assert counted(server, "a@b word+ +the") >= 0
        assert error_of(server, said["ngram-sequences"].statement, "options") == 0


def test_words_of_a_plugin_and_one_that_is_gone_are_told() -> None:
    with CopiedServer(binaries_of("mysql-9.7"), ["--sql-mode=", "--ft-min-word-len=4"]) as server, schema(server, "options"):
        server.execute("INSTALL PLUGIN simple_parser SONAME 'mypluglib.so'")
        made(server, Made("x TEXT, FULLTEXT f (x) WITH PARSER simple_parser"))
        server.execute("INSERT INTO t VALUES ('ox about because')", database="options")
        said = {change.id: change.what for change in told(server).changes}
        assert "The parser simple_parser takes the texts of FULLTEXT index f apart" in said["fulltext-parser"]
        before = [counted(server, word) for word in ("ox", "about", "because")]
        server.execute("ALTER TABLE t ENGINE=InnoDB", database="options")
        assert (before, [counted(server, word) for word in ("ox", "about", "because")]) == ([1, 1, 1], [0, 0, 1])
        server.execute("ALTER TABLE t ENGINE=MyISAM", "UNINSTALL PLUGIN simple_parser", database="options")
        server.restart()
        assert [error.code for error in told(server).errors] == [1524] == [error_of(server, "ALTER TABLE t ENGINE=InnoDB", "options")]
