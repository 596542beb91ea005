"""Damage in the server's own database, which is MyISAM up to MySQL 5.7: it is told and mended as any table's; sound tables of it are nobody's business."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.statements.base import Remark, Statement
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.myi_header import CHANGED_CRASHED
from myisam_exporter.files.schema_reader import YOUNG_SECONDS
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, schema

STATE_CHANGED_POSITION = 26


@pytest.fixture(params=["mysql-5.5", "mysql-5.6"])
def old(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """Later ones keep their accounts in InnoDB, MariaDB in Aria."""
    with CopiedServer(binaries_of(request.param), ["--log-bin=log", "--server-id=1"]) as running:
        yield running


def mark(path: Path) -> None:
    header = bytearray(path.read_bytes())
    header[STATE_CHANGED_POSITION] |= CHANGED_CRASHED
    path.write_bytes(header)
    time.sleep(YOUNG_SECONDS + 0.1)


def damaged(server: PrivateServer) -> list[Finding]:
    return [one for one in judge(prepared(complete(look(server)), Site(shipped_rules()))).findings if one.rule == "table-crashed"]


def mend(server: PrivateServer, finding: Finding) -> None:
    server.execute(*[one.sql for one in finding.remedy.commands if isinstance(one, Statement) and not isinstance(one, Remark)])


def test_a_crashed_table_of_accounts_is_told_and_mended(old: PrivateServer) -> None:
    assert not any(row["schema_name"] == "mysql" for row in look(old).tables["tables"].dictionaries())
    old.execute("GRANT SELECT ON shop.* TO someone@localhost", "FLUSH TABLES")
    mark(old.data_directory / "mysql" / "db.MYI")
    (finding,) = damaged(old)
    assert finding.object == "mysql.db"
    assert "it does not start again" in finding.recommendation
    with pytest.raises(Exception, match="marked as crashed"):
        old.execute("FLUSH PRIVILEGES")
    mend(old, finding)
    old.execute("FLUSH PRIVILEGES")
    assert old.execute("SELECT COUNT(*) FROM mysql.db WHERE User = 'someone'") == [(1,)]
    assert damaged(old) == []


def test_one_damaged_partition_is_mended_and_the_replicas_hear_nothing(old: PrivateServer) -> None:
    with schema(old, "parted") as name:
        old.execute(
            f"CREATE TABLE {name}.t (id INT NOT NULL, KEY (id)) ENGINE=MyISAM PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN MAXVALUE)",
            f"INSERT INTO {name}.t VALUES (1), (20), (30)", f"FLUSH TABLES {name}.t",
        )  # fmt: skip
        mark(old.data_directory / name / "t#P#high.MYI")
        (finding,) = damaged(old)
        with pytest.raises(Exception, match="marked as crashed"):
            old.execute(f"SELECT COUNT(*) FROM {name}.t")
        logged = old.execute("SHOW BINLOG EVENTS")
        mend(old, finding)
        assert old.execute("SHOW BINLOG EVENTS") == logged
        assert f"ALTER TABLE `{name}`.`t` REPAIR PARTITION NO_WRITE_TO_BINLOG `high`;" in finding.commands
        assert old.execute(f"SELECT COUNT(*) FROM {name}.t") == [(3,)]
        assert damaged(old) == []
