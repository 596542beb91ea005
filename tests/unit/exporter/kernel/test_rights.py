"""Remedies on a host and in a container: each names what can be done where it is said."""

import subprocess
import sys

import pytest

from myisam_exporter.kernel import rights

SAID = "from myisam_exporter.kernel.rights import REMEDIES; print(REMEDIES.show_process)"


@pytest.mark.parametrize("name", rights.Remedies._fields)
def test_a_container_is_never_sent_to_systemd_or_sudo(name: str) -> None:
    said = getattr(rights.IN_CONTAINER, name)
    assert said
    assert not any(word in said for word in ("systemd", "sudo", rights.FILES_DROP_IN))
    assert not any(word in getattr(rights.ON_HOST, name) for word in ("-v ", "--pid", "Kubernetes"))


@pytest.mark.parametrize(("name", "flag"), [
    ("read_files", "--user NUMBER:GROUP"), ("read_process", "--pid=container:NAME"), ("read_process", "--user"), ("show_process", "--pid=host"),
    ("show_directory", "-v {directory}:{directory}:ro"), ("reach_socket", "-v /run/mysqld:/run/mysqld"), ("keep_state", "-v NAME:/var/lib/myisam-advisor"),
])  # fmt: skip
def test_the_mount_or_the_flag_is_named(name: str, flag: str) -> None:
    assert flag in getattr(rights.IN_CONTAINER, name)


def test_the_variable_of_the_image_decides() -> None:
    def said(environment: dict[str, str]) -> str:
        return subprocess.run([sys.executable, "-c", SAID], env=environment, capture_output=True, text=True, check=True).stdout.strip()

    assert said({"container": "oci"}) == rights.IN_CONTAINER.show_process
    assert said({}) == rights.ON_HOST.show_process


@pytest.mark.parametrize("name", ["read_files", "read_process", "verify_directory"])
def test_what_mends_all_at_once_is_said_first(name: str) -> None:
    assert getattr(rights.ON_HOST, name).startswith("run as root")
