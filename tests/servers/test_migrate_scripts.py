"""What the script holds does what it says on real servers, fed to a client, whatever a table is made of and its files are called."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.prediction import Migration
from myisam_advisor.migrate.script import alter, as_script, runs
from myisam_advisor.migrate.way_back import back
from myisam_advisor.remedies.script import ESCAPED
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_table
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, keeps_dictionary

from .clients import client
from .conftest import error_of, schema, target
from .test_migrate_schemas import FOUR

PROC = Path("/proc")


# One for each test: files that no server names so ended a MySQL 5.6 once, and what comes next would not be asked.
@pytest.fixture(params=sorted({*FOUR, "mariadb-10.5"}))
def each(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    with CopiedServer(binaries_of(request.param), ["--sql-mode="]) as server:
        yield server


def looked(server: PrivateServer, *names: str, to: str = "InnoDB") -> Migration:
    with Session(target(server), 10) as session:
        return looked_at(session, names, to, None, PROC)


def fed(server: PrivateServer, script: str) -> str:
    """What a client says of it; "" where it ran to its end."""
    done = subprocess.run([*client("mariadb"), f"--socket={server.socket}", "--user=root"], input=script, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def engines(server: PrivateServer, database: str) -> dict[str, str]:
    rows = server.execute(f"SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{database}'")
    return {str(name): str(engine) for name, engine in rows}


def test_a_table_of_generated_columns_alone_stops_no_script(each: PrivateServer) -> None:
    if each.binaries.name == "mysql-5.6":
        pytest.skip("it has no generated columns")
    with schema(each, "g1"):
        each.execute("CREATE TABLE a_gen (a INT GENERATED ALWAYS AS (1) VIRTUAL) ENGINE=MyISAM", "CREATE TABLE z (a INT) ENGINE=MyISAM", "INSERT INTO a_gen VALUES (DEFAULT), (DEFAULT)", database="g1")
        found = looked(each, "g1")
        assert fed(each, as_script(found)) == ""
        refused = [one.name[1] for one in found.predictions if not runs(one)]
        assert engines(each, "g1") == {name: "MyISAM" if name in refused else "InnoDB" for name in ("a_gen", "z")}
        assert refused == []
        statements = [change.statement for one in looked(each, "g1").predictions for change in one.changes if one.name[1] == "a_gen"]
        assert not [one for one in statements if re.search(r"SELECT +FROM|\(\)", one)]


ODD = ("@0041", "@00e4", "B@005f", "C@002D", "con", "x@@@", "old-name")


def with_copies(server: PrivateServer) -> dict[str, Path]:
    """The files of `A` once more, under names that no server writes so; in another directory as well."""
    server.execute("CREATE TABLE A (a INT, KEY (a)) ENGINE=MyISAM", "INSERT INTO A VALUES (1)", "FLUSH TABLES", database="names")
    place = server.data_directory / "names"
    for file in [one for one in place.iterdir() if re.match(r"A[._]", one.name)]:
        for stem in ODD:
            shutil.copyfile(file, place / (stem + file.name[1:]))
            server.give_away(place / (stem + file.name[1:]))
    other = {name: server.data_directory / name for name in ("@0045", "old-db")}
    for directory in other.values():
        shutil.copytree(place, directory)
        for one in (directory, *directory.iterdir()):
            server.give_away(one)
    return other


def test_files_that_no_server_names_so_are_tables_of_their_own_or_none(each: PrivateServer) -> None:
    with schema(each, "names"):
        others = with_copies(each)
        try:
            found = looked(each, *([] if keeps_dictionary(each) else ["names", *(f"#mysql50#{name}" for name in others)]))
            names = [one.name for one in found.predictions if one.name[0] in {"names", *(f"#mysql50#{name}" for name in others)}]
            assert len(set(names)) == len(names)
            if keeps_dictionary(each):
                assert [name for name in names if name[0] == "names"] == [("names", "A")]
                return
            assert {name[1] for name in names if name[0] == "names"} == {"A", *(f"#mysql50#{stem}" for stem in ODD)}
            assert len(names) == 3 * (1 + len(ODD))
            assert as_script(found).count("\nALTER TABLE `names`.`A` ") == 1
            converted = []
            for one in found.predictions:
                happened = error_of(each, alter(one))
                assert [error.code for error in one.script_errors][:1] == ([happened] if happened else []), one.name
                if happened and one.script_errors[0].mend.startswith("RENAME"):
                    each.execute(one.script_errors[0].mend)
                elif not happened:
                    converted.append(alter(one).partition(" ENGINE=")[0])
            assert "#mysql50#old-name" not in [one.name[1] for one in looked(each, "names").predictions]
            # Their files are removed below: of InnoDB's a server at work may die.
            each.execute(*(f"{words} ENGINE=MyISAM" for words in converted))
        finally:
            for directory in others.values():
                shutil.rmtree(directory)
            for file in (each.data_directory / "names").iterdir():
                if file.name.startswith(ODD):
                    file.unlink()


COMMENTED = r"(a VARCHAR(300) CHARACTER SET utf8mb4, KEY k (a(250)) KEY_BLOCK_SIZE=8192 COMMENT 'it''s \\ back', KEY k2 (a(20)) KEY_BLOCK_SIZE=8192 COMMENT 'x', KEY k3 (a(30)) COMMENT 'a\tb')"


def test_a_comment_that_is_not_given_back_is_told(each: PrivateServer) -> None:
    with schema(each, "back"):
        each.execute(f"CREATE TABLE t {COMMENTED} ENGINE=MyISAM KEY_BLOCK_SIZE=2", database="back")

        def comments() -> dict[str, str]:
            return {str(row[2]): str(row[12]) for row in each.execute("SHOW INDEX FROM t", database="back")}

        before = comments()
        found = looked(each, "back.t")
        script = as_script(found)
        each.execute(*(alter(found.predictions[0]), *back(found.predictions[0])))
        after = comments()
        lost = {name for name, text in before.items() if after[name] != text}
        assert lost
        assert set(re.findall(r"^-- Not given back by it: the comment of index (\w+)\.$", script, re.MULTILINE)) == lost


def test_statements_without_their_marks_reach_no_other_table(each: PrivateServer) -> None:
    with schema(each, "esc"):
        each.execute("CREATE TABLE `a\tb` (a INT, d DATE) ENGINE=MyISAM", r"CREATE TABLE `a\tb` (a INT) ENGINE=MEMORY", database="esc")
        lines = run("migrate", "--socket", each.socket, "--user", "root", "esc", "--format", "sql").stdout.splitlines()
        told = [number for number, line in enumerate(lines) if line == f"-- {ESCAPED}"]
        named = [number for number, line in enumerate(lines) if r"`esc`.`a\tb`" in line]
        assert named
        # Each block of statements has it at its end.
        assert all(any(number < end and all(line.startswith("-- ") for line in lines[number:end]) for end in told) for number in named)
        assert any("Back:" in lines[end - 1] for end in told)
        assert not [line for line in lines if "ALTER" in line and not line.startswith("--")]
        document = json.loads(run("migrate", "--socket", each.socket, "--user", "root", "esc", "--format", "json").stdout)
        assert quote_table("esc", document["tables"][0]["table_name"]) == "`esc`.`a\tb`"
