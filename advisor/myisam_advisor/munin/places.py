"""Where munin-node looks (munin-node.conf(5)), and where the plugin looks for the daemon."""

from pathlib import Path

PLUGINS = Path("/etc/munin/plugins")
CONFIGURATIONS = Path("/etc/munin/plugin-conf.d")
SOCKET = Path("/run/myisam-advisor-munin.sock")


def socket_of(instance: str) -> Path:
    """The socket of the daemon of one of several servers, where nobody says another; of the first without a name."""
    return SOCKET.parent / f"myisam-advisor-{instance}.sock" if instance else SOCKET
