"""Tables of a scan by their names and places, whatever order their files come in."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.table_file import TableFile
from myisam_exporter.files.table_groups import TablePlaces, grouped, names_at

NAMES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["t", "u", "v", "w"]), st.sampled_from([None, "p0", "p1"])), unique=True)


def files(names: list[tuple[str, str, str | None]]) -> list[TableFile]:
    return [TableFile(schema, table, partition, f"/{schema}", table, None, None, None) for schema, table, partition in names]


@given(NAMES, st.data())
def test_tables_stand_in_the_order_in_which_their_files_come(names: list[tuple[str, str, str | None]], data: st.DataObject) -> None:
    given_files = files(names)
    groups = grouped(given_files)
    expected = list(dict.fromkeys((file.schema_name, file.table_name) for file in given_files))
    assert list(groups) == list(groups.places) == expected
    assert [groups.places[name] for name in expected] == list(range(len(groups)))
    assert [groups.name_at(place) for place in range(len(groups))] == expected
    assert [file for files_of_table in groups.values() for file in files_of_table] == sorted(
        given_files, key=lambda file: expected.index((file.schema_name, file.table_name))
    )
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(expected)))))) if expected else []
    some = names_at(groups, array("l", chosen))
    assert list(some) == [some[number] for number in range(len(some))] == [expected[place] for place in chosen]
    assert list(some[1:]) == [expected[place] for place in chosen[1:]]


def test_names_of_databases_are_kept_once_where_their_tables_follow_each_other() -> None:
    assert isinstance(grouped(files([("a", "t", None), ("a", "u", None), ("b", "t", None)])).places, TablePlaces)
    assert isinstance(grouped(files([("a", "t", None), ("b", "t", None), ("a", "u", None)])).places, dict)


def test_a_table_that_is_not_there_has_no_place() -> None:
    groups = grouped(files([("a", "t", None)]))
    assert ("a", "u") not in groups
    assert ("b", "t") not in groups
    with pytest.raises(KeyError):
        groups["b", "t"]


@given(NAMES.filter(bool))
def test_a_file_takes_the_place_of_the_one_that_had_its_name(names: list[tuple[str, str, str | None]]) -> None:
    groups = grouped(files(names))
    schema, table, partition = names[-1]
    other = TableFile(schema, table, partition, "/", table, None, "damaged", None)
    changed = groups.with_files([other])
    assert other in changed[schema, table]
    assert len(changed[schema, table]) == len(groups[schema, table])
    assert all(changed[name] == groups[name] for name in groups if name != (schema, table))
