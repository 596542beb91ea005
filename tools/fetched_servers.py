"""The servers that script/servers fetched for tests, benchmarks and the demonstration, and MariaDB as it is installed here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from myisam_advisor.trial.private.binaries import ServerBinaries, private_loader, server_at, share_of

FETCHED_SERVERS = ("mariadb-10.11", "mariadb-11.8", "mysql-9.7", "mysql-5.6")
# Versions between and before them: tests ask them what differs with versions, and everything in `script/test thorough`.
# docs/decisions/033-eight-servers.md says where they are from.
FURTHER_SERVERS = ("mysql-5.5", "mysql-8.0", "mariadb-10.5", "mariadb-11.4")
# Those that lie as their maker packed them, programs in bin.
ARCHIVES = ("mysql-5.5", "mysql-8.0", "mariadb-11.4")
PROGRAMS = {"mariadb": "mariadbd", "mysql": "mysqld"}


def cache_directory() -> Path:
    """The folder that script/servers fills."""
    chosen = os.environ.get("MYISAM_ADVISOR_SERVERS")
    if chosen:
        return Path(chosen)
    base = Path("/var/cache") if os.geteuid() == 0 else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "myisam-advisor" / "servers"


def keep_place() -> None:
    """Say where the servers are to whoever we become: another user has another home (trial/private/apart.py keeps the variable)."""
    os.environ["MYISAM_ADVISOR_SERVERS"] = str(cache_directory())


def find_server(name: str) -> ServerBinaries | None:
    """The server fetched as NAME, or None where script/servers has not fetched it."""
    root = cache_directory() / name
    if not (root / "complete").exists():
        return None
    if name == "mysql-5.6":
        server = root / "server"
        return ServerBinaries(name, "mysql", server / "mysqld", server, server / "share", family="mysql-bootstrap")
    if name in ARCHIVES:
        return server_at(root / "bin" / PROGRAMS[name.partition("-")[0]])
    flavour = name.partition("-")[0]
    usr = root / "usr"
    mysqld = usr / "sbin" / PROGRAMS[flavour]
    share = share_of(usr)
    return ServerBinaries(name, flavour, mysqld, usr, share, private_loader(usr), flavour) if share else None


def find_installed_mariadb() -> ServerBinaries | None:
    """The MariaDB server installed on this machine, or None."""
    found = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    share = share_of(Path("/usr"))
    return ServerBinaries("mariadb", "mariadb", Path(found), Path("/usr"), share) if found and share else None
