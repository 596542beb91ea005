"""A table's file is kept packed, and tells what it was told."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.myi_definition import HeaderError
from myisam_exporter.files.myi_header import Header, parse_header
from myisam_exporter.files.table_file import Database, TableFile
from tests.support.myi import header

SAMPLE = parse_header(header())
COUNT = st.integers(0, 2**63 - 1)
ANY_HEADER = st.builds(
    Header, st.sampled_from(["compressed", "dynamic", "fixed"]), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.booleans(), st.booleans(),
    COUNT, COUNT, COUNT, st.booleans(), COUNT, COUNT, COUNT, COUNT, COUNT, st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1),
    st.booleans(), st.booleans(), st.just(SAMPLE.definition),
)  # fmt: skip
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
