"""Facts without names: none is left, the same are the same, and rules find what they found."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from myisam_advisor.factbase.anonymous import KEPT_KEYS, NAMES, OUR_WORDS, VERSIONS, WORD_VARIABLES, anonymised
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.document import as_document
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import TABLES
from tests.rules.test_cases import CASES
from tests.rules.test_cases import judged as judged_case
from tests.support.judging import judged_facts
from tests.support.program import run
from tests.support.recorded import RecordedLook


def judged(document: dict[str, Any]) -> Judgement:
    return judged_facts(facts_from_document(document))


def told(judgement: Judgement) -> list[object]:
    """What was found, in its order, but for names: findings are held together by their rules and numbers."""
    return [
        *((one.rule, one.severity, one.confidence, one.variable, [fact.value for fact in one.evidence if not isinstance(fact.value, str)], len(one.commands)) for one in judgement.findings),
        sorted(judgement.quiet),
        [one.rule for one in judgement.not_evaluated],
        [(one.rule, one.contradicted) for one in judgement.dropped],
        [one.rule for one in judgement.not_applicable],
        [one.what for one in judgement.blind],
        len(judgement.suspicious),
    ]  # fmt: skip


@pytest.mark.parametrize("rule", sorted({rule for rule, _ in CASES}))
def test_every_case_is_found_as_it_was(rule: str) -> None:
    for stem, case in CASES:
        if stem == rule:
            document = {"schema": 1, **case["facts"]}
            named = judged(document) if case.get("proofs") else judged_case(case)
            assert told(judged(anonymised(document))) == told(named), case["name"]


def test_a_recorded_machine_is_found_as_it_was(look: RecordedLook) -> None:
    document = as_document(look.facts, 0.0)
    hidden = anonymised(document)
    assert told(judged(hidden)) == told(judged(document))
    text = "\n".join(row[name] for row, name, _ in every_text(hidden))
    for name in ("shop", "archive", "counters", "orders", "broken", "old_log", "srv", "recorded", "hot", "deb12u1", "BEGIN PUBLIC KEY", "07b18988"):
        assert name not in text, name
    assert (hidden["time"], hidden["tool"]) == (document["time"], document["tool"])


def every_text(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Each place where a text is, and its column."""
    for table, content in document.items():
        if table in KEPT_KEYS or table.endswith("_per_second"):
            continue
        for row in content if isinstance(content, list) else [content]:
            for name, value in row.items():
                if isinstance(value, str) and value:
                    yield row, name, f"{table}.{name}"


def test_no_text_is_left_but_words_of_the_server(look: RecordedLook) -> None:
    """Wherever a text may stand, a name of the user's is put: none is in what comes out."""
    document = copy.deepcopy(as_document(look.facts, 0.0))
    secrets = []
    for number, (row, name, column) in enumerate(list(every_text(document))):
        if column not in OUR_WORDS and not (column.startswith("variable.") and WORD_VARIABLES.fullmatch(name)):
            secret = f"secrétive{number}x"
            secrets.append(secret)
            row[name] = secret if number % 3 else f"/{secret}/{secret}y/"
    text = json.dumps(anonymised(document), ensure_ascii=False)
    assert len(secrets) > 100
    assert "secr" not in text


def test_all_columns_of_text_are_known_or_replaced() -> None:
    """In each column that a fact table declares."""
    row = {table.name: {column.name: "Sécret-name" for column in declared_columns()[table.name] if column.type == "text"} for table in TABLES if table.shape != "pairs"}
    document = {"schema": 1, **{table.name: row[table.name] if table.shape == "single" else [row[table.name]] for table in TABLES if table.name in row}}
    hidden = anonymised(document)
    left = {f"{table}.{name}" for table, content in hidden.items() if table != "schema" for one in ([content] if isinstance(content, dict) else content) for name, value in one.items() if "cret" in value}
    assert left <= OUR_WORDS
    declared = {f"{table.name}.{column.name}" for table in TABLES for column in declared_columns()[table.name]}
    assert declared >= OUR_WORDS
    assert {name for name in VERSIONS if not name.startswith("variable.")} <= declared
    assert {name for name in NAMES if "." in name} <= declared


def test_the_same_stay_the_same_and_in_their_order() -> None:
    document = {
        "schema": 1,
        "server": {"data_directory": "/srv/db/", "hostname": "db7", "version": "10.11.4-MariaDB-acme"},
        "variable": {"tmpdir": "/srv/db/tmp", "init_file": "", "log_bin": "ON", "key_buffer_size": 8388608, "init_connect": "SET @x = 'Bob'", "hostname": "db7", "report_port": "3306", "sql_mode": "ANSI"},
        "key_cache": [{"name": "default"}, {"name": "bob_cache"}],
        "tables": [{"schema_name": "shop", "table_name": name, "key_cache": "bob_cache"} for name in ("b#P#p2020", "a", "c")],
        "indexes": [{"schema_name": "shop", "table_name": "a", "index_name": name} for name in ("PRIMARY", "bobs")],
    }
    hidden = anonymised(document)
    assert hidden["server"] == {"data_directory": "/part2/part1/", "hostname": "host1", "version": "10.11.4-MariaDB"}
    assert hidden["variable"] == {"tmpdir": "/part2/part1/part3", "init_file": "", "log_bin": "ON", "key_buffer_size": 8388608, "init_connect": "text1", "hostname": "text2", "report_port": "3306", "sql_mode": "ANSI"}
    assert [row["table_name"] for row in hidden["tables"]] == ["table2#P#table4", "table1", "table3"]
    assert {row["schema_name"] for row in (*hidden["tables"], *hidden["indexes"])} == {"schema1"}
    assert hidden["tables"][0]["key_cache"] == hidden["key_cache"][1]["name"] == "cache1"
    assert hidden["key_cache"][0]["name"] == "default"
    assert [row["index_name"] for row in hidden["indexes"]] == ["PRIMARY", "index1"]
    assert document["server"]["hostname"] == "db7", "what was given is not changed"  # type: ignore[index]


def test_who_made_and_who_runs_the_server_is_no_secret() -> None:
    """What SHOW VARIABLES printed tells both: RDS takes other remedies, and Percona Server has other variables."""
    variables = {"version": "5.5.20-acme", "version_comment": "Percona Server of Acme", "datadir": "/rdsdbdata/db/", "basedir": "/rdsdbbin/acme/", "version_compile_os": "Win64"}
    hidden = anonymised({"schema": 1, "variable": variables})
    assert hidden["variable"] == {"version": "5.5.20", "version_comment": "Percona", "datadir": "/rdsdbdata/part2/", "basedir": "/rdsdbbin/part1/", "version_compile_os": "Win64"}
    assert complete(facts_from_document(hidden)).single("server")["flavour"] == "percona"


def test_the_command_line() -> None:
    facts = 'schema: 1\ntables: [{schema_name: bobs_shop, table_name: orders, crashed: 1}]\n'
    plain, hidden, american = (run("snapshot", "--interval", "0", "--facts", "-", *words, stdin=facts) for words in ((), ("--anonymise",), ("--anonymize",)))
    assert "bobs_shop" in plain.stdout
    for done in (hidden, american):
        assert done.returncode == 0
        assert "bob" not in done.stdout
        assert json.loads(done.stdout)["tables"][0]["crashed"] == 1
        assert "table-crashed" in run("check", "--facts", "-", stdin=done.stdout).stdout
