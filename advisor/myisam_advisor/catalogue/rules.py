"""Rules as data: one YAML file each. Loading checks the form; what a rule says is checked by its cases in tests/rules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from myisam_advisor.catalogue.parsed_rules import forget_parsed, read_rule
from myisam_advisor.catalogue.shipped_files import shipped, shipped_document
from myisam_advisor.catalogue.thresholds import threshold_value
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.yaml_files import YamlFile, fault_at, first_fault, read_yaml
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError, brief
from myisam_exporter.facts.columns import Value
from myisam_exporter.outside.own_settings import expect_own

SEVERITIES = ("critical", "warning", "info")
CONFIDENCES = ("confirmed", "likely", "suspected")
FLAVOURS = ("mysql", "percona", "mariadb")
# Which way a number goes that a remedy changes.
LARGER, SMALLER = "larger", "smaller"

# Facts, any of which is enough.
Need = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A threshold: its value, unit and reason. Where the site set another value, `shipped` is the rule's own.

    `storage_share` makes it a share of the random reads that the storage does in a second, which a site says once for all rules.
    """

    default: Value
    unit: str
    why: str
    shipped: Value = None
    storage_share: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that a finding shows: `value` is a column of the rule's query, `threshold` one of its parameters.

    `label` is what a person calls it, where that is not what the fact itself is called.
    """

    fact: str
    value: str
    unit: str
    threshold: str | None = None
    source: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Applicability:
    """A condition under which the rule can be asked at all: SQL that gives one value, and why not when that is 0."""

    when: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A second sign that says no: a query whose rows silence the findings they speak of, and the sentence that says why."""

    when: str
    because: str


@dataclass(frozen=True, slots=True)
class Decider:
    """A fact that alone may decide: `as_if` is a value of it at which the rule speaks, where nothing else speaks against it."""

    fact: str
    as_if: Value


@dataclass(frozen=True, slots=True)
class Undecided:
    """What is said where the query's verdict is NULL: what is needed, a fact before all else, and how to have it. Both are templates."""

    needs: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A measurement that a finding quotes: a workload of a trial, under the variant that the rule recommends on some flavours."""

    workload: str
    variant: str
    flavours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What this project measured of the remedy: which trial, which of its figures, and what they do not hold for."""

    experiment: str
    quotes: tuple[Quote, ...]
    not_for: str


@dataclass(frozen=True, slots=True)
class Deciding:
    """A workload of a trial that decides on a finding; `when` is a column of the rule's query that says of which findings it does."""

    workload: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class Proving:
    """The trial that proves the rule's remedy on a user's own tables.

    `variant` is the remedy there, `change` what it changes, with {table} for the table's name in SQL. Where it is `required`, the remedy is
    recommended from a proof only, and without one the trial is.
    """

    experiment: str
    variant: str
    change: str
    decided_by: tuple[Deciding, ...]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A recorded fact that the remedy should move, and which way is better; `per` is the fact that stands for the load."""

    fact: str
    better: str
    per: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One advice rule. See docs/guide/rules.md for what each field means; texts are Jinja2 templates."""

    id: str
    title: str
    severity: str
    scope: str
    query: str
    finding: str
    recommendation: str
    why: str
    when_wrong: str
    expect: str
    cost: str
    undo: str
    verify: str
    sources: tuple[str, ...]
    to_do: str = ""
    published: str = ""
    confidence: str = "likely"
    resource: str = ""
    resource_order: int = 0
    variable: str | None = None
    becomes: str = ""
    needs: tuple[Need, ...] = ()
    not_quiet_without: tuple[Decider, ...] = ()
    flavours: tuple[str, ...] = FLAVOURS
    versions: Mapping[str, str] = field(default_factory=dict)
    not_in_version: str = ""
    applicable: tuple[Applicability, ...] = ()
    not_if: tuple[Contradiction, ...] = ()
    undecided: Undecided | None = None
    details: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    commands: tuple[str, ...] = ()
    my_cnf: tuple[str, ...] = ()
    planner: str | None = None
    moots: tuple[str, ...] = ()
    plans_after: tuple[str, ...] = ()
    measured: Measured | None = None
    proof: Proving | None = None
    forecast: str = ""
    measures: tuple[Measure, ...] = ()
    path: Path = Path()

    @property
    def is_shipped(self) -> bool:
        """Whether it came with this release, rather than from the site."""
        return _lies_in(_shipped_folder(), self.path)

    @property
    def severities(self) -> tuple[str, ...]:
        """Those that its findings can have, the worst first: its query may choose among them."""
        chosen = set(re.findall(r"'(\w+)'", self.query)) if re.search(r"\bAS\s+severity\b", self.query, re.I) else set()
        return tuple(one for one in SEVERITIES if one == self.severity or one in chosen)

    @property
    def is_for_speed(self) -> bool:
        """Whether its remedy is there to make statements faster; what gives memory back, or keeps data safe, pays without that."""
        return bool(self.resource or self.measured or self.proof)

    @property
    def statements(self) -> tuple[str, ...]:
        """All SQL that is asked of facts to judge by, and to say what was found."""
        return (self.query, *self.details, *(condition.when for condition in self.not_if))

    @property
    def details_in_sql(self) -> str:
        """The queries of its details as one text."""
        return "\n".join(f"{statement.strip()};" for statement in self.details)

    def values(self) -> dict[str, Value]:
        """The parameters' values, by name."""
        return {name: parameter.default for name, parameter in self.parameters.items()}


REQUIRED = frozenset(
    {
        "id",
        "title",
        "severity",
        "scope",
        "query",
        "finding",
        "recommendation",
        "why",
        "when_wrong",
        "expect",
        "cost",
        "undo",
        "verify",
        "sources",
    }
)
KNOWN = (REQUIRED | {field.name for field in fields(Rule)} | {"applies_to"}) - {
    "path",
    "flavours",
    "versions",
    "not_in_version",
}


@lru_cache(maxsize=1)
def shipped_rules() -> tuple[Rule, ...]:
    """The rules of this release, by id."""
    return load_rules([shipped("advice")])


def need_in_words(need: Need) -> str:
    """`tables.rows`, or `one of tables.rows, totals.myisam_rows`."""
    return need[0] if len(need) == 1 else f"one of {', '.join(need)}"


def no_such_rule(name: str, known: Iterable[str]) -> UserError:
    """What is said of an id that no rule has: the ones that are nearly written so, and where all are."""
    return UserError(f"there is no rule {brief(name)}.{did_you_mean(name, known)} `myisam-advisor explain` lists them.")


def load_rules(folders: Sequence[Path]) -> tuple[Rule, ...]:
    """Every rule file in these folders; names that begin with an underscore are left out.

    Raises UserError naming file, line and fault.
    """
    rules: dict[str, Rule] = {}
    for folder in folders:
        files = _files_of(folder)
        if folder != _shipped_folder():
            expect_own("rules directory", folder, *files)
        for path in files:
            rule = load_rule(path)
            if rule.id in rules:
                raise UserError(f"{path}: the rule id {rule.id} is taken by {rules[rule.id].path}: give it another.")
            rules[rule.id] = rule
    forget_parsed()
    return tuple(rules[name] for name in sorted(rules))


def _files_of(folder: Path) -> list[Path]:
    """The rule files in it, by name. Raises UserError: of a folder that may not be read glob() finds nothing, and says nothing."""
    try:
        names = sorted(os.listdir(folder))
    except NotADirectoryError:
        raise UserError(f"the rules directory {folder} is not a directory. Check --rules.") from None
    except FileNotFoundError:
        raise UserError(f"the rules directory {folder} does not exist. Check --rules.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise UserError(
            f"the rules directory {folder} cannot be read: {why}. Check its permissions, and rules_directories."
        ) from None
    return [folder / name for name in names if name.endswith(".yaml") and not name.startswith(("_", "."))]


def load_rule(path: Path) -> Rule:
    """One rule file. Raises UserError naming file, line and fault."""
    file = read_rule(path) if path.parent == _shipped_folder() else read_yaml(path, "rule")
    content = file.document
    if not isinstance(content, dict) or not (content.keys() >= REQUIRED and content.keys() <= KNOWN):
        raise _fault(file)
    try:
        rule = _build(path, content)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
        raise _fault(file) from None
    if rule.id != path.stem:
        raise UserError(
            f"{path}: the rule's id is {brief(rule.id)}, its file's name {path.stem!r}: they must be the same."
        )
    if not rule.is_shipped:
        # The shipped ones are validated by the tests: start-up counts.
        if first_fault(content, schema()):
            raise _fault(file)
        for name, parameter in rule.parameters.items():
            try:
                threshold_value(parameter.default, parameter.unit)
            except ValueError as error:
                raise fault_at(file, ("parameters", name, "default"), f"{error}.") from None
    return rule


@lru_cache(maxsize=1)
def _shipped_folder() -> Path:
    return shipped("advice")


@lru_cache(maxsize=512)
def _lies_in(folder: Path, path: Path) -> bool:
    """Asked of each rule in each look: to take its path apart each time was a twentieth of one with few tables."""
    return path.is_relative_to(folder)


def _build(path: Path, content: Mapping[str, Any]) -> Rule:
    applies = content.get("applies_to", {})
    plain = {name: str(content[name]).strip() for name in REQUIRED - {"sources"}}
    optional = {
        name: content[name]
        for name in ("to_do", "published", "confidence", "resource", "variable", "becomes", "planner", "forecast")
        if name in content
    }
    return Rule(
        **plain,
        **optional,
        resource_order=int(content.get("resource_order", 0)),
        sources=tuple(content["sources"]),
        needs=tuple(tuple(need) if isinstance(need, list) else (str(need),) for need in content.get("needs", [])),
        not_quiet_without=tuple(Decider(**entry) for entry in content.get("not_quiet_without", [])),
        flavours=tuple(applies.get("flavours", FLAVOURS)),
        versions=applies.get("versions", {}),
        not_in_version=applies.get("otherwise", ""),
        applicable=tuple(Applicability(**entry) for entry in content.get("applicable", [])),
        not_if=tuple(Contradiction(**entry) for entry in content.get("not_if", [])),
        details=tuple(content.get("details", [])),
        undecided=Undecided(**content["undecided"]) if "undecided" in content else None,
        parameters={name: Parameter(**entry) for name, entry in content.get("parameters", {}).items()},
        evidence=tuple(Evidence(**entry) for entry in content.get("evidence", [])),
        commands=tuple(content.get("commands", [])),
        my_cnf=tuple(content.get("my_cnf", [])),
        moots=tuple(content.get("moots", [])),
        plans_after=tuple(content.get("plans_after", [])),
        measured=_measured(content["measured"]) if "measured" in content else None,
        proof=_proving(content["proof"]) if "proof" in content else None,
        measures=tuple(Measure(**entry) for entry in content.get("measures", [])),
        path=path,
    )


def _measured(content: Mapping[str, Any]) -> Measured:
    quotes = tuple(
        Quote(quote["workload"], quote["variant"], tuple(quote.get("flavours", FLAVOURS)))
        for quote in content["quotes"]
    )
    return Measured(str(content["experiment"]), quotes, " ".join(str(content["not_for"]).split()))


def _proving(content: Mapping[str, Any]) -> Proving:
    return Proving(**{**content, "decided_by": tuple(Deciding(**entry) for entry in content["decided_by"])})


def schema() -> dict[str, Any]:
    """The JSON schema of rule files."""
    loaded: dict[str, Any] = shipped_document("schema.json")
    return loaded


def _fault(file: YamlFile) -> UserError:
    """What the schema says is wrong, with the line."""
    place, message = first_fault(file.document, schema()) or ((), "the rule's form is not right")
    return fault_at(file, place, message)
