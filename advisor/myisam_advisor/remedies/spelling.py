"""Settings as this version of the server reads them.

Sources: MySQL manual, "Server Command Options"; sql/mysqld.cc of MySQL 5.1 (my_long_options).
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import Command
from myisam_advisor.remedies.statements.variables import SetGlobal, set_global

# Before, these are numbers in option files and in SET GLOBAL ("Unknown suffix 'O'"), and myisam_recover_options is called otherwise.
WORDS_FROM = 50503
SPELLED_AS_NUMBERS: Mapping[str, Mapping[str, int]] = {
    "query_cache_type": {"OFF": 0, "ON": 1, "DEMAND": 2},
    "concurrent_insert": {"NEVER": 0, "AUTO": 1, "ALWAYS": 2},
}
OPTION_BEFORE = {"myisam_recover_options": "myisam-recover"}
# Before, an option file's ON for this switch reads as 0 (tried on 5.5.34; 5.6.24 takes it), though the manual says that words are read from 5.5.10 on. Every version reads
# the number. Other options of ON and OFF may be enumerations, or file names.
SWITCHES_AS_WORDS_FROM = 50600
SWITCHES = frozenset({"myisam_use_mmap"})
SPELLED_SWITCH = {"ON": 1, "OFF": 0}


def spelled(command: Command, state: ServerState) -> Command:
    """SET GLOBAL with the value as this version reads it."""
    if not isinstance(command, SetGlobal) or not state.is_before(WORDS_FROM):
        return command
    number = SPELLED_AS_NUMBERS.get(command.variable, {}).get(command.word)
    return command if number is None else set_global(command.variable, number, command.cache)


def spelled_line(line: OptionLine, value: str, state: ServerState) -> OptionLine:
    """The line of my.cnf as this version reads it."""
    name = line.option
    number = SPELLED_AS_NUMBERS.get(name, {}).get(value.upper())
    # Every version reads the number: it stands where the version is not known too, as a wrong word keeps the server from starting.
    if number is not None and (state.version_number is None or state.is_before(WORDS_FROM)):
        return option_line(name, number)
    if name in OPTION_BEFORE and state.is_before(WORDS_FROM):
        return option_line(OPTION_BEFORE[name], value)
    if name in SWITCHES and value.upper() in SPELLED_SWITCH and state.is_before(SWITCHES_AS_WORDS_FROM):
        return option_line(name, SPELLED_SWITCH[value.upper()])
    return line
