"""Trials as a user runs them: every experiment, copies of tables, every fault; and nothing is left behind."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from demo.demo import make_crashed_table
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.experiments.base import experiment_names
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import server_at
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.sources import find_sources
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.server.sql import quote_identifier, quote_table
from tests.support.compressed_tables import make_compressed_table
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import MARIADB, CopiedServer, binaries_of, working
from tests.support.thoroughness import THOROUGH

from .conftest import as_other_user, schema
from .test_daemon_faults import small_disk

SMALL_DISK_KILOBYTES = 400 << 10
TRIAL_SECONDS = 900  # sixty-four threads on a loaded machine
SMALL = ("--seconds", "0.02", "--rounds", "1")
ODD = "a/b `x`\n\N{CYRILLIC SMALL LETTER ZHE}"  # a line break, and beyond ASCII
FILL = "INSERT INTO {name} (name, number) SELECT CONCAT('name ', @n := @n + 1), @n FROM (SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) a, {name} b"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A short TMPDIR of our own that the servers' user may enter; at the end it must be empty, and no process may be left that knows it."""
    folder = Path(tempfile.mkdtemp(prefix="t-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
        for disk in folder.glob("disk"):
            disk.rmdir()  # what it held went with its mount
        assert wait_for(lambda: not list(folder.iterdir())), list(folder.rglob("*"))[:10]
        assert wait_for(lambda: not processes(folder)), processes(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def processes(folder: Path) -> list[str]:
    """The command lines that name the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"{folder}/" in line:
            found.append(line)
    return found


def begin(temporary: Path, *words: object) -> subprocess.Popen[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TMPDIR": str(temporary)}
    for name in ("MYISAM_ADVISOR_SERVERS", "XDG_CACHE_HOME", "PYTHONPATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.Popen([str(PROGRAM), "trial", *map(str, words), "--no-keep"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def trial(temporary: Path, *words: object) -> tuple[int, str, str]:
    running = begin(temporary, *words)
    try:
        output, errors = running.communicate(timeout=TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        # Those that come next would only hear that one is running.
        running.send_signal(signal.SIGINT)
        running.communicate()
        raise
    return running.returncode, output, errors


def measured(temporary: Path, *words: object) -> dict[str, Any]:
    status, output, errors = trial(temporary, *words, "--format", "json")
    assert status == 0, errors
    assert errors == ""
    document: dict[str, Any] = json.loads(output)
    return document


def fails(temporary: Path, message: str, *words: object) -> None:
    status, output, errors = trial(temporary, *words)
    assert status == 2, errors
    assert re.search(message, errors), errors
    assert "Traceback" not in errors
    assert output == ""


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
    assert (status, errors) == (0, "")
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
    """An index against a full scan is clear at once: the fewest rounds there are, and most of the budget is left."""
    binaries_of("mariadb-10.11")
    document = measured(temporary, "columns", "--server", MARIADB, "--seconds", "0.1", "--budget", "90s")
    course = document["workloads"][0]["course"]
    if course["is_busy"]:
        pytest.skip("others have the processors")
    verdicts = {one["variant"]: one["verdict"] for one in document["workloads"][0]["comparisons"]}
    assert verdicts["index on the column"] == "worth it"
    assert course["ended_by"] == "clear"
    assert course["rounds"] <= 8
    assert course["seconds"] < 25
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
    fails(temporary, "'soon' is no duration: write 10s, 500ms or 5min", "io", "--budget", "soon")
    fails(temporary, "--seconds must be more than 0", "io", "--seconds", "0")


def make_table(server: PrivateServer, database: str, table: str = "orders", doublings: int = 6) -> str:
    """A table of some thousand rows with a key on a string: 4 times 5 to the doublings."""
    name = quote_table(database, table)
    server.execute(
        f"CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name CHAR(40) NOT NULL, number INT NOT NULL, KEY (name)) ENGINE=MyISAM",
        "SET @n := 0",
        f"INSERT INTO {name} (name, number) VALUES ('name 0', 0)",
        *[FILL.format(name=name)] * doublings,
    )
    return name


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


DOUBLED = "a'b\"c`d\\ \N{CYRILLIC SMALL LETTER ZHE}"


def make_doubled_table(server: PrivateServer, database: str, table: str) -> str:
    """An index with an odd name that another one begins with, and indexes of every other kind."""
    name = make_table(server, database, table)
    server.execute(
        f"ALTER TABLE {name} ADD KEY {quote_identifier(DOUBLED)} (number), ADD KEY longer (number, name), ADD UNIQUE KEY both_of_them (id, number), ADD FULLTEXT KEY words (name)"
    )
    return name


def figures_of(document: dict[str, Any], workload: str, figure: str) -> tuple[float, float]:
    """With the index and without it, in the first run."""
    (found,) = [one for one in document["workloads"] if one["name"] == workload]
    kept, dropped = (found["variants"][variant]["runs"][0]["figures"][figure] for variant in ("index kept", "index dropped"))
    return kept, dropped


@pytest.mark.parametrize("kind", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_an_index_that_another_one_can_replace_is_found_and_weighed(temporary: Path, kind: str) -> None:
    with CopiedServer(binaries_of(kind)) as server:
        server.execute("CREATE DATABASE shop")
        name = make_doubled_table(server, "shop", ODD)
        shown = server.execute(f"SHOW INDEX FROM {name}")
        words = ("--socket", server.socket, "--user", "root", "--table", f"`shop`.`{ODD.replace('`', '``')}`", "--seconds", "0.1", "--rounds", "4")
        document = measured(temporary, "drop-index", *words)
        assert server.execute(f"SHOW INDEX FROM {name}") == shown  # yours keeps it
    number = list(dict.fromkeys(row[2] for row in shown)).index(DOUBLED) + 1
    assert re.match(rf"Dropped: index {number} `.*` \(number\); \d+ longer \(number, name\) takes its place\.", document["conclusion"])
    assert [one["name"] for one in document["workloads"]] == ["inserts of 1 row", "inserts of 100 rows", "deletes", "rows of one key", "counts of 100 keys"]
    assert document["skipped"] == {"updates of its first column": "this column is generated, or part of a unique index"}
    for workload in ("inserts of 1 row", "deletes"):
        kept, dropped = figures_of(document, workload, "key_blocks_changed_per_row")
        assert kept > dropped + 0.5  # a leaf of one index less for each row
    for figure in ("index_bytes", "key_cache_blocks"):
        kept, dropped = figures_of(document, "counts of 100 keys", figure)
        assert kept > dropped > 0
    kept, dropped = figures_of(document, "counts of 100 keys", "key_blocks_read_per_key")
    assert dropped > 1
    assert "of index file instead of" in document["conclusion"]


def test_an_index_is_chosen_by_name_and_number(mariadb: PrivateServer, temporary: Path) -> None:
    with schema(mariadb, "shop") as database:
        mariadb.execute(
            f"ALTER TABLE {make_table(mariadb, database)} ADD KEY (number), ADD KEY pair (number, name), ADD KEY `line\nbreak` (name)",
            "ALTER TABLE shop.orders ALTER INDEX number IGNORED",
        )
        words = ("drop-index", "--socket", mariadb.socket, "--user", "root", "--table", "shop.orders", *SMALL)
        by_name, by_number = (measured(temporary, *words, "--index", index) for index in ("PAIR", "3"))
        assert by_name["workloads"][0]["note"] == "Dropped: index 4 pair (number, name); no other begins with its columns; to be tried next: 3 number (number), 5 `line\nbreak` (name) (--index)"
        assert "read the whole table" in by_name["skipped"]["reads by its columns"]
        assert [one["name"] for one in by_name["workloads"]] == ["inserts of 1 row", "inserts of 100 rows", "updates of its first column", "deletes"]
        kept, dropped = figures_of(by_name, "updates of its first column", "key_blocks_changed_per_row")
        assert kept > dropped
        assert "4 pair (number, name) takes its place" in by_number["workloads"][0]["note"]
        assert by_number["skipped"] == {"reads by its columns": "the index is hidden: no statement reads by it"}
        fails(temporary, "has a line break in its name: statements are sent line by line", *words, "--index", "5")


def test_indexes_that_cannot_be_tried(mariadb: PrivateServer, temporary: Path) -> None:
    def refused(message: str, *words: str) -> None:
        fails(temporary, message, "drop-index", "--socket", mariadb.socket, "--user", "root", *words, *SMALL)

    with schema(mariadb, "shop") as database:
        make_doubled_table(mariadb, database, "orders")
        make_table(mariadb, database, "plain")
        mariadb.execute(
            "CREATE TABLE shop.empty (a INT NOT NULL, KEY (a), KEY (a)) ENGINE=MyISAM",
            "CREATE TABLE shop.bare ENGINE=MyISAM SELECT * FROM shop.plain",
            "CREATE TABLE shop.counted (id INT NOT NULL AUTO_INCREMENT, number INT, KEY (id), KEY (number, id)) ENGINE=MyISAM SELECT id, number FROM shop.plain",
        )
        refused(r"shop.empty \(copy\) has 0 rows: too few to measure anything", "--table", "shop.empty")
        refused(r"shop.plain \(copy\) has no index that another one can replace: name the one to drop \(--index\)\. Its indexes: 1 PRIMARY \(id\), 2 name \(name\)\.", "--table", "shop.plain")
        refused(r"has no index that another one can replace: .* Its indexes: none\.", "--table", "shop.bare")
        refused(r"has no index Number\. Did you mean number\?|has no index `?nubmer`?\.", "--table", "shop.orders", "--index", "nubmer")
        refused(r"has no index 99\.|has no index `99`\.", "--table", "shop.orders", "--index", "99")
        refused(r"has no index `x``; DROP TABLE y`\.", "--table", "shop.orders", "--index", "x`; DROP TABLE y")
        refused("is the primary key: it forbids duplicates, and is not dropped", "--table", "shop.orders", "--index", "primary")
        refused("forbids duplicates: no other index does that for these columns", "--table", "shop.orders", "--index", "both_of_them")
        refused("index 1 id .* is what AUTO_INCREMENT counts by: no other index begins with that column", "--table", "shop.counted", "--index", "id")
        refused("words .* is a FULLTEXT index", "--table", "shop.orders", "--index", "words")
        refused("one table at a time: give --table once", "--table", "shop.orders", "--table", "shop.plain")
    fails(temporary, "--index belongs to drop-index: pack-keys drops no index", "pack-keys", "--server", MARIADB, "--index", "k", *SMALL)


@pytest.mark.alone
def test_the_verdict_on_a_column_names_the_index_to_create(mariadb: PrivateServer, temporary: Path) -> None:
    with schema(mariadb, "shop") as database:
        make_table(mariadb, database, doublings=7)  # large enough for an index to win on a busy machine, too
        words = ("columns", "--socket", mariadb.socket, "--user", "root", "--table", "shop.orders", "--seconds", "0.05", "--rounds", "4")
        document = measured(temporary, *words, "--column", "number")
        assert "ALTER TABLE `shop`.`orders` ADD INDEX (`number`);" in document["conclusion"]
        fails(temporary, r"name the column to search by \(--column\): shop.orders \(copy\) has id, name, number", *words)


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
        with as_other_user(), pytest.raises(TrialError, match=r"shop\.orders: the files of this database cannot be read"), find_sources(folder, ["shop.orders"], 1 << 30):
            pass
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def programs() -> Iterator[Path]:
    """A folder that everybody may read."""
    with tempfile.TemporaryDirectory(prefix="programs-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_programs_that_cannot_be_run(temporary: Path, programs: Path) -> None:
    other = programs / "mysqld"
    head = bytearray(Path(sys.executable).resolve().read_bytes()[:64])
    head[18:20] = struct.pack("<H", 8)  # EM_MIPS
    other.write_bytes(bytes(head))
    text = programs / "script"
    text.write_text("#!/bin/sh\n")
    fails(temporary, "built for another architecture", "mmap", "--server", other, *SMALL)
    fails(temporary, "no program of this system", "mmap", "--server", text, *SMALL)
    if os.geteuid() == 0:
        (programs / "closed").mkdir(mode=0o700)
        fails(temporary, "cannot be read by the user that is to run it .*install it where everybody may read", "mmap", "--server", programs / "closed" / "mysqld", *SMALL)
    fails(temporary, "no server program /nowhere/mysqld: No such file", "mmap", "--server", "/nowhere/mysqld", *SMALL)
    fails(temporary, "has no messages and character sets beside it|does not say which server", "mmap", "--server", "/bin/true", *SMALL)
    fails(temporary, r"'teleport' is not one of", "teleport")
    fails(temporary, "Missing argument .*Choose from:", "--seconds", "1")
    fails(temporary, r"/nowhere does not exist.* Made-up tables need no running server: name a program \(--server", "mmap", "--socket", "/nowhere", *SMALL)
    fails(temporary, "a chart is drawn as .svg or .png", "io", "--chart", "chart.pdf")
    fails(temporary, "no use for --table|no server", "io", "--table", "a.b", "--socket", "/nowhere")


def test_a_program_given_by_its_path_is_known_by_its_version() -> None:
    found = server_at(binaries_of("mysql-5.6").mysqld)
    assert (found.family, found.flavour) == ("mysql-bootstrap", "mysql")
    installed = server_at(Path(shutil.which("mariadbd", path="/usr/sbin:/usr/bin") or ""))
    assert (installed.family, installed.flavour, installed.name) == ("mariadb", "mariadb", "mariadb-10.11")


def test_a_socket_path_that_is_too_long(temporary: Path) -> None:
    binaries_of("mariadb-10.11")
    deep = temporary / ("d" * 90)
    deep.mkdir(mode=0o755)
    fails(deep, "socket path .* is longer than 107 bytes: choose a shorter TMPDIR", "row-format", "--server", MARIADB, *SMALL)
    deep.rmdir()


def server_process(temporary: Path) -> int | None:
    """The private server that runs below the folder."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if f"--socket={temporary}/".encode() in line and b"--no-defaults" in line:
            return int(path.parent.name)
    return None


def long_trial(temporary: Path) -> tuple[subprocess.Popen[str], int]:
    """A trial in the middle of its work, and its server."""
    binaries_of("mariadb-10.11")
    running = begin(temporary, "key-cache", "--server", MARIADB, "--seconds", "20", "--rounds", "3")
    assert wait_for(lambda: any("sysbench" in line for line in processes(temporary)), 60), running.poll()
    server = server_process(temporary)
    assert server is not None
    return running, server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_by_an_end_of_any_kind(temporary: Path, number: signal.Signals) -> None:
    running, server = long_trial(temporary)
    if os.geteuid() == 0:
        assert Path(f"/proc/{server}").stat().st_uid != 0  # as root, it became somebody unprivileged
    running.send_signal(number)
    output, errors = running.communicate(timeout=30)
    assert running.returncode == (-number if number == signal.SIGKILL else 130)
    assert "Traceback" not in errors
    assert output == ""
    assert wait_for(lambda: not Path(f"/proc/{server}").exists())


def test_it_steps_back_behind_everybody_else(temporary: Path) -> None:
    running, server = long_trial(temporary)
    try:
        process = psutil.Process(server)
        assert process.nice() >= 10
        assert process.ionice().ioclass == psutil.IOPRIO_CLASS_IDLE
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)


def test_a_private_server_that_dies_is_told_of(temporary: Path) -> None:
    running, server = long_trial(temporary)
    os.kill(server, signal.SIGKILL)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2
    assert "the private mariadb-10.11 died" in errors
    assert "Traceback" not in errors


def test_two_at_once_would_measure_each_other(temporary: Path) -> None:
    running, _ = long_trial(temporary)
    fails(temporary, rf"another trial is running on this machine \(process {running.pid}\)", "io", *SMALL)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)


def test_a_disk_without_room_is_refused_before_anything_is_made(temporary: Path) -> None:
    binaries_of("mariadb-10.11")
    with small_disk(temporary / "disk", SMALL_DISK_KILOBYTES) as disk:
        fails(disk, r"disk/\S+ has .* free, and the trial needs about", "row-format", "--server", MARIADB, *SMALL)


def test_a_disk_that_fills_up_in_mid_copy(mariadb: PrivateServer, temporary: Path) -> None:
    with (
        small_disk(temporary / "disk", SMALL_DISK_KILOBYTES) as disk,
        schema(mariadb, "large") as database,
        CopiedServer(mariadb.binaries, directory=disk / "s") as private,
    ):
        make_table(mariadb, database, doublings=7)
        with (disk / "filler").open("wb") as file:
            file.write(bytes(shutil.disk_usage(disk).free - (1 << 20)))
        with pytest.raises(TrialError, match=r"is full: the copy of large\.orders was given up"), find_sources(mariadb.data_directory, ["large.orders"], 1 << 30) as sources:
            copy_tables(sources, private, None, Listener())
        assert mariadb.execute("SELECT COUNT(*) FROM large.orders") == [(5**7,)]


def test_a_copy_that_fails_its_check_is_not_taken(mariadb: PrivateServer, temporary: Path) -> None:
    """Index pages of garbage below a header that looks well: what a copy in the middle of a write may be."""
    with schema(mariadb, "torn") as database:
        make_table(mariadb, database)
        mariadb.execute("FLUSH TABLES")
        path = mariadb.data_directory / "torn" / "orders.MYI"
        assert not parse_header(path.read_bytes()[:4096]).crashed
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 4096)
        fails(temporary, r"torn.orders is damaged: .*CHECK TABLE `torn`.`orders`; tells, and REPAIR TABLE `torn`.`orders`; mends", "row-format", "--socket", mariadb.socket, "--user", "root", "--table", "torn.orders", *SMALL)
