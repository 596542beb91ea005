"""Which change a proof is about, held against what a finding would have one run: what is set to what, whatever way it is written.

Both sides are texts that are compared and never run. What only makes a change take effect (FLUSH TABLES, LOAD INDEX) is no part of it, nor what only has the server
tell more: a log that names statements without an index makes none faster, and its cost proves nothing of the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from myisam_advisor.remedies.statements.assigned import assigned
from myisam_advisor.workload.set_statement import OF_ALL
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.outside.quantities import size_in

# A proof speaks for sizes and counts within a quarter of what was tried: 512M proves nothing about 4G.
TOLERANCE = 1.25
_SWITCHES = {"on": 1.0, "true": 1.0, "yes": 1.0, "off": 0.0, "false": 0.0, "no": 0.0}
_NO_CHANGE = late_pattern(r"(?:FLUSH|LOCK|UNLOCK|LOAD INDEX|CHECK|SELECT|SHOW)\b|--|#|/\*|$", re.IGNORECASE)
_ALTER = late_pattern(r"(?P<what>ALTER\s+TABLE\s+(?:`(?:[^`]|``)*`|[^\s`.]+)(?:\.(?:`(?:[^`]|``)*`|[^\s`.]+))?)\s+(?P<how>.+)", re.IGNORECASE)  # fmt: skip
_TABLE_OPTION = late_pattern(r"(\w+)\s*=\s*([\w']+)")
_OPTION = late_pattern(r"(?:--)?(?P<name>[A-Za-z][\w.-]*)\s*=\s*(?P<value>[^;]*)")
_UNLOGGED = late_pattern(r"\b(?:NO_WRITE_TO_BINLOG|LOCAL)\s+", re.IGNORECASE)
_TELLING = frozenset(
    (
        "slow_query_log",
        "long_query_time",
        "log_output",
        "log_queries_not_using_indexes",
        "log_throttle_queries_not_using_indexes",
        "min_examined_row_limit",
        "log_slow_min_examined_row_limit",
        "userstat",
    )
)
_QUOTES = "'\"` "


def changes_of(texts: Iterable[str]) -> Mapping[str, str]:
    """What is changed, by its name, and to what; empty where nothing is."""
    found: dict[str, str] = {}
    for given in texts:
        text = " ".join(given.split()).rstrip("; ")
        if (_NO_CHANGE.match(text) and not text.startswith("--")) or text.startswith("-- "):
            continue
        assignments, altered = _of_all_connections(given), _ALTER.fullmatch(text)
        option = None if assignments or altered else _OPTION.fullmatch(text)
        if assignments:
            found |= assignments
        elif option:
            found[_plain(option["name"])] = _value(option["value"])
        elif altered:
            found |= _alterations(altered["what"], altered["how"])
        else:
            found[_UNLOGGED.sub("", text)] = ""
    return {name: value for name, value in found.items() if name not in _TELLING}


def _of_all_connections(text: str) -> Mapping[str, str]:
    """Each variable that a SET sets for all connections, or for the server's next start; none where it sets anything else."""
    found = assigned(text)
    if any(one.scope not in OF_ALL for one in found):
        return {}
    return {
        _plain(f"{one.cache}.{one.variable}" if one.cache else one.variable): _value(" ".join(one.value.split()))
        for one in found
    }


def _alterations(what: str, how: str) -> Mapping[str, str]:
    """Each option of a table by itself; anything else as it is written."""
    options = _TABLE_OPTION.findall(how)
    if options and not _TABLE_OPTION.sub("", how).strip(", "):
        return {f"{what} {name.upper()}": _value(value) for name, value in options}
    return {f"{what} {how}": ""}


def is_about(proved: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether a proof of one change speaks for the other: the same things, to the same values or nearly so."""
    return (
        bool(wanted)
        and proved.keys() == wanted.keys()
        and all(are_alike(proved[name], wanted[name]) for name in wanted)
    )


def are_alike(one: str, other: str) -> bool:
    """Whether two values are the same, or sizes and counts that are nearly so."""
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return one.casefold() == other.casefold()
    if min(first, second) <= 1:  # switches, and what is not limited
        return first == second
    return max(first, second) <= TOLERANCE * min(first, second)


def _number(text: str) -> float | None:
    switched = _SWITCHES.get(text.casefold())
    return size_in(text) if switched is None else switched


def _plain(name: str) -> str:
    return name.replace("-", "_").casefold()


def _value(text: str) -> str:
    return text.strip(_QUOTES)
