"""What of the watched server a replay is to have: settings, and tables as they were when the recording began."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.trial.tables.sources import DATA, INDEX, Source
from myisam_advisor.trial.trial import SETTINGS as EXPERIMENT_SETTINGS

# What of the watched server's settings decides how statements run on MyISAM tables, and what they mean.
SETTINGS = (
    *EXPERIMENT_SETTINGS, "key_buffer_size", "key_cache_segments", "key_cache_age_threshold", "key_cache_division_limit", "sql_mode",
    "sort_buffer_size", "join_buffer_size", "tmp_table_size", "max_heap_table_size", "max_allowed_packet", "table_open_cache",
    "query_cache_size", "query_cache_type", "myisam_use_mmap", "myisam_sort_buffer_size", "ft_min_word_len", "ft_max_word_len",
    "low_priority_updates", "group_concat_max_len",
)  # fmt: skip


def changed_since(source: Source, began_at_microseconds: int | None) -> float | None:
    """For how long after the recording's beginning the table was still written; None where it was not, and so is as it was then."""
    if began_at_microseconds is None:
        return None
    latest = max(source.file(ending).state().st_mtime_ns for ending in (DATA, INDEX)) / 1e9
    since = latest - began_at_microseconds / 1e6
    return since if since > 0 else None


def replay_settings(variables: Mapping[str, str]) -> list[str]:
    """The watched server's settings that matter, as words for the private one's command line."""
    words = [f"--{name.replace('_', '-')}={variables[name]}" for name in SETTINGS if variables.get(name)]
    return [*words, *(["--sql-mode="] if variables.get("sql_mode") == "" else [])]
