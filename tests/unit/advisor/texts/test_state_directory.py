"""Where things are kept: as systemd says, or the user's own; a user without a home has the system's."""

import os
import pwd
from pathlib import Path
from typing import NoReturn

import pytest

from myisam_advisor.texts.state_directory import SYSTEM_DIRECTORY, state_directory


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No root, of whose environment nothing is left."""
    for name in ("STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 61234)
    return monkeypatch


def test_a_user_has_a_directory_of_his_own(user: pytest.MonkeyPatch) -> None:
    user.setenv("HOME", "/home/somebody")
    assert state_directory() == Path("/home/somebody/.local/state/myisam-advisor")
    user.setenv("XDG_STATE_HOME", "/elsewhere")
    assert state_directory() == Path("/elsewhere/myisam-advisor")
    user.setenv("XDG_STATE_HOME", "~/state")  # nobody has expanded it
    assert state_directory() == Path("/home/somebody/.local/state/myisam-advisor")
    user.setenv("STATE_DIRECTORY", "/given:/other")
    assert state_directory() == Path("/given")


def test_who_has_no_home_has_the_systems(user: pytest.MonkeyPatch) -> None:
    def nobody(number: int) -> NoReturn:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    user.setattr(pwd, "getpwuid", nobody)
    assert state_directory() == SYSTEM_DIRECTORY
