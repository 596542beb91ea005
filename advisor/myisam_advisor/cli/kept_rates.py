"""How fast a trial of engines copied the user's tables, kept for `migrate`, `plan` and `check`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from myisam_advisor.catalogue.conversions import Conversion
    from myisam_advisor.proofs.rate_store import RateStore
    from myisam_advisor.trial.engines.result import EngineResult


def keep_rates(result: EngineResult, server: str, store: RateStore) -> str:
    """Keep each conversion that is long enough to tell a rate, and say so. What cannot be kept is said, and stops nothing.

    `server` tells one server from another: proof.server_key.
    """
    kept = 0
    for one in conversions_of(result, server):
        try:
            store.keep(one)
        except UserError as error:
            return f"Not kept: {error}"
        kept += 1
    if not kept:
        return ""
    times = "time is kept" if kept == 1 else "times are kept"
    return f"{kept} {times} in {store.directory}: migrate, plan and check now use these measurements."


def conversions_of(result: EngineResult, server: str) -> Iterable[Conversion]:
    """The ALTERs that were done and lasted long enough."""
    from myisam_advisor.catalogue.conversions import Conversion
    from myisam_advisor.catalogue.copy_work import way_of
    from myisam_advisor.proofs.rate_store import table_key
    from myisam_advisor.trial.engines.settings import ALTER_COPY_BULK

    sorts = result.settings.get(ALTER_COPY_BULK, "").upper() == "ON"
    for one in result.tables:
        if one.seconds is None or one.bytes_after is None or one.error is not None or one.work is None:
            continue
        found = Conversion(
            result.server, result.version, one.to, way_of(result.server, result.version, one.to, sorts=sorts), one.seconds, one.work,
            one.bytes_after, result.taken_at, table_key(server, one.schema_name, one.table_name),
        )  # fmt: skip
        if found.counts:
            yield found
