"""Where we are told to be in a container, and where not."""

import pytest

from myisam_exporter.kernel.container import in_container


@pytest.mark.parametrize(("environment", "told"), [
    ({}, False), ({"container": ""}, False), ({"container": "oci"}, True), ({"container": "podman"}, True), ({"container": "systemd-nspawn"}, False),
])  # fmt: skip
def test_one_program_in_a_container_is_told_from_a_whole_system(environment: dict[str, str], told: bool) -> None:
    assert in_container(environment) is told
