"""Which of two answers about connections is taken: the one with the engines' states, unless it shows fewer connections."""

import pytest

from myisam_exporter.collectors.processlist import _shows_as_many
from myisam_exporter.facts.unknown import Unknown

Row = tuple[str | None, ...]
REPAIR: Row = ("shop", None, "Query", "3")
SLEEP: Row = (None, "", "Sleep", "9")
DAEMON: Row = (None, "Suspending", "Daemon", "99")


@pytest.mark.parametrize(
    ("told", "rows", "as_many"),
    [
        ([REPAIR], [REPAIR], True),
        ([REPAIR], [REPAIR, DAEMON, DAEMON], True),  # MySQL 9.7 by itself: of its threads PROCESSLIST has one
        ([DAEMON], [REPAIR, DAEMON], False),  # without PROCESS others' connections are hidden
        ([REPAIR], [REPAIR, SLEEP, SLEEP], False),
        ([REPAIR, *[SLEEP] * 18], [REPAIR, *[SLEEP] * 19], True),
    ],
)
def test_threads_of_the_servers_own_are_no_connections(told: list[Row], rows: list[Row], as_many: bool) -> None:
    assert _shows_as_many(told, rows) is as_many


def test_an_answer_that_is_refused_shows_nothing() -> None:
    assert not _shows_as_many(Unknown("refused"), [REPAIR])
