"""How an account comes by a right: by a GRANT, but nobody in particular is granted nothing."""

from myisam_exporter.server.granting import is_anonymous, logged_in_anonymously, shown, way_to
from myisam_exporter.server.sql import quote_account


def test_an_account_with_a_name_is_granted() -> None:
    named = quote_account("m", "localhost")
    assert (is_anonymous(named), logged_in_anonymously(named), shown(named)) == (False, "", named)
    assert way_to("PROCESS ON *.*", named) == "GRANT PROCESS ON *.* TO 'm'@'localhost';"
    # A name of backticks is one.
    assert not is_anonymous(quote_account("`", "%"))


def test_the_anonymous_account_is_not() -> None:
    for host in ("localhost", "%", ""):
        nobody = quote_account("", host)
        assert is_anonymous(nobody)
        assert "GRANT " not in way_to("PROCESS ON *.*", nobody)
        assert "PROCESS ON *.* (elsewhere)" in way_to("PROCESS ON *.*", nobody, "elsewhere")
    assert logged_in_anonymously(quote_account("", "localhost")) == "; you are logged in as the anonymous account ''@'localhost'"
