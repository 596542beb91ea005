"""A size for the table cache, under the name that the version has for it."""

import pytest

from myisam_advisor.remedies.planners.base import PlanNeeds
from tests.support.planning import MYSQL, OLD_MYSQL, asked, facts, planned, texts
from tests.support.recorded import RecordedLook


@pytest.mark.parametrize(("present", "wanted"), [(64, 400), (400, 800), (2000, 4000)])
def test_twice_what_there_is_and_four_hundred_at_least(present: int, wanted: int) -> None:
    plan = planned("table_cache_size", {"cache_size": present}, facts(server=MYSQL))
    assert texts(plan.commands) == [f"SET GLOBAL table_open_cache = {wanted};"]
    assert texts(plan.undo_commands) == [f"SET GLOBAL table_open_cache = {present};"]
    assert texts(plan.my_cnf) == [f"table_open_cache = {wanted}"]


def test_its_old_name() -> None:
    assert texts(planned("table_cache_size", {"cache_size": 64}, facts(server=OLD_MYSQL)).commands) == ["SET GLOBAL table_cache = 400;"]


def test_without_the_present_size_it_cannot_be_said() -> None:
    assert asked("table_cache_size", {"cache_size": None}) == PlanNeeds("variable.table_open_cache")


def test_the_recorded_mysql_is_told_so(on_mysql: RecordedLook) -> None:
    (finding,) = (finding for finding in on_mysql.judgement.findings if finding.rule == "table-cache-too-small")
    assert texts(finding.commands) == ["SET GLOBAL table_open_cache = 400;"]
