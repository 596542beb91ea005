"""What a look at a target gave, as a daemon keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import chain

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.text import Page, page_of
from myisam_exporter.exposition.values import GroupValues
from myisam_exporter.metrics.base import Value


@dataclass(frozen=True, slots=True)
class CollectorOutcome:
    """What became of one collector's run."""

    success: bool
    supported: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look gave: metrics, rendered and as values, and the collectors' outcomes, or why the server did not answer."""

    pages: Mapping[str, Page] = field(default_factory=dict)
    values: Sequence[Value] = ()
    outcomes: Mapping[str, CollectorOutcome] = field(default_factory=dict)
    failure: str = ""


def reading_of(
    found: GroupValues,
    outcomes: Mapping[str, CollectorOutcome],
    before: Mapping[str, Page] | None = None,
    further: Mapping[str, Page] | None = None,
) -> Reading:
    """One with a page for each collector, and what is `further`. Where there are pages `before`, what did not change is taken from them."""
    pages = {
        name: page_of(found.metrics[name], values, None if before is None else before.get(name, Page()))
        for name, values in found.values.items()
    }
    values = tuple(chain.from_iterable(page.values for page in pages.values()))
    return Reading(pages | dict(further or {}), values, outcomes)


def failed_reading(names: Iterable[str], error: UserError) -> Reading:
    """One that says that these collectors gave nothing, and why."""
    return Reading(outcomes={name: CollectorOutcome(False, True, 0.0) for name in names}, failure=str(error))
