"""What ALTER does to a table's pointers: which statement widens them, and which one narrows them."""

from dataclasses import astuple, dataclass

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.myi_header import parse_header

from .conftest import schema

WIDEN = "MAX_ROWS=0 AVG_ROW_LENGTH=0"
FIXED = "(id INT NOT NULL PRIMARY KEY, c CHAR(8) NOT NULL) ENGINE=MyISAM"
DYNAMIC = "(id INT NOT NULL PRIMARY KEY, c VARCHAR(80) NOT NULL) ENGINE=MyISAM"
PAGE_BYTES = 1024
MADE = {
    "fixed_by_a_small_default": (4, FIXED),
    "dynamic_by_a_small_default": (4, DYNAMIC),
    "fixed_by_max_rows": (6, f"{FIXED} MAX_ROWS=1000000"),
    "dynamic_by_max_rows": (6, f"{DYNAMIC} MAX_ROWS=1000 AVG_ROW_LENGTH=50"),
}


@dataclass(frozen=True)
class PointerBytes:
    row: int
    index: int


def pointers(server: PrivateServer, database: str) -> PointerBytes:
    """By what they can address, as the header tells it."""
    server.execute("FLUSH TABLES")
    header = parse_header((server.data_directory / database / "t.MYI").read_bytes())
    unit = header.definition.record_bytes if header.row_format == "fixed" else 1
    return PointerBytes(_bytes(header.definition.maximum_data_bytes // unit), _bytes(header.definition.maximum_index_bytes // PAGE_BYTES))


def _bytes(highest: int) -> int:
    return -(-(highest.bit_length()) // 8)


@pytest.mark.parametrize("made", MADE)
def test_the_default_widens_both_kinds_of_pointers(server: PrivateServer, made: str) -> None:
    pointer_size, definition = MADE[made]
    with schema(server, "pointers") as database:
        server.execute(f"SET GLOBAL myisam_data_pointer_size = {pointer_size}")
        try:
            server.execute(f"CREATE TABLE t {definition}", "INSERT INTO t VALUES (1, 'a'), (2, 'b')", database=database)
        finally:
            server.execute("SET GLOBAL myisam_data_pointer_size = 6")
        before = pointers(server, database)
        assert max(astuple(before)) <= (4 if made.startswith("fixed") or made.endswith("rows") else 5)
        server.execute(f"ALTER TABLE t {WIDEN}", database=database)
        after = pointers(server, database)
        assert after.row == 6
        assert after.index > before.index
        assert server.execute("SELECT COUNT(*) FROM t", database=database)[0][0] == 2


def test_a_large_max_rows_narrows_fixed_rows(server: PrivateServer) -> None:
    with schema(server, "pointers") as database:
        server.execute(f"CREATE TABLE t {FIXED}", database=database)
        assert pointers(server, database).row == 6
        server.execute("ALTER TABLE t MAX_ROWS=8589934591", database=database)
        assert pointers(server, database).row == 4
        server.execute(f"ALTER TABLE t {WIDEN}", database=database)
        assert pointers(server, database).row == 6
