"""`trial replay`: recorded statements on copies of a server's tables."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest

from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.replay_result import ReplayResult
from myisam_advisor.trial.statements.replaying import run_replay
from myisam_advisor.trial.statements.schedule import ONE_BY_ONE, write_schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, send
from myisam_advisor.trial.statements.stages import RefusedError, Stage, expect_taken
from myisam_advisor.trial.statements.survey import Judging, survey
from myisam_advisor.trial.statements.variants import Setting, Variant
from myisam_advisor.trial.tables.sources import find_copyable
from myisam_advisor.trial.typed_documents import made
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.file_format import Header
from myisam_advisor.workload.file_writer import WorkloadWriter
from tests.support import workloads
from tests.support.apart import by_somebody_else
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import binaries_of

from .conftest import OTHER_UID, on_one_server, schema
from .test_daemon_faults import small_disk
from .trials import begin, fails, measured, processes, temporary, trial, warned

__all__ = ["temporary"]  # a fixture that tests of a trial share
ROOT = Path(__file__).parents[2]
ROWS, CONNECTIONS, ROUNDS = 20_000, 4, 150


@contextmanager
def by_anybody() -> Iterator[Path]:
    """A folder that another user may write, as the sender is one, with all that is made meanwhile; pytest's own are their owner's."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o777)
        before = os.umask(0)
        try:
            yield Path(place)
        finally:
            os.umask(before)


@contextmanager
def shop(server: PrivateServer) -> Iterator[None]:
    """Two tables: one that is read, one that is written."""
    with schema(server, "shop"):
        server.execute(
            "CREATE TABLE words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, KEY (name)) ENGINE=MyISAM",
            "CREATE TABLE log (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, place INT, what VARCHAR(40)) ENGINE=MyISAM",
            "CREATE TABLE kept (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
            database="shop",
        )
        fill = ",".join(f"('word {number * 7919 % 100_003}')" for number in range(ROWS))
        server.execute(f"INSERT INTO words (name) VALUES {fill}", "FLUSH TABLES", database="shop")
        yield


@contextmanager
def material(server: PrivateServer, path: Path, *, knows_moments: bool = False) -> Iterator[Material]:
    """What a replay of the workload on the server's tables is about."""
    names = [("shop", "words"), ("shop", "log"), ("shop", "kept")]
    with find_copyable(server.data_directory, names, 1 << 30) as (sources, missing):
        events = list(read_workload(path).events())
        yield Material(server.binaries, [], lambda: iter(events), sources, missing, knows_moments=knows_moments)


@pytest.mark.parametrize("knows_moments", [True, False])
def test_rows_are_as_recorded_and_writes_in_their_order(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows_moments: bool
) -> None:
    # After each run but the last, as the next one finds them.
    orders: list[list[tuple[object, ...]]] = []
    sizes: list[object] = []
    kept = Stage.restore

    def look(stage: Stage) -> None:
        sizes.append(stage.server.execute("SELECT @@key_buffer_size")[0][0])
        orders.append(stage.server.execute("SELECT place FROM shop.log ORDER BY id"))
        kept(stage)

    monkeypatch.setattr(Stage, "restore", look)
    recorded = workloads.shop(CONNECTIONS, ROUNDS, ROWS)
    recorded += [
        workloads.event(9, 700_000, b"SELECT id FROM kept", 0),
        workloads.event(9, 700_001, b"LOAD DATA INFILE 'x' INTO TABLE log"),
        workloads.event(9, 700_002, b"CREATE TEMPORARY TABLE mine SELECT id FROM words LIMIT 5"),
        workloads.event(9, 700_003, b"SELECT * FROM mine", 5),
        workloads.event(9, 700_004, b"SELECT id FROM words LIMIT 3", 2),
    ]
    with shop(server):
        path = workloads.write(tmp_path / "w", recorded)
        variants = [
            Variant("fixed", statements=("ALTER TABLE shop.words ROW_FORMAT=FIXED",)),
            Variant("small", settings=(Setting("key_buffer_size", "1M"),)),
            Variant("no such table", statements=("ALTER TABLE shop.nothing PACK_KEYS=1",)),
        ]
        with material(server, path, knows_moments=knows_moments) as about:

            def work() -> object:
                found = run_replay(about, variants, ReplayOptions(maximum_rounds=4), Listener())
                return asdict(found), orders, sizes

            document, after_runs, seen = by_somebody_else(work)
    result = made(ReplayResult, document)
    fidelity = result.fidelity
    assert fidelity.sent == fidelity.statements - 2
    assert any("InnoDB" in reason for reason in fidelity.left_out)
    assert fidelity.left_out["LOAD DATA"] == 1
    assert fidelity.rows_equal >= 0.999 * (fidelity.rows_equal + fidelity.rows_differ)
    assert [(one.error, one.rows_recorded, one.rows_returned) for one in fidelity.differences] == [(0, 2, 3)]
    assert fidelity.lost_turns == 0
    told = {one.name: one for one in result.variants}
    assert "nothing" in told["no such table"].problem
    assert told["no such table"].times is None
    assert told["fixed"].measured
    assert told["small"].measured
    assert seen.count(1 << 20) >= 4
    assert len(set(seen)) == 2
    serial = [[place] for place in range(CONNECTIONS * ROUNDS)]
    written = [order for order in after_runs if order]
    assert len(written) >= 6
    assert all(order == serial for order in written)
    assert "word" not in json.dumps([kind.fingerprint for kind in result.kinds]).replace("words", "")


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """A few statements on both tables, recorded before anything of them was written."""
    return workloads.write(tmp_path / "w", workloads.shop(2, 20, ROWS), began=int(time.time() * 1e6))


def on(server: PrivateServer, path: Path, *words: object) -> tuple[object, ...]:
    return ("replay", "--workload", path, "-S", server.socket, "-u", "root", "--interval", "0", *words)


def test_the_command_tells_its_result_and_leaves_nothing(mariadb: PrivateServer, temporary: Path, workload: Path) -> None:
    with shop(mariadb):
        document = measured(temporary, *on(mariadb, workload, "--set", "key_buffer_size=1M", "--rounds", "4"))
        jsonschema.validate(document, json.loads((ROOT / "docs" / "reference" / "replay.schema.json").read_text()))
        status, text, errors = trial(temporary, *on(mariadb, workload, "--set", "key_buffer_size=1M", "--rounds", "1", "--speed", "1"))
    assert (status, warned(errors)) == (0, [])
    assert re.search(r"runs of .* s, 1 of each of 2 variants: about .* s \(--budget ends them earlier\)\n", errors)
    assert document["variants"][0]["statements"] == ["key_buffer_size=1M"]
    assert document["fidelity"]["rows_equal"] == document["fidelity"]["sent"] == 80
    assert "ms: half" in text
    assert "what" in text
    assert "\\\\" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "key_bufer_size=1M"), r"no variable key_bufer_size\. Did you mean key_buffer_size"),
        (("--set", "key_buffer_size"), "write NAME=VALUE"),
        (("--set", "key_buffer_size=many"), r"nothing can be tried.*key_buffer_size=many: .*\(error 1232\)"),
        (("--sql", "ALTER TABLE shop.none PACK_KEYS=0"), r"nothing can be tried.*shop\.none"),
        (("--sql", "ALTER TABLE shop.words ENGINE=InnoDB"), "nothing can be tried.*no MyISAM table any more"),
        (("--table", "shop.wordz", "--set", "key_buffer_size=1M"), r"--table shop\.wordz.*shop\.words"),
        (("no-such-rule",), "no-such-rule"),
        (("--set", "key_buffer_size=1M", "--copy-limit", "1k"), "--copy-limit"),
    ],
)
def test_what_cannot_be_tried_is_said_with_its_remedy(
    mariadb: PrivateServer, temporary: Path, workload: Path, words: tuple[str, ...], message: str
) -> None:
    with shop(mariadb):
        fails(temporary, message, *on(mariadb, workload, *words))


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("max_statement_time=0.0005", r"error 1969|^$"),
        # Under it not even our own statements between the runs are done, and MariaDB 10.11 may die of one, be it the one that asks what was set.
        ("max_session_mem_used=8192", r"error 1290|answered otherwise|the private server died (under it|when it was set)"),
    ],
)
def test_a_limit_that_ends_statements_is_its_own_problem_and_the_others_are_tried(
    mariadb: PrivateServer, temporary: Path, workload: Path, setting: str, problem: str
) -> None:
    with shop(mariadb):
        words = ("--set", setting, "--set", "key_buffer_size=1M", "--rounds", "4")
        document = measured(temporary, *on(mariadb, workload, *words))
    limited, other = document["variants"]
    assert re.search(problem, limited["problem"]), limited
    assert (other["problem"], other["measured"]["rounds"] > 0) == ("", True)
    assert document["fidelity"]["rows_equal"] == document["fidelity"]["sent"]


def test_room_for_more_files_than_were_asked_for_is_what_was_asked_for(mariadb: PrivateServer) -> None:
    """A larger table cache comes with room for its files, and a private server has connections to which it gives more."""
    present = int(str(mariadb.execute("SELECT @@open_files_limit")[0][0]))
    expect_taken(mariadb, Setting("open_files_limit", str(present // 2)))
    with pytest.raises(RefusedError, match=f"it makes {present} of it"):
        expect_taken(mariadb, Setting("open_files_limit", str(2 * present)))
    cache = int(str(mariadb.execute("SELECT @@table_open_cache")[0][0]))
    with pytest.raises(RefusedError, match=f"it makes {cache} of it"):
        expect_taken(mariadb, Setting("table_open_cache", str(cache // 2)))


def test_another_release_than_the_tables_is_refused(mariadb: PrivateServer, temporary: Path, workload: Path) -> None:
    other = binaries_of("mysql-9.7").mysqld
    with shop(mariadb):
        words = ("--set", "key_buffer_size=1M", "--server", other)
        fails(temporary, "mysql-9.7, and the tables are of mariadb-10.11", *on(mariadb, workload, *words))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (b"SELECT id FROM kept", "no MyISAM table.*InnoDB table"),
        (b"SELECT id FROM gone", "no MyISAM table.*no such table"),
        (b"SELECT 1", "names? no table"),
        (b"LOAD DATA INFILE 'x' INTO TABLE words", "no MyISAM table"),
    ],
)
def test_a_workload_of_other_tables_is_refused(
    mariadb: PrivateServer, temporary: Path, tmp_path: Path, statement: bytes, message: str
) -> None:
    path = workloads.write(tmp_path / "w", [workloads.event(1, 0, statement)])
    with shop(mariadb):
        fails(temporary, message, *on(mariadb, path, "--set", "key_buffer_size=1M"))


def test_files_that_are_no_workload_are_refused_and_one_that_is_cut_off_is_used(
    mariadb: PrivateServer, temporary: Path, tmp_path: Path, workload: Path
) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(os.urandom(5000))
    cut = tmp_path / "cut"
    cut.write_bytes(workload.read_bytes()[:-60])
    with shop(mariadb):
        fails(temporary, "junk", *on(mariadb, junk, "--set", "key_buffer_size=1M"))
        fails(temporary, "No such file", *on(mariadb, tmp_path / "none", "--set", "key_buffer_size=1M"))
        document = measured(temporary, *on(mariadb, cut, "--set", "key_buffer_size=1M", "--rounds", "1"))
    assert "cut off" in document["workload"]["truncated"]
    assert 0 < document["fidelity"]["sent"] <= 80


def test_a_disk_that_is_too_small_is_found_before_anything_is_copied(
    mariadb: PrivateServer, temporary: Path, workload: Path
) -> None:
    with shop(mariadb), small_disk(temporary / "disk", 100 << 10) as disk:
        disk.chmod(0o755)
        environment_words = on(mariadb, workload, "--set", "key_buffer_size=1M")
        fails(disk, "has .* free, and the trial needs", *environment_words)


def test_nothing_is_left_of_one_that_is_killed(mariadb: PrivateServer, temporary: Path, workload: Path) -> None:
    with shop(mariadb):
        running = begin(temporary, *on(mariadb, workload, "--set", "key_buffer_size=1M", "--budget", "60s"))
        assert wait_for(lambda: any("sysbench" in line for line in processes(temporary)), 120)
        running.send_signal(signal.SIGKILL)
        running.communicate()
    # The fixture finds nothing left.
    assert wait_for(lambda: not processes(temporary), 60)


def test_a_change_that_breaks_statements_is_not_called_fast(mariadb: PrivateServer, temporary: Path, workload: Path) -> None:
    with shop(mariadb):
        words = ("--sql", "ALTER TABLE shop.words CHANGE name other VARCHAR(40) NOT NULL", "--set", "key_buffer_size=2M", "--rounds", "1")
        document = measured(temporary, *on(mariadb, workload, *words))
    broken = next(one for one in document["variants"] if one["statements"][0].startswith("ALTER"))
    assert broken["times"] is None
    assert broken["verdict"] == ""
    assert "fails with error 1054" in broken["problem"]
    assert broken["name"] not in {one["name"] for kind in document["kinds"] for one in kind["variants"]}


def test_named_key_caches_of_the_watched_server_are_told_of(mariadb: PrivateServer, temporary: Path, workload: Path) -> None:
    with shop(mariadb):
        mariadb.execute("SET GLOBAL hot.key_buffer_size = 1048576")
        try:
            document = measured(temporary, *on(mariadb, workload, "--set", "key_buffer_size=1M", "--rounds", "1"))
        finally:
            mariadb.execute("SET GLOBAL hot.key_buffer_size = 0")
    assert any(note.startswith("The watched server has key caches with names (hot)") for note in document["fidelity"]["notes"])


def test_whole_seconds_are_told_of(mariadb: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    path = tmp_path / "w"
    with WorkloadWriter(path, Header("slow_log", "10.11.6", "mariadb", int(time.time() * 1e6), 1_000_000)) as writer:
        for one in workloads.shop(2, 20, ROWS):
            writer.write(one)
    with shop(mariadb):
        document = measured(temporary, *on(mariadb, path, "--set", "concurrent_insert=2", "--rounds", "1"))
    assert ONE_BY_ONE in document["fidelity"]["notes"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_somebody_who_may_not_read_the_database_is_told_who_may(mariadb: PrivateServer, workload: Path) -> None:
    lesser = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups"]
    if subprocess.run([*lesser, str(PROGRAM), "--version"], capture_output=True, check=False).returncode:
        pytest.skip("this checkout, or its Python, is closed to other users")
    workload.chmod(0o644)
    with shop(mariadb), by_anybody() as folder:
        shutil.copy(workload, folder / "w")
        (folder / "w").chmod(0o644)
        # Whose directory it is may be known to everybody; what is in this database not.
        (mariadb.data_directory / str(mariadb.execute("SELECT @@pid_file")[0][0])).chmod(0o644)
        (mariadb.data_directory / "shop").chmod(0o700)
        words = [*lesser, str(PROGRAM), "trial", *map(str, on(mariadb, folder / "w", "--set", "key_buffer_size=1M"))]
        done = subprocess.run(words, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(folder)}, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "run as root or as the server's user" in done.stderr
    assert "Record where" not in done.stderr


@on_one_server
def test_connections_that_were_there_at_once_are_all_taken(server: PrivateServer) -> None:
    # Far more than a server takes unless it is told to, and than there are threads; each goes on behind all others.
    many = 700
    events = [workloads.event(number + 1, 1000 * turn + number, b"SELECT name FROM words WHERE id = %d" % (number + 1), 1) for turn in range(3) for number in range(many)]
    judging = Judging()
    with shop(server), by_anybody() as folder, ExitStack() as after:
        before = server.execute("SELECT @@GLOBAL.max_connections")[0][0]
        after.callback(server.execute, f"SET GLOBAL max_connections = {before}")
        server.execute("SET GLOBAL max_connections = 151")
        schedule = write_schedule(events, survey(events, judging), judging, folder / "a", frozenset({"shop"}), lambda _: "")
        assert schedule.at_once == many
        sent = send(server, schedule, MAXIMUM_SPEED, 60, account="root")
        answers = [answer for thread in range(len(schedule.plans)) for answer in sent.answers(thread)]
    assert [(answer.error, answer.rows) for answer in answers] == [(0, 1)] * (3 * many)
