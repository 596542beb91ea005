"""A real trial on a copy is kept, and the next check, the plan and the daemon's page reckon with it."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.proofs.proof import NO_DIFFERENCE, WORSE, WORTH_IT, Proof
from myisam_advisor.proofs.store import ProofStore
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import serving, wait_for
from tests.support.program import PROGRAM
from tests.support.servers import working

from .conftest import schema

RULE = "fixed-row-format"
OBJECT = "shop.`a b`"
NOBODY = 65534
TRIAL_SECONDS = 600  # beside other tests
TABLE = "CREATE TABLE shop.`a b` (id INT NOT NULL, a VARCHAR(40) NOT NULL, b VARCHAR(56) NOT NULL) ENGINE=MyISAM ROW_FORMAT=DYNAMIC CHARACTER SET latin1"
ROWS = "INSERT INTO shop.`a b` SELECT seq, REPEAT('a', 34 + seq % 6), REPEAT('b', 48 + seq % 8) FROM shop.seq_1_to_60000"
SCAN = "SELECT COUNT(*) FROM `a b` WHERE CONCAT(b, '') = 'no such value'"


@pytest.fixture
def state() -> Iterator[Path]:
    """A state directory of a service's user's, which root's commands keep their proofs in."""
    folder = Path(tempfile.mkdtemp(prefix="proofs-", dir="/tmp"))
    folder.chmod(0o755)
    directory = folder / "state"
    directory.mkdir(0o750)
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
    yield directory
    shutil.rmtree(folder)


@pytest.fixture
def shop(mariadb: PrivateServer) -> Iterator[PrivateServer]:
    with schema(mariadb, "shop"):
        mariadb.execute(TABLE, ROWS, "SET GLOBAL userstat = ON")  # which table is read
        yield mariadb
        mariadb.execute("SET GLOBAL userstat = OFF")


def program(state: Path, server: PrivateServer, *words: object, temporary: Path = Path("/tmp")) -> subprocess.CompletedProcess[str]:
    command = [str(PROGRAM), *map(str, words), "--socket", str(server.socket), "--user", "root"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "STATE_DIRECTORY": str(state), "TMPDIR": str(temporary)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=TRIAL_SECONDS, check=False)


def tried(state: Path, server: PrivateServer, *words: object) -> subprocess.CompletedProcess[str]:
    """A trial, once no other one runs on this machine."""
    done: list[subprocess.CompletedProcess[str]] = []

    def was_alone() -> bool:
        done.append(program(state, server, "trial", "row-format", "--table", OBJECT, *words))
        return "another trial is running" not in done[-1].stderr

    assert wait_for(was_alone, TRIAL_SECONDS, 2), done[-1].stderr
    assert done[-1].returncode == 0, done[-1].stderr
    return done[-1]


def checked(state: Path, server: PrivateServer) -> dict[str, Any]:
    with working(server, "shop", [SCAN]):
        done = program(state, server, "check", "--interval", "2s", "--format", "json", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def finding(document: dict[str, Any]) -> dict[str, Any]:
    return next(one for one in document["findings"] if (one["rule"], one["object"]) == (RULE, OBJECT))


def decided(state: Path, proof: Proof, times: float, verdict: str) -> None:
    """The same proof with another end: what a machine under load measures is no test's to choose."""
    kinds = tuple(replace(one, times=times, low=times * 0.97, high=times * 1.03, verdict=verdict) for one in proof.kinds)
    ProofStore(state / "proofs").keep(replace(proof, times=times, low=times * 0.97, high=times * 1.03, verdict=verdict, kinds=kinds))


def test_a_trial_is_kept_and_decides_what_is_said_next(shop: PrivateServer, state: Path) -> None:
    before = finding(checked(state, shop))
    assert before["commands"] == [f"myisam-advisor trial row-format --table '{OBJECT}'"]
    assert before["proof"] is None
    measured = tried(state, shop, "--seconds", "0.3", "--rounds", "4")
    (proof,) = ProofStore(state / "proofs").current().proofs
    path = state / "proofs" / f"{proof.id}.json"
    assert f"Kept as proof {proof.id} for {RULE}: " in measured.stdout
    assert f"{path}\n" in measured.stdout
    # Piped, it says what it does while it does it.
    assert re.search(r"\(round \d+\)", measured.stderr)
    assert path.stat().st_uid == (NOBODY if os.geteuid() == 0 else os.geteuid())
    assert (proof.rule_id, proof.objects, proof.experiment) == (RULE, (OBJECT,), "row-format")
    assert "full scan" in {one.fingerprint for one in proof.kinds}
    sizes = program(state, shop, "query", "SELECT data_bytes + index_bytes FROM tables WHERE table_name = 'a b'", "--format", "csv")
    assert proof.workload.tables == {OBJECT: int(sizes.stdout.split()[-1])}

    decided(state, proof, 1.9, WORTH_IT)
    proved = finding(checked(state, shop))
    assert proved["proved"].startswith("Proved here on ")
    assert "trial row-format on shop.`a b`, MariaDB" in proved["proved"]
    assert proved["commands"] == ["ALTER TABLE `shop`.`a b` ROW_FORMAT=FIXED;"]
    assert (proved["confidence"], proved["measured"], proved["proof"]["used"]) == ("confirmed", "", True)
    with working(shop, "shop", [SCAN]), serving("--socket", shop.socket, "--user", "root", environment={"STATE_DIRECTORY": str(state)}) as daemon:
        assert wait_for(lambda: "Proved here on " in daemon.get("/").text, 60)
        # What is kept while it runs it finds at its next look.
        decided(state, proof, 0.7, WORSE)
        assert wait_for(lambda: "Do not make this change" in daemon.get("/").text, 60)
        assert "ROW_FORMAT=FIXED;" not in daemon.get("/").text

    decided(state, proof, 1.0, NO_DIFFERENCE)
    silent = checked(state, shop)
    assert RULE not in {one["rule"] for one in silent["findings"]}
    assert any(one["rule"] == RULE and "no difference that pays" in one["why"] for one in silent["dropped"])

    listed = program(state, shop, "proofs")
    assert listed.returncode == 0, listed.stderr
    assert f"{RULE}: no difference, 1.0 times, 0.97 to 1.03" in listed.stdout
    assert "holds: the finding is dropped" in listed.stdout
    shop.execute(f"ALTER TABLE {OBJECT} ADD INDEX added (id)", "FLUSH TABLES")
    altered = program(state, shop, "proofs")
    assert f"not used any more: {OBJECT} had other columns, indexes or another row format then" in altered.stdout
    assert finding(checked(state, shop))["proof"]["used"] is False
    shop.execute(f"ALTER TABLE {OBJECT} DROP INDEX added", "FLUSH TABLES")
    assert RULE not in {one["rule"] for one in checked(state, shop)["findings"]}

    forgotten = program(state, shop, "proofs", "--forget", proof.id)
    assert (forgotten.returncode, forgotten.stdout) == (0, f"forgotten: {proof.id} in {state}/proofs\n")
    assert finding(checked(state, shop))["proof"] is None


def test_what_is_not_to_be_kept_or_cannot_be_stops_no_trial(shop: PrivateServer, state: Path) -> None:
    words = ("--seconds", "0.02", "--rounds", "4", "--format", "json")
    left = json.loads(tried(state, shop, *words, "--no-keep").stdout)
    assert (left["kept"], left["not_kept"]) == ([], None)
    (state / "proofs").write_text("no directory")
    done = tried(state, shop, *words)
    assert "proofs is not a directory" in json.loads(done.stdout)["not_kept"]
