"""Results: one file of JSON lines for each scenario and server, a line as soon as something is known. A run that was ended goes on where it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.advice.changes import is_joint, joint_key
from benchmarks.advice.model import Advice, Change
from benchmarks.kept_lines import keep_line, kept_lines

RESULTS = Path("benchmarks/advice/results")
ADVICE, FAILED, MEASURED, WHOLE, SKIPPED, SEARCHED, BEST, AVERTED = (
    "advice", "failed", "measured", "whole", "skipped", "searched", "best", "averted",
)  # fmt: skip
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """The file of one scenario on one server."""

    folder: Path
    server: str
    scenario: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder / self.server / f"{self.scenario}.jsonl"

    def lines(self) -> list[Line]:
        """What is known."""
        return list(kept_lines(self.path))

    def keep(self, line: Line) -> None:
        """Write a line down."""
        keep_line(self.path, line)


def all_records(folder: Path = RESULTS) -> list[Record]:
    """All files, by server and scenario."""
    return [Record(folder, path.parent.name, path.stem) for path in sorted(folder.glob("*/*.jsonl"))]


def of_kind(lines: Sequence[Line], kind: str) -> list[Line]:
    """The lines of one kind."""
    return [line for line in lines if line.get("kind") == kind]


def advice_of(lines: Sequence[Line]) -> dict[str, Advice]:
    """What each adviser said, the last time that it was asked."""
    return {line["adviser"]: as_advice(line) for line in of_kind(lines, ADVICE)}


def as_advice(line: Line) -> Advice:
    """Advice as it was written down."""
    changes = tuple(Change(**change) for change in line["changes"])
    return Advice(line["adviser"], line["version"], changes, tuple(line["named"]))


def advice_line(advice: Advice) -> dict[str, Any]:
    """Advice to write down."""
    return {"kind": ADVICE, **asdict(advice)}


def measured_of(lines: Sequence[Line]) -> dict[str, Line]:
    """What came of each change, by its key; measured again, the last word counts. A whole advice of changes that only count together is a measurement of these, too."""
    whole = [line for line in of_kind(lines, WHOLE) if is_joint(line["keys"])]
    together = {(key := joint_key(line["keys"])): {**line, "key": key} for line in whole}
    return together | {line["key"]: line for line in of_kind(lines, MEASURED)}


def whole_of(lines: Sequence[Line]) -> dict[frozenset[str], Line]:
    """What came of changes together, by their keys."""
    return {frozenset(line["keys"]): line for line in of_kind(lines, WHOLE)}
