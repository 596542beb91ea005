"""Lists that columns of two bytes a character and more share: what MySQL before 8.0 reads of them, which ALTER is held for it, and what writes them as they were meant."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.misread_members import MISREAD, members_read
from myisam_advisor.migrate.prediction import Prediction, predict
from myisam_advisor.migrate.server_kind import ServerKind, by_default
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files import frm_members
from myisam_exporter.files import structure as types
from myisam_exporter.files.frm_members import NO_MEMBERS, MemberLists, Members, misread_members, shared_lists
from myisam_exporter.files.structure import Column

from .test_migrate import LATIN1, MARIADB, MYSQL, OLD, table

UCS2, UTF16, UTF32 = 35, 54, 60
STRICT = replace(OLD, strict=True)


def written(words: list[str], codec: str = "utf-16-be") -> list[bytes]:
    """As they stand in a .frm."""
    return [word.encode(codec).hex().encode() for word in words]


@pytest.mark.parametrize(
    ("words", "collations", "read"),
    [
        (["yes", "no"], [UCS2, UCS2], (b"\0y\0", b"\0n")),
        (["yes", "no"], [UCS2, UTF16], (b"\0y\0", b"\0n")),
        (["да"], [UCS2, UCS2], (b"\xf4\xf0",)),
        (["yes"], [UCS2, UCS2, UCS2], (b"\0",)),
        (["", "a"], [UTF16, UTF16], (b"", b"\0")),
        (["a"], [LATIN1, UCS2], (b"\0a",)),
        (["aa", "ab"], [UCS2, UCS2], (b"\0a", b"\0a")),
        (["a"], [UCS2], ()),
        (["a"], [LATIN1, LATIN1], ()),
        ([""], [UCS2, UCS2], ()),
        (["a"], [], ()),
    ],
)
def test_digits_are_taken_for_bytes_once_for_each_column(words: list[str], collations: list[int], read: tuple[bytes, ...]) -> None:
    """As MySQL 5.5 and 5.6 showed them (tests/servers/test_migrate_misread.py)."""
    assert misread_members(written(words), collations) == read


def test_characters_of_four_bytes_are_cut_in_half_too() -> None:
    assert misread_members(written(["yes"], "utf-32-be"), [UTF32, UTF32]) == (b"\0\0\0y\0\0",)


def test_odd_digits_of_a_damaged_file_end() -> None:
    assert misread_members([b"007", b"zz"], [UCS2, UCS2]) == (b"", b"")


def test_columns_share_a_list_by_its_number() -> None:
    assert shared_lists([(1, UCS2), (0, LATIN1), (2, LATIN1), (1, UTF16)]) == {1: [UCS2, UTF16], 2: [LATIN1]}


def test_a_list_is_worked_out_once_however_many_columns_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody who may make a table may give thousands of columns one list of thousands of members."""
    calls = 0
    digit = frm_members._digit

    def counted(letter: int) -> int:
        nonlocal calls
        calls += 1
        return digit(letter)

    monkeypatch.setattr(frm_members, "_digit", counted)
    words = [f"{number:04}" for number in range(100)]
    digits = written(words)
    lists = MemberLists(b"\xff" + b"\xff".join(digits) + b"\xff\0", [(1, UCS2)] * 4000)
    assert all(lists.of(1, UCS2) is lists.of(1, UCS2) for _ in range(4000))
    assert lists.of(1, UCS2) == Members(100, tuple(word.encode("utf-16-be") for word in words), (b"",) * 100)
    assert calls <= sum(len(one) * len(one).bit_length() for one in digits) + 2 * len(digits)
    assert lists.of(0, UCS2) == lists.of(2, UCS2) == NO_MEMBERS


def column(name: str, words: list[str], read: tuple[bytes, ...], *, kind: int = types.ENUM, nullable: bool = True) -> Column:
    return Column(name, kind, 1, UCS2, nullable, members=tuple(word.encode("utf-16-be") for word in words), misread_members=read)


def told(kind: ServerKind, *columns: Column, target: ServerKind | None = None) -> Prediction:
    (found,) = predict([FoundTable(("s", "t"), table(*columns), None)], "InnoDB", kind, target, Machine())
    return found


SHARED = (column("a", ["it's", "да"], (b"\0i\0t", b"\xf4\xf0")), column("b", ["it's", "да"], (b"\0i\0t", b"\xf4\xf0"), kind=types.SET, nullable=False))
ONE_IN_HALF = tuple(column(name, ["aa", "ab"], (b"\0a", b"\0a")) for name in "ab")
MEND = (
    "ALTER TABLE `s`.`t` MODIFY `a` SMALLINT UNSIGNED NULL, MODIFY `b` BIGINT UNSIGNED NOT NULL; "
    "ALTER TABLE `s`.`t` MODIFY `a` ENUM('it''s', 'да') CHARACTER SET utf8mb4 NULL, MODIFY `b` SET('it''s', 'да') CHARACTER SET utf8mb4 NOT NULL;"
)


@pytest.mark.parametrize(("kind", "is_told"), [(OLD, True), (STRICT, True), (by_default("mysql", (5, 5)), True), (by_default("mysql", (5, 7)), True), (MYSQL, False), (MARIADB, False)])
def test_only_mysql_before_its_dictionary_misreads(kind: ServerKind, *, is_told: bool) -> None:
    found = [change for change in told(kind, *SHARED).changes if change.id == MISREAD]
    assert bool(found) is is_told
    assert all(change.what.endswith(MEND) for change in found)


@pytest.mark.parametrize(("kind", "codes"), [(STRICT, [1291]), (OLD, []), (MYSQL, []), (MARIADB, [])])
def test_what_is_one_in_half_is_refused_where_the_server_halves_it(kind: ServerKind, codes: list[int]) -> None:
    found = told(kind, *ONE_IN_HALF)
    assert [one.code for one in found.errors] == [one.code for one in found.script_errors] == codes
    assert all("ENUM('aa', 'ab')" in one.mend and "UPDATE" not in one.mend for one in found.errors)


def test_what_the_server_says_is_asked_of_what_it_reads() -> None:
    halves = (b"\0a\0", b"\0A\0")
    columns = tuple(column(name, ["aXe", "Abe"], halves) for name in "ab")
    assert members_read(columns[0], OLD) == halves
    assert members_read(columns[0], MYSQL) == columns[0].members
    assert [one.code for one in told(replace(STRICT, repeated_members=frozenset({(UCS2, halves)})), *columns).errors] == [1291]
    assert told(replace(MYSQL, repeated_members=frozenset({(UCS2, halves)})), *columns).errors == ()


def test_a_member_without_a_literal_is_left_to_its_owner() -> None:
    odd = tuple(column(name, ["a\\b"], (b"\0a",)) for name in "ab")
    (change,) = (one for one in told(OLD, *odd).changes if one.id == MISREAD)
    assert change.what.endswith("then MODIFY each with its list as it was made, in utf8mb4.")
