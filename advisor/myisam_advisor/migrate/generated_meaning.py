"""Generated columns, which the copy computes anew: a row that was made under another sql_mode may stop it. No file tells of such rows.

Tried on MySQL 8.0 and 9.7, MariaDB 10.5 to 11.8, for STORED and VIRTUAL columns, with and without an index, to InnoDB and to Aria: under each strict sql_mode the
ALTER ends with the error that an INSERT of the row would; where sql_mode is not strict, none does. But of a VIRTUAL shape: MariaDB looks at its values when the
table is copied, at no INSERT, and takes no wrong one whatever sql_mode is (10.5 and 11.8; MySQL refuses the INSERT).
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject, filled
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.server.sql import Sql, statement

# NULL where there is none, out of range, cut off (MySQL, MariaDB), no value of its type (dates, numbers), divided by zero.
CODES = "1048, 1264, 1265, 1406, 1292, 1366 or 1365"
# No shape; one of another kind.
OF_SHAPES = "1416 or 1366"


def generated_changes(subject: Subject) -> Iterator[Change]:
    """Of a table that has such columns, where sql_mode is strict; of MariaDB's shapes wherever."""
    computed = [column for column in subject.structure.columns if column.generated]
    shapes = [one for one in computed if one.type == types.GEOMETRY and one.generated == types.VIRTUAL]
    said = []
    if computed and subject.kind.strict:
        names = listed([column.name for column in computed])
        said.append(
            f"{names} is computed again for each row: a row that was written under a less strict sql_mode may stop the copy (error {CODES})."
        )
    if shapes and subject.kind.is_mariadb:
        names = listed([column.name for column in shapes])
        said.append(
            f"{names} is computed when the table is copied, not at an INSERT: a row where it is no such shape stops the copy, and the way back, "
            f"whatever sql_mode is (error {OF_SHAPES})."
        )
    if said:
        yield Change("generated-refused", " ".join(said), _shown(subject))


def _shown(subject: Subject) -> Sql:
    """The same computing, on a copy of all rows: of MyISAM, as that can have a FULLTEXT index.

    A partitioned table has no such copy, and that of a table with generated columns alone cannot be filled.

    MariaDB computes a VIRTUAL column when such a table is rebuilt, and not at the INSERT.
    """
    if subject.structure.partitioned or not subject.base_columns:
        return statement("")
    return statement(
        "{} CREATE TEMPORARY TABLE {} LIKE {}; {}; ALTER TABLE {} FORCE;",
        subject.no_copy_yet,
        subject.shown,
        subject.table,
        filled(subject),
        subject.shown,
    )
