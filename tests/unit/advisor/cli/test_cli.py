"""The program as a user runs it, on facts files: reports, exit statuses, errors."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from myisam_advisor.cli.commands.check import REPORTS
from myisam_advisor.cli.commands.plan import FORMATS
from tests.support.healthy import healthy_facts
from tests.support.program import PROGRAM, run, run_process
from tests.support.repository import ROOT
from tests.support.rules import MINIMAL, write

CRASHED = 'schema: 1\ntables: [{schema_name: "a/b", table_name: "x\\e[31m`|\\nDROP", row_format: fixed, crashed: 1, recovery_failed: 0}]\n'
HEALTHY = "schema: 1\ninterval_seconds: 10\nstatus_per_second: {Key_reads: 5, Key_read_requests: 5000}\nvariable: {key_buffer_size: 8388608}\ntotals: {myisam_tables: 4, crashed_tables: 0}\n"
NOTHING = "schema: 1\n"


def judge(facts: str, *words: object) -> subprocess.CompletedProcess[str]:
    return run("check", "--facts", "-", *words, stdin=facts)


def test_text_names_what_is_wrong_and_hides_no_control_character() -> None:
    done = judge(CRASHED)
    assert done.returncode == 1
    assert "CRITICAL" in done.stdout
    assert "table-crashed" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("facts", "words"), [(CRASHED, ()), (HEALTHY, ("--format", "json")), (NOTHING, ("--format", "nagios")), ("hello: 1\n", ())])
def test_a_process_of_its_own_says_and_ends_as_the_tests_do(facts: str, words: tuple[str, ...]) -> None:
    here, there = judge(facts, *words), run_process("check", "--facts", "-", *words, stdin=facts)
    timeless = [re.sub(r'"time": "[^"]+"', "", done.stdout) for done in (here, there)]
    assert (here.returncode, timeless[0], here.stderr) == (there.returncode, timeless[1], there.stderr)


def test_a_healthy_server_fits_on_one_screen() -> None:
    done = judge(yaml.safe_dump({"schema": 1, **healthy_facts()}))
    assert done.returncode == 0
    assert "Nothing to change." in done.stdout
    assert len(done.stdout.splitlines()) <= 24


def test_silence_of_most_rules_is_no_health() -> None:
    done = judge(HEALTHY)
    assert done.returncode == 0
    assert re.search(r"Nothing was found, but only \d rules could judge; \d\d lack a fact", done.stdout)
    assert "Nothing to change" not in done.stdout


def test_a_finding_is_named_by_its_number_or_its_rule() -> None:
    by_number, by_rule, none, quiet = (judge(CRASHED, name) for name in ("1", "table-crashed", "2", "swap-pressure"))
    assert (by_number.returncode, by_number.stdout) == (by_rule.returncode, by_rule.stdout)
    assert "REPAIR TABLE" in by_number.stdout
    assert (none.returncode, none.stdout) == (2, "")
    assert "there is no finding 2: this look has one. Each look numbers its findings anew; a rule's name stays the same." in none.stderr
    assert "swap-pressure: it needs" in quiet.stdout
    assert quiet.returncode == by_number.returncode == 1


def test_json_is_one_document_of_values() -> None:
    done = judge(CRASHED, "--format", "json")
    document = json.loads(done.stdout)
    assert {"schema", "server", "interval_seconds", "findings", "not_evaluated", "quiet"} <= document.keys()
    (finding,) = document["findings"]
    assert {"rule", "severity", "confidence", "scope", "object", "message", "evidence", "recommendation", "commands", "cost", "undo", "verify"} <= finding.keys()
    assert "CHECK TABLE `a/b`.`x\x1b[31m``|\nDROP`;" in finding["commands"]
    assert {"fact", "value", "unit", "threshold", "source"} == finding["evidence"][0].keys()
    assert {"rule", "needs", "how"} == document["not_evaluated"][0].keys()


@pytest.mark.parametrize(
    ("facts", "words", "status", "word"),
    [(CRASHED, (), 2, "CRITICAL"), (yaml.safe_dump({"schema": 1, **healthy_facts()}), (), 0, "OK"), (HEALTHY, (), 3, "UNKNOWN"), (NOTHING, (), 3, "UNKNOWN"), (CRASHED, ("--fail-on", "never"), 0, "OK"), ("hello: 1\n", (), 3, "UNKNOWN")],
)
def test_nagios_has_its_own_statuses(facts: str, words: tuple[str, ...], status: int, word: str) -> None:
    done = judge(facts, "--format", "nagios", *words)
    assert done.returncode == status
    first = done.stdout.splitlines()[0]
    assert first.startswith(f"MYISAM {word} - ")
    assert first.count("|") == (0 if "hello" in facts else 1)


def test_explain_is_written_in_sentences() -> None:
    text = run("explain", "table-lock-contention").stdout
    assert "Severity critical, warning or info, scope server\n" in text
    assert "What then holds the server back\n  Table locks.\n" in text
    assert "Severity critical, scope table" in run("explain", "table-crashed").stdout


def test_explain_hides_nothing_of_a_rule_that_somebody_else_wrote(tmp_path: Path) -> None:
    rule = yaml.safe_load((ROOT / "rules/advice/pack-keys.yaml").read_text("utf-8"))
    hidden = "\x1b]0;title\x07\x1b[8m\u202e\u200b\x9b2J"
    rule |= {"id": "given", "title": f"Given {hidden}", "why": f"For this {hidden}.", "sources": [f"https://example.org/{hidden}"]}
    rule["query"] = f"-- {hidden}\n{rule['query']}"
    (tmp_path / "given.yaml").write_text(yaml.safe_dump(rule))
    for words in ((), ("given", "--sql")):
        text = run("explain", *words, "--rules", tmp_path).stdout
        assert "Given \\x1b]0;title\\x07\\x1b[8m\\u202e\\u200b\\x9b2J" in text
        assert all(letter.isprintable() for line in text.split("\n") for letter in line)


FORMS = [*(("check", "--format", form) for form in REPORTS), *(("plan", "--format", form) for form in FORMATS)]
# Which have no place for these texts.
WITHOUT_TEXTS = [("plan", "--format", "cnf"), ("plan", "--format", "init-file")]


@pytest.mark.parametrize("words", [("check", "--full"), ("check", "own-rule"), ("check", "--verbose"), ("table", "shop.orders"), *FORMS])
def test_no_report_shows_texts_of_a_rule_as_anything_but_text(tmp_path: Path, words: tuple[str, ...]) -> None:
    hidden = "\x1b]0;title\x07\x1b[8m\u202e\u200b\x9b2J"
    texts = {name: f"One {hidden}</script>" for name in MINIMAL if name not in ("id", "severity", "scope", "query", "sources")}
    write(tmp_path, **texts, scope="table", query="SELECT schema_name, table_name FROM tables", commands=["SET GLOBAL a = 1"], to_do=f"Do {hidden}", sources=[hidden])
    facts = "schema: 1\ntables: [{schema_name: shop, table_name: orders, row_format: fixed, crashed: 0}]\n"
    text = run(*words, "--rules", tmp_path, "--facts", "-", stdin=facts).stdout
    assert "9b2J" in text or words in WITHOUT_TEXTS
    assert [letter for line in text.split("\n") for letter in line if not letter.isprintable()] == []
    assert "One</script>" not in text


@pytest.mark.parametrize(("level", "status"), [("critical", 1), ("warning", 1), ("info", 1), ("never", 0)])
def test_fail_on_decides_the_exit_status(level: str, status: int) -> None:
    assert judge(CRASHED, "--fail-on", level).returncode == status


def test_nothing_known_is_said_and_not_called_healthy() -> None:
    done = judge(NOTHING)
    assert done.returncode == 0
    assert "Nothing could be judged" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-h", "db1", "check"), "-h before the command asks for help. Its options stand behind it: myisam-advisor check -h 'db1'"),
        (("--debug", "-h", "127.0.0.1", "check"), "myisam-advisor check -h '127.0.0.1'"),
        (("-S", "/run/s", "check"), "No such option '-S' before the command. Its options stand behind it: myisam-advisor check -S ..."),
        (("--user", "monitor", "check"), "myisam-advisor check --user ..."),
    ],
)
def test_a_server_named_before_the_command_is_no_help_that_ends_well(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert message in done.stderr
    told = run(*words, "--format", "nagios")
    assert told.returncode == 3
    assert told.stdout.startswith("MYISAM UNKNOWN - ")


@pytest.mark.parametrize("words", [("-h",), ("-h", "check"), ("--debug", "-h"), ("--help", "check")])
def test_help_alone_and_before_a_command_is_help(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 0
    assert "Find out:" in done.stdout


def test_without_a_command_the_whole_help_is_shown_and_nothing_is_called_an_error() -> None:
    done = run()
    said = done.stdout + done.stderr
    assert said.rstrip() == run("--help").stdout.rstrip()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "--facts", "/nowhere/f.yaml"), "cannot read the facts file /nowhere/f.yaml"),
        (("check", "--socket", "/nowhere/s"), "the socket /nowhere/s does not exist"),
        (("check", "--socket", "/proc/self"), "no server: /proc/self is not a socket. Start the server, or name its socket"),
        (("check", "--host", "127.0.0.1", "--port", "1"), "no server answers at 127.0.0.1:1"),
        (("serve", "--no-history", "--web.listen-address", ":\u00b2"), "':\u00b2' is not an address to listen on: write 127.0.0.1:9942, [::1]:9942 or :9942."),
        (("serve", "--no-history", "--web.listen-address", ":\u0663"), "':\u0663' is not an address to listen on"),
        (("check", "--defaults-file", "/nowhere/my.cnf"), "/nowhere/my.cnf"),
        (("check", "--interval", "soon"), "write 10s, 500ms or 5min"),
        (("check", "--rules", "/nowhere"), "/nowhere does not exist"),
        (("check", "swap-presure"), "there is no rule 'swap-presure'. Did you mean swap-pressure?"),
        (("check", "--format", "html", "--statements"), "Error: --statements is for --format json and text."),
        (("check", "--unknown-as", "ok"), "Error: --unknown-as is for --format nagios alone"),
        (("check", "--format", "json", "--unknown-as", "unknown"), "Error: --unknown-as is for --format nagios alone"),
        (("migrate", "--target", "foo", "--socket", "/nowhere/s"), "--target foo: write a version such as mysql-8.4 or mariadb-11.8."),
        (("migrate", "--target", "mariadb-10.12", "--socket", "/nowhere/s"), "--target mariadb-10.12: there is no such version. Did you mean "),
        (("migrate", "--target", "5.5", "--socket", "/nowhere/s"), "the socket /nowhere/s does not exist"),
        (("check", "swap-pressure", "--format", "json"), "NUMBER and RULE are for --format text"),
        (("plan", "swap-presure"), "Did you mean swap-pressure?"),
        (("chekc",), "Error: there is no command 'chekc'. Did you mean check? `myisam-advisor --help` lists them."),
        (("",), "Error: there is no command ''. `myisam-advisor --help` lists them."),
        (("munin", "instal"), "Error: there is no command 'instal'. Did you mean install? `myisam-advisor munin --help` lists them."),
        (("munin", "install", "--instance", "x/y"), "'x/y' cannot name a server in munin: use letters, digits and _."),
        (("record", "--seconds", "5", "--output", "/tmp/never-written.gz"), "there is no terminal to ask on: add --yes"),
        (("trial", "key-cach"), "Error: there is no experiment 'key-cach'. Did you mean key-cache? Known are columns, "),
        (("explain", "--sql"), "Error: --sql is for one rule: name it, or leave out --sql."),
        (("history", "--list", "totals.data_bytes"), "Error: --list lists all facts: leave out FACT, or --list."),
        (("history", "--list", "--since", "2d"), "Error: --list lists all facts, however old: leave out --since, or --list."),
        (("serve", "--no-history", "--history", "h"), "Error: --no-history keeps none: leave out --history, or --no-history."),
        (("serve", "--no-history", "--web.socket-group", "munin"), "Error: --web.socket-group is the group of --web.socket: give both."),
        (("check", "--passwrod", "x"), "No such option"),
        (("facts", "hots"), "unknown fact table 'hots'"),
        (("explain", "nonsense"), "no rule 'nonsense'"),
        (("doctor", "--facts", "x"), "examines a server"),
        (("grants", "--socket", "/nowhere/s"), "/nowhere/s does not exist. Start the server, or name its socket (--socket) or its host (--host). The statements differ between versions"),
        (("grants", "--server-version", "x"), "--server-version 'x' holds no number such as"),
        (("rights", "--socket", "/nowhere/s", "--service", "none-of-this-name"), "Only a running server shows what the account may see"),
    ],
)
def test_mistakes_end_in_a_message_and_status_2(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT no_such_fact FROM tables", "unknown fact"),
        ("DELETE FROM tables", "may only read"),
        ("ATTACH '/tmp/never.db' AS x", "may only read"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", "longer than 2 s" if sys.version_info >= (3, 11) else "longer than 2 s|recursive queries need"),
    ],
)
def test_query_refuses_what_it_must(statement: str, message: str) -> None:
    done = run("query", statement, "--facts", "-", stdin=HEALTHY)
    assert done.returncode == 2
    assert re.search(message, done.stderr)
    assert not Path("/tmp/never.db").exists()


def test_query_and_facts_answer_in_three_forms() -> None:
    statement = "SELECT name, value FROM variable"
    assert json.loads(run("query", statement, "--facts", "-", "--format", "json", stdin=HEALTHY).stdout) == [{"name": "key_buffer_size", "value": 8388608}]
    assert run("query", statement, "--facts", "-", "--format", "csv", stdin=HEALTHY).stdout == "name,value\nkey_buffer_size,8388608\n"
    assert "key_buffer_size  8388608" in run("query", statement, "--facts", "-", stdin=HEALTHY).stdout
    assert "myisam_tables" in run("facts", "totals", "--facts", "-", stdin=HEALTHY).stdout
    assert "unknown: not in the facts file" in run("facts", "--facts", "-", stdin=HEALTHY).stdout
    assert json.loads(run("facts", "--facts", "-", "--format", "json", stdin=HEALTHY).stdout)["totals"]["myisam_tables"] == 4


def test_a_full_disk_ends_without_a_traceback() -> None:
    done = subprocess.run(["bash", "-c", f"'{PROGRAM}' facts --describe > /dev/full"], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "No space left on device" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("words", [["facts", "--describe"], ["explain"], ["grants", "--server-version", "10.11.6-MariaDB"], ["--help"]], ids=lambda words: words[0])
def test_a_command_whose_reader_left_ends_as_after_sigpipe(words: list[str]) -> None:
    """1 means findings; click ends so whatever wrote to a broken pipe. docs/decisions/063-a-reader-that-leaves.md."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_help_version_and_description() -> None:
    assert run_process("--version").stdout.startswith("myisam-advisor, version ")
    for command in ("check", "explain", "facts", "query", "snapshot", "doctor"):
        assert command in run("--help").stdout
        assert run(command, "--help").returncode == 0
    assert "update_count" not in run("facts", "--describe").stdout
    assert "write_statements_per_second" in run("facts", "--describe", "tables").stdout


def test_version_and_help_import_nothing_heavy() -> None:
    code = "import sys; import myisam_advisor.cli.group, myisam_advisor.cli.commands.check; print([m for m in ('MySQLdb', 'cryptography', 'getpass', 'logging', 'pymysql', 'nacl', 'ssl', 'rich', 'jinja2', 'psutil', 'yaml', 'jsonschema', 'prometheus_client', 'sqlite3') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_own_rules_are_judged_beside_the_shipped_ones(tmp_path: Path) -> None:
    texts = dict.fromkeys(("recommendation", "why", "when_wrong", "expect", "cost", "undo", "verify"), "Text.")
    lines = ["id: ours", "title: Ours", "severity: warning", "scope: server", "query: SELECT 7 AS seven", 'finding: "seven is {{ seven }}"', "sources: [us]", *(f"{key}: {value}" for key, value in texts.items())]
    (tmp_path / "ours.yaml").write_text("\n".join(lines))
    done = judge(HEALTHY, "--rules", tmp_path)
    assert done.returncode == 1
    assert "seven is 7" in done.stdout
    (tmp_path / "ours.yaml").write_text("\n".join(lines).replace("warning", "loud"))
    broken = judge(HEALTHY, "--rules", tmp_path)
    assert broken.returncode == 2
    assert f"{tmp_path}/ours.yaml, line 3: severity: 'loud'" in broken.stderr


def test_metrics_for_a_textfile_replace_it_whole(tmp_path: Path) -> None:
    facts, file = tmp_path / "facts.yaml", tmp_path / "advisor.prom"
    facts.write_text(CRASHED)
    file.write_text("old\n")
    done = run("check", "--facts", facts, "--format", "prometheus", "--output", file)
    assert done.returncode == 1
    assert done.stdout == ""
    lines = file.read_text().splitlines()
    assert 'myisam_advice_findings{severity="critical"} 1.0' in lines
    assert any(line.startswith("myisam_advice_check_timestamp_seconds 1") for line in lines)
    assert any(line.startswith("myisam_advice_finding{") and "\\n" in line for line in lines)
    assert file.stat().st_mode & 0o777 == 0o644
    assert {path.name for path in tmp_path.iterdir()} == {"facts.yaml", "advisor.prom"}


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    facts, folder = tmp_path / "facts.yaml", tmp_path / "folder"
    facts.write_text(CRASHED)
    folder.mkdir()
    for target in (folder, tmp_path / "missing" / "x"):
        done = run("check", "--facts", facts, "--output", target)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("host", ["a..b", "a" * 300, "\udcff"])
def test_what_is_no_name_of_a_host_is_said(host: str) -> None:
    for words in (("check", "--interval", "0", "--host", host), ("serve", "--no-history", "--no-own-server", "--web.listen-address", f"{host}:9999")):
        done = run(*words)
        assert done.returncode == 2
        assert "it is not a host name" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_bytes_that_are_no_text_are_no_query() -> None:
    done = run("query", "SELECT '\udcff'", "--facts", "-", stdin=HEALTHY)
    assert (done.returncode, done.stderr) == (2, "myisam-advisor: query: the query has bytes that are not UTF-8.\n")


@pytest.mark.parametrize(("encoding", "sign"), [("ascii", "-"), ("latin-1", "·"), ("utf-8", "·")])
def test_the_first_line_is_read_in_any_encoding(encoding: str, sign: str) -> None:
    first, *_ = run("check", "--facts", "-", stdin=json.dumps({"schema": 1, "server": {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": 86400}}), encoding=encoding).stdout.splitlines()
    assert first.startswith(f"MariaDB 10.11.6 {sign} up 24 h {sign} "), first
    assert "\\x" not in first
