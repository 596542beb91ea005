"""MySQL option files: which of them say how to reach the server, and what they say.

The client library would read them too, but silently: it ignores a file that is missing, and nobody can tell afterwards which of
two files a refused password came from. Source: manual, "Using Option Files"; mysys/my_default.c (remove_end_comment).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from myisam_exporter.errors import UserError

STANDARD_FILES = (Path("/etc/my.cnf"), Path("/etc/mysql/my.cnf"))
CLIENT_GROUPS = ("client", "client-server", "client-mariadb", "myisam-advisor")
MAXIMUM_INCLUDE_DEPTH = 10
MAXIMUM_BYTES = 1 << 20
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and the file and line it came from. The value may be a password: it is never part of a representation."""

    value: str = field(repr=False)
    path: Path = Path()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the client groups, the later file before the earlier; `overridden` are those that lost.

    `sections` names every group of the files, also those whose settings were not asked for.
    """

    settings: dict[str, Setting] = field(default_factory=dict)
    overridden: dict[str, list[Setting]] = field(default_factory=dict)
    sections: set[str] = field(default_factory=set)

    def value(self, name: str) -> str | None:
        """The setting's value, or None."""
        setting = self.settings.get(name)
        return setting.value if setting else None

    def origin(self, name: str) -> str:
        """Where a setting came from, and which other files said something else: for error messages, never with the value."""
        setting = self.settings.get(name)
        if setting is None:
            return ""
        others = [f"{lost.path}" for lost in self.overridden.get(name, []) if lost.value != setting.value]
        text = f"from {setting.path}, line {setting.line}"
        return f"{text}, which overrides a different one in {', '.join(others)}" if others else text


def standard_files() -> list[Path]:
    """The option files that a client reads by itself, where they exist."""
    home = os.environ.get("HOME")
    candidates = [*STANDARD_FILES, *([Path(home) / ".my.cnf"] if home else [])]
    return [path for path in candidates if path.is_file() and os.access(path, os.R_OK)]


def read_option_files(paths: Sequence[Path], groups: Sequence[str] = CLIENT_GROUPS) -> Options:
    """The settings of `groups` in these files; a later one wins.

    Raises UserError when a file cannot be read or a line in it is no option.
    """
    options = Options()
    for path in paths:
        for name, setting in _read(path, frozenset(groups), 0, options.sections):
            if name in options.settings:
                options.overridden.setdefault(name, []).append(options.settings[name])
            options.settings[name] = setting
    return options


def _read(path: Path, groups: frozenset[str], depth: int, sections: set[str]) -> Iterator[tuple[str, Setting]]:
    if depth > MAXIMUM_INCLUDE_DEPTH:
        raise UserError(
            f"{path}: option files include each other more than {MAXIMUM_INCLUDE_DEPTH} deep: remove one !include"
        )
    lines = _text(path, depth).splitlines()
    group = None
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("!"):
            yield from _include(path, number, line, groups, depth, sections)
        elif line.startswith("["):
            group = _group(path, number, line)
            sections.add(group)
        elif group is None:
            raise UserError(f"{path}, line {number}: an option stands before any [group]: write [client] above it.")
        elif group in groups:
            name, equals, value = line.partition("=")
            yield (
                name.strip().replace("_", "-"),
                Setting(_unquote(_without_comment(value)) if equals else "", path, number),
            )


def _text(path: Path, depth: int) -> str:
    """The file's text. One that is included must be a file; one that is named may be a pipe of the shell's.

    Raises UserError where it cannot be read, is too large, or where everybody could have written it: clients ignore such a file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | (os.O_NONBLOCK if depth else 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) and (depth or not stat.S_ISFIFO(status.st_mode)):
                raise UserError(f"the option file {path} is no file: name one, or take the !include of it out.")
            if stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IWOTH:
                raise UserError(f"everybody may write to the option file {path}, so it is not used: chmod o-w {path}")
            data = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise UserError(
            f"cannot read the option file {path}: {error.strerror}. Check the path and its permissions."
        ) from None
    if len(data) > MAXIMUM_BYTES:
        raise UserError(f"the option file {path} is larger than {MAXIMUM_BYTES} bytes: it is no option file.")
    return data.decode("utf-8", "surrogateescape")


def _group(path: Path, number: int, line: str) -> str:
    name, bracket, _ = line[1:].partition("]")
    if not bracket:
        raise UserError(f"{path}, line {number}: the group has no closing bracket: write [client].")
    return name.strip()


def _include(
    path: Path, number: int, line: str, groups: frozenset[str], depth: int, sections: set[str]
) -> Iterator[tuple[str, Setting]]:
    directive, _, argument = line.partition(" ")
    named = Path(argument.strip())
    if directive == "!includedir":
        included = sorted(file for file in named.glob("*.cnf")) if named.is_dir() else []
    elif directive == "!include":
        included = [named] if named.is_file() else []
    else:
        raise UserError(f"{path}, line {number}: unknown directive {directive}: only !include and !includedir exist.")
    for file in included:
        yield from _read(file, groups, depth + 1, sections)


def _without_comment(value: str) -> str:
    quote, escaped = "", False
    for position, character in enumerate(value):
        if character in "'\"" and not escaped:
            if not quote:
                quote = character
            elif quote == character:
                quote = ""
        if character == "#" and not quote:
            return value[:position]
        escaped = bool(quote) and character == "\\" and not escaped
    return value


def _unquote(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    parts, position = [], 0
    while position < len(value):
        following = value[position + 1 : position + 2]
        if value[position] == "\\" and following in _ESCAPES:
            parts.append(_ESCAPES[following])
            position += 2
        else:
            parts.append(value[position])
            position += 1
    return "".join(parts)
