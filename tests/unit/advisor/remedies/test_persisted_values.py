"""What SET PERSIST wrote wins over my.cnf, from MySQL 8.0 on: a line of my.cnf alone may change nothing."""

import pytest

from myisam_advisor.remedies.gate import PERSISTED_WINS
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.statements.variables import set_global

from .test_remedy_gate import admitted

LINE = option_line("key_buffer_size", 9)


@pytest.mark.parametrize(
    ("server", "is_told"),
    [
        ({"flavour": "mysql", "version": "8.0.11"}, True),
        ({"flavour": "percona", "version": "8.4.1"}, True),
        ({"flavour": "mysql", "version": "9.7.4", "data_directory": "/rdsdbdata/db/"}, False),
        ({"flavour": "mysql", "version": "5.7.44"}, False),
        ({"flavour": "mariadb", "version": "10.11.6"}, False),
        ({"version": "10.11.6"}, False),
        ({}, False),
    ],
)
def test_it_is_told_where_a_server_persists(server: dict[str, str], is_told: bool) -> None:
    assert (PERSISTED_WINS in admitted(my_cnf=(LINE,), server=server).cost) is is_told
    assert PERSISTED_WINS not in admitted(set_global("key_buffer_size", 9), server=server).cost
