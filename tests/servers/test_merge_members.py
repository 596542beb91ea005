"""What parts a MERGE table from a member, and what does not: the gate refuses the former. What servers count of a member."""

import pytest
from MySQLdb import Error

from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import AlterKeys, AlterTable, DropIndex, option
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import statement
from tests.support.servers import CopiedServer, binaries_of, repeating

from .conftest import look, schema, with_thresholds

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


@pytest.mark.parametrize(("kind", "options"), [
    ("mysql-5.6", ()), ("mysql-9.7", ()), ("mariadb-10.11", ("--performance-schema=ON",)), ("mariadb-11.8", ("--userstat=1", "--performance-schema=OFF")),
])  # fmt: skip
def test_what_is_read_through_a_merge_table_is_counted_for_that_one_alone(kind: str, options: tuple[str, ...]) -> None:
    """So 0 of a member is not known: not that nobody reads it, and not that one of its indexes serves no statement."""
    site = with_thresholds("duplicate-indexes", minimum_uptime_seconds=0, minimum_rows_read=10, minimum_index_bytes=1)
    columns = "a INT NOT NULL, b INT NOT NULL, c INT NOT NULL, KEY a (a), KEY b (b)"
    with CopiedServer(binaries_of(kind), options) as server:
        server.execute("CREATE DATABASE merged")
        for table in ("one", "two", "apart"):
            rows = ", ".join(f"({number}, {number % 100}, 1)" for number in range(2000))
            server.execute(f"CREATE TABLE {table} ({columns}) ENGINE=MyISAM", f"INSERT INTO {table} VALUES {rows}", f"SELECT SUM(c) FROM {table} WHERE a BETWEEN 5 AND 50", database=MEMBER[0])
        server.execute(f"CREATE TABLE whole ({columns}) ENGINE=MERGE UNION=(one, two)", database=MEMBER[0])
        with repeating(server, MEMBER[0], ["SELECT SUM(c) FROM whole FORCE INDEX (b) WHERE b = 5", "DO SLEEP(0.02)"]):
            facts = look(server, 1)
        reads = {(row["table_name"], row["index_name"]): row["rows_read_since_start"] for row in facts.tables["indexes"].dictionaries()}
        rates = {row["table_name"]: row["rows_read_per_second"] for row in facts.tables["tables"].dictionaries()}
        assert min(int(str(reads[table, "a"])) for table in ("one", "two", "apart")) >= 46
        assert (reads["one", "b"], reads["two", "b"], reads["apart", "b"]) == (None, None, 0)
        assert (rates["one"], rates["two"], rates["apart"]) == (None, None, 0)
        found = [finding.object for finding in judge(prepared(complete(facts), site)).findings if finding.rule == "duplicate-indexes"]
        assert found == ["merged.apart"]


def test_a_search_of_a_merge_table_fails_while_the_keys_of_a_member_are_off(server: PrivateServer) -> None:
    with schema(server, MEMBER[0]) as database:
        server.execute(f"CREATE TABLE one ({COLUMNS}) ENGINE=MyISAM", f"CREATE TABLE two ({COLUMNS}) ENGINE=MyISAM", f"CREATE TABLE whole ({COLUMNS}) ENGINE=MERGE UNION=(one, two)", database=database)
        server.execute(*[f"INSERT INTO {table} (a) VALUES {', '.join(f'({number})' for number in range(300))}" for table in ("one", "two")], database=database)
        off = AlterKeys(MEMBER, enabled=False)
        admitted = RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy((off,)))
        assert admitted.remedy.commands == ()
        assert "belongs to a MERGE table (merged.whole)" in " ".join(admitted.instead)
        search = "SELECT b FROM whole FORCE INDEX (a) WHERE a = 5"
        server.execute(search, off.sql, database=database)
        with pytest.raises(Error, match="error 124") as refused:
            server.execute(search, database=database)
        assert refused.value.args[0] == 1030
        server.execute("ALTER TABLE whole UNION=(two)", search, database=database)
