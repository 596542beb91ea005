"""What several commands take on the command line, and what it stands for. Nothing heavy is imported here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from myisam_advisor.cli.described import ConnectionOption
from myisam_advisor.cli.number_types import Number, WholeNumber
from myisam_advisor.cli.own_password import OwnPassword
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.quantities import seconds_in, size_in

if TYPE_CHECKING:
    from myisam_advisor.catalogue.site import Site
    from myisam_exporter.server.option_files import Further
    from myisam_exporter.server.target import Target

DEFAULT_TIMEOUT_SECONDS = 10
# history/paths.py says so: the user's own where there is one, then the system's.
HISTORIES = "~/.local/state/myisam-advisor/history.sqlite, or else /var/lib/myisam-advisor/history.sqlite"

Command = TypeVar("Command", bound=Callable[..., Any])


class Size(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has none
    """Bytes, as 500M or 2G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        found = size_in(str(value))
        if found is None or not math.isfinite(found):
            self.fail(f"{value!r} is not a size: write 500M or 2G", param, ctx)
        return int(found)


class Duration(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has none
    """A length of time such as 10s, 500ms or 5min; a bare number is seconds."""

    name = "duration"
    maximum_seconds = 86_400.0
    maximum = "a day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        if isinstance(value, float):
            return value
        seconds = seconds_in(str(value))
        if seconds is None:
            self.fail(f"{value!r} is not a duration: write 10s, 500ms or 5min", param, ctx)
        if seconds > self.maximum_seconds:
            self.fail(f"{value!r} is longer than {self.maximum}", param, ctx)
        return seconds


class LongDuration(Duration):
    """A length of time that may be days."""

    maximum_seconds = 3650 * 86_400.0
    maximum = "ten years"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Which server to look at, and how: made of `server_options`."""

    defaults_files: tuple[Path, ...]
    host: str | None
    port: int | None
    socket: Path | None
    user: str | None
    allow_cleartext: bool
    timeout_seconds: int
    key_caches: tuple[str, ...]
    page_cache_seconds: float
    extra_file: Path | None
    group_suffix: str
    login_path: str | None
    own_password: OwnPassword = field(repr=False)

    def target(self) -> Target:
        """The server that they name. Raises UserError for an option file that cannot be used."""
        from myisam_exporter.server.target import target_from_options

        target = target_from_options(
            self.defaults_files,
            self.user,
            self.host,
            self.port,
            self.socket,
            password=self.own_password.typed(),
            further=self.further(),
            allow_cleartext=self.allow_cleartext,
        )
        self.own_password.warn(target.password_origin)
        return target

    def further(self) -> Further:
        """What is read besides the option files, as mysql(1) does."""
        from myisam_exporter.server.option_files import GROUP_SUFFIX_VARIABLE, Further, login_file

        environment = self.own_password.environment
        suffix = self.group_suffix or environment.get(GROUP_SUFFIX_VARIABLE, "")
        return Further(self.extra_file, suffix, self.login_path, login_file(environment), environment)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Where facts come from: a server, or a facts file ('-': standard input). Made of `connection_options`."""

    server: ServerOptions
    facts_file: str | None


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What holds at this site: made of `site_options`."""

    configuration_file: Path | None
    rule_folders: tuple[Path, ...]

    def load(self) -> Site:
        """The rules in force, with the site's thresholds and suppressions.

        Raises UserError for a configuration or a rule that cannot be used.
        """
        from myisam_advisor.catalogue.configuration import load_site

        return load_site(self.configuration_file, self.rule_folders)


def gathered(kind: type[Any], parameter: str) -> Callable[[Command], Command]:
    """The command takes what its options of these names say as one `parameter` of this kind, a dataclass.

    Options of its fields stand above this decorator.
    """
    names = [field.name for field in fields(kind)]

    def gathering(command: Command) -> Command:
        @wraps(command)
        def with_one_parameter(*arguments: Any, **values: Any) -> Any:
            values[parameter] = kind(**{name: values.pop(name) for name in names})
            return command(*arguments, **values)

        return cast(Command, with_one_parameter)

    return gathering


def with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """The command with these options, which --help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _connection(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    return click.option(*names, cls=ConnectionOption, **attributes)


_ADDRESS = (
    _connection("--host", "-h", metavar="HOST", help="Host of the server; localhost means its socket."),
    _connection("--port", "-P", metavar="PORT", type=WholeNumber(1, 65535), help="TCP port."),
    _connection("--socket", "-S", metavar="FILE", type=click.Path(path_type=Path), help="UNIX socket of the server."),
    _connection("--user", "-u", metavar="USER", help="Account name [default: your login name]."),
)
_OPTION_FILES = (
    _connection(
        "--defaults-file",
        "defaults_files",
        metavar="FILE",
        type=click.Path(path_type=Path),
        multiple=True,
        help="Read only this option file.",
    ),
    _connection(
        "--defaults-extra-file",
        "extra_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Also read this option file, before ~/.my.cnf.",
    ),
    _connection(
        "--defaults-group-suffix",
        "group_suffix",
        metavar="SUFFIX",
        default="",
        help="Also read groups with this suffix: [client_SUFFIX] for _SUFFIX.",
    ),
    _connection("--login-path", metavar="NAME", help="Login path of mysql_config_editor (~/.mylogin.cnf)."),
    _connection(
        "--allow-cleartext",
        is_flag=True,
        help="Allow a hashed password and all queries to travel to another host without TLS.",
    ),
)
_CACHES = (
    _connection(
        "--key-cache", "key_caches", multiple=True, metavar="NAME", help="A named key cache (MySQL cannot list them)."
    ),
    _connection(
        "--page-cache-seconds",
        metavar="SECONDS",
        type=Number(0, 600),
        default=2.0,
        show_default=True,
        help="Time allowed for the page-cache sweep.",
    ),
)


def server_options(
    command: Command,
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS,
    password_names: Sequence[str] = ("--password", "-p"),
) -> Command:
    """The options that say which server to look at, and how: the command's parameter `server`, a ServerOptions.

    Their names and letters are those of mysql(1).
    """
    password = _connection(
        *password_names,
        "own_password",
        is_flag=True,
        callback=_asked_for,
        help="Ask for the password on the terminal; otherwise it comes from an option file or a login path.",
    )
    timeout = _connection(
        "--timeout",
        "timeout_seconds",
        metavar="SECONDS",
        type=WholeNumber(1, 600),
        default=timeout_seconds,
        show_default=True,
        help="Seconds allowed for a connection or a query.",
    )
    options = (*_ADDRESS, password, *_OPTION_FILES, timeout, *_CACHES)
    return with_options(gathered(ServerOptions, "server")(command), options)


def _asked_for(context: click.Context, parameter: click.Parameter, value: bool) -> OwnPassword:
    return OwnPassword(asks=value)


def connection_options(command: Command) -> Command:
    """The server's options, and where facts come from instead: the command's parameter `source`, a SourceOptions."""
    facts = _connection(
        "--facts",
        "facts_file",
        metavar="FILE",
        help="Read the facts from this file ('-': standard input) instead of a server.",
    )
    return server_options(facts(gathered(SourceOptions, "source")(command)))


def interval_option(default: str) -> Callable[[Command], Command]:
    """How long to look; rates need two samples."""
    return click.option(
        "--interval", type=Duration(), default=default, show_default=True, help="Time between two samples; 0 takes one."
    )


def history_option(command: Command) -> Command:
    """Which history to read."""
    path = click.Path(path_type=Path)
    return click.option(
        "--history", "history_file", metavar="FILE", type=path, help=f"The daemon's history [default: {HISTORIES}]."
    )(command)


def format_option(forms: Sequence[str] = ("text", "json"), default: str = "text") -> Callable[[Command], Command]:
    """In which form the answer is printed."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(forms),
        default=default,
        show_default=True,
        help="Output format.",
    )


def raw_option(command: Command) -> Command:
    """Facts as they are."""
    return click.option(
        "--raw",
        is_flag=True,
        help="Print plain numbers on a terminal too, instead of sizes, rates and shares with units.",
    )(command)


def site_options(command: Command) -> Command:
    """What holds at this site, its configuration, and further rules: the command's parameter `site`, a SiteOptions."""
    configuration = click.option(
        "--config",
        "configuration_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Site configuration: thresholds, suppressions, own rules, ignored schemas [default: /etc/myisam-advisor/config.yaml].",
    )
    rules = click.option(
        "--rules",
        "rule_folders",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        multiple=True,
        help="Directory with additional rules; may be given again.",
    )
    return configuration(rules(gathered(SiteOptions, "site")(command)))


def was_given(parameter: str) -> bool:
    """Whether the user chose this, rather than its default."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is not click.core.ParameterSource.DEFAULT
