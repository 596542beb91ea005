"""The service as `systemctl show` tells of it: recorded from systemd 252, with the package's unit, and with its drop-ins."""

from pathlib import Path

import pytest

from myisam_advisor.rights.service import PROCESS_SOCKET, SERVICE, full_name, parse_service, read_service
from myisam_exporter.errors import UserError

PLAIN = """MainPID=143
User=myisam-advisor
Group=
SupplementaryGroups=
AmbientCapabilities=
StateDirectory=myisam-advisor
Wants=network.target
LoadState=loaded
ActiveState=active
"""
GIVEN = PLAIN.replace("Groups=", "Groups=mysql").replace("Capabilities=", "Capabilities=cap_dac_read_search").replace("network.target", f"{PROCESS_SOCKET} network.target")


def test_a_plain_one() -> None:
    service = parse_service(SERVICE, PLAIN)
    assert service is not None
    assert (service.user, service.groups, service.capabilities, service.process) == ("myisam-advisor", (), (), 143)
    assert service.state_directory == Path("/var/lib/myisam-advisor")
    assert service.drop_in_folder == Path("/etc/systemd/system/myisam-advisor.service.d")


def test_one_with_rights() -> None:
    service = parse_service(SERVICE, GIVEN)
    assert service is not None
    assert (service.groups, service.capabilities) == (("mysql",), ("cap_dac_read_search",))
    assert PROCESS_SOCKET in service.wants


@pytest.mark.parametrize("state", ["inactive", "failed", "activating"])
def test_one_that_does_not_run_has_no_process(state: str) -> None:
    service = parse_service(SERVICE, PLAIN.replace("=active\n", f"={state}\n"))
    assert service is not None
    assert service.process is None


@pytest.mark.parametrize("state", ["not-found", "masked", "bad-setting", "error"])
def test_one_that_is_not_loaded_is_none(state: str) -> None:
    assert parse_service(SERVICE, PLAIN.replace("=loaded", f"={state}")) is None


def test_a_service_without_a_user_runs_as_root_and_a_number_may_have_no_name() -> None:
    root, nameless = (parse_service(SERVICE, PLAIN.replace("User=myisam-advisor", f"User={user}")) for user in ("", "54399"))
    assert root is not None
    assert nameless is not None
    assert (root.user_name, nameless.user_name) == ("root", "54399")


def test_without_systemd_there_is_none(tmp_path: Path) -> None:
    assert read_service(SERVICE, booted=tmp_path / "nothing") is None


@pytest.mark.parametrize("name", ["", "--all", "../x", "a b", "a;b", "x.socket/..", ".service", "é"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="not the name of a systemd service"):
        full_name(name)


def test_the_ending_may_be_left_out() -> None:
    assert full_name("myisam-advisor") == full_name(SERVICE) == SERVICE
