"""A key cache where there is none: a command only where it pays."""

from tests.support.planning import planned, texts


def test_a_cache_that_pays_is_as_large_as_the_indexes_need() -> None:
    row = {"name": "default", "size_bytes": 4096, "index_bytes": 100 << 20, "block_size_bytes": 1024}
    assert texts(planned("key_cache_from_nothing", {**row, "pays": 1}).commands) == texts(planned("key_buffer_size", row).commands)


def test_where_it_may_be_slower_than_none_there_are_words_alone() -> None:
    plan = planned("key_cache_from_nothing", {"name": "default", "size_bytes": 4096, "index_bytes": 100 << 20, "pays": 0})
    assert (plan.commands, plan.my_cnf) == ((), ())
    assert "key_cache_segments = 16" in str(plan.values["advice"])
