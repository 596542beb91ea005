"""A facts file with what SHOW VARIABLES and SHOW STATUS print: the server's version and age are among it."""

from typing import Any

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_exporter.facts.columns import Row


def server(document: dict[str, Any]) -> Row:
    return complete(facts_from_document({"schema": 1, **document})).single("server")


@pytest.mark.parametrize(
    ("variable", "flavour", "number"),
    [
        ({"version": "5.6.30-log", "version_comment": "MySQL Community Server (GPL)"}, "mysql", 50630),
        ({"version": "5.5.20-rel24.1", "version_comment": "Percona Server with XtraDB (GPL), Release rel24.1"}, "percona", 50520),
        ({"version": "10.2.16-MariaDB-log"}, "mariadb", 100216),
        ({"version": "5.5.68-MariaDB"}, "mariadb", 50568),
    ],
)  # fmt: skip
def test_the_variables_tell_the_version(variable: dict[str, str], flavour: str, number: int) -> None:
    told = server({"variable": variable})
    assert (told["flavour"], told["version_number"]) == (flavour, number)


def test_an_empty_version_tells_nothing() -> None:
    told = server({"server": {"version": ""}, "variable": {"version": "10.6.12-MariaDB"}})
    assert (told["flavour"], told["version_number"]) == ("mariadb", 100612)


def test_the_status_tells_how_long_it_is_up() -> None:
    assert server({"status": {"Uptime": 267027}})["uptime_seconds"] == 267027
    assert server({"status": {"Uptime": "a while"}}).get("uptime_seconds") is None


def test_what_the_file_says_of_the_server_stays() -> None:
    told = server(
        {
            "server": {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": 5},
            "variable": {"version": "5.6.30", "version_comment": "Percona Server"},
            "status": {"Uptime": 9},
        }
    )
    assert (told["flavour"], told["version_number"], told["uptime_seconds"]) == ("mariadb", 101106, 5)


def test_a_number_that_may_have_lost_its_last_zero_is_no_version() -> None:
    assert server({"variable": {"version": 10.1}}).get("version_number") is None


def test_what_nothing_tells_of_the_server_stays_unknown() -> None:
    known = complete(facts_from_document({"schema": 1, "status": {"Uptime": 267027}})).unknown
    assert {"server.data_directory", "server.version_number"} <= known.keys()
    assert not {"server", "server.uptime_seconds"} & known.keys()
