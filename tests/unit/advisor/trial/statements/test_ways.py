"""What ends a run under a variant is that variant's problem."""

from contextlib import nullcontext
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.statements.variants import Setting, Variant
from myisam_advisor.trial.statements.ways import VariantFailedError, Ways


class Server:
    """Takes every setting."""

    def session(self) -> Any:
        return nullcontext(MagicMock())

    def execute(self, *_: str) -> Any:
        return [(1,)]

    def answers(self) -> bool:
        return True


class Stage:
    server = Server()


def test_an_error_of_ours_under_a_variant_bears_its_name_and_the_servers_words() -> None:
    def once(*_: object) -> Any:
        raise driver().error(1969, "Query execution was interrupted")

    ways = Ways(cast(Any, None), cast(Any, Stage()), cast(Any, None), cast(Any, None), once)
    way = ways.of(Variant("limit", settings=(Setting("max_statement_time", "1"),)))
    assert way is not None
    with pytest.raises(VariantFailedError) as failed:
        way()
    assert (failed.value.variant, failed.value.said) == ("limit", "Query execution was interrupted (error 1969)")
    with pytest.raises(driver().error):
        ways.baseline()
