"""What this project's trials measured, for findings and plans to quote: rules/evidence.json, written by `script/bench evidence`."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from myisam_advisor.catalogue.conversions import NO_RATES, Rate, Rates
from myisam_advisor.catalogue.rules import Measured
from myisam_advisor.catalogue.shipped_files import is_shipped, shipped_document
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.version_number import PRODUCT_NAMES, text_as_number

FILE = "evidence.json"
ALTER, INTO_INNODB = "ALTER", "ENGINE=InnoDB"
# A copy into MyISAM is what any ALTER does; into which engine each of our own rates is.
OWN_RATES = {ALTER: "MyISAM", INTO_INNODB: "InnoDB"}
# Versions from which MyISAM is another: MySQL 8.0 took read buffers and mapping out of it, MariaDB 10.0 and 11.0 began new series.
ERAS = {"mysql": (50500, 80000), "mariadb": (100000, 110000)}


@dataclass(frozen=True, slots=True)
class RebuildRates:
    """Bytes of data and index a second, by ALTER, OPTIMIZE, REPAIR and CHECK; and which server they were measured on.

    `own` are those of this machine, by ALTER and INTO_INNODB, where it was measured.
    """

    measured_on: str
    bytes_per_second: Mapping[str, float]
    own: Mapping[str, Rate] = field(default_factory=dict)


@lru_cache(maxsize=1)
def evidence() -> Mapping[str, Any]:
    """The whole file; empty where a package came without it."""
    loaded: Mapping[str, Any] = shipped_document(FILE) if is_shipped(FILE) else {}
    return loaded


def quotation(measured: Measured | None, flavour: object, version_number: object) -> str:
    """What was measured of a rule's remedy on the kind of server that this is, and when it does not apply; empty where nothing was."""
    server = _nearest(flavour, version_number)
    if measured is None or server is None:
        return ""
    entries = {
        (entry["workload"], entry["variant"]): entry
        for entry in evidence()["measured"]
        if entry["experiment"] == measured.experiment and entry["server"] == server
    }
    wanted = [(quote.workload, quote.variant) for quote in measured.quotes if flavour in quote.flavours]
    found = [(key[0], entries[key]) for key in wanted if key in entries]
    if not found:
        return ""
    about = evidence()["servers"][server]
    # An experiment may have been measured again since the others were, on a later patch of the server, and on another machine.
    when = max(entry.get("taken_at", evidence()["taken_at"]) for _, entry in found)
    cores = found[0][1].get("cores", evidence()["cores"])
    kind = f"{PRODUCT_NAMES[about['flavour']]} {found[0][1].get('server_version', about['version'])}"
    exact = (
        "this kind of server"
        if _is_near(about["flavour"], about["version"], version_number)
        else "the nearest kind of server"
    )
    variants = dict.fromkeys(entry["variant"] for _, entry in found)
    said = "; ".join(
        f"with {variant}: {', '.join(f'{workload} {_times(entry)}' for workload, entry in found if entry['variant'] == variant)}"
        for variant in variants
    )
    return (
        f"Measured on {exact} ({kind}, {cores} cores, made-up tables, {when}), {said}. "
        f"{measured.not_for} On a copy of your own: myisam-advisor trial {measured.experiment} --table DB.TABLE"
    )


def _times(entry: Mapping[str, Any]) -> str:
    return f"{_figure(entry['ratio'])} times ({_figure(entry['low'])} to {_figure(entry['high'])})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def rebuild_rates_for(facts: FactSet, rates: Rates = NO_RATES) -> RebuildRates:
    """The rates of this machine, and beside them those of the measured server that is nearest to this one."""
    server = facts.single("server")
    product, version = PRODUCT_NAMES.get(str(server.get("flavour")), ""), str(server.get("version") or "")
    copies = ((name, rates.rate_for(product, version, engine, time.time())) for name, engine in OWN_RATES.items())
    own = {name: rate for name, rate in copies if rate is not None}
    name = _nearest(server.get("flavour"), server.get("version_number"))
    if name is None:
        return RebuildRates("no server", {}, own)
    about = evidence()["servers"][name]
    return RebuildRates(f"{PRODUCT_NAMES[about['flavour']]} {about['version']}", about["rebuild_bytes_per_second"], own)


def _nearest(flavour: object, version_number: object) -> str | None:
    """The measured server of the same family with the nearest version; None for an unknown one."""
    family = "mariadb" if flavour == "mariadb" else "mysql"
    servers: Mapping[str, Any] = evidence().get("servers", {})
    of_family = [name for name, about in servers.items() if about["flavour"] == family]
    if flavour is None or not isinstance(version_number, int) or not of_family:
        return None
    return min(of_family, key=lambda name: abs(text_as_number(servers[name]["version"]) - version_number))


def _is_near(flavour: str, version: str, version_number: object) -> bool:
    """Whether the versions are of one era."""
    if not isinstance(version_number, int):
        return False
    return bisect_right(ERAS[flavour], text_as_number(version)) == bisect_right(ERAS[flavour], version_number)
