"""A planner asked by itself: its row, the facts around it, and what it plans as text."""

from collections.abc import Iterable, Mapping
from typing import Any

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts, Planned, planner_named
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet

MARIADB: dict[str, Any] = {"flavour": "mariadb", "version": "10.11.19", "version_number": 101119, "data_directory": "/var/lib/mysql"}
MYSQL: dict[str, Any] = {"flavour": "mysql", "version": "9.7.4", "version_number": 90704, "data_directory": "/var/lib/mysql"}
OLD_MYSQL: dict[str, Any] = {"flavour": "mysql", "version": "5.0.96", "version_number": 50096, "data_directory": "/var/lib/mysql"}


def facts(**tables: Any) -> FactSet:
    """The facts of a document with these tables."""
    return complete(facts_from_document({"schema": 1, "interval_seconds": 10, **tables}))


def parameters_of(planner: str) -> Mapping[str, Value]:
    """The thresholds of the first shipped rule that asks this planner."""
    rule = next(rule for rule in shipped_rules() if rule.planner == planner)
    return {name: parameter.default for name, parameter in rule.parameters.items()}


def asked(planner: str, row: Mapping[str, Any], known: FactSet | None = None) -> Planned:
    """What the planner says of a row of its rule's query."""
    return planner_named(planner)(row, PlanContext(PlanFacts(known or facts()), parameters_of(planner)))


def planned(planner: str, row: Mapping[str, Any], known: FactSet | None = None) -> Plan:
    """The same where there is a plan."""
    found = asked(planner, row, known)
    assert isinstance(found, Plan), found
    return found


def texts(lines: Iterable[object]) -> list[str]:
    """Commands and lines as they will be read; a statement that is a value tells its SQL."""
    return [str(getattr(line, "sql", line)) for line in lines]
