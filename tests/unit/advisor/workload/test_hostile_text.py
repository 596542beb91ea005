"""What is recorded was written by any user of a database: whatever the text is, the time for it grows with its length, not with its square."""

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from myisam_advisor import workload
from myisam_advisor.workload import (
    file_format,
    fingerprints,
    inner_statements,
    joining,
    log_settings,
    prepared,
    quoted_names,
    run_texts,
    several_statements,
    statements,
    tokens,
    told_rows,
    told_seconds,
)
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.kinds import digests
from myisam_advisor.workload.probing import layers, parameters, placeholders
from myisam_advisor.workload.sources import base, general_log, slow_log

SHORT_BYTES, TIMES_LONGER = 1 << 12, 4
# For what would take the cube of the length.
FEW_BYTES = 1 << 10
# Four times the text may take eight times as long; the square of its length would take sixteen.
LARGEST_RATIO = 8
# What takes less is not told from what else the machine does.
SHORTEST_SECONDS = 0.001
ENTRY = b"# Time: 2026-01-01T00:00:00.000001Z\n# User@Host: a[a] @ localhost []  Id:     5\n# Query_time: 0.000100  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1767225600;\n"
COMMAND = b"2026-01-01T00:00:00.000001Z\t    5 Query\t"
THREAD, USER = b"# Thread_id: 8  Schema: ", b"# User@Host: a[a] @ b []\n"


class Text(NamedTuple):
    """What reads a text, and the text: one part of it as often as it is to be long."""

    read: Callable[[Any], object]
    begin: bytes
    repeated: bytes
    end: bytes = b""
    short_bytes: int = SHORT_BYTES


def events(source: base.LogSource) -> Callable[[bytes], object]:
    return lambda log: list(source.events(iter([log]), base.Reading()))


def touched(statement: bytes) -> object:
    return statements.touched(statement, None)


def refused(statement: bytes) -> object:
    return prepared.Prepared().refused(Event(1, 0, None, None, statement))


# What reads text by patterns, or goes through it in another way.
FUNCTIONS = {
    "the rest of a line before the first entry": Text(events(slow_log.SOURCE), b"", b"x", b"');\n" + ENTRY + b"SELECT 1;\n"),
    "versions before the first entry": Text(events(slow_log.SOURCE), b"", b", Version: 8", b"\n" + ENTRY + b"SELECT 1;\n", FEW_BYTES),
    "a long version behind a statement": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1;\n, Version: ", b"x", b" started with:"),
    "versions behind a statement": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1;\n", b", Version: 8", b" started with:"),
    "starts behind a statement": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1;\n", b"m, Version: 8. started with:\n"),
    "a time with spaces": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1\n# Time: ", b" ", b"x\n# User@Host: b\n+1;\n"),
    "brackets of a user": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1\n# User@Host: ", b"[]", b"x\n+1;\n"),
    "times in a line": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1\n# User@Host: b\n# ", b"Query_time: 1 ", b"\n;\n"),
    "schemas in a line": Text(events(slow_log.SOURCE), ENTRY + b"SELECT 1\n# User@Host: b\n# ", b"  Q Schema: ", b"\n;\n"),
    "marks in a line": Text(events(slow_log.SOURCE), ENTRY + b"SELECT '", b"# User@Host: ", b"';\n", 1 << 19),
    "marks behind zero bytes in a line": Text(events(slow_log.SOURCE), ENTRY + b"SELECT '", b"\0# User@Host: ", b"';\n", 1 << 19),
    "a connection on and using": Text(events(general_log.SOURCE), COMMAND + b"SELECT 1\n\t\t    7 Connect\ta", b" on using x", b"\nz\nz\n" + COMMAND, FEW_BYTES),
    "a connection on": Text(events(general_log.SOURCE), COMMAND + b"SELECT 1\n\t\t    7 Connect\ta", b" on ", b"\nz\nz\n" + COMMAND),
    "names before lists": Text(touched, b"select ", b",a("),
    "names before closed lists": Text(touched, b"select ", b",a(", b")"),
    "tables": Text(touched, b"select 1 from a", b",b c"),
    "parentheses": Text(touched, b"select 1 from ", b"("),
    "subqueries": Text(touched, b"select 1 from ", b"(select 1 from "),
    "set statements": Text(touched, b"", b"set statement a=1 for "),
    "a prepared text's spaces": Text(refused, b"prepare a from ...", b" ", b"x"),
    "texts within texts": Text(statements.refused, b"", b"execute immediate '\""),
    "blocks within texts": Text(statements.refused, b"begin not atomic ", b"execute immediate 'begin \"prepare"),
    "variables that hold texts": Text(refused, b"set @a='x'", b",@b='set global x=1'"),
    "escapes in an open string": Text(lambda text: placeholders.placeholders(text, True), b"select '", b"\\'", b"\\"),
    "escapes in an open name": Text(lambda text: placeholders.placeholders(text, True), b'select "', b'\\"', b"\\"),
    "signs outside": Text(lambda text: tokens.places_outside(text, b";", 1 << 30), b"", b"';"),
    "open strings": Text(tokens.ends_within_string, b"", b"'\""),
    "strings with words before them": Text(tokens.is_sane, b"", b"and'a' "),
    "escapes": Text(tokens.tokens, b"select '", b"\\'", b"x"),
    "escapes and letters": Text(tokens.tokens, b"select '", b"\\'x\\\"", b"x"),
    "names of two": Text(tokens.tokens, b"select ", b"a``", b"`"),
    "statements": Text(several_statements.parts, b"", b"use a;"),
    "rows": Text(fingerprints.fingerprint, b"insert into a values ", b"(1),"),
    "lists": Text(fingerprints.fingerprint, b"select 1 in ", b"(("),
    "foreign letters": Text(file_format.is_foreign, b"", b"\\", b"u00"),
}  # fmt: skip

# Each pattern in the way it is used, with what it has to give up last.
PATTERNS = (
    Text(file_format._HEAD.match, b"[1,", b"1"),
    Text(file_format._TAIL.fullmatch, b",1,", b"1"),
    Text(file_format._FOREIGN.search, b"", b"a"),
    Text(file_format._FOREIGN_ESCAPE.findall, b"", b"\\", b"x"),
    Text(fingerprints._PLAIN.fullmatch, b"`", b"a"),
    Text(fingerprints._WORD.match, b"", b"a"),
    Text(fingerprints._GLUED_VALUE.search, b"", b"?"),
    Text(fingerprints._LOG_LINE.search, b"\n\t", b"\t", b"x"),
    Text(fingerprints._LOG_LINE.search, b"", b"\n\t 5 A ", b"x"),
    Text(fingerprints._LOG_LINE.search, b"\n\t 5 A", b" ", b"1"),
    Text(fingerprints._BARE_WORD.fullmatch, b"", b"a", b" "),
    Text(joining._BEGINS.match, b"", b"( ", b"1"),
    Text(digests._TOKEN.findall, b"`", b"``", b"a"),
    Text(digests._TOKEN.findall, b"`", b"a"),
    Text(log_settings._NUMBER.fullmatch, b"", b"1"),
    Text(log_settings._LEFT_OVER.fullmatch, b"", b"/myisam-advisor-"),
    Text(log_settings._LEFT_OVER.fullmatch, b"/myisam-advisor-", b".log", b"x"),
    Text(prepared._SUSPECT.match, b"", b" ", b"x"),
    Text(prepared._IS_OF_PREPARED.match, b"drop", b" ", b"x"),
    Text(prepared._PREPARE.match, b"prepare a from ...", b" ", b"x"),
    Text(prepared._PREPARE.match, b"prepare a", b" ", b"x"),
    Text(prepared._USED.match, b"drop prepare", b" "),
    Text(prepared.IMMEDIATE.match, b"execute", b" ", b"x"),
    Text(inner_statements._MAY_BE.search, b"", b"name_const   new old` into"),
    Text(told_rows._LIMIT.search, b"", b"limits "),
    Text(told_seconds._SETS_TIMESTAMP.match, b"set ", b" timestamp ", b"x"),
    Text(told_seconds._SETS_TIMESTAMP.match, b"set timestamp", b" ", b"x"),
    Text(layers._ESCAPED.findall, b"", b"\\05"),
    Text(parameters._IS_DECIMAL.fullmatch, b"", b"1", b"x"),
    Text(parameters._ESCAPED.findall, b"", b"\\"),
    Text(placeholders._ESCAPED.findall, b"'", b"\\'", b"\\"),
    Text(placeholders._ESCAPED.findall, b'"', b'\\"', b"\\"),
    Text(placeholders._PLAIN.findall, b"", b"/*'"),
    Text(prepared._OF_VARIABLE.match, b"prepare a", b" ", b"x"),
    Text(prepared._OF_VARIABLE.match, b"execute immediate @", b"a"),
    Text(prepared._MAY_ASSIGN.match, b"", b" ", b"x"),
    Text(run_texts._STRINGS.findall, b"'", b"\\'", b"\\"),
    Text(run_texts._STRINGS.findall, b'"', b'\\"', b"\\"),
    Text(run_texts._STRINGS.findall, b"'", b"''"),
    Text(run_texts._STRINGS.findall, b"", b"/*`"),
    Text(run_texts._ESCAPED_SINGLE.findall, b"", b"\\", b"'"),
    Text(run_texts._ESCAPED_DOUBLE.findall, b"", b"\\", b'"'),
    Text(run_texts._BEHIND_SET_STATEMENT.match, b"set", b" ", b"x"),
    Text(run_texts._RUNS_ONE.match, b"execute", b" ", b"x"),
    Text(quoted_names._QUOTED.findall, b"", b'from "a" '),
    Text(quoted_names._QUOTED.findall, b'from "a"', b" ", b"x"),
    Text(quoted_names._QUOTED.findall, b"from", b" ", b"x"),
    Text(several_statements._MAY_USE.match, b"", b" ", b"x"),
    Text(several_statements._USE.search, b"", b"us "),
    Text(several_statements._BLANK.match, b"", b" ", b"x"),
    Text(several_statements._ESCAPE.findall, b"", b"\\"),
    Text(base._VERSION.match, b"", b"8", b"\n"),
    Text(base._BEHIND_VERSION.findall, b"", b". started with:\nTime", b"x"),
    Text(base._BEHIND_VERSION.findall, b". started with:\nTime Id Command Argument", b" ", b"x"),
    Text(base._ISO.match, b"2026-01-01T00:00:00.", b"0"),
    Text(base._OLD.match, b"260101", b" ", b"x"),
    Text(general_log._ENTRY.search, b"", b"\0\t\t", b"x"),
    Text(general_log._ENTRY.search, b"\t\t", b" ", b"x"),
    Text(general_log._ENTRY.search, b"\t\t5 Query", b" ", b"x"),
    Text(general_log._CALL.match, b"", b" ", b"x"),
    Text(general_log._TEXT_EXECUTE.match, b"", b" ", b"x"),
    Text(slow_log._HEAD.match, b"# Time: ", b" ", b"x"),
    Text(slow_log._HEAD.match, USER, b"# \n", b"x"),
    Text(slow_log._HEAD.match, USER + b"use ", b";", b"x"),
    Text(slow_log._USUAL.match, b"# User@Host: ", b"[]", b"x"),
    Text(slow_log._USUAL.match, b"# User@Host: []  Id:", b" ", b"x"),
    Text(slow_log._USUAL.match, USER + THREAD, b"  QC_hit: ", b"x"),
    Text(slow_log._CONNECTION.search, b"", b"Id: ", b"x"),
    Text(slow_log._CONNECTION.search, b"Id:", b" ", b"x"),
    Text(slow_log._THREAD.search, b"", b"Thread_id: "),
    # No line of attributes is without its end.
    Text(slow_log._SCHEMA.search, b"", b"Schema: ", b"\n"),
    Text(slow_log._QUERY_TIME.search, b"", b"Query_time: 1."),
    Text(slow_log._ROWS.search, b"", b"Rows_sent: 1  "),
    Text(slow_log._AFFECTED.search, b"", b"Rows_affected: "),
    Text(slow_log._ERROR.search, b"", b"Errno: "),
    Text(slow_log._START.search, b"", b" Start: "),
    Text(slow_log._RATE_LIMIT.search, b"", b"Log_slow_rate_limit: "),
    Text(slow_log._TIMESTAMP.search, b"", b"timestamp="),
    Text(statements._FIRST_WORDS.match, b"", b"( ", b"1"),
    Text(statements._FIRST_WORDS.match, b"a", b" ", b"1"),
    Text(statements._SUSPECT.match, b"", b"( ", b"1"),
    Text(statements._COMPOUND.match, b"", b" begin not"),
    Text(statements._COMPOUND.match, b"", b"a"),
    Text(statements._COMPOUND.match, b"a", b" "),
    Text(statements._IDENTIFIED.search, b"", b"identified "),
    Text(statements._IDENTIFIED.search, b"identified", b" "),
    Text(statements._CONNECTION.search, b"", b"connection                = "),
    Text(statements._QUOTED_ENGINE.search, b"", b"engine                = "),
    Text(tokens._TOKEN.findall, b"", b"1e"),
    Text(tokens._TOKEN.findall, b"", b"1.", b"x"),
    Text(tokens._TOKEN.findall, b"", b"1", b"x"),
    Text(tokens._TOKEN.findall, b"", b"a``"),
    Text(tokens._TOKEN.findall, b"", b"/*!/"),
    Text(tokens._QUOTED.findall, b"", b"'\"`/*"),
    Text(tokens._PARTS.findall, b"", b"*/*"),
    Text(tokens._BEGINS.search, b"", b"-/"),
    Text(tokens._LEADING_COMMENT.match, b"", b" \0", b"x"),
    Text(tokens._HIGH_BACKTICK.search, b"", b"\xff"),
    Text(tokens._PREFIX.fullmatch, b"_", b"a"),
    Text(tokens.GLUED.match, b"", b"and"),
    Text(tokens._HALF_ESCAPE.search, b"", b"\xff\\"),
    Text(tokens._HALF_ESCAPE.search, b"\xff", b"\\"),
    Text(tokens._ESCAPED_STRING.findall, b"'", b"\\'"),
    Text(tokens._ESCAPED_STRING.findall, b"'", b"\\\"a\\'a"),
    Text(tokens._CLOSED_STRING.findall, b"'", b'"'),
    Text(tokens._GLUED_MARK.search, b"", b"\1"),
    Text(tokens._QUICK_STRING.findall, b"", b"'\""),
    *(Text(number.findall, sign[:1], b"1", b".x") for sign, number in tokens._QUICK_NUMBERS),
    Text(tokens._PLAIN_NAMES.fullmatch, b"", b"`a`", b"`"),
)  # fmt: skip
# Given 40 bytes alone.
BOUNDED = (tokens._WORD_BEFORE,)


def pattern_of(text: Text) -> re.Pattern[Any]:
    pattern = getattr(text.read, "__self__", None)
    assert isinstance(pattern, re.Pattern)
    return pattern


def patterns_of(module: str) -> Mapping[re.Pattern[Any], str]:
    """Those that a module has as constants, alone or in pairs, by their names."""
    found: dict[re.Pattern[Any], str] = {}
    for name, value in vars(importlib.import_module(module)).items():
        for one in value if isinstance(value, tuple) else (value,):
            for pattern in one if isinstance(one, tuple) else (one,):
                if isinstance(pattern, re.Pattern):
                    found[pattern] = f"{module.removeprefix(workload.__name__)[1:]}.{name}"
    return found


NAMES = {
    pattern: name
    for module in pkgutil.walk_packages(workload.__path__, f"{workload.__name__}.")
    for pattern, name in patterns_of(module.name).items()
}


def seconds(read: Callable[[Any], object], text: bytes | str) -> float:
    def once() -> float:
        begin = time.process_time()
        read(text)
        return time.process_time() - begin

    return max(min(once() for _ in range(3)), SHORTEST_SECONDS)


def ratio(text: Text, takes_letters: bool = False) -> float:
    """How many times as long a text takes that is four times as long."""
    repetitions = text.short_bytes // len(text.repeated)
    short, long = (text.begin + text.repeated * (repetitions * times) + text.end for times in (1, TIMES_LONGER))
    if takes_letters:
        return seconds(text.read, long.decode()) / seconds(text.read, short.decode())
    return seconds(text.read, long) / seconds(text.read, short)


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS)
def test_no_text_takes_the_square_of_its_length(text: Text) -> None:
    assert ratio(text) < LARGEST_RATIO


@pytest.mark.parametrize("text", PATTERNS, ids=[NAMES.get(pattern_of(text)) for text in PATTERNS])
def test_no_pattern_takes_the_square_of_its_texts_length(text: Text) -> None:
    assert ratio(text, isinstance(pattern_of(text).pattern, str)) < LARGEST_RATIO


def test_every_pattern_has_its_worst_text_here() -> None:
    assert set(NAMES.values()) == {NAMES[pattern] for pattern in (*map(pattern_of, PATTERNS), *BOUNDED)}


def test_a_line_that_has_no_end_is_searched_once() -> None:
    searched: list[int] = []

    def find(log: bytes, begin: int) -> int:
        searched.append(len(log) - begin)
        return -1 if begin else 0

    def searched_bytes(blocks: Sequence[bytes]) -> int:
        searched.clear()
        list(base.entries(iter(blocks), find, base.Reading()))
        return sum(searched)

    block = b"x" * (1 << 13)
    assert searched_bytes([block] * 64) < LARGEST_RATIO * searched_bytes([block] * 16)
