"""Where values come from, as each server tells it; which place wins after a restart, as the lines of my.cnf say; and the way back."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.variable_origins import MY_CNF_BACK, VariableOrigins
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.variable_origins import NOT_TOLD
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, on_every_server
from .test_expert_rules import findings

TELLING = ("mariadb-10.5", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8", "mysql-8.0", "mysql-9.7")
ODD = "a b'`.cnf"  # below a directory that is read whole


class WithOptionFile(CopiedServer):
    """A server that reads an option file, which includes a directory."""

    option_file = Path()

    def _base_command(self) -> list[str]:
        return [f"--defaults-file={self.option_file}" if word == "--no-defaults" else word for word in super()._base_command()]


class WithFewFiles(WithOptionFile):
    """The same, with 4,096 open files at most."""

    def _base_command(self) -> list[str]:
        return ["/bin/sh", "-c", 'ulimit -n 4096; exec "$@"', "sh", *super()._base_command()]


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="o-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "conf.d").mkdir()
        (folder / "my.cnf").write_text(f"[mysqld]\nsort_buffer_size = 300032\n!includedir {folder}/conf.d\n")
        (folder / "conf.d" / ODD).write_text("[mysqld]\nkey_buffer_size = 9437184\nthread_cache_size = 7\n")
        yield folder


@pytest.fixture
def served(request: pytest.FixtureRequest, place: Path) -> Iterator[PrivateServer]:
    server = WithOptionFile(binaries_of(request.param), ["--concurrent-insert=NEVER"])
    server.option_file = place / "my.cnf"
    with server:
        yield server


def origins(server: PrivateServer) -> VariableOrigins:
    return VariableOrigins(PlanFacts(complete(look(server))))


def remarks(server: PrivateServer, line: OptionLine) -> Sequence[str]:
    return [str(one) for one in origins(server).remarked(line)][:-1]


@on_every_server
def test_what_the_command_line_gave_is_told_and_a_default_has_no_row(server: PrivateServer) -> None:
    facts = look(server)
    if server.binaries.name not in TELLING:
        assert facts.unknown["variable_origin"] == NOT_TOLD
        return
    rows = {row["name"]: row for row in facts.tables["variable_origin"].dictionaries()}
    # Tests that share the server set no directory, and nobody can set ft_max_word_len while it runs.
    assert rows["tmpdir"] == {"name": "tmpdir", "origin": "command_line", "option_file": None, "is_persisted": 0}
    assert "ft_max_word_len" not in rows
    # MySQL tells of those that a session alone has, too, where one has set them.
    assert rows.keys() <= {name for name, _ in server.execute("SHOW SESSION VARIABLES")}


@pytest.mark.parametrize("served", ["mariadb-10.11", "mysql-9.7"], indirect=True)
def test_the_place_that_is_named_is_the_one_that_counts(served: PrivateServer, place: Path) -> None:
    """Each remark, done and not done, with a restart between."""
    line = option_line("key_buffer_size", 10485760)
    odd = place / "conf.d" / ODD
    assert remarks(served, line) == [f"# key_buffer_size stands in {odd}: change it there"]
    assert origins(served).way_back([line]) == f"Put key_buffer_size = 9437184 back into {odd}."
    assert origins(served).way_back([option_line("sort_buffer_size", 1), line]) == f"Put sort_buffer_size = 300032 back into {place / 'my.cnf'}. Put key_buffer_size = 9437184 back into {odd}."
    assert origins(served).way_back([option_line("myisam_max_sort_file_size", 1)]) == "Remove myisam_max_sort_file_size from my.cnf: it had its default."
    odd.write_text(f"[mysqld]\n{line}\n")
    # The command line wins over the file, as its remark says.
    (shown,) = remarks(served, option_line("concurrent_insert", 1))
    assert "--concurrent_insert on the server's command line" in shown
    (place / "my.cnf").write_text((place / "my.cnf").read_text() + "[mysqld]\nconcurrent_insert = 2\n")
    served.stop()
    served.start()
    variables = served.variables()
    assert (variables["key_buffer_size"], variables["concurrent_insert"]) == ("10485760", "NEVER")
    # What was set since the start says nothing of the file.
    served.execute("SET GLOBAL key_buffer_size = 12582912")
    assert remarks(served, line) == []
    assert origins(served).way_back([line]) == MY_CNF_BACK


@pytest.mark.parametrize("served", ["mysql-8.0", "mysql-9.7"], indirect=True)
def test_what_set_persist_wrote_wins_until_it_is_reset(served: PrivateServer, place: Path) -> None:
    served.execute("SET PERSIST key_buffer_size = 12582912", "SET PERSIST_ONLY back_log = 90")
    line, waiting = option_line("key_buffer_size", 10485760), option_line("back_log", 91)
    for _ in range(2):
        for one in (line, waiting):
            (shown,) = remarks(served, one)
            assert "SET PERSIST wrote" in shown
            assert origins(served).way_back([one]) in {MY_CNF_BACK, f"Write {one.option} = {served.variables()[one.option]} with SET PERSIST_ONLY again."}
        assert origins(served).way_back([line]) == "Write key_buffer_size = 12582912 with SET PERSIST_ONLY again."
        assert not origins(served).may_be_persisted([line, waiting])
        (place / "conf.d" / ODD).write_text(f"[mysqld]\n{line}\n{waiting}\n")
        served.stop()
        served.start()
        assert (served.variables()["key_buffer_size"], served.variables()["back_log"]) == ("12582912", "90")
    served.execute("RESET PERSIST key_buffer_size", "RESET PERSIST back_log")
    served.stop()
    served.start()
    assert (served.variables()["key_buffer_size"], served.variables()["back_log"]) == ("10485760", "91")


@pytest.mark.parametrize("served", ["mysql-8.0", "mysql-9.7"], indirect=True)
def test_what_set_persist_wrote_of_key_caches_is_told_and_reset_by_their_names(served: PrivateServer, place: Path) -> None:
    served.execute("SET PERSIST `default`.key_buffer_size = 12582912", "SET PERSIST `hot-1`.key_buffer_size = 12582912")
    lines = (option_line("key_buffer_size", 10485760), option_line("key_buffer_size", 10485760, "hot-1"))
    (place / "conf.d" / ODD).write_text("[mysqld]\n" + "".join(f"{line}\n" for line in lines))
    served.stop()
    served.start()
    assert served.execute("SELECT @@GLOBAL.key_buffer_size, @@GLOBAL.`hot-1`.key_buffer_size") == [(12582912, 12582912)]
    for line in lines:
        (shown,) = remarks(served, line)
        served.execute(shown.rpartition(": ")[2])
    served.stop()
    served.start()
    assert served.execute("SELECT @@GLOBAL.key_buffer_size, @@GLOBAL.`hot-1`.key_buffer_size") == [(10485760, 10485760)]
    assert not any("PERSIST" in one for line in lines for one in remarks(served, line))


@pytest.mark.parametrize("name", ["mysql-8.0", "mysql-9.7"])
def test_the_command_line_wins_over_what_set_persist_wrote(name: str) -> None:
    words = ["--key-buffer-size=9M"]
    with CopiedServer(binaries_of(name), words) as server:
        server.execute("SET PERSIST key_buffer_size = 12582912")
        server.restart(words)
        assert server.variables()["key_buffer_size"] == "9437184"
        (shown,) = remarks(server, option_line("key_buffer_size", 1))
        assert "--key_buffer_size on the server's command line" in shown


@pytest.mark.parametrize("name", ["mysql-8.0", "mysql-9.7"])
def test_performance_schema_need_not_be_on(name: str) -> None:
    with CopiedServer(binaries_of(name), ["--performance-schema=OFF", "--key-buffer-size=9M"]) as server:
        assert "command line" in remarks(server, option_line("key_buffer_size", 1))[0]


@pytest.mark.parametrize(("name", "origin"), [("mysql-8.0", "option_file"), ("mysql-9.7", "option_file"), ("mariadb-10.5", "automatic"), ("mariadb-11.8", "automatic")])
def test_what_is_fitted_to_the_open_files_is_not_the_line_of_the_file(place: Path, name: str, origin: str) -> None:
    (place / "my.cnf").write_text("[mysqld]\ntable_open_cache = 40000\nopen_files_limit = 5000\n")
    server = WithFewFiles(binaries_of(name), [])
    server.option_file = place / "my.cnf"
    with server:
        facts = look(server)
        origins_now = VariableOrigins(PlanFacts(complete(facts)))
        for variable, in_the_file in (("table_open_cache", 40000), ("open_files_limit", 5000)):
            assert int(server.variables()[variable]) < in_the_file
            assert {row["name"]: row["origin"] for row in facts.tables["variable_origin"].dictionaries()}[variable] == origin
            assert origins_now.way_back([option_line(variable, 9)]) == MY_CNF_BACK


@pytest.mark.parametrize("served", ["mysql-8.0", "mysql-9.7"], indirect=True)
def test_what_is_in_the_way_of_an_upgrade_is_named_where_it_stands_and_is_gone_as_told(served: PrivateServer, place: Path) -> None:
    served.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT) ENGINE=MyISAM")

    def told(*options: str) -> str:
        served.stop()
        served.start(list(options))
        return "".join(one.recommendation for one in findings(served, "upgrade-blockers"))

    served.execute("SET PERSIST_ONLY disabled_storage_engines = 'MyISAM'")
    assert "(SET PERSIST wrote disabled_storage_engines: run `RESET PERSIST disabled_storage_engines`)" in told()
    served.execute("RESET PERSIST disabled_storage_engines")
    assert told() == ""
    assert "(--disabled_storage_engines stands on the server's command line: change it there)" in told("--disabled-storage-engines=MyISAM")
    line = place / "conf.d" / "engines.cnf"
    line.write_text("[mysqld]\ndisabled_storage_engines = MyISAM\n")
    assert f"(disabled_storage_engines stands in {line}: change it there)" in told()
    line.unlink()
    assert told() == ""
