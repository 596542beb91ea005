"""Those who are told the facts after each look in the background: the advice, the history."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from myisam_exporter.exposition.reading import CollectorOutcome
from myisam_exporter.exposition.text import Page, page_of
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import Choice
from myisam_exporter.metrics.base import Metric, Value
from myisam_exporter.outside.clock import Clock

_log = logging.getLogger(__name__)


class Follower(Protocol):
    """Somebody who is told the facts after each look in the background, and may have metrics to add.

    Told in the thread of that look: one at a time, whatever the number of targets (see Fleet.judging).
    """

    @property
    def name(self) -> str:
        """What `collect[]` calls it."""

    @property
    def metrics(self) -> Sequence[Metric]:
        """What it may expose."""

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        """Take the facts of the last interval; give values for the exposition."""

    def forget(self, label: str) -> None:
        """Drop what is kept in memory of a target that is watched no more; it may be watched again."""


def followed(
    follower: Follower, label: str, facts: FactSet, choice: Choice, before: Page, clock: Clock
) -> tuple[Page, CollectorOutcome]:
    """What a follower exposes after it was told, and how it fared; one that fails costs only itself. `before` is what it exposed last."""
    started = clock.monotonic()
    try:
        page = page_of(follower.metrics, follower.follow(label, facts, choice), before)
    except Exception:
        _log.exception("%s failed on %s", follower.name, label)
        return Page(), CollectorOutcome(False, True, clock.monotonic() - started)
    return page, CollectorOutcome(True, True, clock.monotonic() - started)
