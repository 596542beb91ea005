"""What a remedy asks of the server: a restart, locks, a cold cache, or nothing."""

from typing import Any

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.price import Price, in_words, price_of, together
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import remark
from myisam_advisor.remedies.statements.closing import FlushTables
from myisam_advisor.remedies.statements.key_caches import CacheIndex
from myisam_advisor.remedies.statements.tables import CheckTable, RepairTable
from myisam_advisor.remedies.statements.variables import set_global

NAME = ("s", "t")
TABLE = {"schema_name": "s", "table_name": "t", "data_bytes": 900_000_000, "index_bytes": 300_000_000}


def words(memory: int | None = 8_000_000_000, **remedy: Any) -> str:
    host = {} if memory is None else {"host": {"memory_available_bytes": memory}}
    facts = complete(facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": "5.6.24"}, "tables": [TABLE], **host}))
    return in_words(price_of(Remedy(**remedy), PlanFacts(facts)))


def test_what_has_no_statement_is_done_by_hand() -> None:
    assert words() == words(commands=(remark("look"),)) == "by hand"


def test_a_line_of_my_cnf_that_nothing_sets_now_takes_a_restart() -> None:
    line = option_line("table_open_cache", 4000)
    assert words(my_cnf=(line,)) == "restart"
    assert words(my_cnf=(line,), commands=(set_global("table_open_cache", 4000),)) == "online"


def test_tables_are_locked_for_the_time_that_was_measured_or_one_that_is_not_known() -> None:
    repair = (CheckTable(NAME), RepairTable(NAME))
    assert words(commands=repair).startswith("locks the table ")
    assert words(commands=repair).endswith(" s")
    assert words(commands=repair, memory=1_000_000_000) == words(commands=repair, memory=None) == "locks the table"
    assert words(commands=(FlushTables((NAME,)), *repair)) == words(commands=repair)


def test_closed_tables_and_a_cold_cache_are_said() -> None:
    assert words(commands=(set_global("concurrent_insert", "NEVER"), FlushTables(()))) == "closes tables once"
    assert words(commands=(set_global("key_buffer_size", 1 << 30),)) == words(commands=(set_global("key_cache_segments", 8),)) == "key cache cold at first"
    assert words(commands=(CacheIndex(NAME, "hot"),)) == "key cache cold at first"


@pytest.mark.parametrize(
    ("seconds", "said"), [((20.0, 20.0), "locks 2 tables, 40 s in all"), ((20.0, None), "locks 2 tables"), ((0.0, 0.0), "locks 2 tables for a moment")]
)  # fmt: skip
def test_several_take_as_long_as_all_of_them(seconds: tuple[float | None, ...], said: str) -> None:
    assert in_words(together([Price(is_done_by_hand=False, locked_tables=1, locked_seconds=one) for one in seconds])) == said


def test_one_that_takes_a_restart_makes_all_take_one() -> None:
    by_hand, restart = Price(), Price(is_done_by_hand=False, needs_restart=True)
    assert in_words(together([by_hand, restart])) == "restart"
    assert in_words(together([by_hand, by_hand])) == "by hand"
