"""`python -m tools.image.build PACKAGE FILE`: the OCI image of our Debian package, as an archive. SOURCE_DATE_EPOCH tells its time.

PACKAGE is a .deb of ours; FILE is written.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from tools.image.layout import Image, archive_of
from tools.image.root import STATE, USER, USER_NUMBER, download, make_root, needed_by

# Debian's names of architectures and Go's, which the specification uses.
ARCHITECTURES = {
    "amd64": "amd64",
    "arm64": "arm64",
    "armhf": "arm",
    "i386": "386",
    "ppc64el": "ppc64le",
    "s390x": "s390x",
}
ENVIRONMENT = (
    "PATH=/usr/bin",
    "LC_ALL=C.UTF-8",
    # As systemd and podman have it: remedies then name mounts and flags of containers, and not units.
    "container=oci",
    # The account that is asked for by default, whatever number the user has.
    f"USER={USER}",
    f"HOME=/{STATE}",
    # Where the history is, whoever the user is.
    f"STATE_DIRECTORY=/{STATE}",
    "PYTHONDONTWRITEBYTECODE=1",
)


def image_of(version: str, architecture: str, seconds: int, description: str) -> Image:
    """All that is said of the files."""
    labels = {
        "org.opencontainers.image.title": USER,
        "org.opencontainers.image.description": description,
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "GPL-3.0-or-later",
        "org.opencontainers.image.vendor": "The myisam-advisor developers",
    }
    config = {
        # By number: Kubernetes cannot tell from a name that it is not root (runAsNonRoot).
        "User": f"{USER_NUMBER}:{USER_NUMBER}",
        "Env": list(ENVIRONMENT),
        "Entrypoint": ["/usr/bin/myisam-advisor"],
        # Within a container 127.0.0.1 is nobody else's.
        "Cmd": ["serve", "--web.listen-address", ":9942"],
        "ExposedPorts": {"9942/tcp": {}},
        "Volumes": {f"/{STATE}": {}},
        "WorkingDir": "/",
        "StopSignal": "SIGTERM",
        "Labels": labels,
    }
    return Image(version, ARCHITECTURES[architecture], seconds, config, labels, {STATE: USER_NUMBER})


def main() -> int:
    """Build it."""
    parser = argparse.ArgumentParser(description="Build the OCI image of our Debian package.")
    parser.add_argument("package", type=Path)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    version, description = (_field(given.package, name) for name in ("Version", "Description"))
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    image = image_of(version, architecture, int(os.environ["SOURCE_DATE_EPOCH"]), description.splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        packages = download(needed_by(given.package), work / "packages")
        make_root([*packages, given.package], work / "root")
        given.file.write_bytes(archive_of(work / "root", image))
    return 0


def _field(package: Path, name: str) -> str:
    return subprocess.run(
        ["dpkg-deb", "--field", str(package), name], capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main())
