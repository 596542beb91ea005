"""Proofs for tests: what a case says, the rest as a trial of last week would have it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from myisam_advisor.proofs.document import FORMAT, VERSION, proof_of
from myisam_advisor.proofs.proof import Proof
from myisam_advisor.proofs.store import KeptProofs

NOW = 1_795_000_000.0  # 18 November 2026
DAY = 86_400.0
LAST_WEEK: Mapping[str, Any] = {
    "rule_id": "pack-keys", "experiment": "pack-keys", "change": ["ALTER TABLE `log`.`hits` PACK_KEYS=0;"], "objects": ["log.hits"], "times": 1.4, "low": 1.3,
    "high": 1.5, "verdict": "worth it", "kinds": [], "server_product": "", "server_version": "", "taken_at": NOW - 7 * DAY, "workload": {}, "server": "",
}  # fmt: skip


def proof(**said: Any) -> Proof:
    """One proof; `days` is its age."""
    days = said.pop("days", 7)
    return proof_of(json.dumps({"format": FORMAT, "version": VERSION, **LAST_WEEK, "taken_at": NOW - days * DAY, **said}))


def kind(fingerprint: str, times: float, verdict: str, share: float | None = None) -> dict[str, Any]:
    """What came of one workload, five per cent either way."""
    return {"fingerprint": fingerprint, "share": share, "times": times, "low": times * 0.95, "high": times * 1.05, "verdict": verdict}


def kept(cases: Iterable[Mapping[str, Any]]) -> KeptProofs:
    """A store's content."""
    return KeptProofs(tuple(proof(**one) for one in cases), (), NOW)
