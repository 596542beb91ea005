"""What stands at the head of a plan, beside its statements."""

import pytest

from tests.unit.advisor.changes.test_plan import PROVED, plan_of


@pytest.mark.parametrize(("log_bin", "said"), [("ON", True), ("OFF", False)])
def test_where_an_alter_is_logged_filters_by_database_are_told(log_bin: str, said: bool) -> None:
    """Tried with binlog_do_db: MariaDB logs no ALTER of a client that uses no database."""
    facts = {**PROVED["facts"], "variable": {"log_bin": log_bin}}
    plan = plan_of({**PROVED, "facts": facts}, "fixed-row-format")
    assert plan.offline
    assert any("binlog_do_db, replicate_do_db" in note and "USE the table's own" in note for note in plan.notes) == said
