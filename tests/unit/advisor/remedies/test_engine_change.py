"""The statement that changes the engine, and the sum that is the same on both."""

from myisam_advisor.remedies.engine_change import ARIA, INNODB, SummedColumn, engine_change, sum_of_values
from myisam_exporter.server.sql import quote_table


def test_options_of_myisam_alone_are_left_behind() -> None:
    name = quote_table("a`b", "t")
    assert engine_change(name, INNODB) == "ALTER TABLE `a``b`.`t` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;"
    assert engine_change(name, ARIA) == "ALTER TABLE `a``b`.`t` ENGINE=Aria, ROW_FORMAT=PAGE, TRANSACTIONAL=1;"


def test_each_value_is_summed_null_and_bits_too() -> None:
    columns = [SummedColumn("a", False, False, short_year=False), SummedColumn("b", True, True, short_year=False)]
    assert sum_of_values(columns) == "SUM(CRC32(CONCAT_WS(',', CRC32(`a`), COALESCE(CRC32(HEX(`b`)), 'NULL'))))"


def test_of_no_columns_there_is_a_sum_too() -> None:
    assert sum_of_values(()) == "0"
