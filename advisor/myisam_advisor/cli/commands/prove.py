"""`myisam-advisor prove`: from doubt to answer. The running server's statements are recorded, every change of the findings is replayed, the proofs are kept."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from myisam_advisor.cli.any_way import (
    MAXIMUM_RATE,
    MAXIMUM_SECONDS,
    SLOW_LOG,
    SOURCES,
    Wanted,
    expect_somebody_to_ask,
    record_running,
    say,
)
from myisam_advisor.cli.completion import rule_ids
from myisam_advisor.cli.described import CHANGE, Described
from myisam_advisor.cli.ending import end_as_by_interrupt
from myisam_advisor.cli.number_types import WholeNumber
from myisam_advisor.cli.options import (
    Duration,
    ServerOptions,
    SiteOptions,
    Size,
    format_option,
    gathered,
    history_option,
    interval_option,
    server_options,
    site_options,
)
from myisam_advisor.cli.replaying import CopyOptions, replayed, tell
from myisam_advisor.cli.tried_changes import ProvingWish
from myisam_exporter.errors import UserError


@click.command(
    cls=Described,
    task=CHANGE,
    examples=(
        ("sudo myisam-advisor prove", "Record for a minute, try every recommended change, keep the results."),
        (
            "sudo myisam-advisor prove key-buffer-too-small --seconds 5m --yes",
            "One rule's change, on a recording of five minutes.",
        ),
        (
            "sudo myisam-advisor prove --from probe",
            "Record with a kernel probe: no setting of the server is changed.",
        ),
    ),
)
@click.argument("findings", nargs=-1, metavar="[RULE ...]", shell_complete=rule_ids)
@server_options
@click.option("--seconds", type=Duration(), default="60", show_default=True, help="How long to record.")
@click.option(
    "--from",
    "source",
    type=click.Choice(SOURCES),
    default=SLOW_LOG,
    show_default=True,
    help="How to record, as in `record --from`: the probe changes no setting and knows when each statement began, which concurrent writes need.",
)
@click.option(
    "--maximum-rate",
    type=WholeNumber(1),
    default=MAXIMUM_RATE,
    show_default=True,
    help="Refuse a server with more statements a second.",
)
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask before settings of the server are changed to record.")
@click.option("--budget", type=Duration(), default="5m", show_default=True, help="Time for all rounds together.")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="DB.TABLE",
    help="Copy only this table of those that the statements use; may be given again.",
)
@click.option("--copy-limit", type=Size(), default="2G", show_default=True, help="Limit on the bytes copied.")
@click.option("--allow-lock", is_flag=True, help="Lock each table against writes while it is copied.")
@interval_option("10s")
@format_option()
@site_options
@history_option
@gathered(CopyOptions, "copy")
def prove(
    findings: tuple[str, ...],
    seconds: float,
    source: str,
    maximum_rate: int,
    is_sure: bool,
    budget: float,
    interval: float,
    format_name: str,
    history_file: Path | None,
    server: ServerOptions,
    site: SiteOptions,
    copy: CopyOptions,
) -> None:
    """Prove advice on your own statements: record them, replay them on copies of the tables with each recommended change, keep the results.

    It is `record`, `trial replay` and `check` in one. The recording is removed when it ends; what was proved is kept, without statements' values.
    """
    from myisam_advisor.trial.private.limits import expect_bearable
    from myisam_advisor.trial.private.machine import be_polite, expect_room, only_one
    from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
    from myisam_advisor.trial.statements.material import ReplayOptions

    if not 1 <= seconds <= MAXIMUM_SECONDS or budget <= 0:
        raise click.UsageError(f"--seconds is from 1 to {MAXIMUM_SECONDS:.0f}, and --budget more than 0.")
    if source == SLOW_LOG:
        expect_somebody_to_ask(is_sure)
    end_as_by_interrupt()
    expect_bearable()
    wish = ProvingWish(None, findings, (), (), "max", interval, history_file)
    # Its statements have their values: they go with this program, also when it is killed.
    with only_one(), ReapedDirectory() as folder:
        output = folder.path / "workload"

        def recorded(disk_bytes: int, warnings: Sequence[str]) -> Path:
            from myisam_advisor.trial.replay import sender_program
            from myisam_advisor.workload.document import said

            # Without one of these a minute of the server's would be recorded for nothing.
            sender_program()
            expect_room(folder.path.parent, disk_bytes, 0)
            for sentence in warnings:
                say(sentence)
            with _no_output_to_choose():
                done = record_running(source, Wanted(output, seconds, maximum_rate, is_sure, server))
            for sentence in said(done.header, done.totals):
                say(sentence)
            be_polite()
            return output

        replay = replayed(wish, copy, server, site, "", ReplayOptions("max", budget, None), recorded)
    tell(replay, True, format_name)


@contextlib.contextmanager
def _no_output_to_choose() -> Iterator[None]:
    """Whoever proves names no file: it lies in TMPDIR."""
    from myisam_advisor.workload.file_writer import OTHER_FILE, OTHER_PLACE

    try:
        yield
    except UserError as error:
        said = str(error)
        remedy = next((one for one in (OTHER_PLACE, OTHER_FILE) if said.endswith(one)), None)
        if remedy is None:
            raise
        raise UserError(f"{said.removesuffix(remedy)}Make room there, or choose another TMPDIR.") from None
