import json
from pathlib import Path

import pytest

from myisam_advisor.facts import as_document, complete
from myisam_advisor.facts_file import facts_from_document, read_facts_file
from myisam_exporter.errors import UserError

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
    document = json.loads(json.dumps(as_document(facts)))
    again = as_document(complete(facts_from_document(document)))
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
        (2, "schema: 1\nvariable: {a: [1]}\n", "the value of a must be"),
        (2, "schema: 1\ninterval_seconds: 0\n", "above 0"),
        (2, "schema: 1\nhost: {cpu_iowait_ratio: .nan}\n", "must be a number, not nan"),
        (1, "schema: 7\n", "schema must be 1"),
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
