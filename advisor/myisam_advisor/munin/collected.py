"""The plugin's document where no daemon runs: one look, and the process's growth since the last one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.munin.document import document
from myisam_advisor.munin.process_state import ProcessState, read_state, write_state
from myisam_advisor.proofs.store import of_all, proof_stores
from myisam_exporter.collectors.base import Context, Pair
from myisam_exporter.collectors.mysqld_process import PROCESS, of_one_process, page_cache_hits_of
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.exposition.values import group_values
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.process import ProcessSample
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.pairs import Latest, pairs_between
from myisam_exporter.look.snapshot import Snapshot, take_snapshot
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Looking:
    """How to look."""

    timeout_seconds: int
    key_caches: tuple[str, ...]
    sweep_seconds: float


def collected(target: Target, how: Looking, site: Site, state_file: Path | None) -> dict[str, Any]:
    """The document. Raises UserError when the server cannot be asked."""
    with Session(target, how.timeout_seconds) as session:
        context = Context(
            target, session, key_caches=how.key_caches, page_cache_sweep_seconds=how.sweep_seconds, one_pass=True
        )
        snapshot = take_snapshot(context)
    before = read_state(state_file) if state_file else None
    running = before.running if before else Running()
    facts = Interval(snapshot).facts()
    pairs = pairs_between(_earlier(snapshot, before), snapshot)
    pair = _of_process(pairs)
    scene = Scene(pairs, running, facts, TableChooser().choose(facts.tables["tables"]))
    found = group_values(snapshot, scene, frozenset(snapshot.samples))
    values = [value for of_one in found.values.values() for value in of_one]
    if pair is None or pair.before is None:
        # Counters of our own that have nothing to begin with: 0 would say that nothing happened.
        values = [value for value in values if value.name not in _KEPT_COUNTERS]
    hits = page_cache_hits_of(pair) if pair is not None else None
    if state_file and pair is not None:
        _keep(state_file, snapshot, pair.after, running)
    return document(
        values,
        judge(prepared(facts, site, of_all(proof_stores()))),
        further={"page_cache_hit_ratio": hits.ratio if hits else None},
        interval_seconds=facts.interval_seconds,
    )


_KEPT_COUNTERS = frozenset(
    {"mysqld_context_switches_total", "mysqld_page_cache_accesses_total", "mysqld_page_cache_misses_total"}
)


def _earlier(snapshot: Snapshot, before: ProcessState | None) -> Latest | None:
    """What the last call left: the process as it was then, and the status beside it, which began no interval of its own."""
    if before is None or before.seconds_until(snapshot.moments[PROCESS.name]) is None:
        return None
    return Latest({PROCESS.name: before.process, STATUS.name: before.status}, {PROCESS.name: before.moment})


def _of_process(pairs: Mapping[str, Pair[object]]) -> Pair[ProcessSample] | None:
    pair = PROCESS.pair(pairs)
    return None if isinstance(pair, Unknown) else of_one_process(pair)


def _keep(state_file: Path, snapshot: Snapshot, process: ProcessSample, running: Running) -> None:
    status = snapshot.sample(STATUS)
    if not isinstance(status, Unknown):
        # Without a state the next call knows less, and nothing else.
        try:
            write_state(state_file, ProcessState(snapshot.moments[PROCESS.name], process, status, running))
        except OSError as error:
            _log.warning(
                "the state cannot be kept in %s: %s. Without it context switches and the hit ratio stay unknown: give another --state.",
                state_file,
                error.strerror,
            )
