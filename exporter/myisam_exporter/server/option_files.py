"""MySQL option files: which of them say how to reach the server, and what they say.

The client library would read them too, but silently: it ignores a file that is missing, and nobody can tell afterwards which of
two files a refused password came from. Source: manual, "Using Option Files"; mysys/my_default.c (remove_end_comment).
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.files.file_state import remedy_of_opening
from myisam_exporter.outside.bounded_reading import GivenFile, at_most
from myisam_exporter.outside.own_settings import expect_own
from myisam_exporter.server.login_path import LoginFileError, read_login_file

STANDARD_FILES = (Path("/etc/my.cnf"), Path("/etc/mysql/my.cnf"))
CLIENT_GROUPS = ("client", "client-server", "client-mariadb", "myisam-advisor")
# What mysql(1) takes from the environment where no file and no option says it: manual, "Environment Variables".
ENVIRONMENT_OPTIONS = {
    "host": "MYSQL_HOST",
    "port": "MYSQL_TCP_PORT",
    "socket": "MYSQL_UNIX_PORT",
    "password": "MYSQL_PWD",
}
GROUP_SUFFIX_VARIABLE, LOGIN_FILE_VARIABLE = "MYSQL_GROUP_SUFFIX", "MYSQL_TEST_LOGIN_FILE"
MAXIMUM_INCLUDE_DEPTH = 10
MAXIMUM_FILES = 500
MAXIMUM_BYTES = 1 << 20
_log = logging.getLogger(__name__)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and the file and line, or the variable, it came from. The value may be a password: it is never part of a representation."""

    value: str = field(repr=False)
    path: Path = Path()
    line: int = 0
    variable: str = ""

    def __str__(self) -> str:
        """Where it came from."""
        return f"the environment variable {self.variable}" if self.variable else f"{self.path}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Further:
    """What is read besides the files that --defaults-file names, or the standard ones, as mysql(1) does.

    `login_path` is a group of the login file, which is read for the groups of clients in any case; None for `login_file` reads none.
    """

    extra_file: Path | None = None
    group_suffix: str = ""
    login_path: str | None = None
    login_file: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def for_others(self) -> Further:
        """For servers that are probed: the option files alone, because the rest is how its user reaches the own server."""
        return Further(self.extra_file, self.group_suffix)

    def groups(self, groups: Sequence[str]) -> list[str]:
        """The groups, and where there is a suffix, those with it."""
        suffix = self.group_suffix
        return [*groups, *([f"{group}{suffix}" for group in groups] if suffix else [])]


NOTHING_FURTHER = Further()


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
        """Where a setting came from, and which other places said something else: for error messages, never with the value."""
        setting = self.settings.get(name)
        if setting is None:
            return ""
        others = [f"{lost}" for lost in self.overridden.get(name, []) if lost.value != setting.value]
        text = f"from {setting}"
        return f"{text}, which overrides a different one in {', '.join(others)}" if others else text


def login_file(environment: Mapping[str, str]) -> Path | None:
    """Where the login file is, if there is one."""
    named, home = environment.get(LOGIN_FILE_VARIABLE), environment.get("HOME")
    return Path(named) if named else Path(home) / ".mylogin.cnf" if home else None


def standard_files(extra_file: Path | None) -> list[Path]:
    """The option files that a client reads by itself, where they exist, and the extra one in its place among them."""
    home = os.environ.get("HOME")
    own = [Path(home) / ".my.cnf"] if home else []
    return [*_readable(STANDARD_FILES), *([extra_file] if extra_file else []), *_readable(own)]


def _readable(paths: Sequence[Path]) -> list[Path]:
    # In this order: of a directory that may not be searched (another user's HOME), is_file raises PermissionError.
    return [path for path in paths if os.access(path, os.R_OK) and path.is_file()]


def read_option_files(
    paths: Sequence[Path], groups: Sequence[str] = CLIENT_GROUPS, further: Further = NOTHING_FURTHER
) -> Options:
    """The settings of `groups` in these files, or in the standard ones and the extra one, then in the login file; a later one wins.

    What none of them says the environment may say. Raises UserError when a file cannot be read or a line in it is no option.
    """
    if paths and further.extra_file:
        raise UserError(
            "--defaults-file reads that file alone, --defaults-extra-file one more than the usual: give one of them."
        )
    options = Options()
    reading = _Reading(frozenset(further.groups(groups)), options.sections)
    for path in paths or standard_files(further.extra_file):
        _take(options, _read(path, reading, 0))
    _take(options, _logins(further, groups))
    for name, variable in ENVIRONMENT_OPTIONS.items():
        if further.environment.get(variable):
            options.settings.setdefault(name, Setting(further.environment[variable], variable=variable))
    return options


def _take(options: Options, found: Iterator[tuple[str, Setting]]) -> None:
    for name, setting in found:
        if name in options.settings:
            options.overridden.setdefault(name, []).append(options.settings[name])
        options.settings[name] = setting


def _logins(further: Further, groups: Sequence[str]) -> Iterator[tuple[str, Setting]]:
    """What the login file says: in the order of its lines, as the server's own programs take it.

    A file that nobody asked for (--login-path) is left out with a warning where it cannot be used.
    """
    path, login_path = further.login_file, further.login_path
    try:
        text = read_login_file(path) if path else None
    except FileNotFoundError:
        text = None
    except LoginFileError as error:
        if login_path is not None:
            raise
        # In a directory that may not be searched there is none for this user: clients say nothing of it either.
        if path is not None and os.access(path, os.F_OK):
            _warn_of(str(error))
        return
    if path is None or text is None:
        if login_path is not None:
            raise UserError(
                f"there is no login file {path or '(HOME is not set)'} for --login-path {login_path}: make one with mysql_config_editor."
            )
        return
    sections: set[str] = set()
    wanted = frozenset(further.groups([*groups, *([login_path] if login_path is not None else [])]))
    yield from _of_lines(path, text.splitlines(), _Reading(wanted, sections), MAXIMUM_INCLUDE_DEPTH)
    if login_path is not None and login_path not in sections:
        raise UserError(
            f"{path} has no login path {login_path!r}: it has {', '.join(sorted(sections)) or 'none'} (mysql_config_editor print --all)."
        )


@lru_cache(maxsize=16)
def _warn_of(text: str) -> None:
    """Once for each text: a daemon reads the files at each attempt to connect."""
    _log.warning("%s", text)


class _Reading:
    """The groups that are wanted, the `sections` that the files were seen to have, and how many files were read, again or not."""

    def __init__(self, groups: frozenset[str], sections: set[str]) -> None:
        # To the servers and their clients [Client] is [client]; case counts in what stands below.
        self.groups = frozenset(map(str.lower, groups))
        self.sections = sections
        self.files = 0


def _read(path: Path, reading: _Reading, depth: int) -> Iterator[tuple[str, Setting]]:
    if depth > MAXIMUM_INCLUDE_DEPTH:
        raise UserError(
            f"{path}: option files include each other more than {MAXIMUM_INCLUDE_DEPTH} deep: remove one !include"
        )
    reading.files += 1
    if reading.files > MAXIMUM_FILES:
        raise UserError(f"{path}: option files include more than {MAXIMUM_FILES} files: remove some !include")
    yield from _of_lines(path, _text(path, depth).splitlines(), reading, depth)


def _of_lines(path: Path, lines: Sequence[str], reading: _Reading, depth: int) -> Iterator[tuple[str, Setting]]:
    group = None
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("!"):
            yield from _include(path, number, line, reading, depth)
        elif line.startswith("["):
            group = _group(path, number, line)
            reading.sections.add(group)
        elif group is None:
            raise UserError(f"{path}, line {number}: an option stands before any [group]: write [client] above it.")
        elif group.lower() in reading.groups:
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
        with GivenFile(path) as file:
            is_file = stat.S_ISREG(file.mode)
            if not is_file and (depth or not stat.S_ISFIFO(file.mode)):
                raise UserError(f"the option file {path} is not a file: name one, or take the !include of it out.")
            expect_own("option file", path, root_is_told=False)
            data = at_most(file, MAXIMUM_BYTES)
    except OSError as error:
        raise UserError(f"cannot read the option file {path}: {error.strerror}. {remedy_of_opening(error)}") from None
    if len(data) > MAXIMUM_BYTES:
        raise UserError(f"the option file {path} is larger than {MAXIMUM_BYTES} bytes: it is not an option file.")
    return data.decode("utf-8", "surrogateescape")


def _group(path: Path, number: int, line: str) -> str:
    name, bracket, _ = line[1:].partition("]")
    if not bracket:
        raise UserError(f"{path}, line {number}: the group has no closing bracket: write [client].")
    return name.strip()


def _include(path: Path, number: int, line: str, reading: _Reading, depth: int) -> Iterator[tuple[str, Setting]]:
    directive, _, argument = line.partition(" ")
    if "\0" in argument:
        raise UserError(f"{path}, line {number}: a zero byte stands in what {directive} names: take it out.")
    named = Path(argument.strip())
    if directive == "!includedir":
        try:
            included = sorted(named.glob("*.cnf")) if os.access(named, os.F_OK) and named.is_dir() else []
        except OSError as error:
            raise UserError(
                f"{path}, line {number}: the option files in {named} cannot be read: {error.strerror}."
            ) from None
    elif directive == "!include":
        included = [named] if os.access(named, os.F_OK) and named.is_file() else []
    else:
        raise UserError(f"{path}, line {number}: unknown directive {directive}: only !include and !includedir exist.")
    for file in included:
        yield from _read(file, reading, depth + 1)


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
