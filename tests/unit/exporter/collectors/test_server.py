"""Who the server is, and that its process and files were found and verified."""

from pathlib import Path

import pytest

from myisam_exporter.collectors.server import COLLECTOR, MUTEX_INSTANCES, ServerIdentity
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.location import ELSEWHERE
from myisam_exporter.server.target import Target
from tests.support.recorded import RecordedLook
from tools.record_machine import PROCESS


def test_the_server_says_who_it_is(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    (mariadb,), (mysql,) = on_mariadb.rows("server", "server"), on_mysql.rows("server", "server")
    assert (mariadb["flavour"], mysql["flavour"]) == ("mariadb", "mysql")
    assert mariadb["version"].startswith("10.11.")
    assert mariadb["version_number"] // 100 == 1011
    assert mysql["version_number"] // 100 == 907
    for row, look in ((mariadb, on_mariadb), (mysql, on_mysql)):
        assert row["uptime_seconds"] == look.number_told("SHOW GLOBAL STATUS", "Uptime")
        assert (row["local"], row["hostname"]) == (1, "recorded")
        assert row["data_directory"] == f"{look.machine.data}/"


def test_process_and_files_are_verified(look: RecordedLook) -> None:
    location = look.sample("server").location
    assert (location.pid, location.data_directory) == (PROCESS, look.machine.data)
    assert location.owner == look.machine.data.stat().st_uid
    assert list(COLLECTOR.notes(look.sample("server"))) == []


def test_the_default_key_cache_and_the_named_one_have_a_mutex_each(look: RecordedLook) -> None:
    assert look.sample("server").initialised_key_caches == int(look.told(MUTEX_INSTANCES)[0][0] or 0) == 2


def test_a_server_elsewhere_has_no_place_here(look: RecordedLook) -> None:
    sample = look.collected("server", Target("root", host="db.example"))
    assert isinstance(sample, ServerIdentity)
    assert (sample.location.pid, sample.location.data_directory) == (ELSEWHERE, ELSEWHERE)
    assert list(COLLECTOR.notes(sample)) == [ELSEWHERE, ELSEWHERE]


def test_another_servers_directory_is_not_taken_for_its_own(on_mysql: RecordedLook) -> None:
    values = {**on_mysql.sample("variables").values, "server_uuid": "00000000-0000-0000-0000-000000000000"}
    sample = on_mysql.collected("server", variables=Variables(values))
    assert "belongs to another server" in sample.location.data_directory.reason


@pytest.mark.parametrize(("directory", "reason"), [("", "names no data directory"), ("/nonexistent/data", "does not exist here")])
def test_a_directory_that_is_not_here_is_unknown(look: RecordedLook, directory: str, reason: str) -> None:
    values = {**look.sample("variables").values, "datadir": directory, "pid_file": str(Path(look.machine.root, "pid"))}
    sample = look.collected("server", variables=Variables(values))
    assert isinstance(sample.location.data_directory, Unknown)
    assert reason in sample.location.data_directory.reason


def test_without_performance_schema_the_number_of_caches_is_unknown(look: RecordedLook) -> None:
    values = {**look.sample("variables").values, "performance_schema": "OFF"}
    sample = look.collected("server", variables=Variables(values))
    assert "performance_schema is off" in COLLECTOR.unknown_columns(sample)["server.initialised_key_caches"].reason
