"""Tables of MariaDB's in partitions, with a unique index that it keeps by a hash: whether any ALTER is refused (error 1503) was told from the .frm."""

from collections.abc import Callable

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.partition_keys import NEEDS_ALL_COLUMNS
from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.tables import find_tables
from myisam_advisor.migrate.times import Machine
from myisam_advisor.trial.private.private_server import PrivateServer

from .conftest import schema
from .test_migrate_schemas import kind_of

HASH, RANGE = "PARTITION BY HASH (a) PARTITIONS 2", "(PARTITION p0 VALUES LESS THAN (10), PARTITION c VALUES LESS THAN MAXVALUE)"
# The columns beside `a INT NOT NULL`, and how it is partitioned.
TABLES = {
    "without the column": ("b VARCHAR(100), UNIQUE u (b) USING HASH", HASH), "with the column": ("b VARCHAR(100), UNIQUE u (b, a) USING HASH", HASH),
    **{f"over {length} bytes": (f"b VARCHAR({length}), UNIQUE u (b) USING HASH", HASH) for length in (1000, 1001, 2000, 2001, 2300, 2301, 3072, 3073)},
    "over a text": ("b TEXT, UNIQUE u (b)", HASH), "over a part of a text": ("b TEXT, UNIQUE u (b(10)) USING HASH", HASH),
    "RANGE": ("b INT, UNIQUE u (b) USING HASH", f"PARTITION BY RANGE (a) {RANGE}"),
    "RANGE, partitions named as a column": ("b INT, c INT, UNIQUE u (b, a) USING HASH", f"PARTITION BY RANGE (a) {RANGE}"),
    "RANGE COLUMNS, one of two": ("b INT, c INT, UNIQUE u (b, a) USING HASH", "PARTITION BY RANGE COLUMNS (a, c) (PARTITION p0 VALUES LESS THAN (10, 1), PARTITION p1 VALUES LESS THAN (MAXVALUE, MAXVALUE))"),
    "LIST of an expression": ("b INT, `c)``, (` INT, UNIQUE u (b, a) USING HASH", "PARTITION BY LIST (a + `c)``, (`) (PARTITION p0 VALUES IN (10), PARTITION p1 VALUES IN (1, 2))"),
    "a function that is called as a column": ("b INT, year INT, d DATE, UNIQUE u (b, d) USING HASH", "PARTITION BY HASH (YEAR(d))"),
    "LINEAR KEY": ("b INT, c INT, UNIQUE u (b) USING HASH", "PARTITION BY LINEAR KEY (a, c) PARTITIONS 3"), "KEY ALGORITHM": ("b INT, UNIQUE u (b) USING HASH", "PARTITION BY KEY ALGORITHM=1 (a)"),
    "KEY () of the primary key": ("b INT, UNIQUE u (b) USING HASH, PRIMARY KEY (a)", "PARTITION BY KEY () PARTITIONS 2"), "KEY () of a unique one": ("b INT, UNIQUE u (b) USING HASH, UNIQUE v (a)", "PARTITION BY KEY ()"),
    "KEY (), with it": ("b INT, UNIQUE u (b, a) USING HASH, UNIQUE v (a)", "PARTITION BY KEY ()"),
    "SUBPARTITION": ("b INT, c INT, UNIQUE u (b, a) USING HASH", f"PARTITION BY RANGE (a) SUBPARTITION BY HASH (c) SUBPARTITIONS 2 {RANGE}"),
    "SUBPARTITION, with it": ("b INT, c INT, UNIQUE u (b, a, c) USING HASH", f"PARTITION BY RANGE (a) SUBPARTITION BY HASH (c) SUBPARTITIONS 2 {RANGE}"),
    "by time": ("b INT, UNIQUE u (b) USING HASH", "WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME (PARTITION b HISTORY, PARTITION a CURRENT)"),
    "by time and hash": ("b INT, UNIQUE u (b) USING HASH", "WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME SUBPARTITION BY HASH (a) SUBPARTITIONS 2 (PARTITION p0 HISTORY, PARTITION p1 CURRENT)"),
    "behind a counter within": ("b INT, i INT AUTO_INCREMENT, KEY (a, i), UNIQUE u (b) USING HASH", HASH), "before a name of InnoDB's": ("b INT, DB_ROW_ID INT, UNIQUE u (b) USING HASH", HASH),
    "before rows of one length": ("b INT, UNIQUE u (b) USING HASH", f"ROW_FORMAT=FIXED {HASH}"), "before more columns than there may be": (", ".join(f"c{n} INT" for n in range(1020)) + ", UNIQUE u (c1) USING HASH", HASH),
    "behind a zero date": ("d DATE NOT NULL DEFAULT '0000-00-00', UNIQUE u (d) USING HASH", HASH), "no such index": ("b INT, KEY (b)", HASH), "with a comment": ("b INT, UNIQUE u (b) USING HASH", f"COMMENT='PARTITION BY' CONNECTION='x(`y' {HASH}"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["mariadb-10.5", "mariadb-10.11", "mariadb-11.8"])
def test_a_unique_index_by_hash_that_lacks_a_column_of_the_partitioning_is_told(running: Callable[[str], PrivateServer], name: str) -> None:
    server, wrong = running(name), []
    for label, (columns, how) in TABLES.items():
        for to in ("InnoDB", "Aria"):
            with schema(server, "parts"):
                server.execute("SET SESSION sql_mode = ''", f"CREATE TABLE t (a INT NOT NULL, {columns}) CHARSET=latin1 ENGINE=MyISAM {how}", database="parts")
                (told,) = predict(find_tables(server.data_directory, None, ["parts.t"]).tables, to, kind_of(server, "TRADITIONAL"), None, Machine())
                code = _code(server, f"ALTER TABLE t ENGINE={to}")
                if (told.errors[0].code if told.errors else 0) != code:
                    wrong.append((label, to, code, told.errors))
                if code == NEEDS_ALL_COLUMNS:
                    drop, without = (f"ALTER {part.strip()}" for part in told.errors[0].mend.replace("Or take the partitions away:", "").split("ALTER")[1:])
                    assert _code(server, drop) == 0
                    assert _code(server, without) in (0, 4119)
    assert wrong == []


def _code(server: PrivateServer, statement: str) -> int:
    """The number of the error, 0 of none."""
    try:
        server.execute("SET SESSION sql_mode = 'TRADITIONAL'", statement, database="parts")
    except Error as error:
        return int(error.args[0])
    return 0
