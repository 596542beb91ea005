"""Which members a strict sql_mode refuses is told by what the server said of their lists; of what it was not asked only the same bytes are."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files import structure as types
from myisam_exporter.files.frm_definition import FrmError
from myisam_exporter.files.frm_members import members_of, plain_members, that_may_repeat
from myisam_exporter.files.structure import Column

from .test_migrate import LATIN1, MARIADB, MYSQL, OLD, table

CAPITALS, SAME = (b"Y", b"y"), (b"x", b"x")
TOLD = frozenset({(LATIN1, CAPITALS)})


def column(members: tuple[bytes, ...]) -> Column:
    return Column("a", types.ENUM, 1, LATIN1, True, members=members)


@pytest.mark.parametrize(
    ("members", "kind", "codes"),
    [
        (CAPITALS, MYSQL, []),
        (CAPITALS, replace(MYSQL, repeated_members=TOLD), [1291]),
        (CAPITALS, replace(OLD, repeated_members=TOLD), []),
        (SAME, MARIADB, [1291]),
        (SAME, of_variables("mariadb", (10, 11), {"sql_mode": ""}), []),
        ((), replace(MYSQL, repeated_members=TOLD), []),
    ],
)
@pytest.mark.parametrize("to", ["InnoDB", "Aria"])
def test_members_that_are_one_are_refused_where_sql_mode_is_strict(members: tuple[bytes, ...], kind: ServerKind, codes: list[int], to: str) -> None:
    kind = replace(kind, missing_engines=())
    assert [one.code for one in refusals(table(column(members)), to, kind)] == codes


def test_a_target_that_is_strict_refuses_what_this_server_takes() -> None:
    later = replace(by_default("mysql", (8, 4)), repeated_members=TOLD)
    (told,) = predict([FoundTable(("s", "t"), table(column(CAPITALS)), None)], "InnoDB", OLD, later, Machine())
    assert ([one.code for one in told.errors], [one.code for one in told.target_errors]) == ([], [1291])


UCS2, UTF16, UTF16LE, UTF32 = 35, 54, 56, 60


@pytest.mark.parametrize(("members", "may"), [([b"a", b"b"], False), ([b"a", b"A"], True), ([b"a", b"a"], True), (["é".encode()], True), ([b"", b"a"], False), ([], False)])
def test_only_lists_that_may_repeat_are_kept(members: list[bytes], *, may: bool) -> None:
    assert that_may_repeat(members, LATIN1) == (tuple(members) if may else ())


@pytest.mark.parametrize(("collation", "codec"), [(UCS2, "utf-16-be"), (UTF16, "utf-16-be"), (UTF16LE, "utf-16-le"), (UTF32, "utf-32-be")])
@pytest.mark.parametrize(("words", "may"), [(["да", "ДА"], True), (["a", "Ā"], True), (["yes", "no", ""], False), (["Y", "y"], True), (["\u0410", "\u0430"], True)])
def test_letters_of_two_bytes_and_more_are_seen_in_each_order(collation: int, codec: str, words: list[str], *, may: bool) -> None:
    members = [word.encode(codec) for word in words]
    assert that_may_repeat(members, collation) == (tuple(members) if may else ())


def test_members_stand_between_separators() -> None:
    assert members_of(b"\xffa\xffbc\xff\0,\xff,,\0") == [[b"a", b"bc"], [b"\xff", b""]]
    assert members_of(b"\xff\xff\0") == [[b""]]
    assert members_of(b"") == []
    with pytest.raises(FrmError, match="do not end"):
        members_of(b"\xffa\xffb")


def test_members_of_wide_characters_stand_in_hexadecimal() -> None:
    assert plain_members([b"0041"], 35) == [b"\0A"]
    assert plain_members([b"0041"], LATIN1) == [b"0041"]
    with pytest.raises(FrmError, match="hexadecimal"):
        plain_members([b"x"], 35)
