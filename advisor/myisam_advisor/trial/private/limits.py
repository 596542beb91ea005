"""What limits a process here (getrlimit(2)) and a private server dies of: it is said before anything begins, or in the place of the server's own backtrace.

Where memory ends in one of its threads, Python itself is lost: CPython 3.11 takes an exception's way out for ever while it finds no memory to note the place
(Python/ceval.c, exception_unwind), holding the interpreter's lock, so that no signal is heard. Nothing of ours can end that, so nothing begins under a limit
that no private server bears.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Sequence

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import size
from myisam_exporter.declaring.lean_dataclasses import dataclass

MIB = 1 << 20
USUAL_BYTES = 8192 * MIB


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a process.

    Attributes:
        name: as getrlimit(2) has it.
        raised_by: what raises it.
        least: with less than this none of the servers that were asked starts; 0 where none was. In bytes, or a number.
        usual: many processes have that much, or less is seldom met: a limit from there on is named only where the server says so; eight GiB are more than any private server takes.
        words: what servers say that met it.
        servers_raise: a server raises its own as far as the hard limit.
    """

    name: str
    raised_by: str
    least: int
    usual: int
    words: tuple[str, ...]
    in_bytes: bool = True
    servers_raise: bool = False

    @property
    def present(self) -> int | None:
        """The limit of this process, which what it starts inherits; None where there is none."""
        return self._value(is_hard=False)

    @property
    def highest(self) -> int | None:
        """The limit that a server of ours can have; None where there is none."""
        return self._value(is_hard=self.servers_raise)

    def is_named(self, said: str) -> bool:
        """Whether a server, or the system, speaks of it."""
        # "errno: 12" is memory, and "errno: 121" a duplicate key.
        return any(re.search(rf"{re.escape(words)}(?!\d)", said) for words in self.words)

    def _value(self, *, is_hard: bool) -> int | None:
        value = resource.getrlimit(getattr(resource, self.name))[is_hard]
        return None if value == resource.RLIM_INFINITY else value

    def shown(self, value: int) -> str:
        """A value of it in words."""
        return size(value) if self.in_bytes else f"{value:,}"


_NO_MEMORY = ("Cannot allocate memory", "ut of memory", "Errcode: 12", "errno: 12", "pthread_create returned 11")
# Least: measured on servers as private_server.py starts them. Of seven (all of script/servers but MariaDB 11.4) the smallest, MySQL 5.5, starts with 360 MiB of
# addresses and not with 330, MariaDB 10.5 takes 503, the others do not start with 512; InnoDB's first file has 12 MiB; with 24 open files none of five starts (MySQL 5.5
# and 9.7, MariaDB 10.5, 10.11 and 11.8), and MySQL 9.7 does with 40. Where 20 are the soft limit alone, trials end on MySQL 5.5 and 5.6.
LIMITS = (
    Limit("RLIMIT_AS", "ulimit -v, LimitAS=", 330 * MIB, USUAL_BYTES, _NO_MEMORY),
    Limit("RLIMIT_DATA", "ulimit -d, LimitDATA=", 0, USUAL_BYTES, _NO_MEMORY),
    Limit("RLIMIT_FSIZE", "ulimit -f, LimitFSIZE=", 12 * MIB, USUAL_BYTES, ("File too large", "Errcode: 27", "errno: 27")),
    Limit("RLIMIT_NOFILE", "ulimit -n, LimitNOFILE=", 25, 256, ("Too many open files", "Errcode: 24", "errno: 24"), in_bytes=False, servers_raise=True),
    Limit(
        "RLIMIT_NPROC", "ulimit -u, LimitNPROC=", 0, 256,
        ("Resource temporarily unavailable", "errno 11", "errno: 11", "Can't create a new thread", "Can't create thread"),
        in_bytes=False,
    ),
)  # fmt: skip


def expect_bearable() -> None:
    """Raises TrialError under a limit with which no private server starts."""
    for limit in LIMITS:
        highest = limit.highest
        if highest is not None and highest < limit.least:
            raise TrialError(
                f"{limit.name} is {limit.shown(highest)} here, and with less than {limit.shown(limit.least)} no private server starts: "
                f"raise it ({limit.raised_by})."
            )


def limits_met(said: str) -> str:
    """A sentence on the limits that a private server may have died of: the low ones, else those of which it speaks; empty where there are none."""
    low = [limit for limit in LIMITS if (present := limit.present) is not None and present < limit.usual]
    return _told(low) or limits_named(said)


def limits_named(said: str) -> str:
    """A sentence on the limits of which a server, or the system, speaks; empty where there are none."""
    return _told([limit for limit in LIMITS if limit.is_named(said)])


def _told(limits: Sequence[Limit]) -> str:
    met = [
        f"{limit.name} is {limit.shown(present)} ({limit.raised_by})"
        for limit in limits
        if (present := limit.present) is not None
    ]
    return f"What limits it here: {'; '.join(met)}. Raise that, and try again." if met else ""
