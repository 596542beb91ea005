"""Names with what cannot be seen, as the report shows them: a statement in which one is written as an escape names another table."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.report import ESCAPED_NAMES, as_text
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.remedies.script import ESCAPED

from .test_migrate import COUNTS_WITHIN, integer, migration, table


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\u202eb", "a\u2028b", "a\u200bb", "a\x85b"])
def test_a_statement_with_an_escape_is_said_to_be_none(name: str) -> None:
    """Of what fails, of what changes, of what is left out."""
    plain = as_text(migration(FoundTable(("s", "t"), COUNTS_WITHIN, None), left_out=(("s.m", "DROP TABLE `s`.`m`; CREATE VIEW"),)))
    assert ESCAPED not in " ".join(plain.split())
    assert ESCAPED_NAMES not in " ".join(plain.split())
    failing = as_text(migration(FoundTable(("s", name), COUNTS_WITHIN, None)))
    converting = as_text(migration(FoundTable(("s", name), table(), None)))
    left_out = as_text(migration(left_out=((f"s.{name}", f"DROP TABLE `s`.`{name}`;"),)))
    for told in (failing, converting, left_out):
        assert name not in told
        lines = [line.strip() for line in told.splitlines()]
        shown = [number for number, line in enumerate(lines) if line == ESCAPED]
        assert shown
        assert all(";" in " ".join(lines[max(number - 3, 0) : number]) for number in shown)
        assert " ".join(told.split()).endswith(ESCAPED_NAMES)


def test_a_name_without_a_statement_is_told_once() -> None:
    """A name of a column in an error alone, and one that is left out."""
    odd = replace(COUNTS_WITHIN, columns=(integer("a"), replace(COUNTS_WITHIN.columns[1], name="b\x07")))
    for made in (migration(FoundTable(("s", "t"), odd, None)), migration(left_out=(("z\x07", "it is a view"),))):
        assert " ".join(as_text(made).split()).count(ESCAPED_NAMES) == 1
    assert ESCAPED not in as_text(migration(left_out=(("z\x07", "it is a view"),)))
