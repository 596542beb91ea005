"""Which change is which, however it is written; and how near two values must be."""

import pytest

from myisam_advisor.proofs.changes import changes_of, is_about


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("SET GLOBAL key_buffer_size = 536870912;", {"key_buffer_size": "536870912"}),
        ("SET GLOBAL key_buffer_size = 8, read_buffer_size = 9", {"key_buffer_size": "8", "read_buffer_size": "9"}),
        ("SET GLOBAL long_query_time = 1, key_buffer_size = 8", {"key_buffer_size": "8"}),
        ("SET @@GLOBAL.long_query_time = 1, GLOBAL slow_query_log = 1", {}),
        ("set/**/global `key_buffer_size` = 8 -- c", {"key_buffer_size": "8"}),
        ("SET PERSIST key_buffer_size = 8", {"key_buffer_size": "8"}),
        ("SET SESSION sort_buffer_size = 8", {"SET SESSION sort_buffer_size = 8": ""}),
        ("SET GLOBAL `hot_1`.key_buffer_size = 8388608;", {"hot_1.key_buffer_size": "8388608"}),
        ("key-buffer-size=512M", {"key_buffer_size": "512M"}),
        ("--key-buffer-size=512M", {"key_buffer_size": "512M"}),
        ("ALTER TABLE `log`.`hits` PACK_KEYS=0;", {"ALTER TABLE `log`.`hits` PACK_KEYS": "0"}),
        ("ALTER TABLE `a b`.`c=d` ROW_FORMAT=FIXED, PACK_KEYS=0;", {"ALTER TABLE `a b`.`c=d` ROW_FORMAT": "FIXED", "ALTER TABLE `a b`.`c=d` PACK_KEYS": "0"}),
        ("ALTER TABLE `a`.`b` DROP INDEX `c`;", {"ALTER TABLE `a`.`b` DROP INDEX `c`": ""}),
        ("OPTIMIZE NO_WRITE_TO_BINLOG TABLE `a`.`b`;", {"OPTIMIZE TABLE `a`.`b`": ""}),
        ("FLUSH TABLES;", {}),
        ("SET GLOBAL log_queries_not_using_indexes = ON;", {}),
        ("slow_query_log = ON", {}),
        ("-- a remark = 1", {}),
        ("# myisam-advisor", {}),
        ("LOAD INDEX INTO CACHE `a`.`b`;", {}),
        ("", {}),
    ],
)
def test_what_a_text_changes(text: str, changed: dict[str, str]) -> None:
    assert changes_of([text]) == changed


@pytest.mark.parametrize(
    ("proved", "wanted", "speaks"),
    [
        ("key_buffer_size=512M", "SET GLOBAL key_buffer_size = 536870912;", True),
        ("key_buffer_size=512M", "key_buffer_size = 600M", True),
        ("key_buffer_size=512M", "key_buffer_size = 4G", False),
        ("myisam_use_mmap = ON", "SET GLOBAL myisam_use_mmap = 1;", True),
        ("myisam_use_mmap = ON", "SET GLOBAL myisam_use_mmap = OFF;", False),
        ("delay_key_write = ALL", "delay_key_write = all", True),
        ("ALTER TABLE `a`.`b` PACK_KEYS=0;", "ALTER TABLE `a`.`c` PACK_KEYS=0;", False),
        ("ALTER TABLE `a`.`b` PACK_KEYS=0;", "ALTER TABLE `a`.`b` PACK_KEYS=1;", False),
        ("", "", False),
    ],
)
def test_a_proof_speaks_for_the_same_change_and_for_what_is_near(proved: str, wanted: str, speaks: bool) -> None:
    assert is_about(changes_of([proved]), changes_of([wanted])) is speaks


def test_a_proof_of_several_changes_proves_none_of_them_alone() -> None:
    both = changes_of(["key_buffer_size=512M", "table_open_cache=4000"])
    assert not is_about(both, changes_of(["key_buffer_size=512M"]))
    assert is_about(both, both)
