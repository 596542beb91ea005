"""How vague advice is read: the same for every adviser, as decision 060 says."""

import os

import pytest

from benchmarks.advice.vague import Known, above, below, prose, terse

KNOWN = Known(
    {
        "sort_buffer_size": "2097152", "read_rnd_buffer_size": "262144", "key_buffer_size": "8388608", "table_open_cache": "400", "long_query_time": "10.000000",
        "thread_cache_size": "0", "innodb_log_file_size": "8388608", "innodb_buffer_pool_size": "33554432", "query_cache_size": "0", "query_cache_type": "OFF",
        "query_cache_min_res_unit": "4096", "query_cache_limit": "1048576", "max_connections": "151", "wait_timeout": "28800", "log_warnings": "1",
        "slave_net_timeout": "3600", "myisam_recover_options": "OFF", "innodb_flush_log_at_trx_commit": "0", "read_buffer_size": "16777216",
        "max_heap_table_size": "16777216", "tmp_table_size": "33554432", "slow_launch_time": "5",
    },
    {"sort_buffer_size": "262144", "read_buffer_size": "131072"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("phrase", "variable", "value"),
    [
        ("query_cache_size (=0)", "query_cache_size", "0"),
        ("innodb_buffer_pool_instances(=1)", "innodb_buffer_pool_instances", "1"),
        ("performance_schema=ON", "performance_schema", "ON"),
        ("skip-name-resolve=ON", "skip_name_resolve", "ON"),
        ("thread_handling=pool-of-threads", "thread_handling", "pool-of-threads"),
        ("innodb_log_file_size should be (=4M) if possible, so InnoDB ...", "innodb_log_file_size", "4194304"),
        ("sort_buffer_size (> 2M)", "sort_buffer_size", "4194304"),
        ("key_buffer_size (> 4.3M)", "key_buffer_size", "8388608"),
        ("table_open_cache (> 400)", "table_open_cache", "800"),
        ("wait_timeout (< 28800)", "wait_timeout", "14400"),
        ("long_query_time (<= 10)", "long_query_time", "10"),
        ("innodb_io_capacity (>= 2000) for SSD/NVMe storage", "innodb_io_capacity", "2000"),
        ("innodb_flush_neighbors = 1 or 2 (Recommended for HDD)", "innodb_flush_neighbors", "1"),
        ("innodb_flush_neighbors = 0 (Recommended for SSD/NVMe)", "innodb_flush_neighbors", "0"),
        ("binlog_cache_size (16.0M)", "binlog_cache_size", "16777216"),
        ("table_definition_cache (400) > 1234 or -1 (autosizing if supported)", "table_definition_cache", "2048"),
        ("thread_cache_size (start at 4)", "thread_cache_size", "4"),
        ("thread_pool_size between 4 and 8 for MyIsam usage", "thread_pool_size", "6"),
        ("replica_parallel_threads (set to number of vCPUs)", "replica_parallel_threads", str(os.cpu_count())),
    ],
)
def test_a_line_of_a_list_is_one_setting(phrase: str, variable: str, value: str) -> None:
    reading = terse(phrase, KNOWN)
    assert reading is not None
    assert (reading.variable, reading.value) == (variable, value)


@pytest.mark.parametrize(
    "phrase",
    [
        "join_buffer_size (always use indexes with JOINs)", "DON'T APPLY SETTINGS BECAUSE THERE ARE TOO MANY PROCESSES", "vm.swappiness <= 10 (echo 10 > /proc/...)",
        "innodb_buffer_pool_size must always be equal to or a multiple of innodb_buffer_pool_chunk_size", "sort_buffer_size (> many)", "", "x = $(reboot)",
    ],
)  # fmt: skip
def test_what_gives_no_value_is_no_setting(phrase: str) -> None:
    assert terse(phrase, KNOWN) is None


@pytest.mark.parametrize(
    ("text", "subject", "readings"),
    [
        ("You may need to increase key_buffer_size.", None, {"key_buffer_size": "16777216"}),
        ("Consider increasing sort_buffer_size and/or read_rnd_buffer_size, depending on memory.", None, {"sort_buffer_size": "4194304", "read_rnd_buffer_size": "524288"}),
        ("You may need to decrease the size of key_buffer_size, or examine queries", None, {"key_buffer_size": "4194304"}),
        ("Increase max_connections, or decrease wait_timeout so that ...", None, {"max_connections": "302"}),
        ("Enable it by setting query_cache_size to a 2 digit MiB value and setting query_cache_type to 'ON'.", None, {"query_cache_size": "33554432", "query_cache_type": "ON"}),
        ("Set slow_launch_time to 1s or 2s to count threads", None, {"slow_launch_time": "1"}),
        ("It is suggested to set long_query_time to a lower value.", None, {"long_query_time": "5"}),
        ("you should set innodb_log_file_size to 25% of innodb_buffer_pool_size. Or not.", None, {"innodb_log_file_size": "8388608"}),
        ("Set key_buffer_size depending on the size of your indexes. 64M is a good start.", None, {"key_buffer_size": "67108864"}),
        ("Enable the thread cache by setting thread_cache_size > 0.", None, {"thread_cache_size": "1"}),
        ("caused by query_cache_limit being too low", None, {"query_cache_limit": "2097152"}),
        ("Changing query_cache_limit (usually by increasing) may help.", None, {"query_cache_limit": "2097152"}),
        ("Set log_warnings = 2 or higher to capture warnings", None, {"log_warnings": "2"}),
        ("Log_warnings must be set greater than 1 to log more.", "log_warnings", {"log_warnings": "2"}),
        ("This should probably be set to 60 seconds or less.", "slave_net_timeout", {"slave_net_timeout": "60"}),
        ("should be set to some value such as BACKUP,FORCE to ensure", "myisam_recover_options", {"myisam_recover_options": "BACKUP,FORCE"}),
        ("It should generally be left at its default unless an expert", "sort_buffer_size", {"sort_buffer_size": "262144"}),
        ("should not be larger than 8MB. It should generally be left at its default.", "read_buffer_size", {"read_buffer_size": "8388608"}),
        ("key_buffer_size should be larger than the default 8MB size.", "key_buffer_size", {"key_buffer_size": "16777216"}),
        ("so max_heap_table_size should be at least as large as tmp_table_size.", None, {"max_heap_table_size": "33554432"}),
        ("Setting innodb_flush_log_at_trx_commit to 0 has no benefits. You should set it to 2 instead.", "innodb_flush_log_at_trx_commit", {"innodb_flush_log_at_trx_commit": "2"}),
    ],
)  # fmt: skip
def test_sentences_say_what_is_to_be_set(text: str, subject: str | None, readings: dict[str, str]) -> None:
    assert {reading.variable: reading.value for reading in prose(text, KNOWN, subject)} == readings


@pytest.mark.parametrize(
    "text",
    [
        "Increase thread_cache_size.",  # nothing to double
        "Optimize queries and/or use InnoDB to reduce lock wait.", "Increase some_other_variable.", "The slow query log is disabled.",
        "Setting sort_buffer_size to 8M can cause swapping.", "it might be performance increasing to reduce this value.",
    ],
)  # fmt: skip
def test_sentences_without_variable_direction_or_figure_change_nothing(text: str) -> None:
    assert prose(text, KNOWN) == []


def test_more_and_less_go_a_step_from_what_the_server_has_and_to_the_next_power_of_two_otherwise() -> None:
    assert (above(16 << 20, 16 << 20), above(2.0e6, 2097152), above(5 << 20, 1 << 20), above(8, None), above(0, 0)) == (32 << 20, 2 << 21, 8 << 20, 16, 1)
    assert (below(100, 100), below(100, 7), below(64, 7), below(1, None)) == (50, 64, 32, 0)


def test_a_long_text_is_read_up_to_its_bound() -> None:
    assert prose("word " * 10_000 + "increase sort_buffer_size", KNOWN) == []
