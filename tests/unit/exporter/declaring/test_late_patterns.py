"""A pattern that is compiled when it is first used is what re.compile gives, in every other way."""

import re

import pytest

from myisam_exporter.declaring.late_patterns import late_pattern


def test_it_finds_what_the_compiled_one_finds() -> None:
    late, compiled = late_pattern(r"(?P<name>\w+)=(\d+)", re.ASCII), re.compile(r"(?P<name>\w+)=(\d+)", re.ASCII)
    text = "one=1, two=22"
    for _ in range(2):
        assert late.findall(text) == compiled.findall(text) == [("one", "1"), ("two", "22")]
        assert late.sub("-", text) == compiled.sub("-", text) == "-, -"
        found = late.match(text)
        assert found is not None
        assert found["name"] == "one"
    assert (late.pattern, late.flags, late.groups) == (compiled.pattern, compiled.flags, compiled.groups)


def test_it_is_compiled_when_it_is_used_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = re.compile

    def compile_told(text: str, flags: int = 0) -> re.Pattern[str]:
        asked.append(text)
        return real(text, flags)

    monkeypatch.setattr(re, "compile", compile_told)
    late = late_pattern("a+")
    assert late.pattern == "a+"
    assert not asked
    assert late.fullmatch("aa")
    assert not late.fullmatch("ab")
    assert asked == ["a+"]


def test_what_is_no_pattern_is_said_at_its_use() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        late.match("")


def test_what_no_pattern_has_it_does_not_have() -> None:
    with pytest.raises(AttributeError):
        late_pattern("a").seek  # type: ignore[attr-defined] # noqa: B018
