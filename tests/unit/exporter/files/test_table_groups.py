"""Tables of a scan by their names and places, whatever order their files come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import NamesAt, grouped

NAMES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["t", "u", "v", "w"]), st.sampled_from([None, "p0", "p1"])), unique=True)


def files(names: list[tuple[str, str, str | None]]) -> list[TableFile]:
    return [TableFile(Database(schema, f"/{schema}"), NamedFile(stem(table, partition), table, partition), None, None, None) for schema, table, partition in names]


def stem(table: str, partition: str | None) -> str:
    return f"{table}#P#{partition}" if partition else table


@given(NAMES, st.data())
def test_tables_stand_database_after_database_in_the_order_in_which_their_files_come(
    names: list[tuple[str, str, str | None]], data: st.DataObject
) -> None:
    groups = grouped(files(names))
    schemas = list(dict.fromkeys(schema for schema, _, _ in names))
    expected = sorted(dict.fromkeys((schema, table) for schema, table, _ in names), key=lambda name: schemas.index(name[0]))
    assert list(groups) == list(groups.places) == expected
    assert [groups.places[name] for name in expected] == list(range(len(groups)))
    assert [groups.name_at(place) for place in range(len(groups))] == [groups.places.name_at(place) for place in range(len(groups))] == expected
    found = [(file.schema_name, file.table_name, file.partition) for of_table in groups.values() for file in of_table]
    assert found == sorted(names, key=lambda name: expected.index(name[:2]))
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(expected)))))) if expected else []
    assert list(groups.places.names_at(chosen)) == [expected[place] for place in chosen]
    named = NamesAt(groups.places, chosen)
    assert (list(named), len(named)) == ([expected[place] for place in chosen], len(chosen))
    assert [name in named for name in expected] == [place in chosen for place in range(len(expected))]


def test_a_table_that_is_not_there_has_no_place() -> None:
    groups = grouped(files([("a", "t", None)]))
    assert ("a", "u") not in groups
    assert ("b", "t") not in groups
    with pytest.raises(KeyError):
        groups["b", "t"]


@given(NAMES.filter(bool))
def test_a_file_takes_the_place_of_the_one_that_was_there(names: list[tuple[str, str, str | None]]) -> None:
    before = files(names)
    groups = grouped(before)
    schema, table, partition = names[-1]
    other = TableFile(Database(schema, f"/{schema}"), NamedFile(stem(table, partition), table, partition), None, "damaged", None)
    changed = groups.with_files([other], (*before[:-1], other))
    assert list(changed.each()) == list(grouped([*before[:-1], other]).each())
    assert other in changed[schema, table]
    assert len(changed[schema, table]) == len(groups[schema, table])
    assert all(changed[name] == groups[name] for name in groups if name != (schema, table))


@pytest.mark.parametrize("places", [(("/data/a", "t"), ("/data/a", "@0074")), (("/data/a", "t"), ("/data/@0061", "t"))])
def test_of_two_files_that_stand_for_one_table_the_one_that_changed_is_replaced(places: tuple[tuple[str, str], ...]) -> None:
    one, other = (TableFile(Database("a", directory), NamedFile(name, "t", None), None, None, None) for directory, name in places)
    changed = TableFile(other.database, other.named, None, "damaged", None)
    assert grouped([one, other]).with_files([changed], (one, changed))["a", "t"] == (one, changed)
