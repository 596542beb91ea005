"""`trial EXPERIMENT --help`: the help of that experiment alone, with the options that it takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import click

from myisam_advisor.cli.described import Described, option_records, write_pairs
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import brief

REPLAY, ENGINE, UPGRADE = "replay", "engine", "upgrade"
_ASKED = "myisam_advisor.trial_help.asked"
# What a replay takes and experiments do not, and the other way round.
_STATEMENTS = frozenset(("--workload", "--set", "--sql", "--speed", "--interval", "--config", "--rules", "--history"))
_MADE_UP = frozenset(("--seconds", "--threads"))
# What one kind of trial takes alone.
_OF_ONE: Mapping[str, str] = {"--column": "columns", "--index": "drop-index", "--to": ENGINE}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of trial beside the experiments: what it does, in a few words and in full, what it takes beside options, and which options it does not take."""

    short: str
    text: str
    words: str
    takes_not: frozenset[str]


KINDS: Mapping[str, Kind] = {
    REPLAY: Kind(
        "Your own recorded statements, under each change",
        "Send the statements of a recorded workload to a private server with copies of your own tables: under the present settings, "
        "under each RULE's change, --set and --sql alone, then under all that pay together. Old and new run in turn, with a verdict on all statements and on each kind. "
        "Without RULE, --set or --sql it tries the changes of all findings.",
        "[OPTIONS] [RULE ...]",
        _MADE_UP,
    ),
    ENGINE: Kind(
        "InnoDB and Aria instead of MyISAM, on copies of your tables",
        "Convert copies of your own tables to InnoDB and Aria on a private server. It measures how long that takes, how large they become, what fails and whether the rows "
        "are the same, then runs the same statements on each engine in turn, with a verdict.",
        "--table DB.TABLE [OPTIONS]",
        _STATEMENTS - {"--workload"} | {"--chart"},
    ),
    UPGRADE: Kind(
        "A newer server version, on copies of your tables",
        "Start copies of your tables under the newer program that --server names: what it rejects, its error messages, and how to fix each. "
        "With --workload, send the recorded statements to the present version and to the newer one: what only one of them rejects, "
        "which results differ, and what becomes faster or slower.",
        "--server PATH [OPTIONS]",
        _STATEMENTS - {"--workload"} | _MADE_UP | {"--keep", "--no-keep", "--chart"},
    ),
}
# What --table is for where no tables are made up.
_TABLE: Mapping[str, str] = {
    REPLAY: "Copy only this table of those that the statements use; may be given again.  [default: all of them]",
    ENGINE: "Convert a copy of this table.",
    UPGRADE: "Try a copy of this table.  [default: all of them, the smallest first]",
}

_MADE_UP_TABLES = "Use a copy of this table.  [default: made-up tables]"
_NEWER_SERVER = "Program of the newer server.  [required]"
_THREADS: Mapping[str, str] = {"mmap": "1, 4, 16 and 64 in turn"}
# The experiments that take an option, at the end of its text or before its default.
_TAKERS = re.compile(r" \(([a-z-]+(?:, [a-z-]+)*)\)(?=$|[.,]| \[)")
LEAVES_NOTHING = "The watched server is only read from. The private server has its own temporary directory and socket, and leaves nothing behind."


class Experiment(click.Choice):  # type: ignore[type-arg]  # click 8.1 has none
    """One of the experiments."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Its name. Raises UsageError for a word that is none, with those that are alike."""
        if value in self.choices:
            return str(value)
        from myisam_advisor.texts.near import did_you_mean

        known = ", ".join(self.choices)
        raise click.UsageError(
            f"there is no experiment {brief(value)}.{did_you_mean(str(value), self.choices)} Known are {known}.", ctx
        )


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
        formatter.write_usage(f"{ctx.command_path} {asked}", KINDS[asked].words if asked in KINDS else "[OPTIONS]")

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
            names = sorted(self.experiments)
            write_pairs(formatter, "Experiments", [(name, _in_short(name)) for name in names])
            super().format_options(ctx, formatter)
            return
        for title, records in option_records(self, ctx):
            taken = [record for record in records if takes(asked, record[0])]
            write_pairs(formatter, title, [(name, _help(asked, name, text)) for name, text in taken])

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
    if name in _OF_ONE:
        return _OF_ONE[name] == experiment
    return name not in (KINDS[experiment].takes_not if experiment in KINDS else _STATEMENTS)


def _help(experiment: str, name: str, text: str) -> str:
    """The text for this experiment alone: which of them take the option is said where none is named."""
    if name.startswith("--table "):
        return _TABLE.get(experiment, _MADE_UP_TABLES)
    if name.startswith("--server ") and experiment == UPGRADE:
        return _NEWER_SERVER
    if name.startswith("--threads "):
        return f"Concurrent threads.  [default: {_THREADS.get(experiment, '4')}; 1<=x<=64]"
    return _TAKERS.sub(lambda tag: "" if experiment in tag[1].split(", ") else tag[0], text)


def _asked(ctx: click.Context) -> str | None:
    asked = ctx.meta.get(_ASKED)
    return asked if isinstance(asked, str) else None


def _in_short(experiment: str) -> str:
    if experiment in KINDS:
        return KINDS[experiment].short
    from myisam_advisor.trial.experiments.base import experiment_named

    return experiment_named(experiment).title


def _text(experiment: str) -> str:
    if experiment in KINDS:
        return KINDS[experiment].text
    from myisam_advisor.trial.experiments.base import experiment_named

    return f"{experiment_named(experiment).title}: measured on a private server, on made-up tables or a copy of your own, old and new settings in turn, with a verdict."
