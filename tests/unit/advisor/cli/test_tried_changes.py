"""What `trial replay` tries, from what the user wrote and from findings."""

from dataclasses import replace
from pathlib import Path

import click
import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.cli.tried_changes import (
    ProvingWish,
    ReplayWish,
    expect_something,
    for_speed,
    needs_one_of,
    not_tried,
    of_finding,
    tables_of,
    variants_of,
)
from myisam_advisor.errors import TrialError
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.option_lines import comment_line, option_line
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import remark
from myisam_advisor.remedies.statements.key_caches import CacheIndex
from myisam_advisor.remedies.statements.tables import AlterTable, option
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.trial.statements.variants import Variant

COPIED = frozenset({("shop", "words")})
WISH = ReplayWish(Path("w"), (), (), (), "max", 10.0, None)


def finding(*commands: object, my_cnf: tuple[object, ...] = (), about: str = "shop.words") -> Finding:
    remedy = Remedy(commands=commands, my_cnf=my_cnf)  # type: ignore[arg-type]
    return Finding("a-rule", "", "warning", "likely", "table", about, None, "words", (), "", "", "", "", "", (), remedy)


def test_a_finding_is_tried_by_options_of_the_start_and_by_what_it_does_to_copied_tables() -> None:
    words, other = ("shop", "words"), ("shop", "other")
    one = finding(
        set_global("key_buffer_size", 1 << 30), CacheIndex(words, "hot"), CacheIndex(other, "hot"), remark("read this"),
        AlterTable(words, options=(option(PACK_KEYS=0),)),
        my_cnf=(option_line("key_buffer_size", 1 << 20, "hot"), comment_line("and so on"), option_line("init_file", "/etc/x")),
    )  # fmt: skip
    variant = of_finding(one, COPIED)
    assert variant is not None
    assert (variant.name, variant.rules) == ("a-rule (shop.words)", ("a-rule",))
    assert variant.options == ("--hot.key_buffer_size=1048576",)
    assert variant.statements == ("CACHE INDEX `shop`.`words` IN `hot`", "ALTER TABLE `shop`.`words` PACK_KEYS=0")


def test_without_a_line_of_my_cnf_the_statement_sets_it() -> None:
    variant = of_finding(finding(set_global("concurrent_insert", 2), about=""), COPIED)
    assert variant is not None
    assert (variant.name, variant.statements) == ("a-rule", ("SET GLOBAL concurrent_insert = 2",))


@pytest.mark.parametrize(
    "commands",
    [
        (),
        (remark("think about it"),),
        (AlterTable(("shop", "words"), options=(option(ENGINE="InnoDB"),)),),
        (AlterTable(("shop", "elsewhere"), options=(option(PACK_KEYS=0),)),),
    ],
)
def test_what_cannot_be_tried_is_no_variant(commands: tuple[object, ...]) -> None:
    assert of_finding(finding(*commands), COPIED) is None


def test_what_only_has_the_server_tell_more_is_not_tried() -> None:
    told = finding(set_global("log_slow_min_examined_row_limit", 1000), set_global("log_queries_not_using_indexes", "ON"), set_global("slow_query_log", "ON"), about="")
    assert of_finding(told, COPIED) is None
    with pytest.raises(TrialError, match="nothing of its change can be tried"):
        variants_of([], [told], COPIED, replace(WISH, findings=("a-rule",)))
    assert of_finding(finding(set_global("slow_query_log", "ON"), set_global("concurrent_insert", 2)), COPIED) is not None


def test_what_keeps_tables_safe_is_weighed_only_where_it_is_asked_for() -> None:
    safe = replace(finding(my_cnf=(option_line("myisam_recover_options", "BACKUP"),), about=""), variable="myisam_recover_options")
    with pytest.raises(TrialError, match="no finding has a change"):
        variants_of([], [safe], COPIED, WISH)
    (variant,) = variants_of([], [safe], COPIED, replace(WISH, findings=("a-rule",)))
    assert variant.options == ("--myisam_recover_options=BACKUP",)


def test_rules_that_are_for_something_else_than_speed_are_weighed_only_where_they_are_asked_for() -> None:
    rules = {rule.id: rule for rule in shipped_rules()}
    names = ("pack-keys", "recovery-disabled", "delay-key-write", "key-buffer-too-large", "key-buffer-too-small")
    findings = [replace(finding(), rule=name) for name in names]
    assert [one.rule for one in for_speed(findings, [rules[name] for name in names])] == ["pack-keys", "key-buffer-too-small"]


@pytest.mark.parametrize("variable", ["delay_key_write", "myisam_recover_options"])
def test_what_keeps_tables_safe_is_not_weighed_whichever_rule_advises_it(variable: str) -> None:
    safe = replace(finding(my_cnf=(option_line(variable, "ON"),), about=""), variable=variable)
    speedy = finding(AlterTable(("shop", "words"), options=(option(PACK_KEYS=0),)))
    assert [one.name for one in variants_of([], [safe, speedy], COPIED, WISH)] == ["a-rule (shop.words)"]


def test_no_two_variants_have_the_same_name() -> None:
    twice = [finding(AlterTable(("shop", "words"), options=(option(PACK_KEYS=value),))) for value in (0, 1)]
    assert [one.name for one in variants_of([], twice, COPIED, WISH)] == ["a-rule (shop.words)", "a-rule (shop.words) (2)"]


def test_options_of_a_replay_belong_to_a_replay() -> None:
    WISH.expect_fitting(is_replay=True)
    with pytest.raises(click.UsageError, match="record --output"):
        replace(WISH, workload=None).expect_fitting(is_replay=True)
    for one in (WISH, replace(WISH, workload=None, settings=("a=1",)), replace(WISH, workload=None, findings=("pack-keys",))):
        with pytest.raises(click.UsageError, match="belong to replay"):
            one.expect_fitting(is_replay=False)
    replace(WISH, workload=None).expect_fitting(is_replay=False)


def test_where_nothing_was_found_the_command_that_takes_a_change_is_named() -> None:
    with pytest.raises(TrialError, match=r"nothing was found .* or name a change \(myisam-advisor trial replay --workload FILE --set key_buffer_size=256M, or --sql"):
        expect_something([], [], WISH)


@pytest.mark.parametrize("found", [[], [finding(remark("think about it"))]])
def test_whoever_proves_is_not_sent_to_a_recording_that_is_not_theirs(found: list[Finding]) -> None:
    """`prove` removes what it recorded: --workload FILE was a file that nobody had."""
    for workload in (None, Path("workload")):
        proving = ProvingWish(workload, (), (), (), "max", 10.0, None)
        with pytest.raises(TrialError, match=r"record your statements \(myisam-advisor record --output FILE --seconds 60\), and name a change \(myisam-advisor trial replay --workload FILE"):
            variants_of([], found, COPIED, proving)
    with pytest.raises(TrialError) as told:
        variants_of([], found, COPIED, WISH)
    assert "record --output" not in str(told.value)


def test_nothing_is_recorded_for_what_is_not_going_to_be_tried() -> None:
    safe = replace(finding(set_global("delay_key_write", "ALL"), about=""), variable="delay_key_write")
    for one in (safe, finding(remark("think about it")), finding(AlterTable(("shop", "words"), options=(option(ENGINE="InnoDB"),)))):
        with pytest.raises(TrialError, match=r"no finding has a change that can be tried \(found: a-rule\)"):
            expect_something([], [one], WISH)
    expect_something([], [finding(AlterTable(("shop", "elsewhere"), options=(option(PACK_KEYS=0),)))], WISH)
    expect_something([], [safe], replace(WISH, findings=("a-rule",)))


def test_a_rule_that_was_named_and_has_nothing_to_try_is_told_before_anything_is_recorded() -> None:
    with pytest.raises(TrialError, match="a-rule: nothing of its change can be tried on copies of tables"):
        expect_something([], [finding(remark("think about it"))], replace(WISH, findings=("a-rule",)))


def packed(table: str) -> Finding:
    return finding(AlterTable(("shop", table), options=(option(PACK_KEYS=0),)), about=f"shop.{table}")


def test_a_table_that_is_not_copied_is_told_with_why_and_its_rule_is_tried_on_the_others() -> None:
    named, missing = replace(WISH, findings=("a-rule",)), {("shop", "gone"): "shop.gone: it is an InnoDB table"}
    both = [packed("gone"), packed("words"), packed("idle")]
    assert [one.name for one in variants_of([], both, COPIED, named, missing)] == ["a-rule (shop.words)"]
    assert not_tried(both, COPIED, named, missing) == [
        "a-rule (shop.gone) was not tried: shop.gone: it is an InnoDB table.",
        "a-rule (shop.idle) was not tried: no statement of the recording touches shop.idle.",
    ]
    with pytest.raises(TrialError, match=r"a-rule: nothing of its change can be tried on copies of these tables: shop\.gone: it is an InnoDB table$"):
        variants_of([], [packed("gone")], COPIED, named, missing)
    with pytest.raises(TrialError, match=r"\(found: a-rule\): shop\.gone: it is an InnoDB table\. Or name a change"):
        variants_of([], [packed("gone")], COPIED, WISH, missing)


def test_a_rule_that_was_named_is_tried_where_it_has_a_change_and_the_rest_is_told() -> None:
    both = [finding(remark("think about it"), about="shop.other"), packed("words")]
    named = replace(WISH, findings=("a-rule",))
    assert len(variants_of([], both, COPIED, named)) == 1
    assert not_tried(both, COPIED, named, {}) == ["a-rule (shop.other) was not tried: nothing of its change can be tried on a copy."]
    assert not_tried(both, COPIED, WISH, {}) == []


def test_whether_a_table_has_to_be_copied_is_known_before_anything_is_recorded() -> None:
    both, of_server = [packed("words"), packed("other")], finding(set_global("concurrent_insert", 2), about="")
    assert list(tables_of([*both, of_server])) == [("shop", "words"), ("shop", "other")]
    assert needs_one_of(variants_of([], both, None, WISH), both)
    assert not needs_one_of(variants_of([], [*both, of_server], None, WISH), [*both, of_server])
    assert not needs_one_of([Variant("by hand", statements=("ALTER TABLE x",))], both)
