"""What was not seen: no report takes silence about it for health."""

import json
from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.blindness import blind_spots
from myisam_advisor.judging.findings import Blind, Finding, Judgement, NotEvaluated
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import not_seen, verdict_of
from myisam_advisor.munin.document import document as munin_document
from myisam_advisor.reports.formats import nagios
from myisam_advisor.reports.formats.base import Shown, report_named
from myisam_advisor.reports.page.look import look_at
from myisam_advisor.reports.page.render import render
from myisam_advisor.reports.page.view import view_of
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet
from tests.support.healthy import healthy_facts

SERVER = {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": 864000}
TABLE = {"schema_name": "shop", "table_name": "orders", "row_format": "fixed", "rows": 1000, "data_bytes": 20000, "index_bytes": 20000, "crashed": 0, "has_holes": 0}
BUSY = {"Questions": 500, "Com_update": 20}
SEEN = {"server": SERVER, "interval_seconds": 10, "status_per_second": BUSY, "tables": [TABLE], "variable": {"myisam_recover_options": "BACKUP,QUICK"}, "host": {"memory_bytes": 8 << 30, "memory_available_bytes": 4 << 30, "swap_in_bytes_per_second": 0, "swap_out_bytes_per_second": 0}}


def facts_of(**document: Any) -> FactSet:
    return facts_from_document({"schema": 1, **document})


def judged(**document: Any) -> tuple[Judgement, FactSet]:
    facts = facts_of(**document)
    return judge(prepared(facts, Site(shipped_rules()))), facts


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def printed(judgement: Judgement, facts: FactSet, form: str) -> str:
    return report_named(form).render(judgement, facts, Shown())


@pytest.mark.parametrize(("known", "headline"), [({"totals": {"myisam_tables": 0}}, "MyISAM is not used here. Other engines are not judged."), ({"key_cache": [{"name": "default", "size_bytes": 8388608, "block_size_bytes": 1024, "blocks_used": 0, "read_requests": 0, "write_requests": 0}]}, "MyISAM is hardly used here. Other engines are not judged.")])
def test_a_server_of_another_engine_gets_no_all_clear(known: dict[str, Any], headline: str) -> None:
    """Whatever holds its InnoDB tables back, nobody asked."""
    judgement, facts = judged(**without(SEEN, "tables"), **known)
    verdict = verdict_of(replace(judgement, blind=[]), facts.interval_seconds)
    assert (verdict.headline, verdict.tone) == (headline, "info")
    assert "Nothing holds this server back" not in printed(replace(judgement, blind=[]), facts, "text")


def test_a_server_that_is_seen_and_at_work_gets_its_all_clear() -> None:
    judgement, facts = judged(**healthy_facts())
    assert not judgement.blind
    assert verdict_of(judgement, facts.interval_seconds).tone == "good"
    assert "Nothing to change." in printed(judgement, facts, "text")
    assert nagios.exit_status(judgement, facts, Shown()) == 0


def test_silence_of_most_rules_is_no_health() -> None:
    judgement, facts = judged(**SEEN)
    assert not judgement.blind
    verdict = verdict_of(judgement, facts.interval_seconds)
    assert (verdict.kind, verdict.tone) == ("unknown", "unknown")
    assert verdict.headline.startswith(f"Nothing was found, but only {len(judgement.quiet)} rules could judge; ")
    assert "Nothing to change" not in printed(judgement, facts, "text")
    first, *details = printed(judgement, facts, "nagios").splitlines()
    assert first.startswith(f"MYISAM UNKNOWN - {verdict.headline} | ")
    assert any(line.startswith("NOT KNOWN ") for line in details), "what the headline says is below"
    assert [nagios.exit_status(judgement, facts, Shown(unknown_as=one)) for one in ("ok", "warning", "unknown")] == [0, 1, 3]


@pytest.mark.parametrize("hint", ["statistics-never-collected", "insufficient-sample"])
def test_a_hint_makes_no_health_of_the_silence_of_most_rules(hint: str) -> None:
    """The example of a facts file that people copy: 141 requests, and next to nothing else. Nagios was told that all was well."""
    told = Finding(hint, "A hint", "info", "confirmed", "key_cache", "default", None, "Too little.", (), "", "", "", "", "", ())
    found = Judgement(quiet=["a rule"], findings=[told], not_evaluated=[NotEvaluated(f"rule {number}", "a fact") for number in range(3)])
    verdict = verdict_of(found, 10.0)
    assert (verdict.kind, verdict.is_idle) == ("unknown", False)
    assert verdict.headline.startswith("Nothing serious was found, but only 2 rules could judge; 3 lack a fact")
    assert nagios.exit_status(found, facts_of(**SEEN), Shown()) == 3
    # Where most could judge, little activity pages nobody, and a hint is no state.
    assert nagios.exit_status(replace(found, not_evaluated=found.not_evaluated[:2]), facts_of(**SEEN), Shown()) == 0


@pytest.mark.parametrize(("quiet", "lacking", "kind"), [(2, 2, "nothing"), (2, 3, "unknown")])
def test_as_many_rules_that_judged_as_lack_a_fact_are_a_verdict(quiet: int, lacking: int, kind: str) -> None:
    judgement = Judgement(quiet=["a rule"] * quiet, not_evaluated=[NotEvaluated(f"rule {number}", "a fact") for number in range(lacking)])
    assert verdict_of(judgement, 10.0).kind == kind


@pytest.mark.parametrize(("per_second", "is_idle"), [
    ({"Questions": 0.9}, True), ({"Questions": 1.0}, False),
    ({"Questions": 0.5, "Handler_read_next": 1999.0}, True), ({"Questions": 0.5, "Handler_read_next": 1000.0, "Handler_read_rnd_next": 1000.0}, False),
    ({"Questions": 0.5, "Key_read_requests": 99.0}, True), ({"Questions": 0.5, "Key_read_requests": 100.0}, False),
])  # fmt: skip
def test_a_statement_a_second_or_what_they_read_is_a_load(per_second: dict[str, float], is_idle: bool) -> None:
    spots = blind_spots(facts_of(**{**SEEN, "status_per_second": per_second}), ())
    assert [spot.what for spot in spots] == ["load"] * is_idle


def test_a_time_without_a_statement_is_told_in_few_words() -> None:
    (spot,) = blind_spots(facts_of(**{**SEEN, "status_per_second": {"Questions": 0.0, "Com_insert": 0.0}}), ())
    assert spot.sentence == "There was hardly any activity: not one statement in 10 s."


@pytest.mark.parametrize(
    ("connections", "meanwhile", "remedy"),
    [
        ([("Query", 2, 45), ("Execute", 1, 10), ("Query", 7, 9), ("Sleep", 50, 900), ("Binlog Dump", 1, 9000)], ", while 3 are under way, the longest for 45 s", "see what holds them up: SHOW FULL PROCESSLIST"),
        ([("Query", 1, 12)], ", while 1 is under way for 12 s", "see what holds them up: SHOW FULL PROCESSLIST"),
        ([("Query", 1, None), ("Query", 1, 9)], "", "look again under load, over a longer time: myisam-advisor check --interval 5min"),
    ],
)  # fmt: skip
def test_statements_that_do_not_end_are_told_beside_a_quiet_time(connections: list[tuple[str, int, int | None]], meanwhile: str, remedy: str) -> None:
    """As those of writers that wait until a replica has acknowledged: they are counted once they end."""
    processlist = [{"schema_name": f"d{place}", "state": "", "command": command, "threads": threads, "longest_seconds": seconds} for place, (command, threads, seconds) in enumerate(connections)]
    (spot,) = blind_spots(facts_of(**{**SEEN, "status_per_second": {"Questions": 0.0}}, processlist=processlist), ())
    assert (spot.sentence, spot.remedy) == (f"There was hardly any activity: not one statement in 10 s{meanwhile}.", remedy)


@pytest.mark.parametrize("known", [{"interval_seconds": None}, {"status_per_second": {"Com_update": 0.1}}, {"totals": {"myisam_tables": 0}}])
def test_where_nobody_counted_or_nothing_could_be_counted_there_is_no_word_of_a_quiet_time(known: dict[str, Any]) -> None:
    idle = {**SEEN, "status_per_second": {"Questions": 0.4}}
    assert [spot.what for spot in blind_spots(facts_of(**idle), ())] == ["load"]
    assert blind_spots(facts_of(**{**idle, **known}), ()) == ()


@pytest.mark.parametrize(
    ("asked", "own", "writes", "said"),
    [(0.1, 0.0, 0.1, "1 statement, 1 of them writes, in 10 s"), (0.9, 0.5, 0.2, "4 statements, 2 of them writes, in 10 s"), (0.2, 0.5, 0.2, "not one statement in 10 s"), (0.4, None, -3.0, "4 statements, 0 of them writes, in 10 s")],
)
def test_what_others_asked_is_told(asked: float, own: float | None, writes: float, said: str) -> None:
    facts = {**SEEN, "server": {**SERVER, "own_statements_per_second": own}, "status_per_second": {"Questions": asked, "Com_insert": writes}}
    (spot,) = blind_spots(facts_of(**facts), ())
    assert spot.sentence == f"There was hardly any activity: {said}."
    assert (spot.why, spot.remedy) == ("So quiet a time says little about the load", "look again under load, over a longer time: myisam-advisor check --interval 5min")


def lacking(*rules: str, facts: tuple[str, ...] = ("tables.crashed",)) -> list[NotEvaluated]:
    return [NotEvaluated(rule, "the tables", facts=facts) for rule in rules]


@pytest.mark.parametrize(
    ("not_evaluated", "said", "rules"),
    [
        ([], "Tables cannot be seen.", ()),
        (lacking("a"), "Tables cannot be seen: 1 rule could not judge.", ("a",)),
        (lacking("table-crashed"), "Tables cannot be seen: 1 rule could not judge.", ("table-crashed",)),
        (lacking("a", "table-crashed"), "Tables cannot be seen: 2 rules, table-crashed among them, could not judge.", ("a", "table-crashed")),
        (lacking("a", "b"), "Tables cannot be seen: 2 rules could not judge.", ("a", "b")),
        (lacking("a", facts=("indexes.name", "totals.rows")), "Tables cannot be seen: 1 rule could not judge.", ("a",)),
        (lacking("a", facts=("tables.rows", "host.memory_bytes")), "Tables cannot be seen.", ()),
        (lacking("a", facts=()), "Tables cannot be seen.", ()),
    ],
)  # fmt: skip
def test_rules_that_lack_nothing_but_tables_are_counted(not_evaluated: list[NotEvaluated], said: str, rules: tuple[str, ...]) -> None:
    (spot,) = blind_spots(facts_of(**without(SEEN, "tables")), not_evaluated)
    assert (spot.what, spot.sentence, spot.rules) == ("tables", said, rules)
    assert spot.why[0].isupper()


@pytest.mark.parametrize("is_local", [0, 1, None])
def test_who_looks_from_elsewhere_is_sent_to_the_servers_host(is_local: int | None) -> None:
    facts = facts_of(**{**without(SEEN, "tables"), "server": SERVER | {"local": is_local}})
    (spot,) = blind_spots(replace(facts, unknown={**facts.unknown, "totals.myisam_tables": Unknown("nobody said why")}), ())
    assert spot.why == "Nobody said why"
    assert spot.remedy == ("on the server's own host: sudo myisam-advisor check" if is_local == 0 else "")
    (spot,) = blind_spots(replace(facts, unknown={**facts.unknown, "totals.myisam_tables": Unknown("it is off", "switch it on")}), ())
    assert (spot.why, spot.remedy) == ("It is off", "switch it on")


def test_no_interval_could_tell_more_of_tables_that_are_not_there() -> None:
    seen = {"totals": {"myisam_tables": 0}, "key_cache": [{"name": "default", "blocks_used": 0}]}
    judgement, facts = judged(**seen, interval_seconds=None)
    assert "no-myisam" in [one.rule for one in judgement.findings]
    assert verdict_of(judgement, None).headline == "MyISAM is not used here. Other engines are not judged."
    assert not_seen(judgement, None) == []
    assert printed(judgement, facts, "nagios").startswith("MYISAM OK - MyISAM is not used here.")
    unsure = Judgement([replace(judgement.findings[0], confidence="suspected")], quiet=["a rule"])
    assert verdict_of(unsure, None).headline == "Not known yet: rates need an interval."


def test_of_the_statements_of_a_quiet_time_no_more_are_writes_than_there_were() -> None:
    (spot,) = blind_spots(facts_of(**{**SEEN, "status_per_second": {"Questions": 0.4, "Com_insert": 0.9, "Com_update": 0.3}}), ())
    assert "4 statements, 4 of them writes, in 10 s" in spot.sentence


def test_that_little_happened_contradicts_no_fault_that_was_found() -> None:
    fault = Finding("table-crashed", "A table is crashed", "critical", "confirmed", "table", "a.b", None, "It cannot be read.", (), "", "", "", "", "", ())
    spots = [Blind("load", "There was hardly any activity.", "", ""), Blind("tables", "Tables cannot be seen.", "", "")]
    assert verdict_of(Judgement(findings=[fault], blind=spots), 10.0).detail == "It cannot be read. Tables cannot be seen."


def test_a_look_without_an_interval_is_unknown_to_nagios_too() -> None:
    judgement, facts = judged(**without(healthy_facts(), "interval_seconds"))
    assert not judgement.blind
    assert printed(judgement, facts, "nagios").startswith("MYISAM UNKNOWN - Not known yet: rates need an interval. | ")
    assert nagios.exit_status(judgement, facts, Shown()) == 3


def test_nobody_is_paged_for_too_small_a_sample() -> None:
    judgement, facts = judged(**healthy_facts())
    sample = Finding("insufficient-sample", "Too little activity", "info", "confirmed", "key_cache", "default", None, "9 requests: too few.", (), "", "", "", "", "", ())
    idle = replace(judgement, findings=[sample])
    assert verdict_of(idle, facts.interval_seconds).kind == "unknown"
    assert printed(idle, facts, "nagios").startswith("MYISAM OK - Too little activity.")
    assert nagios.exit_status(idle, facts, Shown()) == 0


@pytest.mark.parametrize(
    ("document", "what", "said"),
    [
        (without(SEEN, "tables"), "tables", "Tables cannot be seen"),
        (SEEN | {"server": SERVER | {"local": 0}}, "tables", "Only 1 of the tables can be seen"),
        (SEEN | {"status_per_second": {"Questions": 0.4, "Com_insert": 0.1}}, "load", "There was hardly any activity: 4 statements, 1 of them writes, in 10 s"),
        (SEEN | {"status_per_second": {"Questions": 8}, "server": SERVER | {"own_statements_per_second": 7.9}}, "load", "There was hardly any activity: 1 statement, 0 of them writes, in 10 s"),
    ],
    ids=["no tables", "a sample of the tables", "idle", "only we ourselves asked"],
)
def test_no_report_calls_blindness_health(document: dict[str, Any], what: str, said: str) -> None:
    judgement, facts = judged(**document)
    assert [spot.what for spot in judgement.blind] == [what]
    assert verdict_of(judgement, facts.interval_seconds).tone == "unknown"
    text = printed(judgement, facts, "text")
    assert said in " ".join(text.splitlines()[1:3])
    assert "Nothing to change" not in text
    first = printed(judgement, facts, "nagios").splitlines()[0]
    assert first.startswith(f"MYISAM UNKNOWN - {said}")
    assert [nagios.exit_status(judgement, facts, Shown(unknown_as=one)) for one in ("ok", "warning", "unknown")] == [0, 1, 3]
    assert [spot["what"] for spot in json.loads(printed(judgement, facts, "json"))["blind"]] == [what]
    metrics = printed(judgement, facts, "prometheus")
    assert f'myisam_advice_blind{{what="{what}"}} 1.0' in metrics
    assert 'myisam_advice_findings{severity="warning"}' not in metrics
    assert ('myisam_advice_findings{severity="critical"}' in metrics) == (what == "load")
    advice = munin_document([], judgement, interval_seconds=facts.interval_seconds)["advice"]
    assert advice["counts"]["warning"] is None
    assert advice["counts"]["critical"] == (0 if what == "load" else None)
    assert advice["verdict"].startswith(said)
    page = render(view_of(look_at(judgement, facts, 0.0)))
    assert f"<title>{said}" in page
    assert 'class="verdict unknown"' in page
    assert "Nothing to change" not in page


def test_one_table_out_of_sight_is_named_and_not_an_all_clear() -> None:
    """As MyiCollector tells it of a look whose other tables were read."""
    reason = Unknown("not all tables can be seen: shop.leak (it belongs to another user than the server's files)", "give them back")
    seen = facts_of(**SEEN)
    assert "totals" in seen.unknown
    facts = FactSet(seen.tables, {**without(dict(seen.unknown), "totals"), "totals.myisam_tables": reason}, seen.interval_seconds)
    judgement = judge(prepared(facts, Site(shipped_rules())))
    (spot,) = judgement.blind
    assert (spot.what, spot.remedy, spot.rules) == ("tables", "give them back", ())
    assert "table-crashed" in judgement.quiet
    assert verdict_of(judgement, facts.interval_seconds).tone == "unknown"
    first = printed(judgement, facts, "nagios").splitlines()[0]
    assert first.startswith("MYISAM UNKNOWN - Not all tables can be seen: shop.leak")
    text = printed(judgement, facts, "text")
    assert "1 MyISAM table seen, more are hidden" in text
    assert "Nothing to change" not in text
    assert "<title>Not all tables can be seen: shop.leak" in render(view_of(look_at(judgement, facts, 0.0)))


@pytest.mark.parametrize(("rules", "said"), [(1, "1 rule quiet"), (2, "2 rules quiet")])
def test_one_quiet_rule_is_one_rule(rules: int, said: str) -> None:
    judgement, facts = judged(**SEEN)
    few = replace(judgement, quiet=judgement.quiet[:rules], not_evaluated=[])
    assert printed(few, facts, "nagios").startswith(f"MYISAM OK - {said} |")
    page = " ".join(render(view_of(look_at(few, facts, 0.0))).split())
    assert f"{said.removesuffix(' quiet')} found nothing." in page


def test_the_headline_counts_the_rules_that_could_not_judge_and_names_the_gravest() -> None:
    judgement, facts = judged(**without(SEEN, "tables"))
    (spot,) = judgement.blind
    assert "table-crashed" in spot.rules
    assert set(spot.rules) <= {outcome.rule for outcome in judgement.not_evaluated}
    assert verdict_of(judgement, facts.interval_seconds).headline == f"Tables cannot be seen: {len(spot.rules)} rules, table-crashed among them, could not judge."


def test_a_rule_on_tables_is_not_quiet_where_it_had_none_to_look_at() -> None:
    on_tables = {rule.id for rule in shipped_rules() if rule.scope in ("table", "index")}
    assert len(on_tables) > 5
    blind, _ = judged(**without(SEEN, "tables"))
    assert not on_tables & set(blind.quiet)
    seen, _ = judged(**SEEN)
    assert on_tables & set(seen.quiet)


def test_what_could_not_be_looked_at_is_not_hidden_by_a_suspicion_that_nobody_uses_it() -> None:
    cache = {"name": "default", "size_bytes": 134217728, "block_size_bytes": 1024, "blocks_used": 2, "read_requests": 5, "reads": 2, "write_requests": 0, "writes": 0}
    judgement, facts = judged(**without(SEEN, "tables") | {"key_cache": [cache]})
    assert [finding.rule for finding in judgement.findings] == ["no-myisam"]
    assert "table-crashed" in {outcome.rule for outcome in judgement.not_evaluated}
    assert verdict_of(judgement, facts.interval_seconds).headline.startswith("Tables cannot be seen")
    young, _ = judged(**without(SEEN, "tables") | {"key_cache": [cache], "server": SERVER | {"uptime_seconds": 30}})
    assert "no-myisam" not in {finding.rule for finding in young.findings}


def test_a_server_without_tables_is_not_blind_however_little_it_does() -> None:
    judgement, facts = judged(server=SERVER, interval_seconds=10, totals={"myisam_tables": 0}, status_per_second={"Questions": 0})
    assert not judgement.blind
    assert [finding.rule for finding in judgement.findings] == ["no-myisam"]
    assert nagios.exit_status(judgement, facts, Shown()) == 0


def test_a_fault_that_was_found_comes_before_what_was_not_seen() -> None:
    crashed = SEEN | {"tables": [TABLE | {"crashed": 1}], "status_per_second": {"Questions": 0.1}}
    judgement, facts = judged(**crashed)
    verdict = verdict_of(judgement, facts.interval_seconds)
    assert (verdict.headline, verdict.tone) == ("A table is crashed.", "critical")
    assert nagios.exit_status(judgement, facts, Shown()) == 2
    page = render(view_of(look_at(judgement, facts, 0.0)))
    assert "<title>A table is crashed." in page
    assert 'class="verdict critical"' in page
