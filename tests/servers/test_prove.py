"""`prove` from beginning to end: recorded, replayed, kept; nothing is left, and every setting is what it was."""

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.proofs.proof import NO_DIFFERENCE, WORSE, WORTH_IT, Proof
from myisam_advisor.proofs.store import ProofStore
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support import workloads
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of, meanwhile, working

from .test_daemon_faults import small_disk
from .test_proofs import OBJECT, SCAN, TRIAL_SECONDS, checked, finding, program, shop, state
from .test_proofs import RULE as FIXED
from .test_record import HISTORY, leftovers, settings
from .trials import processes, temporary, without_sysbench

__all__ = ["shop", "state", "temporary", "without_sysbench"]  # fixtures that tests of proofs and trials share
RULE = "key-buffer-too-small"
# Two searchers make more statements a second on a quiet machine than a recording takes unasked.
SURE = ("--yes", "--maximum-rate", "1000000")
DOUBLINGS = 16
POOLED = 1_000_000_000  # statements of a connection that never ends


def searching(server: PrivateServer, for_each: int = 50) -> AbstractContextManager[None]:
    """Look-ups all over an index that the key buffer does not hold, so many for each connection: of those that come and go all are recorded."""

    def run(ended: threading.Event) -> None:
        draw = random.Random(1)
        while not ended.is_set():
            with server.session("shop") as connection, closing(connection.cursor()) as cursor:
                for _ in takewhile(lambda _: not ended.is_set(), range(for_each)):
                    low = draw.randrange(0xFF00)
                    cursor.execute(f"SELECT COUNT(*) FROM words WHERE w BETWEEN '{low:04x}' AND '{low + 30:04x}'")
                    cursor.fetchall()

    return meanwhile(run, run)


def searching_now_and_then(server: PrivateServer) -> AbstractContextManager[None]:
    """A connection anew for each look-up, some in a second: beside what pooled ones send these are few."""

    def run(ended: threading.Event) -> None:
        while not ended.wait(0.1):
            server.execute("SELECT COUNT(*) FROM words WHERE w BETWEEN '4000' AND '4010'", database="shop")

    return meanwhile(run)


def words(server: PrivateServer) -> None:
    """A table with an index that the key buffer does not hold."""
    server.execute(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, w VARCHAR(40) NOT NULL, KEY (w)) ENGINE=MyISAM",
        "INSERT INTO shop.words (w) VALUES (MD5(RAND()))",
        *["INSERT INTO shop.words (w) SELECT MD5(RAND()) FROM shop.words"] * DOUBLINGS,
    )


def test_a_finding_is_put_to_the_servers_own_statements(state: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        before = settings(server)
        with searching(server):
            done = program(state, server, "prove", RULE, "--seconds", "2s", *SURE, "--budget", "20s", "--interval", "3s", "--format", "json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert [variant["rules"] for variant in document["variants"]] == [[RULE]]
        assert document["fidelity"]["sent"] > 100
        assert document["fidelity"]["rows_equal"] == document["fidelity"]["sent"]
        assert [kind["fingerprint"] for kind in document["kinds"]][:1] == ["select count(*) from words where w between ? and ?"]
        # Busy processors give no interval, and no proof; then that is said.
        assert document["kept"] or document["not_kept"]
        assert settings(server) == before
        assert not list(server.data_directory.glob("myisam-advisor-*"))
    assert "MD5" not in done.stdout


@pytest.mark.parametrize("moment", ["recording", "replaying"])
def test_nothing_is_left_of_one_that_is_killed(state: Path, temporary: Path, moment: str) -> None:
    """By SIGKILL: the guardian gives the settings back, and a pipe's end removes the servers, their files and the statements."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        server.execute("SET GLOBAL long_query_time = 7.5")
        before = settings(server)
        seconds = "60s" if moment == "recording" else "2s"
        command = [PROGRAM, "prove", RULE, "--seconds", seconds, *SURE, "--budget", "120s", "--interval", "4s", "--socket", server.socket, "--user", "root"]
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "STATE_DIRECTORY": str(state), "TMPDIR": str(temporary)}
        with searching(server):
            running = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                if moment == "recording":
                    begun = wait_for(lambda: settings(server) != before and bool(leftovers(server)), 120)
                else:
                    begun = wait_for(lambda: any("sysbench" in line for line in processes(temporary)), 240)
                left_files = list(temporary.iterdir())
            finally:
                running.send_signal(signal.SIGKILL)
                errors = running.communicate()[1]
            assert begun, errors
            assert left_files, "there was nothing to leave behind"
            assert wait_for(lambda: settings(server) == before and not leftovers(server), 60)
            assert wait_for(lambda: not processes(temporary) and not list(temporary.iterdir()), 60), processes(temporary)
        assert not list(state.rglob("*.json"))


def test_what_pooled_connections_send_is_not_in_a_slow_log_and_what_little_there_is_proves_nothing(state: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        with searching(server, for_each=POOLED), searching_now_and_then(server):
            done = program(state, server, "prove", RULE, "--seconds", "3s", *SURE, "--budget", "10s", "--interval", "3s")
        assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert re.search(r"Not kept: the recording has a part of the statements: [\d,]+ of [\d,]+ statements that the server counted: ", said), said
    assert re.search(r"Known of it: connections: \d+ were there before, .* partly: ", said), said
    # What it said beforehand that it would tell.
    assert re.search(r"^Counted: the server counted .* meanwhile\.$", done.stderr, re.MULTILINE), done.stderr
    assert not list(state.rglob("*.json"))


def test_without_anything_to_try_nothing_is_recorded(mariadb: PrivateServer, state: Path) -> None:
    before = mariadb.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'")
    done = program(state, mariadb, "prove", "--seconds", "2s", "--yes", "--interval", "1s")
    assert done.returncode == 2
    assert "nothing was found whose remedy makes statements faster" in done.stderr
    assert "record your statements (myisam-advisor record --output FILE --seconds 60), and name a change (myisam-advisor trial replay --workload FILE" in done.stderr
    assert mariadb.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'") == before


@pytest.mark.parametrize(("mebibytes", "words_more", "needed"), [(4, (), "600"), (400, (), "600"), (680, ("--table", "shop.words"), r"6[1-4]\d")])
def test_a_disk_without_room_for_a_trial_is_told_before_anything_is_recorded(state: Path, temporary: Path, mebibytes: int, words_more: tuple[str, ...], needed: str) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server, small_disk(temporary / "disk", mebibytes << 10) as disk:
        words(server)
        disk.chmod(0o1777)
        server.execute("SET GLOBAL log_output = 'FILE'", "FLUSH STATUS")
        with searching(server):
            done = program(state, server, "prove", RULE, "--seconds", "2s", *SURE, "--interval", "2s", *words_more, temporary=disk)
        slow = server.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'")
    assert done.returncode == 2
    assert re.search(rf"{disk} has .* free, and the trial needs about {needed} MiB: make room, choose another TMPDIR, or smaller tables\.\n$", done.stderr), done.stderr
    assert "--output" not in done.stderr
    assert slow == [("Slow_queries", "0")]


@pytest.mark.parametrize(("words_more", "said"), [(("--table", "shop.wrods"), "--table shop.wrods: "), (("--table", "shop.words", "--copy-limit", "1K"), "--copy-limit is 1")])
def test_a_named_table_that_cannot_be_copied_is_told_before_anything_is_looked_for_or_recorded(state: Path, words_more: tuple[str, ...], said: str) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        done = program(state, server, "prove", RULE, "--seconds", "2s", *SURE, "--interval", "2s", *words_more)
    assert done.returncode == 2
    # Even before it looks, which finds nothing here.
    assert said in done.stderr


def test_a_path_too_long_for_sockets_is_told_before_anything_is_looked_for_or_recorded(mariadb: PrivateServer, state: Path, temporary: Path) -> None:
    deep = temporary / ("d" * 90)
    deep.mkdir()
    done = program(state, mariadb, "prove", RULE, "--seconds", "2s", *SURE, "--interval", "2s", temporary=deep)
    assert done.returncode == 2
    # Even before it looks, which finds nothing here.
    assert re.fullmatch(r"myisam-advisor: the socket path \S+/myisam-xxxxxxxx/s0/s is longer than 107 bytes: choose a shorter TMPDIR\n", done.stderr), done.stderr
    deep.rmdir()


def test_a_table_too_large_to_be_copied_is_told_before_anything_is_recorded_for_its_change(shop: PrivateServer, state: Path) -> None:
    shop.execute("SET GLOBAL log_output = 'FILE'", "FLUSH STATUS")
    with working(shop, "shop", [SCAN]):
        done = program(state, shop, "prove", FIXED, "--seconds", "2s", *SURE, "--interval", "2s", "--copy-limit", "1K")
    assert done.returncode == 2
    assert re.search(rf"{FIXED}: nothing of its change can be tried .*: shop\.`a b`: .* to copy, and --copy-limit is 1", done.stderr), done.stderr
    assert shop.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'") == [("Slow_queries", "0")]


def test_without_sysbench_nothing_is_recorded(state: Path, without_sysbench: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", without_sysbench)
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        with searching(server):
            done = program(state, server, "prove", RULE, "--seconds", "2s", *SURE, "--budget", "5s", "--interval", "3s")
        assert (done.returncode, done.stderr) == (2, "myisam-advisor: sysbench is not installed: apt install sysbench.\n")


def test_what_the_server_keeps_by_itself_is_recorded_without_a_question(state: Path) -> None:
    """By `--from`: nothing of the server is changed, and so nobody is asked."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K", *HISTORY]) as server:
        words(server)
        before = settings(server)
        with searching(server):
            done = program(
                state, server, "prove", RULE, "--from", "performance-schema", "--seconds", "3s", "--budget", "10s", "--interval", "3s", "--format", "json"
            )
        assert done.returncode == 0, done.stderr
        assert settings(server) == before
    document = json.loads(done.stdout)
    assert document["workload"]["source"] == "performance_schema"
    assert document["variants"][0]["rules"] == [RULE]


def replayed(state: Path, server: PrivateServer, workload: Path, *words: object) -> dict[str, Any]:
    """A replay of this rule's change, once no other trial runs on this machine."""
    done: list[subprocess.CompletedProcess[str]] = []

    def was_alone() -> bool:
        with working(server, "shop", [SCAN]):
            done.append(program(state, server, "trial", "replay", FIXED, "--workload", workload, "--interval", "2s", "--format", "json", *words))
        return "another trial is running" not in done[-1].stderr

    assert wait_for(was_alone, TRIAL_SECONDS, 2), done[-1].stderr
    assert done[-1].returncode == 0, done[-1].stderr
    document: dict[str, Any] = json.loads(done[-1].stdout)
    return document


def scans(path: Path, days: float = 0) -> Path:
    events = [workloads.event(1, number * 100_000, SCAN.encode(), 1, duration=20_000) for number in range(12)]
    return workloads.write(path, events, began=int((time.time() - days * 86_400) * 1e6))


def decided(state: Path, proof: Proof, times: float, verdict: str) -> None:
    """The same proof with another end: what a machine under load measures is no test's to choose."""
    ProofStore(state / "proofs").keep(replace(proof, times=times, low=times * 0.97, high=times * 1.03, verdict=verdict, kinds=()))


def test_a_change_that_wants_a_proof_is_tried_whatever_was_proved_before(shop: PrivateServer, state: Path, tmp_path: Path) -> None:
    workload = scans(tmp_path / "w")
    change = "ALTER TABLE `shop`.`a b` ROW_FORMAT=FIXED"
    document = replayed(state, shop, workload, "--rounds", "6")
    assert [(one["rules"], one["statements"], one["problem"]) for one in document["variants"]] == [([FIXED], [change], "")]
    assert document["workload"]["began_at"].startswith("20")
    (proof,) = ProofStore(state / "proofs").current().proofs
    assert (proof.rule_id, proof.experiment, proof.change, proof.objects) == (FIXED, "replay", (change,), (OBJECT,))
    assert proof.recorded_at is not None

    decided(state, proof, 1.9, WORTH_IT)
    proved = finding(checked(state, shop))
    assert "a replay of recorded statements on shop.`a b`" in proved["proved"]
    assert proved["commands"] == [f"{change};"]
    for times, verdict in ((0.7, WORSE), (1.0, NO_DIFFERENCE)):
        decided(state, proof, times, verdict)
        again = replayed(state, shop, workload, "--rounds", "1", "--no-keep")
        assert [(one["rules"], one["statements"]) for one in again["variants"]] == [([FIXED], [change])]


def test_an_old_recording_is_replayed_and_proves_nothing(shop: PrivateServer, state: Path, tmp_path: Path) -> None:
    document = replayed(state, shop, scans(tmp_path / "w", days=100), "--rounds", "6")
    assert document["variants"][0]["times"] is not None
    assert document["kept"] == []
    assert document["not_kept"].startswith("the recording is 100 days old")
