"""What a terminal gives may be no text: the argument is blamed, not the server."""

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.program import run


@pytest.mark.parametrize("words", [("table", "--user", "root", "shop.\udcff"), ("check", "--interval", "0", "--user", "\udcff")], ids=["table", "user"])
def test_bytes_that_are_no_text_are_named_and_the_server_is_not_blamed(mariadb: PrivateServer, words: tuple[str, ...]) -> None:
    done = run(*words, "--socket", mariadb.socket)
    assert done.returncode == 2
    assert "these bytes are not UTF-8, as names and statements have to be" in done.stderr
    assert "\\udcff" in done.stderr
    assert "server" not in done.stderr
