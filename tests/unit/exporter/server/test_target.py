"""As whom a server is asked where nobody is named."""

import getpass
from typing import NoReturn

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.server.target import target_from_options


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found: 61234"), OSError("No username set in the environment")])
def test_who_has_no_name_names_an_account(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def nameless() -> NoReturn:
        raise error

    monkeypatch.setattr(getpass, "getuser", nameless)
    with pytest.raises(UserError, match=r"the user of number \d+ has no name on this machine.*--user"):
        target_from_options(())
    assert target_from_options(user="monitor", defaults_files=()).user == "monitor"


def test_by_default_it_is_who_runs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "somebody")
    assert target_from_options(()).user == "somebody"
