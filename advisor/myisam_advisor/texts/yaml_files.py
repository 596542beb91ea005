"""YAML files of the user's, with errors that name file, line and fault. Dates stay text: the schema says what form they have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myisam_advisor.texts.near import did_you_mean
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError, brief, shortened
from myisam_exporter.outside.documents import SETTINGS, DocumentError, loader_class, parse_yaml, read_text

if TYPE_CHECKING:
    from jsonschema import ValidationError

# Each error quotes the part that it is about: of a file that is wrong everywhere, the first hundred are looked at.
MAXIMUM_FAULTS = 100
MAXIMUM_FAULT_CHARACTERS = 300
KeyPath = Sequence[str | int]
# What the user writes in YAML, by JSON's types.
KINDS = {
    "object": "a mapping (key: value)", "array": "a list ([a, b])", "string": "text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A parsed file, with its text to find lines in."""

    path: Path
    text: str
    document: Any


def read_yaml(path: Path, kind: str) -> YamlFile:
    """Read and parse a file of the user's. Raises UserError when it cannot be read, is no YAML or is too large."""
    text = read_text(path, kind, SETTINGS.file_bytes)
    try:
        return YamlFile(path, text, parse_yaml(text))
    except DocumentError as error:
        raise UserError(f"{path}, line {error.line or 1}: not valid YAML: {error}") from None


def first_fault(document: object, schema: dict[str, Any]) -> tuple[KeyPath, str] | None:
    """Where a document breaks its schema first, and how."""
    import jsonschema

    try:
        errors = islice(jsonschema.Draft202012Validator(schema).iter_errors(document), MAXIMUM_FAULTS)
        first = min(errors, key=lambda error: (len(error.absolute_path), str(error.message)), default=None)
    except TypeError:  # a key that is no text is matched against a pattern
        return (), "every key must be text"
    return (list(first.absolute_path), shortened(_in_words(first), MAXIMUM_FAULT_CHARACTERS)) if first else None


def _in_words(error: ValidationError) -> str:
    """What is wrong, and what would be right. The library's own words speak of properties and of JSON's types."""
    rule = str(error.validator)
    found: Any = error.instance
    wanted: Any = error.validator_value
    if rule == "additionalProperties" and isinstance(error.schema, dict):
        known = sorted(error.schema.get("properties", ()))
        strange = next((str(name) for name in found if name not in known), "")
        return f"there is no key {brief(strange)}.{did_you_mean(strange, known)} Known are {', '.join(known)}."
    if rule == "required":
        missing = next((name for name in wanted if name not in found), "")
        return f"the key {missing} is missing: write {missing}: and its value"
    if rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        return f"{brief(found)} is not {' or '.join(KINDS.get(kind, kind) for kind in kinds)}"
    return str(error.message)


def fault_at(file: YamlFile, place: KeyPath, message: str) -> UserError:
    """The error for a fault at a place of the file."""
    where = ".".join(str(part) for part in place)
    return UserError(f"{file.path}, line {line_of(file.text, place)}: {where + ': ' if where else ''}{message}")


def line_of(text: str, place: KeyPath) -> int:
    """The line of the deepest part of the place that the text has; the first where it cannot be told, as in JSON that is no YAML."""
    import yaml

    try:
        # The loader that read it: PyYAML's other one refuses some texts that this one takes.
        node, line = yaml.compose(text, Loader=loader_class()), 1
    except (yaml.YAMLError, RecursionError, ValueError):
        return 1
    for part in place:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line
