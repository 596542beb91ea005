"""The shipped rules are read as they were parsed for the release, and a file that differs is parsed as it stands."""

from pathlib import Path

import pytest

from myisam_advisor.catalogue import parsed_rules
from myisam_advisor.catalogue.parsed_rules import read_rule
from myisam_advisor.catalogue.rules import load_rule, load_rules, shipped_rules
from myisam_advisor.texts.yaml_files import read_yaml
from myisam_exporter.errors import UserError
from tools.parsed_rules import FILE, RULES  # fmt: skip
from tools.parsed_rules import parsed_rules as parsed_anew


def test_what_was_parsed_is_what_the_files_say_and_no_file_is_left_out() -> None:
    assert FILE.read_text("utf-8") == parsed_anew(), "run script/generate-docs"
    assert {rule.path.name for rule in shipped_rules()} == parsed_rules._parsed().keys()


def test_what_the_rules_were_made_of_is_not_kept() -> None:
    assert parsed_rules._parsed()
    assert load_rules([RULES / "advice"]) == shipped_rules()
    assert parsed_rules._parsed.cache_info().currsize == 0


def test_a_file_that_somebody_changed_is_parsed_as_it_stands(tmp_path: Path) -> None:
    original = sorted((RULES / "advice").glob("[!_]*.yaml"))[0]
    changed = tmp_path / original.name
    changed.write_text(original.read_text("utf-8").replace("title:", "title: Changed here,", 1), "utf-8")
    assert read_rule(changed).document == read_yaml(changed, "rule").document != read_rule(original).document
    changed.write_text("a: [", "utf-8")
    with pytest.raises(UserError, match="not valid YAML"):
        read_rule(changed)


@pytest.mark.parametrize("content", [None, "{", "[" * 3, "[" * 200_000, "[]", "7" * 5000, '"\\ud800"', "x" * (2 << 20)])
def test_without_what_was_parsed_the_rules_are_there_all_the_same(content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if content is not None:
        (tmp_path / "parsed.json").write_text(content, "utf-8")
    monkeypatch.setattr(parsed_rules, "PARSED", str(tmp_path / "parsed.json"))
    parsed_rules._parsed.cache_clear()
    try:
        rule = shipped_rules()[0]
        assert load_rule(rule.path) == rule
        assert parsed_rules._parsed() == {}
    finally:
        parsed_rules._parsed.cache_clear()


@pytest.mark.parametrize("known", ["3", "{}", '{"sha256": 1, "document": {}}', '{"sha256": "DIGEST"}'])
def test_an_entry_of_another_form_is_passed_over(known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = shipped_rules()[0]
    known = known.replace("DIGEST", parsed_rules.digest_of(rule.path.read_text("utf-8")))
    (tmp_path / "parsed.json").write_text(f'{{"{rule.path.name}": {known}}}', "utf-8")
    monkeypatch.setattr(parsed_rules, "PARSED", str(tmp_path / "parsed.json"))
    parsed_rules._parsed.cache_clear()
    try:
        assert load_rule(rule.path) == rule
    finally:
        parsed_rules._parsed.cache_clear()
