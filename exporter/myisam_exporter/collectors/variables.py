"""SHOW GLOBAL VARIABLES."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, by_column, columns
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import finite_number, parse_number
from myisam_exporter.outside.shared_texts import SharedTexts
from myisam_exporter.server.asked_names import AskedNames, variables_named


@dataclass(frozen=True, slots=True)
class Variables:
    """The server's variables as it prints them."""

    values: Mapping[str, str]
    generation: int = field(default_factory=new_generation, compare=False)

    def number(self, name: str) -> int | float | None:
        """A variable as a number; None when it does not exist here or is none."""
        return finite_number(self.values.get(name))

    def is_on(self, name: str) -> bool:
        """Whether a switch is there and on."""
        return self.values.get(name, "").upper() in ("ON", "1", "YES")


# Measured beside OFF: 98 MB on MariaDB 10.11, 242 MB on MySQL 9.7, 423 MB on 5.6; of SELECT 1 a second MariaDB did as
# many, 5.6 four fifths, and 9.7 half as many.
PERFORMANCE_SCHEMA_OFF = Unknown(
    "performance_schema is off",
    "performance_schema=ON in my.cnf, then restart the server (cost: 100 to 400 MB of memory, and some time for each statement)",
    off=True,
)
VARIABLES = SampleKey("variables", Variables)
_TEXTS = SharedTexts()  # of all targets, many are alike


class VariablesCollector(Collector[Variables]):
    """The server's settings."""

    name = VARIABLES.name
    source = "SHOW GLOBAL VARIABLES"
    steady = True
    sections = {
        "variable": columns(
            ("name", "text", "The variable's name."),
            ("value", "text", "Its value: a number where it is one, else the text."),
            source=source,
        )
    }

    def collect(self, context: Context) -> Variables | Unknown:
        """One statement; no privilege is needed. Of some names where the context has them."""
        wanted = context.names.get(self.name)
        rows = context.session.rows_or_unknown(variables_named(wanted) if wanted else "SHOW GLOBAL VARIABLES", 2)
        if isinstance(rows, Unknown):
            return rows
        names, values = ([text or "" for text in column] for column in zip(*rows, strict=True)) if rows else ((), ())
        told = zip(_TEXTS.each_once(names), _TEXTS.each_once(values), strict=True)
        taken = Variables(AskedNames(told, wanted) if wanted else dict(told))
        before = context.before.get(self.name)
        return before if isinstance(before, Variables) and before == taken else taken

    def facts(self, pair: Pair[Variables]) -> Iterable[Block]:
        """One row a variable."""
        told = pair.after.values
        return [by_column("variable", {"name": told.keys(), "value": map(parse_number, told.values())})]


COLLECTOR = VariablesCollector()
