"""Columns of many tables at once are what each table's own files say, whatever stands beside it."""

from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.table_columns import table_columns
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.files.table_groups import Files, grouped
from myisam_exporter.files.table_sums import Sums

from .test_table_file import ANY_HEADER, SAMPLE

FRM = TableDefinition(50624, 9, False, 8, 1, 0, 3)
MOMENTS = st.none() | st.floats(0, 2**31)


@st.composite
def tables(draw: st.DrawFn) -> list[Files]:
    files = []
    for number, partitions in enumerate(draw(st.lists(st.sampled_from([0, 0, 0, 1, 3]), min_size=1, max_size=5))):
        names: list[str | None] = [f"p{one}" for one in range(partitions)]
        for partition in names or [None]:
            header, problem = draw(st.tuples(ANY_HEADER, st.none()) | st.tuples(st.none() | ANY_HEADER, st.just("cut short")))
            definition = draw(st.sampled_from([None, FRM]))
            name = f"t{number}"
            files.append(TableFile("db", name, partition, "/data/db", name + (partition or ""), header, problem, draw(MOMENTS), definition))
    return list(grouped(files).values())


@given(tables(), st.none() | st.floats(0, 2**31))
def test_a_table_says_the_same_beside_others_as_alone(some: list[Files], started: float | None) -> None:
    moments = [1e9 + place for place in range(len(some))]
    together = table_columns(some, moments, started)
    for place, files in enumerate(some):
        alone = table_columns([files], [moments[place]], started)
        assert {name: values[place] for name, values in together.items()} == {name: value for name, (value,) in alone.items()}


@given(tables())
def test_sums_are_those_of_the_rows_and_come_out_even(some: list[Files]) -> None:
    sums = Sums()
    sums.add(some)
    files = [file for one in some for file in one]
    headers = [file.header for file in files if file.header]
    assert (sums.myisam_tables, sums.myisam_rows) == (len(some), sum(header.rows for header in headers))
    assert sums.compressed_tables == sum(header.row_format == "compressed" for header in headers)
    assert sums.compressed_data_bytes == sum(header.data_bytes for header in headers if header.row_format == "compressed")
    assert sums.crashed_tables == sum(any(file.header is None or file.header.crashed for file in one) for one in some)
    sums.add(some, -1)
    assert sums == Sums()


@given(tables())
def test_bytes_of_many_tables_are_those_of_each(some: list[Files]) -> None:
    groups = grouped(file for files in some for file in files)
    assert [known or 0 for known in groups.bytes_of_each()] == [groups.bytes_at(place) for place in range(len(groups))]
    is_known = [any(file.has_header for file in files) for files in some]
    assert [known is not None for known in groups.bytes_of_each()] == is_known


def test_a_table_without_a_header_says_nothing_of_what_others_beside_it_say() -> None:
    whole, damaged = (TableFile("db", name, None, "/", name, header, problem, 5.0) for name, header, problem in (("a", SAMPLE, None), ("b", None, "cut short")))
    found = {name: list(values) for name, values in table_columns([(whole,), (damaged,)], [9.0, 9.0], 1.0).items()}
    assert (found["rows"], found["crashed"], found["header_problem"]) == ([SAMPLE.rows, None], [0, 1], [None, "cut short"])
    assert (found["data_modified_seconds_ago"], found["written_since_start"]) == ([4.0, 4.0], [1, None])
