"""`rights` on the command line: what it does not take, and a daemon's words of which it takes those that name the server."""

import json
import os

import click
import pytest

from myisam_advisor.cli.commands.rights import _connection_words, _has_own_login, _who_runs
from myisam_advisor.cli.group import cli
from myisam_advisor.rights.looking import Identity
from myisam_advisor.rights.service import SERVICE, Service
from tests.support.program import run

NOWHERE = ("--service", "myisam-advisor-that-is-not-here")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--apply", "--undo"), "opposites"),
        (("--yes",), "--yes is for --apply"),
        (("--service", "a b"), "not the name of a systemd service"),
        (("--service", "../../x"), "not the name of a systemd service"),
        (("--facts", "x"), "No such option"),
        (("--format", "xml"), "'xml' is not one of"),
    ],
)
def test_what_it_does_not_take_is_named(words: tuple[str, ...], said: str) -> None:
    done = run("rights", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--apply", "--undo"])
@pytest.mark.parametrize("further", [(), ("--format", "json")])
def test_without_a_service_nothing_is_given(option: str, further: tuple[str, ...]) -> None:
    done = run("rights", option, *NOWHERE, *further)
    assert done.returncode == 2
    expected = "there is no service here to give rights to" if os.geteuid() == 0 else "only root may change"
    assert expected in done.stderr
    assert ("error" in json.loads(done.stdout)) if further else done.stdout == ""


@pytest.mark.parametrize(
    ("words", "own"),
    [((), False), (("--socket", "/x.sock", "--timeout=5"), False), (("--user=watcher",), True), (("--defaults-file", "/c"), True), (("-h", "db1"), True)],
)
def test_where_the_server_is_makes_no_login_of_its_own(words: tuple[str, ...], own: bool) -> None:
    assert _has_own_login(words) == own


@pytest.mark.parametrize(("user", "warned"), [("myisam-advisor", False), ("mysql", True), ("", True), ("root", True)])
def test_who_may_change_the_server_is_not_for_watching(user: str, warned: bool) -> None:
    service = Service(SERVICE, user, "", (), (), 12, None)
    who = _who_runs(service, Identity(5, 5, (), ("cap_2",), 12), {"who": "As 'x'"})
    assert who.startswith(f"{SERVICE} runs as {user or 'root'} (further groups: none; capabilities: CAP_DAC_READ_SEARCH). As 'x'")
    assert ("one of its own" in who) == warned


def test_of_the_daemons_words_those_that_name_the_server() -> None:
    words = ("--web.listen-address", ":9942", "--socket", "/x.sock", "--user=watcher", "--history", "/h", "--allow-cleartext", "-h", "db1", "--collect.page-cache.precise")
    with click.Context(cli):
        assert _connection_words(words) == ["--socket", "/x.sock", "--user=watcher", "--allow-cleartext", "-h", "db1"]
