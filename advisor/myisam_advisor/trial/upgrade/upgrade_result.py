"""What came of an upgrade that was tried on copies: table by table, with the newer server's own codes and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.typed_documents import made
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
    steps: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class NotTried:
    """A table of which there is no copy, and why."""

    name: str
    why: str


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
    recorded: RecordedUpgrade | None = None


def as_document(result: UpgradeResult) -> dict[str, Any]:
    """As JSON can hold it."""
    return asdict(result)


def from_document(told: Mapping[str, Any]) -> UpgradeResult:
    """A result that was `as_document`. Raises TrialError for anything else."""
    try:
        return UpgradeResult(
            str(told["present"]), str(told["server"]), str(told["version"]), tuple(map(_table, told["tables"])),
            tuple(NotTried(str(one["name"]), str(one["why"])) for one in told["not_tried"]), tuple(map(str, told["notes"])), str(told["machine"]),
            None if told["recorded"] is None else made(RecordedUpgrade, told["recorded"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        raise TrialError("the trial's process gives no result of an upgrade.") from None


def _table(told: Mapping[str, Any]) -> UpgradedTable:
    if told["verdict"] not in VERDICTS or told["way"] not in WAYS:
        raise ValueError(told["verdict"])
    return UpgradedTable(
        str(told["schema_name"]), str(told["table_name"]), str(told["way"]), int(told["bytes"]), None if told["rows"] is None else int(told["rows"]),
        str(told["verdict"]), tuple(map(str, told["steps"])), tuple(Problem(str(one["step"]), int(one["code"]), str(one["words"])) for one in told["problems"]),
        str(told["remedy"]),
    )  # fmt: skip
