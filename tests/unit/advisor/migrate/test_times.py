"""Times are those that were measured here, with both ends; beyond memory only the least is told, and why."""

import time
from dataclasses import replace

import pytest

from myisam_advisor.catalogue.conversions import Conversion, Rates
from myisam_advisor.catalogue.copy_work import BY_ROW_OF_DICTIONARY, COUNTER, NUMBERS, TEXTS, reference_seconds
from myisam_advisor.migrate.prediction import Migration, in_order, predict
from myisam_advisor.migrate.report import ELSEWHERE, as_text
from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.server_kind import ServerKind, by_default
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import REPORTED, Machine, lasting, own_copy
from myisam_advisor.proofs.rate_store import table_key
from myisam_advisor.texts.templates import duration
from tests.unit.advisor.catalogue.test_copy_work import WORK

from .test_migrate import integer, table
from .test_sizes import SORTING, key

MYSQL = by_default("mysql", (9, 7))
NOW = time.time()
GB, AFTER = 1e9, (4e9, 5e9)
BIG = replace(WORK, rows=40 * WORK.rows, data_bytes=3_000_000_000, index_bytes=1_000_000_000)
CONTENTS = Contents(BIG.rows, BIG.data_bytes, BIG.index_bytes, 0, "fixed", work=BIG)
HERE = Rates((Conversion("MySQL", "9.7.4", "InnoDB", BY_ROW_OF_DICTIONARY, 10.0, WORK, 2e8, NOW),))


def test_what_was_measured_here_takes_the_place_of_rates_from_elsewhere() -> None:
    elsewhere = lasting(CONTENTS, AFTER, "InnoDB", MYSQL, Machine(64 * GB, 32 * GB))
    here = lasting(CONTENTS, AFTER, "InnoDB", MYSQL, Machine(64 * GB, 32 * GB, HERE, NOW))
    assert elsewhere is not None
    assert here is not None
    assert elsewhere.ends is not None
    assert here.ends is not None
    assert elsewhere.ends[1] / elsewhere.ends[0] > 6
    middle = 10 * reference_seconds(BIG, BY_ROW_OF_DICTIONARY) / reference_seconds(WORK, BY_ROW_OF_DICTIONARY)
    assert here.ends[0] <= middle <= here.ends[1]
    assert here.measured.startswith("measured here on ")
    assert elsewhere.measured == ""


@pytest.mark.parametrize(
    ("available", "cache", "to", "here", "why"),
    [
        (2 * GB, 32 * GB, "InnoDB", MYSQL, "available memory"),
        (64 * GB, 0.5 * GB, "InnoDB", MYSQL, "innodb_buffer_pool_size, and rows are inserted one by one"),
        (64 * GB, 0.5 * GB, "InnoDB", SORTING, ""),
        (64 * GB, 0.5 * GB, "Aria", SORTING, ""),
        (None, None, "InnoDB", MYSQL, ""),
        (AFTER[1], 32 * GB, "InnoDB", MYSQL, ""),
        (64 * GB, float(BIG.index_bytes), "InnoDB", MYSQL, ""),
    ],
)
def test_beyond_memory_only_the_least_time_is_known(available: float | None, cache: float | None, to: str, here: ServerKind, why: str) -> None:
    found = lasting(CONTENTS, AFTER, to, here, Machine(available, cache))
    assert found is not None
    assert found.least > 0
    assert (found.most is None) == bool(why)
    assert why in found.why
    assert (found.ends is None) == bool(why)


@pytest.mark.parametrize(
    ("clustered", "cache", "to", "here", "is_open"),
    [
        (TEXTS, 4.5 * GB, "InnoDB", MYSQL, True), (NUMBERS, 4.5 * GB, "InnoDB", MYSQL, True), (COUNTER, 4.5 * GB, "InnoDB", MYSQL, False), ("", 4.5 * GB, "InnoDB", MYSQL, False),
        (TEXTS, 8 * GB, "InnoDB", MYSQL, False), (TEXTS, AFTER[1], "InnoDB", MYSQL, False), (TEXTS, 4.5 * GB, "InnoDB", SORTING, False), (TEXTS, 4.5 * GB, "Aria", SORTING, False),
    ],
)  # fmt: skip
def test_rows_that_are_put_where_a_key_belongs_have_to_fit_the_pool(clustered: str, cache: float, to: str, here: ServerKind, is_open: bool) -> None:
    found = lasting(replace(CONTENTS, work=replace(BIG, clustered=clustered)), AFTER, to, here, Machine(64 * GB, cache))
    assert found is not None
    assert (found.most is None) == is_open
    assert ("each row is put where its key belongs" in found.why) == is_open


SERVER = "a server"
OWN = Rates(
    (
        Conversion("MySQL", "9.7.4", "InnoDB", BY_ROW_OF_DICTIONARY, 77.0, BIG, 4.4e9, NOW, table_key(SERVER, "s", "big")),
        Conversion("MySQL", "9.7.4", "InnoDB", BY_ROW_OF_DICTIONARY, 10.0, WORK, 2e8, NOW, table_key(SERVER, "s", "another")),
    )
)


@pytest.mark.parametrize(
    ("server", "page_bytes", "by_time", "by_size"),
    [(SERVER, 16384, True, True), (SERVER, 8192, True, False), ("another server", 16384, False, False), ("", 16384, False, False)],
)
def test_a_table_that_was_copied_here_is_told_by_its_copy(server: str, page_bytes: int, by_time: bool, by_size: bool) -> None:
    structure = table(integer(auto_increment=True), indexes=(key((0, 4)),))
    machine = Machine(64 * GB, 32 * GB, OWN, NOW, server=server)
    (found,) = predict([FoundTable(("s", "big"), structure, CONTENTS)], "InnoDB", replace(MYSQL, page_bytes=page_bytes), None, machine)
    assert found.lasting is not None
    assert found.seconds is not None
    assert found.bytes_after is not None
    assert ("on a copy of the table" in found.lasting.measured) == by_time
    assert (found.seconds == pytest.approx((77.0 * 0.7, 77.0 * 1.3))) == by_time
    assert (found.bytes_after == pytest.approx((4.4e9 * 0.95, 4.4e9 * 1.05))) == by_size


def test_a_copy_is_looked_for_only_of_a_table_whose_work_is_known() -> None:
    machine = Machine(64 * GB, 32 * GB, OWN, NOW, server=SERVER)
    assert own_copy(("s", "big"), CONTENTS, "InnoDB", MYSQL, machine) is not None
    assert own_copy(("s", "big"), replace(CONTENTS, work=None), "InnoDB", MYSQL, machine) is None


def told(machine: Machine) -> str:
    structure = table(integer(auto_increment=True), indexes=(key((0, 4)),))
    found = predict([FoundTable(("s", "big"), structure, CONTENTS), FoundTable(("s", "small"), structure, replace(CONTENTS, rows=100, data_bytes=900, index_bytes=2048, work=replace(WORK, rows=100, data_bytes=900, index_bytes=2048)))], "InnoDB", MYSQL, None, machine)
    return " ".join(as_text(Migration(MYSQL, None, "InnoDB", tuple(found), in_order(found, {}), (), None, None, None)).split())


def test_the_report_says_by_which_rates_and_why_an_end_is_open() -> None:
    assert ELSEWHERE in told(Machine(64 * GB, 32 * GB))
    assert "measured here on" in told(Machine(64 * GB, 32 * GB, HERE, NOW))
    beyond = told(Machine(64 * GB, 0.5 * GB, HERE, NOW))
    assert "of one table only the least time is known" in beyond
    assert f"({REPORTED}): of s.big" in beyond
    assert "Time: at least " in beyond  # of both together: the sum of those of which both ends are known is no time of the whole


@pytest.mark.parametrize(
    ("version", "days", "said"),
    [
        ("8.0.36", 0, " was on MySQL 8.0, and says nothing about MySQL 9.7)"), ("9.7.4", 400, " is more than a year old)"), ("9.7.4", -5, "what was measured here is of the future, by a clock that was wrong)"),
        ("9.7.4", 0, ""),
    ],
)  # fmt: skip
def test_what_was_measured_here_and_is_not_used_is_told_with_the_reason(version: str, days: float, said: str) -> None:
    """It was passed over without a word: whoever had measured read that an hour of trials would tell what half of it had told."""
    rates = Rates((replace(HERE.conversions[0], server_version=version, taken_at=NOW - days * 86_400),))
    report = told(Machine(64 * GB, 32 * GB, rates, NOW))
    assert said in report
    assert (ELSEWHERE in report) == bool(said)
    of_aria = replace(rates.conversions[0], engine="Aria")
    assert "what was measured here" not in told(Machine(64 * GB, 32 * GB, Rates((of_aria,)), NOW))


def test_the_script_tells_the_least_time_of_a_batch_where_an_end_is_open() -> None:
    found = predict([FoundTable(("s", "big"), table(integer(auto_increment=True), indexes=(key((0, 4)),)), CONTENTS)], "InnoDB", MYSQL, None, Machine(64 * GB, 0.5 * GB))
    migration = Migration(MYSQL, None, "InnoDB", tuple(found), in_order(found, {}), (), None, None, None)
    assert found[0].lasting is not None
    assert f"1 table, at least {duration(found[0].lasting.least)}: of some the most is not known; up to" in as_script(migration)


def test_where_headers_do_not_tell_what_there_is_to_do_no_time_is_told() -> None:
    assert lasting(replace(CONTENTS, work=None), AFTER, "InnoDB", MYSQL, Machine(64 * GB, 32 * GB, HERE, NOW)) is None
