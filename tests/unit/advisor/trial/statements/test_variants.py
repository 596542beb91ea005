import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.statements.variants import TOGETHER, Setting, Variant, as_told, from_told, together


@pytest.mark.parametrize(
    ("text", "name", "sql", "option"),
    [
        ("key_buffer_size=64M", "key_buffer_size", "67108864", "--key-buffer-size=64M"),
        ("Concurrent-Insert=ALWAYS", "concurrent_insert", "'ALWAYS'", "--concurrent-insert=ALWAYS"),
        ("long_query_time=0.5", "long_query_time", "0.5", "--long-query-time=0.5"),
        ("hot.key_buffer_size=8M", "hot.key_buffer_size", "8388608", "--hot.key_buffer_size=8M"),
    ],
)
def test_a_setting_is_sql_and_an_option(text: str, name: str, sql: str, option: str) -> None:
    setting = Setting.parsed(text)
    assert (setting.name, setting.sql_value, setting.option) == (name, sql, option)
    assert Setting.parsed(str(setting)) == setting


@pytest.mark.parametrize("text", ["", "key_buffer_size", "=1", "a b=1", "x=1; DROP TABLE y", "x='1'", "x=1\ny=2", "a.b.c=1", "--x=1"])
def test_what_is_no_setting_is_refused_with_the_way_to_write_one(text: str) -> None:
    with pytest.raises(TrialError, match="--set"):
        Setting.parsed(text)


def test_together_holds_each_change_once() -> None:
    first = Variant("a", ("rule-a",), (Setting("x", "1"),), ("--y=1",), ("ALTER TABLE t PACK_KEYS=0",))
    second = Variant("b", ("rule-b", "rule-a"), (Setting("x", "2"),), ("--y=2", "--z=1"), ("ALTER TABLE t PACK_KEYS=0",))
    both = together([first, second])
    assert both.name == TOGETHER
    assert both.rules == ("rule-a", "rule-b")
    assert both.tried == ("x=1", "y=1", "z=1", "ALTER TABLE t PACK_KEYS=0")
    assert from_told(as_told(both)) == both
