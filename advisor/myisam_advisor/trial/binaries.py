"""Where the database servers are: those that script/servers fetched, and the machine's own."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

FETCHED_SERVERS = ("mariadb-10.11", "mariadb-11.8", "mysql-9.7", "mysql-5.6")


@dataclass(frozen=True, slots=True)
class ServerBinaries:
    """One server's programs and data files.

    `loader` is set where the server lives in a private root with its own C library: its programs then run through that root's
    own dynamic loader, never against this machine's libraries.
    """

    name: str
    flavour: str
    mysqld: Path
    basedir: Path
    share: Path
    loader: Path | None = None

    @property
    def library_directory(self) -> Path | None:
        """The private root's libraries, or None where the machine's own are right."""
        return self.loader.parent if self.loader else None

    def command(self, program: Path) -> list[str]:
        """The words that start PROGRAM of this server (mysqld, myisamchk, myisampack)."""
        if self.loader:
            return [str(self.loader), "--library-path", str(self.library_directory), str(program)]
        return [str(program)]

    def tool(self, name: str) -> list[str] | None:
        """The words that start myisamchk or myisampack, or None where the server came without them."""
        program = self.basedir / "bin" / name
        return self.command(program) if program.exists() else None


def cache_directory() -> Path:
    """The folder that script/servers fills."""
    chosen = os.environ.get("MYISAM_ADVISOR_SERVERS")
    if chosen:
        return Path(chosen)
    base = Path("/var/cache") if os.geteuid() == 0 else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "myisam-advisor" / "servers"


def find_server(name: str) -> ServerBinaries | None:
    """The server fetched as NAME, or None where script/servers has not fetched it."""
    root = cache_directory() / name
    if not (root / "complete").exists():
        return None
    if name == "mysql-5.6":
        server = root / "server"
        return ServerBinaries(name, "mysql", server / "mysqld", server, server / "share")
    flavour = name.partition("-")[0]
    usr = root / "usr"
    mysqld = usr / "sbin" / ("mariadbd" if flavour == "mariadb" else "mysqld")
    shares = [usr / "share" / folder for folder in ("mariadb", "mysql-8.0", "mysql", "mysql-9.7")]
    share = next(folder for folder in shares if (folder / "english").exists() or (folder / "charsets").exists())
    # The distribution's own release runs against the machine's own libraries and so has no loader in its root.
    loader = next(iter(sorted(usr.glob("lib/*/ld-linux-*.so.*"))), None)
    return ServerBinaries(name, flavour, mysqld, usr, share, loader)


def find_installed_mariadb() -> ServerBinaries | None:
    """The MariaDB server installed on this machine, or None."""
    found = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        return None
    shares = [Path("/usr/share/mariadb"), Path("/usr/share/mysql")]
    share = next((folder for folder in shares if (folder / "english").exists()), None)
    return ServerBinaries("mariadb", "mariadb", Path(found), Path("/usr"), share) if share else None
