"""The kind of a statement: the same whatever its values, and none of them in it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myisam_advisor.workload import tokens
from myisam_advisor.workload.fingerprints import MAXIMUM_CHARACTERS, fingerprint, kind_id


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (b"SELECT * FROM wp_posts WHERE ID IN (1,2, 3) AND name='it''s \\' x' -- note\n LIMIT 10,5;", "select * from wp_posts where id in (?+) and name = ? limit ?, ?"),
        (b"INSERT INTO `t` VALUES (1,NULL,now()),(2,'a',now()) ON DUPLICATE KEY UPDATE a=VALUES(a)+-1", "insert into t values (?, ?, now()) on duplicate key update a = values (a) + ?"),
        (b"insert into t (a,b) values (1,-2),(3,4)", "insert into t(a, b) values (?+)"),
        (b"/* hi 'x */ select count(*) from `Db`.`T x` where a <=> 0x41 and b>1e-5 and _utf8mb4'x'=b", "select count(*) from `Db`.`T x` where a <=> ? and b > ? and ? = b"),
        (b"SELECT /*!40001 SQL_NO_CACHE */ a/* x */FROM t # end", "select sql_no_cache a from t"),
        (b"update t set a=a-1, b=NULL where c is not null", "update t set a = a - ?, b = ? where c is not null"),
        (b"select a in ((1,2),(3,4))", "select a in (?+)"),
        (b"select * from t where a in (select b from c where d in (1))", "select * from t where a in (select b from c where d in (?+))"),
        (b"select 'a' 'b', t.1a, 11a from 2t", "select ?, t.1a, 11a from 2t"),
        (b"select 'not closed", "select ?"),
        (b"select \x1b[31m\xff, `\x1b`", "select \ufffd [ 31m\ufffd, `\ufffd`"),
        (b"SET sql_mode = Secret, SESSION x := secret2, autocommit=ON, y=OFF", "set sql_mode = ?, session x := ?, autocommit = on, y = off"),
        (b"SET x = DEFAULT, a=b.c, d=now(), e=@f", "set x = ?, a = b.c, d = now(), e = @f"),
        (b"SET NAMES utf8mb4 COLLATE utf8mb4_bin", "set names utf8mb4 collate utf8mb4_bin"),
        (b"update t set a = b", "update t set a = b"),
        (b"select a /*M!100100 for update of 'secret' */", "select a for update of ?"),
        (b"select * from words where name = 'O'Brien' and card = 'secret'", "select * from words where name = ?"),
        (b"select * from words where a = 'O'Brien' and b = 'D'Arcy'", "select * from words where a = ?"),
        (b"select 1 /* secret", "select ?"),
        (b"delete from t where a = 'x\n# User@Host: a[a] @ b []\n' and b = 'secret'", "delete from t where a = ?"),
        (b"commit", "commit"),
        (b" -- nothing", ""),
        (b"", ""),
    ],
)  # fmt: skip
def test_a_statement_has_its_kind(statement: bytes, expected: str) -> None:
    assert fingerprint(statement) == expected


@pytest.mark.parametrize(
    "statement",
    [
        b"SELECT a FROM t WHERE b = %s", b"SELECT `a` FROM t WHERE b=%s", b"INSERT INTO t VALUES (1, %s), (2, 3)", b"SELECT /* x */ %s", b"SELECT f(%s, 1)", b"SELECT a>%s",
        b"SELECT `it's`, %s", b"SELECT a FROM t LIMIT %s -- '",
    ],
)  # fmt: skip
def test_statements_that_differ_in_values_alone_are_of_one_kind(statement: bytes) -> None:
    values = (b"1", b"'secret'", b'"secret"', b"-1.5", b"0x736563726574", b"x'736563726574'", b"'sec\\'ret'", b"'se''cret'", b"'/* secret'", b"'`secret'", b"'se#cret--'")
    kinds = {fingerprint(statement % value) for value in values}
    assert len(kinds) == 1
    assert "secret" not in kinds.pop()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (b"insert into t values ('C:\\', 'SECRET hunter2')", "insert into t values (?+)"),
        (b"insert into t values ('C:\\', 'SECRET', 'it\\', 'x')", "insert into t values (?+)"),
        (b"select 1 where a='\x95\x5c', pw='SECRET'", "select ? where a = ?, pw = ?"),
        (b"select `a\\`, 'SECRET' from t", "select `a\\`, ? from t"),
        (b"select a, `b, 'SECRET' from t", "select a, ?"),
        (b"select `\x95`, `, 'SECRET' from t", "select ?"),
        (b"select 'it\\'s', 'SECRET', 'x\\'y' from t", "select ?, ?, ? from t"),
        ("select 'größe', 'é\\nx' from `é`".encode(), "select ?, ? from `é`"),
        (b"select 'a\\\\', 'SECRET' from t -- it\\'s", "select ?, ? from t"),
    ],
)
def test_backslashes_are_read_as_the_server_may_have_read_them(statement: bytes, expected: str) -> None:
    assert fingerprint(statement) == expected


MARKER = b"SECRET"
WRITTEN = st.lists(
    st.sampled_from([b"\\", b"'", b'"', b"`", b"x", b" ", b",", b"--", b"#", b"/*", b"\xe9", b"\x95\x5c", b"\xe4\xb8\xad"]), max_size=6
).map(b"".join)


def written(value: bytes, quote: bytes, reading: str) -> bytes:
    """A value as a client writes it for a server of this reading."""
    value = value.replace(quote, quote * 2)
    if reading == "escapes":
        value = value.replace(b"\\", b"\\\\")
    elif reading == "gbk":
        value = value.replace(b"\xe9", b"").replace(b"\xe4\xb8\xad", b"")
        value = value.replace(b"\x95\x5c", b"\0").replace(b"\\", b"\\\\").replace(b"\0", b"\x95\x5c")
    return quote + value + quote


@given(
    st.lists(st.tuples(WRITTEN, st.booleans(), WRITTEN, st.sampled_from([b"'", b'"'])), min_size=1, max_size=4),
    st.sampled_from(["escapes", "letters", "gbk"]),
    st.sampled_from([b"insert into t values (%s)", b"select `a\\`, %s from `b`", b"select %s -- it's\n from t"]),
)
def test_no_literal_is_in_a_fingerprint_however_the_server_reads_backslashes(
    values: list[tuple[bytes, bool, bytes, bytes]], reading: str, statement: bytes
) -> None:
    literals = [written(before + (MARKER if marked else b"") + behind, quote, reading) for before, marked, behind, quote in values]
    assert "secret" not in fingerprint(statement % b", ".join(literals)).lower()


PIECES = [b"\\", b"'", b'"', b"`", b"`t`", b"x", b" ", b",", b"(", b"--", b"#", b"/*", b"*/", b"\n", b"\\'", b"'a\\'b'", b"and", b"\x01", b"\xe9", b"\x95\x5c", b"\xc3\xa9", b"x'41'", b"''"]


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
def test_the_glance_at_backslashes_says_what_the_slower_look_says(text: bytes) -> None:
    quick = tokens._quickly_readable(text)
    if quick is not None:
        slow = tokens._slowly_readable(text, True)
        assert tokens._QUICK_STRING.sub(b"?", quick) == tokens._QUICK_STRING.sub(b"?", slow)


@pytest.mark.parametrize(
    ("statement", "is_told"),
    [
        (b"insert into `t` values ('it\\'s', \"a \\\"b\\\"\", 'C:\\\\')", True), (b"select 'a\\n' from t", True), ("select 'caf\u00e9 it\\'s' from t".encode(), True),
        (b"insert into t values ('C:\\', 'SECRET')", False), (b"select '\x95\x5c', 'x' from t", False), (b"select 'it\\'s' -- x's", False), (b"select 'it\\'s", False),
    ],
)  # fmt: skip
def test_a_glance_is_enough_for_what_is_usual(statement: bytes, is_told: bool) -> None:
    assert (tokens._quickly_readable(statement) is not None) == is_told


def test_tables_of_different_names_are_of_different_kinds() -> None:
    assert fingerprint(b"select * from wp_2_posts") != fingerprint(b"select * from wp_3_posts")
    assert fingerprint(b"select * from `a'b`, `c'd`") != fingerprint(b"select * from `a'x`, `y'd`")
    assert fingerprint(b"/* ' */ select 'x' from t") != fingerprint(b"/* ' */ delete 'x' from t")


@pytest.mark.parametrize("repeated", [b"(", b"values(", b"in(", b"'", b"1", b"a", b"/*", b"``", b"\\'", b"-1", b"1.", b"_a", b"`", b"--", b"((1,2),", b"values((1),", b"\0", b"1e"])
def test_hostile_statements_take_bounded_time_and_room(repeated: bytes) -> None:
    assert len(fingerprint(b"select " + repeated * 100_000)) <= MAXIMUM_CHARACTERS


def test_a_kind_has_a_short_name() -> None:
    assert kind_id("select ?") == kind_id("select ?") != kind_id("select ?, ?")
    assert len(kind_id("")) == 16
