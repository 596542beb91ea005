"""The package's service taken over: what intruder.py can do in its place, with the drop-ins that an administrator may add."""

import json
import shutil

from tests.e2e.debian import System
from tests.support.repository import ROOT

SERVICE = "myisam-advisor.service"
STATE = "/var/lib/myisam-advisor"
DROP_INS = "/usr/share/myisam-advisor/systemd"
INTRUDER = "myisam-intruder.service"
SECRETS = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh/ssh_host_rsa_key", "/etc/mysql/debian.cnf", "/var/backups/shadow.bak",
    "/root/secret", "/data/secret",
)  # fmt: skip


def intrude(system: System, *profiles: str) -> dict[str, str]:
    """What somebody can do who has taken over the service with these drop-ins: attempt -> `done` or the error."""
    folder = f"/etc/systemd/system/{INTRUDER}.d"
    system.run("rm", "-rf", folder, f"{STATE}/ready", f"{STATE}/go", f"{STATE}/tried.json")
    system.run("mkdir", "-p", folder, "/data", "/etc/ssh")
    for secret in SECRETS:
        system.run("sh", "-c", f"[ -s {secret} ] || {{ echo secret > {secret}; chmod 0600 {secret}; }}")
    shutil.copy(ROOT / "tests" / "e2e" / "intruder.py", system.root / "usr" / "local" / "lib" / "intruder.py")
    system.run("cp", f"/lib/systemd/system/{SERVICE}", f"/etc/systemd/system/{INTRUDER}")
    for profile in profiles:
        system.run("cp", f"{DROP_INS}/{profile}.conf", folder)
    root_process = system.run("systemctl", "show", "--property=MainPID", "--value", "systemd-journald.service").strip()
    command = " ".join(("/usr/bin/python3", "/usr/local/lib/intruder.py", root_process, *SECRETS))
    text = f"[Service]\nType=oneshot\nWatchdogSec=0\nRestart=no\nExecReload=\nExecStart=\nExecStart={command}\n"
    system.run("tee", f"{folder}/zz.conf", text=text)
    system.run("systemctl", "daemon-reload")
    system.run("systemctl", "start", "--no-block", INTRUDER)
    system.until("ready", "ls", STATE)
    # As passwd does it: a new file by the old name, which takes away what is mounted over the old one elsewhere.
    for secret in SECRETS:
        system.run("cp", "--preserve", secret, f"{secret}.new")
        system.run("mv", f"{secret}.new", secret)
    system.run("touch", f"{STATE}/go")
    system.until("inactive", "systemctl", "is-active", INTRUDER)
    tried: dict[str, str] = json.loads(system.run("cat", f"{STATE}/tried.json"))
    return tried
