"""Tables that somebody writes just now: told before a minute is recorded whose copies may then not succeed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from myisam_exporter.facts.columns import TableName

# A table that was written this lately is likely to be written again while it is copied.
RECENT_SECONDS = 10.0
NAMED = 3


def written_now(directory: Path, owner: int | None, now: float, only: Collection[TableName] = ()) -> list[str]:
    """The names to print of the tables in this data directory whose rows were written within RECENT_SECONDS; where `only` has some, of these alone."""
    from myisam_advisor.texts.templates import object_name
    from myisam_exporter.files.data_directory import scan_data_directory

    recent = (
        (file.schema_name, file.table_name)
        for file in scan_data_directory(directory, owner, reads_frm=False).files
        if file.data_modified is not None and 0 <= now - file.data_modified <= RECENT_SECONDS
    )
    # A table in partitions has several files.
    return [object_name(*table) for table in dict.fromkeys(recent) if not only or table in only]


def warnings_of(written: Sequence[str]) -> Iterator[str]:
    """What is said of them, where none may be locked."""
    if written:
        more = f" and {len(written) - NAMED} more" if len(written) > NAMED else ""
        verb = "is" if len(written) == 1 else "are"
        yield (
            f"{', '.join(written[:NAMED])}{more} {verb} being written. A table is copied only while nobody writes it: "
            "if that does not succeed, repeat this with --allow-lock, which takes a read lock for as long as each copy takes."
        )
