"""Settings of the private servers of a trial of engines: the watched server's own where they matter, the same memory for each engine.

What a commit is worth decides how fast an engine that keeps it is. So innodb_flush_log_at_trx_commit and its like are the watched
server's, and are told. Each option is given with --loose-: a newer release (--server) may not know it any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myisam_advisor.remedies.engine_change import ARIA, INNODB
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.statements.watched import SETTINGS as REPLAY_SETTINGS
from myisam_advisor.trial.trial import WORD_LENGTHS, stopword_settings
from myisam_exporter.outside.numbers import whole_number

MYISAM = "MyISAM"
OPTIONS = (
    "--thread-cache-size=200", "--max-connections=300", "--loose-performance-schema=OFF", "--myisam-recover-options=OFF",
    # Each table a file, whose size can be told; nothing of a pool from one start to the next.
    "--loose-innodb-file-per-table=ON", "--loose-innodb-buffer-pool-load-at-startup=OFF", "--loose-innodb-buffer-pool-dump-at-shutdown=OFF",
)  # fmt: skip
# The built-in statements are few, and sent again and again: a query cache would answer them.
NO_QUERY_CACHE = ("--loose-query-cache-type=0", "--loose-query-cache-size=0")
# What decides whether what was acknowledged is there after a crash, and what that costs.
DURABILITY = (
    "innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite", "innodb_use_fdatasync", "aria_group_commit",
    "aria_group_commit_interval", "delay_key_write",
)  # fmt: skip
# MariaDB 10.11.10, 11.4.4 and later: whether a copying ALTER sorts first.
ALTER_COPY_BULK = "innodb_alter_copy_bulk"
NO_RELEASE_SORTS_BEFORE = (10, 11)
OFF = frozenset({"OFF", "0"})
# What else of InnoDB decides what an ALTER meets, and how fast it is.
INNODB_SETTINGS = (
    "innodb_strict_mode", "innodb_default_row_format", "innodb_large_prefix", "innodb_file_format", "innodb_io_capacity",
    "innodb_sort_buffer_size", "innodb_change_buffering", "innodb_log_buffer_size", "innodb_autoinc_lock_mode",
    ALTER_COPY_BULK, "innodb_ft_min_token_size", "innodb_ft_max_token_size", "innodb_ft_enable_stopword", "innodb_lock_wait_timeout",
)  # fmt: skip
LOG_SIZES = ("innodb_log_file_size", "innodb_redo_log_capacity")
SMALLEST_LOG, LARGEST_LOG = 32 << 20, 256 << 20
# Told in the report, as the private servers have them.
TOLD = (*DURABILITY, *LOG_SIZES, "innodb_page_size", "innodb_strict_mode", ALTER_COPY_BULK)
CACHES = {MYISAM: "key_buffer_size", INNODB: "innodb_buffer_pool_size", ARIA: "aria_pagecache_buffer_size"}
# Private servers have no binary log, and no replicas.
NOT_HERE = ("log_bin", "sync_binlog")
LEAST_CACHE, LEAST_OTHER = 64 << 20, 8 << 20
POOL_STEP = 128 << 20
SHARE_OF_MEMORY = 4


def engine_settings(variables: Mapping[str, str], is_same_release: bool) -> list[str]:
    """The watched server's settings as words for a private one's command line.

    Of another release only those that every release takes: what is durable, and which words FULLTEXT indexes hold.
    """
    names = (*REPLAY_SETTINGS, *DURABILITY, *INNODB_SETTINGS) if is_same_release else (*DURABILITY, *WORD_LENGTHS)
    words = [
        _word(name, variables[name]) for name in dict.fromkeys(names) if variables.get(name) and name not in CACHES.values()
    ]  # fmt: skip
    if is_same_release and variables.get("sql_mode") == "":
        words.append("--sql-mode=")
    words += stopword_settings(variables)
    return [*words, *(_word(name, str(_log_bytes(variables[name]))) for name in LOG_SIZES if variables.get(name))]


def may_sort_copies(binaries: ServerBinaries, settings: Sequence[str]) -> bool:
    """Whether a private server with these words may sort what it copies into InnoDB, in files beside its data: every MariaDB that could, unless it is told not to."""
    told = {word.partition("=")[2].upper() for word in settings if word.startswith(_word(ALTER_COPY_BULK, ""))}
    return binaries.flavour == "mariadb" and binaries.version >= NO_RELEASE_SORTS_BEFORE and told.isdisjoint(OFF)


def not_here(variables: Mapping[str, str]) -> dict[str, str]:
    """What the watched server has, and private ones have not."""
    return {name: variables[name] for name in NOT_HERE if variables.get(name)}


def cache_bytes(variables: Mapping[str, str], available_bytes: int | None, servers: int) -> int:
    """Memory for each engine's cache: as much as the largest that the watched server has, and no more than a quarter of what is available for all."""
    known = [whole_number(variables.get(name)) for name in CACHES.values()]
    wanted = max([LEAST_CACHE, *(one for one in known if one is not None)])
    if available_bytes is not None:
        wanted = min(wanted, max(available_bytes // SHARE_OF_MEMORY // servers, LEAST_CACHE))
    # InnoDB takes whole chunks of 128 MiB, and would have more than the others.
    return wanted - wanted % POOL_STEP if wanted >= POOL_STEP else wanted


def cache_options(engine: str, size_bytes: int) -> list[str]:
    """The engine's cache as large as that, the others small."""
    return [_word(name, str(size_bytes if one == engine else LEAST_OTHER)) for one, name in CACHES.items()]


def told_settings(servers: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """What to tell of the private servers' variables (by engine): durability, and each engine's cache on its own server."""
    found: dict[str, str] = {}
    for engine, variables in servers.items():
        found |= {name: variables[name] for name in TOLD if name in variables}
        found[CACHES[engine]] = variables.get(CACHES[engine], "unknown")
    return found


def _word(name: str, value: str) -> str:
    return f"--loose-{name.replace('_', '-')}={value}"


def _log_bytes(text: str) -> int:
    known = whole_number(text)
    return SMALLEST_LOG if known is None else min(max(known, SMALLEST_LOG), LARGEST_LOG)


def chosen_engines(asked: Sequence[str], is_mariadb: bool) -> list[str]:
    """The engines to try: those that were asked for; else InnoDB, and Aria where the server has it."""
    names = {"innodb": INNODB, "aria": ARIA}
    return [names[one] for one in dict.fromkeys(asked)] or [INNODB, *([ARIA] if is_mariadb else [])]
