"""The statements that a live screen watches: nothing is told of the moment a watch began, and one that fails takes nothing else away."""

from collections.abc import Callable
from typing import NoReturn

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.top.looking import Looker
from myisam_advisor.workload.kinds.seen import MyisamTables, SeenStatements
from myisam_advisor.workload.kinds.watch import StatementWatch
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.watching.options import WatchOptions

FACTS = facts_from_document({"schema": 1, "totals": {"myisam_tables": 0}})


class Watch:
    def __init__(self) -> None:
        self.taken = self.closed = 0
        self.error: UserError | None = None

    def take(self, tables: MyisamTables) -> SeenStatements:
        if self.error is not None:
            raise self.error
        self.taken += 1
        return SeenStatements("a test", float(self.taken))

    def close(self) -> None:
        self.closed += 1


def nowhere() -> NoReturn:
    raise UserError("there is no server.")


def looker(begin: Callable[[], StatementWatch] | None) -> Looker:
    return Looker(nowhere, WatchOptions(), Site(shipped_rules()), begin)


def test_of_the_look_with_which_it_began_nothing_is_told() -> None:
    begun: list[Watch] = []
    looks = looker(lambda: begun.append(Watch()) or begun[-1])  # type: ignore[func-returns-value]
    assert [looks._statements(FACTS) for _ in range(3)] == [SeenStatements("a test", seconds) for seconds in (0.0, 2.0, 3.0)]
    # Paused: it ends, and what comes then is not told of the pause.
    looks.rest()
    assert begun[0].closed == 1
    assert [looks._statements(FACTS) for _ in range(2)] == [SeenStatements("a test", seconds) for seconds in (0.0, 2.0)]
    looks.close()
    assert [watch.closed for watch in begun] == [1, 1]


def test_a_watch_that_fails_says_why_and_is_begun_anew() -> None:
    begun: list[Watch] = []
    looks = looker(lambda: begun.append(Watch()) or begun[-1])  # type: ignore[func-returns-value]
    looks._statements(FACTS)
    begun[0].error = ServerLostError("lost the server.")
    failed = looks._statements(FACTS)
    assert failed is not None
    assert failed.notes == ("The statements could not be read: lost the server.",)
    assert begun[0].closed == 1
    assert looks._statements(FACTS) == SeenStatements("a test", 0.0)
    looks.close()


def test_where_nobody_asked_none_is_watched() -> None:
    looks = looker(None)
    assert looks._statements(FACTS) is None
    looks.close()
