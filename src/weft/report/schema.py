"""JSON Schemas of all that weft writes: one per kind of result, one for errors."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from weft import plugins
from weft.errors import UnknownName
from weft.report import views
from weft.report.page import View
from weft.report.plain import DIALECT, SCHEMA_VERSION, schema_of

Schema = dict[str, Any]

ERROR: Final[Mapping[str, Any]] = {
    "$schema": DIALECT,
    "$id": "urn:weft:schema:1:error",
    "title": "Error",
    "description": "What is written in place of a result when there is none.",
    "type": "object",
    "properties": {
        "schemaVersion": {"const": SCHEMA_VERSION},
        "success": {"const": False},
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "category": {"enum": ["input", "unreadable", "internal"]},
                "transient": {"type": "boolean"},
                "suggestion": {"type": "string"},
            },
            "required": ["code", "message", "category", "transient", "suggestion"],
            "additionalProperties": False,
        },
        "messages": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["schemaVersion", "success", "error", "messages"],
    "additionalProperties": False,
}


def kinds() -> dict[str, str]:
    """Return the kinds of result and the verb of each."""
    found = {name: plugins.load(views, name, View) for name in plugins.names(views)}
    return {name: view.verb for name, view in found.items() if view.shows}


def result_class(kind: str) -> type:
    """Import the class of a kind of result."""
    module, _, name = plugins.load(views, kind, View).shows.rpartition(".")
    found = getattr(import_module(module), name)
    assert isinstance(found, type)
    return found


def schema(name: str) -> Schema:
    """Return the schema of a verb's document, or of one kind of result, or of ``error``."""
    if name == "error":
        return dict(ERROR)
    wanted = [kind for kind, verb in kinds().items() if name in (kind, verb)]
    if not wanted:
        known = ", ".join(sorted({"error", *kinds(), *kinds().values()}))
        raise UnknownName(f"no schema is called {name!r}; there are: {known}")
    found = [schema_of(result_class(kind)) for kind in wanted]
    return found[0] if len(found) == 1 else {"$schema": DIALECT, "oneOf": found}
