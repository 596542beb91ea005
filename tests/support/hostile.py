"""Names that would break out of whatever they are written into, and the facts of every rule's case under such names."""

import copy
import re
from collections.abc import Iterator
from typing import Any

from myisam_advisor.changes.plan import ChangePlan, make_plan
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding
from tests.rules.test_cases import CASES
from tests.support.judging import judged_facts

PRECIOUS = "precious"
MARKER = "/tmp/myisam-advisor-hostile-name-ran"
EVIL_OPTION = "max_connections"
EVIL_NUMBER = 7777
NAMES = (
    f"key_buffer_size=8388608; drop database {PRECIOUS}; -- ",
    f"x` = 1; drop database {PRECIOUS}; -- ",
    f"x``; drop database {PRECIOUS}; -- ",
    f"a\n--1;drop database {PRECIOUS};#",
    f"a\n{EVIL_OPTION}={EVIL_NUMBER}\nplugin-load-add=evil.so",
    f"a\r{EVIL_OPTION}={EVIL_NUMBER}\r",
    f"a\n!include /tmp/evil.cnf\n[mysqld]\n{EVIL_OPTION} = {EVIL_NUMBER}",
    f"a\n\\! touch {MARKER}\n",
    f"\\! touch {MARKER}",
    f"a`\n\\! touch {MARKER}\n`",
    f"a\nsystem touch {MARKER}\n",
    f"a\ndelimiter //\ndrop database {PRECIOUS}//",
    f"a\nsource /tmp/evil.sql\n\\. /tmp/evil.sql\n\\q\n\\G\ndrop database {PRECIOUS};",
    f"'; drop database {PRECIOUS}; -- ",
    f'"; drop database {PRECIOUS}; -- ',
    f"\\'; drop database {PRECIOUS}; -- ",
    f"\\\"; drop database {PRECIOUS}; #",
    f"*/; drop database {PRECIOUS}; /*",
    f"/*! drop database {PRECIOUS} */",
    f"a\x0bdrop database {PRECIOUS};\x0c\x85\u2028\u2029drop database {PRECIOUS};",
    f"\x1b[201~\x15\\! touch {MARKER}\r",
    f"\u202e; drop database {PRECIOUS}; --",
    f"$(touch {MARKER})`touch {MARKER}`; touch {MARKER} #",
    f"```\ndrop database {PRECIOUS};\n```",
    f"\u8868`; drop database {PRECIOUS}; -- ",
    f"{{{{ 7 * 7 }}}}%s%n; drop database {PRECIOUS}",
    f"default; drop database {PRECIOUS}",
    f"nul\0`; drop database {PRECIOUS}; -- ",
)
_NAMES_OF_THINGS = ("schema_name", "table_name", "index_name")
_PATHS = ("data_directory",)


def under_name(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """The case with its databases, tables, indexes, key caches, directories and the texts of its variables called so."""
    document: dict[str, Any] = copy.deepcopy(facts)
    for table, content in document.items():
        if table == "variable" and isinstance(content, dict):
            document[table] = {key: name if isinstance(value, str) else value for key, value in content.items()} | {"init_file": f"/tmp/{name}"}
        elif isinstance(content, list):
            for row in content:
                for column in _NAMES_OF_THINGS:
                    if isinstance(row.get(column), str):
                        row[column] += name
                if table == "key_cache":
                    row["name"] = f"{row['name']}{name}" if row.get("name") != "default" else name
        elif isinstance(content, dict):
            document[table] = {key: f"/tmp/{name}" if key in _PATHS else value for key, value in content.items()}
    if isinstance(document.get("server"), dict):
        document["server"]["hostname"] = name
    return document


def findings_and_plan(facts: dict[str, Any]) -> tuple[list[Finding], ChangePlan]:
    """What all rules say of it, and the plan of all that."""
    known = facts_from_document({"schema": 1, **facts})
    findings = list(judged_facts(known).findings)
    return findings, make_plan(findings, known)


def hostile_plans() -> Iterator[tuple[str, list[Finding], ChangePlan]]:
    """Every case under one of the names, the names in turn, each name with several cases."""
    for place, (_, case) in enumerate(CASES):
        name = NAMES[place % len(NAMES)]
        yield (name, *findings_and_plan(under_name(case["facts"], name)))


# A statement that may run as it stands: names between backticks that no client could take for anything else.
_PLAIN = r"`[^`\\;'\"#\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]+`"
_TABLE = rf"{_PLAIN}\.{_PLAIN}"
HARMLESS = re.compile(
    rf"SET GLOBAL (?:{_PLAIN}\.)?\w+ = (?:[\w.]+|'[\w .,:/@+-]*'|_utf8mb4 0x[0-9a-f]*);"
    rf"|CACHE INDEX {_TABLE}(?: PARTITION \(ALL\))? IN (?:{_PLAIN}|default);"
    rf"|LOAD INDEX INTO CACHE {_TABLE}(?: PARTITION \(ALL\))?;"
    rf"|FLUSH (?:NO_WRITE_TO_BINLOG )?TABLES(?: {_TABLE}(?:, {_TABLE})*)?;"
    rf"|LOCK TABLES {_TABLE} WRITE(?:, {_TABLE} WRITE)*;|UNLOCK TABLES;"
    rf"|(?:OPTIMIZE|CHECK|REPAIR)(?: NO_WRITE_TO_BINLOG)? TABLE {_TABLE}(?: FAST| USE_FRM)?;|SHOW CREATE TABLE {_TABLE};"
    rf"|ALTER TABLE {_TABLE} [\w=, ]+;"
    rf"|SELECT @@GLOBAL\.(?:{_PLAIN}\.)?\w+;"
)
OPTION = re.compile(r"(?:[\w$-]+\.)?[a-z_-]+ = [\w./-]+")


def lines_of(text: str) -> list[str]:
    """Its lines, by what any reader takes for a line's end."""
    return text.splitlines()
