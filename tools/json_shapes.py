"""The parts that JSON Schemas are made of: objects, lists, and the shape of a dataclass."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from myisam_advisor.texts.json_documents import SCHEMA_VERSION

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
VALUE: Schema = {"type": ["number", "string", "null"]}
TEXTS: Schema = {"type": "array", "items": TEXT}
COLUMN_TYPES = {"integer": "integer", "real": "number", "text": "string"}
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def a_document(title: str, description: str, properties: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    """What a document of this kind holds besides what all of them begin with."""
    tool = an_object({"name": {"const": "myisam-advisor"}, "version": TEXT})
    begin: dict[str, Schema] = {
        "schema": {"const": SCHEMA_VERSION},
        "time": {"type": "string", "format": "date-time", "description": "When it was made, in UTC."},
        "tool": tool,
    }
    return {
        "$schema": DIALECT,
        "title": title,
        "description": description,
        **an_object({**begin, **properties}, optional),
    }


def an_object(properties: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    """An object that has all of these, but for the optional ones."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": dict(properties)}


def list_of(item: Schema) -> Schema:
    """An array of such."""
    return {"type": "array", "items": item}


def or_null(schema: Schema) -> Schema:
    """Such, or null where it is not known."""
    return {"anyOf": [schema, {"type": "null"}]}


def shape_of(kind: type[Any], without: Sequence[str] = (), **further: Schema) -> Schema:
    """The schema of a dataclass: its fields by their types, without some, and with what the document adds."""
    hints = typing.get_type_hints(kind)
    known: Sequence[Field[Any]] = fields(kind)
    found = {field.name: _of_type(hints[field.name]) for field in known if field.name not in without}
    return an_object(found | further)


def _of_type(hint: Any) -> Schema:
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if any(one not in _SIMPLE for one in arguments):
            return or_null(_of_type(next(one for one in arguments if one is not type(None))))
        kinds = [_SIMPLE[one] for one in arguments]
        return {"type": [kind for kind in kinds if not (kind == "integer" and "number" in kinds)]}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of_type(arguments[1])}
    if origin is tuple or (origin is not None and issubclass(origin, Sequence)):
        return list_of(_of_type(arguments[0]))
    return shape_of(hint)
