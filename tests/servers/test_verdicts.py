"""Contention provoked for real is found; an idle server is silent; after the advice the finding is gone."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from demo.demo import make_crashed_table
from demo.load import InsertLoad
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import Sql
from tests.support.compressed_tables import make_compressed_table
from tests.support.servers import CopiedServer

from .conftest import look, schema, with_thresholds

# Whether a server is held back is told by idle processors.
pytestmark = pytest.mark.alone

RULE = "key-cache-contention"
LOOK_SECONDS = 3.0
ATTEMPTS = 3
POINT_SELECTS = ("--tables=8", "--table-size=10000", "--mysql-storage-engine=myisam", "--mysql-db=points", "--mysql-user=root", "--db-driver=mysql")


def verdict(server: PrivateServer, seconds: float = LOOK_SECONDS) -> Judgement:
    return judge(prepared(look(server, seconds), Site(shipped_rules())))


def finding(judgement: Judgement, rule: str) -> Finding | None:
    return next((found for found in judgement.findings if found.rule == rule), None)


@contextmanager
def under_load(server: PrivateServer, load: InsertLoad) -> Iterator[None]:
    load.make_tables(server)
    running = load.start(server, 60)
    try:
        time.sleep(1)
        yield
    finally:
        running.kill()
        running.communicate()
        server.execute("DROP DATABASE demo")


def test_an_idle_server_is_silent(server: PrivateServer) -> None:
    with schema(server, "quiet") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, c CHAR(20) NOT NULL, KEY (c)) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'a'), (2, 'b')", database=name)
        judgement = verdict(server, 1.0)
        # MySQL's default leaves a crashed table to its fate, and a table was just written.
        by_default = [] if server.binaries.name.startswith("mariadb") else ["recovery-disabled"]
        assert [found.rule for found in judgement.findings] == by_default
        assert RULE in judgement.quiet


def test_a_server_without_tables_gets_one_line(flavour: PrivateServer) -> None:
    judgement = verdict(flavour, 0)
    assert [found.rule for found in judgement.findings] == ["no-myisam"]


def test_contention_is_found_and_its_remedy_silences_it(server: PrivateServer) -> None:
    with under_load(server, InsertLoad()):
        found = None
        for _ in range(ATTEMPTS):  # a neighbour on the machine may take the cores for a moment
            found = found or finding(verdict(server), RULE)
        assert found is not None
        assert bool(found.commands) == (not server.binaries.name.startswith("mariadb"))
        if found.commands:
            server.execute(*(command.rstrip(";") for command in found.commands))
            try:
                assert finding(verdict(server), RULE) is None
            finally:
                server.execute(*(command.rstrip(";") for command in found.undo_commands))
            return
    # Segments are set by my.cnf and a restart: online they end a server under load.
    settings = [f"--{line.replace(' ', '')}" for line in found.my_cnf]
    assert settings
    with CopiedServer(server.binaries, ["--key-buffer-size=256M", *settings]) as restarted, under_load(restarted, InsertLoad()):
        assert finding(verdict(restarted), RULE) is None


@contextmanager
def point_selects(server: PrivateServer, threads: int) -> Iterator[None]:
    """sysbench's own rows by primary key: each statement asks for few index blocks, and its thread waits for the client in between."""
    words = ["setpriv", "--pdeathsig", "KILL", "--", "sysbench", "oltp_point_select", *POINT_SELECTS, f"--mysql-socket={server.socket}"]
    with schema(server, "points"):
        subprocess.run([*words, "prepare"], check=True, capture_output=True, timeout=60)
        running = subprocess.Popen([*words, f"--threads={threads}", "--time=60", "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            time.sleep(1)
            yield
        finally:
            running.kill()
            running.communicate()


def test_point_selects_wait_for_their_clients_not_for_the_cache(flavour: PrivateServer) -> None:
    # Measured on MariaDB 10.11: key_cache_segments leave this load at 0.98 times.
    with point_selects(flavour, threads=16):
        facts = complete(look(flavour, LOOK_SECONDS))
    assert RULE in judge(prepared(facts, Site(shipped_rules()))).quiet
    # A busy machine sends fewer of them: with thresholds that it reaches, what a statement asks for is the sign that says no.
    reached = {"minimum_requests_per_second": 1000, "minimum_switches_per_core": 10, "minimum_running_threads": 0, "minimum_spare_cpu": 0}
    assert RULE in judge(prepared(facts, with_thresholds(RULE, **reached))).quiet
    if flavour.binaries.name.startswith("mariadb"):  # elsewhere caches of their own want tables whose reads are known
        assert finding(judge(prepared(facts, with_thresholds(RULE, **reached, minimum_requests_per_statement=0))), RULE) is not None


def test_eight_threads_on_one_table_wait_for_its_lock_not_for_the_cache(flavour: PrivateServer) -> None:
    with under_load(flavour, InsertLoad(one_table=True)):
        judgement = verdict(flavour)
        found = finding(judgement, "table-lock-contention")
        assert found is not None
        assert "demo.load_1" in found.message
        assert finding(judgement, RULE) is None


def test_the_instrument_confirms_on_mysql_9(server: PrivateServer) -> None:
    if server.binaries.name != "mysql-9.7":
        pytest.skip(f"{server.binaries.name}: only MySQL 9.7 counts the default cache's lock when the instrument goes on at run time")
    switch = "UPDATE performance_schema.setup_instruments SET ENABLED='{}', TIMED='{}' WHERE NAME='wait/synch/mutex/mysys/KEY_CACHE::cache_lock'"
    server.execute(switch.format("YES", "YES"))
    try:
        with under_load(server, InsertLoad()):
            found = next(filter(None, (finding(verdict(server), RULE) for _ in range(ATTEMPTS))), None)
            assert found is not None
            assert found.confidence == "confirmed"
    finally:
        server.execute(switch.format("NO", "NO"))


def test_a_crashed_and_a_compressed_table_are_seen(server: PrivateServer) -> None:
    with schema(server, "wrecks") as name:
        make_crashed_table(server, name, "broken")
        make_compressed_table(server, server.binaries, name, "packed")
        facts = look(server)
        formats = {row["table_name"]: row["row_format"] for row in facts.tables["tables"].dictionaries()}
        assert formats["broken"] == "fixed"
        if server.binaries.tool("myisampack"):
            assert formats["packed"] == "compressed"
            assert facts.single("totals")["compressed_tables"] == 1
        found = [one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule == "table-crashed"]
        assert [one.object for one in found] == ["wrecks.broken"]
        server.execute(*(command.rstrip(";") for command in found[0].commands if isinstance(command, Sql)))
        assert not [one for one in verdict(server, 0).findings if one.rule == "table-crashed"]
