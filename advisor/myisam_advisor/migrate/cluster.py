"""The way into InnoDB on a node of a cluster: not by an ALTER, which each node runs on rows of its own (rule cluster-not-replicated)."""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.remedies.engine_change import engine_change
from myisam_exporter.server.sql import Sql, quote_table, statement

WAY_BY_A_DUMP = (
    "find out which node has which rows (SELECT COUNT(*) on\n"
    "each), dump them there, make an empty table of InnoDB beside it, load the dump into that on one node, and rename."
)
OF_A_CLUSTER = (
    "This server is a node of a cluster, which does not replicate MyISAM's rows: every node would run an ALTER on its own rows, and they would differ for\n"
    f"good. So all of them stand in comments. Instead, while nobody writes the table on any node: {WAY_BY_A_DUMP}"
)
# Tried on three nodes of MariaDB 11.8 with REPLICATE_MYISAM: rows from before it, and those of UUID(), differ, and the ALTER leaves them so; others are alike.
OF_SENT_STATEMENTS = (
    "This server is a node of a cluster that sends statements on MyISAM tables to all nodes (REPLICATE_MYISAM), not rows, and every node would run an ALTER on\n"
    "its own rows. What was there before that setting, or came of UUID() or of LIMIT without ORDER BY, may differ, and would for good. So all of them stand in\n"
    "comments. While nobody writes the table on any node: CHECKSUM TABLE on each. Where all numbers are the same, run on one node what stands here. Where not,\n"
    f"{WAY_BY_A_DUMP}"
)
OF_A_GROUP = (
    "This server is a member of a group, whose members may have other rows of a MyISAM table than it: every one would run an ALTER on its own rows, and the next\n"
    "change of a row that is missing expels a member. So all of them stand in comments. Instead, on the primary: find out which member has which rows (SELECT\n"
    "COUNT(*) on each), dump them there, make an empty table of InnoDB beside it, load the dump into that, and rename."
)
ARIA_STAYS = "With --to aria the rows stay where they are: no node sends those of Aria to the others."
LONGEST_NAME = 64


def of_the_cluster(here: ServerKind, to: str) -> str:
    """What is said first of a server that is not alone."""
    if here.group:
        return OF_A_GROUP
    said = OF_SENT_STATEMENTS if here.sends_myisam else OF_A_CLUSTER
    return said if to == INNODB or here.sends_aria else f"{said}\n{ARIA_STAYS}"


def beside_the_cluster(name: tuple[str, str], to: str, here: ServerKind) -> Iterator[str]:
    """What takes the place of the ALTER of one table, for comments."""
    if to != INNODB:
        if not here.sends_aria:
            yield "There is no way to Aria that all nodes share."
        return
    table, new, old = quote_table(*name), _beside(name, "_innodb"), _beside(name, "_myisam")
    where = ", on the primary" if here.group else ""
    yield f"Instead{where}, with a dump of its rows (mysqldump --no-create-info) from the node that has them:"
    yield statement("CREATE TABLE {} LIKE {};", new, table)
    yield engine_change(new, to)
    yield f"Load the rows into {new}, on {'the primary' if here.group else 'one node'} (the dump names {table}: write the new name there); then:"
    yield statement("RENAME TABLE {} TO {}, {} TO {};", table, old, new, table)


def _beside(name: tuple[str, str], ending: str) -> Sql:
    schema, table = name
    return quote_table(schema, table[: LONGEST_NAME - len(ending)] + ending)
