"""A look with no right to see the files: with exactly the account that `grants` prints, as another user, and from afar."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.reports.formats import nagios
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.myi_header import CHANGED_CRASHED
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.account import statements
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from tests.support.servers import working

from .conftest import as_other_user, schema, target

ACCOUNT, PASSWORD = "looker", "correct horse 5!"
STATE_CHANGED_POSITION = 26


def look_and_judge(server: PrivateServer, seconds: float, user: str = ACCOUNT) -> tuple[Judgement, FactSet]:
    facts = complete(collect_facts(Target(user, PASSWORD if user == ACCOUNT else "", socket=server.socket), seconds, 10))
    return judge(prepared(facts, Site(shipped_rules()))), facts


@contextmanager
def account(server: PrivateServer) -> Iterator[None]:
    with Session(target(server), 10) as session:
        lines = statements(session.version, ACCOUNT, "localhost", by_password=True)
    server.execute(*(line.partition(";  --")[0].replace("<password>", f"'{PASSWORD}'") for line in lines))
    try:
        yield
    finally:
        server.execute(f"DROP USER '{ACCOUNT}'@'localhost'")


@contextmanager
def closed(directory: Path) -> Iterator[None]:
    mode = directory.stat().st_mode
    directory.chmod(0o700)
    try:
        yield
    finally:
        directory.chmod(mode)


@pytest.fixture
def crashed(server: PrivateServer) -> Iterator[str]:
    """A database with a table that is marked crashed."""
    with schema(server, "blind") as name:
        server.execute(
            "CREATE TABLE whole (id INT PRIMARY KEY) ENGINE=MyISAM", "CREATE TABLE broken (id INT PRIMARY KEY) ENGINE=MyISAM",
            "INSERT INTO whole VALUES (1)", "INSERT INTO broken VALUES (1)", "FLUSH TABLES", database=name,
        )  # fmt: skip
        header = server.data_directory / name / "broken.MYI"
        data = bytearray(header.read_bytes())
        data[STATE_CHANGED_POSITION] |= CHANGED_CRASHED
        header.write_bytes(data)
        yield name


def test_an_account_that_sees_no_file_is_told_so_and_never_that_all_is_well(server: PrivateServer, crashed: str) -> None:
    with account(server), closed(server.data_directory), as_other_user():
        judgement, facts = look_and_judge(server, 0.5)
    verdict = verdict_of(judgement, facts.interval_seconds)
    assert "be seen" in verdict.headline
    assert "table-crashed among them" in verdict.headline
    assert "sudo myisam-advisor check" in judgement.blind[0].remedy
    assert nagios.exit_status(judgement, facts, Shown()) == 3
    assert {"table-crashed", "table-near-size-limit"} <= {outcome.rule for outcome in judgement.not_evaluated}
    assert not {"table-crashed", "table-near-size-limit"} & set(judgement.quiet)


def test_root_sees_what_it_did_not(server: PrivateServer, crashed: str) -> None:
    judgement, facts = look_and_judge(server, 0.5, "root")
    verdict = verdict_of(judgement, facts.interval_seconds)
    assert (verdict.headline[:19], verdict.tone) == ("A table is crashed.", "critical")
    assert nagios.exit_status(judgement, facts, Shown()) == 2


def test_an_idle_interval_is_told_from_one_under_load(server: PrivateServer) -> None:
    with schema(server, "idle") as name:
        server.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=MyISAM", database=name)
        judgement, _ = look_and_judge(server, 2.0, "root")
        (spot,) = (one for one in judgement.blind if one.what == "load")
        assert "not one statement" in spot.sentence
        with working(server, name, ["INSERT INTO t (v) VALUES (1)"]):
            judgement, _ = look_and_judge(server, 1.0, "root")
        assert not judgement.blind
