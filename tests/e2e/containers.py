"""Containers of this machine: bundles that umoci makes of our image, and of the small Debian a server's, started by runc."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TIMEOUT_SECONDS = 180
RUNTIME = ["runc"]
# Which of them there are is another on each machine, and nothing here is measured by them.
LEFT_OUT_MOUNTS = ("cgroup",)


@dataclass(frozen=True)
class Start:
    """What a container is started with, in the words of docker run: `mounts` are (here, there, ro or rw), `pid` and `network` host or another's process."""

    words: Sequence[str] = ()
    user: tuple[int, int] | None = None
    mounts: Sequence[tuple[Path, str, str]] = ()
    pid: str | int = ""
    network: str | int = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def needs_containers() -> None:
    """Skips where containers cannot be had; in CI that is a failure."""
    missing = [name for name in ("runc", "umoci", "mmdebstrap") if shutil.which(name) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"not installed: {missing}")
    if missing or os.geteuid() != 0:
        pytest.skip(f"containers want root, and {missing}")


def unpacked(image: Path, folder: Path) -> Path:
    """A bundle of an image's archive, made by a reader that is not ours: it checks every digest."""
    layout = folder / "layout"
    layout.mkdir()
    subprocess.run(["tar", "-xf", str(image), "-C", str(layout)], check=True)
    name = json.loads((layout / "index.json").read_text())["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
    subprocess.run(["umoci", "unpack", "--image", f"{layout}:{name}", str(folder / "bundle")], check=True)
    return folder / "bundle"


@contextmanager
def container(bundle: Path, start: Start) -> Iterator["Container"]:
    """A container of this bundle; its root is a copy, into which the runtime makes the folders that are mounted, where it lies in the bundle."""
    with tempfile.TemporaryDirectory(prefix="container-") as place:
        Path(place).chmod(0o755)
        if (bundle / "rootfs").exists():
            subprocess.run(["cp", "-al", str(bundle / "rootfs"), f"{place}/rootfs"], check=True)
        config = configured(json.loads((bundle / "config.json").read_text()), start)
        (Path(place) / "config.json").write_text(json.dumps(config))
        made = Container(Path(place), Path(place).name)
        try:
            yield made
        finally:
            made.close()


def configured(config: dict[str, Any], start: Start) -> dict[str, Any]:
    """The runtime's configuration, as umoci made it of the image's, with what the start says; no right is given."""
    process = config["process"]
    process["terminal"] = False
    # The image's entrypoint stays, and its words where none are given.
    process["args"] = [process["args"][0], *start.words] if start.words else process["args"]
    process["env"] += [f"{name}={value}" for name, value in start.environment.items()]
    process["capabilities"] = {}
    if start.user is not None:
        process["user"] = dict(zip(("uid", "gid"), start.user, strict=True))
    config["root"]["readonly"] = True
    config["hostname"] = "myisam-advisor"
    config["mounts"] = [mount for mount in config["mounts"] if mount["type"] not in LEFT_OUT_MOUNTS] + [
        {"destination": there, "type": "bind", "source": str(here), "options": ["rbind", mode, "nosuid", "nodev"]} for here, there, mode in start.mounts
    ]
    given = {"pid": start.pid, "network": start.network}
    if start.network == "host":
        # Of another's network sysfs cannot be mounted anew: container engines bind it then too.
        config["mounts"] = [mount for mount in config["mounts"] if mount["type"] != "sysfs"]
    config["linux"]["namespaces"] = [
        namespace if not given.get(namespace["type"]) else {**namespace, "path": f"/proc/{given[namespace['type']]}/ns/{namespace['type'].replace('network', 'net')}"}
        for namespace in config["linux"]["namespaces"]
        if given.get(namespace["type"]) != "host"
    ]
    config["linux"].pop("resources", None)
    return config


class Container:
    """One that is run once, or started and asked."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self.name = folder, name
        self.process: subprocess.Popen[bytes] | None = None

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        words = [*RUNTIME, "run", "--bundle", str(self._folder), self.name]
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)

    def start(self) -> None:
        """Start it, and leave it running."""
        with (self._folder / "log").open("wb") as log:
            words = [*RUNTIME, "run", "--bundle", str(self._folder), self.name]
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    @property
    def pid(self) -> int:
        """Its first process, by its number on this machine; 0 while there is none."""
        done = subprocess.run([*RUNTIME, "state", self.name], capture_output=True, text=True, check=False)
        return int(json.loads(done.stdout)["pid"]) if done.returncode == 0 else 0

    def stop(self) -> int:
        """Ask it to end, as docker stop does; its status."""
        assert self.process is not None
        subprocess.run([*RUNTIME, "kill", self.name, "TERM"], check=True)
        return self.process.wait(TIMEOUT_SECONDS)

    def close(self) -> None:
        subprocess.run([*RUNTIME, "delete", "--force", self.name], capture_output=True, check=False)
        if self.process is not None:
            self.process.wait(TIMEOUT_SECONDS)
