"""Whether a proof still holds: by its age, and by how far the server has gone from what it was made on.

The distances are wide on purpose: a proof that is dropped at every quiet hour is none, and one that outlives its server misleads.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.proofs.changes import are_alike, changes_of
from myisam_advisor.proofs.proof import Proof
from myisam_advisor.proofs.structures import structures_in
from myisam_advisor.texts.templates import rate, size
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.server.version_number import PRODUCT_NAMES

DAY_SECONDS = 86_400
# What data and load become within a quarter nobody has measured; a trial takes minutes.
MAXIMUM_AGE_DAYS = 90
# A clock that was put right by this much does not make a proof one of the future.
CLOCK_SECONDS = DAY_SECONDS
# Busy hours have several times what a day has on average; ten times is another load. That a server is quiet makes no proof wrong.
MAXIMUM_LOAD_RATIO = 10.0
# Below this rate nothing is known of a load: ten times of next to nothing is next to nothing.
MINIMUM_STATEMENTS_PER_SECOND = 10.0
# What fitted a key cache or the page cache may not fit it at twice the size.
MAXIMUM_SIZE_RATIO = 2.0
# A table of less fits every cache before and after.
MINIMUM_TABLE_BYTES = 16 << 20
# 10.11 and 11.8 are two series: what is fixed within one changes no trial's sign.
SERIES_PARTS = 2
# To what table_open_cache and max_connections need, beyond what an option file says; for each table cache instance, on MariaDB.
RAISED_BY_THE_SERVER = frozenset({"open_files_limit"})
_MARIADB = PRODUCT_NAMES["mariadb"]


def still_valid(proof: Proof, facts: FactSet | None, now: float) -> str | None:
    """None while the proof holds for the server of these facts; else why not, as the end of a sentence. What is not known speaks against nothing."""
    if facts is None:
        return _too_old(proof, now)
    return (
        _too_old(proof, now)
        or _other_version(proof, facts)
        or _other_before(proof, facts)
        or _other_load(proof, facts)
        or _other_sizes(proof, facts)
        or _other_structures(proof, facts)
    )


def outlived_by(proof: Proof, later: Proof) -> bool:
    """Whether a later trial of the same change shows that the proof holds no more: by its age, the version, the settings, the load, the tables' sizes or structures of then."""
    then, now = series_of(proof.server_version), series_of(later.server_version)
    sizes, structures = proof.workload.tables, proof.structure_of
    return (
        _too_old(proof, later.taken_at) is not None
        or is_other_product(proof.server_product, later.server_product)
        or bool(then and now and then != now)
        or any(not are_alike(proof.before[name], value) for name, value in later.before.items() if name in proof.before)
        or _is_other_load(proof.workload.statements_per_second, later.workload.statements_per_second)
        or any(_is_other_size(sizes[name], size) for name, size in later.workload.tables.items() if name in sizes)
        or any(structures.get(name, one) != one for name, one in later.structure_of.items())
    )


def _too_old(proof: Proof, now: float) -> str | None:
    days = (now - proof.dates_from) / DAY_SECONDS
    if now - proof.taken_at < -CLOCK_SECONDS:
        return "it is of the future, by a clock that was wrong"
    return f"it is {days:.0f} days old ({MAXIMUM_AGE_DAYS} at most)" if days > MAXIMUM_AGE_DAYS else None


def _other_version(proof: Proof, facts: FactSet) -> str | None:
    server = facts.single("server")
    product, version = PRODUCT_NAMES.get(str(server.get("flavour")), ""), server.get("version")
    if is_other_product(proof.server_product, product):
        return f"it was made on {proof.server_product}, and this is {product}"
    then, now = series_of(proof.server_version), series_of(version)
    return f"it was made on version {then}, and this is {now}" if then and now and then != now else None


def is_other_product(one: str, other: str) -> bool:
    """Whether both are known, and one of them alone is MariaDB: Percona Server is MySQL, and its programs are known as such."""
    return bool(one and other) and (one == _MARIADB) != (other == _MARIADB)


def series_of(version: object) -> str:
    """The first two numbers of a version; empty where it has none."""
    if not isinstance(version, str):
        return ""
    parts = version.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ").split("-")[0].split(".")
    return ".".join(parts[:SERIES_PARTS]) if all(part.isdigit() for part in parts[:SERIES_PARTS]) else ""


def _other_before(proof: Proof, facts: FactSet) -> str | None:
    """Whether what was changed is set to something else by now: over that nobody knows what the change gains. To what was tried it may be set."""
    if not proof.before:
        return None
    variables, tried = facts.tables["variable"].by_name("value"), changes_of(proof.change)
    for name, then in proof.before.items():
        found = variables.get(name)
        if not isinstance(found, str | int | float):
            continue
        # A facts file may have numbers.
        now = found if isinstance(found, str) else f"{found:.15g}"
        if not are_alike(then, now) and not _is_as_tried(name, tried.get(name, now), now):
            return f"{name} was {then} then, and is {now} now"
    return None


def _is_as_tried(name: str, tried: str, now: str) -> bool:
    """Whether a variable has the value that was tried, or more of one that the server raises by itself."""
    if are_alike(tried, now):
        return True
    return name in RAISED_BY_THE_SERVER and tried.isdecimal() and now.isdecimal() and int(now) >= int(tried)


def _other_load(proof: Proof, facts: FactSet) -> str | None:
    then = proof.workload.statements_per_second
    if then is None or facts.interval_seconds is None:
        return None
    now = number_of(facts.tables["status"].by_name("per_second").get("Questions"))
    if now is None or not _is_other_load(then, now):
        return None
    return f"the server had {rate(then)} statements then, and has {rate(now)} now (more than {MAXIMUM_LOAD_RATIO:g} times as many)"


def _is_other_load(then: float | None, now: float | None) -> bool:
    """Whether it is another load; what is not known is none, nor is one below which nothing is known."""
    return (
        then is not None
        and now is not None
        and now >= MINIMUM_STATEMENTS_PER_SECOND
        and now > MAXIMUM_LOAD_RATIO * then
    )


def _other_sizes(proof: Proof, facts: FactSet) -> str | None:
    if not proof.workload.tables:
        return None
    sizes = facts.tables["tables"].once("bytes by name", _bytes_by_name)
    for name, then in proof.workload.tables.items():
        now = sizes.get(name)
        if now is None or not _is_other_size(then, now):
            continue
        return f"{name} had {size(then)} then, and has {size(now)} now (beyond {MAXIMUM_SIZE_RATIO:g} times)"
    return None


def _other_structures(proof: Proof, facts: FactSet) -> str | None:
    """Whether a table was altered: with another index a statement may do other work than what was measured."""
    then = proof.structure_of
    now = structures_in(facts, proof.objects) if then else {}
    other = next((name for name, one in then.items() if now.get(name, one) != one), None)
    return None if other is None else f"{other} had other columns, indexes or another row format then"


def _is_other_size(then: float, now: float) -> bool:
    return max(then, now) >= MINIMUM_TABLE_BYTES and _ratio(then, now) > MAXIMUM_SIZE_RATIO


def _bytes_by_name(tables: FactRows) -> Mapping[str, float]:
    """Data and index of each table whose data is known, by the name that findings have."""
    from myisam_advisor.texts.templates import object_name

    columns = (tables.values(name) for name in ("schema_name", "table_name", "data_bytes", "index_bytes"))
    found: dict[str, float] = {}
    for schema, table, data, index in zip(*columns, strict=True):
        known = number_of(data)
        if known is not None:
            found[object_name(str(schema), str(table))] = known + (number_of(index) or 0)
    return found


def _ratio(one: float, other: float) -> float:
    return max(one, other) / max(min(one, other), 1e-3)
