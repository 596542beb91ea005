"""The .MYI parser against `myisamchk -dvv`, field by field; names of tables against the servers' own spelling."""

import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Context
from myisam_exporter.files.file_names import decode_identifier
from myisam_exporter.files.myi_header import Header, parse_header
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server.session import Session
from tests.support.compressed_tables import make_compressed_table
from tests.support.servers import binaries_of, keeps_dictionary

from .conftest import look, on_every_server, schema, target

CREATE = {
    "fixed": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, c CHAR(10) NOT NULL, KEY (a), UNIQUE KEY (c, a))",
    "dynamic": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, v VARCHAR(200), t TEXT, KEY (v), KEY (a), KEY (t(20)))",
    "packed": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, c CHAR(40) NOT NULL, v VARCHAR(100) NOT NULL, KEY (c), KEY (v), KEY (a)) PACK_KEYS=1",
    "unpacked": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, c CHAR(40) NOT NULL, v VARCHAR(100), KEY (c), KEY (v), KEY (a)) PACK_KEYS=0",
    "words": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200) NOT NULL, FULLTEXT KEY (v))",
    "long_keys": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v VARCHAR(900) CHARACTER SET latin1, KEY (v))",
    "small_pointer": "(id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT) MAX_ROWS=1000 AVG_ROW_LENGTH=20",
}
LATIN = "ALTER DATABASE kinds CHARACTER SET latin1"
NUMBER = re.compile(r"(Data records|Deleted blocks|Datafile parts|Deleted data|Datafile length|Keyfile length|Max datafile length|Max keyfile length):\s+(\d+)")


def describe(path: Path) -> str:
    """What MariaDB's myisamchk says; not every server came with the tool, and all write the same files."""
    tool = binaries_of("mariadb-10.11").tool("myisamchk")
    assert tool is not None
    return subprocess.run([*tool, "-dvv", str(path)], capture_output=True, text=True, check=True).stdout


def compare(path: Path) -> Header:
    """Hold every number that myisamchk prints against ours."""
    header = parse_header(path.read_bytes())
    text = describe(path)
    told = {name: int(value) for name, value in NUMBER.findall(text)}
    assert told["Data records"] == header.rows
    assert told["Deleted blocks"] == header.deleted_rows
    assert told.get("Datafile parts", header.data_blocks) == header.data_blocks
    assert told.get("Deleted data", header.free_bytes) == header.free_bytes
    assert told["Datafile length"] == header.data_bytes
    assert told["Keyfile length"] == header.index_bytes
    # myisamchk prints the last position, one below the length.
    assert told.get("Max datafile length", header.definition.maximum_data_bytes - 1) == header.definition.maximum_data_bytes - 1
    assert told["Max keyfile length"] == header.definition.maximum_index_bytes - 1
    if header.row_format == "fixed":
        assert int(re.search(r"Recordlength:\s+(\d+)", text)[1]) == header.definition.record_bytes  # type: ignore[index]
    assert ("changed" in text or "checked" in text) != header.crashed
    table = text[text.index("table description:") :]
    kinds = [line.split() for line in table.splitlines() if re.match(r"\d+\s+\d+\s+\d+\s+(unique|multip\.|fulltext)", line)]
    # A FULLTEXT key's "columns" in the file are its word and its weight.
    assert header.definition.keys is not None
    assert len(kinds) == len(header.definition.keys)
    for words, key in zip(kinds, header.definition.keys, strict=True):
        assert key.unique == (words[3] == "unique")
        assert (key.kind == "fulltext") == (words[3] == "fulltext")
        assert key.packed == bool({"packed", "prefix"} & set(words))
        assert key.page_bytes == int(words[-1])
        assert key.parts[0].length == int(words[2]) or key.kind == "fulltext"
    return header


@pytest.mark.parametrize("name", CREATE)
def test_every_kind_of_table_is_read_as_myisamchk_reads_it(server: PrivateServer, name: str) -> None:
    with schema(server, "kinds"):
        server.execute(LATIN)  # MariaDB's tool does not know MySQL's newer character sets
        server.execute(f"CREATE TABLE t {CREATE[name].replace(') PACK', ') ENGINE=MyISAM PACK').replace(') MAX', ') ENGINE=MyISAM MAX')}" + ("" if "PACK" in CREATE[name] or "MAX_" in CREATE[name] else " ENGINE=MyISAM"), database="kinds")
        columns = [str(row[0]) for row in server.execute("SHOW COLUMNS FROM t", database="kinds")][1:]
        for start in range(0, 600, 100):
            rows = ", ".join("(" + ", ".join(str(number) if column == "a" else f"'{column} {number} {'x' * (number % 7)}'" for column in columns) + ")" for number in range(start, start + 100))
            server.execute(f"INSERT INTO t ({', '.join(columns)}) VALUES {rows}".replace("'c ", "'"), database="kinds")
        server.execute("DELETE FROM t WHERE id % 5 = 0", "FLUSH TABLES", database="kinds")
        header = compare(server.data_directory / "kinds" / "t.MYI")
        assert header.rows == 480
        assert header.has_holes


@on_every_server
def test_deleted_rows_are_no_pieces_of_those_that_are_left(server: PrivateServer) -> None:
    tool = binaries_of("mariadb-10.11").tool("myisamchk")
    assert tool is not None

    def pieces() -> tuple[float, float]:
        """Of a row, as we count them and as myisamchk does, which reads each row."""
        server.execute("FLUSH TABLES")
        said = subprocess.run([*tool, "-ei", str(server.data_directory / "kinds" / "t.MYI")], capture_output=True, text=True, check=True).stdout
        (row,) = look(server).tables["tables"].dictionaries()
        assert isinstance(row["fragments_per_row"], float)
        return round(row["fragments_per_row"], 2), float(re.findall(r"Blocks/Record:\s+([\d.]+)", said)[0])

    with schema(server, "kinds"):
        server.execute(LATIN)
        server.execute(
            "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200)) ENGINE=MyISAM",
            f"INSERT INTO t (v) VALUES {', '.join(['(REPEAT(1, 90))'] * 900)}", "DELETE FROM t WHERE id % 3 = 0", database="kinds",
        )  # fmt: skip
        assert pieces() == (1.0, 1.0)
        server.execute("UPDATE t SET v = REPEAT(2, 190) WHERE id % 6 = 1", database="kinds")
        ours, theirs = pieces()
        assert ours == theirs > 1.1


def test_a_compressed_table(server: PrivateServer) -> None:
    with schema(server, "kinds"):
        server.execute(LATIN)
        tools = server.binaries if server.binaries.tool("myisampack") else binaries_of("mariadb-10.11")
        make_compressed_table(server, tools, "kinds", "t")
        header = compare(server.data_directory / "kinds" / "t.MYI")
        assert header.row_format == "compressed"


@on_every_server
def test_packing_is_told_per_index_as_the_server_stores_it(server: PrivateServer) -> None:
    with schema(server, "kinds"):
        for option in ("DEFAULT", "0", "1"):
            server.execute(
                f"CREATE TABLE p{option} (i INT NOT NULL, c CHAR(40) NOT NULL, n CHAR(40), v VARCHAR(100) NOT NULL, KEY (i), KEY (c), KEY (n), KEY (v)) ENGINE=MyISAM PACK_KEYS={option} DEFAULT CHARSET=latin1",
                database="kinds",
            )
        rows = look(server).tables["indexes"].dictionaries()
        packed = {option: [row["is_packed"] for row in rows if row["table_name"] == f"p{option}"] for option in ("DEFAULT", "0", "1")}
        halving = {option: [row["binary_search"] for row in rows if row["table_name"] == f"p{option}"] for option in ("DEFAULT", "0", "1")}
        promised = [row["binary_search_without_packing"] for row in rows if row["table_name"] == "pDEFAULT"]
        assert packed == {"DEFAULT": [0, 1, 1, 1], "0": [0, 0, 0, 0], "1": [1, 1, 1, 1]}
        assert halving["0"] == promised == [1, 1, 0, 0]
        assert halving["DEFAULT"] == [1, 0, 0, 0]


@on_every_server
def test_an_index_using_hash_is_a_btree_and_a_long_unique_forbids_duplicates(server: PrivateServer) -> None:
    with schema(server, "kinds"):
        server.execute("CREATE TABLE h (id INT NOT NULL, a INT NOT NULL, g GEOMETRY NOT NULL, PRIMARY KEY USING HASH (id), KEY (a) USING HASH, SPATIAL KEY (g)) ENGINE=MyISAM", database="kinds")
        long_unique = server.binaries.flavour == "mariadb"
        if long_unique:
            server.execute("CREATE TABLE l (b TEXT NOT NULL, UNIQUE (b)) ENGINE=MyISAM", database="kinds")
        rows = look(server).tables["indexes"].dictionaries()
        told = [(row["table_name"], row["algorithm"], row["is_unique"]) for row in rows]
    assert told == [("h", "btree", 1), ("h", "btree", 0), ("h", "rtree", 0), *[("l", "btree", 1)] * long_unique]


def test_partitions_are_one_table(server: PrivateServer) -> None:
    if keeps_dictionary(server):
        pytest.skip("MySQL 8.0 and later cannot partition MyISAM")
    with schema(server, "kinds"):
        server.execute(
            "CREATE TABLE parted (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 4",
            "INSERT INTO parted VALUES (1), (2), (3), (4), (5)", "FLUSH TABLES", database="kinds",
        )  # fmt: skip
        files = sorted((server.data_directory / "kinds").glob("parted#P#*.MYI"))
        assert sum(compare(path).rows for path in files) == 5
        (row,) = look(server).tables["tables"].dictionaries()
        assert (row["table_name"], row["partitions"], row["rows"]) == ("parted", 4, 5)
        # Of 1 to 5 the rest of 1 by 4 is there twice; index files are larger than data files of seven bytes a row.
        assert row["fullest_partition"] in {"p0", "p1", "p2", "p3"}
        used = max(path.stat().st_size / compare(path).definition.maximum_index_bytes for path in files)
        assert row["fullest_partition_used_ratio"] == pytest.approx(used)


def test_symbolic_links_of_data_and_index_directories_are_followed(mariadb: PrivateServer) -> None:
    elsewhere = mariadb.directory / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    mariadb.give_away(elsewhere)
    with schema(mariadb, "linked"):
        mariadb.execute(
            f"CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM DATA DIRECTORY='{elsewhere}' INDEX DIRECTORY='{elsewhere}'", "INSERT INTO t VALUES (1), (2)", database="linked"
        )
        assert (mariadb.data_directory / "linked" / "t.MYI").is_symlink()
        (row,) = look(mariadb).tables["tables"].dictionaries()
        assert (row["rows"], row["data_bytes"]) == (2, 14)
        assert row["data_resident_bytes"] == 4096


NAMES = ["a/b", "back`tick", "quo'te", 'double"quote', "new\nline", "<script>alert(1)</script>", "\x1b[31mred", "x" * 64, "ünï¢ödé", "中文", "a b", "a.b", "@home", "per%cent", "#sharp", "-dash", "$dollar", "con", "Prn", "lpt9"]


@pytest.mark.parametrize("name", NAMES, ids=[repr(name)[:20] for name in NAMES])
def test_odd_names_come_back_as_they_were_given(server: PrivateServer, name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    with schema(server, "odd"):
        server.execute("SET NAMES utf8mb4", f"CREATE TABLE {quoted} (id INT) ENGINE=MyISAM", database="odd")
        (row,) = look(server).tables["tables"].dictionaries()
        assert row["table_name"] == name


def test_an_emoji_is_what_the_server_made_of_it(server: PrivateServer) -> None:
    with schema(server, "odd"):
        try:
            server.execute("CREATE TABLE `a😀b` (id INT) ENGINE=MyISAM", database="odd")
        except Exception as error:
            assert "1300" in str(error)  # MariaDB refuses it
            return
        (row,) = look(server).tables["tables"].dictionaries()
        assert row["table_name"] == server.execute("SHOW TABLES FROM odd")[0][0]


def test_the_short_codes_are_the_servers_own(server: PrivateServer) -> None:
    if keeps_dictionary(server):
        pytest.skip("MySQL 8.0 and later have no filename character set to ask")
    points = [point for point in range(1, 0x10000) if not 0xD800 <= point < 0xE000]
    with server.session() as connection:
        cursor = connection.cursor()
        for start in range(0, len(points), 1000):
            part = points[start : start + 1000]
            cursor.execute("SELECT " + ", ".join(f"HEX(CONVERT(_utf16 0x{point:04X} USING filename))" for point in part))
            for point, encoded in zip(part, cursor.fetchone(), strict=True):
                assert decode_identifier(bytes.fromhex(encoded).decode("ascii")) == chr(point)


@pytest.mark.parametrize(("connections", "exact"), [(1, True), (4, False)])
def test_statements_that_the_header_hides_are_not_made_up(server: PrivateServer, connections: int, exact: bool) -> None:
    """Each open handle counts for itself: four writers look like one that writes larger batches."""
    with schema(server, "writers") as name, Session(target(server)) as session:
        server.execute("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", database=name)
        opened = [server.connect(name) for _ in range(connections)]
        cursors = [connection.cursor() for connection in opened]

        def write(cursor: Any) -> None:
            for _ in range(100):
                cursor.execute("INSERT INTO t VALUES (NULL), (NULL)")

        cursors[0].execute("INSERT INTO t VALUES (NULL)")
        before = take_snapshot(Context(session.target, session))
        threads = [threading.Thread(target=write, args=(cursor,)) for cursor in cursors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = take_snapshot(Context(session.target, session))
        facts = Interval(after, before).facts()
        for connection in opened:
            connection.close()
        row = next(row for row in facts.tables["tables"].dictionaries() if row["table_name"] == "t")
        seconds = after.moments["myi"] - before.moments["myi"]
        statements = row["write_statements_per_second"]
        if exact:
            assert row["rows_per_write_statement"] == 2
            assert isinstance(statements, float)
            assert statements * seconds == pytest.approx(100)
        else:
            # The header may by luck have seen four fifths of them, which is what is asked of it.
            per_statement = row["rows_per_write_statement"]
            if per_statement is None:
                assert "several connections" in facts.why_unknown("tables", "rows_per_write_statement").reason
            else:
                assert isinstance(per_statement, float)
                assert 2 <= per_statement <= 2 / 0.8
            # All of them, where the threads happened to follow one another; more never.
            assert statements is None or float(statements) * seconds < 400.5
