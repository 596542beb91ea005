"""What CHECK and ANALYZE make of SPATIAL indexes, on real servers: what rules say of them rests on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.trial.engines.crash import _is_spatial, _looked_over
from myisam_advisor.trial.engines.drawn_rows import DrawnRows
from myisam_advisor.trial.engines.stage import EngineServer
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.copying import _check
from myisam_advisor.trial.tables.sources import find_sources
from myisam_exporter.files.myi_header import tree_pointers
from myisam_exporter.server.sql import quote_table, statement
from tests.support.servers import keeps_dictionary

from .conftest import schema, with_thresholds
from .test_expert_rules import findings


@contextmanager
def damaged(server: PrivateServer) -> Iterator[Path]:
    """The directory of a database with a table whose SPATIAL index lacks half of the rows, of which its header says nothing."""
    srid = " SRID 0" if keeps_dictionary(server) else ""
    with schema(server, "d") as name:
        server.execute(f"CREATE TABLE s (id INT NOT NULL PRIMARY KEY, g GEOMETRY NOT NULL{srid}, SPATIAL KEY (g)) ENGINE=MyISAM", database=name)
        server.execute("INSERT INTO s VALUES " + ", ".join(f"({number}, ST_GeomFromText('POINT({number} 1)'))" for number in range(1, 21)), "FLUSH TABLES", database=name)
        index = server.data_directory / name / "s.MYI"
        page = tree_pointers(index.read_bytes())[0][1]
        with index.open("r+b") as file:
            # Its root as it was before the last rows: 38 bytes for each of the first ten, behind two for the length.
            file.seek(page)
            file.write((2 + 10 * 38).to_bytes(2, "big"))
        server.execute("FLUSH TABLES", database=name)
        yield index.parent


def test_only_an_extended_check_looks_into_a_spatial_index(server: PrivateServer) -> None:
    within = "MBRContains(ST_GeomFromText('POLYGON((0 0, 0 99, 99 99, 99 0, 0 0))'), g)"
    with damaged(server):
        counts = [server.execute(f"SELECT COUNT(*) FROM s {how} INDEX (g) WHERE {within}", database="d") for how in ("FORCE", "IGNORE")]
        assert counts == [[(10,)], [(20,)]]
        said = [str(server.execute(f"CHECK TABLE s{how}", database="d")[-1][3]) for how in ("", " MEDIUM", " EXTENDED")]
        assert said == ["OK", "OK", "Corrupt"]


def test_an_extended_check_of_an_empty_shape_is_as_said(server: PrivateServer) -> None:
    if server.binaries.name.startswith("mysql-5"):
        pytest.skip("it takes no empty shape")
    srid, is_mariadb = " SRID 0" if keeps_dictionary(server) else "", server.binaries.name.startswith("mariadb")
    with schema(server, "d") as name:
        server.execute(f"CREATE TABLE s (id INT, g GEOMETRY NOT NULL{srid}, SPATIAL KEY (g)) ENGINE=MyISAM", "INSERT INTO s VALUES (1, ST_GeomFromText('POINT(1 1)')), (2, ST_GeomFromText('GEOMETRYCOLLECTION EMPTY'))", database=name)
        for before in ("CHECK TABLE s", "REPAIR TABLE s"):
            said = [str(server.execute(words, database=name)[-1][3]) for words in (before, "CHECK TABLE s EXTENDED", "CHECK TABLE s")]
            assert said == ["OK", "Corrupt" if is_mariadb else "OK", "OK"]


def test_a_copy_with_a_damaged_spatial_index_is_none(server: PrivateServer) -> None:
    """By myisamchk, where there is one, else by the private server, which imports copies from MySQL 8.0 on: it has this table already."""
    if keeps_dictionary(server):
        pytest.skip("copies are imported")
    with damaged(server) as folder, find_sources(server.data_directory, ["d.s"], 1 << 30, None) as (source,):
        assert _check(source, folder, server)
        if not server.binaries.tool("myisamchk"):
            return
        server.execute("REPAIR TABLE s", "FLUSH TABLES", database="d")
        with find_sources(server.data_directory, ["d.s"], 1 << 30, None) as (repaired,):
            assert _check(repaired, folder, server) == ""


def test_a_crash_that_damaged_a_spatial_index_is_told(server: PrivateServer) -> None:
    rows = DrawnRows(quote_table("d", "s"), ("id", "g"), 1, (), None, statement("id"))
    one = EngineServer("MyISAM", server)
    with damaged(server):
        assert _is_spatial(one, rows)
        assert not _is_spatial(EngineServer("InnoDB", server), rows)
        assert not _looked_over(one, rows.name, is_spatial=False).is_damaged
        found = _looked_over(one, rows.name, is_spatial=True)
        assert (found.is_damaged, found.is_well) == (True, False)
        assert found.seconds > 0
        assert found.extended_seconds > 0
        server.execute("REPAIR TABLE s", database="d")
        assert _looked_over(one, rows.name, is_spatial=True).words == "OK"
        if server.binaries.flavour == "mariadb":
            server.execute("ALTER TABLE s ENGINE=Aria", database="d")
            assert _looked_over(EngineServer("Aria", server), rows.name, is_spatial=True).is_well


def test_nothing_is_missing_that_analyze_does_not_make(server: PrivateServer) -> None:
    """Of a SPATIAL index it leaves zeros in the header, and of a disabled one all."""
    small = with_thresholds("statistics-never-collected", minimum_rows=1)
    srid = " SRID 0" if keeps_dictionary(server) else ""
    rows = [f"INSERT INTO {{}} VALUES ({number}, 1, {number % 2}, ST_GeomFromText('POINT({number} 1)'))" for number in range(4)]
    with schema(server, "d") as name:
        for table, keys in (("place", "PRIMARY KEY (a, b), SPATIAL KEY (g), KEY (c)"), ("off", "PRIMARY KEY (a, b), KEY (c)")):
            server.execute(f"CREATE TABLE {table} (a INT NOT NULL, b INT NOT NULL, c INT, g GEOMETRY NOT NULL{srid}, {keys}) ENGINE=MyISAM", database=name)
        server.execute("ALTER TABLE off DISABLE KEYS", *(row.format(table) for table in ("place", "off") for row in rows), database=name)
        assert {one.object for one in findings(server, "statistics-never-collected", site=small)} == {"d.place", "d.off"}
        server.execute("ANALYZE TABLE place, off", database=name)
        assert findings(server, "statistics-never-collected", site=small) == []
        server.execute("ALTER TABLE off ENABLE KEYS", database=name)
        assert findings(server, "statistics-never-collected", site=small) == []
