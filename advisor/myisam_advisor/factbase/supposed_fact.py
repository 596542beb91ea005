"""A fact that nobody knows, as if it had a value: written into the fact tables for a question, and taken out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from myisam_advisor.factbase.filling import Filling
from myisam_advisor.factbase.guarded_query import GuardedDatabase
from myisam_advisor.factbase.index_tables import ENDINGS, INDEXES, NAMED
from myisam_advisor.factbase.storable import storable
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.server.sql import quote_identifier

RATE = "per_second"
_SHAPES = {table.name: table.shape for table in TABLES}


@contextmanager
def supposing(database: GuardedDatabase, fact: str, value: Value, give_up: Callable[[], None]) -> Iterator[bool]:
    """Whether the fact, which is unknown in all rows, has this value within the block: a table of many rows without one has no place for it.

    Where nothing is known of any index, each table is supposed to have one, of which this alone is known.
    `fact` is `table.column`, `variable.NAME`, `status.NAME` or `status.NAME.per_second`. Where writing fails `give_up` ends the database: what was
    supposed would be told as a fact in the next look.
    """
    shown, _, rest = fact.partition(".")
    table = ENDINGS if shown == INDEXES else shown
    name, _, rate = rest.partition(".")
    is_pair = _SHAPES[shown] == "pairs"
    column = quote_identifier((RATE if rate and table == "status" else "value") if is_pair else rest)
    value = storable(value)
    among = "name = ?" if is_pair else "1"
    key: tuple[Value, ...] = (name,) if is_pair else ()
    with _whole(give_up), database.filling() as filling:
        is_there = filling.execute(f"SELECT 1 FROM {table} WHERE {among} LIMIT 1", key).fetchone() is not None
        is_index = shown == INDEXES and not is_there
        can_be = is_there or is_pair or _SHAPES[shown] == "single" or (is_index and _has_tables(filling))
        if is_there:
            filling.execute(f"UPDATE {table} SET {column} = ? WHERE {among}", (value, *key))
        elif is_pair:
            filling.execute(f"INSERT INTO {table} (name, {column}) VALUES (?, ?)", (name, value))
        elif is_index and can_be:
            filling.execute(f"INSERT INTO {NAMED} SELECT schema_name, table_name, 0 FROM tables")
            filling.execute(f"INSERT INTO {ENDINGS} (shape, place, {column}) VALUES (0, 0, ?)", (value,))
        elif can_be:
            filling.execute(f"INSERT INTO {table} ({column}) VALUES (?)", (value,))
    try:
        yield can_be
    finally:
        with _whole(give_up), database.filling() as filling:
            if is_there:
                filling.execute(f"UPDATE {table} SET {column} = NULL WHERE {among}", key)
            elif can_be:
                filling.execute(f"DELETE FROM {table} WHERE {among}", key)
                if is_index:
                    filling.execute(f"DELETE FROM {NAMED}")


def _has_tables(filling: Filling) -> bool:
    return filling.execute("SELECT 1 FROM tables LIMIT 1").fetchone() is not None


@contextmanager
def _whole(give_up: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        give_up()
        raise
