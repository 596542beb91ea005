"""The lines of the init_file: one statement a line, no comments."""

from dataclasses import replace
from typing import Any

from myisam_advisor.remedies.remedy import Remedy
from tests.support.planning import MYSQL, facts, planned, texts
from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook

TABLES: list[dict[str, Any]] = [{"schema_name": "s", "table_name": name, "index_bytes": 1 << 20, "rows_added_per_second": 10_000} for name in ("a", "b", "it's")]


def test_what_the_server_forgets_is_repeated_but_for_names_that_could_be_misread(on_mysql: RecordedLook) -> None:
    layout = planned("key_cache_layout", {"name": "default", "size_bytes": 8 << 20}, facts(server=MYSQL, tables=TABLES))
    assert sum("it's" in line for line in texts(layout.init_file)) == 2
    finding = replace(on_mysql.judgement.findings[0], remedy=Remedy(layout.commands, layout.undo_commands, (), layout.init_file))
    lines = plan_text("init-file", plan_of(on_mysql, [finding])).splitlines()
    assert lines == [line for line in texts(layout.init_file) if "it's" not in line]
    assert [line.partition(" `")[0] for line in lines] == ["CACHE INDEX", "CACHE INDEX", "LOAD INDEX INTO CACHE", "LOAD INDEX INTO CACHE"]


def test_a_plan_without_such_lines_has_none(look: RecordedLook) -> None:
    assert plan_text("init-file", plan_of(look)) == ""
