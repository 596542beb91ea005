"""Counters that somebody sets back while we look: nothing is told of rates that nobody knows, and nothing is called gone."""

from collections.abc import Callable

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import COUNTERS
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import silence_of
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.interval import RESET
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.target import Target
from tests.support.daemon import wait_for
from tests.support.servers import status_number

KEY_CACHE_RULE, OF_COUNTERS, OF_HEADERS = "key-buffer-too-small", "temporary-tables-on-disk", "table-crashed"


@pytest.mark.parametrize(("statement", "lacking", "known"), [
    ("FLUSH STATUS", {KEY_CACHE_RULE, OF_COUNTERS}, {OF_HEADERS}),
    # Twice as large at the second look as at the first, and back behind it.
    ("SET GLOBAL key_buffer_size = 2 * @@GLOBAL.key_buffer_size", {KEY_CACHE_RULE}, {OF_COUNTERS, OF_HEADERS}),
    ("DO 1", set(), {KEY_CACHE_RULE, OF_COUNTERS, OF_HEADERS}),
])  # fmt: skip
def test_what_rests_on_counters_that_were_set_back_is_not_judged(flavour: PrivateServer, statement: str, lacking: set[str], known: set[str]) -> None:
    # A flush in the second of the start, or of the last flush, is none that the server's whole seconds would tell.
    assert wait_for(lambda: status_number(flavour, "Uptime") - status_number(flavour, "Uptime_since_flush_status") + 2 < status_number(flavour, "Uptime"), 20)
    before = flavour.execute("SELECT @@GLOBAL.key_buffer_size")[0][0]
    flavour.execute("CREATE DATABASE IF NOT EXISTS set_back", "CREATE TABLE set_back.t (id INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO set_back.t VALUES (1), (2), (3)")

    def observe(_seconds: float, _readings: int, _read: Callable[[], None]) -> None:
        flavour.execute("SELECT * FROM set_back.t WHERE id = 2", statement)
        for _ in range(50):  # more than what was counted before is no growth
            flavour.execute("SELECT * FROM set_back.t WHERE id = 2")

    try:
        facts = collect_facts(Target("root", socket=flavour.socket), 1.0, 10, observe=observe)
    finally:
        flavour.execute(f"SET GLOBAL key_buffer_size = {before}", "DROP DATABASE set_back")
    judgement = judge(prepared(facts, Site(shipped_rules())))
    unjudged = {one.rule: one.why for one in judgement.not_evaluated}
    assert {name: unjudged.get(name) for name in lacking | known} == {**dict.fromkeys(lacking, RESET.reason), **dict.fromkeys(known)}
    assert [one.what for one in judgement.blind if one.what == COUNTERS] == ([COUNTERS] if lacking else [])
    silence = silence_of(judgement, facts.interval_seconds)
    assert {name for name in lacking | known if silence.says_gone((name, ""))} == known
