"""Facts without names: what may be posted in a ticket. Names are replaced, the same by the same; sizes, counts and rates stay.

What is not known to be the server's own word is a name, so a column or a variable that a later release adds is replaced until somebody
says here that it may stay. New names sort as the old ones did, for rules take the first of equals by name. Parts of paths are replaced one
by one: what lay below a directory still does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

# Columns of text that hold the server's, the kernel's or our own words.
OUR_WORDS = frozenset({
    "server.flavour", "server.charset", "tables.row_format", "tables.pack_keys_option", "indexes.algorithm", "indexes.key_description",
    "mysqld.page_cache_method", "mysqld.malloc", "host.libc", "mutex_wait.name", "processlist.state", "processlist.command",
    "variable_origin.name", "variable_origin.origin",
})  # fmt: skip
# Columns that hold names, by what they name: `table` may be one of a partition.
NAMES = {
    "schema_name": "schema", "table_name": "table", "index_name": "index", "key_cache": "cache", "key_cache.name": "cache",
    "crashed_partitions": "partition", "fullest_partition": "partition", "channel": "channel", "hostname": "host",
}  # fmt: skip
# Variables whose values are words of the server's manual, whatever they are.
WORD_VARIABLES = re.compile(
    r"(binlog_(checksum|format|row_image)|character_set_(?!s_dir).*|collation_.*|concurrent_insert|default_(tmp_)?storage_engine|delay_key_write|disabled_storage_engines|enforce_gtid_consistency|gtid_mode|internal_tmp_(disk|mem)_storage_engine|"
    r"innodb_flush_method|log_output|myisam_(recover|recover_options|stats_method)|query_cache_type|relay_log_info_repository|sql_mode|storage_engine|thread_handling|"
    r"transaction_isolation|tx_isolation|version_compile_machine|wsrep_mode)"
)
KEPT_WORDS = frozenset(
    [
        "ON",
        "OFF",
        "YES",
        "NO",
        "TRUE",
        "FALSE",
        "NONE",
        "AUTO",
        "ALWAYS",
        "NEVER",
        "DEFAULT",
        "DEMAND",
        "DISABLED",
        "ALL",
        "FULL",
        "MINIMAL",
        "SYSTEM",
        "UTC",
        "FILE",
        "TABLE",
        "ROW",
        "MIXED",
        "STATEMENT",
        "PRIMARY",
        "CONNECTED",
        "SYNCED",
        "WIN32",
        "WIN64",
    ]
)
# What the programs make themselves, which rules know by name.
KEPT_NAMES = {
    "cache": {"default"}, "index": {"PRIMARY"}, "channel": {"group_replication_applier", "group_replication_recovery"},
}  # fmt: skip
# Directories of Amazon's (factbase/hosting.py): they tell who runs the server, and nothing of whose it is.
KEPT_PARTS = frozenset({"rdsdbdata", "rdsdbbin"})
# Whose server it is, of version_comment: what else stands there may be whoever built it.
_PRODUCT = re.compile(r"mariadb|percona", re.IGNORECASE)
PARTITION_MARK = re.compile(r"(#P#|#SP#|#p#|#sp#)")
# What SET PERSIST wrote of a named key cache; other names with a dot are of plugins and components.
_OF_A_CACHE = re.compile(r"(.+)(\.key_(?:buffer|cache)_\w+)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?[kKmMgGtT%]?")
_VERSION = re.compile(r"\d+(\.\d+)+(-MariaDB)?")
_DOTS = frozenset({"", ".", ".."})
# A version's letters behind its numbers may be whoever built it.
VERSIONS = frozenset({"server.version", "host.kernel", "variable.version", "variable.innodb_version"})
KEPT_KEYS = frozenset({"schema", "time", "tool", "interval_seconds"})


class _Names:
    """What stands for each name: collected first, so that the new ones sort as the old."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}
        self._new: dict[tuple[str, str], str] = {}

    def collect(self, kind: str, name: str) -> str:
        """Remember a name."""
        self._seen.setdefault(kind, set()).add(name)
        return name

    def settle(self) -> None:
        """Give each a number, in their order."""
        for kind, names in self._seen.items():
            digits = len(str(len(names)))
            self._new |= {(kind, name): f"{kind}{number:0{digits}}" for number, name in enumerate(sorted(names), 1)}

    def new(self, kind: str, name: str) -> str:
        """What stands for it."""
        return self._new[kind, name]


Replace = Callable[[str, str], str]


def anonymised(document: Mapping[str, Any]) -> dict[str, Any]:
    """A facts file's document without names; the same names are replaced by the same."""
    names = _Names()
    _replaced(document, names.collect)
    names.settle()
    return _replaced(document, names.new)


def _replaced(document: Mapping[str, Any], replace: Replace) -> dict[str, Any]:
    return {table: _table(table, content, replace) for table, content in document.items()}


def _table(table: str, content: Any, replace: Replace) -> Any:
    if table in KEPT_KEYS or content is None:
        return content
    if isinstance(content, list):
        return [_row(table, row, replace) for row in content]
    return _row(table, content, replace)


def _row(table: str, row: Mapping[str, Any], replace: Replace) -> dict[str, Any]:
    return {name: _value(table, name, value, replace) for name, value in row.items()}


def _value(table: str, name: str, value: Any, replace: Replace) -> Any:
    if not isinstance(value, str) or not value:
        return value
    of_cache = _OF_A_CACHE.fullmatch(value) if f"{table}.{name}" == "variable_origin.name" else None
    if of_cache is not None:
        return _name("cache", of_cache[1], replace) + of_cache[2]
    if f"{table}.{name}" in OUR_WORDS:
        return value
    if f"{table}.{name}" in VERSIONS:
        found = _VERSION.match(value)
        return found[0] if found else replace("text", value)
    kind = NAMES.get(f"{table}.{name}") or NAMES.get(name)
    if kind and table not in ("variable", "status"):
        return "".join(_name(kind, part, replace) for part in _parts(kind, value))
    return _setting(name, value, replace)


def _parts(kind: str, value: str) -> Iterable[str]:
    """A name's parts: table and partition, or the partitions of a list."""
    if kind == "table":
        return PARTITION_MARK.split(value)
    return re.split(r"(, )", value) if kind == "partition" else [value]


def _name(kind: str, name: str, replace: Replace) -> str:
    is_between = name in _DOTS or name == ", " or PARTITION_MARK.fullmatch(name)
    return name if is_between or name in KEPT_NAMES.get(kind, ()) else replace(kind, name)


def _setting(name: str, value: str, replace: Replace) -> str:
    """A variable's value: a number or a word of the server's, or else a path, or any text."""
    if _NUMBER.fullmatch(value) or value.upper() in KEPT_WORDS or WORD_VARIABLES.fullmatch(name):
        return value
    product = _PRODUCT.search(value) if name == "version_comment" else None
    if product is not None:
        return product[0]
    return "/".join(_of_path(value, replace)) if "/" in value else replace("text", value)


def _of_path(value: str, replace: Replace) -> Iterator[str]:
    for part in value.split("/"):
        yield part if part in _DOTS or part in KEPT_PARTS else replace("part", part)
