"""What of a trial's result is kept, and how that is said."""

import io
from pathlib import Path
from unittest.mock import Mock

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.cli.kept_trials import (
    Ground,
    Keeping,
    TriedTable,
    keep,
    keep_trial,
    proofs_of_trial,
    statements_per_second,
)
from myisam_advisor.proofs.store import ProofStore
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_exporter.server.session import Session
from tests.support.proofs import NOW, kind, proof


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


GROUND = Ground("ab12", TriedTable("log", "a b", "log.`a b`", 4096, ""), 25.0)


def result(experiment: str = "row-format", rounds: int = 6) -> TrialResult:
    old, fixed = [Run(1.0, 100.0)] * rounds, [Run(1.0, 200.0)] * rounds
    runs = {"ROW_FORMAT=DYNAMIC": old, "ROW_FORMAT=FIXED": fixed}
    workloads = [WorkloadResult("full scan", "rows", runs), WorkloadResult("inserts of 100 rows", "rows", {**runs, "ROW_FORMAT=FIXED": old})]
    return TrialResult(experiment, "MariaDB", "10.11.6-MariaDB", "log.`a b`", [], workloads, "Faster.")


def test_the_variant_that_a_rule_recommends_is_its_proof() -> None:
    (made,) = proofs_of_trial(result(), GROUND, shipped_rules(), NOW)
    assert (made.rule_id, made.verdict, made.times) == ("fixed-row-format", "worth it", 2.0)
    assert made.change == ("ALTER TABLE `log`.`a b` ROW_FORMAT=FIXED;",)
    assert made.objects == ("log.`a b`",)
    assert [(one.fingerprint, one.verdict) for one in made.kinds] == [("full scan", "worth it"), ("inserts of 100 rows", "no difference")]
    assert (made.workload.statements_per_second, made.workload.tables, made.server) == (25.0, {"log.`a b`": 4096}, "ab12")
    assert made.structures == ()


@pytest.mark.parametrize(("uptime", "questions", "told"), [(7200.0, 1800.0, 0.25), (3600.0, 0.0, 0.0), (3599.0, 1800.0, None), (None, 1800.0, None), (7200.0, None, None)])
def test_the_load_is_what_the_server_had_since_its_start_an_hour_ago_or_more(uptime: float | None, questions: float | None, told: float | None) -> None:
    session = Mock(spec=Session)
    session.status_number.side_effect = {"Uptime": uptime, "Questions": questions}.get
    assert statements_per_second(session) == told


def test_too_few_rounds_and_other_experiments_prove_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert list(proofs_of_trial(result(rounds=1), GROUND, shipped_rules(), NOW)) == []
    said = keep_trial(result("columns"), GROUND)
    assert said.kept == ()
    assert list(said.in_words()) == ["Not kept: no rule's advice is decided by what was measured of columns here."]
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_kept_is_said_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    said = keep([proof()], ProofStore(tmp_path / "state"))
    assert said.kept == ()
    assert said.as_values() == {"kept": [], "not_kept": said.why_not}
    assert "is not a directory" in said.why_not


def test_where_it_is_kept_is_said(tmp_path: Path) -> None:
    made = proof()
    said = keep([made], ProofStore(tmp_path / "proofs"))
    path = f"{tmp_path}/proofs/{made.id}.json"
    sentence = f"Kept as proof {made.id} for pack-keys: check, plan and the page now use it. It is in"
    assert list(said.in_words()) == [sentence, path]
    assert said.as_text() == f"{sentence}\n{path}\n"
    assert Keeping().as_text() == ""
    assert Keeping().as_values() == {"kept": [], "not_kept": None}


def test_a_path_is_never_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in (("COLUMNS", "80"), ("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(variable, value)
    for path in (f"/var/lib/myisam-advisor/{'x' * 40}/proofs/8bbe4f7cbe4519f.json", f"/{'y' * 100}/proofs/8bbe4f7cbe4519f.json", "/with blanks " * 9 + "/1.json"):
        lines = Keeping((("pack-keys", "8bbe4f7cbe4519f", path),)).as_text(Terminal()).splitlines()
        assert lines[-1] == path
        assert max(map(len, lines[:-1])) <= 80


def test_of_what_is_not_clear_nothing_is_promised(tmp_path: Path) -> None:
    store = ProofStore(tmp_path / "proofs")
    unclear = proof(verdict="unclear")
    said, _ = keep([unclear], store).in_words()
    assert ": its result is not clear, so nothing uses it." in said
    keep([proof()], store)
    refused = keep([unclear], store)
    assert refused.kept == ()
    assert next(iter(refused.in_words())).startswith("Not kept: a clearer proof of pack-keys is kept")
    # A trial with a clear workload decides findings that are about it, and one that gained here and lost there is no noise.
    mixed = proof(verdict="unclear", kinds=[kind("reads", 1.4, "worth it"), kind("writes", 0.5, "worse")])
    said, _ = keep([mixed], store).in_words()
    assert "now use it" in said
