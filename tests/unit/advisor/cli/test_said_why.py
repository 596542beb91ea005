"""Behind the message of whatever went wrong stands what the server is asked for, as a sentence of its own."""

import pytest

from myisam_advisor.cli.said_why import said_why
from myisam_exporter.errors import UserError


@pytest.mark.parametrize("message", ["no server: start it.", "everybody may write to my.cnf (chmod o-w my.cnf)"])
def test_the_message_ends_before_it(message: str) -> None:
    with pytest.raises(UserError) as caught, said_why("It is asked for its version."):
        raise UserError(message)
    assert str(caught.value) == f"{message.removesuffix('.')}. It is asked for its version."
