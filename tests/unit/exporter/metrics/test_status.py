"""Status variables under the names of metrics."""

import pytest

from myisam_exporter.metrics.status import GROUP, STATUS_METRICS
from tests.support.recorded import RecordedLook


@pytest.mark.parametrize(("name", "variable"), [(name, variable) for name, _, variable, _ in STATUS_METRICS])
def test_each_is_the_servers_number_or_absent(look: RecordedLook, name: str, variable: str) -> None:
    told = {key: value for key, value in look.told("SHOW GLOBAL STATUS")}  # noqa: C416 - rows are lists
    found = look.values(GROUP).get((name,))
    assert found == (float(told[variable] or 0) if variable in told else None)


def test_only_the_query_cache_is_missing_on_mysql(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    missing = on_mariadb.values(GROUP).keys() - on_mysql.values(GROUP).keys()
    assert missing == {("query_cache_hits_total",), ("query_cache_inserts_total",), ("query_cache_prunes_total",)}


def test_our_own_connection_does_not_run(look: RecordedLook) -> None:
    assert look.values(GROUP)["threads_running",] == look.number_told("SHOW GLOBAL STATUS", "Threads_running") - 1
