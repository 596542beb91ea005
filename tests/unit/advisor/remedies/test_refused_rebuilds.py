"""What the gate refuses of rebuilds: those that would leave a disk nearly full, and those that part a table from its MERGE table."""

from typing import Any

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import (
    AlterKeys,
    AlterTable,
    DropIndex,
    OptimizeTable,
    RepairTable,
    option,
)
from myisam_exporter.server.sql import quote_table, statement

MIB = 1 << 20
TABLE = ("x", "t")
NAME = quote_table(*TABLE)
OPTIMIZE, REPAIR = OptimizeTable(TABLE), RepairTable(TABLE)
TO_INNODB = AlterTable(TABLE, (option(ENGINE="InnoDB"),))


def admitted(command: Statement, **facts: Any) -> Admitted:
    return RemedyGate(PlanFacts(complete(facts_from_document({"schema": 1, **facts})))).admit(Remedy(commands=(command,)))


def table(**columns: Any) -> list[dict[str, Any]]:
    return [{"schema_name": "x", "table_name": "t", **columns}]


@pytest.mark.parametrize(("command", "host", "passes"), [
    (OPTIMIZE, {"data_directory_free_bytes": 756 * MIB}, True),
    (OPTIMIZE, {"data_directory_free_bytes": 756 * MIB - 1}, False),
    (OPTIMIZE, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, False),
    (OPTIMIZE, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB, "data_directory_growth_bytes_per_day": 0}, True),
    (TO_INNODB, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, False),
    (AlterKeys(TABLE, enabled=False), {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, True),
    (REPAIR, {"data_directory_free_bytes": 3000 * MIB, "data_directory_total_bytes": 200_000 * MIB}, True),
    (REPAIR, {"data_directory_free_bytes": 551 * MIB}, True),
])  # fmt: skip
def test_a_rebuild_that_can_wait_leaves_what_disk_nearly_full_wants(command: Statement, host: dict[str, Any], passes: bool) -> None:
    passed = admitted(command, host=host, tables=table(row_format="fixed", rows=1000, data_bytes=400 * MIB, index_bytes=100 * MIB))
    assert bool(passed.remedy.commands) is passes
    assert passes or "disk-nearly-full warns below" in " ".join(passed.instead)


MERGED = table(row_format="dynamic", rows=10, fixed_row_bytes=9, merge_tables="x.whole")


@pytest.mark.parametrize("command", [
    TO_INNODB,
    AlterTable(TABLE, (option(ENGINE="Aria"),)),
    AlterTable(TABLE, (option(ROW_FORMAT="FIXED"),)),
    AlterTable(TABLE, (option(PACK_KEYS=0), option(ROW_FORMAT="DYNAMIC"))),
    parsed(statement("ALTER TABLE {} ROW_FORMAT = FIXED", NAME)),
    parsed(statement("ALTER TABLE {} ENGINE=InnoDB, ADD PRIMARY KEY (a);", NAME)),
    parsed(statement("ALTER TABLE {} ADD INDEX of_a (a);", NAME)),
    DropIndex(TABLE, "of_a"),
])  # fmt: skip
def test_a_member_of_a_merge_table_stays_like_it(command: Statement) -> None:
    passed = admitted(command, tables=MERGED)
    assert passed.remedy.commands == ()
    assert "belongs to a MERGE table (x.whole)" in " ".join(passed.instead)
    assert "1168" in " ".join(passed.instead)
    assert admitted(command, tables=table(row_format="dynamic", rows=10, fixed_row_bytes=9)).remedy.commands == (command,)


@pytest.mark.parametrize("command", [OPTIMIZE, REPAIR, AlterTable(TABLE, (option(PACK_KEYS=0),)), AlterTable(TABLE, (option(MAX_ROWS=0, AVG_ROW_LENGTH=0),)), AlterKeys(TABLE, enabled=True), parsed(statement("ANALYZE TABLE {};", NAME)), parsed(statement("ALTER TABLE {} FORCE;", NAME))])
def test_a_member_of_a_merge_table_takes_what_leaves_it_alike(command: Statement) -> None:
    assert admitted(command, tables=MERGED).remedy.commands == (command,)
