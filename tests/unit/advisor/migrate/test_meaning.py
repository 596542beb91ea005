"""What means another thing afterwards, of tables made up here; what servers really do is asked in tests/servers/test_migrate_traps.py."""

import re
from dataclasses import replace

import pytest

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Structure
from tests.support.repository import ROOT

from .test_migrate import MARIADB, MYSQL, OLD, index, integer, table, text

WORDS = table(text("x"), text("y"), indexes=(index((0, 255), (1, 255), kind=types.FULLTEXT),))
KEYED = table(integer(), indexes=(index((0, 4), name="PRIMARY", unique=True),))


def told(structure: Structure, to: str = "InnoDB", kind: ServerKind = MARIADB, here: ServerKind | None = None) -> dict[str, Change]:
    return {one.id: one for one in changes(Subject(("s", "t"), structure, to, kind, here=here))}


def mysql(**variables: str) -> ServerKind:
    return of_variables("mysql", (8, 4), variables)


@pytest.mark.parametrize(
    ("kind", "said", "word"),
    [
        (MYSQL, "finds words from 3 characters on (innodb_ft_min_token_size by default); before it was from 4 on (ft_min_word_len by default).", "cat"),
        (mysql(ft_min_word_len="4", innodb_ft_min_token_size="3"), "finds words from 3 characters on (innodb_ft_min_token_size); before it was from 4 on (ft_min_word_len).", "cat"),
        (mysql(ft_min_word_len="2", innodb_ft_min_token_size="3"), "finds words only from 3 characters on (innodb_ft_min_token_size); before it was from 2 on (ft_min_word_len). To keep that, start the server with innodb_ft_min_token_size=2", "ox"),
        (mysql(ft_min_word_len="20", innodb_ft_min_token_size="16"), "finds words from 16 characters on", "x" * 16),
        (mysql(ft_min_word_len="no number", innodb_ft_min_token_size="99"), "from 3 characters on (innodb_ft_min_token_size by default)", "cat"),
    ],
)  # fmt: skip
def test_the_length_of_words_is_told_by_both_settings(kind: ServerKind, said: str, word: str) -> None:
    change = told(WORDS, kind=kind)["fulltext-length"]
    assert said in change.what
    assert f"AGAINST ('{word}' IN BOOLEAN MODE)" in change.statement


def test_nothing_is_told_of_what_is_set_alike() -> None:
    alike = mysql(ft_min_word_len="3", innodb_ft_min_token_size="3", ft_stopword_file="", innodb_ft_enable_stopword="OFF")
    assert not told(WORDS, kind=alike).keys() & {"fulltext-length", "fulltext-stopwords"}
    assert "'+x +word' finds nothing" in told(WORDS, kind=alike)["fulltext-required"].what
    every = mysql(ft_min_word_len="1", innodb_ft_min_token_size="1", innodb_ft_enable_stopword="OFF")
    assert "fulltext-required" not in told(WORDS, kind=every)
    assert not [name for name in told(KEYED) if name.startswith("fulltext")]


@pytest.mark.parametrize(
    ("variables", "said", "word"),
    [
        ({}, "leaves out InnoDB's 36 stopwords instead of MyISAM's 543: words such as 'after' and 'because' are found.", "because"),
        ({"ft_min_word_len": "3"}, "words such as 'after' and 'because' are found, 'und' and 'www' no longer.", "because"),
        ({"ft_stopword_file": "(built-in)", "innodb_ft_enable_stopword": "OFF"}, "leaves out no stopwords instead of MyISAM's 543", "because"),
        ({"ft_stopword_file": ""}, "leaves out InnoDB's 36 stopwords, where it had none (ft_stopword_file is empty): 'about' and 'where' are not found any more. To keep that, SET GLOBAL innodb_ft_enable_stopword = OFF", "about"),
        ({"ft_stopword_file": "/etc/stopwords"}, "leaves out InnoDB's 36 stopwords instead of those in /etc/stopwords; innodb_ft_server_stopword_table names a table of yours.", "about"),
        ({"ft_stopword_file": "(built-in)", "innodb_ft_server_stopword_table": "s/words"}, "leaves out the stopwords in the table s/words instead of MyISAM's 543.", "because"),
        ({"innodb_ft_user_stopword_table": "s/mine", "innodb_ft_server_stopword_table": "s/words"}, "the stopwords in the table s/mine", "because"),
    ],
)  # fmt: skip
def test_stopwords_are_told_by_both_settings(variables: dict[str, str], said: str, word: str) -> None:
    change = told(WORDS, kind=mysql(**variables))["fulltext-stopwords"]
    assert said in change.what
    assert f"AGAINST ('{word}' IN BOOLEAN MODE)" in change.statement


def test_a_target_has_the_words_of_here_before_and_its_own_afterwards() -> None:
    here = mysql(ft_min_word_len="2", innodb_ft_min_token_size="2", ft_stopword_file="", innodb_ft_enable_stopword="OFF")
    assert "fulltext-length" not in told(WORDS, kind=here)
    (found,) = predict([FoundTable(("s", "t"), WORDS, None)], "InnoDB", here, by_default("mysql", (9, 7)), Machine())
    said = {one.id: one.what for one in found.changes}
    assert "words only from 3 characters on (innodb_ft_min_token_size by default); before it was from 2 on (ft_min_word_len)" in said["fulltext-length"]
    assert "where it had none" in said["fulltext-stopwords"]


def test_expressions_that_innodb_refuses_are_shown() -> None:
    shown = told(WORDS)
    assert "AGAINST ('a@b' IN BOOLEAN MODE)" in shown["fulltext-syntax"].statement
    assert "1064" in shown["fulltext-syntax"].what
    assert "AGAINST ('+the +word' IN BOOLEAN MODE)" in shown["fulltext-required"].statement
    assert shown["fulltext-commit"].statement == ""
    assert "fulltext-operators" not in shown
    assert "fulltext-operators" in told(WORDS, kind=mysql(ft_boolean_syntax=' |-><()~*:""&^'))


@pytest.mark.parametrize(
    ("indexed", "asked"),
    [
        ([(0, 1)], "MATCH (`x`) "),
        ([(0,), (1,)], "MATCH (`x`, `y`) "),
        ([(0, 1), (0,)], "MATCH (`y`) "),
        ([(0,)], None),
        ([(0,), (1,), (0, 1)], None),
        ([(0,), (2,)], None),
    ],
)  # fmt: skip
def test_a_search_without_an_index_is_shown_where_one_is_near(indexed: list[tuple[int, ...]], asked: str | None) -> None:
    indexes = tuple(index(*((column, 255) for column in columns), name=f"k{number}", kind=types.FULLTEXT) for number, columns in enumerate(indexed))
    change = told(table(text("x"), text("y"), text("other", collation=45), indexes=indexes)).get("fulltext-columns")
    assert (change is not None) == (asked is not None)
    assert change is None or asked is None or asked in change.statement


NULLABLE = replace(KEYED, columns=(replace(integer(), nullable=True),), indexes=(index((0, 4), unique=True),))


@pytest.mark.parametrize(("structure", "has"), [(table(), False), (KEYED, True), (NULLABLE, False), (replace(KEYED, indexes=(index((0, 4), unique=True),)), True)])
def test_a_table_without_a_primary_key_is_named(structure: Structure, has: bool) -> None:
    assert ("no-primary-key" in told(structure)) != has
    assert "no-primary-key" not in told(structure, "Aria")


def test_a_cluster_makes_more_of_a_missing_key() -> None:
    alone, group, galera = (told(table(), kind=kind)["no-primary-key"].what for kind in (MYSQL, replace(MYSQL, group=True), replace(MARIADB, galera=True)))
    assert "3098" not in alone + galera
    assert "error 3098" in group
    assert "Galera" in galera
    assert "error 3098" in told(table(), kind=MYSQL, here=replace(MYSQL, group=True))["no-primary-key"].what


def test_what_others_see_is_told_once_for_all_tables() -> None:
    one, other = told(KEYED), told(WORDS)
    for name in ("repeatable-read", "lock-waits", "lock-tables", "table-status"):
        assert one[name].what == other[name].what
    assert "DO SLEEP(10)" in one["repeatable-read"].statement
    assert one["table-status"].statement == "SHOW TABLE STATUS FROM `s` WHERE Name = 't';"
    assert "lost at a restart" in one["table-status"].what
    assert "Update_time is NULL" in told(KEYED, kind=OLD)["table-status"].what


def test_under_gtid_consistency_tables_are_converted_together() -> None:
    change = told(KEYED, kind=mysql(enforce_gtid_consistency="ON"), here=mysql(enforce_gtid_consistency="ON"))["gtid"]
    assert "now change this table together with InnoDB tables" in change.what
    assert "Once it has written this table, it may no longer change tables that stay MyISAM" in change.what
    assert "at the same time" in change.what
    assert "gtid" not in told(KEYED, kind=mysql())


def test_defaults_of_texts_vanish_in_mysql() -> None:
    described = table(Column("x", types.BLOB, 65_535, 8, False, text_default=True))
    assert "text-default" not in told(described)
    assert "Write DEFAULT ('...')." in told(described, kind=MYSQL, here=MARIADB)["text-default"].what
    assert "Write" not in told(described, kind=by_default("mysql", (5, 7)), here=by_default("mariadb", (10, 2)))["text-default"].what


def test_aria_refuses_savepoints_and_delayed_inserts_and_waits_for_its_log() -> None:
    shown = told(KEYED, "Aria")
    assert [*shown][-5:] == ["aria-rollback", "aria-savepoint", "aria-commit", "insert-delayed", "aria-memory"]
    assert "SAVEPOINT" not in shown["aria-rollback"].what
    assert shown["aria-savepoint"].statement == "START TRANSACTION; SELECT 1 FROM `s`.`t` LIMIT 1; SAVEPOINT shown; ROLLBACK;"


def test_options_that_aria_uses_are_not_ignored() -> None:
    every = table(CHECKSUM=1, PACK_KEYS=1, MAX_ROWS=100, MIN_ROWS=2, DELAY_KEY_WRITE=1)
    assert "shows CHECKSUM, PACK_KEYS, MAX_ROWS, MIN_ROWS, DELAY_KEY_WRITE," in told(every)["options-ignored"].what
    assert told(every, "Aria")["options-ignored"].what == "The table's definition still shows DELAY_KEY_WRITE, without any effect."
    assert "options-ignored" not in told(table(CHECKSUM=1), "Aria")


def test_a_copy_of_words_in_innodb_has_no_index() -> None:
    primary: tuple[Index, ...] = (index((0, 255), name="PRIMARY", unique=True), *WORDS.indexes)
    shown = told(replace(WORDS, indexes=primary))
    assert shown["rollback"].statement.startswith("DROP TEMPORARY TABLE IF EXISTS `s`.`shown`; CREATE TEMPORARY TABLE `s`.`shown` ENGINE=InnoDB SELECT `x`, `y` FROM `s`.`t` LIMIT 0; START")
    assert shown["half-done"].statement == ""
    assert "LIKE" in told(WORDS, "Aria")["aria-rollback"].statement


def test_the_guide_names_each_change() -> None:
    folder = ROOT / "advisor" / "myisam_advisor" / "migrate"
    named = {name for path in folder.glob("*.py") for name in re.findall(r'Change\(\s*"([a-z-]+)"', path.read_text("utf-8"))}
    guide = (ROOT / "docs" / "guide" / "migrate-errors.md").read_text("utf-8")
    assert {"full-row", "fulltext-syntax", "aria-savepoint", "no-primary-key"} <= named
    assert [name for name in sorted(named) if f"`{name}`" not in guide] == []
