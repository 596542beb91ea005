"""Where the values come from that lines of my.cnf are to replace: which file has the line, what wins over any file, and what to put back.

The command line wins over what SET PERSIST wrote, and that over option files: tried on MySQL 8.0 and 9.7 (tests/servers/test_variable_origins.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from myisam_advisor.remedies.option_lines import OptionLine, OptionRemark, option_line, option_remark
from myisam_advisor.remedies.planners.base import FILE_LIMIT, PlanFacts
from myisam_advisor.texts.lists import listed
from myisam_exporter.collectors.variable_origins import COMMAND_LINE, OPTION_FILE
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.server.sql import quote_variable

MY_CNF_BACK = "Put back what stood in my.cnf, or remove the lines."
LONGEST_PATH = 512  # FN_REFLEN: a server names none that is longer
# MySQL lowers or raises them at its start to what the limit of open files allows, and says all the same that the file gave them; MariaDB says "automatic".
FITTED_AT_START = frozenset((FILE_LIMIT, "table_open_cache", "max_connections"))


class VariableOrigins:
    """What one server tells of its variables' values; nothing where it tells nothing."""

    def __init__(self, known: PlanFacts) -> None:
        self._known = known

    def may_be_persisted(self, lines: Iterable[OptionLine]) -> bool:
        """Whether SET PERSIST may have written one of these options: nobody can say that it did not."""
        if self._rows is None:
            return True
        # Where it could not be asked no row has it; what has its default has no row.
        is_unknown = any(row["is_persisted"] is None for row in self._rows.values())
        return is_unknown and any(line.option for line in lines)

    def remarked(self, line: OptionLine) -> Iterable[OptionLine]:
        """The line, behind a comment where another place has the option, or wins over every file."""
        row = self._row(line.option) if line.option else None
        if row is not None:
            yield from _remarks(line.option, row)
        yield line

    def way_back(self, lines: Sequence[OptionLine]) -> str:
        """How the files become what they were: which lines go, and which come back where. In general words where that is not known of each."""
        added, restored = [], []
        for name in (line.option for line in lines if line.option):
            present = self._known.variables.get(name)
            if self._rows is None or present is None:
                return MY_CNF_BACK
            row = self._row(name)
            if row is None:
                added.append(name)
                continue
            former = None if name in self._fitted else _place_of(name, row, present)
            if former is None:
                return MY_CNF_BACK
            restored.append(former)
        if added:
            default = "it had its default" if len(added) == 1 else "they had their defaults"
            restored.append(f"Remove {listed(added, len(added))} from my.cnf: {default}.")
        return " ".join(restored) or MY_CNF_BACK

    def _row(self, option: str) -> Row | None:
        """The option's row; for what SET PERSIST wrote of the default key cache by that name (default.key_buffer_size), the row of this name."""
        rows = self._rows or {}
        row, by_name = rows.get(option), rows.get(f"default.{option}")
        wins = row is not None and (row["origin"] == COMMAND_LINE or row["is_persisted"] == 1)
        return row if by_name is None or by_name["is_persisted"] != 1 or wins else by_name

    @cached_property
    def _fitted(self) -> frozenset[str]:
        """Those whose present value need not be the one that the option file has."""
        return frozenset() if self._known.all.single("server").get("flavour") == "mariadb" else FITTED_AT_START

    @cached_property
    def _rows(self) -> Mapping[str, Row] | None:
        """The rows of what has no default, by name; None where nobody knows of any, as there is no server without one."""
        if "variable_origin" in self._known.all.unknown:
            return None
        rows = self._known.all.tables["variable_origin"].dictionaries()
        return {str(row["name"]): row for row in rows} or None


def _remarks(name: str, row: Row) -> Iterable[OptionRemark]:
    """What is to be known of this option before its line is written: what wins over the file, else where it stands."""
    if row["origin"] == COMMAND_LINE and name == FILE_LIMIT:
        # mysqld_safe reads the server's section too, and passes this option on (scripts/mysqld_safe.sh: parse_arguments).
        yield option_remark(
            f"--{name} on the server's command line wins over this line, unless mysqld_safe took it from here"
        )
    elif row["origin"] == COMMAND_LINE:
        yield option_remark(f"--{name} on the server's command line wins over this line: change it there")
    elif row["is_persisted"] == 1:
        cache, _, variable = str(row["name"]).rpartition(".")
        written = quote_variable(variable, cache)
        yield option_remark(f"SET PERSIST wrote {row['name']}, which wins over this line: RESET PERSIST {written};")
    elif row["origin"] == OPTION_FILE and row["option_file"]:
        in_words = f"{name} stands in an option file of the server's machine: change it there"
        yield option_remark(f"{name} stands in {row['option_file']}: change it there", in_words)


def _place_of(name: str, row: Row, present: Value) -> str | None:
    """Where the present value is put back: on the command line, by SET PERSIST, or into the file that has it; None where that is not known."""
    try:
        line = option_line(name, present if isinstance(present, int | float) else str(present))
    except (ValueError, TypeError):
        return None
    if ";" in line:
        return None
    if row["origin"] == COMMAND_LINE:
        # mysqld_safe may have read that one in a file, and passed it on.
        return None if name == FILE_LIMIT else f"Put --{line.replace(' = ', '=', 1)} back on the server's command line."
    if row["is_persisted"] == 1:
        return f"Write {line} with SET PERSIST_ONLY again." if row["name"] == name else None
    path = str(row["option_file"] or "")
    known = row["origin"] == OPTION_FILE and row["is_persisted"] == 0 and _is_plain(path)
    return f"Put {line} back into {path}." if known else None


def _is_plain(path: str) -> bool:
    """Whether it can stand in a way back, of whose text what ends with a semicolon is shown as a statement to run."""
    return 0 < len(path) <= LONGEST_PATH and path.isprintable() and ";" not in path
