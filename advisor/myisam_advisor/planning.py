"""What a planner is: a named algorithm for what a query cannot express - sizes, layouts, growth.

`planners/NAME.py` holds `plan(row, context)`; a rule asks for it by `planner: NAME`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from myisam_exporter.columns import Value
from myisam_exporter.fact_set import FactSet

HEADROOM_RATIO = 0.1


@dataclass(frozen=True, slots=True)
class PlanContext:
    """What a planner may use: all facts, and the rule's parameters."""

    facts: FactSet
    parameters: Mapping[str, Value]

    def variable(self, name: str) -> Value:
        """A server variable, or None."""
        return next((row["value"] for row in self.facts.tables["variable"].dictionaries() if row["name"] == name), None)

    def number(self, table: str, column: str) -> float | None:
        """A number from a table of one row, or None."""
        value = self.facts.single(table).get(column)
        return value if isinstance(value, int | float) else None

    @property
    def version_number(self) -> float | None:
        """The server's version to compare by, or None."""
        return self.number("server", "version_number")

    @property
    def is_mariadb(self) -> bool:
        """Whether this is MariaDB."""
        return self.facts.single("server").get("flavour") == "mariadb"

    def parameter(self, name: str) -> float:
        """A parameter of the rule, which is a number."""
        value = self.parameters[name]
        if not isinstance(value, int | float):
            raise TypeError(f"the parameter {name} must be a number")
        return value


@dataclass(frozen=True, slots=True)
class Plan:
    """Values for the rule's texts, and what to run."""

    values: Mapping[str, object] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    undo_commands: tuple[str, ...] = ()
    my_cnf: tuple[str, ...] = ()
    init_file: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotWorth:
    """The planner saw that the change would not help here: the rule is quiet."""

    why: str


@dataclass(frozen=True, slots=True)
class PlanNeeds:
    """The planner cannot say without this fact."""

    needs: str
    how: str = ""


Planner = Callable[[Mapping[str, Value], PlanContext], Plan | NotWorth | PlanNeeds]


def planner_named(name: str) -> Planner:
    """The planner in `planners/NAME.py`."""
    return cast(Planner, importlib.import_module(f"myisam_advisor.planners.{name}").plan)
