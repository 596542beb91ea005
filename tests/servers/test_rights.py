"""What `rights` says on real servers: looking as another user, as whom a service would run; and the account that it makes."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.rights.drop_in import drop_in_text
from myisam_advisor.rights.looking import Identity, look_as
from myisam_advisor.rights.server_side import ask_server, make_account
from myisam_advisor.rights.sights import HIDDEN, SEEN, Sight, sights_of
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.errors import UserError
from myisam_exporter.server.session import Session
from tests.support.program import run
from tests.support.repository import ROOT
from tests.support.servers import CopiedServer, binaries_of

from .conftest import OTHER_UID, as_other_user, schema, target

FILES = {"headers", "page-cache", "io", "maps", "fd"}
USER = "rights-watcher"
READ_ANY_FILE, OWN_ANY_FILE, TRACE_ANY_PROCESS = "cap_dac_read_search", "cap_fowner", "cap_sys_ptrace"


@pytest.fixture(scope="module")
def closed(flavour: PrivateServer) -> Iterator[PrivateServer]:
    """A server with a table in a database that is closed to others."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    with schema(flavour, "closed_rights") as name:
        flavour.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", "FLUSH TABLES", database=name)
        yield flavour


def seen_by(server: PrivateServer, groups: tuple[int, ...], *capabilities: str) -> dict[str, Sight]:
    with as_other_user():
        if not os.access(ROOT / "advisor", os.R_OK | os.X_OK, effective_ids=True):
            pytest.skip("this checkout cannot be entered by another user, who is to run the program")
    identity = Identity(OTHER_UID, OTHER_UID, groups, capabilities)
    found = look_as(identity, [f"--socket={server.socket}", "--user=root"], None)
    assert "error" not in found, found
    return {sight.name: sight for sight in sights_of(found)}


def test_with_no_right_the_files_are_not_seen_and_the_server_is(closed: PrivateServer) -> None:
    sights = seen_by(closed, ())
    assert {name for name in FILES if sights[name].state == HIDDEN} == FILES
    assert sights["login"].state == sights["process"].state == SEEN
    assert all(sights[name].reason and "myisam-advisor rights" in sights[name].remedy for name in FILES)


def test_with_the_rights_of_the_drop_in_they_are(closed: PrivateServer) -> None:
    group = closed.data_directory.stat().st_gid
    sights = seen_by(closed, (group,), READ_ANY_FILE, OWN_ANY_FILE, TRACE_ANY_PROCESS)
    assert {name: sights[name].reason for name in FILES if sights[name].state != SEEN} == {}


def test_without_a_service_it_says_what_oneself_sees(closed: PrivateServer) -> None:
    words = ("rights", "--service", "myisam-advisor-that-is-not-here", "--socket", closed.socket, "--user", "root")
    whole = run(*words)
    assert "not seen" not in whole.stdout
    with as_other_user():
        less = run(*words)
        refused = run(*words, "--apply", "--yes")
    assert (less.returncode, less.stderr) == (1, "")
    assert "not seen   .MYI headers" in less.stdout
    assert "--apply does this" not in less.stdout
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "only root may change what the service may do: sudo myisam-advisor rights --apply" in refused.stderr


def test_what_the_account_lacks_is_made_and_no_more(flavour: PrivateServer) -> None:
    wanted = ask_server(target(flavour), 10, USER)
    assert wanted.problem == ""
    assert str(wanted.steps[-1].command).startswith("GRANT SELECT ON performance_schema.* ")
    assert any(str(step.command).startswith(f"CREATE USER '{USER}'@'localhost' ") for step in wanted.steps)
    try:
        assert make_account(target(flavour), 10, wanted.steps) == ""
        again = ask_server(target(flavour), 10, USER)
        assert [str(step.command).partition(" ")[0] for step in again.steps] == ["GRANT", "GRANT"]
        assert make_account(target(flavour), 10, again.steps) == ""
        granted = " ".join(str(row[0]) for row in flavour.execute(f"SHOW GRANTS FOR '{USER}'@'localhost'"))
        assert "PROCESS" in granted
        assert "performance_schema" in granted
        # The account is the operating system's user of that name: nobody else has it.
        with pytest.raises(Exception, match="refused the user"), Session(target(flavour, USER), 10):
            pass
    finally:
        flavour.execute(f"DROP USER IF EXISTS '{USER}'@'localhost'")


def test_a_server_that_takes_no_account_says_so(flavour: PrivateServer) -> None:
    flavour.execute("CREATE USER poor@localhost")
    try:
        wanted = ask_server(target(flavour, "poor"), 10, USER)
        assert "the server refused" in wanted.problem
        assert "the server refused" in make_account(target(flavour, "poor"), 10, ask_server(target(flavour), 10, USER).steps)
    finally:
        flavour.execute("DROP USER poor@localhost")


def test_the_servers_own_group_and_directory_are_asked_of_the_server(flavour: PrivateServer) -> None:
    wanted = ask_server(target(flavour), 10, USER).wanted
    status = flavour.data_directory.stat()
    assert wanted.data_directory == flavour.data_directory.resolve()
    # Servers of the tests have a group without a name.
    assert wanted.group == str(status.st_gid)
    assert wanted.closed_files == ("MariaDB" not in str(flavour.execute("SELECT VERSION()")))
    # Those lie below /tmp, where anybody may lay a link.
    with pytest.raises(UserError, match="lies in /"):
        drop_in_text(wanted)


def test_a_data_directory_where_root_alone_decides_what_lies_there_is_shown_to_the_service() -> None:
    """And no longer once a directory on the way is the server's own."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to make directories of root's")
    place = Path(tempfile.mkdtemp(dir="/var/lib"))
    try:
        place.chmod(0o755)
        running = CopiedServer(binaries_of("mariadb-10.11"))
        running.data_directory = place / "data"
        with running:
            wanted = ask_server(target(running), 10, USER).wanted
            assert wanted.data_directory == place / "data"
            assert f"BindReadOnlyPaths={place}/data\n" in drop_in_text(wanted)
            os.chown(place, wanted.data_directory.stat().st_uid, -1)
            with pytest.raises(UserError, match=f"chown root {place} && chmod go-w {place}"):
                drop_in_text(ask_server(target(running), 10, USER).wanted)
    finally:
        shutil.rmtree(place)
