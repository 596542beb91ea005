"""What to do about a table that a newer server refuses, before the upgrade."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.trial.upgrade.shortened_indexes import TOO_LONG
from myisam_advisor.trial.upgrade.upgrade_result import BY_DEFINITION, CREATE, Problem
from myisam_exporter.server.sql import Sql, statement

PARTITIONS = frozenset({1178, 1572})
DAMAGED = frozenset({1034, 1035, 126, 127, 145, 1194, 1195})
CONSTRAINTS = frozenset({4025, 3819})  # ER_CONSTRAINT_FAILED of MariaDB, ER_CHECK_CONSTRAINT_VIOLATED of MySQL
# What CHECK TABLE says of a table that is whole, and older than the server.
OF_AGE = ("upgrade required", "rebuild required")
ZERO_DATES = frozenset({1292, 1067})


def remedy_of(problems: Sequence[Problem], table: Sql, way: str, *, rebuilt: bool = False) -> str:
    """Of the last problem, which is what it ended by; `rebuilt`: a rebuild on the copy mended it."""
    last = problems[-1]
    if rebuilt:
        return f"{statement('ALTER TABLE {} FORCE;', table)} after the upgrade: on the copy it mended this."
    if last.code in PARTITIONS:
        return (
            f"Before the upgrade: {statement('ALTER TABLE {} ENGINE=InnoDB;', table)} which keeps the partitions, "
            f"or {statement('ALTER TABLE {} REMOVE PARTITIONING;', table)} `myisam-advisor migrate` says what the first is refused for."
        )
    if last.code in ZERO_DATES:
        return (
            "A value that the newer server's sql_mode refuses: give the server the sql_mode that it has now, or correct the rows "
            "(`myisam-advisor migrate` finds the columns)."
        )
    if last.code in CONSTRAINTS:
        return (
            "This is no matter of the upgrade: a row breaks the table's own CHECK constraint, which the words name, and was let in while it was "
            "not enforced (check_constraint_checks = 0). Correct such rows on the present server, or drop the constraint there."
        )
    if way == BY_DEFINITION and (last.code in DAMAGED or not last.code):
        return (
            f"Its files do not fit what the newer server makes of its definition; times and texts of before MySQL 5.6.4 and 5.0.3 do not. "
            f"Before the upgrade, on MySQL 5.6 or 5.7: {statement('ALTER TABLE {} FORCE;', table)} and try again. Or take a dump (mysqldump). "
            f"A damaged table is mended first: {_repair(table)}"
        )
    return _otherwise(last, table)


def _otherwise(last: Problem, table: Sql) -> str:
    if _is_damage(last):
        return f"Its files are damaged, as it seems. Before the upgrade, on the present server: {_repair(table)}"
    if last.step == CREATE and last.code == TOO_LONG:
        return (
            "An index takes more of a column than the newer server lets it: make it again over fewer characters on the present server. "
            "Of a TINYTEXT it takes 255 bytes there: a column of TEXT keeps the whole index."
        )
    if last.step == CREATE:
        return (
            "The newer server refuses its definition, and a dump holds the same: alter the table on the present server until it is taken "
            "(`myisam-advisor migrate --target` names some of these)."
        )
    return f"Before the upgrade: {statement('CHECK TABLE {};', table)} on the present server; else take a dump of it there, and load it into the newer one."


def _is_damage(problem: Problem) -> bool:
    said = problem.words.lower()
    return problem.code in DAMAGED or (
        not problem.code and problem.step.startswith("CHECK TABLE") and not any(words in said for words in OF_AGE)
    )


def _repair(table: Sql) -> str:
    return f"{statement('CHECK TABLE {};', table)} and, where that finds damage, {statement('REPAIR TABLE {};', table)}"
