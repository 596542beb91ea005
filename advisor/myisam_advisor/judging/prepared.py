"""Facts made ready for judging, once: what follows from others is filled in, and what the site ignores is left out."""

from __future__ import annotations

from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.nameless import with_names
from myisam_advisor.proofs.store import NO_PROOFS, KeptProofs
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.look.fact_set import FactSet


@dataclass(frozen=True, slots=True)
class PreparedFacts:
    """What a judgement is made of. `prepared` makes it.

    `complete` holds what the server has, with the facts that follow from others; `judged` the same without the databases that the site ignores;
    `proofs` is what was proved here, at the moment of the look.
    """

    complete: FactSet
    judged: FactSet
    site: Site
    proofs: KeptProofs


def prepared(facts: FactSet, site: Site, proofs: KeptProofs = NO_PROOFS) -> PreparedFacts:
    """The facts of one look, as this site wants them judged.

    Completed first: a sum that a collector gave covers the ignored databases too, and so must one that is worked out here before they are taken off.
    """
    everything = with_names(complete(facts))
    return PreparedFacts(everything, site.without_ignored_schemas(everything), site, proofs)
