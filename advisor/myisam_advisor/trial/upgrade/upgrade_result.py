"""What came of an upgrade that was tried on copies: table by table, with the newer server's own codes and words."""

from __future__ import annotations

from typing import Any

from myisam_advisor.trial.typed_documents import ResultError, made
from myisam_advisor.trial.upgrade.recorded_result import RecordedUpgrade
from myisam_exporter.declaring.lean_dataclasses import dataclass

# Opens and takes statements; does so once it is rebuilt; opens, and refuses statements; is refused.
FINE, MENDED, STATEMENTS, REFUSED = "opens", "opens after a rebuild", "refuses statements", "refused"
VERDICTS = (FINE, MENDED, STATEMENTS, REFUSED)
# How a copy becomes a table of the newer server.
BY_FILES, BY_IMPORT, BY_DEFINITION = "files", "import", "definition"
WAYS = (BY_FILES, BY_IMPORT, BY_DEFINITION)
# The step by which a table is made of its definition.
CREATE = "CREATE TABLE"


@dataclass(frozen=True, slots=True)
class Problem:
    """What the newer server said against one step. `code` is its number of the error, 0 where CHECK TABLE gives words alone."""

    step: str
    code: int
    words: str


@dataclass(frozen=True, slots=True)
class UpgradedTable:
    """One table: what was done with its copy (`steps`), and what came of it. `rows` is None where it could not be opened."""

    schema_name: str
    table_name: str
    way: str
    bytes: int
    rows: int | None
    verdict: str
    steps: tuple[str, ...]
    problems: tuple[Problem, ...]
    remedy: str


@dataclass(frozen=True, slots=True)
class NotTried:
    """A table of which there is no copy, and why. `bytes` is what its files hold, None where that is not known."""

    name: str
    why: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """The whole of it. `notes` are about the server, not about one table; `recorded` is None without recorded statements."""

    present: str
    server: str
    version: str
    tables: tuple[UpgradedTable, ...]
    not_tried: tuple[NotTried, ...]
    notes: tuple[str, ...]
    machine: str
    recorded: RecordedUpgrade | None


def from_document(document: Any) -> UpgradeResult:
    """The result that dataclasses.asdict made a document. Raises ResultError for whatever is of another form or type."""
    result = made(UpgradeResult, document)
    if any(table.verdict not in VERDICTS or table.way not in WAYS for table in result.tables):
        raise ResultError("the trial's process sent a table that was tried in no known way, or to no known end.")
    return result
