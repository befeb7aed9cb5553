"""A result as plain data for JSON and YAML, and the JSON Schema of that data.

Keys are the names of the fields with their unit at the end; numbers are the inside ones, not
rounded. A property of a result is written beside its fields. Specs are written as in a file.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

SCHEMA_VERSION: Final = "1"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Json = dict[str, Any]

_NUMBER: Final[Json] = {"type": ["number", "null"]}
"""Null stands for infinity and for what is not a number: JSON has neither."""


def document(result: Any) -> Json:  # noqa: ANN401 - any result
    """Return the one document that stands for a result."""
    head = {"schemaVersion": SCHEMA_VERSION, "success": True, "kind": kind_of(type(result))}
    body = plain(result)
    return head | (body if isinstance(body, dict) else {"result": body})


def kind_of(cls: type) -> str:
    """Name a class as its view's file and the document's ``kind`` do.

    >>> kind_of(type("CollectiveTime", (), {}))
    'collective_time'
    """
    name = cls.__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def plain(value: Any) -> Any:  # noqa: ANN401, PLR0911 - one return a kind of value
    """Turn a value of a result into what JSON can hold."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in _keys(_class_of(value))}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, Collection):
        return [plain(item) for item in value]
    return str(value)


def flat(
    value: Mapping[str, Any],
    is_whole: Callable[[object], bool] = lambda _: False,
    before: str = "",
) -> Iterator[tuple[str, Any]]:
    """Yield nested values with the path of their keys, parted by dots.

    >>> dict(flat({"time_s": {"value": 1.0}, "hosts": 2}))
    {'time_s.value': 1.0, 'hosts': 2}
    """
    for key, item in value.items():
        if isinstance(item, Mapping) and not is_whole(item):
            yield from flat(item, is_whole, f"{before}{key}.")
        else:
            yield f"{before}{key}", item


def _class_of(value: object) -> Any:  # noqa: ANN401 - mypy does not take a class for a key
    return type(value)


def _key(key: object) -> str:
    return str(key.value if isinstance(key, Enum) else key)


@cache
def _keys(cls: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    return (*(field.name for field in _shown(cls)), *_properties(cls))


def _shown(cls: Any) -> "list[Field[Any]]":  # noqa: ANN401 - a dataclass
    """Return the fields that are part of an answer: what ``repr`` leaves out is not."""
    return [field for field in fields(cls) if field.repr]


def _properties(cls: type) -> dict[str, property]:
    found: dict[str, property] = {}
    for base in reversed(cls.__mro__):
        found |= {
            name: member
            for name, member in vars(base).items()
            if isinstance(member, property) and not name.startswith("_")
        }
    return found


@dataclass(frozen=True, slots=True)
class _Defs:
    """Schemas of the classes inside a result; two classes may bear the same name."""

    shapes: dict[str, Json] = field(default_factory=dict)
    names: dict[type, str] = field(default_factory=dict)

    def name(self, cls: type) -> str:
        taken = cls.__name__ in self.shapes
        self.names[cls] = f"{cls.__module__}.{cls.__name__}" if taken else cls.__name__
        self.shapes[self.names[cls]] = {}
        return self.names[cls]


def schema_of(cls: type) -> Json:
    """Return the JSON Schema of the document that stands for a result of this class."""
    defs = _Defs()
    body = _dataclass(cls, defs) if is_dataclass(cls) else _wrapped(cls, defs)
    head: Json = {
        "schemaVersion": {"const": SCHEMA_VERSION},
        "success": {"const": True},
        "kind": {"const": kind_of(cls)},
    }
    return {
        "$schema": DIALECT,
        "$id": f"urn:weft:schema:{SCHEMA_VERSION}:{kind_of(cls)}",
        "title": cls.__name__,
        "description": _first_line(cls),
        "type": "object",
        "properties": head | body["properties"],
        "required": [*head, *body["required"]],
        "additionalProperties": False,
        "$defs": dict(sorted(defs.shapes.items())),
    }


def _wrapped(cls: Any, defs: _Defs) -> Json:  # noqa: ANN401 - any annotation
    return {"properties": {"result": _schema(cls, defs)}, "required": ["result"]}


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _dataclass(cls: Any, defs: _Defs) -> Json:  # noqa: ANN401 - a dataclass
    hints = get_type_hints(cls)
    shapes = {field.name: _field(field, hints[field.name], defs) for field in _shown(cls)}
    for name, member in _properties(cls).items():
        shapes[name] = _schema(get_type_hints(member.fget).get("return", Any), defs)
    return {
        "type": "object",
        "description": _first_line(cls),
        "properties": shapes,
        "required": list(shapes),
        "additionalProperties": False,
    }


def _field(field: "Field[Any]", hint: Any, defs: _Defs) -> Json:  # noqa: ANN401 - an annotation
    shape = _schema(hint, defs)
    if field.default is not MISSING and isinstance(field.default, bool | int | float | str):
        return shape | {"default": plain(field.default)}
    return shape


def _schema(hint: Any, defs: _Defs) -> Json:  # noqa: ANN401 - one return a kind
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _schema(arguments[0], defs)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(part, defs) for part in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is not None:
        return _container(origin, arguments, defs)
    if not isinstance(hint, type):
        return {}
    return _class(hint, defs)


def _container(origin: type, arguments: tuple[Any, ...], defs: _Defs) -> Json:
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], defs)}
    if origin is tuple and Ellipsis not in arguments:
        items = [_schema(part, defs) for part in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    return {"type": "array", "items": _schema(arguments[0], defs)}


def _class(cls: type, defs: _Defs) -> Json:
    simple: dict[type, Json] = {
        NoneType: {"type": "null"},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: _NUMBER,
        str: {"type": "string"},
        object: {},
        dict: {"type": "object"},
        list: {"type": "array"},
        tuple: {"type": "array"},
    }
    if cls in simple:
        return dict(simple[cls])
    if issubclass(cls, PurePath):
        return {"type": "string"}
    if issubclass(cls, Enum):
        return {"enum": [plain(member) for member in cls]}
    return _named(cls, defs)


def _named(cls: Any, defs: _Defs) -> Json:  # noqa: ANN401 - a dataclass or a spec part
    if cls not in defs.names:
        name = defs.name(cls)  # held before it is filled, so that a class may contain itself
        if hasattr(cls, "model_json_schema"):
            shape = cls.model_json_schema(mode="serialization", ref_template="#/$defs/{model}")
            defs.shapes.update(shape.pop("$defs", {}))
            defs.shapes[name] = shape
        elif is_dataclass(cls):
            defs.shapes[name] = _dataclass(cls, defs)
    return {"$ref": f"#/$defs/{defs.names[cls]}"}
