"""What delay-key-write recommends ends the delay, on every server: no index block waits once its statement has ended."""

from collections.abc import Iterator

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import SERVERS, binaries_of, status_number

from .conftest import look

RULE = "delay-key-write"
TABLE = "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b VARCHAR(80), KEY (b)) ENGINE=MyISAM"


@pytest.fixture(params=SERVERS)
def own(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server by itself: on MySQL, ALL cannot be taken back before a restart."""
    with PrivateServer(binaries_of(request.param), ["--key-buffer-size=16M", "--myisam-recover-options=OFF"]) as server:
        server.execute("CREATE DATABASE d")
        server.execute(TABLE, database="d")
        yield server


def judged(server: PrivateServer) -> Judgement:
    return judge(prepared(look(server), Site(shipped_rules())))


def found(server: PrivateServer) -> Finding | None:
    return next((one for one in judged(server).findings if one.rule == RULE), None)


def waiting_blocks(server: PrivateServer) -> int:
    """Index blocks that wait to be written, after rows were inserted by a connection of its own."""
    for number in range(20):
        server.execute(f"INSERT INTO t (b) VALUES ('{'x' * 60}{number}')", database="d")
    return status_number(server, "Key_blocks_not_flushed")


def test_the_commands_for_all_end_the_delay(own: PrivateServer) -> None:
    own.execute("SET GLOBAL delay_key_write = ALL", "FLUSH TABLES")
    assert waiting_blocks(own) > 0
    finding = found(own)
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("warning", "confirmed")
    own.execute(*(command.rstrip(";") for command in finding.commands))
    assert waiting_blocks(own) == 0
    assert found(own) is None


def test_what_an_alter_table_made_of_the_option_is_told_or_said_to_be_unknown(own: PrivateServer) -> None:
    own.execute("ALTER TABLE t DELAY_KEY_WRITE=1", "FLUSH TABLES", database="d")
    assert waiting_blocks(own) > 0
    judgement = judged(own)
    assert RULE not in judgement.quiet
    if own.binaries.flavour == "mariadb":
        assert any(one.rule == RULE and "in the .frm alone" in one.needs for one in judgement.not_evaluated)
    else:
        assert any(one.rule == RULE for one in judgement.findings)
    own.execute("ALTER TABLE t DELAY_KEY_WRITE=0, FORCE", database="d")
    assert waiting_blocks(own) == 0
    assert found(own) is None
