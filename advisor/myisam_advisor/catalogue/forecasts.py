"""What a change is expected to gain, worked out of the facts by a model that was fitted on measured changes: rules/forecasts.json, written by script/generate-docs.

A rule names a column of its query, `forecast`: pieces of work that the change spares, in a second and for each processor at work (index blocks that the key cache
misses). Where changes of the rule were measured in enough scenarios, `seconds` is what a piece took there, so that statements become 1 / (1 - pieces x seconds) times as
fast. Nobody measured a change that spared more of the work than `largest_share`: the model is not led further. `low` and `high` are how far outcomes were from
that, as logarithms, in 80 of 100. Source: benchmarks/advice/forecasts.py, docs/decisions/046-advice-measured.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from myisam_advisor.catalogue.shipped_files import is_shipped, shipped_document
from myisam_exporter.declaring.lean_dataclasses import dataclass

FILE = "forecasts.json"


@dataclass(frozen=True, slots=True)
class Model:
    """What was fitted for one rule: see the module.

    `changes` is how many were measured in `scenarios`, on each kind of processor; `covered` of them were within, by a model fitted without their scenario.
    """

    seconds: float
    largest_share: float
    low: float
    high: float
    changes: int
    scenarios: int
    covered: float

    def times(self, work: float) -> tuple[float, float]:
        """How many times as fast statements become, from and to in 80 of 100."""
        middle = 1 / (1 - min(work * self.seconds, self.largest_share))
        return middle * math.exp(self.low), middle * math.exp(self.high)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a finding's change is expected to gain: `low` to `high` times the statements under the same load, in 80 of 100; None where nobody can tell.

    `work` is what that was worked out of: pieces of work that the change spares, in a second and for each processor at work. `changes` is how many measurements of changes tell.
    """

    work: float
    low: float | None = None
    high: float | None = None
    changes: int = 0


def forecast_of(rule: str, work: object) -> Forecast | None:
    """What the rule's change is expected to gain; None where the rule reckons with nothing, or it is not known here."""
    if not isinstance(work, int | float) or not math.isfinite(work) or work < 0:
        return None
    model = models().get(rule)
    if model is None:
        return Forecast(float(work))
    return Forecast(float(work), *model.times(work), model.changes)


@lru_cache(maxsize=1)
def models() -> Mapping[str, Model]:
    """Each rule's; none where a package came without them."""
    if not is_shipped(FILE):
        return {}
    return {rule: Model(**fitted) for rule, fitted in shipped_document(FILE)["rules"].items()}
