"""YAML files of the user's, with errors that name file, line and fault. Dates stay text: the schema says what form they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from myisam_exporter.errors import UserError

MAXIMUM_BYTES = 1 << 20
KeyPath = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A parsed file, with its text to find lines in."""

    path: Path
    text: str
    document: Any


def read_yaml(path: Path, kind: str) -> YamlFile:
    """Read and parse a file of the user's. Raises UserError when it cannot be read or is no YAML."""
    import yaml

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the {kind} {path}: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > MAXIMUM_BYTES:
        raise UserError(f"the {kind} {path} is larger than {MAXIMUM_BYTES} bytes: it is no {kind}.")
    try:
        return YamlFile(path, text, yaml.load(text, Loader=_loader()))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise UserError(
            f"{path}, line {mark.line + 1 if mark else 1}: no YAML: {getattr(error, 'problem', None) or error}"
        ) from None
    except (RecursionError, ValueError) as error:
        raise UserError(f"{path}: no YAML: {error}") from None


def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        """Without YAML's own dates."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
        for first, found in base.yaml_implicit_resolvers.items()
    }
    return Loader


def first_fault(document: object, schema: dict[str, Any]) -> tuple[KeyPath, str] | None:
    """Where a document breaks its schema first, and how."""
    import jsonschema

    errors = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(document),
        key=lambda error: (len(error.absolute_path), str(error.message)),
    )
    return (list(errors[0].absolute_path), errors[0].message) if errors else None


def fault_at(file: YamlFile, place: KeyPath, message: str) -> UserError:
    """The error for a fault at a place of the file."""
    where = ".".join(str(part) for part in place)
    return UserError(f"{file.path}, line {line_of(file.text, place)}: {where + ': ' if where else ''}{message}")


def line_of(text: str, place: KeyPath) -> int:
    """The line of the deepest part of the place that the text has; the first where it cannot be told, as in JSON that is no YAML."""
    import yaml

    try:
        # The loader that read it: PyYAML's other one refuses some texts that this one takes.
        node, line = yaml.compose(text, Loader=_loader()), 1
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
