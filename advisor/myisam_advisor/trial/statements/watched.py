"""What of the watched server a replay is to have: settings, and tables as they were when the recording began."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from myisam_advisor.proofs.changes import are_alike
from myisam_advisor.trial.tables.sources import DATA, INDEX, Source
from myisam_advisor.trial.trial import BUILT_IN, STOPWORD_FILE, stopword_settings
from myisam_advisor.trial.trial import SETTINGS as EXPERIMENT_SETTINGS

# What of the watched server's settings decides how statements run on MyISAM tables, and what they mean.
SETTINGS = (
    *EXPERIMENT_SETTINGS, "key_buffer_size", "key_cache_segments", "key_cache_age_threshold", "key_cache_division_limit", "sql_mode",
    "sort_buffer_size", "join_buffer_size", "tmp_table_size", "max_heap_table_size", "max_allowed_packet", "table_open_cache",
    "query_cache_size", "query_cache_type", "myisam_use_mmap", "myisam_sort_buffer_size", "low_priority_updates", "group_concat_max_len",
)  # fmt: skip

SWITCH = "myisam_use_mmap"

# What decides how statements are planned, and what they mean, beside these; not every release takes each at its start.
MEANING = (
    "optimizer_switch", "optimizer_search_depth", "optimizer_prune_level", "max_seeks_for_key", "myisam_stats_method", "default_storage_engine",
    "default_tmp_storage_engine", "old_mode", "div_precision_increment", "auto_increment_increment", "auto_increment_offset", "explicit_defaults_for_timestamp",
)  # fmt: skip
# A plugin of the watched server's is not loaded by a private one, which would not start for want of it.
_ENGINES = frozenset(("myisam", "innodb", "memory", "aria"))
# As servers say that there is no limit: MySQL 5.5 does not take such a number of max_seeks_for_key at its start.
_WITHOUT_LIMIT = frozenset(("", "4294967295", "18446744073709551615"))
# Empty is a value of theirs, and need not be the default.
_MAY_BE_EMPTY = frozenset(("old_mode",))
# A private server has no table of time zones' names.
_OFFSET = re.compile(r"[+-]\d{1,2}:\d{2}", re.ASCII)


def changed_since(source: Source, began_at_microseconds: int | None) -> float | None:
    """For how long after the recording's beginning the table was still written; None where it was not, and so is as it was then."""
    if began_at_microseconds is None:
        return None
    latest = max(source.file(ending).state().st_mtime_ns for ending in (DATA, INDEX)) / 1e9
    since = latest - began_at_microseconds / 1e6
    return since if since > 0 else None


def replay_settings(variables: Mapping[str, str]) -> list[str]:
    """The watched server's settings that matter, as words for the private one's command line."""
    words = [
        f"--{name.replace('_', '-')}={_spelled(name, variables[name])}" for name in SETTINGS if variables.get(name)
    ]
    return [*words, *(["--sql-mode="] if variables.get("sql_mode") == "" else []), *stopword_settings(variables)]


def _spelled(name: str, value: str) -> str:
    """The value as every release reads it at its start: MySQL 5.5 takes ON of a switch that takes no value for OFF."""
    return "1" if name == SWITCH and value.upper() == "ON" else value


def meaning_settings(variables: Mapping[str, str]) -> list[str]:
    """The watched server's settings that decide plans and meanings, as words for a private one of the very same program: of another release, it may refuse to start."""
    words = [
        f"--loose-{name.replace('_', '-')}={variables[name]}"
        for name in MEANING
        if (variables.get(name) or (name in _MAY_BE_EMPTY and name in variables))
        and ("engine" not in name or variables[name].lower() in _ENGINES)
        and variables[name] not in _WITHOUT_LIMIT - {""}
    ]
    zone = variables.get("time_zone", "")
    return [*words, f"--default-time-zone={zone}"] if _OFFSET.fullmatch(zone) else words


def other_settings(words: Iterable[str], variables: Mapping[str, str]) -> Iterator[str]:
    """Which of these words of its command line the private server, which has these variables, made something else of: a limit of the machine may forbid more."""
    for word in words:
        name, _, wanted = word.removeprefix("--loose-").removeprefix("--").partition("=")
        found = variables.get(name.replace("-", "_"), "")
        if wanted.isdigit() and found.isdigit() and not are_alike(wanted, found):
            yield f"{name.replace('-', '_')} is {wanted} on the watched server; the private one made {found} of it, and was measured so."


def meaning_notes(variables: Mapping[str, str]) -> Iterator[str]:
    """What of the watched server's settings a replay does not have."""
    if variables.get("init_connect"):
        yield "The server's init_connect is not run on the replayed connections: what it sets is as the defaults have it."
    if variables.get("sql_select_limit", "") not in _WITHOUT_LIMIT:
        yield f"The server's sql_select_limit ({variables['sql_select_limit']}) is not taken over: no server takes it at its start."
    file = variables.get(STOPWORD_FILE, BUILT_IN)
    if file not in ("", BUILT_IN):
        yield (
            f"The server's stopwords ({file}) are those of copies where every user may read that file. Where not, they have none, and UPDATE and DELETE of rows "
            "with FULLTEXT indexes end with error 126."
        )
    zone = variables.get("time_zone", "")
    if zone not in ("", "SYSTEM") and not _OFFSET.fullmatch(zone):
        yield f"The server's time_zone ({zone}) is not taken over: statements that use the time of day have the machine's."
