"""phpMyAdmin's Advisor: its own rules, run by its own engine (phpmyadmin.php) over SHOW GLOBAL STATUS and VARIABLES, without a web server."""

from __future__ import annotations

import html
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.programs import advice, asked, known_of, not_fetched, output_of, setting, shown
from benchmarks.advice.vague import Known, prose
from myisam_advisor.errors import TrialError
from tools.fetched_servers import cache_directory

PACKAGE = "phpmyadmin"
DRIVER = Path(__file__).with_suffix(".php")
PHP, LIBRARIES, ROOT = "usr/bin/php8.2", "usr/share/php", "usr/share/phpmyadmin"
EXTENSIONS = "usr/lib/php/20220829"
_TAG = re.compile(r"<[^<>]*>")
_VERSION_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VERSION = re.compile(r"^phpmyadmin (?:\d+:)?(\S+)", re.MULTILINE)


class PhpMyAdmin:
    """See the module."""

    name = "phpmyadmin"

    def why_not(self) -> str | None:
        """See Adviser."""
        return not_fetched(
            PACKAGE, PHP, f"{ROOT}/libraries/classes/Advisor.php", f"{LIBRARIES}/Symfony/Component/ExpressionLanguage"
        )

    def advice(self, server: WatchedServer) -> Advice:
        """See Adviser."""
        root = cache_directory() / PACKAGE
        variables = asked(server, "VARIABLES")
        with tempfile.NamedTemporaryFile("w", prefix="myisam-peer-", suffix=".json", encoding="utf-8") as file:
            json.dump(facts(asked(server, "STATUS"), variables), file)
            file.flush()
            text = output_of(
                [*_php(root), str(DRIVER), str(root / LIBRARIES), str(root / ROOT), file.name],
                {"LD_LIBRARY_PATH": ":".join(map(str, (root / "usr/lib").glob("*-linux-gnu")))},
            )
        version = _VERSION.search((root / "versions").read_text(encoding="utf-8"))
        return advice_of(text, version[1] if version else "unknown", known_of(server, variables))


def _php(root: Path) -> list[str]:
    """PHP as it was unpacked, without the machine's configuration."""
    words = [str(root / PHP), "-n", "-d", f"extension_dir={root / EXTENSIONS}"]
    return [*words, "-d", "extension=mbstring", "-d", "extension=ctype"]


def facts(status: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, Any]:
    """What its engine reads, and the version as it counts it (Utilities::versionToInt)."""
    version = variables.get("version", "")
    numbers = _VERSION_NUMBER.match(version)
    number = int("{}{:0>2}{:0>2}".format(*numbers.groups())) if numbers else 0
    return {"version": number, "is_mariadb": "mariadb" in version.lower(), "status": status, "variables": variables}


def advice_of(text: str, version: str, known: Known) -> Advice:
    """The rules that fired, as changes and sentences. Raises TrialError where it printed something else."""
    try:
        fired: list[dict[str, Any]] = json.loads(text)["fired"]
    except (ValueError, KeyError, TypeError):
        raise TrialError(f"phpMyAdmin's Advisor printed no result: {shown(text)}") from None
    changes: list[Change] = []
    named: list[str] = []
    for rule in fired:
        found = list(_changes(rule, known))
        changes += found
        if not found:
            named.append(f"{rule.get('name')}: {_plain(rule.get('issue'))} {_plain(rule.get('recommendation'))}")
    return advice(PhpMyAdmin.name, version, changes, named)


def _changes(rule: Mapping[str, Any], known: Known) -> Iterator[Change]:
    said = _plain(rule.get("recommendation"))
    for reading in prose(said, known):
        yield setting(
            reading, f"{_plain(rule.get('issue'))} {said}", "advisor", str(rule.get("id") or rule.get("name"))
        )


def _plain(markup: object) -> str:
    return html.unescape(_TAG.sub("", str(markup or "")))


ADVISER = PhpMyAdmin()
