"""`myisam-advisor record`: the statements of a log, or of the running server, as a workload file; what is in such a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.any_way import MAXIMUM_RATE, MAXIMUM_SECONDS, SOURCES, Wanted, record_running
from myisam_advisor.cli.described import CHANGE, Described
from myisam_advisor.cli.ending import end_as_by_interrupt
from myisam_advisor.cli.number_types import WholeNumber
from myisam_advisor.cli.options import Duration, ServerOptions, format_option, server_options

if TYPE_CHECKING:
    from myisam_advisor.workload.recording import Recorded

_FILE = click.Path(path_type=Path)


@click.command(
    cls=Described,
    task=CHANGE,
    examples=(
        ("myisam-advisor record --output w.gz --slow-log /var/log/mysql/slow.log", "The statements of a slow log."),
        ("myisam-advisor record --output w.gz --general-log general.log", "Those of a general log."),
        ("sudo myisam-advisor record --output w.gz --seconds 60", "Those of the running server, for a minute."),
        ("sudo myisam-advisor record --output w.gz --seconds 60 --from probe", "With a kernel probe: no setting of the server is changed."),
        ("sudo myisam-advisor record --output w.gz --seconds 60 --from auto", "With the probe, or else the best way available."),
        ("myisam-advisor record --show w.gz", "Which kinds of statements took what share of the time."),
    ),
)  # fmt: skip
@click.option(
    "--output",
    type=_FILE,
    help="The workload file to write: readable only by you; an existing file is never overwritten.",
)
@click.option(
    "--slow-log",
    type=_FILE,
    metavar="FILE",
    help="Read this slow log (long_query_time=0 while it was written); - is standard input.",
)
@click.option("--general-log", type=_FILE, metavar="FILE", help="Read this general log; - is standard input.")
@click.option(
    "--seconds",
    type=Duration(),
    help="Record for this long: switch the server's slow log to a separate file, then restore every setting.",
)
@click.option(
    "--source",
    "--from",
    "source",
    type=click.Choice(SOURCES),
    default=SOURCES[0],
    show_default=True,
    help="With --seconds: performance-schema asks for its history of statements where that is on, probe lets the kernel note them (root); both change nothing. "
    "auto takes the first way that is possible: probe, slow log, general log where it is on, history.",
)
@click.option(
    "--maximum-rate",
    type=WholeNumber(1),
    default=MAXIMUM_RATE,
    show_default=True,
    help="With --seconds: refuse a server with more statements a second.",
)
@click.option("--yes", "is_sure", is_flag=True, help="With --seconds: do not ask.")
@click.option("--show", type=_FILE, metavar="FILE", help="Summarise a workload file.")
@click.option(
    "--literals", is_flag=True, help="With --show: also print the longest statement of each kind, with its values."
)
@format_option()
@server_options
def record(
    output: Path | None,
    slow_log: Path | None,
    general_log: Path | None,
    seconds: float | None,
    source: str,
    maximum_rate: int,
    is_sure: bool,
    show: Path | None,
    literals: bool,
    format_name: str,
    server: ServerOptions,
) -> None:
    """Record statements from a log or from the running server into a workload file for `trial replay`.

    Only this command and `prove`, which records too, read statements. With --seconds they change settings of the server for that time: those
    of the slow log. What was recorded stays in the file; everything else sees kinds of statements, without values.
    """
    chosen = [name for name, value in (("--slow-log", slow_log), ("--general-log", general_log), ("--seconds", seconds), ("--show", show)) if value is not None]  # fmt: skip
    if len(chosen) != 1:
        several = f"not {' and '.join(chosen)} together" if chosen else "none was given"
        raise click.UsageError(f"give one of --slow-log, --general-log, --seconds or --show: {several}.")
    _refuse_what_does_not_fit(output, seconds, show, literals, is_sure)
    if source != SOURCES[0] and seconds is None:
        raise click.UsageError("--source is for --seconds.")
    if show is not None:
        _show(show, literals, format_name)
        return
    assert output is not None
    if seconds is not None:
        end_as_by_interrupt()
        _tell(record_running(source, Wanted(output, seconds, maximum_rate, is_sure, server)), format_name)
    elif slow_log is not None:
        _log("slow_log", slow_log, output, format_name)
    elif general_log is not None:
        _log("general_log", general_log, output, format_name)


def _refuse_what_does_not_fit(
    output: Path | None, seconds: float | None, show: Path | None, literals: bool, is_sure: bool
) -> None:
    if show is not None and output is not None:
        raise click.UsageError("--show writes no file: leave out --output.")
    if show is None and output is None:
        raise click.UsageError("give the file to write: --output FILE.")
    if literals and show is None:
        raise click.UsageError("--literals is for --show: a workload always holds the statements whole.")
    if is_sure and seconds is None:
        raise click.UsageError("--yes is for --seconds.")
    if seconds is not None and not 1 <= seconds <= MAXIMUM_SECONDS:
        raise click.UsageError(f"--seconds is from 1 to {MAXIMUM_SECONDS:.0f}.")


def _log(kind: str, log: Path, output: Path, format_name: str) -> None:
    from myisam_advisor.workload.recording import record_log, source_named

    _tell(record_log(source_named(kind), log, output), format_name)


def _show(path: Path, literals: bool, format_name: str) -> None:
    import json

    from myisam_advisor.workload.document import as_document, as_text
    from myisam_advisor.workload.file import read_workload
    from myisam_advisor.workload.summary import summed_up

    with read_workload(path) as workload:
        summary = summed_up(workload, literals)
    if format_name == "json":
        print(json.dumps(as_document(summary), indent=1))
    else:
        print(as_text(summary, str(path), sys.stdout), end="")


def _tell(recorded: Recorded, format_name: str) -> None:
    import json

    from myisam_advisor.cli.terminal_lines import fitted
    from myisam_advisor.texts.json_documents import heading
    from myisam_advisor.texts.templates import printable
    from myisam_advisor.workload.document import about, said

    if format_name == "json":
        print(
            json.dumps({**heading(), **about(recorded.header, recorded.totals), "file": str(recorded.path)}, indent=1)
        )
        return
    click.echo(printable(f"{recorded.path}:"))
    for sentence in said(recorded.header, recorded.totals):
        click.echo(fitted(f"  {printable(sentence)}", sys.stdout))
    click.echo("  What is in it: " + printable(f"myisam-advisor record --show {recorded.path}"))
