"""The lines of my.cnf, with what they replace."""

import configparser

from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook


def test_the_lines_stand_in_the_servers_section(on_mysql: RecordedLook) -> None:
    text = plan_text("cnf", plan_of(on_mysql))
    read = configparser.ConfigParser()
    read.read_string(text)
    assert dict(read["mysqld"]) == {"myisam_recover_options": "BACKUP,QUICK", "table_open_cache": "400"}
    # A statement sets the second at once.
    assert "# recovery-disabled; now: OFF; takes effect at the next restart\n" in text
    assert "# table-cache-too-small; now: 64\n" in text


def test_nothing_to_set_is_a_comment(look: RecordedLook) -> None:
    lines = plan_text("cnf", plan_of(look, [])).splitlines()
    assert lines[-1] == "# nothing to set"
    assert all(line.startswith("#") for line in lines)
