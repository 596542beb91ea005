"""What becomes of DATA DIRECTORY and INDEX DIRECTORY in InnoDB: refused, passed over, or followed.

Sources: manual of MySQL, "Creating Tables Externally"; storage/innobase/handler/ha_innodb.cc (create_option_data_directory_is_valid,
create_options_are_invalid). Tried on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.migrate.table_spaces import OWN_FILE, named_tablespace, shared_tablespace
from myisam_exporter.files.structure import Structure
from myisam_exporter.server.sql import Sql, statement

# Refused by 10.5, 10.11 and 11.4; what 11.5 to 11.7 do was not tried.
INDEX_DIRECTORY_PASSED_OVER = (11, 8)
# InnoDB of MySQL 5.5 knows no directories, and says nothing.
FOLLOWED_SINCE = ((5, 6), (10, 0))
LENIENT = "Run the ALTER behind SET SESSION innodb_strict_mode = OFF; which passes over the directory with a warning."
# What the way back does not give.
NOT_GIVEN_BACK = frozenset(
    {"data-directory", "index-directory", "tablespace-word", "short-year", "connection-word", "default-lost"}
)


def refused_places(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Under innodb_strict_mode, which a tablespace that tables share asks for by itself."""
    strict = kind.strict_innodb or bool(shared_tablespace(structure, kind))
    if not strict or not kind.since(*FOLLOWED_SINCE):
        return
    code = 1005 if kind.is_mariadb else 1031
    if structure.data_directory and not named_tablespace(structure, kind):
        yield from _refused_rows(structure.data_directory, kind, code)
    if structure.index_elsewhere and not _passes_over_index(kind):
        why = "its index lies in a directory of its own (INDEX DIRECTORY), and innodb_strict_mode refuses that"
        yield Refusal(code, why, LENIENT)


def _refused_rows(data: str, kind: ServerKind, code: int) -> Iterator[Refusal]:
    if not _is_known(data, kind):
        yield Refusal(
            3121,
            f"its rows lie in {data} (DATA DIRECTORY), and InnoDB of {kind.label} puts no table there: it is not below innodb_directories, "
            "innodb_data_home_dir or datadir",
            f"Write it into innodb_directories and restart the server. Or: {LENIENT}",
        )
    elif not kind.file_per_table:
        why = "its rows lie in a directory of their own (DATA DIRECTORY), which takes innodb_file_per_table"
        yield Refusal(code, why, "SET GLOBAL innodb_file_per_table = ON.")


def moved_places(subject: Subject) -> Iterator[Change]:
    """Directories that are passed over: the way back does not give them either."""
    data, kind = subject.structure.data_directory, subject.kind
    shown = statement("SHOW CREATE TABLE {};", subject.table)
    if data and not _is_followed(subject.structure, kind):
        what = f"DATA DIRECTORY is passed over: rows that lay in {data} lie in the data directory afterwards, and no ALTER gives the directory back."
        yield Change("data-directory", what, shown)
    if subject.structure.index_elsewhere:
        what = "INDEX DIRECTORY is passed over: indexes lie beside the rows afterwards, and no ALTER gives the directory back."
        yield Change("index-directory", what, shown)


def _is_followed(structure: Structure, kind: ServerKind) -> bool:
    """Whether rows stay where they are: MySQL asks nothing of whoever names innodb_file_per_table as their tablespace."""
    named = named_tablespace(structure, kind)
    if named:
        return named == OWN_FILE
    return kind.since(*FOLLOWED_SINCE) and kind.file_per_table and _is_known(structure.data_directory, kind)


def _is_known(data: str, kind: ServerKind) -> bool:
    return not kind.keeps_dictionary or kind.places.takes(data)


def _passes_over_index(kind: ServerKind) -> bool:
    return kind.is_mariadb and kind.version >= INDEX_DIRECTORY_PASSED_OVER
