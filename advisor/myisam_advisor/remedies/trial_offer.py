"""The trial that a finding offers where nothing is proved yet, as a line for a shell."""

from __future__ import annotations

from myisam_advisor.remedies.shell_lines import ShellLine, shell_line
from myisam_advisor.texts.templates import object_name
from myisam_exporter.facts.columns import Row

# Columns of a rule's query that name the table to try it on: its object, or of a whole server the busiest.
NAMES = (("schema_name", "table_name"), ("busiest_schema", "busiest_table"))


def trial_line(experiment: str, row: Row) -> ShellLine:
    """The trial on a copy of the table that the row is about; with a name to be filled in where it names none, or none that fits in a line."""
    names = next((pair for pair in NAMES if all(row.get(name) is not None for name in pair)), None)
    table = "DB.TABLE" if names is None else object_name(*(str(row[name]) for name in names))
    try:
        return shell_line("myisam-advisor trial {} --table {}", experiment, table)
    except ValueError:  # a name that no shell can be given in one line
        return shell_line("myisam-advisor trial {} --table DB.TABLE", experiment)
