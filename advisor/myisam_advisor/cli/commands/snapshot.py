"""`myisam-advisor snapshot`: the facts as a file, to be judged anywhere."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from myisam_advisor.cli.described import FACTS, Described
from myisam_advisor.cli.options import SourceOptions, connection_options, interval_option
from myisam_advisor.cli.sources import gather

FOR_A_FILE = "the facts are one long JSON document, which a terminal is spared: write --output facts.json, or > facts.json. To read them: myisam-advisor facts."


@click.command(
    cls=Described,
    task=FACTS,
    examples=(
        ("myisam-advisor snapshot > facts.json", "Judge it on any machine: check --facts facts.json."),
        ("myisam-advisor snapshot --anonymise > ticket.json", "Without your names, for a ticket."),
    ),
)
@connection_options
@interval_option("10s")
@click.option(
    "--anonymise",
    "--anonymize",
    "without_names",
    is_flag=True,
    help="Replace the names of schemas, tables, indexes, key caches, hosts and paths; sizes, counts and rates stay.",
)
@click.option(
    "--output",
    "output_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write, readable only by its owner; compressed if its name ends in .gz. `--facts` reads both.",
)
def snapshot(interval: float, without_names: bool, output_file: Path | None, source: SourceOptions) -> None:
    """Write the facts as JSON, for `check --facts` on any machine.

    With --anonymise the file contains none of your names, and `check --facts` still finds the same: you can attach it to a ticket.
    """
    import json

    from myisam_advisor.factbase.document import as_document
    from myisam_advisor.texts.whole_files import expect_writable

    if output_file is not None:
        expect_writable(output_file)
    elif sys.stdout.isatty():
        raise click.UsageError(FOR_A_FILE)
    document = as_document(gather(source, interval))
    if without_names:
        from myisam_advisor.factbase.anonymous import anonymised

        document = anonymised(document)
    _write(json.dumps(document, indent=1), output_file)


def _write(text: str, path: Path | None) -> None:
    if path is None:
        click.echo(text)
        return
    import gzip

    from myisam_advisor.texts.whole_files import OWN, write_whole

    # Without the time of packing: the same facts are the same file.
    content = gzip.compress(f"{text}\n".encode(), mtime=0) if path.suffix == ".gz" else f"{text}\n"
    # Paths, and every variable of the server: more than other users of this machine are shown elsewhere.
    write_whole(path, content, mode=OWN)
