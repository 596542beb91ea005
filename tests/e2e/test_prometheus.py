"""The whole chain on real programs: a contended server, the daemon, Prometheus with the shipped rules, Alertmanager, the dashboards."""

import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import bcrypt
import pytest
import yaml

from demo.load import InsertLoad
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, free_port, peer, serving, wait_for
from tests.support.program import PROGRAM
from tests.support.repository import ROOT
from tests.support.servers import CopiedServer, binaries_of

RULES = ROOT / "rules" / "prometheus"
DASHBOARDS = sorted((ROOT / "dashboards").glob("*.json"))
ALERT = "MyisamKeyCacheContention"
SHORT = "2s"
# Some looks of the daemon below: three seconds each.
WINDOW = "9s"


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@dataclass
class Chain:
    server: PrivateServer
    daemon: Daemon
    prometheus: str
    alertmanager: str

    def query(self, expression: str) -> list[Any]:
        answer = get(f"{self.prometheus}/api/v1/query?query={urllib.parse.quote(expression)}")
        assert answer["status"] == "success"
        result: list[Any] = answer["data"]["result"]
        return result

    def has(self, expression: str) -> bool:
        return bool(self.query(expression))

    def firing_in_prometheus(self) -> set[str]:
        alerts = get(f"{self.prometheus}/api/v1/alerts")["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def active_in_alertmanager(self) -> set[str]:
        return {alert["labels"]["alertname"] for alert in get(f"{self.alertmanager}/api/v2/alerts?active=true")}


def with_short_waits(folder: Path) -> Path:
    """The shipped alerts with every `for` and every window cut short, as scrapes are a second apart here: all else is theirs."""
    alerts = yaml.safe_load((RULES / "alerts.yaml").read_text("utf-8"))
    for group in alerts["groups"]:
        for rule in group["rules"]:
            if "for" in rule:
                rule["for"] = SHORT
            rule["expr"] = re.sub(r"\[\d+m\]", f"[{WINDOW}]", rule["expr"])
    path = folder / "alerts.yaml"
    path.write_text(yaml.safe_dump(alerts))
    return path


@contextmanager
def templates_in_place(program: Path) -> Iterator[list[str]]:
    """Debian's Alertmanager reads its templates below /usr/share. Gives the words that start it where it sees those it came with.

    In a mount namespace of its own where the machine allows one; else, as root, by a link for as long as the tests last.
    """
    share = program.parents[1] / "share"
    words = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--", "sh", "-c", f'mount --bind "{share}" /usr/share && exec "$0" "$@"']
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
        yield words
        return
    link = Path("/usr/share/prometheus")
    if os.geteuid() != 0 or link.exists():
        pytest.skip("Alertmanager cannot be shown its templates: this machine allows no mount, and we may not write below /usr/share")
    link.symlink_to(share / "prometheus")
    try:
        yield []
    finally:
        link.unlink()


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    folder = tmp_path_factory.mktemp("chain")
    prometheus, alertmanager = peer("prometheus"), peer("prometheus-alertmanager")
    options = ["--key-buffer-size=64M", "--performance-schema=ON", "--performance-schema-instrument=wait/synch/mutex/mysys/KEY_CACHE::cache_lock=ON",
               "--performance-schema-instrument=wait/io/table/sql/handler=ON", "--performance-schema-instrument=wait/lock/table/sql/handler=ON"]  # fmt: skip
    processes = []
    with (
        templates_in_place(alertmanager) as within,
        CopiedServer(binaries_of("mariadb-10.11"), options) as server,
        serving("--socket", server.socket, "--user", "root", "--collect.interval", "3s") as daemon,
    ):
        ports = free_port(), free_port()
        (folder / "alertmanager.yaml").write_text(yaml.safe_dump({"route": {"receiver": "nobody", "group_wait": "1s"}, "receivers": [{"name": "nobody"}]}))
        (folder / "prometheus.yaml").write_text(
            yaml.safe_dump(
                {
                    "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                    "rule_files": [str(with_short_waits(folder)), str(RULES / "recording.yaml")],
                    "scrape_configs": [{"job_name": "myisam", "static_configs": [{"targets": [f"127.0.0.1:{daemon.port}"]}]}],
                    "alerting": {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{ports[1]}"]}]}]},
                }
            )
        )
        commands = (
            [prometheus, f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{ports[0]}"],
            [*within, alertmanager, f"--config.file={folder}/alertmanager.yaml", f"--storage.path={folder}/am", f"--web.listen-address=127.0.0.1:{ports[1]}", "--cluster.listen-address="],
        )
        try:
            for command in commands:
                with (folder / "log").open("ab") as log:
                    processes.append(subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)], stdout=log, stderr=log))
            addresses = [f"http://127.0.0.1:{port}" for port in ports]
            assert wait_for(lambda: all(is_ready(f"{address}/-/ready") for address in addresses), 60), (folder / "log").read_text()
            yield Chain(server, daemon, *addresses)
        finally:
            for process in processes:
                process.kill()
                process.wait()


def test_contention_fires_in_prometheus_and_alertmanager_and_resolves(chain: Chain) -> None:
    load = InsertLoad()
    load.make_tables(chain.server)
    running = load.start(chain.server, 120)
    try:
        assert wait_for(lambda: ALERT in chain.firing_in_prometheus(), 90, 0.5)
        assert wait_for(lambda: ALERT in chain.active_in_alertmanager(), 30, 0.5)
        alert = next(alert for alert in get(f"{chain.alertmanager}/api/v2/alerts") if alert["labels"]["alertname"] == ALERT)
        assert "an unknown rate" not in alert["annotations"]["description"]
        with urllib.request.urlopen(alert["annotations"]["runbook_url"], timeout=5) as page:
            assert b"key-cache-contention" in page.read()
    finally:
        running.kill()
        running.communicate()
    assert wait_for(lambda: ALERT not in chain.firing_in_prometheus(), 60, 0.5)
    assert wait_for(lambda: ALERT not in chain.active_in_alertmanager(), 60, 0.5)


def expressions(dashboard: Path) -> Iterator[tuple[str, str]]:
    """(panel, PromQL) of a dashboard, its variables filled in as Grafana would for "All"."""
    document = json.loads(dashboard.read_text("utf-8"))
    for panel in document["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    yield from ((mark["name"], mark["expr"]) for mark in document["annotations"]["list"] if "expr" in mark)
    for variable in document["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"])
            assert found, variable["definition"]
            yield variable["name"], f"count by ({found[2]}) ({found[1]})"


def filled(expression: str) -> str:
    return re.sub(r"\$(job|instance|schema|table)\b", ".*", expression).replace("$__rate_interval", "15s").replace("$__range", "30s")


# What is there only while something is wrong: it must parse, and may be empty on a server that is well.
MAY_BE_EMPTY = {"Findings", "Not evaluated", "Alerts", "Restarts", "Server does not answer"}


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_every_expression_of_the_dashboards_returns_data(chain: Chain, dashboard: Path) -> None:
    load = InsertLoad(threads=2)
    load.make_tables(chain.server)
    running = load.start(chain.server, 60)
    try:
        for table in range(1, 9):
            chain.server.execute(f"SELECT COUNT(*) FROM demo.load_{table} WHERE k > 5")
        wanted = dict.fromkeys((panel, filled(expression)) for panel, expression in expressions(dashboard))
        assert len(wanted) > 15
        deadline = time.monotonic() + 60
        empty = list(wanted)
        while empty and time.monotonic() < deadline:
            empty = [(panel, expression) for panel, expression in empty if not chain.query(expression) and panel not in MAY_BE_EMPTY]
            time.sleep(1)
        assert empty == []
    finally:
        running.kill()
        running.communicate()


def test_prometheus_is_given_open_metrics(chain: Chain) -> None:
    """There a counter's comments bear its name without _total; in the older text nothing is known by that name."""
    assert wait_for(lambda: bool(chain.query("myisam_questions_total")), 30)
    told = get(f"{chain.prometheus}/api/v1/metadata?metric=myisam_questions")["data"]
    assert [entry["type"] for entry in told["myisam_questions"]] == ["counter"]


def value_in(labels: dict[str, str], found: re.Match[str]) -> str:
    return labels.get(found[1], "")


def test_a_finding_leads_to_its_page_as_grafana_would(chain: Chain) -> None:
    panels = json.loads((ROOT / "dashboards" / "myisam-overview.json").read_text("utf-8"))["panels"]
    for title in ("Findings", "Servers"):
        panel = next(panel for panel in panels if panel["title"] == title)
        expression = filled(panel["targets"][0]["expr"])
        assert wait_for(partial(chain.has, expression), 30, 0.5)
        links = [one["value"][0]["url"] for rule in panel["fieldConfig"]["overrides"] for one in rule["properties"] if one["id"] == "links"]
        assert links
        for row in chain.query(expression):
            for link in links:
                address = re.sub(r"\$\{__data\.fields\.(\w+)\}", partial(value_in, row["metric"]), link)
                with urllib.request.urlopen(address, timeout=5) as page:
                    assert page.headers["content-type"].startswith("text/html")


def test_the_recording_rules_have_values(chain: Chain) -> None:
    names = [rule["record"] for group in yaml.safe_load((RULES / "recording.yaml").read_text("utf-8"))["groups"] for rule in group["rules"]]
    # Only while there are findings.
    names.remove("job:myisam_advice_finding_servers:count")
    names = [name for name in names if "page_cache_hit" not in name]  # only while data files are read
    assert wait_for(lambda: all(chain.query(name) for name in names), 30)


@pytest.mark.parametrize("file", ["alerts", "recording"])
def test_promtool_checks_and_tests_the_rules(file: str) -> None:
    for verb, path in (("check", RULES / f"{file}.yaml"), ("test", RULES / "tests" / f"{file}.yaml")):
        done = subprocess.run([peer("promtool"), verb, "rules", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_promtool_test_that_fires_and_one_that_does_not() -> None:
    alerts = {rule["alert"]: rule for group in yaml.safe_load((RULES / "alerts.yaml").read_text("utf-8"))["groups"] for rule in group["rules"]}
    tests = [case for group in yaml.safe_load((RULES / "tests" / "alerts.yaml").read_text("utf-8"))["tests"] for case in group["alert_rule_test"]]
    assert {case["alertname"] for case in tests if case["exp_alerts"]} == set(alerts)
    assert {case["alertname"] for case in tests if not case["exp_alerts"]} == set(alerts)
    for rule in alerts.values():
        assert rule["annotations"].keys() >= {"summary", "description"}
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_every_metric_that_rules_and_dashboards_name_is_documented() -> None:
    documented = set(re.findall(r"^\| `(myisam_\w+)`", (ROOT / "docs" / "reference" / "metrics.md").read_text("utf-8"), re.MULTILINE))
    texts = [path.read_text("utf-8") for path in (RULES / "alerts.yaml", RULES / "recording.yaml", *DASHBOARDS)]
    named = {name for text in texts for name in re.findall(r"(?<![:\w])myisam_\w+(?![:\w])", text)}
    assert len(named) > 40
    server_variables = {"myisam_use_mmap"}
    assert {name for name in named if not name.endswith("_")} - documented - server_variables == set()


def fleet_configuration(folder: Path, exporter: str) -> dict[str, Any]:
    """The configuration that docs/guide/fleet.md gives for /probe, with this machine's address and list of targets."""
    blocks = re.findall(r"```yaml\n(# prometheus.yml\n.*?)```", (ROOT / "docs" / "guide" / "fleet.md").read_text("utf-8"), re.DOTALL)
    text = next(block for block in blocks if "/probe" in block)
    text = text.replace("/etc/prometheus/myisam", str(folder)).replace("watch.example:9942", exporter).replace("15s", "1s")
    configuration: dict[str, Any] = yaml.safe_load(text)
    return configuration


def test_the_documented_fleet_configuration_probes_every_listed_target(tmp_path: Path) -> None:
    count = 20
    prometheus = peer("prometheus")
    with CopiedServer(binaries_of("mariadb-10.11")) as server:
        aliases = {f"shop{number}": server.directory / f"s{number}" for number in range(count)}
        for alias in aliases.values():
            alias.symlink_to(server.socket)
        targets, options = tmp_path / "list.yml", tmp_path / "my.cnf"
        targets.write_text(yaml.safe_dump({"targets": {name: {"socket": str(alias)} for name, alias in aliases.items()}}))
        options.write_text("[client]\nuser=root\n")
        with serving("--no-own-server", "--config.targets", targets, "--defaults-file", options, "--collect.interval", "60s") as daemon:
            exporter = f"127.0.0.1:{daemon.port}"
            (tmp_path / "shops.yaml").write_text(yaml.safe_dump([{"targets": list(aliases), "labels": {"team": "web"}}]))
            (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(fleet_configuration(tmp_path, exporter)))
            checked = subprocess.run([peer("promtool"), "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True, check=False)
            assert checked.returncode == 0, checked.stderr
            port = free_port()
            words = [prometheus, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"]
            process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                assert wait_for(lambda: is_ready(f"http://127.0.0.1:{port}/-/ready"), 60)
                asked = Chain(server, daemon, f"http://127.0.0.1:{port}", "")
                assert wait_for(lambda: len(asked.query("myisam_up == 1")) == count, 30, 0.5)
                labels = asked.query("myisam_up")[0]["metric"]
                assert labels["instance"] in aliases
                assert (labels["team"], labels["exporter"]) == ("web", exporter)
            finally:
                process.kill()
                process.wait()
            assert int(str(server.execute("SHOW GLOBAL STATUS LIKE 'Threads_connected'")[0][1])) == count + 1


def test_the_documented_configuration_scrapes_a_daemon_with_tls_and_a_login(tmp_path: Path) -> None:
    files = {"key": tmp_path / "server.key", "certificate": tmp_path / "myisam-ca.crt"}
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=lab", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", files["key"], "-out", files["certificate"]]
    subprocess.run(list(map(str, made)), check=True, capture_output=True)
    web = {"tls_server_config": {"cert_file": str(files["certificate"]), "key_file": str(files["key"])}, "basic_auth_users": {"prometheus": bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()}}
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(web))
    (tmp_path / "myisam.password").write_text("secret\n")
    exporter, port = f"127.0.0.1:{free_port()}", free_port()
    blocks = re.findall(r"```yaml\n# prometheus.yml\n(.*?)```", (ROOT / "docs" / "guide" / "fleet.md").read_text("utf-8"), re.DOTALL)
    [block] = [block for block in blocks if "scheme: https" in block]
    (tmp_path / "prometheus.yml").write_text(block.replace("/etc/prometheus", str(tmp_path)).replace("db1.example:9942", exporter).replace(', "db2.example:9942"', "").replace("15s", "1s"))
    with CopiedServer(binaries_of("mariadb-10.11")) as server:
        words = ["serve", "--web.listen-address", exporter, "--web.config.file", tmp_path / "web.yaml", "--socket", server.socket, "--user", "root", "--no-history"]
        commands = ([PROGRAM, *words], [peer("prometheus"), f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"])
        processes = [subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
        try:
            asked = f"http://127.0.0.1:{port}"
            assert wait_for(lambda: is_ready(f"{asked}/-/ready"), 60)

            def scraped() -> bool:
                return [one["health"] for one in get(f"{asked}/api/v1/targets")["data"]["activeTargets"]] == ["up"]

            assert wait_for(scraped, 30), get(f"{asked}/api/v1/targets")
            (tmp_path / "myisam.password").write_text("another\n")
            assert wait_for(lambda: "401" in str(get(f"{asked}/api/v1/targets")), 30)
        finally:
            for process in processes:
                process.kill()
                process.wait()


def test_the_documented_routes_page_for_what_is_meant_to(tmp_path: Path) -> None:
    [block] = re.findall(r"```yaml\n# alertmanager.yml\n(.*?)```", (ROOT / "docs" / "guide" / "prometheus.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "alertmanager.yml").write_text(block)
    named = re.search(r"recording\.yaml\), each tested.*?meant to page", (ROOT / "docs" / "guide" / "prometheus.md").read_text("utf-8"), re.DOTALL)
    assert named
    severities = {rule["alert"]: rule["labels"]["severity"] for group in yaml.safe_load((RULES / "alerts.yaml").read_text("utf-8"))["groups"] for rule in group["rules"]}
    pages = set()
    for alert, severity in severities.items():
        words = [peer("amtool"), "config", "routes", "test", f"--config.file={tmp_path}/alertmanager.yml", f"alertname={alert}", f"severity={severity}"]
        if subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True).stdout.strip() == "pager":
            pages.add(alert)
    assert pages == set(re.findall(r"`(Myisam\w+)`", named[0]))


@pytest.mark.parametrize("name", ["prometheus.yml", "agent.yml"])
def test_promtool_accepts_every_documented_configuration(name: str, tmp_path: Path) -> None:
    blocks = re.findall(rf"```yaml\n# {name}\n(.*?)```", (ROOT / "docs" / "guide" / "fleet.md").read_text("utf-8"), re.DOTALL)
    assert blocks
    for file in ("remote-write.password", "myisam.password", "myisam-ca.crt"):
        (tmp_path / file).write_text("secret")
    for number, block in enumerate(blocks):
        path = tmp_path / f"{number}.yml"
        path.write_text(block.replace("/etc/prometheus", str(tmp_path)).replace("/usr/share/myisam-advisor/prometheus", str(RULES)))
        agent = ["--agent"] if name == "agent.yml" else []
        done = subprocess.run([peer("promtool"), "check", "config", *agent, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
