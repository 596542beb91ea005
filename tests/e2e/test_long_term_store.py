"""Twenty servers through Prometheus as an agent into VictoriaMetrics, as docs/guide/fleet.md has it: rules, alerts and dashboards work there unchanged."""

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.test_prometheus import DASHBOARDS, MAY_BE_EMPTY, RULES, expressions, filled, get, is_ready
from tests.support.daemon import free_port, peer, serving, wait_for
from tests.support.repository import ROOT
from tests.support.servers import CopiedServer, binaries_of

TARGETS = 20
STORE = "victoria-metrics"
# As one that is down from the start: what the shipped alert waits for is cut short below.
DOWN = "nobody-answers"
ALERT = "MyisamServerDown"
KEY_CACHE_LOCK = "--performance-schema-instrument=wait/synch/mutex/mysys/KEY_CACHE::cache_lock=ON"


@dataclass
class Site:
    """What was started: the store, what evaluates rules beside it, and the agent."""

    store: str
    vmalert: str
    agent: str

    def query(self, expression: str) -> list[Any]:
        # By default VictoriaMetrics leaves out what came within the last 30 s, so that points of all sources are there: started with 1 s below.
        answer = get(f"{self.store}/api/v1/query?query={urllib.parse.quote(expression)}")
        assert answer["status"] == "success"
        result: list[Any] = answer["data"]["result"]
        return result

    def rules(self) -> list[dict[str, Any]]:
        return [rule for group in get(f"{self.vmalert}/api/v1/rules")["data"]["groups"] for rule in group["rules"]]

    def firing(self) -> set[tuple[str, str]]:
        # vmalert answers null where there is none.
        alerts = get(f"{self.vmalert}/api/v1/alerts")["data"]["alerts"] or ()
        return {
            (alert["labels"]["alertname"], alert["labels"].get("instance", ""))
            for alert in alerts
            if alert["state"] == "firing"
        }


def documented(name: str) -> dict[str, Any]:
    """The configuration of this name that the guide gives for probing through an agent."""
    blocks = re.findall(
        rf"```yaml\n# {name}\n(.*?)```", (ROOT / "docs" / "guide" / "fleet.md").read_text("utf-8"), re.DOTALL
    )
    [text] = [block for block in blocks if "/probe" in block or name == "agent.yml"]
    configuration: dict[str, Any] = yaml.safe_load(text)
    return configuration


def agent_configuration(folder: Path, exporter: str, store: str) -> dict[str, Any]:
    """The guide's agent, with the guide's way to probe, this machine's addresses, and a second instead of fifteen."""
    probing = json.loads(
        json.dumps(documented("prometheus.yml")["scrape_configs"])
        .replace("/etc/prometheus/myisam", str(folder))
        .replace("watch.example:9942", exporter)
    )
    configuration = documented("agent.yml")
    configuration["global"]["scrape_interval"] = "1s"
    configuration["scrape_configs"] = [{**one, "scrape_interval": "1s"} for one in probing]
    [written] = configuration["remote_write"]
    written["url"] = written["url"].replace("https://metrics.example", store)
    (folder / "remote-write.password").write_text("secret")
    written["basic_auth"]["password_file"] = str(folder / "remote-write.password")
    return configuration


def without_waits(folder: Path) -> Path:
    """The shipped alerts with every `for` cut short."""
    alerts = yaml.safe_load((RULES / "alerts.yaml").read_text("utf-8"))
    for group in alerts["groups"]:
        for rule in group["rules"]:
            rule.pop("for", None)
    path = folder / "alerts.yaml"
    path.write_text(yaml.safe_dump(alerts))
    return path


@contextmanager
def running(command: Sequence[object], log: Path) -> Iterator[None]:
    with log.open("ab") as output:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)], stdout=output, stderr=output
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    store, vmalert, agent, notified = (f"127.0.0.1:{free_port()}" for _ in range(4))
    with ExitStack() as stack:
        server = stack.enter_context(
            CopiedServer(binaries_of("mariadb-10.11"), ["--performance-schema=ON", KEY_CACHE_LOCK])
        )
        server.execute("CREATE DATABASE shop")
        server.execute("CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=MyISAM")
        server.execute("INSERT INTO shop.items VALUES (1, 'one')")
        targets = {f"shop{number}": {"socket": str(server.directory / f"s{number}")} for number in range(TARGETS)}
        for target in targets.values():
            Path(target["socket"]).symlink_to(server.socket)
        targets[DOWN] = {"socket": str(server.directory / "nothing")}
        (folder / "list.yml").write_text(yaml.safe_dump({"targets": targets}))
        (folder / "my.cnf").write_text("[client]\nuser=root\n")
        words = [
            "--no-own-server",
            "--config.targets",
            folder / "list.yml",
            "--defaults-file",
            folder / "my.cnf",
            "--collect.interval",
            "5s",
        ]
        daemon = stack.enter_context(serving(*words))
        (folder / "shops.yaml").write_text(yaml.safe_dump([{"targets": list(targets), "labels": {"team": "web"}}]))
        (folder / "agent.yml").write_text(
            yaml.safe_dump(agent_configuration(folder, f"127.0.0.1:{daemon.port}", f"http://{store}"))
        )
        commands = (
            [peer("victoria-metrics", STORE), f"-storageDataPath={folder}/store", f"-httpListenAddr={store}", "-search.latencyOffset=1s",
             "-httpAuth.username=berlin", "-httpAuth.password=secret"],
            [peer("prometheus"), "--enable-feature=agent", f"--config.file={folder}/agent.yml", f"--storage.agent.path={folder}/agent", f"--web.listen-address={agent}"],
            [peer("vmalert", STORE), f"-rule={without_waits(folder)}", f"-rule={RULES}/recording.yaml", "-evaluationInterval=1s", f"-httpListenAddr={vmalert}",
             *(f"-{what}.{part}" for what in ("datasource", "remoteRead", "remoteWrite") for part in (f"url=http://{store}", "basicAuth.username=berlin", f"basicAuth.passwordFile={folder}/remote-write.password")),
             f"-notifier.url=http://{notified}"],
        )  # fmt: skip
        manager = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        manager.add_password(None, f"http://{store}", "berlin", "secret")
        former = urllib.request._opener  # type: ignore[attr-defined]
        urllib.request.install_opener(urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(manager)))
        stack.callback(urllib.request.install_opener, former)
        for command, ready in zip(
            commands, (f"http://{store}/health", f"http://{agent}/-/ready", f"http://{vmalert}/health"), strict=True
        ):
            stack.enter_context(running(command, folder / "log"))
            assert wait_for(lambda address=ready: is_ready(address), 60), (folder / "log").read_text()  # type: ignore[misc]
        yield Site(f"http://{store}", f"http://{vmalert}", f"http://{agent}")


def test_every_target_arrives_with_the_labels_of_its_site(site: Site) -> None:
    assert wait_for(lambda: len(site.query("myisam_up == 1")) == TARGETS, 60, 0.5)
    labels = site.query('myisam_up{instance="shop7"}')[0]["metric"]
    assert (labels["site"], labels["team"], labels["job"]) == ("berlin", "web", "myisam")


def test_the_shipped_rules_are_evaluated_without_an_error(site: Site) -> None:
    written = {
        rule.get("alert") or rule.get("record")
        for file in ("alerts", "recording")
        for group in yaml.safe_load((RULES / f"{file}.yaml").read_text("utf-8"))["groups"]
        for rule in group["rules"]
    }
    assert wait_for(lambda: (ALERT, DOWN) in site.firing(), 60, 0.5)
    assert {rule["name"] for rule in site.rules()} == written
    assert [(rule["name"], rule["lastError"]) for rule in site.rules() if rule["lastError"]] == []


def test_the_alert_about_a_server_that_is_down_fires_for_it_alone(site: Site) -> None:
    assert wait_for(lambda: (ALERT, DOWN) in site.firing(), 60, 0.5)
    # Without its wait the alert also fires for a moment where a busy machine answers a first scrape late.
    assert wait_for(lambda: {instance for alert, instance in site.firing() if alert == ALERT} == {DOWN}, 30, 0.5)


def test_the_recording_rules_are_stored_for_each_server(site: Site) -> None:
    assert wait_for(lambda: len(site.query("instance:myisam_data_bytes:sum")) == TARGETS, 60, 0.5)
    assert wait_for(lambda: bool(site.query("job:myisam_tables:sum")), 30, 0.5)


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_the_dashboards_work_there_unchanged(site: Site, dashboard: Path) -> None:
    """Every expression has data, but for what is there only while something is wrong."""
    assert wait_for(lambda: len(site.query("myisam_up == 1")) == TARGETS, 60, 0.5)
    wanted = dict.fromkeys((panel, filled(expression)) for panel, expression in expressions(dashboard))
    empty = list(wanted)

    def all_have_data() -> bool:
        empty[:] = [
            (panel, expression)
            for panel, expression in wanted
            if not site.query(expression) and panel not in MAY_BE_EMPTY
        ]
        return not empty

    assert wait_for(all_have_data, 60, 1), empty
