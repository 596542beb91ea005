"""Which server this is: flavour and version, and comparisons that keep MySQL's and MariaDB's numbers apart."""

from __future__ import annotations

import re

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

# What each flavour is called by those who make it.
PRODUCT_NAMES = {"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona Server"}
_NUMBER = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?(?![0-9])")


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """flavour is mysql, mariadb or percona; number is (major, minor, patch); text is what the server says."""

    flavour: str
    number: tuple[int, int, int]
    text: str

    @property
    def as_number(self) -> int:
        """One number to compare by."""
        return as_number(*self.number)

    def at_least(self, mysql: tuple[int, ...] | None = None, mariadb: tuple[int, ...] | None = None) -> bool:
        """Whether the version reaches the one given for its own flavour; never, where None is given for it."""
        wanted = mariadb if self.flavour == "mariadb" else mysql
        return wanted is not None and self.number >= wanted


def as_number(major: int, minor: int = 0, patch: int = 0) -> int:
    """A version as one number to compare by, as in /*!80013 comments: 8.0.13 is 80013."""
    return major * 10000 + minor * 100 + patch


def text_as_number(version: str) -> int:
    """A version of one to three numbers, such as 10.11 or 8.0.13, as one number to compare by."""
    return as_number(*(int(part) for part in version.split(".")[:3]))


def parse_version(text: str, comment: str = "") -> ServerVersion:
    """The version from @@version and @@version_comment.

    Raises UserError when no number is in it.
    """
    # MariaDB 10 and 11 answer old replicas with 5.5.5- before the true number.
    plain = text.removeprefix("5.5.5-") if "mariadb" in text.lower() else text
    found = _NUMBER.match(plain)
    if found is None:
        raise UserError(
            f"the server calls its version {text[:100]!r}, which holds no number such as 10.11.6 or 5.6.24."
        )
    major, minor, patch = (int(part or 0) for part in found.groups())
    if "mariadb" in (text + comment).lower():
        flavour = "mariadb"
    elif "percona" in (text + comment).lower():
        flavour = "percona"
    else:
        flavour = "mysql"
    return ServerVersion(flavour, (major, minor, patch), text)


def product_and_version(flavour: object, version: str, unknown: str = "server") -> str:
    """For people: MariaDB 11.4.5 of 11.4.5-MariaDB, whose maker says its name in the number too."""
    product = PRODUCT_NAMES.get(str(flavour), unknown)
    return f"{product} {version.replace(f'-{product}', '', 1)}"
