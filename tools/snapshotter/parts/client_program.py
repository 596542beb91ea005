"""Which of the host's programs speaks with the server, and the processes of it that are running."""

from __future__ import annotations

import os
import subprocess
from typing import ClassVar

from myisam_exporter.errors import UserError

CLIENTS = ("mariadb", "mysql")
CLIENT_PLACES = ("/usr/bin", "/usr/local/bin", "/usr/local/mysql/bin", "/opt/mysql/bin", "/opt/mariadb/bin")


class Client:
    """Which program is asked; there is one for the whole run."""

    path = ""
    running: ClassVar[set[subprocess.Popen[bytes]]] = set()

    @classmethod
    def end_all(cls) -> None:
        """End those that are left when the program ends: one that is given up may wait for its server yet."""
        for process in cls.running:
            if process.poll() is None:
                process.kill()

    @classmethod
    def find(cls, named: str | None) -> None:
        """The client that was named, or the first in PATH and the usual places. Raises UserError where there is none."""
        if named is not None:
            if not os.access(named, os.X_OK) or os.path.isdir(named):  # noqa: PTH112 - as a shell looks for it
                raise UserError(f"{named} is no program: name the server's client, mysql or mariadb, with --client.")
            cls.path = os.path.abspath(named)  # noqa: PTH100 - texts, as PATH has them
            return
        # A relative place would be searched below wherever this is run.
        places = [place for place in os.environ.get("PATH", "").split(":") if place.startswith("/")]
        for place in [*places, *CLIENT_PLACES]:
            for name in CLIENTS:
                path = f"{place}/{name}"
                if os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112 - as above
                    cls.path = path
                    return
        raise UserError(
            "there is no client program mysql or mariadb in PATH, nor in the usual places: install it (MySQL-client, mariadb), or name it with --client FILE. "
            "Nothing was written: without the server's own words nobody can tell whose files these are."
        )
