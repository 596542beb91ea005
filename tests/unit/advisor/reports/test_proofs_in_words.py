"""The list of proofs, as a person reads it: names from outside steer no terminal."""

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.proofs.proof import server_key
from myisam_advisor.proofs.settled import server_of
from myisam_advisor.proofs.store import KeptProofs
from myisam_advisor.reports.proofs_in_words import NOTHING, OTHER_SERVER, as_text, standings
from tests.support.proofs import NOW, kept

FACTS = complete(facts_from_document({"schema": 1, "server": {"hostname": "db1", "data_directory": "/data/"}, "variable": {"port": 3306}}))
HERE = server_key("db1", 3306, "/data/")


def listed(known: KeptProofs, not_looked: str = "") -> str:
    return as_text(standings(known, FACTS, server_of(FACTS)), known, not_looked)


def test_each_says_what_when_and_what_follows() -> None:
    text = listed(kept([{"server": HERE, "server_product": "MariaDB", "server_version": "10.11.6-MariaDB", "structures": ["00ff"]}]))
    assert text.splitlines()[:5] == [
        "pack-keys: worth it, 1.4 times, 1.3 to 1.5",
        "  11 November, trial pack-keys on log.hits, MariaDB 10.11.6",
        "  ALTER TABLE `log`.`hits` PACK_KEYS=0;",
        "  holds: the change is recommended where the finding holds",
        f"  id {kept([{'server': HERE}]).proofs[0].id}",
    ]


def test_one_from_before_structures_were_noted_says_that_it_does_not_know() -> None:
    said = "whether its tables have the columns and indexes of then is not known: it was made before these were noted"
    assert said in " ".join(listed(kept([{"server": HERE}])).split())
    assert "not known" not in listed(kept([{"server": HERE, "structures": ["00ff"]}]))


def test_what_is_of_another_server_or_too_old_says_so() -> None:
    text = listed(kept([{"server": "another"}, {"server": HERE, "days": 100}]))
    assert f"not used any more: {OTHER_SERVER}" in text
    assert "not used any more: it is 100 days old (90 at most)" in text


def test_where_no_server_was_looked_at_nothing_is_said_to_hold_on_it() -> None:
    """A proof that was copied from another server read "holds: the change is recommended"."""
    known = kept([{"server": "another"}])
    text = " ".join(as_text(standings(known, None, ""), known, "no server answers").split())
    assert " valid as far as its age shows, if it is of this server: the change is recommended" in text
    assert " holds: " not in text


def test_an_unclear_one_says_what_took_its_verdict() -> None:
    """1.03 to 2.75 was unclear, and nobody could see why."""
    disturbed = {"server": HERE, "experiment": "replay", "verdict": "unclear", "times": 1.68, "low": 1.03, "high": 2.75}
    assert "nothing follows, as others had the processors: repeat it at a quieter time" in " ".join(listed(kept([disturbed])).split())
    assert "others had" not in listed(kept([{**disturbed, "low": 0.8}]))


def test_nothing_says_how_to_have_something() -> None:
    assert listed(KeptProofs(now=NOW)).split() == NOTHING.split()


def test_hostile_names_are_escaped_and_refused_files_named() -> None:
    known = kept([{"objects": ["log.\x1b[31m"], "rule_id": "pack\x1b]0;x\x07"}])
    text = listed(KeptProofs(known.proofs, ("/x/0.json\x1b is not used",), NOW), "no server\x1b")
    assert "\x1b" not in text
    assert "/x/0.json\\x1b is not used" in text
    assert "was not looked at: no server\\x1b" in text
