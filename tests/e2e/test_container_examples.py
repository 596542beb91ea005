"""The examples for containers: valid by the schemas of compose and Kubernetes, and what one file names another has."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from myisam_exporter.server.option_files import read_option_files
from tests.e2e.munin import root_of
from tests.support.daemon import peer
from tests.support.program import PROGRAM
from tests.support.repository import ROOT
from tools.image.build import image_of
from tools.image.root import STATE

EXAMPLES = ROOT / "docs" / "examples" / "containers"
COMPOSE = yaml.safe_load((EXAMPLES / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
MANIFESTS = sorted((EXAMPLES / "kubernetes").glob("*.yaml"))
IMAGE = image_of("0", "amd64", 0, "").config
ADVISOR = "myisam-advisor"


@cache
def definitions() -> dict[str, Any]:
    """Kubernetes's own, which allow no field that they do not name."""
    found: dict[str, Any] = json.loads((root_of("schemas") / "_definitions.json").read_text("utf-8"))["$defs"]
    return found


def complaints(document: dict[str, Any]) -> list[str]:
    """What is wrong with a manifest: the schema is that of its kind and version."""
    group, _, version = document["apiVersion"].rpartition("/")
    wanted = {"group": group, "version": version, "kind": document["kind"]}
    (name,) = (name for name, schema in definitions().items() if wanted in schema.get("x-kubernetes-group-version-kind", []))
    schema = {"$ref": f"#/$defs/{name}", "$defs": definitions()}
    return [f"{error.json_path}: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def manifests(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text("utf-8")))


def test_the_compose_file_is_valid() -> None:
    schema = json.loads((root_of("schemas") / "src" / "compose-spec" / "schema" / "compose-spec.json").read_text("utf-8"))
    validator = jsonschema.Draft201909Validator(schema)
    assert [error.message for error in validator.iter_errors(COMPOSE)] == []
    assert list(validator.iter_errors({**COMPOSE, "services": {"one": {"imagee": "typo"}}}))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_each_manifest_is_valid(path: Path) -> None:
    documents = manifests(path)
    assert [complaints(document) for document in documents] == [[]] * len(documents)


def test_a_field_that_there_is_not_is_noticed() -> None:
    pod = next(document for document in manifests(EXAMPLES / "kubernetes" / "sidecar.yaml") if document["kind"] == "Pod")
    pod["spec"]["shareProcessNamespaces"] = True
    assert "shareProcessNamespaces" in complaints(pod)[0]


def test_what_the_compose_file_mounts_is_there() -> None:
    for name, service in SERVICES.items():
        for volume in service["volumes"]:
            here = volume.split(":")[0]
            assert (EXAMPLES / here).exists() if here.startswith(".") else here in COMPOSE["volumes"], f"{name}: {here}"
    advisor, server = ({volume.split(":")[0]: volume.split(":")[1] for volume in SERVICES[name]["volumes"]} for name in (ADVISOR, "mariadb"))
    # The same place in both: the server names it by its own.
    assert all(advisor[volume] == server[volume] for volume in ("data", "socket"))
    assert advisor["history"] == f"/{STATE}"
    assert SERVICES[ADVISOR]["pid"] == "service:mariadb"
    assert SERVICES[ADVISOR]["read_only"] is True
    assert f"{SERVICES[ADVISOR]['ports'][0].rpartition(':')[2]}/tcp" in IMAGE["ExposedPorts"]


def test_prometheus_asks_the_advisor_by_its_name_and_grafana_prometheus(tmp_path: Path) -> None:
    inside = {volume.split(":")[1]: (EXAMPLES / volume.split(":")[0]).resolve() for volume in SERVICES["prometheus"]["volumes"] if volume.startswith(".")}
    written = yaml.safe_load(inside.pop("/etc/prometheus/prometheus.yml").read_text("utf-8"))
    (job,) = written["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"{SERVICES[ADVISOR]['hostname']}:9942"]}]
    for there, here in inside.items():
        (tmp_path / Path(there).name).symlink_to(here)
    (pattern,) = written["rule_files"]
    written["rule_files"] = [str(tmp_path / "rules" / Path(pattern).name)]
    (tmp_path / "rules").mkdir()
    for there, here in inside.items():
        assert Path(there).match(pattern)
        (tmp_path / "rules" / Path(there).name).symlink_to(here)
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(written))
    done = subprocess.run([peer("promtool"), "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 rule files found" in done.stdout
    (source,) = yaml.safe_load((EXAMPLES / "grafana/datasources/prometheus.yaml").read_text())["datasources"]
    assert source["url"] == f"http://prometheus:{SERVICES['prometheus']['ports'][0].rpartition(':')[2]}"
    (provider,) = yaml.safe_load((EXAMPLES / "grafana/dashboards/myisam.yaml").read_text())["providers"]
    dashboards = next(volume for volume in SERVICES["grafana"]["volumes"] if f":{provider['options']['path']}:" in volume)
    assert len(list((EXAMPLES / dashboards.split(":")[0]).glob("*.json"))) == 2


def pods(path: Path) -> list[tuple[dict[str, Any], set[str]]]:
    """Each pod of a file, and the volumes that claims make for it."""
    found: list[tuple[dict[str, Any], set[str]]] = []
    for document in manifests(path):
        if document["kind"] == "Pod":
            found.append((document["spec"], set()))
        if document["kind"] == "StatefulSet":
            claims = {claim["metadata"]["name"] for claim in document["spec"]["volumeClaimTemplates"]}
            found.append((document["spec"]["template"]["spec"], claims))
    return found


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_pod_shares_what_the_advisor_needs(path: Path) -> None:
    secrets = {document["metadata"]["name"]: document["stringData"] for document in manifests(path) if document["kind"] == "Secret"}
    ((spec, claims),) = pods(path)
    assert spec["shareProcessNamespace"] is True
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    server, advisor = ({mount["name"]: mount for mount in one["volumeMounts"]} for one in spec["containers"])
    assert {*server, *advisor} <= {*volumes, *claims}
    for name in ("data", "socket"):
        assert server[name]["mountPath"] == advisor[name]["mountPath"]
        assert advisor[name]["readOnly"] is True
    keys = secrets[volumes["advisor"]["secret"]["secretName"]]
    assert server["advisor"]["subPath"] in keys
    options = keys[advisor["advisor"]["subPath"]]
    assert f"socket = {advisor['socket']['mountPath']}/" in options
    assert advisor["history"]["mountPath"] == f"/{STATE}"
    assert [part.get("readOnlyRootFilesystem") for one in spec["containers"] if (part := one.get("securityContext"))] == [True]


def test_the_account_is_what_grants_prints_and_its_password_that_of_the_option_file(tmp_path: Path) -> None:
    printed = {
        re.sub(r"\s+--.*", "", line).replace("<password>", "'change me'")
        for version in ("11.4.5-MariaDB", "8.4.0")
        for line in subprocess.run([str(PROGRAM), "grants", "--server-version", version, "--password"], capture_output=True, text=True, check=True).stdout.splitlines()
        if line.strip()
    }
    secrets = [document["stringData"] for path in MANIFESTS for document in manifests(path) if document["kind"] == "Secret"]
    accounts = [(EXAMPLES / "account.sql").read_text(), *(secret["account.sql"] for secret in secrets)]
    for account in accounts:
        assert {line for line in account.splitlines() if not line.startswith("--")} == printed
    options = [(EXAMPLES / "client.cnf").read_text(), *(secret["my.cnf"] for secret in secrets)]
    for number, text in enumerate(options):
        path = tmp_path / f"{number}.cnf"
        path.write_text(text)
        read = read_option_files([path])
        assert (read.value("user"), read.value("password")) == (ADVISOR, "change me")
