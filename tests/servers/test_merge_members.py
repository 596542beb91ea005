"""What parts a MERGE table from a member, and what does not: the gate refuses the former."""

import pytest
from MySQLdb import Error

from myisam_advisor.factbase.derived import complete
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import AlterTable, DropIndex, option
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import statement

from .conftest import look, schema

MEMBER = ("merged", "one")
COLUMNS = "a INT NOT NULL, b CHAR(20), c VARCHAR(20), KEY (a), KEY l (c)"
DIFFERENTLY_DEFINED = 1168


@pytest.mark.parametrize(("change", "parts"), [
    (AlterTable(MEMBER, (option(ENGINE="InnoDB"), option(ROW_FORMAT="DEFAULT"))), True),
    (AlterTable(MEMBER, (option(ROW_FORMAT="FIXED"),)), True),
    (DropIndex(MEMBER, "l"), True),
    (AlterTable(MEMBER, (option(PACK_KEYS=1),)), False),
    (AlterTable(MEMBER, (option(MAX_ROWS=1000),)), False),
])  # fmt: skip
def test_what_parts_a_member_from_its_merge_table_is_refused(server: PrivateServer, change: Statement, parts: bool) -> None:
    with schema(server, MEMBER[0]) as database:
        server.execute(f"CREATE TABLE one ({COLUMNS}) ENGINE=MyISAM", f"CREATE TABLE two ({COLUMNS}) ENGINE=MyISAM", f"CREATE TABLE whole ({COLUMNS}) ENGINE=MERGE UNION=(one, two)", database=database)
        admitted = RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy((change,)))
        assert (admitted.remedy.commands == ()) is parts
        assert ("belongs to a MERGE table (merged.whole)" in " ".join(admitted.instead)) is parts
        server.execute("SELECT COUNT(*) FROM whole", change.sql, database=database)
        if not parts:
            server.execute("SELECT COUNT(*) FROM whole", database=database)
            return
        with pytest.raises(Error) as refused:
            server.execute("SELECT COUNT(*) FROM whole", database=database)
        assert refused.value.args[0] == DIFFERENTLY_DEFINED


@pytest.mark.parametrize("words", ["ALTER TABLE one RENAME TO other", "RENAME TABLE merged.one TO merged.other", "DROP TABLE `merged`.`one`"])
def test_a_member_that_loses_its_name_parts_it_too(server: PrivateServer, words: str) -> None:
    with schema(server, MEMBER[0]) as database:
        server.execute(f"CREATE TABLE one ({COLUMNS}) ENGINE=MyISAM", f"CREATE TABLE whole ({COLUMNS}) ENGINE=MERGE UNION=(one)", database=database)
        admitted = RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy((parsed(statement(words)),)))
        assert admitted.remedy.commands == ()
        assert "merged.one belongs to a MERGE table (merged.whole)" in admitted.instead[0]
        server.execute(words, database=database)
        with pytest.raises(Error) as refused:
            server.execute("SELECT COUNT(*) FROM whole", database=database)
        assert refused.value.args[0] == DIFFERENTLY_DEFINED
