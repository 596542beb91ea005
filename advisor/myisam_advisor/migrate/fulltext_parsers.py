"""FULLTEXT indexes WITH PARSER: where no engine takes them, and what searches in them mean otherwise in InnoDB.

Sources: manual of MySQL, "ngram Full-Text Parser", "MeCab Full-Text Parser Plugin"; storage/innobase/fts/fts0fts.cc (fts_check_token),
storage/maria/ma_open.c. Tried with ngram and simple_parser on MySQL 9.7, and with a parser made for it on MySQL 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11
and 11.8; MeCab with the dictionary IPADIC on MySQL 9.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.fulltext_settings import INNODB_SHORTEST, INNODB_STOPWORDS, NGRAM, SEQUENCE
from myisam_advisor.migrate.refusal import Refusal, drop_index
from myisam_advisor.migrate.server_kind import ARIA, ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, quote_text, sql_list, statement

MECAB = "mecab"
NOT_LOADED, NO_PARSER, NOT_RENAMED = 1524, 1865, 1025
# InnoDB takes parsers: MySQL 5.7; in MariaDB with its InnoDB of 5.7.
PARSERS_SINCE = ((5, 7), (10, 2))


def parsers_not_loaded(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Without its parser a table does not open."""
    known = kind.plugins
    lacking = sorted(
        {index.parser for index in _parsed(structure) if known and index.parser.lower() not in known.parsers}
    )
    if lacking:
        why = f"the parser {listed(lacking)} of a FULLTEXT index is not loaded: the table opens for nobody"
        yield Refusal(NOT_LOADED, why, "INSTALL PLUGIN it, as it was.")


def parsers_refused(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """By InnoDB of before parsers."""
    for index in _parsed(structure)[:1]:
        if not kind.since(*PARSERS_SINCE):
            why = f"InnoDB of {kind.label} takes no parser, and FULLTEXT index {index.name} has {index.parser}"
            yield Refusal(NO_PARSER, why, drop_index(table, index.name))


def parsers_refused_by_aria(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Aria makes such a table and does not open it: the ALTER ends at its last step, and the table stays as it was."""
    for index in _parsed(structure)[:1]:
        why = f"{ARIA} opens no table with a parser, and FULLTEXT index {index.name} has {index.parser}"
        yield Refusal(NOT_RENAMED, why, f"Choose --to innodb, or {drop_index(table, index.name)}")


def _parsed(structure: Structure) -> tuple[Index, ...]:
    return tuple(index for index in structure.of_kind(types.FULLTEXT) if index.parser)


def parser_changes(subject: Subject) -> Iterator[Change]:
    """Of a table that goes to InnoDB: of its first index with ngram, and of its first one with another parser."""
    parsed = _parsed(subject.structure)
    for index in [one for one in parsed if one.parser.lower() == NGRAM][:1]:
        yield from _of_ngram(subject, index)
    for index in [one for one in parsed if one.parser.lower() != NGRAM][:1]:
        later = subject.kind.fulltext
        shortest = INNODB_SHORTEST if later.innodb_shortest is None else later.innodb_shortest
        stopwords = "" if later.innodb_stopwords is False else " and its stopwords"
        mend = _of_short_words(index, shortest)
        yield Change(
            "fulltext-parser",
            f"The parser {index.parser} takes the texts of FULLTEXT index {index.name} apart: of the words that it gives MyISAM holds all, whatever ft_min_word_len is; "
            f"InnoDB leaves out those of less than {shortest} characters (innodb_ft_min_token_size){stopwords}.{mend}",
            _search(subject, index, "ox"),
        )


def _of_short_words(index: Index, shortest: int) -> str:
    """What else is to be said of them, and what keeps them (tried with MeCab)."""
    is_mecab = index.parser.lower() == MECAB
    apart = (
        " A term that is taken apart finds rows that hold its words in this order; MyISAM finds those with any of them."
    )
    short = " Most Japanese words are so short, and found no more."
    keep = " To keep short words, start the server with innodb_ft_min_token_size=1 before the ALTER."
    return (short if is_mecab and shortest > 1 else "") + (keep if shortest > 1 else "") + (apart if is_mecab else "")


def _of_ngram(subject: Subject, index: Index) -> Iterator[Change]:
    """Sequences of so many characters are what it holds, in both engines (ngram_token_size); ft_min_word_len and its like count in none."""
    said = subject.kind.fulltext.sequence
    size = SEQUENCE if said is None else said
    later = subject.kind.fulltext
    if later.innodb_stopwords is not False:
        own = later.innodb_stopword_table
        words = f"the table {own}" if own else f"InnoDB's {INNODB_STOPWORDS}"
        of_letters = "" if own else ": with 'a' and 'i' among them, all that hold these letters"
        yield Change(
            "ngram-stopwords",
            f"FULLTEXT WITH PARSER ngram leaves out each sequence of {size} characters (ngram_token_size) that holds a stopword of {words}{of_letters}. "
            "MyISAM leaves out none. To keep that, SET GLOBAL innodb_ft_enable_stopword = OFF before the ALTER.",
            _search(subject, index, ("ab" * size)[:size]),
        )
    yield Change(
        "ngram-sequences",
        f"IN BOOLEAN MODE a word of more than {size} characters (ngram_token_size) finds rows that hold all of it; "
        f"MyISAM finds those that hold any {size} of its characters in a row.",
        _search(subject, index, "x" * size + "o"),
    )


def columns_of(structure: Structure, index: Index) -> Sql:
    """The columns that an index is over."""
    return sql_list(quote_identifier(structure.columns[part.column].name) for part in index.parts)


def boolean_search(subject: Subject, columns: Sql, words: str) -> Sql:
    """The statement that searches for these words."""
    return statement(
        "SELECT COUNT(*) FROM {} WHERE MATCH ({}) AGAINST ({} IN BOOLEAN MODE);",
        subject.table, columns, quote_text(words),
    )  # fmt: skip


def _search(subject: Subject, index: Index, words: str) -> Sql:
    return boolean_search(subject, columns_of(subject.structure, index), words)
