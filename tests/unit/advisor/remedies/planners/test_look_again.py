"""The line that shows one table's pieces and holes, whatever its name."""

import shlex

import pytest

from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.remedies.planners.look_again import NO_LINE
from tests.support.planning import MARIADB, facts, planned


@pytest.mark.parametrize("name", ["orders", "od`d $(name)", 'a"b', "it's", "naïve", "a;b -- c", "100%"])
def test_a_shell_and_sqlite_read_the_name_as_it_is(name: str) -> None:
    row = {"schema_name": "shop", "table_name": name}
    known = facts(server=MARIADB, tables=[row | {"fragments_per_row": 1.5, "free_bytes": 7}, {"schema_name": "shop", "table_name": "x", "free_bytes": 9}])
    program, command, asked = shlex.split(str(planned("look_again", row, known).values["look"]))
    assert (program, command) == ("myisam-advisor", "query")
    assert FactDatabase().holding(known).query(asked).rows == [(1.5, 7)]


@pytest.mark.parametrize("name", ["a\nb", "a\\b", "a\x1b[0m"])
def test_a_name_that_fits_in_no_line_is_left_out(name: str) -> None:
    assert planned("look_again", {"schema_name": "shop", "table_name": name}, facts(server=MARIADB)).values["look"] == NO_LINE
