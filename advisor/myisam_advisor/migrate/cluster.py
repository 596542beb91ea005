"""The way into InnoDB on a node of a cluster: not by an ALTER, which each node runs on rows of its own (rule cluster-not-replicated)."""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.server_kind import INNODB
from myisam_advisor.remedies.engine_change import engine_change
from myisam_exporter.server.sql import Sql, quote_table, statement

OF_A_CLUSTER = (
    "This server is a node of a cluster, which does not replicate MyISAM's rows: every node would run an ALTER on its own rows, and they would differ for\n"
    "good. So all of them stand in comments. Instead, while nobody writes the table on any node: find out which node has which rows (SELECT COUNT(*) on\n"
    "each), dump them there, make an empty table of InnoDB beside it, load the dump into that on one node, and rename. With --to aria the rows stay\n"
    "where they are: no node sends those of Aria to the others."
)
LONGEST_NAME = 64


def beside_the_cluster(name: tuple[str, str], to: str) -> Iterator[str]:
    """What takes the place of the ALTER of one table, for comments."""
    if to != INNODB:
        yield "There is no way to Aria that all nodes share."
        return
    table, new, old = quote_table(*name), _beside(name, "_innodb"), _beside(name, "_myisam")
    yield "Instead, with a dump of its rows (mysqldump --no-create-info) from the node that has them:"
    yield statement("CREATE TABLE {} LIKE {};", new, table)
    yield engine_change(new, to)
    yield f"Load the rows into {new}, on one node; then:"
    yield statement("RENAME TABLE {} TO {}, {} TO {};", table, old, new, table)


def _beside(name: tuple[str, str], ending: str) -> Sql:
    schema, table = name
    return quote_table(schema, table[: LONGEST_NAME - len(ending)] + ending)
