"""Names of tables are anybody's: no form of the report steers a terminal by them."""

import io

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.cli.commands.check import REPORTS
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown, report_named


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("form", REPORTS)
def test_names_cannot_steer_a_terminal(form: str) -> None:
    document = {"schema": 1, "tables": [{"schema_name": "s", "table_name": "\x1b]0;x\x07\x9b\u202e\nz", "row_format": "fixed", "crashed": 1, "recovery_failed": 0}]}
    facts = complete(facts_from_document(document))
    judgement = judge(prepared(facts, Site(shipped_rules())))
    text = report_named(form).render(judgement, facts, Shown(reader=Terminal(), verbose=True))
    assert [sign for sign in ("\x1b]", "\x07", "\x9b", "\u202e", "\nz") if sign in text] == []
    assert "table-crashed" in text
