import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import open_database
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.document import as_document
from myisam_advisor.factbase.file import MAXIMUM_JSON_MEMORY_BYTES, MAXIMUM_PAIRS, facts_from_document, read_facts_file
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.texts.templates import count, duration, percent, rate, size
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.errors import UserError
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.version import __version__

GOOD = """schema: 1
interval_seconds: 10
server: {flavour: mariadb, version: 10.3.39, uptime_seconds: 432000}
variable: {key_buffer_size: 8388608, table_open_cache: 400, myisam_use_mmap: ON, read_buffer_size: 5M, myisam_mmap_size: 18446744073709551615}
status: {Key_reads: 17, Key_read_requests: 141}
status_per_second: {Key_reads: 1.5}
totals: {myisam_tables: 12, myisam_index_bytes: 12897484}
tables:
  - {schema_name: a, table_name: b, crashed: true}
"""


def write(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


def test_reads_the_example_of_the_contract(tmp_path: Path) -> None:
    facts = complete(read_facts_file(write(tmp_path / "f.yaml", GOOD)))
    variables = {row["name"]: row["value"] for row in facts.tables["variable"].dictionaries()}
    assert variables["myisam_use_mmap"] == "ON"
    assert variables["read_buffer_size"] == 5 * 1024 * 1024
    assert facts.single("server")["version_number"] == 100339
    assert facts.tables["key_cache"].dictionaries()[0]["reads_per_second"] == 1.5
    assert facts.tables["tables"].dictionaries()[0]["crashed"] == 1
    assert facts.why_unknown("host", "cpu_count").reason == "not in the facts file"
    assert facts.interval_seconds == 10


@pytest.mark.parametrize(
    ("version", "flavour", "number"),
    [
        ("MariaDB 10.3", "mariadb", 100300), ("10.6.12", "mariadb", 100612), ("5.5.5-10.3.39-MariaDB", "mariadb", 100339), ("MySQL 5.7", "mysql", 50700), ("5.1.21-beta", "mysql", 50121),
        ("Percona Server 5.7.44-48", "percona", 50744), ("9.7.4", "mysql", 90704), ("26.10", "mysql", 261000),
    ],
)  # fmt: skip
def test_versions_are_understood_as_people_write_them(version: str, flavour: str, number: int) -> None:
    server = complete(facts_from_document({"schema": 1, "server": {"version": version}})).single("server")
    assert (server["flavour"], server["version_number"]) == (flavour, number)


@pytest.mark.parametrize(
    ("written", "version"),
    [("5.5.5-10.3.39-MariaDB-log", "10.3.39-MariaDB-log"), ("MariaDB 10.3", "10.3"), ("MySQL 5.1.57", "5.1.57"), ("5.5.5-m3", "5.5.5-m3"), ("10.11.6-MariaDB", "10.11.6-MariaDB"), ("none", "none")],
)  # fmt: skip
def test_a_version_is_shown_without_a_name_and_without_what_mariadb_greets_with(written: str, version: str) -> None:
    assert complete(facts_from_document({"schema": 1, "server": {"version": written}})).single("server")["version"] == version


@pytest.mark.parametrize(("text", "value"), [("32M", 32 << 20), ("32MB", 32 << 20), ("128.0M", 128 << 20), ("1 GiB", 1 << 30), ("16k", 16384), ("BACKUP,QUICK", "BACKUP,QUICK"), ("5min", "5min")])
def test_sizes_are_understood_as_option_files_and_people_write_them(text: str, value: object) -> None:
    facts = facts_from_document({"schema": 1, "variable": {"x": text}})
    assert facts.tables["variable"].dictionaries()[0]["value"] == value


def test_what_follows_from_a_key_caches_size_and_the_status_is_filled_in() -> None:
    facts = complete(
        facts_from_document(
            {"schema": 1, "interval_seconds": 10, "key_cache": [{"name": "default", "size_bytes": 134217728}], "status": {"Key_reads": 9}, "status_per_second": {"Key_reads": 5, "Key_read_requests": 50}}
        )
    )
    (cache,) = facts.tables["key_cache"].dictionaries()
    assert (cache["usable_bytes"], cache["reads"], cache["reads_per_second"], cache["miss_ratio"]) == (109774848, 9, 5, 0.1)


def test_what_a_snapshot_writes_is_read_again(tmp_path: Path) -> None:
    facts = complete(read_facts_file(write(tmp_path / "f.yaml", GOOD)))
    document = json.loads(json.dumps(as_document(facts, 0.0)))
    again = as_document(complete(facts_from_document(document)), 0.0)
    assert again == document


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (3, "schema: 1\n\nhots: {}\n", "unknown fact table 'hots'"),
        (3, "schema: 1\nhost:\n  cpus: 3\n", "unknown column 'cpus' in host"),
        (4, "schema: 1\ntables:\n  - {schema_name: a, table_name: b}\n  - {schema_name: a, rows: many}\n", "tables.rows must be a whole number, not 'many'"),
        (2, "schema: 1\nserver: [1]\n", "server holds mappings"),
        (2, "schema: 1\ntables: {a: b}\n", "tables must be a list"),
        (2, "schema: 1\nstatus: 3\n", "status must map names"),
        (2, "schema: 1\nstatus_per_second: {Key_reads: fast}\n", "the rate of Key_reads must be a number"),
        (2, "schema: 1\nstatus_per_second: {Key_reads: 5000}\n", "Key_reads is a rate: write interval_seconds, over how many seconds it was taken"),
        (3, "schema: 1\nkey_cache:\n- {name: default, reads_per_second: 5000}\n", "reads_per_second is a rate: write interval_seconds"),
        (2, "schema: 1\nhost: {swap_in_bytes_per_second: 0}\n", "swap_in_bytes_per_second is a rate"),
        (2, "schema: 1\nvariable: {a: [1]}\n", "the value of a must be"),
        (2, "schema: 1\ninterval_seconds: 0\n", "above 0"),
        (2, "schema: 1\nhost: {cpu_iowait_ratio: .nan}\n", "must be a number, not nan"),
        (2, "schema: 1\nserver: {flavour: rds, version: 5.7.44-rds}\n", "server.flavour must be mysql, mariadb or percona, not 'rds'"),
        (3, "schema: 1\ntables:\n  - {row_format: compact}\n", "tables.row_format must be fixed, dynamic or compressed, not 'compact'"),
        (1, "schema: 0\n", "schema must be 1"),
        (1, "schema: '9'\n", "schema must be 1"),
        (1, '{"schema": 9}', "the file is of a newer version of this program (schema 9; this one reads 1): read it with that version"),
        (1, "server: {}\n", "schema must be 1"),
        (1, "- 1\n", "is a mapping"),
        (2, "schema: 1\nserver: {flavour: [}\n", "neither JSON nor YAML"),
        (2, '{"schema": 1,\n"hots": {}}', "unknown fact table 'hots'"),
    ],
)
def test_faults_name_the_line(tmp_path: Path, line: int, text: str, message: str) -> None:
    path = write(tmp_path / "f.yaml", text)
    with pytest.raises(UserError) as caught:
        read_facts_file(path)
    assert f"{path}, line {line}: " in str(caught.value)
    assert message in str(caught.value)


def test_rates_that_are_not_known_need_no_interval(tmp_path: Path) -> None:
    """`snapshot --interval 0` and people write them so."""
    told = write(tmp_path / "f.yaml", "schema: 1\nkey_cache: [{name: default, reads_per_second: null}]\nstatus_per_second: {Key_reads: null}\n")
    assert read_facts_file(told).interval_seconds is None


def test_a_file_of_another_release_that_cannot_be_read_is_told_so(tmp_path: Path) -> None:
    told = {"schema": 1, "tool": {"name": "myisam-advisor", "version": "9.1"}, "host": {"further": 3}}
    with pytest.raises(UserError) as caught:
        read_facts_file(write(tmp_path / "f.json", json.dumps(told)))
    assert str(caught.value).endswith(f" (version '9.1' of this program wrote the file, this is {__version__}: read it with that one)")


LARGEST = 18446744073709551615
STRANGE = {
    "a counter of 2^64-1": f"schema: 1\nstatus: {{Key_reads: {LARGEST}, Key_read_requests: {LARGEST}, Key_writes: {LARGEST}, Key_write_requests: {LARGEST}}}\n",
    "variables of 2^64-1": f"schema: 1\nvariable: {{key_buffer_size: {LARGEST}, key_cache_block_size: {LARGEST}, key_cache_segments: {LARGEST}}}\n",
    "sums beyond 2^63": json.dumps({"schema": 1, "tables": [{"schema_name": "s", "table_name": f"t{number}", "data_bytes": 2**63 - 1, "index_bytes": 2**63 - 1, "rows": 2**63 - 1} for number in range(3)]}),
    "a version of 20 digits": "schema: 1\nserver: {version: 99999999999999999999.9.9}\n",
    "a version of 5000 digits": f"schema: 1\nserver: {{version: '{'9' * 5000}.9'}}\n",
    "a rate of 90 digits": f"schema: 1\ninterval_seconds: 60\nstatus_per_second: {{Key_reads: {'9' * 90}}}\n",
    "a block of no bytes": "schema: 1\nkey_cache: [{name: x, size_bytes: 5, block_size_bytes: -228}]\n",
    "writes without statements": "schema: 1\ninterval_seconds: 60\nstatus_per_second: {Questions: 0.0, Com_insert: 1.0e+308}\n",
    "writes below nothing": "schema: 1\ninterval_seconds: 60\nstatus_per_second: {Questions: 0.0, Com_insert: -1.0e+308}\n",
    "a superscript": "schema: 1\nvariable: {key_buffer_size: '\u00b2'}\n",
    "a date that there is not": "schema: 1\nserver: {version: 2001-13-45}\n",
    "huge everything": "schema: 1\ninterval_seconds: 10\nstatus: {Key_reads: 1.0e+300}\nhost: {memory_bytes: 9223372036854775807}\nvariable: {key_buffer_size: 1.0e+300, read_buffer_size: 1.0e+300}\n",
}


@pytest.mark.parametrize("what", STRANGE)
def test_strange_numbers_are_judged_or_unknown(tmp_path: Path, what: str) -> None:
    facts = complete(read_facts_file(write(tmp_path / "f.yaml", STRANGE[what])))
    judgement = judge(prepared(facts, Site(shipped_rules())))
    assert judgement.quiet or judgement.findings or judgement.not_evaluated
    assert not [one for one in judgement.not_evaluated if "planner that works" in one.needs or "texts that work" in one.needs]
    with open_database(facts) as database:
        assert database.query("SELECT count(*) FROM status").rows[0]
    json.dumps(as_document(facts), allow_nan=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"schema: 1\nstatus: {{Key_reads: {'9' * 400}}}\n", "line 2: .*a number of 400 characters"),
        (f"schema: 1\nstatus: {{Key_reads: {'9' * 5000}}}\n", "line 2: .*a number of 5000 characters"),
        (f'{{"schema": 1, "status": {{"Key_reads": {"9" * 5000}}}}}', "a number of 5000 characters"),
        (f"schema: 1\ninterval_seconds: {'9' * 90}\n", "line 2: interval_seconds must be .*not a whole number of 299 bits"),
        (f"schema: 1\nvariable: {{size: {'9' * 400}g}}\n", "line 2: the value of size must be a number"),
        ("schema: 1\nstatus: {Key_reads: .inf}\n", "line 2: the value of Key_reads must be a number or text, not inf"),
        ("schema: 1\nstatus: {Key_reads: .nan}\n", "not nan"),
        ("schema: 1\ntables: [{schema_name: a, table_name: b, rows: 1.0e+300}]\n", "rows must be a whole number"),
        (
            "schema: 1\ntables: [{schema_name: a, table_name: b, auto_increment_maximum: 18446744073709551615}]\n",
            "must be a whole number of at most 9223372036854775807, not 18446744073709551615",
        ),
        ('{"schema": 1, "status": {"Key_reads": NaN}}', "NaN is not a number"),
        ('{"schema": 1, "server": {"hostname": "\\ud800"}}', "half of a character"),
        ('{"schema": 1, "a": ' + "[" * 100_000, "nested too deeply"),
        ("schema: 1\ninterval_seconds: &a [" + "x, " * 1000 + "x]\n", r"not \['x', 'x'"),
        ("schema: 1\n" + "# " + "x" * (5 << 20), "write it as JSON"),
    ],
)
def test_what_cannot_be_a_fact_is_one_short_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_facts_file(write(tmp_path / "f.yaml", text))
    assert len(str(caught.value)) < 500


def test_numbers_that_sqlite_does_not_take_are_bounded_wherever_they_are_from() -> None:
    columns = tuple(column.name for column in declared_columns()["tables"])

    def row(number: int, **values: object) -> list[object]:
        return [{"schema_name": "s", "table_name": f"t{number}", **values}.get(column) for column in columns]

    strange = [row(0, rows=2**64, data_bytes=10**400, write_statements_per_second=math.inf, rows_read_per_second=math.nan), row(1, table_name="\ud800", row_format="x" * 10**6)]
    for others in (0, 2000):  # small tables are looked at, large ones filled in as they are where that is possible
        rows = FactRows(columns, [*strange, *(row(number) for number in range(2, others))])  # type: ignore[list-item]
        empty = facts_from_document({"schema": 1})
        facts = complete(FactSet({**empty.tables, "tables": rows}, empty.unknown))
        with open_database(facts) as database:
            found = database.query("SELECT rows, data_bytes, write_statements_per_second, rows_read_per_second FROM tables LIMIT 1").rows[0]
            assert found == (2.0**64, None, None, None)
            assert database.query("SELECT table_name, length(row_format) FROM tables LIMIT 1 OFFSET 1").rows[0] == ("\\ud800", 4096)


@pytest.mark.parametrize("say", [size, count, rate, percent, duration])
def test_numbers_in_texts_are_said_or_unknown(say: Callable[[float | None], str]) -> None:
    for value in (None, "text", math.nan, math.inf, -math.inf, 10**400):
        assert say(value) == "unknown"  # type: ignore[arg-type]
    for value in (0, -1, 1e300, 2**64, 1e-300):
        assert say(value)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", None])
def test_no_text_and_no_file_are_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "f.bin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"f\.bin"):
        read_facts_file(str(path))


def test_a_yaml_file_cannot_make_objects(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither JSON nor YAML"):
        read_facts_file(write(tmp_path / "f.yaml", "schema: 1\nserver: !!python/object/apply:os.system ['true']\n"))


@pytest.mark.parametrize("table", ["status", "variable", "status_per_second"])
def test_more_names_than_any_server_has_are_refused(table: str) -> None:
    content = {f"n{number}": 1 for number in range(MAXIMUM_PAIRS + 1)}
    with pytest.raises(ValueError, match=f"{table} has 20001 names; at most 20000 are read"):
        facts_from_document({"schema": 1, table: content})
    del content["n0"]
    assert facts_from_document({"schema": 1, table: content}).tables


def test_facts_of_a_hundred_thousand_tables_are_within_the_memory_they_may_take() -> None:
    """A thousand tables and a hundredth of the memory; the same number of names that all differ is not within it."""
    rows = [{f"a_column_of_this_name_{column}": table * 1000 for column in range(75)} for table in range(1000)]
    written = json.dumps({"schema": 1, "tables": rows, "indexes": [{"a": 1}] * 2000}, indent=1)
    assert parse_json(written, MAXIMUM_JSON_MEMORY_BYTES // 100)
    with pytest.raises(DocumentError, match="more than 5 MiB of memory"):
        parse_json(json.dumps({"schema": 1, "status": {f"a{number}": 1 for number in range(75_000)}}), MAXIMUM_JSON_MEMORY_BYTES // 100)


def test_an_empty_list_says_that_there_are_none_and_a_table_that_is_left_out_nothing() -> None:
    replicas = {"schema": 1, "totals": {"myisam_tables": 3}}
    assert "replica.channel" in facts_from_document(replicas).unknown
    none = facts_from_document({**replicas, "replica": []})
    assert [name for name in none.unknown if name.startswith("replica")] == []
    judgement = judge(prepared(none, Site(shipped_rules())))
    assert "replica-not-crash-safe" in judgement.quiet


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("tables:\n  - {schema_name: a, table_name: b, crashed: 1}\n  - {schema_name: a, table_name: b, crashed: 0}\n", 4, "'a'.'b' is there twice in tables"),
        ("key_cache:\n  - {name: default, size_bytes: 8}\n  - {name: default, size_bytes: 9}\n", 4, "'default' is there twice in key_cache"),
        ("indexes:\n  - {schema_name: a, table_name: b, index_number: 1}\n  - {schema_name: a, table_name: b, index_number: 1}\n", 4, "'a'.'b'.1 is there twice in indexes"),
        ("status:\n  Key_reads: 5\n  KEY_READS: 6\n", 4, "Key_reads is there twice in status"),
    ],
)  # fmt: skip
def test_what_is_there_twice_is_no_fact(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(UserError, match=f"line {line}: {message}"):
        read_facts_file(write(tmp_path / "f.yaml", f"schema: 1\n{text}"))


def test_rows_without_a_name_are_rows_each(tmp_path: Path) -> None:
    facts = read_facts_file(write(tmp_path / "f.yaml", "schema: 1\ntables: [{crashed: 1}, {crashed: 1}]\n"))
    assert len(facts.tables["tables"].rows) == 2


@pytest.mark.parametrize("text", ["schema: 1\nserver: {flavour: mariadb, version: 10.10}\n", '{"schema": 1, "server": {"version": 10.10, "flavour": "mariadb"}}', "schema: 1\nserver:\n  version: 10.10\n  flavour: mariadb\n"])
def test_a_version_that_looks_like_a_number_keeps_its_last_nought(tmp_path: Path, text: str) -> None:
    server = complete(read_facts_file(write(tmp_path / "f.yaml", text))).single("server")
    assert (server["version"], server["version_number"]) == ("10.10", 101000)


def test_names_in_capitals_are_those_of_information_schema() -> None:
    facts = facts_from_document({"schema": 1, "variable": {"KEY_BUFFER_SIZE": 8}, "status": {"KEY_READS": 5, "WSREP_CLUSTER_SIZE": 3, "Com_select": 7}})
    assert [row["name"] for table in ("variable", "status") for row in facts.tables[table].dictionaries()] == ["key_buffer_size", "Key_reads", "wsrep_cluster_size", "Com_select"]


def test_names_and_switches_are_understood_as_option_files_and_exporters_write_them() -> None:
    facts = facts_from_document({"schema": 1, "variable": {"delay-key-write": "on", "log_bin": "Off"}, "status": {"key_reads": 5, "wsrep_cluster_size": 3}})
    rows = [(row["name"], row["value"]) for table in ("variable", "status") for row in facts.tables[table].dictionaries()]
    assert rows == [("delay_key_write", "ON"), ("log_bin", "OFF"), ("Key_reads", 5), ("wsrep_cluster_size", 3)]


def test_a_process_list_that_was_copied_has_a_row_for_each_connection() -> None:
    rows = [{"state": "Waiting for table metadata lock", "command": "Query"}] * 4
    facts = facts_from_document({"schema": 1, "processlist": [*rows, {"state": "", "command": "Sleep", "threads": 9}]})
    assert [row["threads"] for row in facts.tables["processlist"].dictionaries()] == [1, 1, 1, 1, 9]
    assert "lock-pile-up" in {finding.rule for finding in judge(prepared(facts, Site(shipped_rules()))).findings}


@pytest.mark.parametrize("version", ["10.6.18-MariaDB-1:10.6.18+maria~ubu2004", "5.5.68-MariaDB", "11.4.2"])
def test_a_version_that_is_mariadbs_alone_is_mariadbs_whatever_the_server_is_called(version: str) -> None:
    server = complete(facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": version}})).single("server")
    assert server["flavour"] == "mariadb"
    server = complete(facts_from_document({"schema": 1, "server": {"flavour": "percona", "version": "8.0.36"}})).single("server")
    assert server["flavour"] == "percona"


def test_words_are_understood_as_servers_and_people_write_them() -> None:
    """A compressed table cannot grow: told as Compressed, it was found close to its size limit. For a flavour that no rule knows, none spoke."""
    document = {"schema": 1, "server": {"flavour": "Percona Server"}, "tables": [{"row_format": "Compressed"}], "indexes": [{"algorithm": "BTREE"}, {"algorithm": "SPATIAL"}]}
    tables = facts_from_document(document).tables
    assert [tables["server"].values("flavour"), tables["tables"].values("row_format"), tables["indexes"].values("algorithm")] == [["percona"], ["compressed"], ["btree", "rtree"]]


def test_no_number_has_more_digits_than_a_person_reads() -> None:
    assert [count(18446744073709551615), count(1e300), rate(1e300)] == ["18,446,744,073,709,551,615", "1e+300", "1e+300/s"]
