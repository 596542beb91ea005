"""Every shipped rule, over made-up facts, look after look: what is kept of its parts gives what asking everything gives."""

import random
import re

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import Result
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Column, Row, Value
from myisam_exporter.look.fact_set import FactRows, FactSet

RULES = shipped_rules()
# Names and states that the rules ask for.
WORDS = sorted({word for rule in RULES for word in re.findall(r"'([A-Za-z_]+)'", rule.query)})
TEXTS = {"row_format": ("dynamic", "fixed", "compressed"), "algorithm": ("btree", "btree", "fulltext"), "key_cache": ("default", "hot", "cold"), "flavour": ("mysql", "mariadb")}
FLAGS = ("crashed", "not_analyzed", "written_since_start", "delay_key_write", "auto_increment_within_index")
COUNTED = ("server", "host", "mysqld", "totals")
LOOKS, CHANGED_TABLES = 4, 2


class Made:
    """Facts without a meaning, of which most rules find something. All numbers sum up exactly, in any order."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.tables = self.chance.choice((3, 8, 30))

    def value(self, column: Column) -> Value:
        if self.chance.random() < 0.15:
            return None
        if column.name.startswith("is_") or column.name in FLAGS:
            return self.chance.choice((0, 1, 1))
        if column.type == "text":
            return self.chance.choice(TEXTS.get(column.name, ("ON", "OFF", "ALL", "x")))
        if "ratio" in column.name:
            return self.chance.choice((0, 0.0625, 0.25, 0.625, 0.9375, 1.0))
        if "per_second" in column.name:
            return self.chance.choice((0, 0.0, 0.5, 5.0, 200.0, 200.0, 20_000.0, 3_000_000.0))
        return self.chance.choice((0, 1, 3, 100, 300, 100_000, 100_000, 5_000_000, 4 * 10**9, 10**12))

    def row(self, table: str, **own: Value) -> tuple[Value, ...]:
        return tuple(own[column.name] if column.name in own else self.value(column) for column in declared_columns()[table])

    def rows(self, table: str) -> list[tuple[Value, ...]]:
        if table == "tables":
            return [self.row(table, schema_name="s", table_name=f"t{number}") for number in range(self.tables)]
        if table == "indexes":
            return [self.row(table, **self.index(number, place)) for number in range(self.tables) for place in range(self.chance.randrange(4))]
        if table in ("variable", "status"):
            return [self.row(table, name=name, value=self.chance.choice((None, 0, 1, 100, 4096, 10**9, "ON", "OFF", "ALL", ""))) for name in WORDS if self.chance.random() < 0.8]
        if table == "key_cache":
            return [self.row(table, name=name) for name in ("default", "hot")]
        return [self.row(table) for _ in range(1 if table in COUNTED else self.chance.randrange(3))]

    def index(self, number: int, place: int) -> Row:
        return {
            "schema_name": "s", "table_name": f"t{number}", "index_number": place + 1, "is_enabled": self.chance.choice((1, 1, 1, 0)),
            "duplicate_of": self.chance.choice((None, None, 1)), "is_left_prefix_of": self.chance.choice((None, None, 2)), "maximum_key_bytes": self.chance.choice((4, 100, 1000)),
        }  # fmt: skip

    def facts(self) -> FactSet:
        whole = facts_from_document({"schema": 1, "tables": [{}], "indexes": []}).tables
        return FactSet({name: FactRows(rows.columns, self.rows(name)) for name, rows in whole.items()}, {})

    def changed(self, facts: FactSet) -> FactSet:
        places = self.chance.sample(range(self.tables), CHANGED_TABLES)
        rows = {place: self.row("tables", schema_name="s", table_name=f"t{place}") for place in places}
        return FactSet({**facts.tables, "tables": facts.tables["tables"].with_rows(rows)}, {})


@pytest.mark.parametrize("seed", range(10))
def test_what_is_kept_of_rules_gives_what_asking_everything_gives(seed: int) -> None:
    made, kept = Made(seed), FactDatabase()
    facts = made.facts()
    found = 0
    for _ in range(LOOKS):
        fresh = FactDatabase()
        database, other = kept.holding(facts), fresh.holding(facts)
        for rule in RULES:
            if made.chance.random() < 0.9:  # a rule may not be asked in each look
                values = {**rule.values(), "interval_seconds": 60.0}
                answer: Result = kept.steady_parts.query(database, rule.query, values, 1000)
                assert answer == other.query(rule.query, values, maximum_rows=1000), rule.id
                found += len(answer.rows)
        fresh.close()
        facts = made.changed(facts)
    kept.close()
    assert found > LOOKS
