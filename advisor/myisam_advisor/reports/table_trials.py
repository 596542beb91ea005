"""What can be tried on a copy of one table, and why nothing can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.remedies.shell_lines import ShellLine, shell_line
from myisam_advisor.texts.column_units import in_words
from myisam_advisor.texts.templates import object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row
from myisam_exporter.facts.values import number_of
from myisam_exporter.server.sql import quote_table

# What `trial` copies without being asked.
COPY_LIMIT_BYTES = 2 << 30
GIB = 1 << 30
# From this MySQL or Percona Server on neither read_buffer_size nor myisam_use_mmap has an effect on MyISAM tables.
WITHOUT_EFFECT_FROM = 80000
OUT_OF_SIGHT = "A trial copies the table's files, which cannot be seen from here: run it beside the server."
UNSPELLABLE = "Its name cannot be written in a line for a shell."
NOTHING_TO_TRY = "Neither read_buffer_size nor myisam_use_mmap has an effect on this version, and its format and keys leave nothing to try."


@dataclass(frozen=True, slots=True)
class Trial:
    """A command that measures, on a copy of this table, whether a change pays."""

    command: ShellLine
    why: str


def table_trials(name: tuple[str, str], row: Row, indexes: Sequence[Row], server: Row) -> tuple[tuple[Trial, ...], str]:
    """What can be tried; or else why nothing can."""
    untried = _untried(row, server)
    trials = () if untried else tuple(_offered(name, row, indexes, server))
    if not trials and not untried:
        untried = NOTHING_TO_TRY if _spelled(name).isprintable() else UNSPELLABLE
    return trials, untried


def _untried(row: Row, server: Row) -> str:
    """Why the table cannot be tried on; empty where it can."""
    if server.get("local") == 0:
        return OUT_OF_SIGHT
    if row["crashed"]:
        return "It is crashed: a trial copies sound tables only."
    if row["row_format"] == "compressed":
        return "It is compressed: a trial writes to its copy, which takes no rows. `myisam-advisor migrate` shows without a copy what another engine does with it."
    if row["partitions"] is not None:
        return "It is partitioned: a trial copies tables without partitions. `myisam-advisor migrate` shows without a copy what another engine does with it."
    return ""


def _offered(name: tuple[str, str], row: Row, indexes: Sequence[Row], server: Row) -> Iterable[Trial]:
    if any(index["binary_search_without_packing"] and not index["binary_search"] for index in indexes):
        yield from _trial("pack-keys", name, row, "Without packed keys its pages could use binary search.")
    if row["row_format"] == "dynamic" and row["fixed_row_bytes"] is not None:
        yield from _trial(
            "row-format",
            name,
            row,
            f"In fixed format a row would take {in_words('fixed_row_bytes', row['fixed_row_bytes'])}.",
        )
    # rules/advice/read-buffer-too-large.yaml and mmap-enable.yaml say so to everybody else.
    is_of_mysql = server.get("flavour") in ("mysql", "percona")
    if is_of_mysql and (number_of(server.get("version_number")) or 0) >= WITHOUT_EFFECT_FROM:
        return
    yield from _trial("read-buffer", name, row, "Which read_buffer_size pays for full scans.")
    if row["row_format"] == "dynamic":
        yield from _trial("mmap", name, row, "Whether myisam_use_mmap pays for it.")


def _spelled(name: tuple[str, str]) -> str:
    """As SQL quotes both parts, wherever one of them must be quoted: what a trial takes in every case."""
    label = object_name(*name)
    return quote_table(*name) if "`" in label else label


def _trial(experiment: str, name: tuple[str, str], row: Row, why: str) -> Iterable[Trial]:
    """Nothing for a name that a shell's line cannot hold."""
    spelled = _spelled(name)
    larger = (number_of(row["data_bytes"]) or 0) + (number_of(row["index_bytes"]) or 0)
    if not spelled.isprintable():
        return
    if larger > COPY_LIMIT_BYTES:
        command = shell_line(
            "myisam-advisor trial {} --table {} --copy-limit {}", experiment, spelled, f"{int(larger / GIB) + 1}G"
        )
    else:
        command = shell_line("myisam-advisor trial {} --table {}", experiment, spelled)
    yield Trial(command, why)
