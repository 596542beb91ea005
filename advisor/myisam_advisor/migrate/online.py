"""What copies a large table while others write to it, and what does not.

Source: pt-online-schema-change of Percona Toolkit 3.5 (its manual, and the checks before it copies): triggers of its own carry writes over to
the copy, one of them deletes there by a unique key, and a server without several triggers for one event has no room for them beside others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from myisam_advisor.migrate.prediction import Prediction
from myisam_advisor.migrate.row_size import has_whole_key
from myisam_advisor.migrate.server_kind import ServerKind

_PLAIN = re.compile(r"\w+", re.ASCII)
# From here on a table may have several triggers for one event: MySQL 5.7.2, MariaDB 10.2.3.
SEVERAL_TRIGGERS_SINCE = ((5, 7), (10, 2))
TOOL = "pt-online-schema-change"
GH_OST = "gh-ost does not fit a MyISAM table: it copies with LOCK IN SHARE MODE, which MyISAM does not know, and may lose rows that change meanwhile."


def beside_writers(one: Prediction, here: ServerKind) -> Iterator[str]:
    """Words and a line for a shell, to stand in a script's comments."""
    why = _unfit(one, here)
    if why:
        yield f"{TOOL} does not fit: {why}."
    elif all(_PLAIN.fullmatch(part) for part in one.name):
        schema, table = one.name
        keeps = " --preserve-triggers" if one.has_triggers else ""
        yield "Beside writers, in a shell (try --dry-run first):"
        yield f"{TOOL} --alter 'ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0' D={schema},t={table}{keeps} --execute"
        if keeps:
            yield "The table has triggers: versions before 3.0.4 have no --preserve-triggers, and refuse it."
        yield "MyISAM's table lock is held for each of its chunks: --chunk-time 0.2 keeps them short."
    yield GH_OST


def _unfit(one: Prediction, here: ServerKind) -> str:
    if not has_whole_key(one.structure):
        return "it deletes by a primary or unique key of columns that are never NULL, and the table has none"
    if one.has_triggers and not here.since(*SEVERAL_TRIGGERS_SINCE):
        return f"the table has triggers, and {here.label} takes no more for the same event"
    if any(change.id == "merge-members" for change in one.changes):
        return "the table is a member of a MERGE table"
    return ""
