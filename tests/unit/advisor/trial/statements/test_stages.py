"""What the account that sends statements may do, and what is looked at after a run."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.statements.definitions import PROCEDURE, Definition
from myisam_advisor.trial.statements.stages import PRIVILEGES, Stage, StagedTable, privileges_for
from myisam_advisor.trial.statements.survey import Judging, survey
from tests.support.workloads import event


def needed(*statements: bytes, definitions: tuple[Definition, ...] = ()) -> tuple[str, ...]:
    return privileges_for(survey([event(1, at, one) for at, one in enumerate(statements)], Judging()), definitions)


def test_the_account_may_do_what_the_statements_need_and_no_more() -> None:
    assert needed(b"INSERT INTO t VALUES (1)", b"CREATE TEMPORARY TABLE x (a INT)", b"DROP TEMPORARY TABLE x", b"DROP TABLE t") == PRIVILEGES
    assert "DROP" not in PRIVILEGES
    assert needed(b"TRUNCATE TABLE t") == (*PRIVILEGES, "DROP")
    assert needed(b"CALL p()", definitions=(Definition(PROCEDURE, "shop", "p", "CREATE PROCEDURE p() TRUNCATE t"),)) == (*PRIVILEGES, "DROP")
    assert needed(b"CREATE TEMPORARY TABLE x (a INT)", b"ALTER TABLE x ADD b INT") == ("ALL PRIVILEGES",)
    assert needed(b"CREATE TEMPORARY TABLE x (a INT)", b"DROP TABLE x") == ("ALL PRIVILEGES",)


def test_a_table_that_is_gone_after_a_run_ends_the_replay(tmp_path: Path) -> None:
    stage = Stage(cast(Any, SimpleNamespace(data_directory=tmp_path)), [StagedTable("shop", "log", "shop", "log", False)], tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "log.MYI").touch()
    stage.expect_tables()
    (tmp_path / "shop" / "log.MYI").unlink()
    with pytest.raises(TrialError, match=r"`shop`\.`log` is gone after a run"):
        stage.expect_tables()
