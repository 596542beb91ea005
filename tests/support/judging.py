"""What all shipped rules say of facts: in one database for all tests of a worker, where their statements are prepared once. That takes a third of judging few tables.

That a database which held other facts before changes no judgement, tests/rules/test_cases.py asks.
"""

from typing import Any

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.proofs.store import NO_PROOFS, KeptProofs
from myisam_exporter.look.fact_set import FactSet

_SITE = Site(shipped_rules())
_DATABASE = FactDatabase(of_many=True)


def judged_facts(facts: FactSet, proofs: KeptProofs = NO_PROOFS) -> Judgement:
    """As `judge` on a site of its own with nothing configured."""
    return judge(prepared(facts, _SITE, proofs), _DATABASE)


def judged_document(document: dict[str, Any], proofs: KeptProofs = NO_PROOFS) -> Judgement:
    """The same of facts as a file has them, without the schema's number."""
    return judged_facts(facts_from_document({"schema": 1, **document}), proofs)
