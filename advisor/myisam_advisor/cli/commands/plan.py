"""`myisam-advisor plan`: one script from the findings, to be reviewed by a person. It applies nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.completion import rule_ids
from myisam_advisor.cli.described import CHANGE, Described
from myisam_advisor.cli.options import (
    SiteOptions,
    SourceOptions,
    connection_options,
    format_option,
    history_option,
    interval_option,
    site_options,
)
from myisam_advisor.cli.sources import judged, kept_proofs
from myisam_advisor.texts.units import unit_names
from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TextIO

    from myisam_advisor.changes.plan import ChangePlan
    from myisam_advisor.texts.whole_files import OutputDirectory

DEFAULT_INTERVAL = "10s"
FORMATS = unit_names(Path(__file__).parents[2] / "changes" / "formats")


@click.command(
    cls=Described,
    task=CHANGE,
    examples=(
        ("myisam-advisor plan > change.sql", "One script for all findings; read it before you run it."),
        (
            "myisam-advisor plan key-buffer-too-small --format markdown",
            "One rule's changes, as Markdown for a change request.",
        ),
    ),
)
@click.argument("findings", nargs=-1, metavar="[RULE|RULE:OBJECT]...", shell_complete=rule_ids)
@connection_options
@interval_option(DEFAULT_INTERVAL)
@format_option(FORMATS, "sql")
@click.option(
    "--output",
    "output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write all formats into this directory.",
)
@site_options
@history_option
def plan(
    findings: tuple[str, ...],
    interval: float,
    format_name: str,
    output: Path | None,
    history_file: Path | None,
    source: SourceOptions,
    site: SiteOptions,
) -> None:
    """Write one change script from the findings: what to run now, what makes it permanent, what needs downtime, and the rollback.

    It changes nothing itself. RULE selects all findings of a rule, RULE:OBJECT the one for that table or key cache; the default is all findings.
    """
    from myisam_advisor.changes.formats.base import format_named
    from myisam_advisor.changes.plan import make_plan
    from myisam_advisor.cli.ending import tell_beside
    from myisam_advisor.judging.chosen import choose, refuse_unknown_rules
    from myisam_advisor.judging.verdict import not_seen
    from myisam_advisor.texts.templates import printable

    in_force = site.load()
    known = [rule.id for rule in in_force.rules]
    refuse_unknown_rules((name.partition(":")[0] for name in findings), known)
    if output is not None:
        _expect_no_plan(output)
    judgement, facts = judged(source, in_force, interval, history_file)
    # On standard error: a script goes to a file, and what was not seen is nothing to run. An empty one says it too.
    unseen = not_seen(judgement, facts.interval_seconds)
    for sentence in unseen:
        tell_beside(f"myisam-advisor: {printable(sentence)} `myisam-advisor check` says what is missing.")
    made = make_plan(choose(judgement, findings, known), facts, kept_proofs(source).rates, unseen)
    if output is None:
        click.echo(format_named(format_name).render(made), nl=False)
    else:
        _write(made, output)


def _expect_no_plan(folder: Path) -> None:
    """Said before the server is looked at."""
    from myisam_advisor.changes.formats.base import format_named
    from myisam_advisor.texts.whole_files import OutputDirectory

    try:
        with OutputDirectory(folder) as directory:
            _refuse_present(directory, folder, [format_named("sql").FILE_NAME])
    except FileNotFoundError:
        return  # it is made in the end
    except OSError as error:
        raise _not_written(folder, error) from None


def _refuse_present(directory: OutputDirectory, folder: Path, names: Iterable[str]) -> None:
    present = [name for name in names if directory.holds(name)]
    if present:
        raise UserError(f"{folder} already holds {', '.join(present)}: choose another directory, or move them away.")


def _not_written(folder: Path, error: OSError) -> UserError:
    return UserError(f"the plan cannot be written to {folder}: {error.strerror}. Give another --output.")


def _write(made: ChangePlan, folder: Path) -> None:
    """Every form that has something to say, each in a file. On a full disk none is left, so that the next try finds nothing in its way.

    Present ones of another plan are not overwritten.
    """
    from myisam_advisor.changes.formats.base import format_named
    from myisam_advisor.texts.whole_files import OutputDirectory

    texts = {module.FILE_NAME: module.render(made) for module in map(format_named, FORMATS)}
    for form, content in (("init-file", made.init_file), ("cnf", made.settings)):
        if not content:
            del texts[format_named(form).FILE_NAME]
    try:
        with OutputDirectory(folder, create=True) as directory:
            _refuse_present(directory, folder, texts)
            try:
                _write_all(directory, texts)
            except FileExistsError:
                _refuse_present(directory, folder, texts)
                raise
    except OSError as error:
        raise _not_written(folder, error) from None
    click.echo(f"written to {folder}: {', '.join(texts)}")


def _write_all(directory: OutputDirectory, texts: Mapping[str, str]) -> None:
    """Each file, or none, and none in the place of another. Raises OSError."""
    kept: list[str] = []
    try:
        with contextlib.ExitStack() as all_or_none:
            for name, text in texts.items():
                file = all_or_none.enter_context(_new_file(directory, name, kept))
                file.write(text)
                file.flush()
    except BaseException:
        # Some disks refuse a file only when it is to be kept, and others have their names by then. What somebody else put there meanwhile is not ours.
        for name in kept:
            with contextlib.suppress(OSError):
                directory.remove(name)
        raise


@contextlib.contextmanager
def _new_file(directory: OutputDirectory, name: str, kept: list[str]) -> Iterator[TextIO]:
    """A file to write; its name is among those that are kept once it has it. Raises OSError."""
    with directory.file(name, only_new=True) as file:
        yield file
    kept.append(name)
