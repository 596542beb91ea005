"""Whether facts may be of a part of the tables only."""

import pytest

from myisam_advisor.factbase.partial import NOT_IN_FILE, may_be_part
from myisam_exporter.facts.columns import TABLES
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactRows, FactSet

UNREADABLE = Unknown("a database cannot be read")


def facts(local: int | None, unknown: dict[str, Unknown]) -> FactSet:
    tables = {table.name: FactRows((), []) for table in TABLES} | {"server": FactRows(("local",), [(local,)])}
    return FactSet(tables, unknown)


@pytest.mark.parametrize(
    ("local", "unknown", "expected"),
    [
        (1, {}, False),
        (0, {}, True),
        (None, {}, False),
        (1, {"totals.myisam_tables": UNREADABLE}, True),
        (1, {"totals": UNREADABLE}, True),
        (None, {"totals": NOT_IN_FILE, "totals.myisam_tables": NOT_IN_FILE}, False),
        (1, {"totals.myisam_rows": UNREADABLE}, False),
    ],
)
def test_what_is_out_of_sight_makes_a_part(local: int | None, unknown: dict[str, Unknown], expected: bool) -> None:
    assert may_be_part(facts(local, unknown)) is expected
