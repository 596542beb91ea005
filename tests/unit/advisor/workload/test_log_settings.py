"""What of a server's variables is changed for a recording, and in which order it is given back."""

import pytest

from myisam_advisor.workload.log_settings import (
    assignment,
    former_settings,
    give_back,
    refuse_without_right,
    wanted_settings,
)
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.server.driver import Row

MARIADB = {
    "slow_query_log": "OFF", "slow_query_log_file": "a-slow.log", "long_query_time": "10.000000", "log_output": "FILE", "log_slow_rate_limit": "7", "log_slow_filter": "admin,filesort",
    "min_examined_row_limit": "0", "version": "10.11.6-MariaDB",
}  # fmt: skip


class Server:
    """Answers as a server with these variables."""

    def __init__(self, refuses: str = "") -> None:
        self.values = dict(MARIADB)
        self.said: list[str] = []
        self._refuses = refuses

    def rows(self, statement: str, *, columns: int | None = None) -> list[Row]:
        self.said.append(statement)
        if self._refuses and self._refuses in statement:
            raise StatementRefusedError(1227, "Access denied; you need SUPER")
        return list(self.values.items()) if statement.startswith("SHOW") else []


def test_what_the_server_has_and_differs_is_changed_and_the_switch_comes_last() -> None:
    changed = wanted_settings(MARIADB, "/d/our.log")
    assert changed == {"slow_query_log_file": "/d/our.log", "log_slow_rate_limit": "1", "log_slow_filter": "", "long_query_time": "0", "slow_query_log": "ON"}
    assert list(changed)[-1] == "slow_query_log"


def test_a_log_that_was_off_is_switched_off_before_its_file_is_given_back() -> None:
    former = former_settings(MARIADB, wanted_settings(MARIADB, "/d/our.log"))
    assert next(iter(former)) == "slow_query_log"
    assert former == {name: MARIADB[name] for name in former}


def test_a_log_that_was_on_is_given_its_file_back_last() -> None:
    on = {**MARIADB, "slow_query_log": "ON", "log_output": "TABLE"}
    changed = wanted_settings(on, "/d/our.log")
    assert changed["log_output"] == "FILE"
    assert "slow_query_log" not in changed
    former = list(former_settings(on, changed))
    assert former[0] == "long_query_time"
    assert set(former[-2:]) == {"log_output", "slow_query_log_file"}


def test_with_percona_server_connections_that_are_there_obey() -> None:
    percona = {**MARIADB, "slow_query_log_use_global_control": "", "log_slow_verbosity": "full"}
    changed = wanted_settings(percona, "/d/our.log")
    assert (changed["slow_query_log_use_global_control"], changed["log_slow_verbosity"]) == ("all", "microtime")


@pytest.mark.parametrize(
    ("value", "sql"),
    [("10.000000", "SET GLOBAL x = 10"), ("7", "SET GLOBAL x = 7"), ("ON", "SET GLOBAL x = 'ON'"), ("", "SET GLOBAL x = ''"), ("a'b", "SET GLOBAL x = _utf8mb4 0x612762")],
)  # fmt: skip
def test_a_value_is_set_as_what_it_is(value: str, sql: str) -> None:
    assert assignment("x", value) == sql


def test_what_is_not_as_it_was_is_said() -> None:
    server = Server()
    assert give_back(server, {"long_query_time": "10.000000"}) == []
    assert give_back(server, {"log_slow_rate_limit": "3"}) == ["log_slow_rate_limit is '7' and was '3'"]
    assert give_back(Server("long_query_time"), {"long_query_time": "5.000000"}) == ["long_query_time is '10.000000' and was '5.000000': Access denied; you need SUPER"]


def test_a_reason_is_said_once() -> None:
    told = give_back(Server("SET GLOBAL"), {"long_query_time": "5.000000", "log_output": "TABLE"})
    assert [text.count("Access denied") for text in told] == [1]
    assert "long_query_time is" in told[0]
    assert "log_output is" in told[0]


def test_a_variable_that_the_server_refused_is_as_it_was_and_is_not_set_again() -> None:
    assert give_back(Server("log_slow_filter"), {"log_slow_filter": MARIADB["log_slow_filter"]}) == []


def test_who_may_not_is_told_the_right() -> None:
    refuse_without_right(Server(), MARIADB, "'a'@'b'")
    with pytest.raises(UserError, match="GRANT SUPER ON"):
        refuse_without_right(Server("long_query_time"), MARIADB, "'a'@'b'")
    with pytest.raises(UserError, match="GRANT SYSTEM_VARIABLES_ADMIN ON"):
        refuse_without_right(Server("long_query_time"), {**MARIADB, "version": "8.4.2"}, "'a'@'b'")
    with pytest.raises(UserError, match=r"anonymous account ''@'b'\. Log in as an administrator") as nobody:
        refuse_without_right(Server("long_query_time"), MARIADB, "``@'b'")
    assert "GRANT" not in str(nobody.value)
