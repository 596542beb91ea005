"""What a command is: a module in this folder with a click command of its own name. Nothing registers it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import cast

import click

from myisam_advisor.cli.described import DescribedGroup, write_commands
from myisam_advisor.cli.own_password import refuse_words
from myisam_advisor.texts.units import unit_named, unit_names
from myisam_exporter.errors import brief

FOLDER = Path(__file__).parent
# The command that has all options of the connection, and is asked for most.
EXAMPLE = "check"


class Commands(DescribedGroup):
    """The commands in `commands/`: NAME.py holds the command NAME, and is imported when it is asked for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Once what belongs behind the command stands there. Raises UsageError where it does not: see `_refuse_host`."""
        if not ctx.resilient_parsing:
            self._refuse_host(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            check = self.get_command(ctx, EXAMPLE)
            if check is None or not any(error.option_name in one.opts for one in check.params):
                raise
            ctx.fail(
                f"{error.format_message().rstrip('.')} before the command. {_behind(ctx, f'{error.option_name} ...')}"
            )

    def _refuse_host(self, ctx: click.Context, args: Sequence[str]) -> None:
        """`-h HOST` in front of the command would be help, and end with 0: to Nagios and to scripts, that all is well."""
        flags = list(takewhile(lambda word: word.startswith("-"), args))
        behind = args[len(flags) :]
        if flags[-1:] == ["-h"] and behind and behind[0] not in self.list_commands(ctx):
            ctx.fail(f"-h before the command asks for help. {_behind(ctx, f'-h {brief(behind[0])}')}")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All there are."""
        return unit_names(FOLDER)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None where there is no such file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = unit_named("myisam_advisor.cli.commands", cmd_name)
        return cast(click.Command, getattr(module, cmd_name.replace("-", "_")))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name, once no password is among them."""
        name, command, words = super().resolve_command(ctx, args)
        if command is not None:
            refuse_words(command, words, click.Context(command, parent=ctx, info_name=name))
        return name, command, words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By task, each with its whole sentence."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        write_commands(formatter, ((name, command) for name, command in found if command and not command.hidden))


def _behind(ctx: click.Context, words: str) -> str:
    return f"Its options stand behind it: {ctx.command_path} {EXAMPLE} {words}"
