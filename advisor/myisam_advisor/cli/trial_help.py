"""`trial EXPERIMENT --help`: the help of that experiment alone, with the options that it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import click

from myisam_advisor.cli.described import Described, option_records, write_pairs

REPLAY = "replay"
_ASKED = "myisam_advisor.trial_help.asked"
# What one experiment takes alone; what only a replay takes; what a replay does not take.
OF_ONE: Mapping[str, str] = {"--column": "columns", "--index": "drop-index"}
OF_REPLAY = frozenset(("--workload", "--set", "--sql", "--speed", "--interval", "--config", "--rules", "--history"))
NOT_OF_REPLAY = frozenset(("--seconds", "--threads"))
REPLAYING = (
    "Send the statements of a recorded workload to a private server with copies of your own tables, under the settings as they are and "
    "under each RULE's change, --set and --sql alone, then under all that pay together: old and new in turn, with a verdict on all statements and on each kind. "
    "Without RULE, --set or --sql, under the changes of all findings."
)
LEAVES_NOTHING = "The watched server is only read from. The private server has its own temporary directory and socket, and leaves nothing behind."


class TrialCommand(Described):
    """The command, whose help is about an experiment where one is named. `experiments` are their names."""

    experiments: Collection[str] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember which experiment is named: help is printed before arguments are looked at."""
        ctx.meta[_ASKED] = next((word for word in args if word in self.experiments), None)
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """With the experiment's name in it."""
        asked = _asked(ctx)
        if asked is None:
            super().format_usage(ctx, formatter)
            return
        formatter.write_usage(f"{ctx.command_path} {asked}", "[OPTIONS] [RULE ...]" if asked == REPLAY else "[OPTIONS]")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the experiment does."""
        asked = _asked(ctx)
        if asked is None:
            super().format_help_text(ctx, formatter)
            return
        for text in (_text(asked), LEAVES_NOTHING):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options that the experiment takes."""
        asked = _asked(ctx)
        if asked is None:
            super().format_options(ctx, formatter)
            return
        for title, records in option_records(self, ctx):
            write_pairs(formatter, title, [record for record in records if takes(asked, record[0])])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its examples, or the simplest where none is about it."""
        asked = _asked(ctx)
        shown = self.examples
        if asked is not None:
            own = [one for one in self.examples if asked in one[0].split()]
            shown = own or [(f"myisam-advisor trial {asked}", "On made-up tables.")]
        write_pairs(formatter, "Examples", shown)
        write_pairs(formatter, "Exit status", self.statuses)


def takes(experiment: str, option: str) -> bool:
    """Whether an option, as help shows it, is one of this experiment's."""
    name = option.replace(",", " ").split()[0]
    if name in OF_ONE:
        return OF_ONE[name] == experiment
    return name not in (NOT_OF_REPLAY if experiment == REPLAY else OF_REPLAY)


def _asked(ctx: click.Context) -> str | None:
    asked = ctx.meta.get(_ASKED)
    return asked if isinstance(asked, str) else None


def _text(experiment: str) -> str:
    if experiment == REPLAY:
        return REPLAYING
    from myisam_advisor.trial.experiments.base import experiment_named

    return f"{experiment_named(experiment).title}: measured on a private server, on made-up tables or a copy of your own, old and new in turn, with a verdict."
