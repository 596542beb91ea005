"""YAML and JSON that people wrote: the one place where such texts are read and parsed.

An alias of YAML costs four characters and stands for as much as one likes: nine lines of them are a billion values to whoever walks through
them. So a document is measured with its aliases written out, before anything is made of it. Nesting, and the digits of one number, are
bounded too; dates stay text. `parse_json` estimates what a text will take before it is parsed: the names of a large dictionary cost most.

Source: yaml.org/spec/1.2 (7.1, alias nodes), PyYAML's constructor.py (merge keys, numbers to the base 60), json (parse_int, parse_constant).
"""

from __future__ import annotations

import json
import os
import re
import sys
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError, brief
from myisam_exporter.outside.bounded_reading import GivenFile, at_most

if TYPE_CHECKING:
    from collections.abc import Iterator

    import yaml

STANDARD_INPUT = "-"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
GZIP = b"\x1f\x8b"
GZIP_WINDOW = 16 + zlib.MAX_WBITS
# What follows a part is copied for each part, so it is short. bgzip makes parts of 64 KiB: so many are 640 MiB.
_GZIP_BLOCK_BYTES = 1 << 16
_MAXIMUM_GZIP_PARTS = 10_000
MAXIMUM_DEPTH = 40
MAXIMUM_NUMBER_CHARACTERS = 100
# What CPython 3.11 takes on a 64-bit machine, measured: a dictionary with one entry, a list, and what a comma separates.
_JSON_BYTES_OF = {"{": 240, "[": 88, ",": 40}
# A name that was not met before is kept itself, and makes a dictionary and the parser's own one of all names larger.
_JSON_BYTES_OF_NEW_NAME = 200
_BEHIND_NAME = re.compile(r'"[ \t\n\r]*:')
# Pieces of a long text in which names are counted, by their last characters: to count all takes longer than to parse it.
_PIECES, _PIECE_CHARACTERS, _TOLD_CHARACTERS = 64, 1 << 16, 200
_HALF_A_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a YAML document may be: as a file, and in values and characters with its aliases written out."""

    file_bytes: int = 1 << 20
    values: int = 100_000
    characters: int = 4 << 20


SETTINGS = Limits()


class DocumentError(Exception):
    """A text is no document of the kind, or too large a one. `line` is where, counted from 1; None where that is not known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def read_text(path: Path | str, kind: str, maximum_bytes: int, *, may_be_fifo: bool = False) -> str:
    """The text of a file, which may be a pipe, and packed by gzip; "-" is standard input. No more is read, or unpacked, than is allowed.

    A pipe of the shell's is waited for so long (GivenFile), standard input for as long as it takes. A FIFO with a name is read where it may be
    one: what is read again at each reload must not be waited for.

    Raises UserError when it cannot be read, is a device or larger, is damaged, or is no UTF-8.
    """
    try:
        if str(path) == STANDARD_INPUT:
            if sys.stdin is None:
                raise UserError(f"cannot read the {kind}: standard input is closed.")
            content = at_most(sys.stdin.buffer, maximum_bytes)
        else:
            with GivenFile(path) as file:
                file.expect_content(may_be_fifo)
                content = at_most(file, maximum_bytes)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise UserError(f"cannot read the {kind} {path}: {why}. Check the path.") from None
    if content.startswith(GZIP) and len(content) <= maximum_bytes:
        try:
            content = _unpacked(content, maximum_bytes)
        except zlib.error as error:
            raise UserError(f"cannot unpack the {kind} {path}: {error}. Pack it anew with gzip.") from None
    if len(content) > maximum_bytes:
        raise UserError(f"the {kind} {path} is larger than {maximum_bytes} bytes: it is not a {kind}.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read the {kind} {path}: {_not_utf_8(error)}.") from None


def _not_utf_8(error: UnicodeDecodeError) -> str:
    """What it is instead, where its first bytes tell: PowerShell's > writes UTF-16, also what comes over ssh."""
    if error.object.startswith(_UTF_16):
        return "it is UTF-16, as PowerShell's > writes it: save it as UTF-8"
    return f"it is not UTF-8 text (byte {error.start})"


def _unpacked(content: bytes, maximum_bytes: int) -> bytes:
    """What gzip packed, in one part or several; one byte more than allowed tells that there is more. Raises zlib.error."""
    unpacked, left = [], maximum_bytes + 1
    packed, place = memoryview(content), 0
    for _ in range(_MAXIMUM_GZIP_PARTS):
        inflating = zlib.decompressobj(wbits=GZIP_WINDOW)
        while not inflating.eof:
            if place == len(packed):
                raise zlib.error("it is cut off")
            block = packed[place : place + _GZIP_BLOCK_BYTES]
            unpacked.append(inflating.decompress(block, left))
            place += len(block) - len(inflating.unused_data)
            left -= len(unpacked[-1])
            if left == 0:
                return b"".join(unpacked)
        if place == len(packed):
            return b"".join(unpacked)
    raise zlib.error(f"it has more than {_MAXIMUM_GZIP_PARTS} parts")


def read_yaml_document(path: Path, kind: str) -> Any:
    """What a YAML file holds. Raises UserError that names the file, the line where it is known, and the fault."""
    text = read_text(path, kind, SETTINGS.file_bytes)
    try:
        return parse_yaml(text)
    except DocumentError as error:
        where = f", line {error.line}" if error.line else ""
        raise UserError(f"{path}{where}: not valid YAML: {error}.") from None


def parse_yaml(text: str, limits: Limits = SETTINGS) -> Any:
    """What a YAML text holds; dates stay text. Raises DocumentError."""
    with _yaml_faults():
        _measure_as_written(text, limits)
        loader = loader_class()(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            measure(node, limits)
            return loader.construct_document(node)
        finally:
            loader.dispose()


class _yaml_faults:  # noqa: N801 - used as contextlib.suppress is
    """What PyYAML raises, as DocumentError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, DocumentError):
            return
        import yaml

        if isinstance(error, yaml.YAMLError):
            mark = getattr(error, "problem_mark", None)
            problem = str(getattr(error, "problem", None) or error)
            raise DocumentError(problem, mark.line + 1 if mark else None) from None
        # What values of explicit tags give: `!!timestamp 2001-13-45`, `!!set [a]`.
        if isinstance(error, (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)):
            raise DocumentError(f"a value cannot be understood ({type(error).__name__})") from None


def _measure_as_written(text: str, limits: Limits) -> None:
    """Refuse a text of too many values, or nested too deeply, before nodes are made: libyaml's time grows with the square of the depth."""
    import yaml

    values = depth = 0
    for event in yaml.parse(text, Loader=loader_class()):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            continue
        if not isinstance(event, yaml.NodeEvent) or event.start_mark is None:
            continue
        values += 1
        depth += isinstance(event, yaml.CollectionStartEvent)
        if values > limits.values or depth > MAXIMUM_DEPTH:
            line = event.start_mark.line + 1
            raise DocumentError(_too_deep() if depth > MAXIMUM_DEPTH else _too_large(limits), line)


def measure(root: yaml.Node, limits: Limits) -> None:
    """Refuse a document that is too large or too deep with its aliases written out. Raises DocumentError with the line."""
    import yaml

    values = characters = 0
    waiting: list[tuple[yaml.Node, int]] = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        values += 1
        if isinstance(node, yaml.ScalarNode):
            characters += len(node.value)
        elif depth > MAXIMUM_DEPTH:
            raise DocumentError(_too_deep(), node.start_mark.line + 1)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend((child, depth + 1) for child in node.value)
        elif isinstance(node, yaml.MappingNode):
            _refuse_twice(node)
            waiting.extend((child, depth + 1) for pair in node.value for child in pair)
        if values > limits.values or characters > limits.characters:
            raise DocumentError(_too_large(limits), node.start_mark.line + 1)


def _refuse_twice(mapping: yaml.MappingNode) -> None:
    """A key that is there twice: PyYAML takes the last and says nothing, so a second `basic_auth_users:` would take the first one's logins away."""
    known = set()
    for key, _ in mapping.value:
        if not isinstance(key.value, str):
            continue
        if (key.tag, key.value) in known:
            raise DocumentError(f"the key {brief(key.value)} is there twice", key.start_mark.line + 1)
        known.add((key.tag, key.value))


def _too_deep() -> str:
    return f"it is nested deeper than {MAXIMUM_DEPTH} levels, or holds itself"


def _too_large(limits: Limits) -> str:
    return f"with its aliases written out it has more than {limits.values} values or {limits.characters} characters"


@lru_cache(maxsize=1)
def loader_class() -> Any:
    """PyYAML's safe loader, the C one where there is one, without YAML's own dates and with numbers of bounded length."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # which of two is known at run time
        """See above."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
        for first, found in base.yaml_implicit_resolvers.items()
    }
    for kind in ("int", "float"):
        _bound(Loader, f"tag:yaml.org,2002:{kind}", base.yaml_constructors[f"tag:yaml.org,2002:{kind}"])
    return Loader


def _bound(loader_type: Any, tag: str, construct: Any) -> None:
    """Numbers to the base 60 take time that grows with the square of their length, and 5,000 digits are an error of Python's."""
    import yaml

    def bounded(loader: Any, node: yaml.ScalarNode) -> Any:
        if len(node.value) > MAXIMUM_NUMBER_CHARACTERS:
            raise yaml.constructor.ConstructorError(None, None, _long_number(len(node.value)), node.start_mark)
        try:
            return construct(loader, node)
        except (ValueError, ArithmeticError):
            problem = f"{node.value!r} is not a number"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    loader_type.add_constructor(tag, bounded)


def _long_number(characters: int) -> str:
    return f"a number of {characters} characters: at most {MAXIMUM_NUMBER_CHARACTERS} are read"


def parse_json(text: str, maximum_memory_bytes: int) -> Any:
    """What a JSON text holds. NaN and infinities are no JSON.

    Raises DocumentError; the line is only known for a fault of the form.
    """
    if _takes_more_than(maximum_memory_bytes, text):
        raise DocumentError(f"it would take more than {maximum_memory_bytes >> 20} MiB of memory")
    try:
        document = json.loads(text, parse_int=_integer, parse_constant=_no_number)
        if _HALF_A_CHARACTER.search(text):
            for part in _texts(document):
                part.encode("utf-8")
    except json.JSONDecodeError as error:
        raise DocumentError(error.msg, error.lineno) from None
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end].encode("unicode_escape", "surrogatepass").decode("ascii")
        raise DocumentError(f"{half[:12]} is half of a character, and no text") from None
    except RecursionError:
        raise DocumentError("it is nested too deeply") from None
    return document


def _takes_more_than(maximum_memory_bytes: int, text: str) -> bool:
    """Whether parsing a JSON text would take more than this, by what it is made of."""
    # One character beyond Latin-1 makes each of the text take two bytes, or four, and those of the strings in it may too.
    left = maximum_memory_bytes - 2 * (sys.getsizeof(text) - len(text))
    left -= sum(bytes_each * text.count(sign) for sign, bytes_each in _JSON_BYTES_OF.items())
    if left < 0 or text.count(":") * _JSON_BYTES_OF_NEW_NAME <= left:
        return left < 0
    return _different_names(text) * _JSON_BYTES_OF_NEW_NAME > left


def _different_names(text: str) -> float:
    """About how many different names a JSON text has, by pieces of it: whoever wrote it cannot know which, as they are drawn."""
    if len(text) <= _PIECES * _PIECE_CHARACTERS:
        return len(_names(text, 0, len(text)))
    places = len(text) - _PIECE_CHARACTERS + 1
    begins = [int.from_bytes(os.urandom(8), "big") % places for _ in range(_PIECES)]
    names = set().union(*(_names(text, begin, begin + _PIECE_CHARACTERS) for begin in begins))
    return len(names) * len(text) / (_PIECES * _PIECE_CHARACTERS)


def _names(text: str, begin: int, end: int) -> set[str]:
    ends = (found.start() for found in _BEHIND_NAME.finditer(text, begin, end))
    # A quotation mark that is a part of the name does not begin it.
    return {text[max(at - _TOLD_CHARACTERS, 0) : at].replace(r"\"", "'").rpartition('"')[2] for at in ends}


def _integer(text: str) -> int:
    if len(text) > MAXIMUM_NUMBER_CHARACTERS:
        raise DocumentError(_long_number(len(text)))
    return int(text)


def _no_number(text: str) -> float:
    raise DocumentError(f"{text} is not a number: leave out what is unknown")


def _texts(document: Any) -> Iterator[str]:
    """Every text in it, keys among them."""
    waiting = [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            waiting.extend(part)
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
