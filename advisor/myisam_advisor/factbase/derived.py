"""Facts that follow from others: the default key cache, totals, the version's number, running threads. Only what is missing is filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from string import ascii_letters

from myisam_advisor.factbase.hosting import HERE, hosting_of
from myisam_advisor.factbase.numeric_names import NUMERIC, numeric_rows
from myisam_advisor.factbase.partial import may_be_part
from myisam_advisor.factbase.storable import storable, storable_rows
from myisam_advisor.factbase.storable import total as sum_of
from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.key_caches import (
    DEFAULT_BLOCK_SIZE_BYTES,
    DEFAULT_CACHE,
    default_cache,
    key_cache_block,
    usable_bytes,
)
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.server.version_number import ServerVersion, parse_version

MARIADB_MAJORS = range(10, 14)
# Version 9999.99.99: beyond it a number is no version.
MAXIMUM_VERSION_NUMBER = 99_999_999
_LETTERS_AND_BLANKS = ascii_letters + " "
# MariaDB puts it before its version when it greets a client: read as it stands, it is a MySQL of 2010.
_GREETING = "5.5.5-"
STATUS_OF_DEFAULT_CACHE = {
    "read_requests": "Key_read_requests",
    "reads": "Key_reads",
    "write_requests": "Key_write_requests",
    "writes": "Key_writes",
}
OF_REQUESTS = (*STATUS_OF_DEFAULT_CACHE, *(f"{name}_per_second" for name in STATUS_OF_DEFAULT_CACHE))


def complete(facts: FactSet) -> FactSet:
    """Facts that follow from others: the default key cache from status and variables, totals from the tables, the version's number.

    Only what is missing is filled; what a collector or a facts file said stays.
    """
    tables = {name: storable_rows(rows) for name, rows in facts.tables.items()}
    tables |= {name: tables[name].once("numeric", partial(numeric_rows, name)) for name in NUMERIC}
    unknown = dict(facts.unknown)
    facts = replace(facts, tables=tables, unknown=unknown)
    tables = dict(tables)
    for name, derive in (
        ("key_cache", _derived_key_cache),
        ("totals", _derived_totals),
        ("server", _derived_server),
        ("mysqld", _derived_mysqld),
    ):
        derived = derive(facts)
        if derived is None:
            continue
        tables[name] = derived
        unknown = {
            key: reason
            for key, reason in unknown.items()
            if key != name and not (key.startswith(name + ".") and derived.has(key.partition(".")[2]))
        }
    return _where_it_runs(replace(facts, tables=tables, unknown=unknown))


def _where_it_runs(facts: FactSet) -> FactSet:
    """The facts without remedies that nobody can carry out where the server runs."""
    hosting = hosting_of(facts.single("server"), facts.tables["variable"].by_name("value"))
    if hosting == HERE:
        return facts
    unknown = {name: hosting.known_way(why) for name, why in facts.unknown.items()}
    return replace(facts, unknown=unknown, notes=[hosting.known_way(note) for note in facts.notes])


def _derived_key_cache(facts: FactSet) -> FactRows | None:
    if facts.tables["key_cache"].rows:
        return _completed_key_caches(facts)
    status, variables = facts.tables["status"].by_name("value"), facts.tables["variable"].by_name("value")
    cache = default_cache(variables, status)
    is_sized = cache is not None
    if cache is None:
        if not any(name.startswith("Key_") for name in status) and "key_cache_block_size" not in variables:
            return None
        cache = default_cache({**variables, "key_buffer_size": 0}, status)
    rates = facts.tables["status"].by_name("per_second")
    block = key_cache_block([(cache, None, Pair((cache,)))] if cache else [])
    rows = [dict(zip(block.columns, row, strict=True)) for row in block.rows]
    for row in rows:
        for column, name in STATUS_OF_DEFAULT_CACHE.items():
            row[f"{column}_per_second"] = rates.get(name)
        if is_sized:
            _have_no_blocks(row)
        if _counts_nothing(row, facts):
            row.update(dict.fromkeys(OF_REQUESTS))
        requests, misses = row["read_requests_per_second"], row["reads_per_second"]
        if isinstance(requests, int | float) and isinstance(misses, int | float) and requests:
            row["miss_ratio"] = misses / requests
        if not is_sized:
            row["size_bytes"] = row["usable_bytes"] = None
    return _rows(facts, "key_cache", rows)


def _have_no_blocks(cache: dict[str, Value]) -> None:
    """A default cache that is too small to be one has no blocks, whether somebody counted them or not; a size of 0 elsewhere is one that is planned."""
    if cache["name"] == DEFAULT_CACHE and cache["usable_bytes"] == 0:
        for column in ("blocks_used", "blocks_unused"):
            cache[column] = 0 if cache[column] is None else cache[column]


def _counts_nothing(cache: Row, facts: FactSet) -> bool:
    """Whether a cache is off, and MariaDB goes past it: what its counters say is no number of reads."""
    is_off = cache["blocks_used"] == cache["blocks_unused"] == 0
    return is_off and (_derived_server(facts) or facts.tables["server"]).values("flavour") == ["mariadb"]


def _completed_key_caches(facts: FactSet) -> FactRows | None:
    """What follows from a cache's size, and from the counters that speak of the default cache only."""
    rates, now = facts.tables["status"].by_name("per_second"), facts.tables["status"].by_name("value")
    rows = facts.tables["key_cache"].dictionaries()
    before = [dict(row) for row in rows]
    for row in rows:
        size, block = row["size_bytes"], row["block_size_bytes"] or DEFAULT_BLOCK_SIZE_BYTES
        if row["usable_bytes"] is None and isinstance(size, int) and isinstance(block, int) and block > 0:
            row["usable_bytes"] = usable_bytes(size, block)
        _have_no_blocks(row)
        if row["name"] == DEFAULT_CACHE and len(rows) == 1 and not _counts_nothing(row, facts):
            for column, name in STATUS_OF_DEFAULT_CACHE.items():
                row[column] = now.get(name) if row[column] is None else row[column]
                rate = f"{column}_per_second"
                row[rate] = rates.get(name) if row[rate] is None else row[rate]
        requests, misses = row["read_requests_per_second"], row["reads_per_second"]
        if row["miss_ratio"] is None and isinstance(requests, int | float) and isinstance(misses, int | float):
            row["miss_ratio"] = misses / requests if requests else None
    return _rows(facts, "key_cache", rows) if rows != before else None


def _derived_totals(facts: FactSet) -> FactRows | None:
    known = facts.single("totals")
    if not facts.tables["tables"].rows or known.get("myisam_tables") is not None or may_be_part(facts):
        return None
    tables = facts.tables["tables"]
    formats = tables.values("row_format")

    def total(column: str, only: str | None = None) -> Value:
        values = tables.values(column)
        if only is not None:
            values = [value for value, kind in zip(values, formats, strict=True) if kind == only]
        return sum_of(values)

    derived: dict[str, Value] = {
        "myisam_tables": len(tables.rows),
        "myisam_rows": total("rows"),
        "myisam_data_bytes": total("data_bytes"),
        "myisam_index_bytes": total("index_bytes"),
        "crashed_tables": total("crashed"),
    }
    if tables.has("row_format"):
        derived["compressed_tables"] = formats.count("compressed")
        derived["compressed_data_bytes"] = total("data_bytes", only="compressed")
    return _rows(facts, "totals", [derived | {name: value for name, value in known.items() if value is not None}])


def _derived_server(facts: FactSet) -> FactRows | None:
    present = facts.single("server")
    variables = facts.tables["variable"].by_name("value")
    known = present | _told_by_itself(present, variables, facts.tables["status"].by_name("value"))
    # People write "MariaDB" here too; the server itself does not.
    said = known.get("flavour")
    derived: dict[str, Value] = {"flavour": said.lower()} if isinstance(said, str) else {}
    version = _version(known, str(variables.get("version_comment") or ""))
    if version is not None:
        # MySQL went from 9 to calendar versions; these are MariaDB's alone.
        flavour = "mariadb" if version.number[0] in MARIADB_MAJORS else version.flavour
        # A version that is MariaDB's alone says more than what somebody called the server.
        told = derived.get("flavour") if flavour != "mariadb" else None
        plain = _without_name(str(known["version"]))
        derived |= {
            "version_number": version.as_number,
            "flavour": told or flavour,
            "version": plain.removeprefix(_GREETING) if flavour == "mariadb" else plain,
        }
    completed = known | derived
    return None if completed == present else _rows(facts, "server", [completed])


def _told_by_itself(known: Row, variables: Mapping[str, Value], status: Mapping[str, Value]) -> dict[str, Value]:
    """What SHOW VARIABLES and SHOW STATUS say of the server: whoever copied them into a file need not say it again."""
    told: dict[str, Value] = {}
    version, uptime = variables.get("version"), status.get("Uptime")
    # A number has lost its last zero: 10.10 and 10.1 are the same.
    if isinstance(version, str) and known.get("version") in (None, "") and known.get("version_number") is None:
        told["version"] = version
    if isinstance(uptime, int | float) and uptime >= 0 and known.get("uptime_seconds") is None:
        told["uptime_seconds"] = uptime
    return told


def _version(known: Row, comment: str) -> ServerVersion | None:
    """The version that is told, while its number is not."""
    text = known.get("version")
    if not isinstance(text, str) or known.get("version_number") is not None:
        return None
    try:
        version = parse_version(_without_name(text), text + comment)
    except (UserError, ValueError):  # ValueError: more digits than Python reads
        return None
    return None if version.as_number > MAXIMUM_VERSION_NUMBER else version


def _without_name(version: str) -> str:
    """People write "MariaDB 10.3"; the server itself does not."""
    return version.lstrip(_LETTERS_AND_BLANKS)


def _derived_mysqld(facts: FactSet) -> FactRows | None:
    """A facts file may hold the status alone. Of it nobody knows whose connections are among those that ran; of a live server see status.py."""
    known = facts.single("mysqld")
    running = facts.tables["status"].by_name("value").get("Threads_running")
    if known.get("threads_running") is not None or not isinstance(running, int | float):
        return None
    return _rows(facts, "mysqld", [known | {"threads_running": running}])


def _rows(facts: FactSet, table: str, rows: list[dict[str, Value]]) -> FactRows:
    columns = facts.tables[table].columns
    return FactRows(columns, [[storable(row.get(column)) for column in columns] for row in rows])
