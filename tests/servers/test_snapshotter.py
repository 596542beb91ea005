"""`myisam-snapshot` beside `myisam-advisor snapshot`: each table and each column of what both say of the same servers, under old and new Pythons."""

import json
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.factbase.document import as_document
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.lying_server import HostileServer
from tests.support.old_pythons import oldest_and_newest, python, snapshotter
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, meanwhile

from .clients import client
from .conftest import OTHER_UID, as_other_user, look, on_one_server, schema

HOSTILE = ("a/b", "it's", 'a "b"', "back\\slash", "tab\there", "two\nlines", "`", "<&>", "NULL", "grün", "x" * 64)
CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
KEYS = ("schema_name", "table_name", "index_number", "name", "channel")
# Nothing may change these between two looks at a server that nobody uses; of the rest both must know the same columns.
STATES = frozenset({"variable", "indexes", "totals"})
CHANGING = frozenset({"data_modified_seconds_ago"})
# Known by what happened to happen in the interval, or of who was connected at that instant.
BY_CHANCE = frozenset({
    "mysqld.page_cache_hit_ratio", "mysqld.page_cache_method", "key_cache.miss_ratio", "host.disk_queue_length", "tables.rows_per_write_statement", "server.uptime_seconds",
})  # fmt: skip
NOT_COMPARED = frozenset({"processlist", "time", "tool", "interval_seconds"})
Document = Mapping[str, Any]


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.fixture(scope="module")
def shop(server: PrivateServer) -> Iterator[PrivateServer]:
    """A server with tables of every kind of name, one partitioned, one fixed, one with a fulltext index."""
    with schema(server, "s/h-ö p") as name:
        for table in HOSTILE:
            server.execute(f"CREATE TABLE {quoted(table)} (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), KEY {quoted(table[:60] + '_')} (v)) ENGINE=MyISAM", database=name)
            server.execute(f"INSERT INTO {quoted(table)} (v) VALUES ('a'), (NULL), ('NULL')", database=name)
        server.execute("CREATE TABLE fixed (a INT, b CHAR(9), UNIQUE KEY (a)) ENGINE=MyISAM DELAY_KEY_WRITE=1", "CREATE TABLE words (t TEXT, FULLTEXT KEY (t)) ENGINE=MyISAM", database=name)
        if "9.7" not in server.binaries.name:
            server.execute("CREATE TABLE parted (a INT, KEY (a)) ENGINE=MyISAM PARTITION BY HASH (a) PARTITIONS 3", database=name)
        server.execute("FLUSH TABLES")
        yield server


def taken(server: PrivateServer, version: str, *words: str, **further: Any) -> subprocess.CompletedProcess[str]:
    command = [python(version), "-W", "error", snapshotter(), "-S", str(server.socket), "-u", "root", *words]
    return subprocess.run(command, env=CLEAN, cwd="/", capture_output=True, text=True, timeout=120, check=False, **further)


def document_of(told: subprocess.CompletedProcess[str]) -> Document:
    assert told.returncode == 0, told.stderr
    found: Document = json.loads(told.stdout)
    return found


def rows_of(document: Document, table: str) -> dict[tuple[object, ...], Mapping[str, object]]:
    content = document[table]
    if isinstance(content, dict):
        return {(): content}
    return {tuple(row.get(key) for key in KEYS): row for row in content}


def differences(ours: Document, theirs: Document) -> list[str]:
    """What one of the two says and the other does not, or says otherwise."""
    found = [f"only one has {table}" for table in sorted(ours.keys() ^ theirs.keys())]
    for table in sorted((ours.keys() & theirs.keys()) - NOT_COMPARED):
        if not isinstance(ours[table], dict | list):
            found += [] if ours[table] == theirs[table] else [f"{table}: {ours[table]} and {theirs[table]}"]
            continue
        mine, other = rows_of(ours, table), rows_of(theirs, table)
        found += [f"{table}: only one has {key}" for key in mine.keys() ^ other.keys()]
        for key in mine.keys() & other.keys():
            found += [f"{table} {key}: {text}" for text in _of_rows(table, mine[key], other[key])]
    return found


def _of_rows(table: str, ours: Mapping[str, object], theirs: Mapping[str, object]) -> Iterator[str]:
    for column in sorted(ours.keys() | theirs.keys()):
        # InnoDB works on by itself after its start: what it says may go up, down, or to another word at any moment.
        if f"{table}.{column}" in BY_CHANCE or (table.startswith("status") and column.startswith("Innodb_")):
            continue
        mine, other = ours.get(column, "absent"), theirs.get(column, "absent")
        are_numbers = all(isinstance(value, int | float) for value in (mine, other))
        is_state = table in STATES or (table == "tables" and not column.endswith(("_per_second", "_resident_bytes", "_evicted_bytes", "_dirty_bytes")) and column not in CHANGING)
        if mine != other and not (are_numbers and not is_state):
            yield f"{column} is {mine!r} and {other!r}"


@pytest.mark.parametrize("version", oldest_and_newest())
def test_both_say_the_same(shop: PrivateServer, version: str) -> None:
    ours = document_of(taken(shop, version, "--interval", "1"))
    theirs = json.loads(json.dumps(as_document(look(shop, 1.0))))
    assert {row["table_name"] for row in ours["tables"] if row["schema_name"] == "s/h-ö p"} >= {*HOSTILE, "fixed", "words"}
    assert differences(ours, theirs) == []
    assert ours["tool"]["name"] == "myisam-snapshot"
    assert ours["interval_seconds"] >= 1


def test_what_a_difference_is() -> None:
    row = {"schema_name": "s", "table_name": "t", "rows": 1, "data_resident_bytes": 5, "row_format": "fixed"}
    one, other = {"schema": 1, "tables": [row]}, {"schema": 1, "tables": [{**row, "data_resident_bytes": 9}]}
    assert differences(one, other) == []
    for changed in ({"rows": 2}, {"row_format": "dynamic"}, {"data_resident_bytes": None}, {"crashed": 0}, {"table_name": "u"}):
        assert differences(one, {"schema": 1, "tables": [{**row, **changed}]}) != []
    assert differences(one, {"schema": 1}) == ["only one has tables"]


@on_one_server
def test_rates_and_findings_of_the_file(shop: PrivateServer, tmp_path: Path) -> None:
    """Rates of a table that is written to, and what `check` finds in the file: both as of the program's own snapshot."""

    def write(stop: threading.Event) -> None:
        while not stop.is_set():
            shop.execute("INSERT INTO fixed (a, b) VALUES (NULL, 'x')", database="s/h-ö p")
            time.sleep(0.02)

    with meanwhile(write):
        ours = document_of(taken(shop, oldest_and_newest()[-1], "--interval", "2"))
        theirs = json.loads(json.dumps(as_document(look(shop, 2.0))))
    (mine,), (other,) = ([row for row in one["tables"] if row["table_name"] == "fixed"] for one in (ours, theirs))
    for column in ("write_statements_per_second", "rows_added_per_second"):
        assert (column in mine) == (column in other)
        assert mine.get(column, 1) > 0
    assert ours["status_per_second"]["Com_insert"] > 0
    found = []
    for number, document in enumerate((ours, theirs)):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(document))
        judged = run("check", "--facts", path, "--format", "json", "--fail-on", "never")
        assert judged.returncode == 0, judged.stderr
        found.append({(finding["rule"], finding["object"]) for finding in json.loads(judged.stdout)["findings"]})
    assert found[0] == found[1]


def test_no_table_is_opened(shop: PrivateServer) -> None:
    shop.execute("FLUSH TABLES")
    document_of(taken(shop, oldest_and_newest()[-1], "--interval", "0.2"))
    assert list(shop.execute("SHOW OPEN TABLES FROM `s/h-ö p`")) == []


@on_one_server
def test_names_are_replaced(shop: PrivateServer) -> None:
    told = taken(shop, oldest_and_newest()[-1], "--interval", "0", "--anonymise")
    document = document_of(told)
    assert len(document["tables"]) >= len(HOSTILE)
    names = {row["table_name"].split("#")[0].rstrip("0123456789") for row in document["tables"]}
    assert names == {"table"}
    assert str(shop.directory) not in told.stdout


def test_the_other_client_says_the_same(flavour: PrivateServer, tmp_path: Path) -> None:
    """MySQL's own client, whose words are not MariaDB's."""
    loader, *rest = client("mysql-client")
    options = [word for word in rest if word != "--no-defaults"]
    binary, plugins = options[-2:]
    script = tmp_path / "mysql"
    script.write_text(f'#!/bin/sh\nfile=$1; shift\nexec {loader} {" ".join(options[:-2])} {binary} "$file" {plugins} "$@"\n')
    script.chmod(0o755)
    version = oldest_and_newest()[-1]
    both = [document_of(taken(flavour, version, "--interval", "0", *words)) for words in ([], ["--client", str(script)])]
    assert differences(*both) == []


@pytest.mark.parametrize(("closed", "is_told"), [(">&-", False), ("2>&-", True), (">&- 2>&-", False), ("<&-", True)])
def test_closed_streams_are_no_error(mariadb: PrivateServer, closed: str, is_told: bool) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", python(oldest_and_newest()[0]), "-W", "error", snapshotter(), "-S", str(mariadb.socket), "-u", "root", "--interval", "0"]
    told = subprocess.run(command, env=CLEAN, cwd="/", capture_output=True, text=True, timeout=120, check=False)
    assert (told.returncode, bool(told.stdout)) == (0, is_told), told.stderr


def test_an_ordinary_user_writes_what_there_is_to_see(mariadb: PrivateServer) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    interpreter = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if interpreter is None:
        pytest.skip("no Python that another user may run")
    command = [interpreter, snapshotter(), "-S", str(mariadb.socket), "-u", "root", "--interval", "0"]
    told = subprocess.run(command, env=CLEAN, cwd="/", capture_output=True, text=True, timeout=120, check=False, user=OTHER_UID, group=OTHER_UID, extra_groups=[])
    ours = document_of(told)
    look(mariadb)  # imports everything: the tree may lie where only root can read
    with as_other_user():
        theirs = json.loads(json.dumps(as_document(look(mariadb))))
    assert ours["server"]["local"] == 0
    # The kernel tells the program's own connection who listens. Here the pid file does, which this user may not read; where there are
    # several servers of one owner, nobody can tell which of them it is.
    assert differences({**ours, "mysqld": {}}, {**theirs, "mysqld": {}}) == []
    assert "myisam-snapshot: not seen: " in told.stderr


def test_an_account_without_rights_is_told_of(mariadb: PrivateServer) -> None:
    mariadb.execute("CREATE USER lesser@localhost")
    try:
        told = taken(mariadb, oldest_and_newest()[-1], "--interval", "0", "-u", "lesser")
        refused = taken(mariadb, oldest_and_newest()[-1], "-u", "nobody_of_this_name")
    finally:
        mariadb.execute("DROP USER lesser@localhost")
    assert document_of(told)["totals"]["myisam_tables"] == 0
    assert "no PROCESS privilege" in told.stderr
    assert "GRANT PROCESS ON *.* TO 'lesser'@'localhost';" in told.stderr
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "refused the user 'nobody_of_this_name'" in refused.stderr


def test_a_password_is_typed_or_in_an_option_file(mariadb: PrivateServer, tmp_path: Path) -> None:
    password = "p\"a's#s\\ word;"
    literal = password.replace("\\", "\\\\").replace("'", "''")
    mariadb.execute(f"CREATE USER typed@localhost IDENTIFIED BY '{literal}'")
    file = tmp_path / "own.cnf"
    escaped = password.replace("\\", "\\\\").replace('"', '\\"')
    file.write_text(f'[client]\nuser=typed\npassword="{escaped}"\n[mysql]\ninit-command=KILL CONNECTION_ID()\ntee={tmp_path}/tee\npager=false\nsafe-updates\n')
    file.chmod(0o600)
    version = oldest_and_newest()[-1]
    words = [python(version), snapshotter(), "-S", str(mariadb.socket), "-u", "typed", "--interval", "0", "--output", str(tmp_path / "typed.json.gz"), "-p"]
    try:
        told = taken(mariadb, version, "--interval", "0", "-u", "typed", "--defaults-file", str(file))
        status, screen = typed(words, password)
        wrong, complaint = typed([*words[:-3], "-p"], "wrong")
    finally:
        mariadb.execute("DROP USER typed@localhost")
    assert document_of(told)["server"]["flavour"] == "mariadb"
    assert not (tmp_path / "tee").exists()
    assert (status, password.encode() in screen) == (0, False), screen
    assert (tmp_path / "typed.json.gz").stat().st_mode & 0o777 == 0o600
    assert run("check", "--facts", tmp_path / "typed.json.gz", "--fail-on", "never").returncode == 0
    assert wrong == 2
    assert b"from the terminal" in complaint


def typed(words: list[str], text: str) -> tuple[int, bytes]:
    """A program's status and all it shows on a terminal of its own, where this is typed when it asks."""
    process, terminal = pty.fork()
    if process == 0:
        os.execve(words[0], words, CLEAN)
    shown, has_typed = b"", False
    try:
        while part := os.read(terminal, 65536):
            shown += part
            if b"password: " in shown and not has_typed:
                os.write(terminal, f"{text}\n".encode())
                has_typed = True
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return status, shown


def test_a_server_that_hangs_or_is_not_there_ends_it_in_time(mariadb: PrivateServer) -> None:
    version = oldest_and_newest()[-1]
    absent = subprocess.run([python(version), snapshotter(), "-S", "/nonexistent/s"], env=CLEAN, capture_output=True, text=True, timeout=60, check=False)
    assert absent.returncode == 2
    assert "the socket /nonexistent/s does not exist" in absent.stderr
    process = int(Path(str(mariadb.execute("SELECT @@pid_file")[0][0])).read_text())
    os.kill(process, signal.SIGSTOP)
    started = time.monotonic()
    try:
        told = taken(mariadb, version, "--timeout", "1")
    finally:
        os.kill(process, signal.SIGCONT)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.count("\n") == 1
    assert time.monotonic() - started < 60


@contextmanager
def public_directory(mode: int) -> Iterator[Path]:
    """A directory of root's in which others may do what its mode says."""
    folder = Path(tempfile.mkdtemp(prefix="s-"))
    folder.chmod(mode)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def asked_with_password(socket: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "password.cnf"
    file.write_text("[client]\nuser=root\npassword=SECRET-of-root\n")
    file.chmod(0o600)
    command = [python(oldest_and_newest()[-1]), snapshotter(), "--defaults-file", str(file), "-S", str(socket), "--interval", "0"]
    return subprocess.run(command, env=CLEAN, cwd="/", capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_an_impostor_where_anybody_may_lay_a_socket_hears_nothing(tmp_path: Path, mode: int) -> None:
    """MariaDB's client would hand it the password as it is, if it asked for that: so it is not even started."""
    with public_directory(mode) as folder:
        with as_other_user():
            impostor = HostileServer(lambda client: client.log_in(), str(folder / "s"))
        with impostor:
            told = asked_with_password(folder / "s", tmp_path)
            assert (told.returncode, told.stdout) == (2, "")
            assert f"the socket {folder}/s belongs to the user with number {OTHER_UID}" in told.stderr
            assert "SECRET" not in told.stderr
            assert impostor.clients == []
            # The same socket, where its owner alone can lay one: whoever names it takes it as it is.
            own = folder / "own"
            own.mkdir()
            os.chown(own, OTHER_UID, OTHER_UID)
            (folder / "s").rename(own / "s")
            asked_with_password(own / "s", tmp_path)
            assert impostor.clients != []


def test_a_servers_own_user_takes_its_socket_from_a_public_directory() -> None:
    """Nobody else does, root neither: that it is this user's server, nothing shows before the login."""
    interpreter = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if interpreter is None:
        pytest.skip("no Python that another user may run")
    with public_directory(0o1777) as folder:
        running = CopiedServer(binaries_of("mariadb-10.11"))
        running.socket = folder / "s"
        with running:
            owner = (folder / "s").stat().st_uid
            if owner == 0:
                pytest.skip("needs root, to have the server run as another user")
            version = oldest_and_newest()[-1]
            refused = taken(running, version, "--interval", "0")
            assert refused.returncode == 2
            assert "run this as the user it runs as" in refused.stderr
            command = [interpreter, snapshotter(), "-S", str(running.socket), "-u", "root", "--interval", "0"]
            told = subprocess.run(command, env=CLEAN, cwd="/", capture_output=True, text=True, timeout=120, check=False, user=owner, group=owner, extra_groups=[])
            assert document_of(told)["server"]["flavour"] == "mariadb"
