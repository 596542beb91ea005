"""What a node of a Galera cluster runs by itself, and what it has all nodes run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import Sql, quote_table, statement
from tests.support.daemon import free_port
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, status_number

from .conftest import look, target
from .test_expert_rules import galera

TABLE = quote_table("d", "m")
BY_ITSELF = [
    statement(f"{verb} {{}};", TABLE)
    for verb in ("OPTIMIZE TABLE", "REPAIR TABLE", "ANALYZE TABLE", "FLUSH TABLES")
]
ALTER = statement("ALTER TABLE {} PACK_KEYS=0;", TABLE)
# What no node sends to another, as it stands.
LOCAL = [
    "SET GLOBAL key_buffer_size = 16777216",
    "SET GLOBAL hot.key_buffer_size = 1048576",
    f"CACHE INDEX {TABLE} IN hot",
    f"LOAD INDEX INTO CACHE {TABLE}",
    f"CHECK TABLE {TABLE}",
]


@contextmanager
def node(*further: str) -> Iterator[PrivateServer]:
    """The only node of a cluster: wsrep_replicated counts what it would send to others."""
    provider = [f"--wsrep-provider={galera()}", "--wsrep-cluster-address=gcomm://", f"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{free_port()}"]
    with CopiedServer(binaries_of("mariadb-10.11"), ["--wsrep-on=ON", "--binlog-format=ROW", *provider, *further]) as server:
        server.execute("CREATE DATABASE d", f"CREATE TABLE {TABLE} (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO {TABLE} VALUES (1)")
        yield server


def admitted(server: PrivateServer, *commands: Sql) -> Admitted:
    return RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy(tuple(map(parsed, commands))))


def sent(server: PrivateServer, *statements: str) -> int:
    before = status_number(server, "wsrep_replicated")
    server.execute(*statements)
    return status_number(server, "wsrep_replicated") - before


@pytest.mark.parametrize("logs", [[], ["--log-bin=binlog", "--server-id=1", "--log-slave-updates"]])
def test_what_is_of_this_node_stays_on_it(logs: list[str]) -> None:
    with node(*logs) as server:
        assert sent(server, *BY_ITSELF) == len(BY_ITSELF)
        passed = admitted(server, *BY_ITSELF)
        offered = [text_of(command) for command in passed.remedy.commands]
        assert len(offered) == len(BY_ITSELF)
        assert sent(server, *offered) == 0
        assert "keeps it from the other nodes" in " ".join(passed.cost)
        assert "all nodes stop" not in " ".join(passed.cost)
        assert sent(server, *LOCAL) == 0


@pytest.mark.parametrize(("method", "said", "number"), [("TOI", "all nodes stop until it is done", 1), ("RSU", "this node alone runs it", 0)])
def test_who_runs_an_alter_is_as_the_node_is_set_up(method: str, said: str, number: int) -> None:
    with node(f"--wsrep-osu-method={method}") as server:
        assert said in " ".join(admitted(server, ALTER).cost)
        assert sent(server, ALTER) == number


def test_a_server_without_a_provider_is_no_node() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--wsrep-on=ON"]) as alone:
        alone.execute("CREATE DATABASE d", f"CREATE TABLE {TABLE} (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        passed = admitted(alone, *BY_ITSELF, ALTER)
        assert [text_of(command) for command in passed.remedy.commands] == [*BY_ITSELF, ALTER]
        assert "node" not in " ".join(passed.cost)
        with Session(target(alone)) as session:
            assert not looked_at(session, ("d",), "InnoDB", None, Path("/proc")).here.galera


@pytest.mark.parametrize(("mode", "to", "told"), [
    ("REPLICATE_MYISAM", "innodb", "CHECKSUM TABLE on each"), ("REPLICATE_MYISAM,REPLICATE_ARIA", "aria", "CHECKSUM TABLE on each"),
    ("REPLICATE_MYISAM", "aria", "no node sends those of Aria"), ("", "innodb", "does not replicate MyISAM's rows"),
])
def test_a_cluster_that_sends_statements_on_myisam_is_not_said_to_keep_its_rows(mode: str, to: str, told: str) -> None:
    with node(f"--wsrep-mode={mode}") as server:
        assert (sent(server, f"INSERT INTO {TABLE} VALUES (2)") == 1) is bool(mode)
        script = run("migrate", "d.m", "--to", to, "--format", "sql", "--socket", server.socket, "--user", "root").stdout
        assert told in script
        assert ("does not replicate MyISAM's rows" in script) is (not mode)
        assert (f"\n-- CHECKSUM TABLE {TABLE};" in script) is bool(mode)
        assert "\nALTER" not in script
        passed = admitted(server, statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", TABLE))
        assert passed.remedy.commands == ()
        assert ("empty copy" in " ".join(passed.instead)) is (not mode)
        assert ("CHECKSUM TABLE on each" in " ".join(passed.instead)) is bool(mode)
