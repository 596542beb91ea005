"""What of a replay's result is kept: each rule's change alone, with the kinds of statements."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from myisam_advisor.cli.kept_replays import keep_replay, proofs_of_replay
from myisam_advisor.proofs.document import proof_of, text_of
from myisam_advisor.proofs.recordings import Recording
from myisam_advisor.proofs.settled import tried_in_words
from myisam_advisor.proofs.store import ProofStore
from myisam_advisor.proofs.validity import still_valid
from myisam_advisor.trial.statements.replay_result import KindShare, Window
from tests.support.proofs import DAY, NOW


@dataclass(frozen=True)
class Variant:
    name: str
    rules: tuple[str, ...] = ("key-buffer-too-small",)
    statements: tuple[str, ...] = ("SET GLOBAL key_buffer_size = 536870912;",)
    times: float | None = 1.4
    low: float | None = 1.3
    high: float | None = 1.5
    verdict: str = "worth it"


@dataclass(frozen=True)
class Kind:
    fingerprint: str
    share: float
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class Result:
    variants: tuple[Variant, ...]
    kinds: tuple[Kind, ...] = ()
    server: str = "MariaDB"
    version: str = "10.11.6-MariaDB"
    tables: tuple[str, ...] = ("shop.orders",)
    taken_at: float = NOW
    further: dict[str, str] = field(default_factory=dict)


WHOLE = Window(10, 2.0, 10, 2.0, 1.0)


@dataclass(frozen=True)
class Faithful:
    window: Window = WHOLE
    differing_share: float = 0.0
    sender_cpu_share: float = 0.1
    lost_turns: int = 0


def test_each_rules_change_alone_is_a_proof_with_its_kinds() -> None:
    kinds = (Kind("select ?", 0.9, (Variant("one", times=2.0, high=2.1), Variant("other"))), Kind("insert", 0.1, (Variant("one", low=None),)))
    (made,) = proofs_of_replay(Result((Variant("one"),), kinds), "ab", 120.5, {"shop.orders": 4096})
    assert (made.rule_id, made.experiment, made.change) == ("key-buffer-too-small", "replay", ("SET GLOBAL key_buffer_size = 536870912;",))
    assert [(one.fingerprint, one.share, one.times) for one in made.kinds] == [("select ?", 0.9, 2.0)]
    assert (made.workload.statements_per_second, made.workload.tables, made.server) == (120.5, {"shop.orders": 4096}, "ab")
    assert proof_of(text_of(made)) == made


@pytest.mark.parametrize("variant", [Variant("x", rules=()), Variant("x", rules=("a", "b")), Variant("x", times=None), Variant("x", low=None)])
def test_several_changes_together_a_users_own_and_too_few_rounds_prove_nothing(variant: Variant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert keep_replay(Result((variant,)), "ab", None, {}).as_values() == {"kept": [], "not_kept": "no rule's change was measured with an interval."}
    assert len(keep_replay(Result((variant, Variant("one"))), "ab", None, {}).kept) == 1
    assert len(ProofStore(tmp_path / "proofs").current().proofs) == 1


def test_where_kinds_of_weight_were_not_replayed_nothing_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    absent = (KindShare("select late from t", 0.25, 0.0), KindShare("select later from t", 0.1, 0.0))
    keeping = keep_replay(Result((Variant("one"),)), "ab", None, {}, Faithful(Window(5, 1.0, 10, 2.0, 0.5, absent)))
    assert keeping.kept == ()
    assert keeping.why_not.startswith("statements with 35 % of the recording's time were not replayed")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("absent", [(), (KindShare("select late from t", 0.02, 0.0),)])
def test_a_part_of_a_recording_without_times_proves_nothing(absent: tuple[KindShare, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    result = Result((Variant("one"),))
    keeping = keep_replay(result, "ab", None, {}, Faithful(Window(5, 1.0, 10, 2.0, 0.5, absent, tells_times=False)))
    assert keeping.kept == ()
    assert "it has no times, so the weight of the rest is not known" in keeping.why_not
    assert len(keep_replay(result, "ab", None, {}, Faithful(Window(10, 2.0, 10, 2.0, 1.0, tells_times=False))).kept) == 1


def test_where_kinds_of_weight_could_not_be_sent_nothing_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    left_out = (KindShare("select a from big", 0.91, 0.91),)
    keeping = keep_replay(Result((Variant("one"),)), "ab", None, {}, Faithful(Window(100, 2.0, 100, 2.0, 1.0, left_out=left_out, sent_share=0.09)))
    assert keeping.kept == ()
    assert keeping.why_not.startswith("statements with 91 % of the recording's time could not be sent, and so nothing is proved")
    assert not list(tmp_path.iterdir())


def test_a_setting_of_the_server_wants_half_of_the_time_sent_and_a_table_of_its_own_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    table = Variant("table", ("fixed-row-format",), ("ALTER TABLE `shop`.`orders` ROW_FORMAT=FIXED",))
    little = Faithful(Window(100, 2.0, 100, 2.0, 1.0, sent_share=0.4))
    keeping = keep_replay(Result((Variant("one"), table)), "ab", None, {}, little)
    assert [rule for rule, _, _ in keeping.kept] == ["fixed-row-format"]
    for nothing_to_keep in (Variant("own", rules=()), Variant("short", low=None)):
        assert keep_replay(Result((nothing_to_keep,)), "ab", None, {}, little).why_not == "no rule's change was measured with an interval."
    assert keeping.why_not == "one: statements with 40 % of the recorded time were sent, and those say nothing of a setting of the whole server: 50 % do."


def test_where_many_were_answered_otherwise_nothing_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    keeping = keep_replay(Result((Variant("one"),)), "ab", None, {}, Faithful(differing_share=0.9))
    assert keeping.kept == ()
    assert keeping.why_not.startswith("statements with 90 % of the weight were not answered as recorded (5 % at most)")
    assert len(keep_replay(Result((Variant("one"),)), "ab", None, {}, Faithful(differing_share=0.05)).kept) == 1


def test_a_busy_sender_proves_no_equality_and_may_prove_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    equal = Variant("equal", times=1.0, low=0.99, high=1.01, verdict="no difference")
    keeping = keep_replay(Result((equal, Variant("one", ("pack-keys",)))), "ab", None, {}, Faithful(sender_cpu_share=0.31))
    assert [rule for rule, _, _ in keeping.kept] == ["pack-keys"]
    assert keeping.why_not.startswith("equal: the sender took 31 % of the CPU time, and may have hidden a difference")
    assert len(keep_replay(Result((equal,)), "ab", None, {}, Faithful(sender_cpu_share=0.3)).kept) == 1
    stood_still = keep_replay(Result((equal, Variant("one", ("pack-keys",)))), "ab", None, {}, Faithful(lost_turns=2))
    assert [rule for rule, _, _ in stood_still.kept] == ["pack-keys"]
    assert "waited in vain" in stood_still.why_not


def test_what_was_changed_is_kept_as_it_was_on_the_watched_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    table = Variant("table", ("fixed-row-format",), ("ALTER TABLE `shop`.`orders` ROW_FORMAT=FIXED", "--hot.key_buffer_size=1M"))
    keep_replay(Result((Variant("one"), table)), "ab", None, {}, variables={"key_buffer_size": "8388608", "sql_mode": ""})
    kept = {one.rule_id: one.before for one in ProofStore(tmp_path / "proofs").current().proofs}
    assert kept == {"key-buffer-too-small": {"key_buffer_size": "8388608"}, "fixed-row-format": {}}


@pytest.mark.parametrize(("structures", "kept"), [({"shop.orders": "a1"}, ("a1", "")), ({}, ())])
def test_what_its_tables_were_made_of_is_kept_in_their_order(structures: dict[str, str], kept: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    keep_replay(Result((Variant("one"),), tables=("shop.orders", "shop.words")), "ab", None, {}, structures=structures)
    assert [one.structures for one in ProofStore(tmp_path / "proofs").current().proofs] == [kept]


def test_a_replay_of_many_tables_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    names = tuple(f"shop.t{number}" for number in range(1000))
    keeping = keep_replay(Result((Variant("one"),), tables=names), "ab", None, dict.fromkeys(names, 4096))
    assert (len(keeping.kept), keeping.why_not) == (1, "")


@pytest.mark.parametrize(
    ("recording", "says"),
    [
        (Recording(NOW - 100 * DAY), "100 days old"), (Recording(NOW - DAY, "mysql", "8.0.36"), "the recording is of MySQL, and this server is MariaDB"),
        (Recording(NOW - DAY, "mariadb", "10.6.2-MariaDB"), "of version 10.6, and this server is 10.11"),
    ],
)  # fmt: skip
def test_an_old_or_a_foreign_recording_proves_nothing(recording: Recording, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    keeping = keep_replay(Result((Variant("one"),)), "ab", None, {}, None, recording)
    assert keeping.kept == ()
    assert says in keeping.why_not
    assert "record this server anew" in keeping.why_not
    assert not list(tmp_path.iterdir())


def test_the_days_of_a_proof_are_those_of_its_recording() -> None:
    (made,) = proofs_of_replay(Result((Variant("one"),)), "ab", None, {}, Recording(NOW - 60 * DAY, "mariadb", "10.11.2"))
    assert (made.taken_at, made.recorded_at) == (NOW, NOW - 60 * DAY)
    assert proof_of(text_of(made)) == made
    assert still_valid(made, None, NOW + 29 * DAY) is None
    assert still_valid(made, None, NOW + 31 * DAY) == "it is 91 days old (90 at most)"
    assert tried_in_words(made).startswith("a replay of statements recorded on 19 September on shop.orders")
    assert tried_in_words(replace(made, recorded_at=NOW)).startswith("a replay of recorded statements on shop.orders")


def test_where_writes_were_replayed_one_by_one_nothing_is_proved_of_changes_about_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    inserts = Variant("concurrent-insert-lock", ("concurrent-insert-lock",), ("concurrent_insert=2",))
    whole_seconds = Recording(NOW, "mariadb", "10.11.2", knows_moments=False)
    both = Variant("all that pay together", (*inserts.rules, "key-buffer-too-small"), inserts.statements)
    keeping = keep_replay(Result((inserts, Variant("one"), both)), "ab", None, {}, None, whole_seconds)
    assert [rule for rule, _, _ in keeping.kept] == ["key-buffer-too-small"]
    assert keeping.why_not.startswith("concurrent-insert-lock: the recording does not know to the microsecond when statements began and ended")
    assert keeping.why_not.endswith("record by the probe (--from probe).")
    assert keep_replay(Result((inserts,)), "ab", None, {}, None, whole_seconds).why_not == keeping.why_not
    assert len(keep_replay(Result((inserts,)), "ab", None, {}, None, Recording(NOW)).kept) == 1
