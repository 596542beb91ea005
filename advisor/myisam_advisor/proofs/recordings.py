"""What a recording must be for its replay to prove something of this server: of this product and series, not too old, and exact enough for the change."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.proofs.changes import changes_of
from myisam_advisor.proofs.validity import CLOCK_SECONDS, DAY_SECONDS, MAXIMUM_AGE_DAYS, is_other_product, series_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.version_number import PRODUCT_NAMES

# Beyond what rows of another moment do: where more is answered otherwise than recorded, another load was measured.
DIFFERING_SHARE = 0.05
RECORD_ANEW = "record this server anew (myisam-advisor record)"
# What these do, they do to statements that are under way at once, writes among them.
OF_CONCURRENT_WRITES = frozenset(("concurrent_insert", "key_cache_segments"))


@dataclass(frozen=True, slots=True)
class Recording:
    """Where replayed statements are from; what is not known is None, or empty.

    `began_at` is in seconds since 1970; `flavour` and `version` are as the recording has them; `knows_moments`: it tells to the microsecond when statements began and ended.
    """

    began_at: float | None = None
    flavour: str = ""
    version: str = ""
    knows_moments: bool = True
    # What of all statements is in it, where others of weight are not; the load is another one then.
    sampled: str = ""

    def why_no_proof(self, product: str, version: str, now: float) -> str:
        """Why its replay proves nothing of this server, with what to do; empty where it does. What is not known speaks against nothing."""
        days = 0.0 if self.began_at is None else (now - self.began_at) / DAY_SECONDS
        if days > MAXIMUM_AGE_DAYS:
            return f"the recording is {days:.0f} days old, and nobody knows what the load has become ({MAXIMUM_AGE_DAYS} days at most): {RECORD_ANEW}."
        if days < -CLOCK_SECONDS / DAY_SECONDS:
            return f"the recording is of the future, by a clock that was wrong: {RECORD_ANEW}."
        recorded = PRODUCT_NAMES.get(self.flavour, "")
        if is_other_product(recorded, product):
            return f"the recording is of {recorded}, and this server is {product}: {RECORD_ANEW}."
        if self.sampled:
            return (
                f"the recording has a part of the statements: {self.sampled}. Record all of them: of a running server by the probe, which sees "
                "all connections (--from probe); of a log with long_query_time=0 and log_slow_rate_limit=1."
            )
        then, series = series_of(self.version), series_of(version)
        if then and series and then != series:
            return f"the recording is of version {then}, and this server is {series}: {RECORD_ANEW}."
        return ""

    def measures(self, change: Iterable[str]) -> bool:
        """Whether its replay shows what this change does: without exact moments, writes to one table are sent one by one."""
        names = {name.rpartition(".")[2] for name in changes_of(change)}
        return self.knows_moments or not names & OF_CONCURRENT_WRITES


UNKNOWN_RECORDING = Recording()
