"""What a rule's `not_if` has to say against what its query found: a second sign at hand that contradicts the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.factbase.guarded_query import Result
from myisam_advisor.judging.findings import Dropped
from myisam_advisor.judging.resolver import Candidate
from myisam_advisor.texts.templates import TextError, all_printable, fill
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value

# A condition that has one of these columns speaks of those findings alone that have the same value there.
NARROWING = ("schema_name", "table_name", "object", "severity", "confidence")
Key = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Objection:
    """A condition that holds: its row for each thing it speaks of, and the sentence that says why."""

    narrowed_by: tuple[str, ...]
    rows: Mapping[Key, Mapping[str, Value]]
    because: str

    def row_for(self, candidate: Candidate) -> Mapping[str, Value] | None:
        """The row that speaks of this candidate, or None."""
        return self.rows.get(tuple(_value(candidate, name) for name in self.narrowed_by))


class Objections:
    """All that speaks against a rule's findings, asked once, when there is something to speak against.

    Where a condition compares with a fact that is unknown it gives no row, and nothing is silenced.
    """

    def __init__(self, rule: Rule, ask: Callable[[str], Result]) -> None:
        self._rule = rule
        self._found = [
            objection
            for condition in rule.not_if
            if (objection := _objection(ask(condition.when), condition.because)).rows
        ]

    def speak_against(self, candidate: Candidate) -> bool:
        """Whether this candidate is no finding; nothing is put in words."""
        return any(objection.row_for(candidate) is not None for objection in self._found)

    def against(self, candidate: Candidate) -> Dropped | None:
        """Why this candidate is no finding, or None."""
        for objection in self._found:
            row = objection.row_for(candidate)
            if row is not None:
                return Dropped(self._rule.id, candidate.object, self._why(objection, candidate, row), contradicted=True)
        return None

    def _why(self, objection: _Objection, candidate: Candidate, row: Mapping[str, Value]) -> str:
        """The sentence. Raises TextError for a template that does not work."""
        from jinja2 import TemplateError

        values = {**self._rule.values(), **candidate.row, **row, "object": candidate.object}
        try:
            return fill(objection.because, all_printable(values))
        except TemplateError as error:
            raise TextError(str(error)) from None


def _objection(result: Result, because: str) -> _Objection:
    narrowed_by = tuple(name for name in NARROWING if name in result.columns)
    rows: dict[Key, Mapping[str, Value]] = {}
    for row in result.dictionaries():
        rows.setdefault(tuple(row[name] for name in narrowed_by), row)
    return _Objection(narrowed_by, rows, because)


def _value(candidate: Candidate, name: str) -> Value:
    own: Mapping[str, Value] = {
        "object": candidate.object,
        "severity": candidate.severity,
        "confidence": candidate.confidence,
    }
    return own[name] if name in own else candidate.row.get(name)
