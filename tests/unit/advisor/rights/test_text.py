"""What `rights` says, word for word, at two widths; and its documents, which keep to their schema."""

import io
import json
from pathlib import Path

import pytest

from myisam_advisor.rights import service as services
from myisam_advisor.rights.document import rights_document, undone
from myisam_advisor.rights.drop_in import NAME
from myisam_advisor.rights.looking import Identity
from myisam_advisor.rights.recipe import Recipe, recipe_of
from myisam_advisor.rights.server_side import ServerSide
from myisam_advisor.rights.service import SERVICE, Service
from myisam_advisor.rights.sights import KINDS, Sight, sights_of
from myisam_advisor.rights.text import recipe_as_text, rights_as_text
from myisam_exporter.kernel.rights import READ_FILES, READ_PROCESS
from myisam_exporter.server.account import Step
from myisam_exporter.server.sql import statement
from tests.unit.advisor.reports.test_json_documents import assert_keeps
from tools.record_machine import FOLDER

WHO = "myisam-advisor.service runs as myisam-advisor (further groups: none; capabilities: none)"
GRANT = Step(statement("GRANT PROCESS ON *.* TO 'myisam-advisor'@'localhost';"), "all connections and the state of each")
SERVER = ServerSide(steps=(GRANT,))
CLOSED = {"reason": "the data directory /var/lib/mysql cannot be read (Permission denied)", "remedy": READ_FILES, "off": False}
PROC = {"reason": "/proc/77/io cannot be read (Permission denied)", "remedy": READ_PROCESS, "off": False}
UNKNOWN = {"myi": ("totals.myisam_tables", CLOSED), "disk_space": ("host.data_directory_free_bytes", CLOSED), "mysqld_process": ("mysqld.read_bytes_per_second", PROC)}


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def without_files() -> list[Sight]:
    sources = [{"name": kind.source, "problems": [], "unknown": dict([UNKNOWN[kind.source]] if kind.source in UNKNOWN else [])} for kind in KINDS if kind.source]
    return sights_of({"sources": sources, "history": {"path": "/x", "problem": ""}})


SIGHTS = {"refused": sights_of({"error": "the server refused the user 'myisam-advisor'. Give another --user."}), "without-files": without_files(), "by-hand": without_files()}


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    # As long a name wherever the tests run: lines are broken by it.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(services, "DROP_IN_ROOT", Path("etc/systemd/system"))
    return Service(SERVICE, "myisam-advisor", "", (), (), None, None)


def recipe(service: Service, sights: list[Sight]) -> Recipe:
    return recipe_of(service, Identity(998, 998, (), ()), sights, SERVER, own_login=False)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", SIGHTS)
def test_it_says_what_it_said(name: str, width: int, service: Service, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    for variable, value in (("COLUMNS", str(width)), ("LINES", "40"), ("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(variable, value)
    if name == "by-hand":
        service.drop_in_folder.mkdir(parents=True)
        (service.drop_in_folder / NAME).write_text("[Service]\nNice=5 # \x1b[31m\n")
    sights = SIGHTS[name]
    text = rights_as_text(WHO, sights, recipe(service, sights), Terminal())
    path = FOLDER / "golden" / "rights" / f"{name}-{width}.txt"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), "if this is meant: pytest --update-golden, and read the diff"


def test_what_is_applied_is_what_is_shown(service: Service) -> None:
    wanted = recipe(service, SIGHTS["refused"])
    shown = recipe_as_text(wanted, None)
    assert all(f"  {line}\n" in shown for line in (*wanted.drop_in.splitlines(), *wanted.restart_lines))
    assert f"  {GRANT.command}  -- {GRANT.reason}\n" in shown


def test_without_a_service_the_remedies_are_for_whoever_asks() -> None:
    text = rights_as_text("As x", SIGHTS["without-files"], None)
    assert f"\nTo see it:\n- {READ_FILES}\n" in text
    assert "--apply" not in text


def test_nothing_to_do_is_said() -> None:
    seen = [sight for sight in SIGHTS["without-files"] if sight.state == "seen"]
    assert rights_as_text("As x", seen, None).endswith("Everything that exists here can be seen.\n")


def test_what_is_switched_off_is_told_and_how_to_have_it() -> None:
    seen = [sight for sight in SIGHTS["without-files"] if sight.state == "seen"]
    text = rights_as_text("As x", [*seen, Sight("w", "waits", "off", "waits", "it is off", "x=ON, then restart")], None)
    assert "waits (no right can show it): it is off. To see it: x=ON, then restart\n" in text
    assert text.endswith("Everything that exists here and is switched on can be seen.\n")


def test_no_name_steers_the_terminal(service: Service) -> None:
    hostile = sights_of({"error": "\x1b[31mred"})
    assert "\x1b" not in rights_as_text("As \x1b[2J", hostile, recipe(service, hostile))


@pytest.mark.parametrize("name", SIGHTS)
def test_the_documents_keep_to_their_schema(name: str, service: Service) -> None:
    sights = SIGHTS[name]
    for document in (rights_document(WHO, service, sights, recipe(service, sights), ["done"]), rights_document(WHO, None, sights, None, []), undone(service, ["x"])):
        assert_keeps("rights", json.dumps(document))
