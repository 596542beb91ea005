"""Options of tables and indexes, made up here; what servers really do is asked in tests/servers/test_migrate_options.py."""

from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.migrate.prediction import Prediction, predict
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables
from myisam_advisor.migrate.server_plugins import Plugins, of_rows
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_advisor.migrate.way_back import back
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Part, Structure

from .test_migrate import MARIADB, MYSQL, OLD, index, integer, table, text

LOADED = replace(MARIADB, plugins=Plugins(("own",), has_keys=True))
UNLOADED = replace(MARIADB, plugins=Plugins())


def codes(structure: Structure, kind: ServerKind, to: str = "InnoDB") -> list[int]:
    return [one.code for one in refusals(structure, to, kind) if not one.may]


def told(structure: Structure, kind: ServerKind, to: str = "InnoDB") -> dict[str, Change]:
    return {one.id: one for one in changes(Subject(("s", "t"), structure, to, kind))}


def one(structure: Structure, kind: ServerKind, to: str = "InnoDB") -> Prediction:
    (found,) = predict([FoundTable(("s", "t"), structure, None)], to, kind, None, Machine())
    return found


def kept(*texts: tuple[str, str], row_format: str = "", **options: int) -> Structure:
    return replace(table(row_format=row_format), options=tuple(options.items()), texts=texts)


@pytest.mark.parametrize(
    ("directory", "variables", "takes"),
    [
        ("/srv/rows", {"datadir": "/data"}, False),
        ("/data/rows", {"datadir": "/data/"}, True),
        ("/database", {"datadir": "/data"}, False),
        ("/srv/rows", {"datadir": "/data", "innodb_directories": "/srv/"}, True),
        ("/srv/rows", {"datadir": "/data", "innodb_directories": "/one;/srv/rows"}, True),
        ("/srv/rows", {"datadir": "/data", "innodb_directories": "../srv"}, True),
        ("/srv/rows", {"datadir": "/data", "innodb_data_home_dir": "/srv"}, True),
        ("/srv/rows", {"datadir": "/data", "innodb_undo_directory": "/srv"}, False),
        ("/srv/rows", {"datadir": "/data", "version": "8.0.20"}, True),
        ("/srv/rows", {"datadir": "/data", "version": "8.0.21-log"}, False),
    ],
)
def test_rows_lie_below_directories_that_innodb_knows(directory: str, variables: dict[str, str], takes: bool) -> None:
    elsewhere = replace(table(), data_directory=directory)
    assert codes(elsewhere, of_variables("mysql", (8, 0), variables)) == ([] if takes else [3121])
    lenient = of_variables("mysql", (8, 0), {**variables, "innodb_strict_mode": "OFF"})
    assert codes(elsewhere, lenient) == []
    assert ("data-directory" in told(elsewhere, lenient)) != takes


def test_an_upgrade_refuses_a_directory_that_is_followed_now() -> None:
    elsewhere = FoundTable(("s", "t"), replace(table(), data_directory="/srv"), None)
    (found,) = predict([elsewhere], "InnoDB", OLD, by_default("mysql", (8, 4)), Machine())
    assert (found.errors, [error.code for error in found.target_errors]) == ((), [3121])


def test_a_link_to_a_directory_that_innodb_knows_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    kind = of_variables("mysql", (9, 7), {"datadir": "/data", "innodb_directories": str(tmp_path / "link")})
    assert codes(replace(table(), data_directory=str(tmp_path / "real")), kind) == []


def test_a_directory_takes_a_file_of_the_table_s_own() -> None:
    elsewhere = replace(table(), data_directory="/srv")
    strict = replace(OLD, strict_innodb=True)
    kinds = (MARIADB, strict, replace(strict, file_per_table=False), replace(MARIADB, file_per_table=False), OLD, by_default("mysql", (5, 5)))
    assert [codes(elsewhere, kind) for kind in kinds] == [[], [], [1031], [1005], [], []]
    assert [("data-directory" in told(elsewhere, kind)) for kind in kinds] == [False, False, True, True, False, True]


@pytest.mark.parametrize(
    ("structure", "kind", "found"),
    [
        (kept(("ENCRYPTED", "yes")), UNLOADED, [1005]),
        (kept(("ENCRYPTED", "yes")), MARIADB, []),  # nobody knows of plugins
        (kept(("ENCRYPTED", "yes")), LOADED, []),
        (kept(("ENCRYPTED", "yes")), replace(LOADED, file_per_table=False), [1005]),
        (kept(("ENCRYPTED", "NO")), replace(LOADED, file_per_table=False), [1005]),
        (kept(("ENCRYPTED", "NO")), replace(LOADED, encrypts_tables="FORCE"), [1005]),
        (kept(("ENCRYPTED", "1")), replace(UNLOADED, file_per_table=False), []),
        (kept(("PAGE_COMPRESSED", "1"), ("PAGE_COMPRESSION_LEVEL", "9")), MARIADB, []),
        (kept(("PAGE_COMPRESSION_LEVEL", "0")), MARIADB, [1005]),
        (kept(("PAGE_COMPRESSED", "On")), replace(MARIADB, file_per_table=False), [1005]),
        (kept(("PAGE_COMPRESSED", "1"), row_format="REDUNDANT"), MARIADB, [1005]),
        (kept(("PAGE_COMPRESSED", "1")), replace(MARIADB, row_format="REDUNDANT"), [1005]),
        (table(*[integer(f"c{number}") for number in range(1018)]), by_default("mysql", (5, 5)), [1005]),
        (kept(("PAGE_COMPRESSED", "1"), KEY_BLOCK_SIZE=4), MARIADB, [1005]),
        (kept(("PAGE_COMPRESSED", "x"), KEY_BLOCK_SIZE=4), MARIADB, []),
        (kept(("PAGE_COMPRESSION_LEVEL", "1")), MYSQL, []),
        (kept(("PAGE_COMPRESSION_LEVEL", "1")), by_default("mariadb", (5, 5)), []),
        (kept(("TABLESPACE", "ours"), ("COMPRESSION", "zlib")), MARIADB, []),
        (kept(("TABLESPACE", "ours")), MYSQL, []),
        (kept(("TABLESPACE", "ours")), replace(MYSQL, tablespaces=("ours",)), []),
        (kept(("TABLESPACE", "ours"), row_format="FIXED"), replace(MYSQL, tablespaces=()), [3510, 1031]),
        (kept(("TABLESPACE", "innodb_undo_001")), MYSQL, [3119]),
        (kept(("TABLESPACE", "innodb_temporary")), MYSQL, [1478]),
        (kept(("TABLESPACE", "innodb_system"), KEY_BLOCK_SIZE=8), MYSQL, [1478]),
        (kept(("TABLESPACE", "innodb_file_per_table"), KEY_BLOCK_SIZE=8), replace(MYSQL, file_per_table=False), []),
        (kept(("TABLESPACE", "innodb_system"), row_format="FIXED"), replace(MYSQL, strict_innodb=False), [1031]),
        (kept(("COMPRESSION", "other")), MYSQL, [1031]),
        (kept(("COMPRESSION", "other")), replace(MYSQL, strict_innodb=False), []),
        (kept(("COMPRESSION", "lz4")), replace(MYSQL, strict_innodb=False, file_per_table=False), [1112]),
        (kept(("COMPRESSION", "None")), replace(MYSQL, file_per_table=False), []),
        (kept(("COMPRESSION", "zlib")), by_default("mysql", (5, 7)), []),
    ],
)  # fmt: skip
def test_words_that_myisam_keeps_are_refused_by_innodb(structure: Structure, kind: ServerKind, found: list[int]) -> None:
    assert codes(structure, kind) == found
    assert codes(structure, kind, "Aria") == ([] if kind.is_mariadb else [1286])


def test_rows_of_compressed_pages_are_dynamic() -> None:
    long = table(text("v", 1000), indexes=(index((0, 800)),), row_format="COMPACT")
    assert codes(long, MARIADB) == [1709]
    assert codes(replace(long, texts=(("PAGE_COMPRESSED", "1"),)), MARIADB) == []


def test_a_tablespace_of_several_tables_refuses_an_index_directory() -> None:
    lenient = replace(MYSQL, strict_innodb=False)
    for name, found in (("ours", [1031]), ("innodb_file_per_table", [])):
        placed = replace(kept(("TABLESPACE", name)), index_elsewhere=True, data_directory="/srv")
        assert (codes(placed, lenient), codes(placed, MYSQL)) == (found, [1031])


def test_spatial_indexes_are_encrypted_with_a_checksum_of_their_own() -> None:
    boxes = replace(table(integer(), indexes=(index((0, 4), kind=types.SPATIAL),)), texts=(("ENCRYPTED", "YES"),))
    assert [codes(boxes, replace(LOADED, full_checksums=full)) for full in (True, False)] == [[], [1005]]
    said = [of_variables("mariadb", (10, 11), {"innodb_checksum_algorithm": name}).full_checksums for name in ("crc32", "strict_full_crc32")]
    assert said == [False, True]


def test_what_words_mean_in_innodb_is_told() -> None:
    encrypting = replace(LOADED, encrypts_tables="ON")
    assert "with key 7; " in told(kept(("ENCRYPTED", "YES"), ("ENCRYPTION_KEY_ID", "7")), LOADED)["encrypted"].what
    assert "has no key 7, the ALTER ends with error 1005" in told(kept(("ENCRYPTED", "YES"), ("ENCRYPTION_KEY_ID", "7")), LOADED)["encrypted"].what
    assert "encrypted" not in told(kept(("ENCRYPTION_KEY_ID", "7")), LOADED)
    assert "with key 4294967295" in told(kept(("ENCRYPTION_KEY_ID", "5000000000")), encrypting)["encrypted"].what
    assert "writes the table in clear" in told(kept(("ENCRYPTED", "no")), encrypting)["not-encrypted"].what
    assert "compresses its pages by it (innodb_compression_algorithm=zlib)" in told(kept(("PAGE_COMPRESSED", "1")), MARIADB)["page-compressed"].what
    assert "compresses none" in told(kept(("PAGE_COMPRESSED", "1")), replace(MARIADB, compression_algorithm="none"))["page-compressed"].what
    assert "error 3510" in told(kept(("TABLESPACE", "ours")), MYSQL)["tablespace"].what
    assert "error 3510" not in told(kept(("TABLESPACE", "ours")), replace(MYSQL, tablespaces=("ours",)))["tablespace"].what
    assert "COMPRESSION='ZLIB'" in told(kept(("COMPRESSION", "ZLIB")), MYSQL)["page-compressed"].what


def test_a_word_that_stays_is_told() -> None:
    kinds = (replace(MYSQL, file_per_table=False), MYSQL, replace(OLD, file_per_table=False), replace(MARIADB, file_per_table=False))
    assert [("tablespace-word" in told(table(), kind)) for kind in kinds] == [True, False, False, False]


def parsed(parser: str, *more: Index) -> Structure:
    words = replace(index((0, 255), name="words", kind=types.FULLTEXT), parser=parser)
    return table(text("x"), text("y"), indexes=(words, *more))


@pytest.mark.parametrize(
    ("kind", "to", "found"),
    [
        (LOADED, "InnoDB", []),
        (UNLOADED, "InnoDB", [1524]),
        (MARIADB, "InnoDB", []),
        (LOADED, "Aria", [1025]),
        (UNLOADED, "Aria", [1524, 1025]),
        (OLD, "InnoDB", [1865]),
        (by_default("mysql", (5, 5)), "InnoDB", [1214, 1865]),
    ],
)
def test_parsers_that_no_engine_takes_are_refused(kind: ServerKind, to: str, found: list[int]) -> None:
    assert codes(parsed("Own"), kind, to) == found


def test_plugins_that_are_active_are_known() -> None:
    rows = [{"Name": "Ngram", "Status": "ACTIVE", "Type": "FTPARSER"}, {"Name": "off", "Status": "DISABLED", "Type": "FTPARSER"}, {"Name": "keys", "Status": "DISABLED", "Type": "ENCRYPTION"}]
    assert of_rows(rows) == Plugins(("ngram",), has_keys=False)
    assert of_rows([{**rows[2], "Status": "ACTIVE"}]) == Plugins((), has_keys=True)
    assert of_rows([]) is None


def test_words_are_told_by_the_parser_of_their_index() -> None:
    own = {"fulltext-length", "fulltext-stopwords", "fulltext-required", "fulltext-syntax"}
    common = {"fulltext-ranking", "fulltext-commit", "fulltext-columns"}
    both = parsed("ngram", index((0, 255), (1, 255), name="plain", kind=types.FULLTEXT))
    assert told(both, MYSQL).keys() >= own | common | {"ngram-stopwords", "ngram-sequences"}
    alone = told(parsed("NGRAM"), MYSQL)
    assert not alone.keys() & (own | {"fulltext-parser"})
    assert alone.keys() >= (common - {"fulltext-columns"}) | {"ngram-stopwords", "ngram-sequences"}
    other = told(parsed("mecab"), MYSQL)
    assert not other.keys() & (own | {"ngram-stopwords", "ngram-sequences"})
    assert "The parser mecab takes the texts of FULLTEXT index words apart" in other["fulltext-parser"].what
    said = [told(parsed(name), of_variables("mysql", (9, 7), {"innodb_ft_min_token_size": size}))["fulltext-parser"].what for name, size in (("MeCab", "2"), ("MeCab", "1"), ("other", "2"))]
    assert ["Most Japanese words are so short" in what for what in said] == [True, False, False]
    assert ["innodb_ft_min_token_size=1 before the ALTER" in what for what in said] == [True, False, True]
    assert ["MyISAM finds those with any of them" in what for what in said] == [True, True, False]


def test_sequences_are_as_long_as_the_server_says() -> None:
    said = told(parsed("ngram"), of_variables("mysql", (9, 7), {"ngram_token_size": "3"}))
    assert "each sequence of 3 characters" in said["ngram-stopwords"].what
    assert "AGAINST ('aba' IN BOOLEAN MODE)" in said["ngram-stopwords"].statement
    assert "a word of more than 2 characters" in told(parsed("ngram"), MYSQL)["ngram-sequences"].what
    assert "ngram-stopwords" not in told(parsed("ngram"), of_variables("mysql", (9, 7), {"innodb_ft_enable_stopword": "OFF"}))
    own = told(parsed("ngram"), of_variables("mysql", (9, 7), {"innodb_ft_server_stopword_table": "s/words"}))
    assert "a stopword of the table s/words. " in own["ngram-stopwords"].what


SIZED = Index("k", False, types.BTREE, (Part(0, 20, True), Part(1, 255, False, True)), "", 8192, "it", "HASH", True)
HASHED = Index("h", True, types.LONG_UNIQUE, (Part(0, 20, True),), algorithm="HASH")
WORDS = Index("w", False, types.FULLTEXT, (Part(0, 1, False),), "ngram", 2048, "it's")


@pytest.mark.parametrize(
    ("made", "kind", "to", "written"),
    [
        (table(text("a"), text("b"), indexes=(SIZED,)), MYSQL, "InnoDB", "DROP INDEX `k`, ADD INDEX `k` USING HASH (`a`(20), `b` DESC) KEY_BLOCK_SIZE=8192 COMMENT 'it' /*!80000 INVISIBLE */ /*M!100600 IGNORED */"),
        (table(text("a"), text("b"), indexes=(WORDS,)), MYSQL, "InnoDB", "DROP INDEX `w`, ADD FULLTEXT INDEX `w` (`a`) KEY_BLOCK_SIZE=2048 WITH PARSER `ngram` COMMENT 'it''s';"),
        (table(integer(), indexes=(replace(index((0, 4), name="PRIMARY", unique=True), block_bytes=4096),)), MARIADB, "Aria", "DROP PRIMARY KEY, ADD PRIMARY KEY (`id`) KEY_BLOCK_SIZE=4096;"),
        (table(integer(), indexes=(replace(index((0, 4), unique=True), block_bytes=4096),), KEY_BLOCK_SIZE=4096), MARIADB, "Aria", "ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=4096; ALTER TABLE `s`.`t` PAGE_CHECKSUM=DEFAULT, DROP INDEX `k`, ADD UNIQUE INDEX `k` (`id`) KEY_BLOCK_SIZE=4096;"),
        (table(integer(), indexes=(replace(index((0, 4)), block_bytes=4096),), KEY_BLOCK_SIZE=4096), MYSQL, "InnoDB", "ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=4096;"),
        (table(integer(), indexes=(replace(index((0, 4)), block_bytes=4096),)), MARIADB, "InnoDB", "ROW_FORMAT=DEFAULT;"),
        (table(text("a"), indexes=(replace(index((0, 255)), block_bytes=1),), KEY_BLOCK_SIZE=1), MARIADB, "InnoDB", "DROP INDEX `k`, ADD INDEX `k` (`a`) KEY_BLOCK_SIZE=1;"),
        (table(integer(), indexes=(replace(index((0, 4)), block_bytes=4096, comment="a\\b"),)), MYSQL, "InnoDB", "(`id`) KEY_BLOCK_SIZE=4096;"),
        (table(integer(), row_format="REDUNDANT"), MYSQL, "InnoDB", "ROW_FORMAT=REDUNDANT;"),
        (table(integer(), indexes=(index((0, 4), name="a"), replace(index((0, 4)), block_bytes=4096), index((0, 4), name="l"))), MYSQL, "InnoDB",
         "ROW_FORMAT=DEFAULT, DROP INDEX `k`, ADD INDEX `k` (`id`) KEY_BLOCK_SIZE=4096, DROP INDEX `l`, ADD INDEX `l` (`id`);"),
        (table(text("a"), indexes=(HASHED,)), MARIADB, "InnoDB", "ROW_FORMAT=DEFAULT, DROP INDEX `h`, ADD UNIQUE INDEX `h` USING HASH (`a`(20));"),
        (table(text("a", 2000), indexes=(replace(HASHED, parts=(Part(0, 1001, True),)),)), MARIADB, "InnoDB", "ROW_FORMAT=DEFAULT;"),
        (table(text("a"), indexes=(replace(HASHED, parts=(Part(0, 0, False),)),)), MARIADB, "InnoDB", "ROW_FORMAT=DEFAULT;"),
    ],
)  # fmt: skip
def test_the_way_back_makes_again_what_the_way_there_takes(made: Structure, kind: ServerKind, to: str, written: str) -> None:
    assert written in " ".join(back(one(made, kind, to)))


@pytest.mark.parametrize(
    ("kind", "row_format", "block_size", "words", "code"),
    [
        (OLD, "FIXED", 0, "ROW_FORMAT=FIXED", 1478),
        (OLD, "DYNAMIC", 8, "ROW_FORMAT=DYNAMIC, KEY_BLOCK_SIZE=8", 1478),
        (OLD, "COMPACT", 0, "", 0),
        (by_default("mysql", (5, 5)), "FIXED", 0, "ROW_FORMAT=FIXED", 1005),
        (replace(MARIADB, strict_innodb=False), "FIXED", 0, "ROW_FORMAT=FIXED", 1478),
        (replace(MARIADB, strict_innodb=False), "", 1024, "KEY_BLOCK_SIZE=1024", 1478),
        (replace(MARIADB, strict_innodb=False), "COMPRESSED", 8, "", 0),
        (replace(MYSQL, strict_innodb=False), "FIXED", 0, "", 0),
        (MARIADB, "FIXED", 0, "", 0),
    ],
)
def test_a_format_that_innodb_passes_over_stays_in_the_definition(kind: ServerKind, row_format: str, block_size: int, words: str, code: int) -> None:
    structure = kept(row_format=row_format, **({"KEY_BLOCK_SIZE": block_size} if block_size else {}))
    said = told(structure, kind).get("format-ignored")
    assert (said is not None) == bool(words)
    if said is not None:
        assert f"InnoDB ignores {words} with only a warning" in said.what
        assert f"ends with error {code}," in said.what
    assert "format-ignored" not in told(structure, kind, "Aria")


def test_aria_shows_a_format_that_keeps_no_log() -> None:
    long_text = replace(text("v"), type=types.BLOB)
    said = {name: told(replace(table(*columns), row_format=name), MARIADB, "Aria")["aria-not-crash-safe"].what for name, columns in (("FIXED", (long_text,)), ("DYNAMIC", (long_text,)))}
    assert "SHOW CREATE TABLE says PAGE already" in said["FIXED"]
    assert "says PAGE" not in said["DYNAMIC"]
    assert "says PAGE" not in told(table(integer(), row_format="FIXED"), MARIADB, "Aria")["aria-not-crash-safe"].what
