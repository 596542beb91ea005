"""What searches in FULLTEXT indexes mean otherwise in InnoDB: which words, which rows, which expressions.

Sources: MySQL manual, "InnoDB Full-Text Indexes", "Boolean Full-Text Searches", "Full-Text Restrictions"; storage/innobase/fts/fts0pars.y
(which expressions are one), fts0que.cc. All but the operators' are shown on real servers in tests/servers/test_migrate_traps.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.fulltext_parsers import boolean_search, columns_of, parser_changes
from myisam_advisor.migrate.fulltext_settings import (
    BUILT_IN_FILE,
    INNODB_SHORTEST,
    INNODB_STOPWORDS,
    MYISAM_STOPWORDS,
    OPERATORS,
    SHORTEST,
    TOKEN_CHARACTERS,
)
from myisam_advisor.migrate.innodb_names import document_number
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Structure
from myisam_exporter.server.sql import Sql, quote_identifier, quote_text, sql_list, statement

# Words of one character and more that neither engine has among its stopwords.
WORDS = ("x", "ox", "cat", "tree")
# What MATCH takes: columns of characters.
TEXTS, BINARY = (types.BLOBS | types.VARIABLE | {types.STRING}) - {types.GEOMETRY, types.JSON}, 63
# Those of InnoDB that are none in MyISAM and have three letters (asked of MariaDB 10.11 with ft_min_word_len=1; de, en, la, a and i are shorter).
OWN_STOPWORDS, OWN_CHARACTERS = "'und' and 'www'", 3
# storage/innobase/include/fts0fts.h, FTS_DOC_ID_MAX_STEP of MySQL 5.6, and of later ones.
OLD_STEP, STEP, LARGER_STEP_SINCE = 10_000, 65_535, (5, 7)


def fulltext_changes(subject: Subject) -> Iterator[Change]:
    """Of a table that goes to InnoDB: most are of one that has such an index."""
    yield from _document_numbers(subject)
    indexes = subject.structure.of_kind(types.FULLTEXT)
    for index in [one for one in indexes if not one.parser][:1]:
        columns = columns_of(subject.structure, index)
        yield from _lengths(subject, columns)
        yield from _stopwords(subject, columns)
        yield from _required(subject, columns)
        yield Change(
            "fulltext-syntax",
            "IN BOOLEAN MODE some searches that MyISAM accepts end with error 1064: 'a@b' (addresses), 'word+', '++x', '(x'. Take + - < > ( ) ~ * @ out of what people type."
            " A hyphen within a word is an operator, too, without an error: 'e-mail' asks for e without mail. Quote such words: '\"e-mail\"'.",
            boolean_search(subject, columns, "a@b"),
        )
        yield from _operators(subject, columns)
    yield from parser_changes(subject)
    for index in indexes[:1]:
        yield Change(
            "fulltext-ranking",
            "Words in more than half of the rows are found, too, and relevance is calculated in another way. "
            "IN BOOLEAN MODE rows come by relevance, too, no longer in the order in which they were inserted.",
            _natural(subject, columns_of(subject.structure, index)),
        )
        yield from _temporary_copy(subject)
        yield Change(
            "fulltext-commit",
            "A search finds rows only after their COMMIT, also in the transaction that wrote them.",
        )
    yield from _other_columns(subject)


def _temporary_copy(subject: Subject) -> Iterator[Change]:
    """Of a partitioned table there is no such copy in any engine."""
    if not subject.structure.partitioned:
        yield Change(
            "fulltext-temporary",
            "CREATE TEMPORARY TABLE ... LIKE this table ends with error 1796: InnoDB has no FULLTEXT index in a temporary table. List its columns there, with ENGINE=MyISAM.",
            statement("{} CREATE TEMPORARY TABLE {} LIKE {};", subject.no_copy_yet, subject.shown, subject.table),
        )


def _document_numbers(subject: Subject) -> Iterator[Change]:
    """Tried on MySQL 5.6, 8.0 and 9.7, MariaDB 10.5 to 11.8: MariaDB takes any number but 0, and those below it."""
    column = document_number(subject.structure)
    if column is None:
        return
    step = STEP if subject.kind.version >= LARGER_STEP_SINCE else OLD_STEP
    steps = "" if subject.kind.is_mariadb else f", or {step:,} or more above the largest in the rows before it,"
    name = quote_identifier(column.name)
    yield Change(
        "document-numbers",
        f"Its column {column.name} becomes InnoDB's own number of a document: a row with 0{steps} ends the copy with error 182, the same number in two rows with error 1022.",
        statement("SELECT MIN({}), MAX({}), COUNT({}) - COUNT(DISTINCT {}) FROM {};", *[name] * 4, subject.table),
    )


def _natural(subject: Subject, columns: Sql) -> Sql:
    return statement(
        "SELECT COUNT(*) FROM {} WHERE MATCH ({}) AGAINST ({});", subject.table, columns, quote_text("word")
    )


def _lengths(subject: Subject, columns: Sql) -> Iterator[Change]:
    """Words that are found before or afterwards only, as they are short."""
    said, to_be = subject.present.fulltext.shortest, subject.kind.fulltext.innodb_shortest
    before, after = (SHORTEST if said is None else said), (INNODB_SHORTEST if to_be is None else to_be)
    if before == after:
        return
    of_before, of_after = _of("ft_min_word_len", said), _of("innodb_ft_min_token_size", to_be)
    same = f" To keep that, start the server with innodb_ft_min_token_size={before} before the ALTER."
    mend = same if before <= TOKEN_CHARACTERS[1] else ""
    what = (
        f"FULLTEXT finds words from {after} characters on ({of_after}); before it was from {before} on ({of_before})."
        if after < before
        else f"FULLTEXT finds words only from {after} characters on ({of_after}); before it was from {before} on ({of_before}).{mend}"
    )
    yield Change("fulltext-length", what, boolean_search(subject, columns, _word_of(min(before, after))))


def _of(variable: str, said: int | None) -> str:
    return variable if said is not None else f"{variable} by default"


def _word_of(characters: int) -> str:
    return WORDS[max(characters, 1) - 1] if characters <= len(WORDS) else "x" * characters


def _stopwords(subject: Subject, columns: Sql) -> Iterator[Change]:
    """Words that are left out before or afterwards only, as they are in a list."""
    file, later = subject.present.fulltext.stopword_file, subject.kind.fulltext
    built_in = file in (None, BUILT_IN_FILE)
    if later.innodb_stopwords is False:
        after = ""
    elif later.innodb_stopword_table:
        after = f"the stopwords in the table {later.innodb_stopword_table}"
    else:
        after = f"InnoDB's {INNODB_STOPWORDS} stopwords"
    if built_in:
        # Whoever has a list of his own knows what it finds.
        found = "" if later.innodb_stopword_table else ": words such as 'after' and 'because' are found"
        shortest = subject.present.fulltext.shortest
        if found and after and shortest is not None and shortest <= OWN_CHARACTERS:
            found += f", {OWN_STOPWORDS} no longer"
        what = f"FULLTEXT leaves out {after or 'no stopwords'} instead of MyISAM's {MYISAM_STOPWORDS}{found}."
        yield Change("fulltext-stopwords", what, boolean_search(subject, columns, "because"))
    elif file:
        what = f"FULLTEXT leaves out {after or 'no stopwords'} instead of those in {file}; innodb_ft_server_stopword_table names a table of yours."
        yield Change("fulltext-stopwords", what, boolean_search(subject, columns, "about"))
    elif after:
        what = f"FULLTEXT leaves out {after}, where it had none (ft_stopword_file is empty): 'about' and 'where' are not found any more. "
        mend = "To keep that, SET GLOBAL innodb_ft_enable_stopword = OFF before the ALTER."
        yield Change("fulltext-stopwords", what + mend, boolean_search(subject, columns, "about"))


def _required(subject: Subject, columns: Sql) -> Iterator[Change]:
    """A search that asks for what no index holds."""
    later = subject.kind.fulltext
    if later.innodb_stopwords is not False and not later.innodb_stopword_table:
        shown = "+the +word"
    elif later.innodb_shortest is None or later.innodb_shortest > 1:
        shown = "+x +word"
    else:
        return
    yield Change(
        "fulltext-required",
        f"IN BOOLEAN MODE '{shown}' finds nothing: MyISAM ignores stopwords and short words after +, InnoDB looks for them. Leave them out of the search.",
        boolean_search(subject, columns, shown),
    )


def _operators(subject: Subject, columns: Sql) -> Iterator[Change]:
    """Signs that the server was told to take for others: InnoDB has its own."""
    operators = subject.present.fulltext.operators
    if operators != OPERATORS:
        yield Change(
            "fulltext-operators",
            f"IN BOOLEAN MODE ft_boolean_syntax ({operators}) has no effect any more: the operators have their default meaning, and words without one are optional.",
            boolean_search(subject, columns, "one two"),
        )


def _other_columns(subject: Subject) -> Iterator[Change]:
    """A search in columns over which there is no index: of those that have one with others, or in a text of a table without any."""
    structure = subject.structure
    indexed = [tuple(part.column for part in index.parts) for index in structure.of_kind(types.FULLTEXT)]
    every = tuple(dict.fromkeys(column for columns in indexed for column in columns)) or _text(subject)
    sets = [frozenset(columns) for columns in indexed]
    asked = [*((column,) for column in every), every]
    one = next((columns for columns in asked if columns and frozenset(columns) not in sets and _of_one_collation(structure, columns)), None)  # fmt: skip
    if one is not None:
        names = sql_list(quote_identifier(structure.columns[column].name) for column in one)
        yield Change(
            "fulltext-columns",
            "MATCH over columns that are not exactly those of an index ends with error 1191, IN BOOLEAN MODE, too, where MyISAM reads the table. "
            "Create an index for each such search.",
            boolean_search(subject, names, "word"),
        )


def _text(subject: Subject) -> tuple[int, ...]:
    """The first column of text. MySQL searches in no partitioned table, of whichever engine (error 1214)."""
    if subject.structure.partitioned and not subject.kind.is_mariadb:
        return ()
    columns = enumerate(subject.structure.columns)
    return next(((place,) for place, one in columns if one.type in TEXTS and one.collation != BINARY), ())


def _of_one_collation(structure: Structure, columns: tuple[int, ...]) -> bool:
    return len({structure.columns[column].collation for column in columns}) == 1
