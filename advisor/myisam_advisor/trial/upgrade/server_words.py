"""A server's refusal without the values of the statement: its own words, and names; `?` for the rest.

What a server quotes may be anything: a value of the statement (1366), of a row (1062), or the statement from some word on (1064). So of
what stands between its first and its last quote only those words are kept that are known to be no value: words of the statement's kind,
names of the tables and their columns, and the words that a message has between two names.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from myisam_advisor.workload.fingerprints import fingerprint

# That of "doesn't" is none.
_QUOTE = re.compile(r"(?<!n)['\"`]|(?<=n)['\"`](?!t\b)")
_TOKEN = re.compile(r"[\w$]+|\s+|[^\w\s$]")
_NAME = re.compile(r"[\w$]+")
# A syntax error quotes the statement from the word on that it does not understand: at most 80 characters, which may end within a literal.
_REST = re.compile(r"near '(.+)' at line (\d+)", re.DOTALL)
# A number that counts is the server's own; any other may be a value.
_NUMBER = re.compile(r"(?<!line )(?<!row )(?<!#)(?<![\w.])\d+(?:\.\d+)*(?!\w)")
_SIGNS, _SIGNS_OF_SQL = frozenset("'`."), frozenset("'`.,()*=<>!;")
_SEVERAL = re.compile(r"\?(?:[\s.,()*=<>!;]*\?)+")
_BETWEEN_NAMES = frozenset((
    "in", "for", "of", "at", "on", "by", "and", "the", "to", "is", "not", "from", "with", "line", "row", "near", "column", "field", "list", "where",
    "clause", "group", "statement", "order", "having", "function", "value", "table", "key", "sql_mode", "only_full_group_by", "does", "exist",
    "access", "user", "use", "which", "functionally", "dependent", "columns", "this", "incompatible", "contains", "nonaggregated", "out", "range",
))  # fmt: skip
REPLACED = "?"


def without_values(words: str, kind: str, names: Collection[str]) -> str:
    """The words of a refusal of a statement of this kind, on tables with these names."""
    known = {*(word.lower() for word in _NAME.findall(kind)), *(name.lower() for name in names), *_BETWEEN_NAMES}
    rest = _REST.search(words)
    if rest is not None:
        quoted = _kept(fingerprint(rest[1].encode("utf-8", "surrogateescape")), known, _SIGNS_OF_SQL)
        said = _NUMBER.sub(REPLACED, words[: rest.start()])
        return f"{said}near '{quoted}' at line {rest[2]}"
    places = [found.start() for found in _QUOTE.finditer(words)]
    if not places:
        return _NUMBER.sub(REPLACED, words)
    # One that stands alone begins something that was cut off.
    begin, end = places[0], places[-1] + 1 if len(places) > 1 else len(words)
    quoted = _kept(words[begin:end], known, _SIGNS)
    return f"{_NUMBER.sub(REPLACED, words[:begin])}{quoted}{_NUMBER.sub(REPLACED, words[end:])}"


def _kept(text: str, known: Collection[str], signs: Collection[str]) -> str:
    """The text with its known words and these signs; of several others that follow each other one `?`."""
    parts = [_part(token, known, signs) for token in _TOKEN.findall(text)]
    return _SEVERAL.sub(REPLACED, "".join(parts))


def _part(token: str, known: Collection[str], signs: Collection[str]) -> str:
    if token.isspace():
        return " "
    is_kept = token in signs or (token.lower() in known and not token.isdecimal())
    return token if is_kept else REPLACED
