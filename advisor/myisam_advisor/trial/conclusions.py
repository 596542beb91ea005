"""Sentences about results, shared by the experiments."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from myisam_advisor.proofs.proof import UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.trial.comparison import Comparison
from myisam_advisor.trial.results import WorkloadResult


def comparison_of(result: WorkloadResult, variant: str) -> Comparison | None:
    """The variant of one workload against its baseline; None where it was not run."""
    return next((one for one in result.comparisons if one.variant == variant), None)


def best_variant(results: Sequence[WorkloadResult]) -> tuple[str, float] | None:
    """The variant with the highest geometric mean of ratios among those worth it somewhere and worse nowhere; None without any."""
    found: dict[str, list[Comparison]] = {}
    for result in results:
        for comparison in result.comparisons:
            found.setdefault(comparison.variant, []).append(comparison)
    means = {
        variant: statistics.geometric_mean([max(one.ratio, 1e-9) for one in comparisons])
        for variant, comparisons in found.items()
        if any(one.verdict == WORTH_IT for one in comparisons) and not any(one.verdict == WORSE for one in comparisons)
    }
    return max(means.items(), key=lambda one: one[1]) if means else None


def said(results: Sequence[WorkloadResult], variant: str) -> str:
    """The variant's ratios, workload by workload; of those without a verdict the names, as their figures say nothing."""
    compared = [(result.name, comparison_of(result, variant)) for result in results]
    clear = [f"{name} {times(one)}" for name, one in compared if one is not None and one.verdict != UNCLEAR]
    unclear = [name for name, one in compared if one is not None and one.verdict == UNCLEAR]
    return "; ".join(filter(None, (", ".join(clear), f"unclear: {', '.join(unclear)}" if unclear else "")))


def times(comparison: Comparison) -> str:
    """A ratio as words: `1.42 times (1.31 to 1.50)`; without the interval where too few rounds give none."""
    between = comparison.interval
    return f"{comparison.ratio:.2f} times" + (f" ({between[0]:.2f} to {between[1]:.2f})" if between else "")
