"""Tables that MySQL 5.5 made, on later servers: the script takes them to InnoDB, finds the same rows there, and back."""

import shutil

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.way_back import back
from myisam_advisor.trial.engines.stage import EngineServer
from myisam_advisor.trial.tables.sources import Source
from tests.support.servers import CopiedServer, binaries_of

from .test_migrate_scripts import engines, fed, looked

TABLES = {
    "short_years": ("a INT, y YEAR(2), KEY (y)", "(1, 70), (2, 69), (3, 0), (4, NULL), (5, 99)"),
    "years_as_a_key": ("y YEAR(2) NOT NULL PRIMARY KEY", "(70), (69), (0), (99)"),
    "times": ("t TIME, d DATETIME, s TIMESTAMP NOT NULL DEFAULT 0, KEY (t), KEY (d, s)", "('-838:59:59', '2010-01-01 10:00:00', '2038-01-19 03:14:07'), ('10:00:00', '0000-00-00', 0), (NULL, NULL, 0)"),
    "numbers": ("a BIT(64), b DECIMAL(30,10), c DECIMAL(5,0) UNSIGNED ZEROFILL, d FLOAT, e DOUBLE(10,3)", "(b'1', -1.5, 7, 1.1, 2.2), (NULL, 99999999999999999999.9999999999, 99999, 3e38, 9999999.999)"),
    "counted": ("a TINYINT AUTO_INCREMENT PRIMARY KEY, b INT", "(127, 1), (-128, 2), (-5, 3)"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["mysql-5.6", "mariadb-10.11"])
def test_tables_of_mysql_5_5_go_there_and_back(name: str) -> None:
    with CopiedServer(binaries_of("mysql-5.5"), ["--sql-mode="]) as old, CopiedServer(binaries_of(name), ["--sql-mode="]) as server:
        old.execute("CREATE DATABASE o DEFAULT CHARSET latin1")
        for table, (columns, rows) in TABLES.items():
            old.execute(f"CREATE TABLE o.{table} ({columns}) ENGINE=MyISAM", f"INSERT INTO o.{table} VALUES {rows}")
        old.execute("FLUSH TABLES")
        server.execute("CREATE DATABASE o DEFAULT CHARSET latin1")
        for file in (old.data_directory / "o").glob("*.[fM]*"):
            copy = server.data_directory / "o" / file.name
            shutil.copyfile(file, copy)
            server.give_away(copy)

        def rows_of() -> dict[str, list[str]]:
            found = {table: server.execute(f"SELECT * FROM o.{table}") for table in TABLES}
            return {table: sorted(repr([value % 100 if "years" in table and isinstance(value, int) else value for value in row]) for row in rows) for table, rows in found.items()}

        summed = [EngineServer(engine, server) for engine in ("MyISAM", "InnoDB")]
        source = Source("o", "short_years", "o", "short_years", 5, 0, ())
        before, found, sums = rows_of(), looked(server, "o"), summed[0].rows(source)
        told = {one.name[1] for one in found.predictions for change in one.changes if change.id == "short-year"}
        assert told == ({"short_years", "years_as_a_key"} if name == "mysql-5.6" else set())
        assert fed(server, as_script(found)) == ""
        assert engines(server, "o") == dict.fromkeys(TABLES, "InnoDB")
        assert rows_of() == before
        assert summed[1].rows(source) == sums
        widened = {str(table) for (table,) in server.execute("SELECT DISTINCT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'o' AND COLUMN_TYPE = 'year(4)'")}
        assert widened == told
        try:
            server.execute(*(statement for one in found.predictions for statement in back(one)))
        except Error as error:
            pytest.fail(str(error))
        assert engines(server, "o") == dict.fromkeys(TABLES, "MyISAM")
        assert rows_of() == before
