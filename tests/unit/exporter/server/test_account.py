"""The names that an account can have, by version of the server."""

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.server.account import statements
from myisam_exporter.server.version_number import parse_version

LIMITS = [
    ("5.6.24", 16, 60),
    ("5.7.7", 16, 60),
    ("5.7.8", 32, 60),
    ("8.0.16", 32, 60),
    ("8.0.17", 32, 255),
    ("9.7.0", 32, 255),
    ("5.5.68-MariaDB", 16, 60),
    ("10.0.0-MariaDB", 80, 60),
    ("10.6.0-MariaDB", 80, 60),
    ("10.6.1-MariaDB", 128, 255),
    ("11.8.6-MariaDB", 128, 255),
]


@pytest.mark.parametrize(("version", "user", "host"), LIMITS)
def test_a_name_is_as_long_as_the_server_takes_and_no_longer(version: str, user: int, host: int) -> None:
    known = parse_version(version)
    longest = "\u00fc" * user
    assert any(longest in line for line in statements(known, longest, "h" * host, by_password=True))
    with pytest.raises(UserError, match=f"--account has {user + 1} characters: version {version} takes {user} at most"):
        statements(known, longest + "a", "localhost", by_password=False)
    with pytest.raises(UserError, match=f"--account-host has {host + 1} characters: version {version} takes {host} at most"):
        statements(known, "a", "h" * (host + 1), by_password=True)


def test_an_anonymous_account_is_refused() -> None:
    with pytest.raises(UserError, match="would let everybody in: give --account a name of 1 to 32 characters"):
        statements(parse_version("8.4.2"), "", "localhost", by_password=False)
