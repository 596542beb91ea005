"""Whether we run in a container, where what is missing is a mount or a flag of its start and no unit of systemd's.

Told by the variable `container`, which our image sets and podman too (systemd's container interface). Files such as /.dockerenv tell
nothing of that: whole systems are made of images, and run units.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

VARIABLE = "container"
# systemd-nspawn and lxc, which set it too, start whole systems.
OF_ONE_PROGRAM = frozenset({"oci", "podman", "docker"})


def in_container(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process was started as one program in a container."""
    return environment.get(VARIABLE) in OF_ONE_PROGRAM
