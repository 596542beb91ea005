"""Settings that alert rules and dashboards hold the counters against."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.variables import VARIABLES, Variables
from myisam_exporter.metrics.base import Group, Metric, Scene, Value

# metric, variables (the first that exists), what it is
SETTINGS = (
    ("table_cache_limit", ("table_open_cache", "table_cache"), "Tables that the table cache may hold"),
    ("connections_limit", ("max_connections",), "Connections that the server accepts"),
    ("open_files_limit", ("open_files_limit",), "Files that the server may open"),
    ("read_buffer_bytes", ("read_buffer_size",), "Buffer that each sequential scan of a MyISAM table may allocate"),
    (
        "mmap_limit_bytes",
        ("myisam_mmap_size",),
        "Most that MyISAM may map of compressed or mapped tables, absent where there is no limit",
    ),
    ("query_cache_limit_bytes", ("query_cache_size",), "Size of the query cache"),
)
# What the servers say for no limit: the largest size_t of a machine of 64 or 32 bits.
NO_LIMITS = {"mmap_limit_bytes": (float((1 << 64) - 1), (1 << 32) - 1)}
WORDS = {
    "recover_options": ("myisam_recover_options", "myisam_recover"),
    "concurrent_insert": ("concurrent_insert",),
    "delay_key_write": ("delay_key_write",),
    "use_mmap": ("myisam_use_mmap",),
}


class SettingMetrics(Group[Variables]):
    """A choice of SHOW GLOBAL VARIABLES."""

    samples = (VARIABLES,)
    reads = {VARIABLES.name: frozenset(chain(*(candidates for _, candidates, _ in SETTINGS), *WORDS.values()))}
    metrics = (
        *(Metric(name, "gauge", f"{text}: {variables[0]}.") for name, variables, text in SETTINGS),
        Metric(
            "settings_info",
            "gauge",
            "Always 1; settings that are words: myisam_recover_options, concurrent_insert, delay_key_write, myisam_use_mmap.",
            tuple(WORDS),
        ),
    )

    def values(self, pair: Pair[Variables], scene: Scene) -> Iterable[Value]:
        """Those that this server has."""
        variables = pair.after
        for name, candidates, _ in SETTINGS:
            known = (variables.number(candidate) for candidate in candidates)
            number = next((number for number in known if number is not None), None)
            yield Value(name, None if number in NO_LIMITS.get(name, ()) else number)
        yield Value("settings_info", 1, tuple(_word(variables, candidates) for candidates in WORDS.values()))


def _word(variables: Variables, candidates: tuple[str, ...]) -> str:
    return next((variables.values[name] for name in candidates if name in variables.values), "")


GROUP = SettingMetrics()
