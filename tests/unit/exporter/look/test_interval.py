import pytest

from myisam_exporter.collectors.base import all_collectors, declared_columns
from myisam_exporter.collectors.key_caches import KeyCache, usable_bytes
from myisam_exporter.collectors.myi import HIDDEN_STATEMENTS
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.errors import ServerLostError
from myisam_exporter.facts.columns import TABLES
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.look.interval import BEGAN_WITHIN, NO_INTERVAL, RESET, Interval
from myisam_exporter.look.snapshot import Snapshot

NOTHING = Unknown("not in this test")


def snapshot(moment: float, **samples: object) -> Snapshot:
    every = {collector.name: NOTHING for collector in all_collectors()}
    return Snapshot(moment, every | samples, dict.fromkeys(every, moment), {})


def status(uptime: int, since_flush: int | None = None, **values: int) -> Status:
    return Status({"Uptime": uptime, "Uptime_since_flush_status": uptime if since_flush is None else since_flush, **values})


def rate(interval: Interval, name: str) -> object:
    return next(row["per_second"] for row in interval.facts().tables["status"].dictionaries() if row["name"] == name)


def test_a_counter_has_a_rate_and_a_state_has_none() -> None:
    interval = Interval(snapshot(20, status=status(120, Opened_tables=30, Threads_running=9)), snapshot(10, status=status(110, Opened_tables=10, Threads_running=1)))
    assert rate(interval, "Opened_tables") == 2.0
    assert rate(interval, "Threads_running") is None


def test_a_single_snapshot_has_no_rates_and_says_so() -> None:
    facts = Interval(snapshot(20, status=status(120, Opened_tables=30))).facts()
    assert facts.interval_seconds is None
    assert facts.why_unknown("status", "per_second").remedy == "--interval 10s"


def test_what_an_interval_may_hide_is_unknown_for_want_of_one_until_there_is_one() -> None:
    scan = DataDirectoryScan((), 0, (), 1.0)
    earlier, later = (snapshot(moment, status=status(100 + moment), myi=scan) for moment in (10, 20))
    alone, over = (one.facts().why_unknown("tables", "rows_per_write_statement") for one in (Interval(later), Interval(later, earlier)))
    assert (alone, over) == (NO_INTERVAL, HIDDEN_STATEMENTS)


def test_a_counter_that_went_backwards_has_no_rate() -> None:
    interval = Interval(snapshot(20, status=status(120, Opened_tables=3)), snapshot(10, status=status(110, Opened_tables=10)))
    assert rate(interval, "Opened_tables") is None


def test_flush_status_within_the_interval_makes_all_its_rates_unknown() -> None:
    after = snapshot(20, status=status(120, since_flush=4, Opened_tables=500), key_caches=(KeyCache("default", 8388608, 1024, read_requests=900),))
    before = snapshot(10, status=status(110, Opened_tables=10), key_caches=(KeyCache("default", 8388608, 1024, read_requests=100),))
    interval = Interval(after, before)
    assert rate(interval, "Opened_tables") is None  # 500 since the flush is more than before it: growth would be nonsense
    facts = interval.facts()
    assert facts.tables["key_cache"].dictionaries()[0]["read_requests_per_second"] is None
    assert "FLUSH STATUS" in facts.why_unknown("key_cache", "read_requests_per_second").reason


def test_what_began_to_be_counted_within_the_interval_was_not_set_back() -> None:
    earlier, flushed = status(110, 110, Opened_tables=10), status(120, 5, Opened_tables=10)
    for before, reason in ((Unknown("not asked yet"), BEGAN_WITHIN), (earlier, RESET)):
        facts = Interval(snapshot(20, status=flushed), snapshot(10, status=before)).facts()
        assert facts.unknown["status.per_second"] == reason


@pytest.mark.parametrize(("headers", "by_sql"), [(Unknown("it cannot be read", "chown"), Unknown("switched off", off=True)), (Unknown("switched off", off=True), Unknown("it cannot be read", "chown"))])
def test_that_one_source_is_off_tells_nothing_of_another_that_failed(headers: Unknown, by_sql: Unknown) -> None:
    facts = Interval(snapshot(20, status=status(120), myi=headers, sql_tables=by_sql)).facts()
    assert facts.why_unknown("tables", "rows").reason == "it cannot be read"


def test_a_restart_in_between_is_refused() -> None:
    with pytest.raises(ServerLostError, match="restarted between the two samples"):
        Interval(snapshot(20, status=status(3)), snapshot(10, status=status(110))).refuse_restart()
    Interval(snapshot(20, status=status(120)), snapshot(10, status=status(110))).refuse_restart()


@pytest.mark.parametrize(
    ("before", "after", "restarted"),
    [
        ((5000, 10), (1000, 11), False),  # the clock was set back by more than an hour
        ((5000, 10), (4990, 10), False),
        ((5000, 10), (9000, 11), False),  # and forward
        ((5000, 10), (8, 11), True),  # ten seconds lie between: it is younger
        ((5000, 10), (3, 2), True),
        ((5000, 10), (4000, 2), True),  # restarted, and the clock set forward
        ((5000, None), (1000, None), True),
        ((5000, 10), (2**64 - 3000, 11), False),  # set back to before its start
        ((2**64 - 3000, None), (8, None), False),
        # Two seconds more or less are none: an uptime has whole ones.
        ((5000, None), (5008, None), False),
        ((5000, None), (5007, None), True),
        ((5000, 10), (12, 11), True),
        ((5000, 10), (13, 11), False),
    ],
)
def test_a_clock_that_is_set_is_no_restart(before: tuple[int, int | None], after: tuple[int, int | None], restarted: bool) -> None:
    first, second = (status(uptime, **({} if connections is None else {"Connections": connections})) for uptime, connections in (before, after))
    interval = Interval(snapshot(20, status=second), snapshot(10, status=first))
    if restarted:
        with pytest.raises(ServerLostError, match="restarted between the two samples"):
            interval.refuse_restart()
    else:
        interval.refuse_restart()


OF_ONE = {"hostname": "db1", "port": "3306", "datadir": "/var/lib/mysql/", "version": "10.11.14-MariaDB", "key_buffer_size": "8388608"}


@pytest.mark.parametrize(
    ("other", "is_another"),
    [({}, False), ({"key_buffer_size": "16777216"}, False), ({"hostname": "db2"}, True), ({"datadir": "/srv/mysql/"}, True), ({"server_uuid": "0"}, True)],
)
def test_an_address_that_leads_to_another_server_by_now_gives_no_interval(other: dict[str, str], is_another: bool) -> None:
    """After a failover: that one is up for longer, and all that it ever counted was told as the work of one minute."""
    before = snapshot(10, status=status(100, Questions=5), variables=Variables(OF_ONE))
    interval = Interval(snapshot(20, status=status(90_000, Questions=5_000_000), variables=Variables(OF_ONE | other)), before)
    if is_another:
        with pytest.raises(ServerLostError, match="another server answers"):
            interval.refuse_restart()
    else:
        interval.refuse_restart()


def test_without_both_uptimes_nothing_is_refused() -> None:
    Interval(snapshot(20, status=status(3))).refuse_restart()
    Interval(snapshot(20, status=status(3)), snapshot(10)).refuse_restart()
    Interval(snapshot(20), snapshot(10, status=status(110))).refuse_restart()


def test_an_interval_tells_its_length_and_when_the_status_was_read() -> None:
    facts = Interval(snapshot(20, status=status(120)), snapshot(12, status=status(112))).facts()
    assert (facts.interval_seconds, facts.status_read_at) == (8, 20)


def test_rates_are_known_or_it_is_said_why_not() -> None:
    first, second = snapshot(10, status=status(110)), snapshot(20, status=status(120))
    assert "status.per_second" not in Interval(second, first).facts().unknown
    lone = Interval(second).facts().unknown
    assert (lone["status.per_second"].remedy, "status.value" in lone) == ("--interval 10s", False)
    reset = Interval(snapshot(20, status=status(120, since_flush=3)), first).facts().unknown
    assert "FLUSH STATUS" in reset["status.per_second"].reason
    assert "status.value" not in reset


def test_unknown_is_never_zero() -> None:
    facts = Interval(snapshot(20, status=status(120), myi=NOTHING)).facts()
    assert facts.single("totals") == {}
    assert facts.why_unknown("totals", "myisam_tables").reason == "not in this test"
    assert facts.why_unknown("tables").reason == "not in this test"


def test_no_tables_is_an_answer() -> None:
    facts = Interval(snapshot(20, status=status(120), myi=DataDirectoryScan((), 0, (), 0.0))).facts()
    assert facts.single("totals")["myisam_tables"] == 0
    assert "tables" not in facts.unknown


@pytest.mark.parametrize(("size", "block", "share"), [(134217728, 1024, 0.818), (134217728, 4096, 0.947), (134217728, 16384, 0.986), (8388608, 1024, 0.818)])
def test_bookkeeping_takes_its_share_of_a_key_cache(size: int, block: int, share: float) -> None:
    assert usable_bytes(size, block) / size == pytest.approx(share, abs=0.001)


def test_every_fact_table_is_filled_and_every_column_described() -> None:
    assert set(declared_columns()) == {table.name for table in TABLES}
    for table in TABLES:
        names = [column.name for column in declared_columns()[table.name]]
        assert set(table.key) <= set(names)
        assert all(column.description.endswith(".") for column in declared_columns()[table.name])
