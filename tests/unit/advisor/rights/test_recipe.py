"""What is offered for what is not seen; what is done of it in which order, and what is taken back."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.rights import drop_in
from myisam_advisor.rights import recipe as recipes
from myisam_advisor.rights import service as services
from myisam_advisor.rights.drop_in import FOREIGN, KEPT, NAME, Wanted, drop_in_text
from myisam_advisor.rights.looking import Identity
from myisam_advisor.rights.recipe import OWN_LOGIN, apply, drop_account, recipe_of, undo
from myisam_advisor.rights.server_side import ServerSide
from myisam_advisor.rights.service import SERVICE, Service
from myisam_advisor.rights.sights import HIDDEN, LOGIN, NOT_HERE, NOT_KNOWN, SEEN, Sight
from myisam_advisor.rights.text import APPLY, rights_as_text
from myisam_exporter.errors import UserError
from myisam_exporter.kernel.rights import READ_FILES
from myisam_exporter.server.account import Step
from myisam_exporter.server.sql import statement

PLAIN = Identity(998, 998, (), ())
WHOLE = Identity(998, 998, (112,), ("cap_2",))
STEPS = (Step(statement("GRANT PROCESS ON *.* TO 'x'@'localhost';"), "why"),)
SERVER = ServerSide(Wanted(), STEPS)
UNSEEN = [Sight(LOGIN, "server login", SEEN, ""), Sight("headers", ".MYI headers", HIDDEN, "tables", "forbidden", READ_FILES)]
SEEN_ALL = [Sight(LOGIN, "server login", SEEN, ""), Sight("cgroup", "control group", NOT_HERE, "")]
NOBODY = [Sight(LOGIN, "server login", HIDDEN, "", "refused"), Sight("headers", ".MYI headers", NOT_KNOWN, "")]


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr(services, "DROP_IN_ROOT", tmp_path)
    return Service(SERVICE, "myisam-advisor", "", (), (), None, None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What systemctl was asked; one of "fail" in it says how often a restart fails. No systemd runs where the tests do: test_package.py has one."""
    found: list[str] = []

    def systemctl(*words: str) -> subprocess.CompletedProcess[str]:
        fails = words[0] == "restart" and "fail" in found
        if fails:
            found.remove("fail")
        found.append(" ".join(words))
        return subprocess.CompletedProcess(words, int(fails), "", "Job failed." if fails else "")

    monkeypatch.setattr(services, "systemctl", systemctl)
    monkeypatch.setattr(recipes, "stop_process_reader", lambda service: found.append("stop"))
    return found


def test_what_is_seen_needs_nothing(service: Service) -> None:
    assert not recipe_of(service, PLAIN, SEEN_ALL, SERVER, own_login=False).is_needed


def test_a_drop_in_of_another_version_is_renewed_also_where_all_is_seen(service: Service, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    apply(recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False), lambda steps: "")
    assert not recipe_of(service, WHOLE, SEEN_ALL, SERVER, own_login=False).is_needed
    monkeypatch.setattr(drop_in, "_profile", lambda name: "[Service]\nSupplementaryGroups=mysql\nProtectHome=yes\n")
    recipe = recipe_of(service, WHOLE, SEEN_ALL, SERVER, own_login=False)
    assert "ProtectHome=yes" in recipe.drop_in
    assert f"{recipe.path} was made by another version of this program: {APPLY} renews it.\nwrite " in rights_as_text("As x", SEEN_ALL, recipe)


def test_files_out_of_sight_need_the_drop_in_alone(service: Service) -> None:
    recipe = recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False)
    assert (recipe.drop_in, recipe.steps, recipe.restarts) == (drop_in_text(Wanted()), (), True)
    assert recipe.path == service.drop_in_folder / NAME


def test_without_a_login_account_and_drop_in(service: Service) -> None:
    recipe = recipe_of(service, PLAIN, NOBODY, SERVER, own_login=False)
    assert recipe.drop_in
    assert recipe.steps == STEPS


def test_a_login_of_its_own_is_left_alone(service: Service) -> None:
    recipe = recipe_of(service, PLAIN, NOBODY, SERVER, own_login=True)
    assert (recipe.steps, recipe.account_problem) == ((), OWN_LOGIN)


@pytest.mark.parametrize("user", ["root", "", "mysql", "0"])
def test_the_account_of_who_may_change_the_server_is_nobodys_to_make(user: str, service: Service) -> None:
    assert recipe_of(replace(service, user=user), PLAIN, NOBODY, SERVER, own_login=False).steps == ()


def test_why_the_account_is_not_known_is_said_where_it_matters(service: Service) -> None:
    unknown = ServerSide(problem="the server refused root")
    assert recipe_of(service, PLAIN, NOBODY, unknown, own_login=False).account_problem == "the server refused root"
    assert recipe_of(service, PLAIN, UNSEEN, unknown, own_login=False).account_problem == ""


def test_root_whose_unit_takes_its_capabilities_needs_it_too(service: Service) -> None:
    assert recipe_of(service, Identity(0, 0, (), ()), UNSEEN, SERVER, own_login=False).drop_in


def test_another_reason_than_a_missing_right_is_not_mended_by_one(service: Service) -> None:
    elsewhere = [replace(UNSEEN[1], remedy="run myisam-advisor on that host")]
    assert not recipe_of(service, PLAIN, elsewhere, SERVER, own_login=False).is_needed


def test_one_that_lies_there_and_is_not_in_force_needs_a_restart(service: Service, asked: list[str]) -> None:
    apply(recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False), lambda steps: "")
    again = recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False)
    assert (again.drop_in, again.restarts) == ("", True)
    assert not recipe_of(service, WHOLE, UNSEEN, SERVER, own_login=False).is_needed


def test_what_is_done_is_said(service: Service, asked: list[str]) -> None:
    done = apply(recipe_of(service, PLAIN, NOBODY, SERVER, own_login=False), lambda steps: "")
    assert done == [f"wrote {service.drop_in_folder / NAME}", "made the account: 1 statements", f"restarted {SERVICE}"]
    assert asked == ["daemon-reload", f"restart -- {SERVICE}"]


def test_an_account_that_cannot_be_made_stops_nothing(service: Service, asked: list[str]) -> None:
    done = apply(recipe_of(service, PLAIN, NOBODY, SERVER, own_login=False), lambda steps: "read only")
    assert "the account was not made: read only" in done
    assert f"restart -- {SERVICE}" in asked


@pytest.mark.parametrize(("failures", "said"), [(1, "the service runs as before"), (2, "does not start without the drop-in either")])
def test_what_it_does_not_start_with_is_taken_back(service: Service, asked: list[str], failures: int, said: str) -> None:
    folder = service.drop_in_folder
    folder.mkdir()
    (folder / NAME).write_text("by hand\n")
    asked += ["fail"] * failures
    with pytest.raises(UserError, match=rf"Job failed.*journalctl.*{said}"):
        apply(recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False), lambda steps: "")
    assert (folder / NAME).read_text() == "by hand\n"
    assert not (folder / KEPT).exists()
    assert (asked[-1] == "stop") == (failures == 1)


def test_one_by_hand_is_shown_as_such(service: Service) -> None:
    service.drop_in_folder.mkdir()
    (service.drop_in_folder / NAME).write_text("by hand\n")
    recipe = recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False)
    assert (recipe.replaces, recipe.present) == (FOREIGN, "by hand\n")


def test_undo_takes_it_away_once(service: Service, asked: list[str]) -> None:
    apply(recipe_of(service, PLAIN, UNSEEN, SERVER, own_login=False), lambda steps: "")
    asked.clear()
    assert undo(service) == [f"removed {service.drop_in_folder / NAME}", f"restarted {SERVICE}"]
    assert asked == ["daemon-reload", f"restart -- {SERVICE}", "stop"]
    assert undo(service) == []
    assert [drop_account(replace(service, user=user)) for user in ("root", "", "mysql")] == ["", "", ""]
    assert drop_account(replace(service, user="o'brien")) == "SET SESSION sql_log_bin = 0; DROP USER `o'brien`@'localhost';"


def test_an_account_that_refuses_the_service_is_given_nothing(service: Service) -> None:
    """Rights of it would help nobody, and the next look would offer them again."""
    recipe = recipe_of(service, PLAIN, NOBODY, replace(SERVER, has_account=True), own_login=False)
    assert recipe.steps == ()
    assert "'myisam-advisor'@'localhost' is in the server already and does not let the service in" in recipe.account_problem
    assert "(SET SESSION sql_log_bin = 0; DROP USER 'myisam-advisor'@'localhost';)" in recipe.account_problem
    # One that lets it in and lacks a right gets it.
    hidden = [Sight(LOGIN, "server login", SEEN, ""), Sight("process", "PROCESS", HIDDEN, "", "no privilege")]
    assert recipe_of(service, PLAIN, hidden, replace(SERVER, has_account=True), own_login=False).steps == STEPS
