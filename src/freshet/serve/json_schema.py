"""JSON schemas of the documents, derived from their types."""

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

PLAIN_TYPES: Mapping[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    # A number that is not finite is written as null.
    float: {"type": ["number", "null"]},
    str: {"type": "string"},
    bytes: {"type": "string"},
    Path: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
ARRAY_ORIGINS = (list, tuple, set, frozenset, Sequence)


class SchemaCollector:
    """Collects the schemas of dataclasses by name, and refers to them."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def schema(self, kind: Any) -> Schema:
        """Return the schema of a type."""
        if kind in PLAIN_TYPES:
            return dict(PLAIN_TYPES[kind])
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.schema(argument) for argument in arguments]}
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in ARRAY_ORIGINS:
            return self._array(origin, arguments)
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.schema(arguments[1])}
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return {"type": "string", "enum": [item.value for item in kind]}
        if is_dataclass(kind) and isinstance(kind, type):
            return self._reference(kind)
        raise TypeError(f"{kind} has no JSON schema")

    def _array(self, origin: Any, arguments: Sequence[Any]) -> Schema:
        if origin is tuple and arguments[-1] is not Ellipsis:
            items = [self.schema(argument) for argument in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items)}
        return {"type": "array", "items": self.schema(arguments[0])}

    def _reference(self, kind: type) -> Schema:
        name = kind.__name__
        if name not in self.schemas:
            self.schemas[name] = {}  # a type may refer to itself
            hints = typing.get_type_hints(kind)
            names = [item.name for item in fields(kind)]
            self.schemas[name] = {
                "type": "object",
                "description": (kind.__doc__ or "").partition("\n")[0],
                "properties": {item: self.schema(hints[item]) for item in names},
                "required": names,
            }
        return {"$ref": f"#/components/schemas/{name}"}
