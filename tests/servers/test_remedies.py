"""What the gate lets through, does on real servers what is said of it; what it refuses, would have done harm."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from MySQLdb import Error

from demo.demo import make_crashed_table
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.planners import engine_migration
from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.base import Command, Remark, Statement, text_of
from myisam_advisor.remedies.statements.closing import FlushTables
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import AlterTable, AnalyzeTable, OptimizeTable, RepairTable, option
from myisam_advisor.remedies.statements.variables import SetGlobal, set_global
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import quote_table, statement
from tests.support.compressed_tables import make_compressed_table
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, on_every_server, schema

TOO_MANY_FILES = 24


@pytest.fixture(scope="module")
def logging() -> Iterator[PrivateServer]:
    """A MariaDB that writes a binary log."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--log-bin=binlog", "--server-id=1"]) as running:
        yield running


def admitted(server: PrivateServer, *commands: Command, my_cnf: tuple[OptionLine, ...] = ()) -> Admitted:
    """What the gate makes of a remedy for this server as it is now."""
    return RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy(commands, my_cnf=my_cnf))


def logged(server: PrivateServer) -> str:
    """The statements in the binary log."""
    return "\n".join(str(row[5]) for row in server.execute("SHOW BINLOG EVENTS"))


def run_all(server: PrivateServer, commands: tuple[Command, ...]) -> None:
    server.execute(*[command.sql for command in commands if isinstance(command, Statement) and not isinstance(command, Remark)])


@contextmanager
def few_files(number: int) -> Iterator[None]:
    """A lower limit for the processes that are started within: a server takes what it inherits, where that is enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_copy_of_a_compressed_table_is_not(mariadb: PrivateServer) -> None:
    make_compressed_table(mariadb, mariadb.binaries, "packed_in", "t")
    table = mariadb.data_directory / "packed_in" / "t.MYD"
    before = table.stat().st_size
    command = parsed(statement("ALTER TABLE {} FORCE;", quote_table("packed_in", "t")))
    told = admitted(mariadb, command)
    assert told.remedy.commands == (command,)
    assert "The table is compressed, and its copy is not" in " ".join(told.cost)
    mariadb.execute("ALTER TABLE packed_in.t FORCE", "FLUSH TABLES")
    assert table.stat().st_size > 2 * before
    mariadb.execute("DROP DATABASE packed_in")


def test_what_is_amended_is_not_in_the_binary_log(logging: PrivateServer) -> None:
    with schema(logging, "amended") as database:
        logging.execute(f"CREATE TABLE {database}.t (a INT, b VARCHAR(90)) ENGINE=MyISAM", f"INSERT INTO {database}.t VALUES (1, 'a'), (2, 'b')", f"DELETE FROM {database}.t WHERE a = 1")
        name = (database, "t")
        wanted = (OptimizeTable(name), RepairTable(name), AnalyzeTable(name), FlushTables((name,)))
        passed = admitted(logging, *wanted)
        assert len(passed.remedy.commands) == len(wanted)
        run_all(logging, passed.remedy.commands)
        for verb in ("OPTIMIZE", "REPAIR", "ANALYZE", "FLUSH"):
            assert verb not in logged(logging)
        run_all(logging, wanted)  # as they were
        for verb in ("OPTIMIZE", "REPAIR", "ANALYZE", "FLUSH"):
            assert verb in logged(logging)


def test_a_read_only_server_is_given_nothing_that_writes(logging: PrivateServer) -> None:
    with schema(logging, "readonly") as database:
        logging.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        changes = (AlterTable((database, "t"), (option(ENGINE="InnoDB"),)), OptimizeTable((database, "t")))
        assert len(admitted(logging, *changes).remedy.commands) == len(changes)
        logging.execute("SET GLOBAL read_only = ON")
        try:
            passed = admitted(logging, *changes, FlushTables())
            assert tuple(map(text_of, passed.remedy.commands)) == ("FLUSH NO_WRITE_TO_BINLOG TABLES;",)
            assert "read-only" in " ".join(passed.instead)
        finally:
            logging.execute("SET GLOBAL read_only = OFF")


def test_the_spelling_of_old_versions_is_read_by_a_server(tmp_path: Path) -> None:
    binaries = binaries_of("mysql-5.6")
    options = (option_line("query_cache_type", "OFF"), option_line("concurrent_insert", "NEVER"), option_line("myisam_recover_options", "BACKUP,QUICK"), option_line("myisam_use_mmap", "ON"))
    facts = {"schema": 1, "server": {"flavour": "mysql", "version": "5.1.73"}}
    lines = RemedyGate(PlanFacts(complete(facts_from_document(facts)))).admit(Remedy(my_cnf=options)).remedy.my_cnf
    file = tmp_path / "my.cnf"
    file.write_text("\n".join(["[mysqld]", *lines, ""]))
    words = [f"--defaults-file={file}", f"--basedir={binaries.basedir}", f"--lc-messages-dir={binaries.share}", f"--datadir={tmp_path}", "--user=root", "--help", "--verbose"]
    done = subprocess.run([*binaries.command(binaries.mysqld), *words], capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(binaries.basedir)}, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    read = dict(line.split(None, 1) for line in done.stdout.splitlines() if len(line.split(None, 1)) == 2)
    assert read["query-cache-type"].strip() == "OFF"
    assert read["concurrent-insert"].strip() == "NEVER"
    assert read["myisam-recover-options"].strip() == "BACKUP,QUICK"
    assert read["myisam-use-mmap"].strip() == "TRUE"


def test_a_table_cache_beyond_the_files_is_refused_and_would_end_in_error_24() -> None:
    tables, files = 200, 300
    options = [f"--open-files-limit={files}", "--max-connections=20", "--table-open-cache=64"]
    with few_files(files), CopiedServer(binaries_of("mysql-5.6"), options) as server, schema(server, "files") as database:
        assert server.execute("SELECT @@GLOBAL.open_files_limit") == [(files,)]
        wanted = set_global("table_open_cache", 2000)
        passed = admitted(server, wanted, my_cnf=(option_line("table_open_cache", 2000),))
        assert passed.remedy.commands == ()
        assert passed.remedy.my_cnf[0] == "open_files_limit = 8192"
        names = [quote_table(database, f"t{number}") for number in range(tables)]
        server.execute(*[statement("CREATE TABLE {} (a INT, KEY (a)) ENGINE=MyISAM", name) for name in names])
        read = [statement("SELECT COUNT(*) FROM {}", name) for name in names]
        server.execute(*read)  # with the cache that fits all goes well
        server.execute(wanted.sql)
        with pytest.raises(Error, match=f"[Ee]rrno: {TOO_MANY_FILES}|Too many open files"):
            server.execute(*read)
        server.execute("SET GLOBAL table_open_cache = 64", "FLUSH TABLES")


def test_the_brake_of_the_log_exists_on_every_server(server: PrivateServer) -> None:
    passed = admitted(server, parsed(statement("SET GLOBAL log_queries_not_using_indexes = ON;")))
    brake, switch = passed.remedy.commands
    assert isinstance(brake, SetGlobal)
    before = server.execute("SELECT @@GLOBAL.log_queries_not_using_indexes")
    try:
        run_all(server, (brake, switch))
        assert str(server.execute(statement("SELECT @@GLOBAL.{}", brake.target))[0][0]) == brake.value
        # A brake that is there is left as it is.
        assert admitted(server, switch).remedy.commands == (switch,)
    finally:
        way_back = [said for said in passed.undo if said.startswith("SET ")]  # behind it, which connections keep the limit: in words
        assert way_back == [said for said in passed.undo if said.endswith(";")] != []
        server.execute(*way_back, statement("SET GLOBAL log_queries_not_using_indexes = {};", int(str(before[0][0]))))


def test_the_files_of_a_crashed_table_hold_still_once_it_is_closed(server: PrivateServer, tmp_path: Path) -> None:
    with schema(server, "crashed") as database:
        # MySQL 8 and later shorten it in the name of its .sdi file.
        broken = "broken_by_a_kill_of_the_server"
        make_crashed_table(server, database, broken)
        time.sleep(0.6)  # a header that is younger is left alone
        findings = [finding for finding in judge(prepared(look(server), Site(shipped_rules()))).findings if finding.rule == "table-crashed"]
        (finding,) = findings
        closed, copied, check, repair = finding.remedy.commands
        assert isinstance(copied, ShellLine)
        run_all(server, (closed,))
        files = sorted((server.data_directory / database).glob(f"{broken}*"))
        before = [file.read_bytes() for file in files]
        if str(server.execute("SELECT @@GLOBAL.myisam_recover_options")[0][0]) == "OFF":
            with pytest.raises(Error, match=r"crashed|repair"):
                server.execute(f"INSERT INTO {database}.{broken} VALUES (99999, 'new')")
            assert [file.read_bytes() for file in files] == before
        else:
            assert "keep the application off it" in finding.cost
        done = subprocess.run(["sh", "-c", copied.replace("/var/tmp/", f"{tmp_path}/")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (kept,) = tmp_path.glob(f"{database}.{broken}.*")
        assert {".MYI", ".MYD"} <= {file.suffix for file in kept.iterdir()}
        assert {file.suffix for file in kept.iterdir()} & {".frm", ".sdi"}
        run_all(server, (check, repair))
        assert server.execute(f"CHECK TABLE {database}.{broken}")[-1][3] == "OK"


def test_a_compressed_table_tells_its_format_by_its_data_file_and_is_not_repaired_in_the_server(mariadb: PrivateServer) -> None:
    with schema(mariadb, "packed") as database:
        make_compressed_table(mariadb, mariadb.binaries, database, "t")
        name = quote_table(database, "t")
        row = PlanFacts(complete(look(mariadb))).tables_by_name[database, "t"]
        if row["row_format"] != "compressed":
            pytest.skip("this server came without myisampack")
        assert (mariadb.data_directory / database / "t.MYD").read_bytes()[:3] == b"\xfe\xfe\x08"
        passed = admitted(mariadb, RepairTable((database, "t")), RepairTable((database, "t"), by_definition=True))
        assert passed.remedy.commands == ()
        assert "myisamchk -r" in " ".join(passed.instead)
        # What was refused loses the rows.
        (before,) = mariadb.execute(f"SELECT COUNT(*) FROM {database}.t")
        mariadb.execute(statement("REPAIR TABLE {} USE_FRM", name))
        assert mariadb.execute(f"SELECT COUNT(*) FROM {database}.t") != [before]


# What a definition keeps from MyISAM. KEY_BLOCK_SIZE means something else in InnoDB: there it makes a compressed table.
@pytest.mark.parametrize("options", ["", "ROW_FORMAT=FIXED", "ROW_FORMAT=DYNAMIC", "ROW_FORMAT=COMPRESSED", "ROW_FORMAT=FIXED KEY_BLOCK_SIZE=4", "PACK_KEYS=0 ROW_FORMAT=FIXED"])
def test_the_move_to_innodb_passes_its_strict_mode_and_comes_back(server: PrivateServer, options: str) -> None:
    before = server.execute("SELECT @@GLOBAL.innodb_strict_mode")[0][0]
    server.execute("SET GLOBAL innodb_strict_mode = ON")
    try:
        with schema(server, "moved") as database:
            server.execute(f"CREATE TABLE {database}.t (a INT NOT NULL PRIMARY KEY, b VARCHAR(20), KEY (b)) ENGINE=MyISAM {options}", f"INSERT INTO {database}.t VALUES (1, 'x'), (2, 'y')")
            if "FIXED" in options:
                with pytest.raises(Error, match=r"option|errno: 1478"):
                    server.execute(f"ALTER TABLE {database}.t ENGINE=InnoDB")
            known = PlanFacts(complete(look(server)))
            planned = engine_migration.plan(known.tables_by_name[database, "t"], PlanContext(known, {}))
            assert isinstance(planned, Plan)
            passed = RemedyGate(known).admit(Remedy(planned.commands, planned.undo_commands)).remedy
            assert len(passed.commands) == len(passed.undo_commands) == 1
            made = f"SELECT ENGINE, ROW_FORMAT FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{database}'"
            first = server.execute(made)
            run_all(server, passed.commands)
            assert server.execute(made) in ([("InnoDB", "Dynamic")], [("InnoDB", "Compact")])
            run_all(server, passed.undo_commands)
            assert server.execute(made) == first
            assert server.execute(f"SELECT COUNT(*) FROM {database}.t") == [(2,)]
    finally:
        server.execute(f"SET GLOBAL innodb_strict_mode = {before}")


@on_every_server
@pytest.mark.parametrize("left", ["TMD", "TMM"])
def test_what_a_rebuild_left_that_ended_with_its_server_is_in_the_way_of_the_next_on_mysql(server: PrivateServer, left: str) -> None:
    """What is said of OPTIMIZE and REPAIR where such a file lies, and where none does; once it is renamed as is said, REPAIR mends the table."""
    optimize = OptimizeTable(("d", "t"))
    with schema(server, "d"):
        server.execute("CREATE TABLE d.t (a INT NOT NULL, v VARCHAR(200), KEY (a)) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1, 'one'), (2, 'two'), (3, 'three')", "DELETE FROM d.t WHERE a = 2")
        clean = admitted(server, optimize)
        assert clean.remedy.commands == (optimize,)
        assert not any("TM" in cost for cost in clean.cost)
        file = server.data_directory / "d" / f"t.{left}"
        file.write_bytes(b"left")
        os.utime(file, (1_000_000_000, 1_000_000_000))
        server.give_away(file)
        allowed = admitted(server, optimize)
        costs = [cost for cost in allowed.cost if "MySQL writes over none" in cost]
        is_said = bool(costs)
        answers = str(server.execute("OPTIMIZE TABLE d.t"))
        try:
            server.execute("SELECT * FROM d.t")
            fails = False
        except Error as error:
            fails = error.args[0] in (144, 1194, 1195)
        if is_said:
            assert f"Beside the table lies t.{left}, left by a rebuild that ended with the server" in costs[0]
            words, waiting = allowed.remedy.commands
            assert f"rename it to end in -{left}.BAK" in text_of(words)
            assert isinstance(waiting, OptimizeTable)
            assert waiting.is_offered
            file.rename(file.with_name(f"t-{left}.BAK"))
        server.execute("REPAIR TABLE d.t")
        assert server.execute("SELECT a FROM d.t ORDER BY a") == [(1,), (3,)]
        assert "Can't create" not in str(server.execute("OPTIMIZE TABLE d.t"))
    assert not (server.data_directory / "d").exists()
    assert ("Can't create new tempfile" in answers, fails) == (is_said, is_said)


def test_where_the_files_of_a_table_are_links_it_is_not_known_what_lies_beside_them(tmp_path: Path) -> None:
    """Tried on MySQL 5.6: with DATA DIRECTORY the rebuild's file is made where the link leads to."""
    with CopiedServer(binaries_of("mysql-5.6"), []) as server, schema(server, "d"):
        elsewhere = server.directory / "elsewhere"
        elsewhere.mkdir()
        server.give_away(elsewhere)
        server.execute(f"CREATE TABLE d.t (a INT, v VARCHAR(200)) ENGINE=MyISAM DATA DIRECTORY='{elsewhere}'", "INSERT INTO d.t VALUES (1, 'one'), (2, 'two')", "DELETE FROM d.t WHERE a = 1")
        (row,) = look(server).tables["rebuild_file"].dictionaries()
        assert row == {"schema_name": "d", "table_name": "t", "file_name": None, "written_since_start": None}
        assert any("if one is left" in cost for cost in admitted(server, OptimizeTable(("d", "t"))).cost)
        left = elsewhere / "t.TMD"
        left.write_bytes(b"left")
        server.give_away(left)
        assert "Can't create new tempfile" in str(server.execute("OPTIMIZE TABLE d.t"))
