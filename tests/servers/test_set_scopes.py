"""For whom a SET assigns, on real servers: what the reader of its words says is what the server did."""

from contextlib import closing

import pytest
from MySQLdb import Error

from myisam_advisor.remedies.statements.assigned import assigned
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.set_statement import OF_ALL
from myisam_advisor.workload.statements import refused

from .conftest import on_every_server

VARIABLES = ("join_buffer_size", "read_buffer_size", "sort_buffer_size")
BEFORE, AFTER = 1 << 17, 1 << 18
STATEMENTS = (
    "SET GLOBAL {} = {n}, {} = {n}", "SET @@GLOBAL.{} = {n}, {} = {n}", "SET GLOBAL {} = {n}, SESSION {} = {n}, {} = {n}", "set/**/global {}={n}", "SET GLOBAL `{}` = {n}", "SET @@GLOBAL . `{}` := {n}, @@LOCAL.{} = {n}",
    "SET LOCAL {} = {n}, GLOBAL {} = {n}, {} = {n}", "SET {} = {n}, @@global.{} = {n}", "SET PERSIST {} = {n}, {} = {n}", "SET @@PERSIST.{} = {n}, {} = {n}", "SET @a = (SELECT 1), GLOBAL {} = {n}", "/*!SET*/ GLOBAL {} = {n}",
)  # fmt: skip

WITHIN = (
    "BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION SET GLOBAL {}; SELECT * FROM no_such.t; END", "BEGIN NOT/**/ATOMIC SET GLOBAL {}; END", "/*M!100000 BEGIN NOT ATOMIC SET GLOBAL {}; END */", "/*!50000 BEGIN*/ NOT ATOMIC SET GLOBAL {}; END",
    "BEGIN NOT ATOMIC SET STATEMENT max_statement_time=1 FOR SET GLOBAL {}; END", "BEGIN NOT ATOMIC FOR i IN 1..1 DO SET GLOBAL {}; END FOR; END", "IF 0 THEN SELECT 1; ELSE SET @a=1, @@global.{}; END IF",
)  # fmt: skip


@on_every_server
@pytest.mark.parametrize("form", STATEMENTS)
def test_what_is_read_is_what_the_server_does(server: PrivateServer, form: str) -> None:
    text = form.replace("{n}", str(AFTER)).format(*VARIABLES)
    was = {name: server.execute(f"SELECT @@GLOBAL.{name}")[0][0] for name in VARIABLES}
    try:
        for name in VARIABLES:
            server.execute(f"SET GLOBAL {name} = {BEFORE}")
        try:
            server.execute(text)
        except Error as error:
            # Which have no PERSIST.
            assert "PERSIST" in text, error
            assert error.args[0] in (1064, 1193, 1272)
            return
        changed = {name for name in VARIABLES if server.execute(f"SELECT @@GLOBAL.{name}")[0][0] == AFTER}
    finally:
        for name, value in was.items():
            server.execute(f"SET GLOBAL {name} = {value}")
        if "PERSIST" in text and server.binaries.family == "mysql":
            server.execute("RESET PERSIST")
    assert changed == {one.variable for one in assigned(text) if one.scope in OF_ALL} or "@a" in text
    assert changed
    assert refused(text.encode()) == ("SET PERSIST" if "PERSIST" in text else "SET GLOBAL")


@pytest.mark.parametrize("form", WITHIN)
def test_what_a_block_of_statements_sets_for_all_is_refused(mariadb: PrivateServer, form: str) -> None:
    name, was = VARIABLES[0], mariadb.execute(f"SELECT @@GLOBAL.{VARIABLES[0]}")[0][0]
    text = form.format(f"{name} = {AFTER}")
    try:
        mariadb.execute(f"SET GLOBAL {name} = {BEFORE}")
        mariadb.execute(text)
        assert mariadb.execute(f"SELECT @@GLOBAL.{name}")[0][0] == AFTER
    finally:
        mariadb.execute(f"SET GLOBAL {name} = {was}")
    assert refused(text.encode()) == "SET GLOBAL"


# What another one is run by, and whether each server knows that.
BY_TEXT = (
    (b"PREPARE s FROM 'SET GLOBAL {}'", True), (b"/*!50000 PREPARE s FROM 'SET @a=\"\", GLOBAL {}' */", True), (b"PREPARE s FROM \"SET @a='', @@global.{}\"", True),
    (b"EXECUTE IMMEDIATE 'SET GLOBAL {}'", False), (b"SET STATEMENT max_statement_time=1 FOR EXECUTE IMMEDIATE 'SET GLOBAL {}'", False), (b"SET STATEMENT max_statement_time=1 FOR PREPARE s FROM 'SET GLOBAL {}'", False),
    # The last byte of the character is a backslash.
    (b"SET @a = '\x95\\', GLOBAL {}", True),
)  # fmt: skip


@on_every_server
@pytest.mark.parametrize(("form", "known"), BY_TEXT)
def test_what_a_text_sets_for_all_is_refused(server: PrivateServer, form: bytes, known: bool) -> None:
    name, was = VARIABLES[0], server.execute(f"SELECT @@GLOBAL.{VARIABLES[0]}")[0][0]
    text = form.replace(b"{}", f"{name} = {AFTER}".encode())
    assert refused(text) == "SET GLOBAL"
    try:
        server.execute(f"SET GLOBAL {name} = {BEFORE}")
        with closing(server.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SET NAMES sjis")
            try:
                cursor.execute(text)
                if b"PREPARE" in text:
                    cursor.execute("EXECUTE s")
            except Error as error:
                # MySQL has neither EXECUTE IMMEDIATE nor SET STATEMENT.
                assert not known, error
                assert error.args[0] in (1064, 1193)
                return
        assert server.execute(f"SELECT @@GLOBAL.{name}")[0][0] == AFTER
    finally:
        server.execute(f"SET GLOBAL {name} = {was}")
