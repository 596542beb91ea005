import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files import file_names
from myisam_exporter.files.file_names import FileNames, NamedFile, decode_identifier, decode_table, listed_as


@pytest.mark.parametrize(
    ("encoded", "name"),
    [
        ("plain_1", "plain_1"),
        ("a@002fb", "a/b"),
        ("a@0024", "a$"),
        ("@0k", "ä"),
        ("@0K", "Ä"),
        ("@4e2d@6587", "中文"),
        ("x@003cscript@003e", "x<script>"),
        ("a@0060b@0027", "a`b'"),
        ("@000a", "\n"),
        ("con@@@", "con"),
        ("CON@@@", "CON"),
        ("lpt9@@@", "lpt9"),
    ],
)
def test_decodes_what_servers_write(encoded: str, name: str) -> None:
    assert decode_identifier(encoded) == name


@pytest.mark.parametrize("encoded", ["old-name", "a.b", "@", "@zz", "@d800", "@0000", "a@", "@@@", "a@@@", "com0@@@", "con@@@@@@"])
def test_shows_other_names_as_the_server_does(encoded: str) -> None:
    assert decode_identifier(encoded) == "#mysql50#" + encoded


@pytest.mark.parametrize(
    ("encoded", "listed"),
    [("@0041", "A"), ("@00e4", "ä"), ("@0K@00e4", "Ää"), ("con", "con"), ("Lpt1", "Lpt1"), ("a@005fb", "a_b"), ("a@002db@0030", "a-b0"), ("x@@@", "x"), ("@A@@@@y", "\uff21")],
)
def test_a_name_that_a_server_writes_otherwise_stays_that_of_its_file(encoded: str, listed: str) -> None:
    assert decode_identifier(encoded) == "#mysql50#" + encoded
    assert listed_as("#mysql50#" + encoded) == listed


@pytest.mark.parametrize("name", ["#mysql50#old-name", "#mysql50#C@002D", "A", "con", "a-b"])
def test_other_names_are_listed_as_they_are(name: str) -> None:
    assert listed_as(name) == name


@given(st.lists(st.sampled_from(["@0041", "A", "@00e4", "@0k", "@002d", "@002D", "-", "con", "@@@", "_", "@0K", "@00C4", "0"]), max_size=4).map("".join), st.text("@0Kk4e1A-", max_size=8))
def test_no_two_files_have_one_name(first: str, second: str) -> None:
    assert (decode_identifier(first) == decode_identifier(second)) == (first == second)


def test_bytes_that_are_no_text_become_escapes() -> None:
    assert decode_identifier("a\udcff") == "#mysql50#a\\xff"


@pytest.mark.parametrize(
    ("stem", "table"),
    [
        ("t", ("t", None)),
        ("t#P#p0", ("t", "p0")),
        ("t#p#p0#sp#s@002d1", ("t", "p0/s-1")),
        ("#sql-1f_3", None),
        ("#sql2-1f-3", None),
        ("t#P#p0#TMP#", None),
        ("prn@@@", ("prn", None)),
        ("t#P#aux@@@", ("t", "aux")),
        ("we@0023ird", ("we#ird", None)),
        ("@0041#P#p@0041", ("#mysql50#@0041", "#mysql50#p@0041")),
    ],
)
def test_tells_tables_partitions_and_temporaries(stem: str, table: tuple[str, str | None] | None) -> None:
    assert decode_table(stem) == table


@given(st.text())
def test_any_file_name_gives_a_name(stem: str) -> None:
    assert isinstance(decode_identifier(stem), str)
    decode_table(stem)


def test_a_name_is_worked_out_once_and_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_names, "KEPT_NAMES", 20)
    names = FileNames()
    first = names.of("t#P#p0")
    assert first == NamedFile("t#P#p0", "t", "p0")
    assert names.of("".join(["t#P", "#p0"])) is first
    assert names.of("#sql-1f_3") is None
    for number in range(50):
        assert names.of(f"job_{number}") == NamedFile(f"job_{number}", f"job_{number}", None)
        assert len(names._known) <= 20
