"""Who is at the other end of a connection, and whom it counts with.

Which user of this machine a loopback connection is of cannot be told: the service has a network namespace of its own, whose
/proc/net/tcp does not list the connections of a socket that systemd opened outside it. So all of loopback is one.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
from functools import lru_cache

from myisam_exporter.declaring.lean_dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# struct ucred of SO_PEERCRED, unix(7): pid, uid, gid.
_CREDENTIALS = struct.Struct("3i")
# Whoever has one address of IPv6 has the whole network that the last 64 bits number: RFC 4291, 2.5.1.
_IPV6_NETWORK_BITS = 64


@dataclass(frozen=True, slots=True)
class Peer:
    """One who asks.

    `group` is whom the connection counts with. `uid` is that of a UNIX socket's peer, None on a network. `asked_address` is the
    address of ours that was asked. `is_certified` when the TLS handshake verified a certificate of the client.
    """

    group: str
    uid: int | None = None
    asked_address: Address | None = None
    over_tls: bool = False
    is_certified: bool = False

    @property
    def over_unix_socket(self) -> bool:
        """Whether the permissions of a file said who may connect."""
        return self.uid is not None


NOBODY = Peer("nobody")


def peer_of(connection: socket.socket) -> Peer:
    """Who connected there. Raises OSError when the connection is gone already."""
    if connection.family == socket.AF_UNIX:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        _, uid, _ = _CREDENTIALS.unpack(credentials)
        return Peer(f"uid {uid}", uid)
    asking, asked = (parse_address(name[0]) for name in (connection.getpeername(), connection.getsockname()))
    return Peer(_group_of(asking), asked_address=asked)


@lru_cache(maxsize=256)  # a crowd of one address connects hundreds of times a second
def parse_address(text: str) -> Address | None:
    """An IP address, with or without a zone; an IPv4 address within IPv6 is the IPv4 address. None for anything else."""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(text.partition("%")[0])
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return mapped or address
    return None


def _group_of(address: Address | None) -> str:
    if address is None:
        return "unknown"
    if address.is_loopback:
        return "loopback"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, _IPV6_NETWORK_BITS), strict=False))
    return str(address)
