"""The service as systemd has it: as whom it runs and with which rights. Sources: systemctl(1), systemd.exec(5), sd_booted(3)."""

from __future__ import annotations

import pwd
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

SERVICE = "myisam-advisor.service"
PROCESS_SOCKET = "myisam-advisor-process.socket"
PROCESS_SERVICE = "myisam-advisor-process.service"
# sd_booted(3): it is there where systemd is the first process.
BOOTED = Path("/run/systemd/system")
DROP_IN_ROOT = Path("/etc/systemd/system")
# A start waits for the first look at the server, which is bounded; TimeoutStartSec= of systemd is 90 s.
SYSTEMCTL_SECONDS = 150
# Who may do anything in the server: on MariaDB from 10.4 on the owner of its files too. Their accounts are nobody's to make or to drop.
MASTERS = frozenset({"root", "mysql"})
_NAME = re.compile(r"[A-Za-z0-9:_.-]{1,240}(\.service)?", re.ASCII)
_PROPERTIES = (
    "LoadState", "ActiveState", "MainPID", "User", "Group", "SupplementaryGroups", "AmbientCapabilities", "StateDirectory", "Wants",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Service:
    """One service. `process` is its main process, None while it does not run; `user` is empty for root."""

    name: str
    user: str
    group: str
    groups: tuple[str, ...]
    capabilities: tuple[str, ...]
    process: int | None
    state_directory: Path | None
    wants: tuple[str, ...] = ()

    @property
    def user_name(self) -> str:
        """Its user's name, which the server knows it by; the number where there is no name for it."""
        name = self.user or "root"
        try:
            return pwd.getpwuid(int(name)).pw_name if name.isdecimal() else name
        except (KeyError, OverflowError):
            return name

    @property
    def is_master(self) -> bool:
        """Whether it runs as somebody who may change the server."""
        return self.user_name in MASTERS

    @property
    def drop_in_folder(self) -> Path:
        """Where an administrator's drop-ins for it lie."""
        return DROP_IN_ROOT / f"{self.name}.d"


def full_name(name: str) -> str:
    """NAME.service. Raises UserError for what cannot be a service's name."""
    if not _NAME.fullmatch(name) or name.startswith((".", "-")):
        raise UserError(f"{name!r} is not the name of a systemd service: give --service a name such as {SERVICE}.")
    return name if name.endswith(".service") else f"{name}.service"


def read_service(name: str, booted: Path = BOOTED) -> Service | None:
    """The service of this name; None where systemd does not run here, or has no such service. Raises UserError."""
    if not booted.is_dir():
        return None
    shown = systemctl("show", f"--property={','.join(_PROPERTIES)}", "--", name)
    if shown.returncode:
        raise UserError(f"systemctl shows nothing about {name}: {_told(shown)}.")
    return parse_service(name, shown.stdout)


def parse_service(name: str, shown: str) -> Service | None:
    """What `systemctl show` printed, as a service; None where there is none of that name."""
    values: Mapping[str, str] = dict(line.partition("=")[::2] for line in shown.splitlines())
    if values.get("LoadState") != "loaded":
        return None
    pid = values.get("MainPID", "0")
    state = values.get("StateDirectory", "").split()
    return Service(
        name,
        values.get("User", ""),
        values.get("Group", ""),
        tuple(values.get("SupplementaryGroups", "").split()),
        tuple(values.get("AmbientCapabilities", "").split()),
        int(pid) if pid.isdecimal() and int(pid) and values.get("ActiveState") == "active" else None,
        Path("/var/lib") / state[0] if state else None,
        tuple(values.get("Wants", "").split()),
    )


def restart(service: Service) -> None:
    """Let systemd read its units anew and start the service with them. Raises UserError."""
    for words in (("daemon-reload",), ("restart", "--", service.name)):
        done = systemctl(*words)
        if done.returncode:
            raise UserError(
                f"systemctl {words[0]} failed: {_told(done)}. See: journalctl --no-pager --unit {service.name}"
            )


def stop_process_reader(service: Service) -> None:
    """Stop the process that may look into others, unless the service as it is now still wants it. Raises UserError."""
    present = read_service(service.name)
    if present is not None and PROCESS_SOCKET not in present.wants:
        systemctl("stop", PROCESS_SOCKET, PROCESS_SERVICE)


def systemctl(*words: str) -> subprocess.CompletedProcess[str]:
    """A command of systemctl's, without a pager and questions. Raises UserError where it hangs or is not there."""
    try:
        return subprocess.run(
            ["systemctl", "--no-pager", "--no-ask-password", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SYSTEMCTL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"systemctl {words[0]} did not end within {SYSTEMCTL_SECONDS} s.") from None
    except OSError as error:
        raise UserError(f"systemctl cannot be run: {error.strerror}.") from None


def _told(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stderr or done.stdout).split()) or f"it ended with {done.returncode}"
