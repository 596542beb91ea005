"""What the daemon tells systemd of itself: that it is ready, how it fares, and that its looks come to an end."""

from __future__ import annotations

import asyncio
from collections import Counter

from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.daemon.board import Board
from myisam_advisor.daemon.notify import Notifier
from myisam_exporter.watching.fleet import Fleet

STATUS_SECONDS = 5.0
# A look is bounded query by query and file by file; one that takes longer than this is stuck.
LONGEST_LOOK_SECONDS = 300.0


async def supervise(notifier: Notifier, fleet: Fleet, board: Board) -> None:
    """Until it is cancelled. Ready is said after the first look, whatever it found: a server that is down is reported, not waited for.

    The watchdog is told that we live while no look is stuck: a thread of its own would tell it even then.
    """
    if not notifier.is_heard:
        return
    ready = False
    pause = min(STATUS_SECONDS, (notifier.watchdog_seconds or STATUS_SECONDS) / 3)
    while True:
        own = fleet.own
        if not ready and (own is None or own.looks):
            notifier.ready()
            ready = True
        if fleet.busy_seconds() < LONGEST_LOOK_SECONDS:
            notifier.alive()
        notifier.status(_status(fleet, board))
        await asyncio.sleep(0.1 if not ready else pause)


def _status(fleet: Fleet, board: Board) -> str:
    own = fleet.own
    if own is None:
        return f"{fleet.size} servers are probed"
    if own.failure:
        return f"{own.label}: {own.failure}"
    look = board.look(own.label)
    if look is None:
        return f"{own.label}: first look"
    counted = Counter(finding.severity for finding in look.judgement.findings)
    found = ", ".join(f"{counted[severity]} {severity}" for severity in SEVERITIES if counted[severity])
    return f"{own.label}: {found + '. ' if found else ''}{look.verdict.headline}"
