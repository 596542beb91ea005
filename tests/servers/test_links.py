"""A running server with links, devices and forged files in its data directory: everything else is told as ever."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.schema_reader import YOUNG_SECONDS
from myisam_exporter.look.fact_set import FactSet
from tests.support.myi import of_length
from tests.support.program import run, run_process
from tests.support.servers import working

from .conftest import look, on_one_server, schema

pytestmark = on_one_server

SECRET_BYTES = 300_000
TABLE = "CREATE TABLE {} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM"


@contextmanager
def planted(path: Path, target: str | Path) -> Iterator[None]:
    """A link for a while."""
    path.symlink_to(target)
    try:
        yield
    finally:
        path.unlink()


def checked(server: PrivateServer) -> str:
    """What `check` says, on one line; it must not fail."""
    done = run_process("check", "--socket", server.socket, "--user", "root", "--interval", "0", "--verbose", timeout=20)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stdout.split())


def judged(server: PrivateServer) -> Judgement:
    return judge(prepared(look(server, 1.0), Site(shipped_rules())))


def rows(facts: FactSet) -> dict[object, dict[str, object]]:
    return {row["table_name"]: dict(row) for row in facts.tables["tables"].dictionaries()}


def test_a_link_to_itself_leaves_all_tables_known(server: PrivateServer) -> None:
    with schema(server, "linked"), planted(server.data_directory / "x", "x"), planted(server.data_directory / "linked" / "y.MYI", "y.MYI"):
        server.execute(TABLE.format("t"), "INSERT INTO t VALUES (1), (2)", database="linked")
        facts = look(server)
        assert rows(facts)["t"]["rows"] == 2
        assert facts.single("totals")["myisam_tables"] == 1
        assert any("linked.y (it is a symbolic link" in note.reason and "x (it is" in note.reason for note in facts.notes)
        assert "no-myisam" not in [finding.rule for finding in judged(server).findings]
        assert "is damaged" not in checked(server)


def test_another_users_file_behind_a_link_is_not_told(server: PrivateServer, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the server runs as we do: there is no file of another user's")
    secret = tmp_path / "secret"
    secret.write_bytes(b"x" * SECRET_BYTES)
    os.utime(secret, (1, 1))
    with schema(server, "linked") as name:
        server.execute(TABLE.format("t"), TABLE.format("u"), "INSERT INTO t VALUES (1)", "FLUSH TABLES", database=name)
        folder = server.data_directory / name
        (folder / "t.MYD").rename(folder / "t.kept")
        try:
            with planted(folder / "t.MYD", secret), planted(folder / "tty.MYI", "/dev/ptmx"), planted(folder / "leak.MYI", secret):
                facts = look(server)
        finally:
            (folder / "t.kept").rename(folder / "t.MYD")
        known = rows(facts)
        assert set(known) == {"t", "u"}
        assert known["t"]["data_resident_bytes"] is None
        assert known["t"]["data_modified_seconds_ago"] is None
        assert known["u"]["data_modified_seconds_ago"] is not None
        assert not any(row["crashed"] for row in known.values())
        assert any(f"{name}.leak (it belongs to another user" in note.reason for note in facts.notes)
        assert any(f"{name}.tty (it is not a regular file" in note.reason for note in facts.notes)


def test_a_table_that_may_not_be_followed_is_named_first_and_is_never_an_all_clear(server: PrivateServer, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the server runs as we do: there is no file of another user's")
    secret = tmp_path / "secret"
    secret.write_bytes(b"x" * SECRET_BYTES)
    with schema(server, "linked") as name:
        server.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", "FLUSH TABLES", database=name)
        with working(server, name, ["INSERT INTO t VALUES ()"]):
            assert [spot.what for spot in judged(server).blind] == []
            with planted(server.data_directory / name / "leak.MYI", secret):
                judgement = judged(server)
                done = run("check", "--socket", server.socket, "--user", "root", "--interval", "1s", "--format", "nagios")
                text = checked(server)
                written = tmp_path / "facts.json"
                written.write_text(run("snapshot", "--socket", server.socket, "--user", "root", "--interval", "1s").stdout)
        elsewhere = run("check", "--facts", written, "--format", "nagios").stdout
        assert "Not all tables could be seen when the facts were written" in elsewhere
        assert "blind=1;" in elsewhere
        (spot,) = judgement.blind
        assert spot.what == "tables"
        assert spot.sentence.startswith(f"Not all tables can be seen: {name}.leak (it belongs to another user")
        # The others were looked at by every rule.
        assert "table-crashed" in judgement.quiet
        assert judgement.count("critical") is None
        if judgement.worst is None:
            assert verdict_of(judgement, 1.0).tone == "unknown"
            assert done.returncode == 3
            assert done.stdout.startswith(f"MYISAM UNKNOWN - Not all tables can be seen: {name}.leak")
        assert "blind=1;" in done.stdout
        assert "1 MyISAM table seen, more are hidden" in text
        assert "Nothing to change" not in text


def test_tables_with_a_data_directory_of_their_own_are_whole(mariadb: PrivateServer) -> None:
    elsewhere = mariadb.directory / "links-elsewhere"
    elsewhere.mkdir()
    mariadb.give_away(elsewhere)
    with schema(mariadb, "placed") as name:
        place = f" DATA DIRECTORY='{elsewhere}' INDEX DIRECTORY='{elsewhere}'"
        mariadb.execute(TABLE.format("t") + place, "INSERT INTO t VALUES (1), (2), (3)", "FLUSH TABLES", database=name)
        assert (mariadb.data_directory / name / "t.MYD").is_symlink()
        facts = look(mariadb)
        assert rows(facts)["t"]["rows"] == 3
        assert rows(facts)["t"]["data_modified_seconds_ago"] is not None
        assert facts.single("totals")["myisam_tables"] == 1
        assert not [note for note in facts.notes if name in note.reason]


@pytest.mark.parametrize("odd", ["fifo", "endless"])
def test_an_auto_cnf_that_never_ends_holds_nothing_up(mariadb: PrivateServer, odd: str) -> None:
    path = mariadb.data_directory / "auto.cnf"
    if odd == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    try:
        began = time.monotonic()
        checked(mariadb)
        assert time.monotonic() - began < 10
        assert look(mariadb).single("server")["local"] == 1
    finally:
        path.unlink()


def test_headers_of_impossible_lengths_are_damaged_tables(mariadb: PrivateServer) -> None:
    with schema(mariadb, "forged") as name:
        mariadb.execute(TABLE.format("good"), "FLUSH TABLES", database=name)
        for table, data_bytes in (("one", 2**64 - 1), ("two", 2**64 - 1), ("three", 2**63 - 1), ("four", 2**63 - 1)):
            path = mariadb.data_directory / name / f"{table}.MYI"
            path.write_bytes(of_length(data_bytes))
            mariadb.give_away(path)
        time.sleep(YOUNG_SECONDS)
        text = checked(mariadb)
        assert "18446744073709551615 bytes, more than any file can have" in text
        assert look(mariadb).single("totals")["crashed_tables"] == 2
        for table in ("one", "two", "three", "four"):
            (mariadb.data_directory / name / f"{table}.MYI").unlink()
