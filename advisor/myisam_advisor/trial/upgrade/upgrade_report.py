"""What an upgrade of copies found, for a person and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from myisam_advisor.texts.drawing import drawn, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import object_name, printable, size
from myisam_advisor.trial.report import MAXIMUM_WIDTH, PIPED_WIDTH
from myisam_advisor.trial.upgrade.not_tried import told
from myisam_advisor.trial.upgrade.one_table import steps_in_words
from myisam_advisor.trial.upgrade.recorded_report import headline, recorded_parts
from myisam_advisor.trial.upgrade.upgrade_result import (
    FINE,
    MENDED,
    REFUSED,
    STATEMENTS,
    VERDICTS,
    UpgradedTable,
    UpgradeResult,
)

STYLES = {FINE: "green", MENDED: "yellow", STATEMENTS: "red", REFUSED: "red"}
COUNTED = {
    FINE: ("opens", "open"),
    MENDED: ("opens after a rebuild", "open after a rebuild"),
    STATEMENTS: ("refuses statements", "refuse statements"),
    REFUSED: ("is refused", "are refused"),
}
WORST_FIRST = VERDICTS[::-1]


def as_json(result: UpgradeResult) -> str:
    """The whole result as one document."""
    return json.dumps({**heading(), **asdict(result)}, indent=1)


def as_text(result: UpgradeResult, reader: TextIO | None = None) -> str:
    """For the stream `reader` (None: a file)."""
    return without_padding(drawn(_parts(result), reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH))


def _parts(result: UpgradeResult) -> Iterable[RenderableType]:
    yield Text(printable(_headline(result)), style="bold")
    if result.recorded is not None:
        yield Text(printable(headline(result.recorded, _release(result))), style="bold")
    for table in sorted(
        result.tables, key=lambda one: (WORST_FIRST.index(one.verdict), one.schema_name, one.table_name)
    ):
        yield from _table(table)
    if result.recorded is not None:
        yield Text()
        yield from recorded_parts(result.recorded, result.present, _release(result))
        yield Text()
    if result.not_tried:
        yield Text("Not tried:", style="bold")
        for line in told(result.not_tried):
            yield Padding(Text(printable(line)), (0, 0, 0, 2))
    for note in result.notes:
        yield Text(printable(note))
    yield Text(
        "The copies are gone again; the watched server was read from, and nothing of it was changed.", style="dim"
    )


def _headline(result: UpgradeResult) -> str:
    counts = Counter(table.verdict for table in result.tables)
    said = [f"{counts[one]} {COUNTED[one][counts[one] != 1]}" for one in WORST_FIRST if counts[one]]
    total = len(result.tables)
    return f"{result.present} to {result.server} {result.version}: {total} {'table' if total == 1 else 'tables'}; {', '.join(said) or 'none was tried'}."


def _release(result: UpgradeResult) -> str:
    """The newer version by its first two numbers, as the present one is called."""
    return f"{result.server} {'.'.join(result.version.split('.')[:2])}"


def _table(table: UpgradedTable) -> Iterable[RenderableType]:
    amount = f"  {size(table.bytes)}" if table.bytes else ""
    name = printable(object_name(table.schema_name, table.table_name))
    yield Text.assemble((name, STYLES[table.verdict]), amount, f"  {table.verdict}")
    for problem in table.problems:
        code = f"error {problem.code}: " if problem.code else ""
        yield Padding(Text(printable(f"{problem.step}: {code}{problem.words}")), (0, 0, 0, 2))
    if table.remedy:
        yield Padding(Text(printable(table.remedy), style="cyan"), (0, 0, 0, 4))
    if table.steps:
        yield Padding(
            Text(printable(f"Without objection: {steps_in_words(table.steps, table.rows)}."), style="dim"), (0, 0, 0, 2)
        )
