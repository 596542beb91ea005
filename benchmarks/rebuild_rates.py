"""How fast a server rebuilds a MyISAM table, by statement: what `plan` estimates durations from."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.bench import SCHEMA, Bench, TrialOptions
from myisam_advisor.trial.private.apart import as_other
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.tables.made import SyntheticTable
from myisam_advisor.trial.trial import TrialMaterial, private_server
from myisam_advisor.trial.typed_documents import number

SEED_ROWS, DOUBLINGS, READINGS = 16_384, 5, 3
TABLE = f"{SCHEMA}.rebuilt"
# A statement, and what makes it work to do again.
STATEMENTS = {
    "ALTER": (f"ALTER TABLE {TABLE} PACK_KEYS=0", f"ALTER TABLE {TABLE} PACK_KEYS=DEFAULT"),
    "OPTIMIZE": (f"OPTIMIZE TABLE {TABLE}", f"DELETE FROM {TABLE} WHERE id % 97 = {{number}}"),
    "REPAIR": (f"REPAIR TABLE {TABLE}", "SELECT 1"),
    "CHECK": (f"CHECK TABLE {TABLE}", "SELECT 1"),
}


def rebuild_rates(binaries: ServerBinaries) -> Mapping[str, float]:
    """Bytes of data and index a second, by statement: medians, everything in the page cache."""
    measured = as_other(lambda _channel: _rates(TrialMaterial(binaries)))
    if not isinstance(measured, dict) or measured.keys() != STATEMENTS.keys():
        raise TrialError("the rates at which tables are rebuilt were not measured.")
    return {str(name): number(rate) for name, rate in measured.items()}


def _rates(material: TrialMaterial) -> Mapping[str, float]:
    rates: dict[str, float] = {}
    with ReapedDirectory() as directory, private_server(material, directory.path, ["--key-buffer-size=128M"]) as server:
        bench = Bench(TrialOptions(), directory.path, server)
        SyntheticTable().make(bench, "rebuilt", SEED_ROWS)
        server.execute(
            *[f"INSERT INTO {TABLE} (k, c, v, f) SELECT k + 1, REVERSE(c), REVERSE(v), f FROM {TABLE}"] * DOUBLINGS
        )
        size = _bytes(server)
        for name, (statement, again) in STATEMENTS.items():
            rates[name] = statistics.median(
                size / _seconds(server, statement, again.format(number=number)) for number in range(READINGS)
            )
    return rates


def _bytes(server: PrivateServer) -> float:
    folder = server.data_directory / SCHEMA
    return sum((folder / f"rebuilt{ending}").stat().st_size for ending in (".MYD", ".MYI"))


def _seconds(server: PrivateServer, statement: str, again: str) -> float:
    server.execute(again)
    started = time.perf_counter()
    server.execute(statement)
    seconds = time.perf_counter() - started
    server.execute(again)
    return seconds
