"""The clients that scripts are fed to: this machine's mariadb, and the mysql of Debian sid that script/servers fetches."""

import shutil

from tests.support.fetched import not_fetched
from tools.fetched_servers import cache_directory

CLIENTS = ("mariadb", "mysql-client")


def client(kind: str) -> list[str]:
    """The words that start it."""
    if kind == "mariadb":
        found = shutil.which("mariadb")
        assert found, "the mariadb client is missing: script/bootstrap installs it"
        return [found, "--no-defaults"]
    usr = cache_directory() / kind / "usr"
    loader = next(iter(sorted(usr.glob("lib/*/ld-linux-*.so.*"))), None)
    if loader is None:
        not_fetched(kind)
    # The way in that the other servers have, which this release keeps as a plugin.
    plugins = f"--plugin-dir={usr / 'lib' / 'mysql' / 'plugin'}"
    return [str(loader), "--library-path", str(loader.parent), str(usr / "bin" / "mysql"), "--no-defaults", plugins]
