"""What is said to whom a server refuses: a service that has no account yet was told to run as the user that it ran as, and to type a password."""

import os
import pwd
from pathlib import Path

import pytest

from myisam_exporter.errors import StatementRefusedError
from myisam_exporter.server.connection_errors import ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD, SYSTEM_USER, explained
from myisam_exporter.server.target import Target

MISSING = "If there is no such account: `sudo myisam-advisor rights` for the systemd service"
SOCKET = Path("/run/mysqld/mysqld.sock")


@pytest.mark.parametrize("number", [ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD])
def test_who_comes_under_its_own_name_is_told_of_the_account_that_may_be_missing(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: pwd.getpwnam("nobody").pw_uid)
    refused = StatementRefusedError(number, "Access denied for user 'nobody'@'localhost'")
    told = str(explained(Target("nobody", socket=SOCKET), refused, 5))
    assert f"'localhost'. {MISSING}" in told
    assert SYSTEM_USER not in told
    # Another's name, a password, the network: other ways.
    for target in (Target("somebody", socket=SOCKET), Target("nobody", "secret", socket=SOCKET), Target("nobody", host="db1.example")):
        told = str(explained(target, refused, 5))
        assert MISSING not in told
        assert (SYSTEM_USER in told) == (number == ACCESS_DENIED_NO_PASSWORD)


def test_root_is_not_told_to_become_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert MISSING not in str(explained(Target("root", socket=SOCKET), StatementRefusedError(ACCESS_DENIED, "Access denied"), 5))
