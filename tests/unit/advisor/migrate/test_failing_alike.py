"""Many tables that fail for the same reason are told together, few one by one."""

from dataclasses import replace
from typing import Any, cast

import pytest

from myisam_advisor.migrate.document import as_document
from myisam_advisor.migrate.prediction import Migration, in_order, predict, wanted_cache_bytes
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.server_kind import MYSQL, by_default
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_advisor.texts.templates import size
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Part, Structure

KIND = by_default(MYSQL, (8, 0))
COUNTED = Structure(
    "MyISAM", 8, "", (), False, (Column("g", types.LONG, 4, 63, False), Column("n", types.LONG, 4, 63, False, auto_increment=True)),
    (Index("PRIMARY", True, types.BTREE, (Part(0, 4, False), Part(1, 4, False))),),
)  # fmt: skip
OTHERWISE = replace(COUNTED, columns=(COUNTED.columns[0], replace(COUNTED.columns[1], name="m")))


def report(number: int) -> str:
    tables = [FoundTable(("s", f"t{place}"), COUNTED, None) for place in range(number)]
    predictions = predict([*tables, FoundTable(("s", "other"), OTHERWISE, None)], "InnoDB", KIND, None, Machine())
    return as_text(Migration(KIND, None, "InnoDB", tuple(predictions), in_order(predictions, {}), (), None, None, None))


@pytest.mark.parametrize(("number", "times"), [(3, 3), (4, 1), (60, 1)])
def test_they_are_told_so_often(number: int, times: int) -> None:
    told = report(number)
    assert told.count("error 1075: n counts within an index") == times
    assert told.count("error 1075: m counts within an index") == 1
    assert told.count("ADD KEY (`n`);") == times
    assert ("s.t0, s.t1, s.t2" in told) is (times == 1)
    assert ("4 tables; what mends s.t0 (of the others: --format json)" in " ".join(told.split())) is (number == 4)
    assert ("and 20 more" in told) is (number == 60)


def test_what_the_script_converts_all_the_same_is_told_and_reckoned_with() -> None:
    plain = replace(COUNTED, indexes=())
    fixed = replace(plain, row_format="FIXED", columns=(COUNTED.columns[0], Column("d", types.DATE, 3, 63, False)))
    found = [FoundTable(("s", "counted"), COUNTED, None), FoundTable(("s", "fixed"), fixed, Contents(10, 70, 1024, 0, "fixed")), FoundTable(("s", "plain"), replace(plain, columns=COUNTED.columns[:1]), None)]
    predictions = predict(found, "InnoDB", KIND, None, Machine())
    made = Migration(KIND, None, "InnoDB", tuple(predictions), in_order(predictions, {}), (), None, None, None)
    told = as_text(made)
    assert "2 fail, 1 converts. Of those that fail the script converts 1, without the options that are refused." in " ".join(told.split())
    order = told[told.index("In this order") :]
    # Above, as what fails; and below, as the script converts it: in the list, and with what it means.
    assert [line.split()[0] for line in order.splitlines() if line.startswith("s.")] == ["s.plain", "s.fixed"]
    # What is to be looked at in one table is not hidden behind what holds for all.
    assert order.index("zero-dates  s.fixed:") < order.index("count-cost  2 tables:")
    (_, most) = wanted_cache_bytes(predictions)
    assert most > 0
    assert f"{size(most)} in the end" in told.replace("\n", " ")
    assert {one["table_name"]: (one["fails"], one["script_errors"] == []) for one in cast("list[dict[str, Any]]", as_document(made)["tables"])} == {
        "counted": (True, False), "fixed": (True, True), "plain": (False, True),
    }  # fmt: skip


def test_what_it_takes_and_what_to_look_at_stand_before_the_list() -> None:
    """They stood below it, and all that changes: two hundred lines down."""
    dated = replace(COUNTED, indexes=(), columns=(COUNTED.columns[0], Column("d", types.DATE, 3, 63, False)))
    found = [FoundTable(("s", f"t{place}"), dated if place else replace(dated, columns=dated.columns[:1]), Contents(10, 70, 1024, 0, "fixed")) for place in range(60)]
    predictions = predict(found, "InnoDB", KIND, None, Machine())
    told = " ".join(as_text(Migration(KIND, None, "InnoDB", tuple(predictions), in_order(predictions, {}), (), None, None, None)).split())
    places = [told.index(words) for words in ("60 tables to InnoDB", "look first at: zero-dates (59 tables).", "What it takes.", "In this order", "What behaves differently")]
    assert places == sorted(places)
