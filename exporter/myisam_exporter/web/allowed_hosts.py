"""Which names of ours a request may be addressed to.

A page of somebody else's may give its own name our address (DNS rebinding); to the browser that name is then we, and the page reads
what we answer. The Host that the browser sends still is the foreign name: what is not known to be ours is not answered for.

Over TLS nothing is left to check: a browser asks for a certificate of the very name. Whoever sends no Host at all (HTTP/1.0) is no
browser. Source: RFC 9110, 7.2 (Host) and 15.5.20 (421).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from myisam_exporter.errors import UserError
from myisam_exporter.web.peers import Address, Peer, parse_address

OPTION = "--web.allowed-host"
MAXIMUM_NAME_CHARACTERS = 253  # RFC 1035, 2.3.4
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^:\[\]]+))(?::\d{0,5})?")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")


class AllowedHosts:
    """The list: localhost, the machine's own name, loopback addresses, the address that was asked, and what was configured.

    Args:
        configured: further names and addresses, without ports. Raises UserError for what is neither.
    """

    def __init__(self, configured: Iterable[str] = ()) -> None:
        self._names = {"localhost", _normal(os.uname().nodename)}
        self._addresses: set[Address] = set()
        for text in configured:
            address = parse_address(text.removeprefix("[").removesuffix("]"))
            if address is not None:
                self._addresses.add(address)
            elif is_host_name(_normal(text)):
                self._names.add(_normal(text))
            else:
                raise UserError(f"{OPTION} {text!r} is not a host name: give a name or an address, without a port.")

    def admit(self, host: str | None, peer: Peer) -> bool:
        """Whether a request of that peer with this Host may be answered; None is a request without one."""
        if host is None or peer.over_tls or peer.over_unix_socket:
            return True
        name = host_of(host)
        address = parse_address(name)
        if address is None:
            return _normal(name) in self._names
        return address.is_loopback or address == peer.asked_address or address in self._addresses


def host_of(authority: str) -> str:
    """The name or address in what a Host says, less the port; empty where it has none."""
    found = _HOST.fullmatch(authority.lower())
    if found is None:
        return ""
    if found["address"]:
        return found["address"] if parse_address(found["address"]) else ""
    name = found["name"]
    return name if is_host_name(_normal(name)) or parse_address(name) else ""


def is_host_name(text: str) -> bool:
    """Whether a host may be called so, in small letters."""
    return len(text) <= MAXIMUM_NAME_CHARACTERS and _NAME.fullmatch(text) is not None


def _normal(name: str) -> str:
    return name.lower().removesuffix(".")
