"""Columns of many tables at once are what each table's own files say, whatever stands beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.myi_definition import Definition
from myisam_exporter.files.table_columns import AHEAD_SECONDS, table_columns
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import Files, grouped
from myisam_exporter.files.table_sums import Sums
from myisam_exporter.outside.numbers import bounded_sum

from .test_table_file import ANY_HEADER, SAMPLE

SHAPES = [
    Definition(2**48, 2**40, 60, 3, 0, True, None, 0, (), ()),
    Definition(2**62, 2**62, 9, 1, 2, False, 2**64 - 1, 1, (), ()),
    Definition(0, 0, 7, 1, 0, False, 127, 1, (), ()),
]
FRM = TableDefinition(50624, 1, 0, 3, 2)
MOMENTS = st.none() | st.floats(0, 2**31)


@st.composite
def tables(draw: st.DrawFn) -> list[Files]:
    files = []
    for number, partitions in enumerate(draw(st.lists(st.sampled_from([0, 0, 0, 1, 3]), min_size=1, max_size=5))):
        names: list[str | None] = [f"p{one}" for one in range(partitions)]
        for partition in names or [None]:
            shape = draw(st.sampled_from([SAMPLE.definition, *SHAPES]))
            header, problem = draw(st.tuples(ANY_HEADER, st.none()) | st.tuples(st.none() | ANY_HEADER, st.just("cut short")))
            header = header and header._replace(definition=shape)
            definition = draw(st.sampled_from([None, FRM]))
            name = f"t{number}"
            files.append(TableFile(Database("db", "/data/db"), NamedFile(name + (partition or ""), name, partition), header, problem, draw(MOMENTS), definition))
    return list(grouped(files).values())


@given(tables(), st.none() | st.floats(0, 2**31))
def test_a_table_says_the_same_beside_others_as_alone(some: list[Files], started: float | None) -> None:
    moments = [1e9 + place for place in range(len(some))]
    together = table_columns(some, moments, started)
    for place, files in enumerate(some):
        alone = table_columns([files], [moments[place]], started)
        assert {name: values[place] for name, values in together.items()} == {name: value for name, (value,) in alone.items()}


@given(tables())
def test_a_table_says_what_its_header_says(some: list[Files]) -> None:
    columns = table_columns(some, [1e9] * len(some), None)
    for place, files in enumerate(some):
        headers = [file.header for file in files if file.header]
        row = {name: values[place] for name, values in columns.items()}
        problem = next((file.problem for file in files if file.problem), None)
        told = (row["header_problem"], row["partitions"], row["created_version"])
        assert told == (problem, len(files) if files[0].partition else None, files[0].definition and files[0].definition.created_version)
        if not headers:
            assert (row["crashed"], row["rows"], row["open_count"]) == (1, None, None)
            continue
        first, definition = headers[0], headers[0].definition
        assert (row["row_format"], row["delay_key_write"]) == (first.row_format, int(first.delay_key_write))
        for name in ("rows", "deleted_rows", "data_bytes", "index_bytes", "free_bytes"):
            assert row[name] == bounded_sum(getattr(header, name) for header in headers)
        for name in ("has_holes", "recovery_failed", "not_analyzed"):
            assert row[name] == int(any(getattr(header, name) for header in headers))
        assert row["crashed"] == int(any(header.crashed for header in headers) or problem is not None)
        assert row["open_count"] == max(header.open_count for header in headers)
        limit = definition.auto_increment_maximum
        assert row["auto_increment_maximum"] == (None if limit is None else min(limit, 2**63 - 1))
        assert row["auto_increment_value"] == (None if limit is None else max(header.auto_increment for header in headers))
        for column, name in (("max_data_bytes", "maximum_data_bytes"), ("max_index_bytes", "maximum_index_bytes")):
            assert row[column] == bounded_sum(getattr(header.definition, name) for header in headers)
        assert (row["blob_columns"], row["fixed_row_bytes"]) == (definition.blob_columns, None if definition.blob_columns else definition.record_bytes)
        blocks, deleted, rows = (bounded_sum(getattr(header, name) for header in headers) for name in ("data_blocks", "deleted_rows", "rows"))
        assert row["fragments_per_row"] == ((blocks - deleted) / rows if first.row_format == "dynamic" and 0 < rows <= blocks - deleted else None)


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
    groups = grouped([file for files in some for file in files])
    assert [known or 0 for known in groups.bytes_of_each()] == [groups.bytes_at(place) for place in range(len(groups))]
    is_known = [any(file.has_header for file in files) for files in some]
    assert [known is not None for known in groups.bytes_of_each()] == is_known


def test_a_table_without_a_header_says_nothing_of_what_others_beside_it_say() -> None:
    whole, damaged = (TableFile(Database("db", "/"), NamedFile(name, name, None), header, problem, 5.0) for name, header, problem in (("a", SAMPLE, None), ("b", None, "cut short")))
    found = {name: list(values) for name, values in table_columns([(whole,), (damaged,)], [9.0, 9.0], 1.0).items()}
    assert (found["rows"], found["crashed"], found["header_problem"]) == ([SAMPLE.rows, None], [0, 1], [None, "cut short"])
    assert (found["data_modified_seconds_ago"], found["written_since_start"]) == ([4.0, 4.0], [1, None])


@pytest.mark.parametrize(("modified", "told"), [(9.0, (0.0, 1)), (9.0 + AHEAD_SECONDS, (0.0, 1)), (9.5 + AHEAD_SECONDS, (None, None))])
def test_a_file_from_a_day_that_has_not_come_has_no_age_that_is_known(modified: float, told: tuple[float | None, int | None]) -> None:
    """It was told as written just now."""
    file = TableFile(Database("db", "/"), NamedFile("a", "a", None), SAMPLE, None, modified)
    found = {name: list(values) for name, values in table_columns([(file,)], [9.0], 1.0).items()}
    assert (found["data_modified_seconds_ago"][0], found["written_since_start"][0]) == told


def test_damage_in_the_servers_own_database_counts_among_the_crashed_alone() -> None:
    """On a server without a table of the user's, one damaged mysql.user made MyISAM one that is used."""
    own, users = (TableFile(Database(schema, "/"), NamedFile("t", "t", None), None, "cut short", 5.0) for schema in ("mysql", "shop"))
    sums = Sums()
    sums.add([(own,), (users,), (own,)])
    assert (sums.myisam_tables, sums.crashed_tables, sums.facts(0)["myisam_tables"]) == (1, 3, 1)
    for one in ((own,), (users,), (own,)):
        sums.add([one], -1)
    assert sums == Sums()
