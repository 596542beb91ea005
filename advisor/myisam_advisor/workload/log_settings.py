"""The variables that decide what a server's slow log holds: those to change for a recording, and giving them back.

Source: MySQL and MariaDB manuals, "The Slow Query Log"; Percona Server, "Slow query log rotation and expiration", slow_query_log_use_global_control.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

from myisam_advisor.workload.sources.base import Asked
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.server.granting import is_anonymous, logged_in_anonymously, shown, way_to
from myisam_exporter.server.sql import Sql, quote_value, quote_variable, statement

FILE, SWITCH, OUTPUT = "slow_query_log_file", "slow_query_log", "log_output"
PRIVILEGES = frozenset({1227, 1142, 1044, 1045})
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,9})?", re.ASCII)

# Whatever of these a server has; the log is switched on last, and nothing else may come to be written into the site's own.
_WANTED: Mapping[str, str] = {
    "min_examined_row_limit": "0",
    "log_slow_rate_limit": "1",
    "log_slow_filter": "",
    "log_slow_disabled_statements": "sp",
    "log_slow_verbosity": "",
    "log_slow_extra": "ON",
    "log_slow_admin_statements": "ON",
    "log_throttle_queries_not_using_indexes": "0",
    "long_query_time": "0",
}
# Percona Server: connections that are there already obey as well.
_PERCONA = {"slow_query_log_use_global_control": "all", "log_slow_verbosity": "microtime"}


# What a recording calls its log; where it stands after the end, the recording was cut off together with its guardian.
_LEFT_OVER = re.compile(r"(.*/)?myisam-advisor-[0-9a-f]{16}\.log", re.DOTALL)


def name_of_log() -> str:
    """A new one."""
    return f"myisam-advisor-{secrets.token_hex(8)}.log"


def is_of_a_recording(file: str) -> bool:
    """Whether a slow log's name is one that a recording gives: while it stands in the variable, the log's settings are the recording's."""
    return _LEFT_OVER.fullmatch(file) is not None


def present_settings(asked: Asked) -> dict[str, str]:
    """All global variables. Raises as `rows` does."""
    return {name or "": value or "" for name, value in asked.rows("SHOW GLOBAL VARIABLES", columns=2)}


def wanted_settings(present: Mapping[str, str], file: str) -> dict[str, str]:
    """What is to be changed for a recording into this file, in its order: the log's own switch first and last."""
    wanted = {**_WANTED, **(_PERCONA if "slow_query_log_use_global_control" in present else {})}
    changed = {FILE: file, OUTPUT: "FILE"}
    changed.update((name, value) for name, value in wanted.items() if name in present and present[name] != value)
    # Into the file alone: in mysql.slow_log statements would stay with their values.
    if present.get(OUTPUT) == "FILE":
        del changed[OUTPUT]
    if present.get(SWITCH) != "ON":
        changed[SWITCH] = "ON"
    return changed


def former_settings(present: Mapping[str, str], changed: Mapping[str, str]) -> dict[str, str]:
    """What gives them back, in its order: first what makes the log small, then where it is written."""
    order = sorted(changed, key=lambda name: (name in (FILE, OUTPUT), name == SWITCH, name != "long_query_time"))
    if SWITCH in order:
        # It was off: before anything else is written into the site's own file.
        order = [SWITCH, *(name for name in order if name != SWITCH)]
    return {name: present[name] for name in order}


def refuse_general_log_elsewhere(present: Mapping[str, str]) -> None:
    """Raises UserError where log_output cannot become FILE without the general log going somewhere else as well."""
    output = present.get(OUTPUT, "FILE")
    if output != "FILE" and present.get("general_log") == "ON":
        raise UserError(
            f"the general log is on and {OUTPUT} is {output}: a recording needs FILE, and the general log would go into its file for that time. "
            "Switch it off meanwhile (SET GLOBAL general_log = 'OFF';), or record the general log itself: --general-log FILE."
        )


def refuse_left_over(present: Mapping[str, str]) -> None:
    """Raises UserError where the settings are still those of a recording that was cut off: they are nobody's former ones."""
    file = present.get(FILE, "")
    if not is_of_a_recording(file):
        return
    names = (
        SWITCH,
        FILE,
        *(name for name, value in _WANTED.items() if name in present and _same(present[name], value)),
    )
    names = (*names, *(name for name in _PERCONA if name in present and name not in names))
    by_hand = " ".join(statement("SET GLOBAL {} = DEFAULT;", quote_variable(name)) for name in names)
    raise UserError(
        f"a recording of this server was cut off and left its settings: {FILE} is {file}. What they were before is not known. "
        f"Set them back, then what your option file has otherwise, and remove that file: {by_hand}"
    )


def _same(value: str, other: str) -> bool:
    """Two values of a variable, 0 and 0.000000 alike."""
    if _NUMBER.fullmatch(value) and _NUMBER.fullmatch(other):
        return float(value) == float(other)
    return value == other


def assignment(name: str, value: str) -> Sql:
    """SET GLOBAL with the value as SHOW VARIABLES tells it."""
    number = value if not _NUMBER.fullmatch(value) else float(value) if "." in value else int(value)
    return statement("SET GLOBAL {} = {}", quote_variable(name), quote_value(number))


def refuse_without_right(asked: Asked, present: Mapping[str, str], account: str) -> None:
    """Set a variable to what it is: a server refuses who may not. Raises UserError then."""
    try:
        asked.rows(assignment("long_query_time", present.get("long_query_time", "10")))
    except StatementRefusedError as error:
        if error.number not in PRIVILEGES:
            raise
        privilege = (
            "SYSTEM_VARIABLES_ADMIN"
            if "MariaDB" not in present.get("version", "") and not present.get("version", "").startswith("5.")
            else "SUPER"
        )
        # An administrator's account is the other way, which is all that an anonymous account is told.
        granting = "Log" if is_anonymous(account) else f"{way_to(f'{privilege} ON *.*', account)} or log"
        raise UserError(
            f"record --seconds sets global variables, which {shown(account)} may not{logged_in_anonymously(account)}. {granting} "
            "in as an administrator (--user root), or give a log that is there (--slow-log FILE)."
        ) from None


def flavour_of(present: Mapping[str, str]) -> str:
    """mysql, mariadb or percona."""
    if "slow_query_log_use_global_control" in present:
        return "percona"
    return "mariadb" if "mariadb" in present.get("version", "").lower() else "mysql"


def identity(present: Mapping[str, str]) -> dict[str, str]:
    """What tells this server from another one that answers at its address later."""
    return {name: present[name] for name in ("datadir", "server_uuid", "socket", "port") if name in present}


def changed_since(asked: Asked, ours: Mapping[str, str], former: Mapping[str, str]) -> dict[str, str]:
    """The variables that have neither our value nor their former one: somebody set them meanwhile; what they are now."""
    now = present_settings(asked)
    return {name: now[name] for name, value in ours.items() if name in now and now[name] not in (value, former[name])}


def give_back(asked: Asked, former: Mapping[str, str]) -> list[str]:
    """Set each variable to what it was, and read it back; what is not as it was, each reason once. Raises ServerLostError.

    What was never changed is not set: a server that refused a variable for the recording refuses it now.
    """
    now, refused = present_settings(asked), {}
    for name, value in former.items():
        if now.get(name) == value:
            continue
        try:
            asked.rows(assignment(name, value))
        except StatementRefusedError as error:
            refused[name] = error.text
    now = present_settings(asked)
    stayed: dict[str, list[str]] = {}
    for name, value in former.items():
        if now.get(name) != value:
            stayed.setdefault(refused.get(name, ""), []).append(f"{name} is {now.get(name)!r} and was {value!r}")
    return [f"{', '.join(names)}{f': {reason}' if reason else ''}" for reason, names in stayed.items()]
