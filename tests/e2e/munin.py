"""The real munin, node and master, with all its directories below one folder.

Its programs have their paths in Munin::Common::Defaults: a copy of that module with other paths comes first. Nothing else of it is
changed, and nothing is installed.
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.daemon import free_port, wait_for
from tests.support.fetched import fetched
from tests.support.repository import ROOT

PLUGIN = ROOT / "plugins" / "munin" / "myisam_advisor"
NAME = "myisam_advisor"
GROUP, HOST = "lab", "db"
UNPRIVILEGED = "nobody"


def root_of(name: str) -> Path:
    """What script/servers unpacked."""
    return fetched(name, "complete").parent


@dataclass(frozen=True)
class Munin:
    """One node and its master."""

    folder: Path
    root: Path
    port: int

    @property
    def plugin(self) -> Path:
        return self.folder / "plugin" / NAME

    @property
    def environment(self) -> dict[str, str]:
        libraries = f"{self.folder / 'perl'}:{self.root / 'usr/share/perl5'}"
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PERL5LIB": libraries, "HOME": "/nonexistent", "LC_ALL": "C", "TZ": "UTC"}

    def configure(self, settings: Mapping[str, object], user: str = "") -> None:
        """What plugin-conf.d says of the plugin."""
        lines = [f"[{NAME}]", *([f"user {user}"] if user and os.geteuid() == 0 else []), *(f"env.{name} {value}" for name, value in settings.items())]
        (self.folder / "etc/plugin-conf.d/myisam-advisor").write_text("\n".join(lines) + "\n")

    def run(self, *words: str, further: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """munin-run with these arguments."""
        command = [str(self.root / "usr/sbin/munin-run"), *self._node_options(), "--servicedir", str(self.folder / "etc/plugins"), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**self.environment, **(further or {})}, check=False)

    def suggest(self, *words: str) -> subprocess.CompletedProcess[str]:
        """munin-node-configure over the plugin's folder."""
        command = [str(self.root / "usr/sbin/munin-node-configure"), *self._node_options(), "--servicedir", str(self.folder / "etc/plugins"), "--libdir", str(self.plugin.parent), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=self.environment, check=False)

    def _node_options(self) -> list[str]:
        return ["--config", str(self.folder / "node.conf"), "--sconfdir", str(self.folder / "etc/plugin-conf.d")]

    @contextmanager
    def node(self) -> Iterator[None]:
        """A running munin-node on loopback."""
        command = [str(self.root / "usr/sbin/munin-node"), "--foreground", "--config", str(self.folder / "node.conf")]
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            if not wait_for(self._answers):
                process.kill()
                pytest.fail(process.communicate()[1].decode() + self.log("munin-node.log"))
            yield
        finally:
            process.terminate()
            process.communicate(timeout=10)

    def _answers(self) -> bool:
        try:
            return "# munin node" in self.talk()
        except OSError:
            return False

    def talk(self, *lines: str) -> str:
        """What the node says to these lines."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall("".join(f"{line}\n" for line in (*lines, "quit")).encode())
            said = b""
            while part := connection.recv(1 << 16):
                said += part
        return said.decode()

    def master(self, program: str, *words: str, now: float | None = None) -> None:
        """One of the master's programs, at another time where that is asked for. It refuses to run as root."""
        option = "--config_file" if program == "munin-update" else "--config"
        command = [str(self.root / "usr/share/munin" / program), option, str(self.folder / "munin.conf"), *words]
        if now is not None:
            command = ["faketime", "-f", time.strftime("@%Y-%m-%d %H:%M:%S", time.gmtime(now)), *command]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={UNPRIVILEGED}", "--regid=nogroup", "--clear-groups", *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment, cwd="/", check=False)
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}{self.log(program + '.log')}"

    def log(self, name: str) -> str:
        path = self.folder / "log" / name
        return path.read_text(errors="replace") if path.exists() else ""

    def series(self, graph: str, field: str, begin: float, end: float) -> list[float]:
        """What the master keeps of a field: the averages of five minutes that are known."""
        (path,) = (self.folder / "db" / GROUP).glob(f"{HOST}-{graph.replace('.', '-')}-{field}-?.rrd")
        done = subprocess.run(["rrdtool", "fetch", str(path), "AVERAGE", "-s", str(int(begin)), "-e", str(int(end))], capture_output=True, text=True, check=True, env=self.environment)
        values = [line.partition(": ")[2] for line in done.stdout.splitlines() if ": " in line]
        return [float(value) for value in values if "nan" not in value.lower()]

    def pictures(self) -> dict[str, Path]:
        """The day's pictures, by graph."""
        folder = self.folder / "www" / GROUP / HOST
        return {str(path.relative_to(folder)).removesuffix("-day.png").replace("/", "."): path for path in folder.rglob("*-day.png")}


@contextmanager
def munin_lab() -> Iterator[Munin]:
    """A folder of its own, which munin's unprivileged user can reach, and is gone at the end."""
    root = root_of("munin")
    folder = Path(tempfile.mkdtemp(prefix="myisam-munin-"))
    try:
        folder.chmod(0o755)
        munin = Munin(folder, root, free_port())
        _make(munin)
        yield munin
    finally:
        shutil.rmtree(folder)


def _make(munin: Munin) -> None:
    folder = munin.folder
    for name in ("etc/plugins", "etc/plugin-conf.d", "plugin", "perl/Munin/Common", "db", "www", "log", "run", "state"):
        (folder / name).mkdir(parents=True)
    if os.geteuid() == 0:
        for name in ("db", "www", "log", "run"):
            shutil.chown(folder / name, UNPRIVILEGED)
    for name in ("templates", "static"):
        (folder / "etc" / name).symlink_to(munin.root / "etc/munin" / name)
    shutil.copy(PLUGIN, munin.plugin)
    (folder / "etc/plugins" / NAME).symlink_to(munin.plugin)
    defaults = (munin.root / "usr/share/perl5/Munin/Common/Defaults.pm").read_text()
    for name, value in (
        ("CONFDIR", folder / "etc"), ("LIBDIR", munin.root / "usr/share/munin"), ("DBDIR", folder / "db"), ("PLUGSTATE", folder / "state"),
        ("LOGDIR", folder / "log"), ("STATEDIR", folder / "run"), ("HTMLDIR", folder / "www"), ("USER", UNPRIVILEGED), ("GROUP", "nogroup"),
    ):  # fmt: skip
        defaults, found = re.subn(rf"(\$MUNIN_{name}\s*=) q\{{.*?\}}", rf"\1 q{{{value}}}", defaults)
        assert found == 1, name
    (folder / "perl/Munin/Common/Defaults.pm").write_text(defaults)
    (folder / "node.conf").write_text(
        f"log_level 4\nlog_file {folder}/log/munin-node.log\npid_file {folder}/run/node.pid\nbackground 0\nsetsid 0\n"
        f"user {'root' if os.geteuid() == 0 else os.geteuid()}\ngroup {'root' if os.geteuid() == 0 else os.getegid()}\nhost_name {HOST}\nallow ^127\\.0\\.0\\.1$\nhost 127.0.0.1\nport {munin.port}\n"
    )
    (folder / "munin.conf").write_text(
        f"dbdir {folder}/db\nhtmldir {folder}/www\nlogdir {folder}/log\nrundir {folder}/run\ntmpldir {folder}/etc/templates\nstaticdir {folder}/etc/static\n"
        f"graph_strategy cron\nhtml_strategy cron\n[{GROUP};{HOST}]\n  address 127.0.0.1\n  port {munin.port}\n  use_node_name no\n"
    )
    munin.configure({})
