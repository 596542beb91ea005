"""What a refused change costs: nothing here, and that is said before what it costs elsewhere."""

from myisam_advisor.remedies.gate import NOTHING_PAID
from myisam_advisor.remedies.statements.variables import set_global

from .test_remedy_gate import TO_INNODB, admitted


def test_of_what_is_refused_the_cost_says_first_that_nothing_is_paid_here() -> None:
    assert admitted(TO_INNODB, variable={"wsrep_on": "ON"}).cost_before == NOTHING_PAID
    assert admitted(TO_INNODB).cost_before == ""
    old = {"flavour": "mysql", "version": "5.0.96", "version_number": 50096}
    assert admitted(set_global("key_buffer_size", 9), server=old).cost_before == "", "its refusal names the file, where it costs the same"
