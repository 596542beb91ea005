"""Settings: numbers as gauges, words as labels."""

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.variables import GROUP
from tests.support.recorded import RecordedLook


def test_settings_are_those_that_the_server_was_started_with(look: RecordedLook) -> None:
    values = look.values(GROUP)
    assert values["table_cache_limit",] == 64
    assert values["connections_limit",] == look.number_told("SHOW GLOBAL VARIABLES", "max_connections")
    assert values["settings_info", "OFF", "AUTO", "ON", "OFF"] == 1


def test_only_mariadb_has_a_query_cache(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    assert on_mariadb.values(GROUP)["query_cache_limit_bytes",] == 1 << 20
    assert ("query_cache_limit_bytes",) not in on_mysql.values(GROUP)


@pytest.mark.parametrize(("said", "limit"), [("18446744073709551615", None), ("4294967295", None), ("7", 7), ("0", 0), ("18446744073709547520", 18446744073709547520)])
def test_a_limit_that_is_none_is_absent(said: str, limit: int | None) -> None:
    values = {value.name: value.number for value in GROUP.values(Pair(Variables({"myisam_mmap_size": said})), Scene({}, Running()))}
    assert values["mmap_limit_bytes"] == limit


def test_what_servers_have_by_themselves_is_no_limit(look: RecordedLook) -> None:
    assert look.number_told("SHOW GLOBAL VARIABLES", "myisam_mmap_size") > 1 << 60
    assert ("mmap_limit_bytes",) not in look.values(GROUP)


@pytest.mark.parametrize(("variables", "limit", "recover"), [({"table_cache": "32", "myisam_recover": "FORCE"}, 32, "FORCE"), ({}, None, "")])
def test_older_names_count_too(variables: dict[str, str], limit: int | None, recover: str) -> None:
    values = {value.name: value for value in GROUP.values(Pair(Variables(variables)), Scene({}, Running()))}
    assert values["table_cache_limit"].number == limit
    assert values["settings_info"].labels == (recover, "", "", "")
