"""Where one setting is to be taken away that is in the way of something, as the server tells it (decision 068)."""

from __future__ import annotations

import re

from myisam_exporter.collectors.variable_origins import COMMAND_LINE, OPTION_FILE
from myisam_exporter.facts.columns import Row
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.sql import quote_variable

# In a sentence: a page for those who did not log in finds such a path there, and shows it to nobody.
_PLAIN_PATH = re.compile(r"(?:/[\w.+@-]{1,255}){2,64}", re.ASCII)


def place_of(name: str, facts: FactSet) -> str:
    """Where the value in force is given and what takes it away, as a sentence without its full stop; empty where that is not known."""
    if "variable_origin" in facts.unknown:
        return ""
    rows = facts.tables["variable_origin"].dictionaries()
    row = next((row for row in rows if row["name"] == name), None)
    return "" if row is None else _place(name, row)


def _place(name: str, row: Row) -> str:
    reset = f"run `RESET PERSIST {quote_variable(name)}`"
    if row["origin"] == COMMAND_LINE:
        further = f", and {reset}" if row["is_persisted"] == 1 else ""
        return f"--{name} stands on the server's command line: change it there{further}"
    if row["is_persisted"] == 1:
        return f"SET PERSIST wrote {name}: {reset}"
    path = str(row["option_file"] or "")
    if row["origin"] != OPTION_FILE or not _PLAIN_PATH.fullmatch(path):
        return ""
    return f"{name} stands in {path}: change it there"
