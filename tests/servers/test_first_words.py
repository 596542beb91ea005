"""The first words in every form, with exactly the rights that `grants` prints: under profile A's user, from afar, and as root.

Profile A (docs/guide/production.md): a user of its own, no capability, no access to the data directory; it is closed whole, or its databases are, as Debian's.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.tables import AlterTable, option
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.myi_header import CHANGED_CRASHED
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.account import statements
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from tests.support.daemon import Answer, Daemon, free_port, wait_for
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of, working

from .conftest import OTHER_UID, schema, target

ACCOUNT, PASSWORD = "looker", "correct horse 5!"
FAR = "127.0.0.2"  # this machine, by an address that is not known as its own
PROFILE_A = ("setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
STATE_CHANGED_POSITION = 26
OWN_ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class Onlooker:
    """Who looks: the words before the program, and its options."""

    before: tuple[str, ...]
    options: tuple[str, ...]

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        whole = [*self.before, str(PROGRAM), command, *self.options, *words]
        return subprocess.run(whole, capture_output=True, text=True, env=OWN_ENVIRONMENT, check=False, timeout=60)

    def check(self, form: str) -> subprocess.CompletedProcess[str]:
        return self.run("check", "--interval", "1s", "--format", form)


@pytest.fixture(scope="module", params=["mariadb-10.11", "mysql-9.7"])
def reachable(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateServer]:
    """A server that answers on all addresses, with a crashed table in it, and somebody at work."""
    if os.geteuid() != 0:
        pytest.skip("only root can take rights away from itself")
    if subprocess.run([*PROFILE_A, str(PROGRAM), "--version"], capture_output=True, check=False).returncode:
        pytest.skip("this checkout, or its Python, is closed to other users")
    options = ["--bind-address=0.0.0.0", "--loose-userstat=1", "--myisam-recover-options=BACKUP,QUICK"]
    with CopiedServer(binaries_of(request.param), options, port=free_port()) as running, schema(running, "words") as name:
        running.execute(
            "CREATE TABLE whole (id INT PRIMARY KEY AUTO_INCREMENT) ENGINE=MyISAM", "CREATE TABLE broken (id INT PRIMARY KEY) ENGINE=MyISAM",
            "CREATE TABLE wide (id INT PRIMARY KEY AUTO_INCREMENT, short VARCHAR(20) NOT NULL) ENGINE=MyISAM ROW_FORMAT=DYNAMIC",
            "INSERT INTO wide (short) VALUES ('nearly twenty chars')",
            *["INSERT INTO wide (short) SELECT short FROM wide"] * 12, "INSERT INTO broken VALUES (1)", "FLUSH TABLES", database=name,
        )  # fmt: skip
        header = running.data_directory / name / "broken.MYI"
        data = bytearray(header.read_bytes())
        data[STATE_CHANGED_POSITION] |= CHANGED_CRASHED
        header.write_bytes(data)
        with Session(target(running), 10) as session:
            version = session.version
        for host in ("localhost", "%"):
            running.execute(*(line.partition(";  --")[0].replace("<password>", f"'{PASSWORD}'") for line in statements(version, ACCOUNT, host, by_password=True)))
        # A hash is enough from afar once the server has seen the account by its socket.
        collect_facts(Target(ACCOUNT, PASSWORD, socket=running.socket), 0.0, 10)
        # A light load: no rule has anything to say of it.
        with working(running, name, ["INSERT INTO whole SELECT NULL FROM (SELECT SLEEP(0.05)) paused"]):
            yield running


@contextmanager
def closed(*directories: Path) -> Iterator[None]:
    modes = [directory.stat().st_mode for directory in directories]
    for directory in directories:
        directory.chmod(0o700)
    try:
        yield
    finally:
        for directory, mode in zip(directories, modes, strict=True):
            directory.chmod(mode)


@pytest.fixture
def option_file(tmp_path: Path) -> Path:
    """The account, for both users."""
    path = tmp_path / "client.cnf"
    path.write_text(f'[client]\nuser="{ACCOUNT}"\npassword="{PASSWORD}"\n')
    os.chown(path, OTHER_UID, OTHER_UID)
    path.chmod(0o600)
    for folder in path.parents:
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    return path


@pytest.fixture(params=["closed", "databases closed", "afar"])
def blind(request: pytest.FixtureRequest, reachable: PrivateServer, option_file: Path) -> Iterator[Onlooker]:
    account = ("--defaults-file", str(option_file))
    if request.param == "afar":
        yield Onlooker((), (*account, "--host", FAR, "--port", str(reachable.port), "--allow-cleartext"))
        return
    data = reachable.data_directory
    with closed(data) if request.param == "closed" else closed(*(one for one in data.iterdir() if one.is_dir())):
        mode = data.stat().st_mode
        if request.param != "closed":
            data.chmod(0o755)
        try:
            yield Onlooker(PROFILE_A, (*account, "--socket", str(reachable.socket)))
        finally:
            data.chmod(mode)


@contextmanager
def served(onlooker: Onlooker) -> Iterator[Daemon]:
    daemon = Daemon.__new__(Daemon)
    daemon.port, daemon.log, daemon.environment = free_port(), b"", OWN_ENVIRONMENT
    words = ["serve", "--web.listen-address", f"127.0.0.1:{daemon.port}", "--no-history", "--collect.interval", "1s", *onlooker.options]
    daemon.process = subprocess.Popen([*onlooker.before, str(PROGRAM), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=OWN_ENVIRONMENT)
    try:
        assert wait_for(daemon.is_up), daemon.stop() or daemon.log.decode()
        yield daemon
    finally:
        daemon.stop()


def title_and_tone(page: str) -> tuple[str, str]:
    title, tone = re.search(r"<title>(.*?)</title>", page, re.DOTALL), re.search(r'class="verdict (\w+)"', page)
    assert title
    assert tone
    return title[1], tone[1]


def says_that_it_is_blind(page: Answer) -> None:
    assert page.value("advice_blind", what="tables") == 1
    assert page.value("advice_findings", severity="critical") is None
    assert not [name for (name, _), value in page.samples().items() if value == 0 and name.startswith(("myisam_tables", "myisam_crashed"))]


def test_no_form_of_a_blind_look_says_that_all_is_well(blind: Onlooker) -> None:
    text = blind.check("text")
    assert text.returncode == 0, text.stderr
    first = " ".join(text.stdout.splitlines()[1:3])
    assert "be seen" in first
    assert "could not judge" in first
    assert "table-crashed" in first
    assert "Nothing to change" not in text.stdout
    nagios = blind.check("nagios")
    assert nagios.returncode == 3, nagios.stdout
    assert re.match(r"MYISAM UNKNOWN - .*be seen.*\| critical=U;;;0 warning=U;;;0", nagios.stdout)
    document = json.loads(blind.check("json").stdout)
    assert "tables" in [spot["what"] for spot in document["blind"]]
    assert not {"table-crashed", "table-near-size-limit", "recovery-disabled"} & set(document["quiet"])
    title, tone = title_and_tone(blind.check("html").stdout)
    assert "be seen" in title
    assert tone == "unknown"
    written = blind.check("prometheus").stdout
    assert 'myisam_advice_blind{what="tables"} 1.0' in written
    assert 'myisam_advice_findings{severity="critical"}' not in written
    munin = json.loads(blind.run("munin").stdout)
    assert not {name: value for name, value in munin["values"].items() if value == 0 and ("crashed" in name or name in ("tables", "myisam_tables"))}
    assert munin["advice"] is None or munin["advice"]["counts"]["critical"] is None


def test_no_page_of_a_blind_daemon_says_so_either(blind: Onlooker) -> None:
    with served(blind) as daemon:
        says_that_it_is_blind(daemon.looked(60))
        title, tone = title_and_tone(daemon.get("/").text)
        assert "be seen" in title
        assert tone == "unknown"
        advice = json.loads(daemon.get("/munin.json").text)["advice"]
        assert advice["counts"]["critical"] is None
        assert "be seen" in advice["verdict"]


def test_root_has_the_crashed_table_as_the_first_word_of_each(reachable: PrivateServer) -> None:
    root = Onlooker((), ("--socket", str(reachable.socket), "--user", "root"))
    assert root.check("text").stdout.splitlines()[1].startswith("A table is crashed.")
    nagios = root.check("nagios")
    assert nagios.returncode == 2
    assert nagios.stdout.startswith("MYISAM CRITICAL - A table is crashed.")
    assert "critical=1;;;0" in nagios.stdout
    document = json.loads(root.check("json").stdout)
    assert "table-crashed" in [finding["rule"] for finding in document["findings"]]
    assert "tables" not in [spot["what"] for spot in document["blind"]]
    title, tone = title_and_tone(root.check("html").stdout)
    assert (title.startswith("A table is crashed."), tone) == (True, "critical")
    assert 'myisam_advice_findings{severity="critical"} 1.0' in root.check("prometheus").stdout
    with served(root) as daemon:
        assert daemon.looked(60).value("advice_findings", severity="critical") == 1
        title, tone = title_and_tone(daemon.get("/").text)
        assert (title.startswith("A table is crashed."), tone) == (True, "critical")
        assert json.loads(daemon.get("/munin.json").text)["advice"]["counts"]["critical"] == 1


def seen(server: PrivateServer, host: str) -> tuple[FactSet, Judgement]:
    place = Target("root", socket=server.socket) if host == "localhost" else Target(ACCOUNT, PASSWORD, host=host, port=server.port or 0, allow_cleartext=True)
    facts = complete(collect_facts(place, 1.0, 10))
    return facts, judge(prepared(facts, Site(shipped_rules())))


def test_from_afar_no_alter_for_columns_that_nobody_read(reachable: PrivateServer) -> None:
    if not reachable.execute("SHOW GLOBAL VARIABLES LIKE 'userstat'"):
        pytest.skip("this server does not count the rows that are read of a table")
    reachable.execute("SELECT COUNT(*) FROM words.wide")  # SQL tells of open tables only, and of those that the account may read
    accounts = [str(row[0]) for row in reachable.execute(f"SELECT Host FROM mysql.user WHERE User = '{ACCOUNT}'")]
    reachable.execute(*(f"GRANT SELECT ON words.* TO '{ACCOUNT}'@'{host}'" for host in accounts))
    try:
        with working(reachable, "words", ["SELECT COUNT(*) FROM wide WHERE short <> ''"]):
            facts, judgement = seen(reachable, FAR)
            near, beside = seen(reachable, "localhost")
    finally:
        reachable.execute(*(f"REVOKE SELECT ON words.* FROM '{ACCOUNT}'@'{host}'" for host in accounts))
    row = PlanFacts(facts).tables_by_name["words", "wide"]
    assert (row["row_format"], row["fixed_row_bytes"]) == ("dynamic", None)
    read = row["rows_read_per_second"]
    assert isinstance(read, float)
    assert read > 10_000
    (missing,) = (one for one in judgement.not_evaluated if one.rule == "fixed-row-format")
    assert "fixed_row_bytes" in missing.needs
    assert not [finding for finding in judgement.findings if "ROW_FORMAT=FIXED" in "".join(finding.commands)]
    # The gate would not let it through for a rule that asks less.
    refused = RemedyGate(PlanFacts(facts)).admit(Remedy((AlterTable(("words", "wide"), (option(ROW_FORMAT="FIXED"),)),)))
    assert refused.remedy.commands == ()
    assert "its columns are not known" in " ".join(refused.instead)
    # Beside the server they are known, and it may be said.
    assert PlanFacts(near).tables_by_name["words", "wide"]["fixed_row_bytes"] is not None
    assert "fixed-row-format" not in {one.rule for one in beside.not_evaluated}


def test_from_afar_this_machines_disk_and_files_are_not_taken_for_the_servers(reachable: PrivateServer) -> None:
    facts, _ = seen(reachable, FAR)
    assert facts.single("host").get("data_directory_free_bytes") is None
    assert facts.single("mysqld").get("open_files_limit") is None
    gate = RemedyGate(PlanFacts(facts))
    copied = gate.admit(Remedy((AlterTable(("words", "wide"), (option(ENGINE="InnoDB"),)),)))
    assert re.search("How much disk (is free|it needs) is not known here", " ".join(copied.cost))
    # What SQL tells of the server is known from anywhere: its limit of files.
    (limit,) = reachable.execute("SELECT @@GLOBAL.open_files_limit")
    beyond = gate.admit(Remedy((set_global("table_open_cache", int(str(limit[0]))),)))
    assert beyond.remedy.commands == ()
    assert "raise open_files_limit first" in " ".join(beyond.instead)


def test_from_afar_an_init_file_is_added_to_and_not_replaced(reachable: PrivateServer) -> None:
    if reachable.binaries.family != "mariadb":
        pytest.skip("a new account of MySQL 8.0 and later does not log in from afar without TLS; the variable is the same")
    present = reachable.directory / "owner's.sql"
    present.write_text("SELECT 1;\n")
    reachable.give_away(present)
    with CopiedServer(reachable.binaries, [f"--init-file={present}", "--bind-address=0.0.0.0"], port=free_port()) as other:
        other.execute(f"CREATE USER '{ACCOUNT}'@'localhost' IDENTIFIED BY '{PASSWORD}'", f"GRANT PROCESS ON *.* TO '{ACCOUNT}'@'localhost'")
        facts, _ = seen(other, FAR)
        admitted = RemedyGate(PlanFacts(facts)).admit(Remedy(my_cnf=(option_line("init_file", "/etc/mysql/key-caches.sql"),)))
    assert admitted.remedy.my_cnf == ()
    assert f"add the lines for the init_file to the end of {present}" in " ".join(admitted.instead)
