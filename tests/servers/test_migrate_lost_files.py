"""Tables of which a file is gone, cut or left behind: what the ALTER says was told, and what is written to mend them does, on four real servers."""

import os
import time
from collections.abc import Callable

import pytest

from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.tables import find_tables
from myisam_advisor.migrate.times import Machine
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.myi import header

from .conftest import schema
from .test_migrate_edges import happened
from .test_migrate_schemas import FOUR, kind_of


@pytest.fixture(scope="module", params=FOUR)
def four(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> PrivateServer:
    return running(request.param)


def test_rows_that_end_before_their_header_says_are_told(four: PrivateServer) -> None:
    with schema(four, "edges"):
        four.execute("CREATE TABLE t (a INT, b CHAR(200)) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')", "FLUSH TABLES", database="edges")
        whole = find_tables(four.data_directory, None, ["edges.t"])
        assert not whole.tables[0].problem
        rows = four.data_directory / "edges" / "t.MYD"
        os.truncate(rows, 250)
        os.utime(rows, (1_000_000_000, 1_000_000_000))
        cut = find_tables(four.data_directory, None, ["edges.t"])
        (told,) = predict(cut.tables, "InnoDB", kind_of(four, ""), None, Machine())
        assert happened(four, "", "ALTER TABLE t ENGINE=InnoDB") in {1034, 1194, 1030}
        assert told.errors[0].code == 1034
        assert "250 bytes" in told.errors[0].why
        assert told.errors[0].mend == "REPAIR TABLE `edges`.`t`;"
        left = four.data_directory / "edges" / "t.TMD"
        left.write_bytes(b"left")
        four.give_away(left)
        (beside,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())
        is_said = beside.errors[0].mend == "Move t.TMD away, unless a rebuild is at work on the table, then REPAIR TABLE `edges`.`t`;"
        four.execute("FLUSH TABLES")
        assert ("Can't create new tempfile" in str(four.execute("REPAIR TABLE edges.t"))) is is_said


def test_rows_that_a_rebuild_left_under_its_own_name_are_had_back(four: PrivateServer) -> None:
    """As a server leaves them that ends between deleting the old rows and giving the new ones their name (mysys/my_redel.c)."""
    with schema(four, "edges"):
        for table in ("t", "rebuilt"):
            four.execute(f"CREATE TABLE {table} (a INT, b VARCHAR(200), KEY (a)) ENGINE=MyISAM", f"INSERT INTO {table} VALUES (1, 'x'), (2, 'yy'), (3, 'zzz')", f"DELETE FROM {table} WHERE a = 1", database="edges")
        four.execute("OPTIMIZE TABLE rebuilt", "FLUSH TABLES", database="edges")
        rows = four.data_directory / "edges" / "t.MYD"
        rows.unlink()
        left = (four.data_directory / "edges" / "rebuilt.MYD").rename(rows.with_suffix(".TMD"))
        (told,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())
        assert told.errors[0].mend == "A rebuild that ended with the server left them in t.TMD: rename it so that it ends in .MYD, then REPAIR TABLE `edges`.`t`;"
        assert happened(four, "", "ALTER TABLE t ENGINE=InnoDB") == told.errors[0].code
        left.rename(rows)
        four.execute("FLUSH TABLES", "REPAIR TABLE edges.t")
        assert four.execute("SELECT a, b FROM edges.t ORDER BY a") == [(2, "yy"), (3, "zzz")]
        assert [row[3] for row in four.execute("CHECK TABLE edges.t EXTENDED")] == ["OK"]


@pytest.mark.parametrize(("ending", "left"), [(".MYI", None), (".MYD", None), (".MYI", b""), (".MYI", b"nothing"), (".MYI", header()[:100])], ids=["no index", "no rows", "empty", "another kind", "cut"])
def test_a_table_of_which_a_file_is_gone_or_damaged_is_told(four: PrivateServer, ending: str, left: bytes | None) -> None:
    with schema(four, "edges"):
        four.execute("CREATE TABLE t (a INT, KEY (a)) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (2)", "FLUSH TABLES", database="edges")
        file = four.data_directory / "edges" / f"t{ending}"
        if left is None:
            file.unlink()
        else:
            file.write_bytes(left)
            time.sleep(0.6)  # a file that was made this moment is one of a table that is being made
        (told,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())
        assert (told.errors[0].code, told.bytes_after) == (happened(four, "", "ALTER TABLE t ENGINE=InnoDB"), None)
        if told.errors[0].mend.endswith(";"):
            four.execute(told.errors[0].mend.rstrip(";"))
            assert happened(four, "", "ALTER TABLE t ENGINE=InnoDB") == 0
            assert four.execute("SELECT COUNT(*) FROM t", database="edges") == [(2,)]
        else:  # what cannot be opened may stay behind DROP
            happened(four, "", "DROP TABLE t")
            for one in (four.data_directory / "edges").glob("t.*"):
                one.unlink()


DIVIDED = {"three": ("PARTITION BY HASH (a) PARTITIONS 3", "t#P#p1"), "six": ("PARTITION BY RANGE (a) SUBPARTITION BY HASH (a) SUBPARTITIONS 3 (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE)", "t#P#p1#SP#p1sp2")}


@pytest.mark.parametrize("endings", [(".MYI",), (".MYD",), (".MYI", ".MYD")])
@pytest.mark.parametrize(("divided", "lost"), DIVIDED.values(), ids=DIVIDED)
def test_a_file_that_one_partition_lacks_is_told(four: PrivateServer, divided: str, lost: str, endings: tuple[str, ...]) -> None:
    with schema(four, "edges"):
        if happened(four, "", f"CREATE TABLE t (a INT, KEY (a)) ENGINE=MyISAM {divided}"):
            pytest.skip("the server makes no such table")
        four.execute("INSERT INTO t VALUES (1), (2)", "FLUSH TABLES", database="edges")
        assert predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())[0].errors == ()
        for ending in endings:
            (four.data_directory / "edges" / f"{lost}{ending}").unlink()
        (told,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())
        assert told.errors[0].code == happened(four, "", "ALTER TABLE t ENGINE=InnoDB") != 0
        repaired = four.execute("REPAIR TABLE t USE_FRM", database="edges")
        assert "Operation failed" in str(repaired) or "Corrupt" in str(repaired)
        assert told.errors[0].mend.endswith("from a backup.")
        happened(four, "", "DROP TABLE t")
        for one in (four.data_directory / "edges").glob("t*"):
            one.unlink()


def test_rows_without_definition_and_index_are_told(four: PrivateServer) -> None:
    with schema(four, "edges"):
        four.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", "CREATE TABLE whole (a INT) ENGINE=MyISAM", "FLUSH TABLES", database="edges")
        directory = four.data_directory / "edges"
        (directory / "t.MYD").rename(directory / "lost.MYD")
        (directory / "lost.MYD").chmod(0o600)
        found = find_tables(four.data_directory, None, ["edges"])
        (directory / "lost.MYD").rename(directory / "t.MYD")
        assert {one.name[1] for one in found.tables} == {"t", "whole"}
        assert found.left_out == [("edges.lost", "there is no definition beside its rows (.frm or .sdi): nothing can be predicted")]
