"""Trials as a user runs them: every experiment, made up and on copies of tables."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.demo import make_crashed_table
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.experiments.base import experiment_names
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.sources import find_sources
from tests.support.compressed_tables import make_compressed_table
from tests.support.daemon import wait_for
from tests.support.servers import MARIADB, CopiedServer, binaries_of, working
from tests.support.thoroughness import THOROUGH

from .conftest import as_other_user, schema
from .trials import ODD, SMALL, fails, make_table, measured, temporary, trial, warned

__all__ = ["temporary"]  # a fixture that tests of a trial share


@pytest.mark.parametrize("name", experiment_names())
def test_every_experiment_runs(temporary: Path, name: str) -> None:
    binaries_of("mariadb-10.11")
    # Seven workloads with 1, 4, 16 and 64 threads take a minute of a processor: script/test thorough.
    words = ("--threads", "2") if name == "mmap" and not THOROUGH else ()
    document = measured(temporary, name, "--server", MARIADB, *SMALL, *words)
    assert document["workloads"]
    for workload in document["workloads"]:
        assert len(workload["variants"]) > 1
        for variant in workload["variants"].values():
            assert all(run["seconds"] > 0 and run["operations"] > 0 for run in variant["runs"])
            assert variant["operations_per_second"] > 0
    assert "Nothing is concluded from fewer than 4 rounds" in document["conclusion"]


@pytest.mark.alone
def test_a_large_read_buffer_is_found_worse_and_the_chart_shows_it(temporary: Path, tmp_path: Path) -> None:
    binaries_of("mariadb-10.11")
    chart = tmp_path / "chart.svg"
    status, output, errors = trial(temporary, "read-buffer", "--server", MARIADB, "--seconds", "0.15", "--rounds", "8", "--chart", chart)
    assert (status, warned(errors)) == (0, [])
    assert "Noise of this machine: two equal runs differ by" in output
    if "nothing is concluded" in output:
        pytest.skip("others have the processors")
    scanned, *_ = [line for line in output.splitlines() if "│ 128 MiB" in line]
    assert "worse" in scanned
    assert "the client took" in output.lower()
    text = chart.read_text()
    assert text.startswith("<?xml")
    assert "full scan: 128 MiB" in text
    assert not Path("/nonexistent").exists()  # the home directory of these tests: nothing is kept there


@pytest.mark.alone
def test_it_ends_as_soon_as_it_is_clear(temporary: Path) -> None:
    """An index against a full scan is clear at once: a few rounds, and most of the budget is left."""
    binaries_of("mariadb-10.11")
    document = measured(temporary, "columns", "--server", MARIADB, "--seconds", "0.1", "--budget", "90s")
    course = document["workloads"][0]["course"]
    if course["is_busy"]:
        pytest.skip("others have the processors")
    verdicts = {one["variant"]: one["verdict"] for one in document["workloads"][0]["comparisons"]}
    assert verdicts["index on the column"] == "worth it"
    assert course["ended_by"] == "clear"
    assert course["rounds"] < 30
    assert course["seconds"] < 45
    assert course["noise"]["median"] > 0


@pytest.fixture
def busy_loops() -> Iterator[None]:
    """Twice as many processes as there are processors, each of which wants one: no children of the trial's."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
            one.wait()


def test_beside_busy_loops_it_goes_on_to_the_budget_and_gives_no_verdict(temporary: Path, busy_loops: None) -> None:
    binaries_of("mariadb-10.11")
    document = measured(temporary, "row-format", "--server", MARIADB, "--seconds", "0.05", "--budget", "8s")
    courses = [workload["course"] for workload in document["workloads"]]
    assert all(course["ended_by"] == "budget" for course in courses)
    if courses[0]["others_cpu_share"] is None:
        pytest.skip("this kernel does not tell the children of a process")
    assert all(course["is_busy"] and course["disturbed_rounds"] > 0 for course in courses)
    assert {one["verdict"] for workload in document["workloads"] for one in workload["comparisons"]} == {"unclear"}
    assert "Other processes had the processors meanwhile" in document["conclusion"]
    assert "the budget had ended" in document["skipped"].get("workloads after these", "the budget had ended")


def test_a_budget_that_is_none_is_refused(temporary: Path) -> None:
    fails(temporary, "--budget must be more than 0", "io", "--budget", "0")
    fails(temporary, "'soon' is not a duration: write 10s, 500ms or 5min", "io", "--budget", "soon")
    fails(temporary, "--seconds must be more than 0", "io", "--seconds", "0")


def test_a_copy_of_a_table_with_an_odd_name_on_the_servers_own_binary(server: PrivateServer, temporary: Path) -> None:
    with schema(server, "trial/copies") as database:
        name = make_table(server, database, ODD)
        opened = f"SHOW OPEN TABLES FROM `{database}`"
        server.execute(f"FLUSH TABLES {name}")
        assert server.execute(opened) == []
        document = measured(temporary, "pack-keys", "--socket", server.socket, "--user", "root", "--table", f"`{database}`.`{ODD.replace('`', '``')}`", *SMALL)
        assert server.execute(opened) == []  # it was copied without being opened
        assert server.execute(f"SELECT COUNT(*) FROM {name}") == [(5**6,)]
    assert document["version"] == server.execute("SELECT @@version")[0][0]
    assert "(copy)" in document["tables"]
    assert f"--lower-case-table-names={server.execute('SELECT @@lower_case_table_names')[0][0]}" in document["settings"]
    inserts = next(one for one in document["workloads"] if one["name"] == "inserts of 10 rows")
    figures = {variant: runs["runs"][0]["figures"]["index_bytes_per_row"] for variant, runs in inserts["variants"].items()}
    assert figures["PACK_KEYS=0"] > 1.5 * figures["PACK_KEYS=DEFAULT"]


@pytest.mark.parametrize("name", ["key-cache", "mmap", "read-buffer"])
def test_experiments_on_copies(mariadb: PrivateServer, temporary: Path, name: str) -> None:
    with schema(mariadb, "shop") as database:
        make_table(mariadb, database)
        make_table(mariadb, database, "visits")
        words = ("--socket", mariadb.socket, "--user", "root", "--table", "shop.orders", "--table", "shop.visits")
        document = measured(temporary, name, *words, *SMALL, "--threads", "3")
    assert document["tables"] == "shop.orders (copy), shop.visits (copy)"
    names = {workload["name"] for workload in document["workloads"]}
    expected = {"key-cache": "inserts of 100 rows", "mmap": "batch of 20,000 rows by key, 3 threads", "read-buffer": "full scan"}
    assert expected[name] in names
    if name == "mmap":
        assert {"update key", "OLTP read-write"} <= document["skipped"].keys()
        mapped = [run["figures"]["mapped_data_files"] for workload in document["workloads"] for run in workload["variants"]["mmap"]["runs"]]
        assert min(mapped) > 0


@pytest.mark.parametrize("kind", ["mysql-5.6", "mysql-9.7", "mariadb-10.11"])
def test_a_crash_costs_a_repair_where_index_blocks_are_written_late(temporary: Path, kind: str) -> None:
    with CopiedServer(binaries_of(kind)) as server:
        server.execute("CREATE DATABASE shop")
        make_table(server, "shop", ODD)
        words = ("--socket", server.socket, "--user", "root", "--table", f"`shop`.`{ODD.replace('`', '``')}`", "--seconds", "0.1", "--rounds", "4")
        document = measured(temporary, "delay-key-write", *words)
    assert "(copy)" in document["tables"]
    assert "--delay-key-write=ON" in document["settings"]
    crash = document["workloads"][-1]
    figures = {variant: [run["figures"] for run in told["runs"]] for variant, told in crash["variants"].items()}
    assert all(one["rows_inserted_before_the_crash"] > 0 for runs in figures.values() for one in runs)
    # The server's process dies, the machine does not: its rows were written, the late index blocks were not.
    assert all(one["rows_lost"] == 0 for runs in figures.values() for one in runs)
    assert all(one["index_was_damaged"] == 1 for one in figures["DELAY_KEY_WRITE=1"])
    assert sum(one["index_was_damaged"] for one in figures["DELAY_KEY_WRITE=0"]) < len(figures["DELAY_KEY_WRITE=0"])
    assert "Of 4 crashes 4 left an index that had to be repaired" in document["conclusion"]
    assert "0 rows lost" in document["conclusion"]


def test_without_mysqlclient_a_trial_measures_by_the_other_library(mariadb: PrivateServer, temporary: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy, whose rows are inserted again as they are stored, and servers that crash under it."""
    hidden = tmp_path_factory.mktemp("hidden") / "MySQLdb"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('no MySQLdb here')")
    environment = {**os.environ, "PYTHONPATH": str(hidden.parent)}
    asked = subprocess.run([sys.executable, "-c", "from myisam_advisor.trial.private.driver import driver; print(type(driver()).__name__)"], env=environment, capture_output=True, text=True, check=True)
    assert asked.stdout == "PyMySQL\n"
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent))
    with schema(mariadb, "shop"):
        make_table(mariadb, "shop", ODD)
        words = ("--socket", mariadb.socket, "--user", "root", "--table", f"`shop`.`{ODD.replace('`', '``')}`", "--seconds", "0.1", "--rounds", "4")
        document = measured(temporary, "delay-key-write", *words)
    assert "(copy)" in document["tables"]
    assert all(run["operations"] > 0 for workload in document["workloads"] for variant in workload["variants"].values() for run in variant["runs"])
    assert "Of 4 crashes 4 left an index that had to be repaired" in document["conclusion"]


@pytest.mark.alone
def test_the_verdict_on_a_column_names_the_index_to_create(mariadb: PrivateServer, temporary: Path) -> None:
    with schema(mariadb, "shop") as database:
        make_table(mariadb, database, doublings=7)  # large enough for an index to win on a busy machine, too
        words = ("columns", "--socket", mariadb.socket, "--user", "root", "--table", "shop.orders", "--seconds", "0.05", "--rounds", "4")
        document = measured(temporary, *words, "--column", "number")
        assert "ALTER TABLE `shop`.`orders` ADD INDEX (`number`);" in document["conclusion"]
        fails(temporary, r"no column was named: name the column to search by \(--column\)\. shop.orders \(copy\) has id, name, number", *words)
        fails(temporary, r"there is no column 'numbr': name the column to search by \(--column\)\. shop.orders \(copy\) has id", *words, "--column", "numbr")


def test_a_table_that_is_written_to_is_copied_whole_or_not_at_all(mariadb: PrivateServer, temporary: Path) -> None:
    with schema(mariadb, "busy") as database:
        name = make_table(mariadb, database)
        words = ("row-format", "--socket", mariadb.socket, "--user", "root", "--table", "busy.orders", *SMALL)
        with working(mariadb, database, [f"INSERT INTO {name} (name, number) VALUES ('more', 1)"]):
            status, _, errors = trial(temporary, *words)
            assert status == 0 or (status == 2 and "--allow-lock" in errors), errors
            document = measured(temporary, *words, "--allow-lock")
            grows = mariadb.execute(f"SELECT COUNT(*) FROM {name}")[0]
            assert wait_for(lambda: mariadb.execute(f"SELECT COUNT(*) FROM {name}")[0] > grows)  # the lock is gone
        assert document["workloads"]


def test_tables_that_cannot_be_tried(mariadb: PrivateServer, temporary: Path) -> None:
    def refused(message: str, table: str, *words: object) -> None:
        fails(temporary, message, "row-format", "--socket", mariadb.socket, "--user", "root", "--table", table, *SMALL, *words)

    with schema(mariadb, "bad") as database:
        make_table(mariadb, database)
        make_table(mariadb, database, "few", 2)
        mariadb.execute(
            "CREATE TABLE bad.rows_locked (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE bad.parts (id INT) ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 2",
            "CREATE TABLE bad.texts (id INT, t TEXT) ENGINE=MyISAM",
        )
        make_crashed_table(mariadb, database, "broken")
        make_compressed_table(mariadb, mariadb.binaries, database, "packed")
        refused("bad.rows_locked: it is an InnoDB table", "bad.rows_locked")
        refused("bad.broken is marked crashed: repair it first", "bad.broken")
        refused("bad.packed is compressed", "bad.packed")
        refused("bad.parts is partitioned", "bad.parts")
        refused("bad.nothing: there is no such table", "bad.nothing")
        refused("nothing names no database", "nothing")
        refused("one of the server's own tables", "mysql.user")
        refused(r"to copy, and --copy-limit is 100 KiB", "bad.orders", "--copy-limit", "100K")
        refused("too few to measure", "bad.few")


def test_a_database_that_may_not_be_read_is_not_called_empty(temporary: Path) -> None:
    folder = temporary / "data"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop").chmod(0o700)
    try:
        with as_other_user(), pytest.raises(TrialError, match=r"shop\.orders: the files of this database cannot be read"), find_sources(folder, ["shop.orders"], 1 << 30, None):
            pass
    finally:
        shutil.rmtree(folder)
