"""SQL as words and signs: just enough of the grammar to tell literals, comments and names apart, in time that grows with the length alone.

A literal of any kind is one token, `?`, as a placeholder is. Text between double quotes counts as a literal: under ANSI_QUOTES it would be
a name, and a log does not tell the sql_mode. Nor does it tell whether a backslash escapes (NO_BACKSLASH_ESCAPES), or is the second byte of
a character (GBK, Big5, Shift-JIS): where that decides what is a literal, all from there is one. What stands in an executable comment is code, whatever version it asks for.

Source: MySQL and MariaDB manuals, "String Literals", "Numeric Literals", "Comments", "Schema Object Names".
"""

from __future__ import annotations

import re
from itertools import islice

LITERAL = b"?"
# The rest of a longer statement is rows of an INSERT, as good as always.
MAXIMUM_BYTES = 1 << 18

# Strings with escapes are emptied first, so no pattern here repeats a group without bound: re would keep each repetition in memory.
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
# With what may stand before it: x'41', b'01', n'text', _utf8mb4'text'.
_STRING = rb"""(?:[xXbBnN]|_[A-Za-z0-9]{1,30})?(?:'[^']*(?:'|\Z)|"[^"]*(?:"|\Z))"""
_NUMBER = (
    rb"(?<![\w$.\x80-\xff])(?:0[xX][0-9A-Fa-f]+|0b[01]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\w$\x80-\xff])"
)
# A name has 64 characters at most.
_QUOTED_NAME = rb"`[^`]*(?:``[^`]*){0,64}(?:`|\Z)"
COMMENT = rb"/\*(?!M?!).*?(?:\*/|\Z)|#[^\n]*|--(?=[\x00-\x20]|\Z)[^\n]*"
_EXECUTABLE = rb"/\*M?![0-9]{0,6}|\*/"
_WORD = rb"@{0,2}[A-Za-z0-9_$\x80-\xff]+"
_OPERATOR = rb"<=>|<<|>>|->>|->|<=|>=|<>|!=|:=|\|\||&&|[^\s\x00]"
_TOKEN = re.compile(
    rb"(%s|%s)|(?:%s|%s)|(%s|%s|%s)" % (_STRING, _NUMBER, COMMENT, _EXECUTABLE, _QUOTED_NAME, _WORD, _OPERATOR),
    re.DOTALL,
)
_QUOTED = re.compile(rb"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|""" + COMMENT, re.DOTALL)
# What stands in an executable comment is code, or none: one that is open is as open as another. `*/*` is a sign before a comment.
_PARTS = re.compile(_QUOTED.pattern + rb"|/\*M?!|\*/(?!\*)", re.DOTALL)
_IS_LITERAL, _IS_KEPT = 1, 2
_COMMENT_BEGINS = rb"/\*(?!M?!)|#|--(?=[\x00-\x20]|\Z)"
_BEGINS = re.compile(rb"""['"`]|""" + _COMMENT_BEGINS)
_LEADING_COMMENT = re.compile(rb"[\s\x00]*(%s)" % _COMMENT_BEGINS)
_COMMENT_ENDS = {b"/*": b"*/"}
_BACKSLASH, _FIRST_HIGH = 0x5C, 0x80
_EMPTY_STRING = b"''"
_HIGH_BACKTICK = re.compile(rb"[\x80-\xff]`")
# What stands right behind a string: a word that is no keyword is not behind it, but in it.
GLUED = re.compile(
    rb"(?!(?:and|or|xor|as|from|where|limit|order|group|having|union|in|is|not|like|between|collate|then|else|end|when|on|for|into|div|mod|regexp"
    rb"|rlike|asc|desc|using)(?![\w$\x80-\xff]))[\w$\x80-\xff]",
    re.IGNORECASE,
)
# What stands right before a string, and what may: a prefix, or a keyword.
_WORD_BEFORE = re.compile(rb"[\w$\x80-\xff]+\Z")
_PREFIX = re.compile(
    rb"[xbn]|_\w{1,30}|and|or|xor|as|in|is|not|like|between|then|else|when|by|div|mod|regexp|rlike|select|interval|date|time|timestamp"
    rb"|set|values?|escape|separator|return|limit",
    re.IGNORECASE,
)

# For a glance at backslashes: what stands for a string there, and is in no statement else.
_MARK = b"\x01"
_HALF_ESCAPE = re.compile(rb"""[\x80-\xff]\\+['"]""")
# Strings with more escapes are for the slower look.
_ESCAPED_STRING = re.compile(rb"""'[^'\\]*(?:\\.[^'\\]*){0,64}'|"[^"\\]*(?:\\.[^"\\]*){0,64}\"""", re.DOTALL)
_CLOSED_STRING = re.compile(rb"""'[^']*'|"[^"]*\"""")
_GLUED_MARK = re.compile(_MARK + GLUED.pattern, re.IGNORECASE)

# For a quick look: each begins with what re can search for. Numbers elsewhere stay.
_QUICK_STRING = re.compile(rb"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)""", re.DOTALL)
_QUICK_NUMBERS = tuple(
    (sign + LITERAL, re.compile(re.escape(sign) + rb"[0-9]+(?:\.[0-9]+)?(?![\w$.\x80-\xff])"))
    for sign in (b" ", b"=", b"(", b",")
)
_PLAIN_NAMES = re.compile(rb"[^`]*(?:`[\w$\x80-\xff]+`[^`]*)*", re.ASCII)
_PLAIN_BYTES = 1 << 12


def tokens(statement: bytes, maximum_bytes: int = MAXIMUM_BYTES) -> list[bytes]:
    """The words, names (those in backticks with them), signs and literals (each `?`) of a statement's first bytes."""
    found: list[bytes] = []
    for match in _TOKEN.finditer(_readable(statement, maximum_bytes)):
        kind = match.lastindex
        if kind == _IS_KEPT:
            token = match[0]
            if token[:1] == b"`" and (len(token) == 1 or token[-1:] != b"`" or token.count(b"`") & 1):
                # A name that does not end could hold anything.
                found.append(LITERAL)
                break
            found.append(token)
        # 'a''b' and 'a' 'b' are one literal.
        elif kind == _IS_LITERAL and not (found and found[-1] is LITERAL):
            found.append(LITERAL)
    return found


def without_values(statement: bytes) -> bytes | None:
    """A statement with `?` in the place of each literal: what differs in values alone gives the same.

    None where that cannot be told at a glance: a comment, or a name between backticks, could hold a quote. What such a quote takes for a
    string leaves the backtick, or the mark of the comment, before it.
    """
    key = _QUICK_STRING.sub(LITERAL, _readable(statement, MAXIMUM_BYTES))
    for replaced, number in _QUICK_NUMBERS:
        key = number.sub(replaced, key)
    if len(key) > _PLAIN_BYTES or b"/*" in key or b"--" in key or b"#" in key:
        return None
    return key if b"`" not in key or _PLAIN_NAMES.fullmatch(key) else None


def plain_name(token: bytes) -> bytes | None:
    """The name that a token is, without backticks; None for what is no name: a literal, a sign, a variable."""
    if token.startswith(b"`"):
        return token.strip(b"`").replace(b"``", b"`") if len(token) > 1 else None
    first = token[:1]
    return token if first.isalnum() or first in b"_$" or first >= b"\x80" else None


class _Reading:
    """A statement as one of the readings has it: its strings, and where it must be given up (None: nowhere)."""

    __slots__ = ("differs_at", "is_sane", "is_utf8", "strings", "undecided_at")

    def __init__(self) -> None:
        self.is_utf8: bool | None = None  # asked once, and only where it matters
        self.strings: list[tuple[int, int]] = []
        self.undecided_at: int | None = None
        self.differs_at: int | None = None
        self.is_sane = True


def _readable(statement: bytes, maximum_bytes: int) -> bytes:
    """The statement's first bytes without escapes, up to where it is not clear any more what is a literal: from there an empty string."""
    text = statement[:maximum_bytes]
    is_whole = len(statement) <= maximum_bytes
    if b"\\" not in text and (text.isascii() or not _HIGH_BACKTICK.search(text) or _is_utf8(text)):
        return text
    quick = _quickly_readable(text) if is_whole else None
    return _slowly_readable(text, is_whole) if quick is None else quick


def _quickly_readable(text: bytes) -> bytes | None:
    """With every string emptied, where a glance tells that backslashes escape: read so, strings end, and read as letters they do not.

    None where it does not tell: `_slowly_readable` does, and says the same of all others.
    """
    if _MARK in text or not (text.isascii() or _is_quickly_read(text)):
        return None
    marked = _ESCAPED_STRING.sub(_MARK, text)
    if b"\\" in marked or _break(marked) < len(marked) or not _is_plain(marked):
        return None
    if b"\\'" in text or b'\\"' in text:
        as_letters = _CLOSED_STRING.sub(_MARK, text)
        wrong = _break(as_letters)
        if wrong == len(as_letters) or not _is_plain(as_letters[:wrong]):
            return None
    return marked.replace(_MARK, _EMPTY_STRING)


def _is_quickly_read(text: bytes) -> bool:
    """Whether no backslash, and no backtick, may be the second half of a character."""
    return not (_HALF_ESCAPE.search(text) or (b"`" in text and _HIGH_BACKTICK.search(text)))


def _break(marked: bytes) -> int:
    """Where a reading goes wrong: a string that does not end, or a word right behind one that is none; the end where it does not."""
    glued = _GLUED_MARK.search(marked)
    places = (glued.start() if glued else len(marked), marked.find(b"'"), marked.find(b'"'))
    return min(place for place in places if place >= 0)


def _is_plain(marked: bytes) -> bool:
    """Whether no comment, and no name between backticks, could have held a quote."""
    if b"#" in marked or b"--" in marked or b"/*" in marked:
        return False
    return b"`" not in marked or _PLAIN_NAMES.fullmatch(marked) is not None


def _slowly_readable(text: bytes, is_whole: bool) -> bytes:
    chosen = escaped = _read(text, is_whole, escapes=True)
    differs_at = escaped.differs_at
    if differs_at is not None:
        plain = _read(text, is_whole, escapes=False)
        if escaped.is_sane == plain.is_sane:
            return _emptied(text, escaped.strings, differs_at)
        chosen = escaped if escaped.is_sane else plain
    return _emptied(text, chosen.strings, chosen.undecided_at)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read(text: bytes, is_whole: bool, escapes: bool) -> _Reading:
    """Go from quote to quote, with backslashes as escapes or as letters. A doubled quote is the end of a string and the begin of another."""
    reading = _Reading()
    at = 0
    while (found := _BEGINS.search(text, at)) is not None:
        begin, sign = found.start(), found[0]
        if len(sign) > 1 or sign == b"#":
            end = text.find(_COMMENT_ENDS.get(sign, b"\n"), found.end())
            if end < 0:
                break
            at = end + 1
            continue
        end = (
            _end_of_name(text, begin, reading) if sign == b"`" else _end_of_string(text, begin, sign, escapes, reading)
        )
        if end < 0:
            reading.undecided_at = begin
            reading.is_sane = reading.is_sane and not is_whole
            break
        at = end + 1
        if sign == b"`":
            # No name has lines, as good as always: what does is text between the marks of two.
            reading.is_sane = reading.is_sane and text.find(b"\n", begin, end) < 0
        else:
            reading.strings.append((begin, at))
            reading.is_sane = reading.is_sane and GLUED.match(text, at) is None
    return reading


def _end_of_name(text: bytes, begin: int, reading: _Reading) -> int:
    """Where the name's backtick is; -1 where there is none, or it may be half of a character."""
    end = text.find(b"`", begin + 1)
    if end <= 0 or text[end - 1] < _FIRST_HIGH:
        return end
    if reading.is_utf8 is None:
        reading.is_utf8 = _is_utf8(text)
    return end if reading.is_utf8 else -1


def _end_of_string(text: bytes, begin: int, quote: bytes, escapes: bool, reading: _Reading) -> int:
    """Where the string's quote is; -1 where there is none, or that depends on the character set."""
    at = begin
    while (at := text.find(quote, at + 1)) > 0:
        first = at
        while first - 1 > begin and text[first - 1] == _BACKSLASH:
            first -= 1
        if first == at or not escapes:
            return at
        if text[first - 1] >= _FIRST_HIGH:
            if reading.differs_at is None:
                reading.differs_at = begin
            return -1
        if not (at - first) & 1:
            return at
        if reading.differs_at is None:
            reading.differs_at = begin
    return -1


def _emptied(text: bytes, strings: list[tuple[int, int]], end: int | None) -> bytes:
    """The text with nothing in those strings that hold backslashes, and with one empty string for all from the end."""
    parts = []
    at = 0
    for begin, behind in strings:
        if end is not None and begin >= end:
            break
        if text.find(b"\\", begin, behind) >= 0:
            parts += [text[at:begin], _EMPTY_STRING]
            at = behind
    parts += [text[at:]] if end is None else [text[at:end], _EMPTY_STRING]
    return b"".join(parts)


def behind_comments(statement: bytes) -> bytes:
    """The statement from its first word on, however long the comments before it are; one that is code is none."""
    at = 0
    while (found := _LEADING_COMMENT.match(statement, at)) is not None:
        sign = found[1]
        end = statement.find(_COMMENT_ENDS.get(sign, b"\n"), found.end())
        if end < 0:
            return b""
        at = end + len(_COMMENT_ENDS.get(sign, b"\n"))
    return statement[at:]


def _without_escapes(statement: bytes) -> bytes:
    return _ESCAPE.sub(b"", statement) if b"\\" in statement else statement


def ends_within_string(statement: bytes) -> bool:
    """Whether a string, a name between backticks or a comment begins and does not end.

    A glance is enough for most: their quotes come in pairs, and an end of a comment stands behind the last begin of one.
    """
    plain = _without_escapes(statement)
    if not (plain.count(b"'") & 1 or plain.count(b'"') & 1 or plain.count(b"`") & 1):
        comment = plain.rfind(b"/*")
        if comment < 0 or plain.find(b"*/", comment + 2) >= 0:
            return False
    return _last_is_open(plain) or _comments(plain)[1]


def places_outside(plain: bytes, sign: bytes, limit: int) -> list[int]:
    """The first places where a sign stands outside of strings, names and comments, of a text without escapes."""
    outside = re.compile(_QUOTED.pattern + b"|" + re.escape(sign), re.DOTALL)
    return list(islice((found.start() for found in outside.finditer(plain) if found[0] == sign), limit))


def ends_a_comment(statement: bytes) -> bool:
    """Whether it has the end of a comment that does not begin in it."""
    return b"*/" in statement and _comments(_without_escapes(statement))[0]


def _comments(plain: bytes) -> tuple[bool, bool]:
    """Whether one ends that did not begin, and whether an executable one is open at the end."""
    has_stray = is_open = False
    for found in _PARTS.finditer(plain):
        part = found[0]
        if part == b"*/":
            has_stray = has_stray or not is_open
            is_open = False
        elif part in (b"/*!", b"/*M!"):
            is_open = True
    return has_stray, is_open


def never_ends(statement: bytes) -> bool:
    """Whether a string, name or comment begins and does not end, with backslashes as escapes and as letters alike: no server takes it."""
    signs = [sign in statement for sign in (b"'", b'"', b"`", b"/*")]
    if not any(signs):
        return False
    if sum(signs) == 1 and not signs[-1] and not statement.count(b"\\"):
        quotes = statement.count(b"'") + statement.count(b'"') + statement.count(b"`")
        if not quotes & 1:
            return False
    return _last_is_open(_without_escapes(statement)) and (b"\\" not in statement or _last_is_open(statement))


def _last_is_open(plain: bytes) -> bool:
    last = b""
    for found in _QUOTED.finditer(plain):
        last = found[0]
    sign = next((sign for sign in (b"'", b'"', b"`", b"/*") if last.startswith(sign)), None)
    if sign is None:
        return False
    end = b"*/" if sign == b"/*" else sign
    return len(last) < len(sign) + len(end) or not last.endswith(end)


def is_sane(statement: bytes) -> bool:
    """Whether its strings end, with backslashes as escapes or as letters, and no word touches one: 'O'Brien' is none."""
    return any(
        reading.is_sane and not any(_touched_from_before(statement, begin) for begin, _ in reading.strings)
        for reading in (_read(statement, True, escapes=True), _read(statement, True, escapes=False))
    )


def must_escape(statement: bytes) -> bool:
    """Whether its backslashes escape: read so it is as a statement is, and read as letters it is not."""
    return _read(statement, True, escapes=True).is_sane and not _read(statement, True, escapes=False).is_sane


def _touched_from_before(statement: bytes, begin: int) -> bool:
    before = _WORD_BEFORE.search(statement, max(0, begin - 40), begin)
    return before is not None and _PREFIX.fullmatch(before[0]) is None
