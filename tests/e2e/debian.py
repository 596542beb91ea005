"""A whole small Debian with systemd as its first process: what script/servers debian made, copied, started and thrown away."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.e2e.munin import root_of
from tests.support.mounts import mounted

ENVIRONMENT = ("PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "TERM=dumb")
BOOT_SECONDS = 60


class System:
    """A copy of the small Debian below a folder of its own: at rest at first, then booted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._container: subprocess.Popen[bytes] | None = None

    def run_at_rest(self, *words: str) -> str:
        """What a command prints, run in it while no systemd runs there, with this machine's network."""
        return _output(["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", f"--directory={self.root}", "--pipe", "env", *ENVIRONMENT, *words])

    def boot(self) -> None:
        """Start its systemd, with a network of its own."""
        words = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", f"--directory={self.root}", "--boot", "--console=pipe"]
        with (self.root.parent / "boot.log").open("wb") as log:
            self._container = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < deadline:
            if self._container.poll() is not None:
                pytest.skip(f"systemd cannot be booted on this machine: {(self.root.parent / 'boot.log').read_text(errors='replace')[-300:]}")
            if self._first_process() and self.attempt("systemctl", "is-system-running", "--wait").stdout.strip() in ("running", "degraded"):
                return
            time.sleep(0.2)
        raise AssertionError((self.root.parent / "boot.log").read_text(errors="replace")[-2000:])

    def attempt(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """A command in the booted system, whatever it ends with."""
        pid = str(self._first_process())
        command = ["nsenter", "--target", pid, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "env", "-i", *ENVIRONMENT, *words]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)

    def run(self, *words: str, text: str = "") -> str:
        """What a command in the booted system prints; it must succeed."""
        done = self.attempt(*words, text=text)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def until(self, what: str, *words: str, seconds: float = 30) -> str:
        """What a command prints once that holds `what`."""
        deadline = time.monotonic() + seconds
        while what not in (printed := self.attempt(*words).stdout):
            assert time.monotonic() < deadline, f"{words} does not say {what!r}: {printed[-2000:]}"
            time.sleep(0.3)
        return printed

    def close(self) -> None:
        """Stop it."""
        container = self._container
        if container is not None and container.poll() is None:
            self.attempt("systemctl", "poweroff", "--force")
            try:
                container.wait(30)
            except subprocess.TimeoutExpired:
                container.kill()
                container.wait()

    def _first_process(self) -> int | None:
        assert self._container is not None
        children = psutil.Process(self._container.pid).children()
        return children[0].pid if children else None


@contextmanager
def copied_root(folder: Path, source: Path | None = None) -> Iterator[Path]:
    """The files of a small Debian, or of another root, below a folder, to be changed."""
    if os.geteuid() != 0:
        pytest.skip("only root may have a whole system")
    root = folder / "root"
    subprocess.run(["cp", "--archive", "--one-file-system", "--reflink=auto", str(source or root_of("debian") / "root"), str(root)], check=True)
    try:
        yield root
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", str(root)], check=True)


@contextmanager
def small_debian(folder: Path, source: Path | None = None) -> Iterator[System]:
    """A system of its own below a folder; one at a time on a machine, for two would have the same control groups."""
    if shutil.which("systemd-nspawn") is None:
        pytest.skip("systemd-nspawn is not installed")
    with copied_root(folder, source) as root:
        probe = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", f"--directory={root}", "--pipe", "true"]
        done = subprocess.run(probe, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            # In a chroot, for one: no system can be started there.
            pytest.skip(f"systemd-nspawn starts no system here: {done.stderr.strip()[-200:]}")
        system = System(root)
        try:
            yield system
        finally:
            system.close()


@contextmanager
def chrooted(folder: Path, source: Path | None = None) -> Iterator[Path]:
    """The same without systemd: what a package must get along with too. It has /proc, and this machine's network."""
    with copied_root(folder, source) as root:
        shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
        with mounted(root / "proc", "-t", "proc", "proc"):
            yield root


def in_chroot(root: Path, *words: str) -> str:
    """What a command in it prints; it must succeed."""
    return _output(["chroot", str(root), "env", "-i", *ENVIRONMENT, *words])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.stdout
