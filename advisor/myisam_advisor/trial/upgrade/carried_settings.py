"""Which settings the newer version has: its own defaults, but for what somebody set on the watched server.

What was set is told by a private server of the present version without any setting: where the watched server has another value than that
one, somebody gave it, and it goes with the option file. So a default that changed between the versions is met as it will be after the
upgrade, and nobody's own choice is blamed on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.watched import SETTINGS
from myisam_advisor.trial.trial import STOPWORD_FILE, stopword_file
from myisam_advisor.trial.upgrade.one_table import told_words
from myisam_advisor.trial.upgrade.recorded_result import ServerSetting
from myisam_exporter.server.sql import quote_identifier, quote_text, quote_variable, statement

MODE, CHARSET, COLLATION = "sql_mode", "character_set_server", "collation_server"
NAMES = "lower_case_table_names"
# What decides what a statement means: set on the running server, which says why it refuses a value, where an option would keep it from starting.
DECIDING = (MODE, CHARSET, COLLATION)
CARRIED = (*SETTINGS, STOPWORD_FILE)


def carryable(variables: Mapping[str, str]) -> dict[str, str]:
    """The settings of the watched server that both versions are to have, as a server with another data directory takes them."""
    told = {**variables, STOPWORD_FILE: stopword_file(variables)}
    return {name: told[name] for name in CARRIED if name in variables}


def carried(watched: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Of the settings that matter to statements on MyISAM those that somebody gave the watched server."""
    return {name: watched[name] for name in CARRIED if name in watched and watched[name] != defaults.get(name)}


def name_options(watched: Mapping[str, str]) -> list[str]:
    """How names of tables are compared: MySQL 8.0 and later take it when they make their dictionary, and no later."""
    return [f"--{NAMES.replace('_', '-')}={watched[NAMES]}"] if watched.get(NAMES) else []


def options_of(given: Mapping[str, str]) -> list[str]:
    """The same as words of the newer server's command line, which may not know all of them any more."""
    return [f"--loose-{name.replace('_', '-')}={value}" for name, value in given.items() if name not in DECIDING]


def give_deciding(server: PrivateServer, given: Mapping[str, str]) -> list[str]:
    """Set on the running newer server what decides; what it says of those that it refuses."""
    notes = []
    for name in DECIDING:
        if name in given:
            problem = told_words(server, statement("SET GLOBAL {} = {}", quote_variable(name), quote_text(given[name])))
            if problem:
                notes.append(f"{name}={given[name]} is refused (error {problem[0]}: {problem[1]}).")
    return notes


def give_charset(servers: Sequence[PrivateServer], schemas: Iterable[str], watched: Mapping[str, str]) -> None:
    """The databases keep their default through an upgrade: temporary tables that a statement makes in them have it. What is unknown to a server is passed over."""
    if not watched.get(CHARSET) or not watched.get(COLLATION):
        return
    for schema in schemas:
        words = statement(
            "ALTER DATABASE {} CHARACTER SET {} COLLATE {}", quote_identifier(schema), quote_text(watched[CHARSET]), quote_text(watched[COLLATION])
        )  # fmt: skip
        for server in servers:
            told_words(server, words)


def settings_told(
    present: Mapping[str, str], newer: Mapping[str, str], given: Mapping[str, str]
) -> tuple[ServerSetting, ...]:
    """What decides, on both."""
    return tuple(
        ServerSetting(name, present.get(name, ""), newer.get(name, ""), name in given) for name in DECIDING
    )  # fmt: skip
