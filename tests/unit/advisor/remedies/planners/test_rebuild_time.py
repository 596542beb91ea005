"""How long the ALTER of a rule lasts: measured where everything fits memory, else no figure."""

import pytest

from tests.support.planning import MARIADB, facts, planned
from tests.support.recorded import RecordedLook

GIB = 1 << 30


@pytest.mark.parametrize(("row", "host", "words"), [
    ({"data_bytes": GIB, "index_bytes": GIB}, {"memory_available_bytes": 8 * GIB}, "(2 GiB at "),
    ({"data_bytes": 8 * GIB, "index_bytes": GIB}, {"memory_available_bytes": 8 * GIB}, "9 GiB do not fit into 8 GiB of available memory"),
    ({"data_bytes": GIB, "index_bytes": GIB}, {}, "whether 2 GiB fit into memory is not known here"),
    ({"data_bytes": GIB, "index_bytes": None}, {"memory_available_bytes": 8 * GIB}, "its size, which is not known here"),
])  # fmt: skip
def test_a_figure_or_why_there_is_none(row: dict[str, int | None], host: dict[str, int], words: str) -> None:
    assert words in str(planned("rebuild_time", row, facts(server=MARIADB, host=host)).values["lasts"])


def test_small_tables_of_the_recorded_machine_take_a_tenth_of_a_second(look: RecordedLook) -> None:
    row = next(row for row in look.facts.tables["tables"].dictionaries() if row["table_name"] == "posts")
    plan = planned("rebuild_time", row, look.facts)
    assert str(plan.values["lasts"]).startswith("about 0.1 s (")
    assert plan.commands == ()
