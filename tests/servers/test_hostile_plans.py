"""Plans from facts with hostile names, fed to real clients on real servers: a precious database survives, and no command of a client runs."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from myisam_advisor.changes.formats.base import format_named
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import quote_identifier, quote_text, quote_variable, statement
from tests.support.hostile import EVIL_NUMBER, EVIL_OPTION, MARKER, NAMES, PRECIOUS, hostile_plans
from tests.support.servers import SERVERS, CopiedServer, binaries_of

from .clients import CLIENTS, client
from .conftest import schema

MODES = ("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES")
# A test server has no room for the sizes of the cases.
SIZES = re.compile(r"((?:key_buffer_size|_size|_cache) = )[1-9]\d*")


@lru_cache(maxsize=1)
def plans() -> list[tuple[str, list[Finding], ChangePlan]]:
    return list(hostile_plans())


def small(text: str) -> str:
    return SIZES.sub(r"\g<1>65536", text)


@pytest.fixture
def precious(server: PrivateServer) -> Iterator[PrivateServer]:
    """A server with a database that nobody may touch, and no marker that a command of a client left."""
    Path(MARKER).unlink(missing_ok=True)
    with schema(server, PRECIOUS) as name:
        server.execute(f"CREATE TABLE {name}.t (a INT PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO {name}.t VALUES (42)")
        yield server


def check(server: PrivateServer) -> None:
    assert not Path(MARKER).exists()
    assert server.execute(f"SELECT a FROM {PRECIOUS}.t") == [(42,)]
    ((connections,),) = server.execute(f"SELECT @@GLOBAL.{EVIL_OPTION}")
    assert connections != EVIL_NUMBER


def feed(words: Sequence[str], server: PrivateServer, script: str, mode: str) -> str:
    """What the client says on standard error: all statements are tried, whatever becomes of those before."""
    command = [*words, "--force", "--default-character-set=utf8mb4", f"--socket={server.socket}", "--user=root", f"--init-command=SET SESSION sql_mode='{mode}'"]
    whole = f"SELECT 'first';\n{script}\nSELECT 'last';\n"
    done = subprocess.run(command, input=whole.encode("utf-8", "surrogatepass"), capture_output=True, timeout=120, check=False)
    # It came in, and out of every quote again.
    assert {b"first", b"last"} <= set(done.stdout.splitlines()), done.stderr[:2000]
    return done.stderr.decode("utf-8", "replace")


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_script_of_hostile_names_runs_nothing_but_what_it_says(precious: PrivateServer, kind: str) -> None:
    words = client(kind)
    script = small("".join(format_named("sql").render(plan) for _, _, plan in plans()))
    assert len(script) > 100_000
    for mode in MODES:
        said = feed(words, precious, script, mode)
        # The statements that run do so as they are; their tables and caches may be missing.
        assert "syntax" not in said, said[:2000]
        check(precious)


@pytest.mark.parametrize("kind", CLIENTS)
def test_the_blocks_of_the_page_to_be_reviewed_may_be_copied(precious: PrivateServer, kind: str) -> None:
    words = client(kind)
    pages = (format_named("markdown").render(plan) for _, _, plan in plans())
    blocks = [text for page in pages for _, text in re.findall(r"^(`{3,})sql\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL)]
    said = feed(words, precious, small("".join(blocks)), "")
    assert "syntax" not in said, said[:2000]
    check(precious)


@pytest.mark.parametrize("kind", CLIENTS)
def test_each_statement_by_itself_names_what_it_names_in_a_client(precious: PrivateServer, kind: str) -> None:
    """Quoting alone, without the comments around what a client could take for its own: what JSON gives to programs."""
    words = client(kind)
    commands = [line for name, findings, _ in plans() if "\0" not in name for one in findings for line in (*one.commands, *one.undo_commands)]
    assert len(commands) > 200
    script = small("".join(f"{line}\n" for line in commands if "\0" not in line and not isinstance(line, ShellLine)))
    for mode in MODES:
        feed(words, precious, script, mode)
        check(precious)


@pytest.mark.parametrize("kind", SERVERS)
def test_my_cnf_sets_what_was_meant_and_nothing_else(kind: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    server = CopiedServer(binaries_of(kind))
    try:
        lines = [format_named("cnf").render(plan) for _, _, plan in plans()]
        lines += [f"[mysqld]\n{option_line('key_buffer_size', 65536, name)}\n" for name in NAMES]
        # What is meant for MySQL before 5.1.3 has a name there that these servers do not know.
        text = re.sub(r"^table_cache =", "table_open_cache =", small("".join(lines)), flags=re.MULTILINE)
        if kind.startswith("mysql"):
            text = re.sub(r"^key_cache_segments =.*\n", "", text, flags=re.MULTILINE)  # MariaDB's alone
        meant = {line.partition("=")[0].strip().replace("_", "-") for line in text.splitlines() if "=" in line and not line.startswith("#")}
        assert "read-buffer-size" in meant
        before, after = variables(server, tmp_path, "[mysqld]\n"), variables(server, tmp_path, text)
        changed = {name for name in before if before[name] != after.get(name)}
        assert len(before) > 200
        assert "read-buffer-size" in changed
        # Other names of table-open-cache and tmp-table-size, and what the server derives from the former.
        assert changed - meant <= {"table-cache", "table-open-cache-instances", "table-definition-cache", "tmp-memory-table-size"}
        assert after[EVIL_OPTION.replace("_", "-")] != str(EVIL_NUMBER)
    finally:
        server.close()


def variables(server: PrivateServer, folder: Path, text: str) -> dict[str, str]:
    """What the server would start with, from an option file of this text."""
    path = folder / "my.cnf"
    path.write_text(text, "utf-8", "replace")
    binaries = server.binaries
    words = [*binaries.command(binaries.mysqld), f"--defaults-file={path}", f"--basedir={binaries.basedir}", f"--datadir={folder}", f"--lc-messages-dir={binaries.share}", "--user=root", "--help", "--verbose"]
    done = subprocess.run(words, capture_output=True, timeout=60, check=False, env=server._environment())
    said, shown = done.stderr.decode("utf-8", "replace"), done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, said
    assert "unknown" not in said.lower(), said
    _, _, table = shown.rpartition("--------- ")
    pairs = (line.partition(" ") for line in table.splitlines()[1:] if line)
    return {name: value.strip() for name, _, value in pairs}


def test_the_init_file_of_hostile_names_leaves_the_database_alone(precious: PrivateServer) -> None:
    text = "".join(format_named("init-file").render(plan) for _, _, plan in plans())
    text += "".join(f"CACHE INDEX `{PRECIOUS}`.`t` IN {quote_identifier(name)};\n" for name in ("hot 1", "h\u00f6t", "select"))
    path = precious.directory / "init.sql"
    path.write_text(small(text), "utf-8")
    precious.restart([f"--init-file={path}"])
    try:
        check(precious)
    finally:
        precious.restart()


TEXTS = some.text(some.characters(exclude_categories=["Cs"]), max_size=40) | some.sampled_from(NAMES)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, some.sampled_from(MODES))
def test_a_quoted_text_is_that_text_under_every_sql_mode(server: PrivateServer, text: str, mode: str) -> None:
    with server.session() as connection, closing(connection.cursor()) as cursor:
        cursor.execute(f"SET SESSION sql_mode='{mode}'")
        cursor.execute(statement("SELECT {}, 1 AS {}", quote_text(text), quote_identifier("a`b")))
        assert cursor.fetchall() == ((text, 1),)
        assert cursor.description[1][0] == "a`b"


@pytest.mark.parametrize("name", [name for name in NAMES if "\0" not in name], ids=lambda name: repr(name)[:40])
def test_a_key_cache_of_any_name_is_set_and_read_by_that_name(precious: PrivateServer, name: str) -> None:
    # Of longer names the servers tell size 0, though they have such a cache.
    cache = name.encode()[:30].decode("utf-8", "ignore")
    variable = quote_variable("key_buffer_size", cache)
    precious.execute(statement("SET GLOBAL {} = {};", variable, 9 << 20), statement("CACHE INDEX t IN {};", quote_identifier(cache)), database=PRECIOUS)
    assert precious.execute(statement("SELECT @@GLOBAL.{}", variable)) == [(9 << 20,)]
    precious.execute("CACHE INDEX t IN default", statement("SET GLOBAL {} = 0", variable), database=PRECIOUS)
    check(precious)
