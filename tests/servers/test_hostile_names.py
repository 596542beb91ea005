"""Every character that a name may hold, in the SQL that the advisor writes, run on real servers: it does what it says and nothing else."""

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.server.sql import Sql, quote_account, quote_identifier, quote_table
from tests.rules.test_cases import CASES
from tests.support.servers import SERVERS, CopiedServer, binaries_of
from tests.support.thoroughness import THOROUGH

from .conftest import look, schema

# Of 64 letters, and in a file's name of 255 bytes each may take five.
LETTERS_A_NAME = 30
# MySQL 5.6 has room for 16.
LETTERS_AN_ACCOUNT = 14
SURROGATES = range(0xD800, 0xE000)
REFUSED = (1059, 1102, 1103, 1300, 1366, 1470, 3988)


def packed(letters: int, step: int = 1) -> Iterator[str]:
    """Names that hold every character of the basic plane between them; a name may not end in a space."""
    points = [point for point in range(1, 0x10000) if point not in SURROGATES]
    for start in range(0, len(points), letters * step):
        yield "".join(map(chr, points[start : start + letters])) + "."


def created(cursor: Any, statement: str) -> bool:
    """Whether the server takes such a name."""
    try:
        cursor.execute(statement)
    except Exception as error:
        assert error.args[0] in REFUSED, (statement, error)
        return False
    return True


def test_statements_on_tables_touch_the_table_they_name(server: PrivateServer) -> None:
    with schema(server, "odd") as database, server.session(database) as connection, closing(connection.cursor()) as cursor:
        names = [name for name in packed(LETTERS_A_NAME) if created(cursor, f"CREATE TABLE {quote_identifier(name)} (id INT NOT NULL PRIMARY KEY, k INT, KEY (k)) ENGINE=MyISAM")]
        # Nearly all of them: what is refused is told by its number above.
        assert len(names) > 2000
        facts = look(server)
        found = {str(row["table_name"]) for row in facts.tables["tables"].dictionaries() if row["schema_name"] == database}
        assert found == set(names)
        executed = set()
        for commands in commands_for_crashed(facts):
            for command in commands:
                if not isinstance(command, Sql) or command.startswith("-- "):
                    continue  # the copy of the files, for a shell or in words
                cursor.execute(command)
                rows = cursor.fetchall()
                if command.startswith("FLUSH TABLES "):
                    continue
                assert {row[2] for row in rows} == {"status"}, (command, rows)
                assert {row[3] for row in rows} <= {"OK", "Table is already up to date"}, (command, rows)
                executed |= {row[0] for row in rows}
        assert len(executed) == len(names)
        cursor.execute("SHOW TABLES")
        assert {row[0] for row in cursor.fetchall()} == set(names)


def commands_for_crashed(facts: FactSet) -> Iterator[Sequence[str]]:
    """What the rule for crashed tables would have one run, were they all crashed; a rule tells of a thousand at most."""
    rows = facts.tables["tables"]
    place = rows.columns.index("crashed")
    crashed = [[1 if number == place else value for number, value in enumerate(row)] for row in rows.rows]
    for start in range(0, len(crashed), 1000):
        part = replace(facts, tables={**facts.tables, "tables": FactRows(rows.columns, crashed[start : start + 1000])})
        rule = [rule for rule in shipped_rules() if rule.id == "table-crashed"]
        judgement = judge(prepared(part, Site(rule)))
        assert len(judgement.findings) == len(crashed[start : start + 1000])
        yield from (finding.commands for finding in judgement.findings)


INJECTIONS = (
    "x`; DROP TABLE `bystander", "x' OR '1'='1", 'say "so"', "a.b", "a/b", "../../etc/passwd", "..", "line\nfeed\ttab\rreturn", "back\\slash", "\\", "%s %d", "%", "{{ 7 * 7 }}", "{% if 1 %}", "/*", "*/ -- ", "#", ";", "`",
    "<script>alert(1)</script>", "\u202egnirts", "caf\u00e9", "\u8868", "\x7f", "\x1b[31m", "NUL", "x" * 64, "PARTITION (ALL)", "WRITE, bystander",
)  # fmt: skip
SIZES = re.compile(r"(key_buffer_size = )[1-9]\d*")
BYSTANDER = "`bystander`"
EVERYWHERE = {"table-crashed", "pack-keys", "key-cache-contention", "fragmented-table", "bulk-load-with-keys", "table-near-size-limit", "migrate-engine"}


@pytest.mark.parametrize("kind", SERVERS)
def test_what_every_rule_would_have_one_run_does_what_it_says(kind: str) -> None:
    """All rules' cases, their tables under hostile names: each statement that names a table is run on tables that have those names."""
    run: dict[str, int] = {}
    # A server of its own: key caches that were made once are told of for ever.
    with CopiedServer(binaries_of(kind)) as server, schema(server, "odd`; --") as database, server.session(database) as connection, closing(connection.cursor()) as cursor:
        columns = "(id INT NOT NULL PRIMARY KEY, k INT, v VARCHAR(9), KEY {} (k)) ENGINE=MyISAM"
        names = [name for name in (*INJECTIONS, *packed(LETTERS_A_NAME, 12)) if created(cursor, f"CREATE TABLE {quote_identifier(name)} {columns.format(quote_identifier(name))}")]
        assert len(names) > 150
        cursor.execute(f"CREATE TABLE {BYSTANDER} {columns.format('k')}")
        cursor.execute(f"INSERT INTO {BYSTANDER} VALUES (1, 2, 'three')")
        before = state(cursor)
        # What one case left on a table (ROW_FORMAT=FIXED) must not stop another's change of its engine.
        cursor.execute("SET SESSION innodb_strict_mode = OFF")
        chance = random.Random(1)
        for case in cases_for(kind):
            facts = under_names(case["facts"], database, chance.sample(names, len(names)))
            for finding in judge(prepared(facts_from_document({"schema": 1, **facts}), Site(shipped_rules()))).findings:
                for statement in (*finding.commands, *finding.undo_commands):
                    if not isinstance(statement, Sql) or statement.startswith("-- "):
                        continue  # for a shell, or in words
                    if quote_identifier(database) not in statement and not SIZES.search(statement):
                        continue  # it names no table, or undoes what was left out
                    assert not re.search(f"(?<!`){BYSTANDER}", statement)
                    cursor.execute(SIZES.sub(r"\g<1>65536", statement))
                    assert "Error" not in {str(row[2]) for row in cursor.fetchall() if len(row) > 2}, statement
                    if statement.startswith("LOCK TABLES"):
                        cursor.execute("UNLOCK TABLES")
                    run[finding.rule] = run.get(finding.rule, 0) + 1
        assert state(cursor) == before
    assert run.keys() >= EVERYWHERE


def cases_for(kind: str) -> list[dict[str, Any]]:
    """All; else those of the rules that each server is asked about, and of the others a share of its own."""
    return [case for number, (rule, case) in enumerate(CASES) if THOROUGH or rule in EVERYWHERE or SERVERS[number % len(SERVERS)] == kind]


def under_names(facts: dict[str, Any], database: str, names: list[str]) -> dict[str, Any]:
    """The case with its tables called so."""
    known: dict[tuple[str, str], str] = {}

    def renamed(row: dict[str, Any]) -> dict[str, Any]:
        table = str(row["schema_name"]), str(row["table_name"])
        known.setdefault(table, names[len(known)])
        # The tables that are there have no partitions.
        return {name: value for name, value in row.items() if "partition" not in name} | {"schema_name": database, "table_name": known[table]}

    return {name: [renamed(row) for row in content] if isinstance(content, list) and content and "table_name" in content[0] else content for name, content in facts.items()}


def state(cursor: Any) -> tuple[Any, ...]:
    """The names of all databases and tables, and what is in the table that nobody named."""
    found: list[Any] = []
    for statement in ("SHOW DATABASES", "SHOW TABLES", f"SELECT * FROM {BYSTANDER}", f"SHOW CREATE TABLE {BYSTANDER}"):
        cursor.execute(statement)
        found.append(sorted(cursor.fetchall()))
    return tuple(found)


def test_supplementary_characters_are_read_as_the_server_keeps_them(server: PrivateServer) -> None:
    """No server keeps them in a name: MySQL puts a question mark in their place, MariaDB refuses them."""
    with schema(server, "beyond") as database, server.session(database) as connection, closing(connection.cursor()) as cursor:
        for name in ("\U0001f980", "a\U00010000b", "\U0010ffff" * 2, "\U0001f980" * 40):
            created(cursor, f"CREATE TABLE {quote_identifier(name)} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        cursor.execute("SHOW TABLES")
        kept = {str(name) for (name,) in cursor.fetchall()}
        facts = look(server)
        assert {str(row["table_name"]) for row in facts.tables["tables"].dictionaries() if row["schema_name"] == database} == kept
        for name in kept:
            cursor.execute(f"CHECK TABLE {quote_table(database, name)}")
            assert cursor.fetchall()[0][3] == "OK"


def test_databases_with_any_name(server: PrivateServer) -> None:
    made = []
    with server.session() as connection, closing(connection.cursor()) as cursor:
        try:
            for name in packed(LETTERS_A_NAME, 20):
                if created(cursor, f"CREATE DATABASE {quote_identifier(name)}"):
                    made.append(name)
                    cursor.execute(f"CREATE TABLE {quote_table(name, name)} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
            assert len(made) > 90
            found = {(str(row["schema_name"]), str(row["table_name"])) for row in look(server).tables["tables"].dictionaries()}
            assert {(name, name) for name in made} <= found
        finally:
            for name in made:
                cursor.execute(f"DROP DATABASE {quote_identifier(name)}")


def test_accounts_with_any_name(server: PrivateServer) -> None:
    made = []
    with server.session() as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SELECT user FROM mysql.user")
        before = set(cursor.fetchall())
        for mode in ("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES"):
            cursor.execute(f"SET SESSION sql_mode='{mode}'")
            try:
                for name in ("'", "\\", "a\\'b", '"', "`", "a@b", "%", "--", *packed(LETTERS_AN_ACCOUNT, 40)):
                    account = quote_account(name, "localhost")
                    if created(cursor, f"CREATE USER {account}"):
                        made.append((name, account))
                        cursor.execute(f"GRANT PROCESS ON *.* TO {account}")
                cursor.execute("SELECT user FROM mysql.user")
                users = {str(user) for (user,) in set(cursor.fetchall()) - before}
                # Names are stored without the spaces at their ends.
                assert {name.strip(" ") for name, _ in made} == {user.strip(" ") for user in users}
                assert len(made) > 50
            finally:
                for _, account in made:
                    cursor.execute(f"DROP USER {account}")
                made.clear()
