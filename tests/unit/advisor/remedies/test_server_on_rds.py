"""A server that Amazon runs: there is no my.cnf, and nobody may set a global variable."""

import pytest

from myisam_advisor.remedies.amazon_rds import IN_PARAMETER_GROUP, is_of_amazon
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.statements.tables import OptimizeTable
from myisam_advisor.remedies.statements.variables import set_global

from .test_remedy_gate import TABLE, admitted

RDS = {"data_directory": "/rdsdbdata/db/"}


@pytest.mark.parametrize("server", [RDS, {"data_directory": "/var/lib/mysql/"}, {}])
def test_variables_are_set_in_the_parameter_group_there_and_nowhere_else(server: dict[str, str]) -> None:
    of_a_variable = [
        admitted(set_global("key_buffer_size", 9), server=server),
        admitted(my_cnf=(option_line("key_buffer_size", 9),), server=server),
    ]
    assert [IN_PARAMETER_GROUP in one.cost for one in of_a_variable] == [server is RDS] * 2
    assert IN_PARAMETER_GROUP not in admitted(OptimizeTable(TABLE), server=server).cost


@pytest.mark.parametrize(
    ("server", "variables", "is_amazons"),
    [
        ({"data_directory": "/rdsdbdata/db/"}, {}, True),
        ({}, {"datadir": "/rdsdbdata/db/"}, True),
        ({}, {"basedir": "/rdsdbbin/mariadb-10.11.8.R1/"}, True),
        ({"data_directory": None}, {"datadir": "/var/lib/mysql/", "basedir": "/usr/"}, False),
        ({}, {"datadir": "/srv/rdsdbdata/"}, False),
        # Moved away from there with all its paths.
        ({"data_directory": "/rdsdbdata/db/", "local": 1}, {"datadir": "/rdsdbdata/db/"}, False),
        ({"data_directory": "/rdsdbdata/db/", "local": 0}, {}, True),
    ],
)
def test_its_directories_tell(server: dict[str, str | None], variables: dict[str, str], is_amazons: bool) -> None:
    assert is_of_amazon(server, variables) is is_amazons
