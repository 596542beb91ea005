"""The shipped rules as they were parsed when the release was made: to parse their YAML takes longer than a look at a thousand tables.

Each is held against its file by a digest of the text. A file that differs, because somebody changed it here, is parsed as any other.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from myisam_advisor.catalogue.shipped_files import shipped_document
from myisam_advisor.texts.yaml_files import YamlFile, read_yaml
from myisam_exporter.errors import UserError
from myisam_exporter.outside.documents import SETTINGS, read_text

PARSED = "parsed.json"  # `script/generate-docs` writes it


def digest_of(text: str) -> str:
    """What tells that a text is the one that was parsed."""
    return sha256(text.encode("utf-8")).hexdigest()


@lru_cache(maxsize=1)
def _parsed() -> dict[str, Any]:
    try:
        found = shipped_document(PARSED)
    except UserError:  # it saves time alone: the rules' own files are there
        return {}
    return found if isinstance(found, dict) else {}


def forget_parsed() -> None:
    """Once the rules are made, nothing needs what they were made of: a daemon would keep it, 0.4 MB."""
    _parsed.cache_clear()


def read_rule(path: Path) -> YamlFile:
    """A file of the shipped rules. Raises UserError as `read_yaml` does."""
    known = _parsed().get(path.name)
    if isinstance(known, dict):
        text = read_text(path, "rule", SETTINGS.file_bytes)
        if known.get("sha256") == digest_of(text) and "document" in known:
            return YamlFile(path, text, known["document"])
    return read_yaml(path, "rule")
