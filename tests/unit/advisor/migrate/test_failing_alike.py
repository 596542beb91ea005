"""Many tables that fail for the same reason are told together, few one by one."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.prediction import Migration, in_order, predict
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.server_kind import MYSQL, by_default
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
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
