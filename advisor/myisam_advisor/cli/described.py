"""What --help says of a command besides its options: for which task it is, examples, and how it ends. The man pages say the same.

The options of the connection, which most commands share, come last, behind what is the command's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import click

from myisam_exporter.errors import brief

# The tasks, in the order in which somebody comes to them.
FIND, CHANGE, WATCH, FACTS, SET_UP = "Find out", "Change", "Watch", "Facts", "Set up"
TASKS = (FIND, CHANGE, WATCH, FACTS, SET_UP)
OTHERS = "More"
CONNECTION = "Connection"
HELP_NAMES = ["--help", "-h", "-?"]

Pairs = Sequence[tuple[str, str]]
FAILED = ("2", "Bad input, or the server cannot be reached: the message names the cause and the remedy.")
# Of a command that asks no server.
FAILED_ALONE = ("2", "Bad input: the message names the cause and the remedy.")
STATUSES: Pairs = (("0", "Done."), FAILED)
STATUSES_ALONE: Pairs = (("0", "Done."), FAILED_ALONE)


# What an empty text means something for: the anonymous account, no suffix, no path.
MAY_BE_EMPTY = frozenset({"--user", "--defaults-group-suffix", "--web.external-url", "--web.route-prefix"})


class ConnectionOption(click.Option):
    """An option that says which server to look at, and how."""


class _Described(click.Command):
    """A command with a task, examples (what to type, what it does) and the statuses it may end with."""

    def __init__(
        self, *arguments: Any, task: str = OTHERS, examples: Pairs = (), statuses: Pairs | None = None, **further: Any
    ) -> None:
        # The command's own and not the program's: who asks a command by itself has them too. -h stays the host's where there is one.
        further["context_settings"] = {"help_option_names": HELP_NAMES, **(further.get("context_settings") or {})}
        super().__init__(*arguments, **further)
        asks_a_server = any(isinstance(one, ConnectionOption) for one in self.params)
        self.task, self.examples = task, examples
        self.statuses = statuses or (STATUSES if asks_a_server else STATUSES_ALONE)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Once nothing empty is among the words: a variable that is not set in a script would be a server in the place of a file."""
        if not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            for parameter in self.params:
                _refuse_empty(parameter, given.get(parameter.name or ""), ctx)
        return super().parse_args(ctx, args)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """In the order they were given: click before 8.5 keeps them in a set, and a man page differed from one build to the next."""
        return sorted(super().get_help_option_names(ctx), key=ctx.help_option_names.index)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then its subcommands, then those of the connection."""
        for title, records in option_records(self, ctx):
            if title == CONNECTION and isinstance(self, click.Group):
                self.format_commands(ctx, formatter)
            write_pairs(formatter, title, records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples and statuses."""
        write_pairs(formatter, "Examples", self.examples)
        write_pairs(formatter, "Exit status", self.statuses)


def _refuse_empty(parameter: click.Parameter, given: object, context: click.Context) -> None:
    """What must be given says itself what is wrong with nothing."""
    is_empty = "" in given if isinstance(given, list | tuple) else given == ""
    if is_empty and not parameter.required and MAY_BE_EMPTY.isdisjoint(parameter.opts):
        name = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name.strip("[].")
        raise click.UsageError(f"{name} is empty: write a value, or leave it out.", context)


class Described(_Described):
    """A command."""


class DescribedGroup(_Described, click.Group):
    """A command with commands of its own."""

    command_class = Described

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name. Raises UsageError for a word that is none, with those that are alike."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            from myisam_advisor.texts.near import did_you_mean

            alike = did_you_mean(name, self.list_commands(ctx))
            ctx.fail(f"there is no command {brief(name)}.{alike} `{ctx.command_path} --help` lists them.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its whole sentence."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        write_pairs(formatter, "Commands", [(name, first_sentence(command)) for name, command in found if command])


def option_records(command: click.Command, context: click.Context) -> list[tuple[str, Pairs]]:
    """The options as --help shows them, under their titles."""
    titles: dict[str, list[tuple[str, str]]] = {"Options": [], CONNECTION: []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and not isinstance(parameter, click.Argument):
            titles[CONNECTION if isinstance(parameter, ConnectionOption) else "Options"].append(record)
    return list(titles.items())


def task_of(command: click.Command) -> str:
    """What it is for."""
    return command.task if isinstance(command, _Described) else OTHERS


def described(command: click.Command) -> tuple[Pairs, Pairs]:
    """Its examples and statuses."""
    return (command.examples, command.statuses) if isinstance(command, _Described) else ((), STATUSES)


def first_sentence(command: click.Command) -> str:
    """What the command does, whole: no line is cut."""
    text = " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".")


def write_commands(formatter: click.HelpFormatter, commands: Iterable[tuple[str, click.Command]]) -> None:
    """The commands by their tasks."""
    tasks: dict[str, list[tuple[str, str]]] = {task: [] for task in (*TASKS, OTHERS)}
    for name, command in commands:
        tasks[task_of(command)].append((name, first_sentence(command)))
    width = max((len(name) for rows in tasks.values() for name, _ in rows), default=0)
    for task, rows in tasks.items():
        write_pairs(formatter, task, [(f"{name:{width}}", text) for name, text in rows])


def write_pairs(formatter: click.HelpFormatter, title: str, records: Pairs) -> None:
    """Under a title, where there are any."""
    if records:
        with formatter.section(title):
            formatter.write_dl(records)
