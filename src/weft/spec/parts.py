"""Plain values in, one frozen part of a spec out, or every problem with them."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from weft.spec.base import Part
from weft.spec.problems import Path, Problem, get_at, nearest

P = TypeVar("P", bound=Part)

_TYPES: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "dict": "a mapping (key: value lines)",
    "model": "a mapping (key: value lines)",
}


def build(kind: type[P], data: object) -> P | list[Problem]:
    """Check plain values against a part; return it, or every problem."""
    if not isinstance(data, Mapping):
        message = "must be a mapping (key: value lines)"
        return [Problem(path=(), message=message, value=data)]
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        return [_problem(kind, details, data) for details in found if _own(details)]


def _own(details: ErrorDetails) -> bool:
    """Say no to a list that is only too short because its entries are wrong."""
    return not (details["type"] == "too_short" and details["input"])


def _problem(kind: type[Part], details: ErrorDetails, data: object) -> Problem:
    # As written: the arms of a union are not keys.
    keys = (str(key) for key in details["loc"])
    path = tuple(key for key in keys if not key.startswith(("as a ", "[")))
    value = get_at(data, path)  # as written: a validator may have turned it into a number
    handled = _SAY.get(details["type"])
    if handled is not None:
        return handled(kind, path, details)
    message = _ordinary(details).removeprefix(f"{value!r} ")
    return Problem(path=path, message=message, value=value)


def _ordinary(details: ErrorDetails) -> str:
    family = details["type"].split("_")[0]
    if details["type"].endswith(("_type", "_parsing", "_from_float")) and family in _TYPES:
        return f"must be {_TYPES[family]}"
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    message = message.replace("should be", "must be")
    more, least = "must be greater than or equal to ", details.get("ctx", {}).get("ge")
    return f"must be {least:g} or more" if message.startswith(more) else message


def _missing(kind: type[Part], path: Path, _details: ErrorDetails) -> Problem:
    field = part_at(kind, path[:-1]).model_fields[path[-1]]
    meaning = (field.description or "").split("\n")[0]
    message = "is missing; add it" + (f" ({meaning})" if meaning else "")
    return Problem(path=path, message=message, has_value=False)


def _unknown(kind: type[Part], path: Path, _details: ErrorDetails) -> Problem:
    keys = part_at(kind, path[:-1]).model_fields
    message = f"is unknown; {nearest(path[-1], keys)}"
    return Problem(path=path, message=message, has_value=False)


def _choice(kind: type[Part], path: Path, details: ErrorDetails) -> Problem:
    fields = part_at(kind, path[:-1]).model_fields
    field = fields.get(path[-1]) or fields[path[-2]]  # the latter: a mapping's own key
    annotation = field.annotation
    message = f"is not allowed; {nearest(details['input'], _literals(annotation))}"
    return Problem(path=path, message=message, value=details["input"])


def _empty(_kind: type[Part], path: Path, _details: ErrorDetails) -> Problem:
    return Problem(path=path, message="must hold at least one entry", has_value=False)


_SAY: Final = {
    "missing": _missing, "extra_forbidden": _unknown, "literal_error": _choice,
    "too_short": _empty,
}  # fmt: skip


def _literals(annotation: Any) -> list[str]:  # noqa: ANN401 - a type
    if isinstance(annotation, str):
        return [annotation]
    return [name for arg in get_args(annotation) for name in _literals(arg)]


def part_at(kind: type[Part], path: Path) -> type[Part]:
    """Return the part that a path of keys leads to."""
    for key in path:
        if key.isdigit():  # a place in a list of parts
            continue
        field = kind.model_fields.get(key)
        below = _part_in(field.annotation) if field else None
        if below is None:
            return kind
        kind = below
    return kind


def _part_in(annotation: Any) -> type[Part] | None:  # noqa: ANN401 - a type
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation if issubclass(annotation, Part) else None
    return next((part for arg in get_args(annotation) if (part := _part_in(arg))), None)
