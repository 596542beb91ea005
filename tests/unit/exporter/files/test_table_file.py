"""A table's file is kept packed, and tells what it was told."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files import table_file
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.myi_definition import HeaderError
from myisam_exporter.files.myi_header import CRASHED, ROW_FORMATS, Header, parse_header
from myisam_exporter.files.table_file import Database, TableFile, counts_of, indexes_of_files, read_definitions_in
from tests.support.myi import header

SAMPLE = parse_header(header())


def headers(most: int) -> st.SearchStrategy[Header]:
    """With counts up to this one."""
    count, writer = st.integers(0, most), st.integers(0, 2**64 - 1)
    return st.builds(
        Header, st.sampled_from(["compressed", "dynamic", "fixed"]), st.integers(0, 0xFFFF), st.booleans(), st.booleans(),
        count, count, count, st.booleans(), count, count, count, count, writer, st.integers(0, 2**32 - 1), count, st.booleans(), st.booleans(),
        st.just(SAMPLE.definition),
    )  # fmt: skip


# Kept in two widths: four bytes are enough for the numbers of the first, and may not be for one of the second.
ANY_HEADER = headers(2**32 - 1) | headers(2**32) | headers(2**63 - 1)
STATE = st.integers(-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Told:
    """What a table is made of, beside its names."""

    header: Header | None
    modified: float | None
    definition_state: int
    state: int | None

    def file(self, stem: str = "t") -> TableFile:
        return TableFile(Database("db", "/data/db"), NamedFile(stem, "t", None), self.header, None, self.modified, None, self.definition_state, self.state)


ANY_TOLD = st.builds(Told, st.none() | ANY_HEADER, st.none() | st.floats(0, 2**33), STATE, st.none() | STATE)


@given(ANY_TOLD)
def test_tells_what_it_was_told(told: Told) -> None:
    file = told.file()
    assert Told(file.header, file.data_modified, file.definition_state, file.state) == told
    assert file.has_header == (told.header is not None)
    assert file.definition_unread == (told.definition_state != 0)


@given(ANY_TOLD, ANY_TOLD)
def test_two_are_equal_where_all_but_the_states_is(one: Told, other: Told) -> None:
    alike = Told(one.header, one.modified, other.definition_state, other.state)
    assert one.file() == alike.file()
    assert hash(one.file()) == hash(alike.file())
    assert (one.file() == other.file()) == ((one.header, one.modified) == (other.header, other.modified))
    assert one.file().has_header_of(other.file()) == (one.header == other.header)


@given(st.lists(ANY_TOLD, min_size=1, max_size=5))
def test_many_at_once_count_what_each_counts(all_told: list[Told]) -> None:
    counts = counts_of([told.file() for told in all_told])
    for place, told in enumerate(all_told):
        own = told.header
        assert counts.data_modified[place] == told.modified
        counted = [getattr(counts, name)[place] for name in ("rows", "deleted_rows", "data_blocks", "index_bytes", "data_bytes", "free_bytes", "auto_increment", "open_count")]
        if own is None:
            assert counted == [0] * len(counted)
        else:
            assert counted == [own.rows, own.deleted_rows, own.data_blocks, own.index_bytes, own.data_bytes, own.free_bytes, own.auto_increment, own.open_count]
            assert ROW_FORMATS[counts.row_format[place]] == own.row_format
            assert bool(counts.flags[place] & CRASHED) == own.crashed


@given(st.lists(ANY_TOLD, min_size=1, max_size=5))
def test_many_at_once_tell_of_indexes_and_definitions_what_each_tells(all_told: list[Told]) -> None:
    files = [told.file() for told in all_told]
    assert [said if said[0] is not None else None for said in indexes_of_files(files)] == [file.indexes for file in files]
    assert read_definitions_in(files) == (False, [file for file in files if file.definition_unread])


@given(ANY_TOLD)
def test_what_is_asked_often_is_what_the_header_says(told: Told) -> None:
    file, own = told.file(), told.header
    assert file.file_bytes == (0 if own is None else own.index_bytes + own.data_bytes)
    assert file.indexes == (None if own is None else (own.definition, own.enabled_keys))


def test_a_table_of_the_usual_size_takes_two_thirds_of_a_large_one() -> None:
    usual, large = (Told(SAMPLE._replace(data_bytes=size, writer=2**44), 1.0, 0, None).file() for size in (2**32 - 1, 2**32))
    assert (len(usual._packed), len(large._packed)) == (65, 97)


def test_names_and_an_unknown_moment_make_two_differ() -> None:
    file = Told(SAMPLE, 0.0, 0, None).file()
    assert file != Told(SAMPLE, 0.0, 0, None).file("u")
    assert file != Told(SAMPLE, None, 0, None).file()
    assert file != "t"
    assert "rows=3" in repr(file)


@given(st.binary(min_size=100, max_size=100), st.booleans())
def test_whatever_a_header_says_can_be_kept(numbers: bytes, has_lengths: bool) -> None:
    forged = bytearray(header())
    forged[24:124] = numbers  # open handles, crashed, counts, lengths, who wrote last
    if has_lengths:
        forged[60] = forged[68] = 0  # that a file can have
    try:
        told = parse_header(bytes(forged))
    except HeaderError:
        return
    assert Told(told, 1.0, 0, 1).file().header == told


def test_what_tables_are_made_of_is_kept_once_and_as_long_as_one_of_them() -> None:
    shape = SAMPLE.definition
    made = TableDefinition(101119, 0, 0, 0, 0)
    kept = len(table_file._definitions)
    one, other = (TableFile(Database("d", "/d"), NamedFile(stem, stem, None), SAMPLE, None, None, made) for stem in "tu")
    assert one._definitions is other._definitions
    assert (one.myi, one.definition) == (shape, made)
    alone = TableFile(Database("d", "/d"), NamedFile("v", "v", None), SAMPLE, None, None)
    assert (alone.myi, alone.definition) == (shape, None)
    assert [read_definitions_in(files)[0] for files in ((one, other), (other, alone), (alone,), ())] == [True, True, False, False]
    assert len(table_file._definitions) <= kept + 2
    place = id(shape), id(made)
    assert place in table_file._definitions
    del one, other
    assert place not in table_file._definitions
