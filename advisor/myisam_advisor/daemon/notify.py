"""What a service tells systemd: sd_notify(3), over a datagram socket. Where nobody listens, nothing is said."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Mapping

_log = logging.getLogger(__name__)
STATUS_LETTERS = 300


class Notifier:
    """The socket that systemd names in NOTIFY_SOCKET, and how often its watchdog wants to hear of us."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        self.watchdog_seconds = _watchdog_seconds(environment) if self._address else None
        self._said = ""

    @property
    def is_heard(self) -> bool:
        """Whether there is somebody to tell."""
        return bool(self._address)

    def ready(self) -> None:
        """The service answers."""
        self._send("READY=1")

    def reloading(self) -> None:
        """The configuration is read anew; `ready` ends it. The moment is what Type=notify-reload wants."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """The service ends."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`; the same one again is not sent."""
        line = " ".join(text.split())[:STATUS_LETTERS]
        if line != self._said:
            self._send(f"STATUS={line}")
            self._said = line

    def alive(self) -> None:
        """The watchdog may wait anew."""
        self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # A leading @ stands for the zero byte of an abstract address.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
                channel.setblocking(False)
                channel.sendto(message.encode("utf-8", "replace"), address)
        except OSError as error:
            _log.debug("systemd could not be notified of %s: %s", message.partition("=")[0], error)


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """How long the watchdog waits; None where there is none, or where it means another process."""
    usec, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    if not usec.isdigit() or int(usec) == 0 or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 1e6
