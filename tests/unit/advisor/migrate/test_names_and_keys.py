"""Names that InnoDB keeps for itself, long indexes, and which error comes first: each as MySQL 5.6 and 9.7 and MariaDB 10.11 answered."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.key_lengths import trees_of, whole_texts
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.server_kind import ServerKind, of_variables
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Part, Structure

from .test_migrate import COUNTS_WITHIN, LATIN1, MARIADB, MYSQL, OLD, UTF8MB4, index, integer, table, text

LARGE = of_variables("mysql", (5, 6), {"innodb_file_format": "Barracuda", "innodb_strict_mode": "ON", "innodb_large_prefix": "ON"})
STRICT = of_variables("mariadb", (10, 11), {"sql_mode": "TRADITIONAL"})
TINY = Column("a", types.TINY_BLOB, 255, LATIN1, True)
WORDS = Column("x", types.BLOB, 65_535, LATIN1, True)


def number(name: str = "FTS_DOC_ID", kind: int = types.LONGLONG, *, nullable: bool = False, unsigned: bool = True) -> Column:
    return Column(name, kind, 8, 63, nullable, unsigned)


def with_words(column: Column, *indexes: Index) -> Structure:
    return table(column, WORDS, indexes=(*indexes, index((1, 0), name="words", kind=types.FULLTEXT)))


def of_document(*parts: tuple[int, int], name: str = "FTS_DOC_ID_INDEX", unique: bool = True) -> Structure:
    """With an index of this name; of the text behind the number only a beginning is in it."""
    over = tuple(Part(column, length, prefix=column > 0) for column, length in parts)
    return with_words(number(), Index(name, unique, types.BTREE, over))


LONG = table(text("v", 1000), indexes=(index((0, 800)),), row_format="COMPACT")
BY_HASH = table(text("v", 1001), indexes=(index((0, 1001), unique=True, kind=types.LONG_UNIQUE),), row_format="COMPACT")
RESERVED = table(integer("DB_ROW_ID"), indexes=(index((0, 4), name="GEN_CLUST_INDEX"),), row_format="FIXED")


@pytest.mark.parametrize(
    ("structure", "kind", "codes"),
    [
        (table(number(unsigned=False)), MYSQL, []),
        (with_words(number(unsigned=False)), MARIADB, []),
        (with_words(number(nullable=True)), MARIADB, [1166]),
        (with_words(number("fts_doc_id")), MYSQL, [1797]),
        # Without words MySQL 8.0 and later look at the name behind the options, the others before them.
        (replace(table(number(nullable=True)), row_format="FIXED"), MYSQL, [1031, 1166]),
        (table(number(nullable=True), indexes=(index((0, 8), name="GEN_CLUST_INDEX"),)), MYSQL, [1280, 1166]),
        (replace(with_words(number(nullable=True)), row_format="FIXED"), MYSQL, [1797, 1031]),
        (replace(table(integer("DB_ROW_ID")), row_format="FIXED"), MYSQL, [1166, 1031]),
        (replace(table(integer("DB_ROW_ID"), integer("a"), indexes=(index((1, 4), unique=True),)), row_format="FIXED"), MYSQL, [1031, 1166]),
        (replace(table(integer("DB_TRX_ID"), integer("a"), indexes=(index((1, 4), unique=True),)), row_format="FIXED"), MYSQL, [1166, 1031]),
        # A prefix that is longer than its TINYTEXT; and in the order of the indexes.
        (table(TINY, indexes=(index((0, 300), prefix=True),)), OLD, [1170]),
        (table(TINY, indexes=(index((0, 255), prefix=True),)), OLD, []),
        (table(replace(TINY, collation=33), indexes=(index((0, 300), prefix=True),)), OLD, []),
        (table(TINY, indexes=(index((0, 300), prefix=True),)), MARIADB, []),
        (table(TINY, indexes=(index((0, 300), prefix=True),)), MYSQL, []),
        (table(TINY, text("v", 1000), indexes=(index((0, 300), prefix=True), index((1, 800), unique=True, name="u"))), OLD, [1170, 1071]),
        (table(TINY, text("v", 1000), indexes=(index((1, 800), unique=True, name="u"), index((0, 300), prefix=True))), OLD, [1071, 1170]),
        (table(TINY, integer("g"), indexes=(index((0, 300), prefix=True), index((1, 32), kind=types.SPATIAL, name="s"))), OLD, [1170, 1464]),
        (of_document((0, 8)), MYSQL, []),
        (of_document((0, 8), unique=False), MYSQL, [1798]),
        (of_document((0, 8), name="fts_doc_id_index"), MARIADB, [1798]),
        (of_document((0, 8), (1, 10)), MARIADB, [1798]),
        (of_document((0, 8), (1, 10)), OLD, [1280]),
        (of_document((0, 8), (1, 10)), replace(MARIADB, version=(10, 5)), [1280]),
        (table(number(), indexes=(index((0, 8), name="FTS_DOC_ID_INDEX"),)), MYSQL, []),
        (RESERVED, MYSQL, [1166, 1280, 1031]),
        (RESERVED, MARIADB, [1280, 1005, 1166]),
        (RESERVED, LARGE, [1031, 1280, 1166]),
        (replace(RESERVED, columns=LONG.columns, indexes=LONG.indexes, row_format="COMPACT"), MARIADB, [1709]),
        (LONG, replace(MYSQL, strict=False), []),
        (LONG, MYSQL, [1071]),
        (replace(LONG, row_format=""), replace(MYSQL, row_format="COMPACT"), [1709]),
        (replace(LONG, row_format=""), replace(MYSQL, page_bytes=4096), [1071]),
        (replace(LONG, row_format=""), replace(MYSQL, page_bytes=4096, strict=False), [1071]),
        (LONG, replace(MYSQL, page_bytes=4096, strict=False), []),
        (table(WORDS, indexes=(index((0, 1000), prefix=True),)), replace(MYSQL, page_bytes=4096, strict=False), []),
        (table(WORDS, indexes=(index((0, 1000), prefix=True),)), replace(MYSQL, page_bytes=4096), [1071]),
        (replace(LONG, row_format=""), replace(MARIADB, page_bytes=4096), []),
        (BY_HASH, MARIADB, [1709]),
        (replace(BY_HASH, row_format="DYNAMIC"), MARIADB, []),
        (with_words(integer()), MARIADB, []),
        (replace(with_words(integer()), columns=(integer(), replace(WORDS, generated=types.VIRTUAL))), MARIADB, [1907]),
        (replace(COUNTS_WITHIN, columns=(*COUNTS_WITHIN.columns, Column("d", types.DATE, 3, 63, False, zero_default=True))), STRICT, [1075, 1067]),
    ],
)  # fmt: skip
def test_names_and_keys_in_the_order_of_each_server(structure: Structure, kind: object, codes: list[int]) -> None:
    assert [one.code for one in refusals(structure, "InnoDB", kind) if not one.may] == codes  # type: ignore[arg-type]


def test_a_default_is_refused_before_an_index_of_aria() -> None:
    zero = Column("d", types.DATE, 3, 63, False, zero_default=True)
    both = table(zero, WORDS, indexes=(index((1, 0), unique=True, kind=types.LONG_UNIQUE),))
    assert [one.code for one in refusals(both, "Aria", STRICT) if not one.may] == [1067, 1071]


@pytest.mark.parametrize(
    ("kind", "page_bytes", "allowed"), [(MYSQL, 4096, 768), (MYSQL, 8192, 1536), (MYSQL, 16_384, 3072), (MYSQL, 65_536, 3072), (MARIADB, 4096, 1173), (MARIADB, 8192, 1536)]
)
def test_an_index_that_is_kept_by_a_hash_is_a_tree_where_its_columns_fit(kind: ServerKind, page_bytes: int, allowed: int) -> None:
    sized = replace(kind, page_bytes=page_bytes)
    made = table(text("v", 4000), indexes=(index((0, allowed), kind=types.LONG_UNIQUE), index((0, allowed + 1), kind=types.LONG_UNIQUE)))
    assert trees_of(made, sized) == made.indexes[:1]


def test_a_part_of_767_bytes_is_none_too_many() -> None:
    wide = [table(text("v", 1000), indexes=(index((0, length), unique=True),)) for length in (767, 768)]
    assert [[one.code for one in refusals(made, "InnoDB", OLD)] for made in wide] == [[], [1071]]
    (of_four_bytes,) = refusals(table(text("v", 1000, UTF8MB4), indexes=(index((0, 800), unique=True),)), "InnoDB", OLD)
    assert "Index `v`(191)" in of_four_bytes.mend


def test_mysql_5_6_alone_cuts_a_whole_tinytext_of_two_bytes_a_character() -> None:
    ucs2 = Column("t", types.TINY_BLOB, 255, 35, False)
    whole, cut = (table(ucs2, indexes=(index((0, length)),)) for length in (510, 508))
    assert [[column for _, column in whole_texts(whole, kind)] for kind in (OLD, MYSQL, MARIADB)] == [[ucs2], [], []]
    assert list(whole_texts(cut, OLD)) == []
