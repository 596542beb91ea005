"""Which tables a statement reads and writes, and which statements are not replayed.

Told from words alone (tokens.py): views, triggers and stored routines touch tables that no statement names, and what is prepared from a
text says nothing. `understood` is False where that can be seen.

Source: MySQL and MariaDB manuals, "SQL Statements".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import pairwise

from myisam_advisor.workload.quoted_names import with_quoted_names
from myisam_advisor.workload.run_texts import run_as_texts
from myisam_advisor.workload.set_statement import GLOBAL, OF_ALL, PERSIST, assignments, behind_set_statement
from myisam_advisor.workload.table_references import References, Table
from myisam_advisor.workload.tokens import LITERAL, MAXIMUM_BYTES, behind_comments, must_escape, tokens
from myisam_exporter.declaring.lean_dataclasses import dataclass

# And the comment behind them, before which they do not tell all.
_FIRST_WORDS = re.compile(rb"[\s(\0]*([A-Za-z]+)(?:\s+([A-Za-z_]+))?(?:\s*([/#-]))?")
_NOT_ALL_WORDS = frozenset(((b"set", b"statement"), (b"create", b"or")))

_READS = frozenset((b"select", b"with", b"values", b"table", b"do", b"set", b"("))
_ROWS_WRITTEN = frozenset((b"insert", b"replace", b"update", b"delete"))
# Words that may stand between such a statement's first word and its table.
_MODIFIERS = frozenset(b"low_priority high_priority delayed quick ignore into from".split())
_DEFINITIONS = frozenset((b"create", b"alter", b"drop", b"truncate", b"rename"))
_DEFINED_TABLES = frozenset((b"table", b"tables", b"temporary"))
_MAINTENANCE = frozenset((b"optimize", b"repair", b"analyze", b"check", b"checksum"))
_QUESTIONS = frozenset((b"explain", b"describe", b"desc", b"show", b"help", b"use"))
_TRANSACTIONS = frozenset(b"begin start commit rollback savepoint release unlock xa end signal resignal get ;".split())
# They run what no word of theirs tells.
_OPAQUE = frozenset((b"call", b"execute", b"prepare", b"deallocate"))
_SERVER = frozenset(
    b"flush reset purge kill shutdown restart grant revoke change install uninstall binlog clone cache load import stop".split()
)

_REFUSED = {
    (b"load", b"data"): "LOAD DATA",
    (b"load", b"xml"): "LOAD XML",
    (b"import", b"table"): "IMPORT TABLE",
    (b"grant", b""): "GRANT",
    (b"revoke", b""): "REVOKE",
    (b"kill", b""): "KILL",
    (b"shutdown", b""): "SHUTDOWN",
    (b"restart", b""): "RESTART",
    (b"clone", b""): "CLONE",
    (b"install", b""): "INSTALL",
    (b"uninstall", b""): "UNINSTALL",
    (b"change", b""): "CHANGE MASTER",
    (b"purge", b""): "PURGE",
    (b"reset", b""): "RESET",
    (b"binlog", b""): "BINLOG",
    (b"lock", b"instance"): "LOCK INSTANCE",
    (b"unlock", b"instance"): "UNLOCK INSTANCE",
    (b"backup", b""): "BACKUP",
    (b"start", b"slave"): "START SLAVE",
    (b"start", b"all"): "START ALL SLAVES",
    (b"start", b"replica"): "START REPLICA",
    (b"start", b"group_replication"): "START GROUP_REPLICATION",
    (b"stop", b""): "STOP REPLICA",
    (b"set", b"global"): "SET GLOBAL",
    (b"set", b"persist"): "SET PERSIST",
    (b"set", b"persist_only"): "SET PERSIST",
    (b"set", b"password"): "SET PASSWORD",
    (b"set", b"default"): "SET DEFAULT ROLE",
    (b"set", b"resource"): "SET RESOURCE GROUP",
    # What was prepared for a commit outlives its connection, and the run: MariaDB 10.11 and 11.8, MySQL 8.0 and 9.7.
    (b"xa", b""): "XA",
    **{
        (verb, kind): f"{verb.decode().upper()} {kind.decode().upper()}"
        for verb in (b"create", b"alter", b"drop", b"rename")
        for kind in (b"user", b"role", b"server", b"tablespace", b"instance", b"database", b"schema")
    },
}
_REFUSED_VERBS = frozenset(verb for verb, _ in _REFUSED)
# The others begin with none of their words, and with no comment.
_SUSPECT = re.compile(rb"[\s(\0]*(?:[/#-]|(?:%s)\b)" % b"|".join(sorted(_REFUSED_VERBS)), re.IGNORECASE)
_FOR_ALL = (*(scope.encode() for scope in (GLOBAL, PERSIST)), b"password")
# Behind the sign of an executable comment, too.
_COMPOUND = re.compile(
    rb"\s*(?:/\*M?![0-9]{0,6}\s*)?(?:(?:begin|declare|if|case|loop|while|repeat|for)(?![\w$])|<<\s*\w+\s*>>|[\w`]+\s*:)",
    re.IGNORECASE,
)
_BEFORE_STATEMENTS = frozenset((b";", b"atomic", b"begin", b"then", b"else", b"do", b"loop", b"repeat"))
_IDENTIFIED = re.compile(rb"\bidentified\s+(?:by|with|via)\b")
# The same in a text that is prepared, where its quotes are escaped or doubled.
_CONNECTION = re.compile(rb"\bconnection\s{0,16}=?\s{0,16}\\?['\"]")
# Engines whose tables have another server's password in their definition: in CONNECTION, COMMENT, OPTION_LIST, REMOTE_PASSWORD.
_OF_OTHER_SERVERS = frozenset((b"federated", b"connect", b"spider"))
# The same as a string, or between backticks: every server takes an engine's name so, too.
_QUOTED_ENGINE = re.compile(
    rb"\bengine\s{0,16}=?\s{0,16}\\?['\"`](?:%s)\\?['\"`]" % b"|".join(sorted(_OF_OTHER_SERVERS))
)
# What is about rows is about no account, whatever its columns are called.
_ABOUT_ROWS = frozenset(
    b"select insert replace update delete with values ( show explain describe desc do table call handler".split()
)
_TEXTS = frozenset((b"prepare", b"execute", b"set"))
_FIRST_BYTES, _FIRST_COUNT = 1 << 16, 8
# A text may be a block (MariaDB) that runs another text.
_MOST_TEXTS_WITHIN = 2
AN_ACCOUNT = "an account"


@dataclass(frozen=True, slots=True)
class Touched:
    """The tables of a statement as (schema, name), the schema None where neither the statement nor its connection names one.

    Attributes:
        reads: tables that it reads, those it also writes included where it says so.
        writes: tables whose rows or definition it changes.
        is_write: it changes rows or definitions, also where it is not known of which table.
        is_administrative: it is about the server, its accounts or the upkeep of tables, not about their rows.
        understood: all tables that its words can name are here.
    """

    reads: frozenset[Table]
    writes: frozenset[Table] = frozenset()
    is_write: bool = False
    is_administrative: bool = False
    understood: bool = True


def touched(statement: bytes, database: bytes | None) -> Touched:
    """The tables that a statement of a connection with this default database touches."""
    words = tokens(with_quoted_names(statement))
    lower = [word if word.startswith(b"`") else word.lower() for word in words]
    begin = behind_set_statement(lower)
    words, lower = words[begin:], lower[begin:]
    verb = next((word for word in lower if word != b"("), b"")
    reader = References(lower, words)
    reads, writes, is_write, understood = _tables(reader, verb, lower)
    if len(statement) > MAXIMUM_BYTES and verb not in (b"insert", b"replace"):
        understood = False
    default = None if database is None else database.decode("utf-8", "replace")
    return Touched(
        reads=_named(reads, default),
        writes=_named(writes, default),
        is_write=is_write,
        is_administrative=_is_administrative(verb, lower),
        understood=understood,
    )


def refused(statement: bytes) -> str | None:
    """What it is, where a statement is not to be replayed: it needs files that are not here, or is about the server or its accounts. So is what runs such a text."""
    return _refused(statement, _MOST_TEXTS_WITHIN)


def _refused(statement: bytes, texts_within: int) -> str | None:
    if _SUSPECT.match(statement):
        verb, second = _first_words(statement)
        name = _REFUSED.get((verb, second)) or _REFUSED.get((verb, b""))
        if name is None and verb == b"set":
            name = _set_for_all(statement)
        if name is not None:
            return name
    lower = statement.lower()
    name = _set_within(statement, lower) or _into_a_file(lower) or _of_an_account(lower)
    if name is None and texts_within and (b"prepare" in lower or b"immediate" in lower):
        words = behind_comments(statement)
        texts = run_as_texts(words, words.lower(), is_block=_COMPOUND.match(words) is not None)
        return next((name for text in texts if (name := _refused(text, texts_within - 1)) is not None), None)
    return name


def _first_words(statement: bytes) -> tuple[bytes, bytes]:
    """What it does, and to what: `create`, `user` for `CREATE OR REPLACE USER` too; of `SET STATEMENT ... FOR` what stands behind it."""
    found = _FIRST_WORDS.match(statement)
    if found is not None and not found[3]:
        first, second = found[1].lower(), (found[2] or b"").lower()
        if (first, second) not in _NOT_ALL_WORDS:
            return first, second
    text = behind_comments(statement)
    lower = [word.lower() for word in tokens(text, _FIRST_BYTES)]
    if len(lower) < _FIRST_COUNT and len(text) > _FIRST_BYTES:
        # A comment between two words takes more than that.
        lower = [word.lower() for word in tokens(text, len(text))]
    lower = lower[behind_set_statement(lower) :]
    words = [word for word in lower[:_FIRST_COUNT] if word != b"("]
    if words[1:3] == [b"or", b"replace"]:
        del words[1:3]
    words += [b"", b""]
    return words[0], words[1]


def _set_for_all(statement: bytes) -> str | None:
    """SET takes several at once, and scopes in two ways: `SET a=1, GLOBAL b=2, @@global.c=3`."""
    if b"@@" not in statement and b"," not in statement:
        return None
    for reading in _readings(statement):
        words = tokens(reading)
        words = words[behind_set_statement([word.lower() for word in words]) :]
        if (name := _refused_assignment(words)) is not None:
            return name
    return None


def _readings(statement: bytes) -> Iterator[bytes]:
    """The statement, and as it is where a backslash is the second half of a character, or escapes nothing, if it can be read so, too."""
    yield statement
    if b"\\" in statement and not must_escape(statement):
        yield statement.replace(b"\\", b"x")


def _refused_assignment(words: list[bytes], by_name: bool = True) -> str | None:
    """The first that is refused: for its scope, or `by_name` for what is assigned to, as a password."""
    for one in assignments([word.decode("latin-1") for word in words]):
        key = one.scope if one.scope in OF_ALL else one.name[0].lower() if one.name and by_name else ""
        if (name := _REFUSED.get((b"set", key.encode("latin-1")))) is not None:
            return name
    return None


def _set_within(statement: bytes, lower: bytes) -> str | None:
    """The same within MariaDB's compound statements, which run without a stored program: BEGIN NOT ATOMIC, IF, LOOP."""
    if not any(word in lower for word in _FOR_ALL) or not _COMPOUND.match(behind_comments(statement)):
        return None
    words = tokens(statement)
    starts = [place for place, word in enumerate(words) if word.lower() == b"set"]
    for begin, end in pairwise([*starts, len(words)]):
        # What a handler does stands behind its condition, whatever that is. An UPDATE has a SET, too, of columns: their names say nothing.
        is_statement = not begin or words[begin - 1].lower() in _BEFORE_STATEMENTS
        if (name := _refused_assignment(words[begin:end], is_statement)) is not None:
            return name
    return None


def _into_a_file(lower: bytes) -> str | None:
    """SELECT ... INTO OUTFILE writes a file where the server may."""
    if b"outfile" not in lower and b"dumpfile" not in lower:
        return None
    for reading in _readings(lower):
        for before, word in pairwise(tokens(reading)):
            if before == b"into" and word in (b"outfile", b"dumpfile"):
                return f"INTO {word.decode().upper()}"
    return None


def _of_an_account(lower: bytes) -> str | None:
    """A password stands behind IDENTIFIED BY, whatever stands before it, and in the definition of another server's table.

    What is prepared, and run from a text, is read as it stands there.
    """
    if (
        b"identified" not in lower
        and b"connection" not in lower
        and not any(name in lower for name in _OF_OTHER_SERVERS)
    ):
        return None
    words = tokens(lower)
    verb = words[0] if words else b""
    if verb in _ABOUT_ROWS:
        return None
    definition = words[: words.index(b"select")] if b"select" in words else words
    if verb in _TEXTS and (_IDENTIFIED.search(lower) or (definition is words and _CONNECTION.search(lower))):
        return AN_ACCOUNT
    if definition is words and _QUOTED_ENGINE.search(lower):
        return AN_ACCOUNT
    if any(map(_is_of_an_account, words, words[1:], [*words[2:], b""])):
        return AN_ACCOUNT
    return AN_ACCOUNT if any(map(_is_of_another_server, definition, definition[1:], [*definition[2:], b""])) else None


def _is_of_an_account(one: bytes, two: bytes, three: bytes) -> bool:
    """GROUP BY identified WITH ROLLUP is of a column."""
    return one == b"identified" and two in (b"by", b"with", b"via") and three != b"rollup"


def _is_of_another_server(one: bytes, two: bytes, three: bytes) -> bool:
    """An option of a table that has, or may have, a password of another server's."""
    if one == b"connection":
        return two == LITERAL or (two, three) == (b"=", LITERAL)
    return one == b"engine" and (three if two == b"=" else two) in _OF_OTHER_SERVERS


def _tables(reader: References, verb: bytes, lower: list[bytes]) -> tuple[Set[Table], Set[Table], bool, bool]:
    """What it reads, what it writes, whether it writes, whether that is all."""
    nothing: Set[Table] = frozenset()
    written = reader.verb_behind_ctes() if verb == b"with" else verb
    if written in _ROWS_WRITTEN:
        reads, writes = _rows_written(reader, written)
        return reads, writes, True, bool(writes)
    if verb in _READS:
        return reader.read(), nothing, False, True
    if verb in _DEFINITIONS:
        return _defined(reader, verb, lower)
    if verb in _MAINTENANCE:
        tables = reader.listed_behind((b"table", b"tables"))
        writes_rows = verb in (b"optimize", b"repair")
        return nothing if writes_rows else tables, tables if writes_rows else nothing, writes_rows, True
    return _other(reader, verb, lower)


def _rows_written(reader: References, verb: bytes) -> tuple[Set[Table], Set[Table]]:
    if verb == b"update":
        return reader.updated()
    return reader.deleted() if verb == b"delete" else reader.inserted(_MODIFIERS)


def _other(reader: References, verb: bytes, lower: list[bytes]) -> tuple[Set[Table], Set[Table], bool, bool]:
    nothing: Set[Table] = frozenset()
    if verb == b"lock":
        reads, writes = reader.locked()
        return reads, writes, False, True
    if verb == b"handler":
        return reader.at(1), nothing, False, True
    if verb == b"load":
        tables = reader.listed_behind((b"table", b"cache")) if b"index" not in lower[:2] else nothing
        return nothing, tables, bool(tables), bool(tables) or b"index" in lower[:2]
    if verb == b"flush" and len(lower) > 1 and lower[1] in (b"table", b"tables"):
        return reader.listed_behind((b"table", b"tables")), nothing, False, True
    if verb in (b"explain", b"describe", b"desc"):
        return reader.explained(), nothing, False, True
    # BEGIN NOT ATOMIC is a block of statements (MariaDB).
    is_block = verb == b"begin" and lower[1:3] == [b"not", b"atomic"]
    known = not is_block and (verb in _QUESTIONS or verb in _TRANSACTIONS or verb in _SERVER or verb == b"")
    return nothing, nothing, verb in _OPAQUE or not known, known and verb not in _OPAQUE


def _defined(reader: References, verb: bytes, lower: list[bytes]) -> tuple[Set[Table], Set[Table], bool, bool]:
    nothing: Set[Table] = frozenset()
    kinds = lower[1:6]
    if verb == b"truncate":
        tables = reader.at(2 if kinds[:1] == [b"table"] else 1)
        return nothing, tables, True, bool(tables)
    if verb in (b"create", b"drop") and b"index" in kinds and b"table" not in kinds:
        tables = reader.listed_behind((b"on",))
        return nothing, tables, True, bool(tables)
    if not _DEFINED_TABLES & set(kinds):
        return nothing, nothing, True, b"view" not in kinds
    writes = (
        reader.renamed() if verb == b"rename" else reader.listed_behind((b"table", b"tables"), several=verb == b"drop")
    )
    reads = (reader.read() | reader.listed_behind((b"like",))) - writes if verb == b"create" else nothing
    return reads, writes, True, bool(writes)


def _is_administrative(verb: bytes, lower: list[bytes]) -> bool:
    if verb in _SERVER or verb in _MAINTENANCE or verb in (b"show", b"help"):
        return True
    second = lower[1] if len(lower) > 1 else b""
    return (verb, second) in _REFUSED


def _named(tables: Set[Table], default: str | None) -> frozenset[Table]:
    return frozenset((default if schema is None else schema, name) for schema, name in tables)
