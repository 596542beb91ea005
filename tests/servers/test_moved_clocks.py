"""The clock of a server's machine is set: it reckons its Uptime from it. `SET timestamp` sets that of one connection."""

import time
from contextlib import closing

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.top.looking import _DEAR, ASKED_TABLES_SECONDS, Looker
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Context
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.snapshot import Snapshot, take_snapshot
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.watching.options import WatchOptions
from tests.support.moved_clock import MovedClock

from .conftest import on_one_server

HOUR_SECONDS = 3600


@on_one_server
def test_a_live_screen_asks_for_its_tables_again_after_a_minute_whatever_the_clock_says(server: PrivateServer) -> None:
    """It showed those of before for as long as the clock was set back."""
    clock = MovedClock()
    looker = Looker(lambda: Target("root", socket=server.socket), WatchOptions(), Site(shipped_rules()), clock=clock)
    with closing(looker), Session(Target("root", socket=server.socket)) as session:
        first, again = looker._snapshot(session), looker._snapshot(session)
        clock.set(-HOUR_SECONDS)
        still = looker._snapshot(session)
        clock.move(ASKED_TABLES_SECONDS + 1)
        anew = looker._snapshot(session)
    dear = sorted(_DEAR)[0]
    assert first.moments[dear] == again.moments[dear] == still.moments[dear] < anew.moments[dear]


def look(session: Session, ahead_seconds: int) -> Snapshot:
    session.rows(f"SET SESSION timestamp = {int(time.time()) + ahead_seconds}")
    return take_snapshot(Context(session.target, session))


def test_a_clock_that_is_set_back_is_no_restart(server: PrivateServer) -> None:
    """`check` ended with the words that the server restarted, which it had not."""
    with Session(Target("root", socket=server.socket)) as session:
        before = look(session, 2 * HOUR_SECONDS)
        after = look(session, HOUR_SECONDS)
        assert before.status is not None
        assert after.status is not None
        earlier, later = before.status.uptime_seconds, after.status.uptime_seconds
        assert earlier is not None
        assert later is not None
        assert HOUR_SECONDS - 60 < earlier - later <= HOUR_SECONDS
        interval = Interval(after, before)
        interval.refuse_restart()
        questions = [number_of(row["per_second"]) for row in interval.facts().tables["status"].dictionaries() if row["name"] == "Questions"]
        assert questions[0] is not None
        assert questions[0] > 0


def test_a_clock_that_is_set_to_before_the_start_leaves_the_uptime_unknown(server: PrivateServer) -> None:
    """It was told as 584 thousand million years."""
    with Session(Target("root", socket=server.socket)) as session:
        seen = look(session, -24 * HOUR_SECONDS)
    assert seen.status is not None
    said = seen.status.number("Uptime")
    assert said is not None
    assert said > 2**63 or said < 0
    assert Interval(seen).facts().single("server")["uptime_seconds"] is None


def test_connections_are_counted_since_the_start_whatever_is_flushed(server: PrivateServer) -> None:
    """So it is they that tell a restart from a clock."""
    with Session(Target("root", socket=server.socket)) as session:
        before = session.status_number("Connections")
        session.rows("FLUSH STATUS")
        assert before is not None
        assert (session.status_number("Connections") or 0) >= before > 0
