"""The verbs of weft: each a pure function on frozen, documented types.

Each is imported when it is first asked for, so that no verb pays for another. Where each is
defined is told once, in ``weft/__init__.pyi``, which type checkers read as well.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any, Final

VERBS: Final = {
    "predict": "predict",
    "predict_service": "predict",
    "scaling": "predict",
    "compare": "compare",
    "compare_service": "compare",
    "claims": "claims",
    "whatif": "whatif",
    "need": "need",
    "expect": "expect",
    "accuracy": "accuracy",
    "calibrate": "calibrate",
    "replay": "replay",
    "simulate": "simulate",
    "sweep": "simulate",
    "run_study": "sweep",
    "tune": "tune",
    "diagnose": "diagnose",
    "judge": "bench",
    "check": "check",
    "lint": "lint",
    "diff": "diff",
    "plan": "plan",
    "render": "render",
    "runbook": "runbook",
}
"""Verbs of this module, and the command that speaks each."""


def _places() -> dict[str, tuple[str, str]]:
    """Return the module of every public name, and what it is called there."""
    stub = ast.parse(Path(__file__).with_name("__init__.pyi").read_text("utf-8"))
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


_PLACES: Final = _places()
__all__ = ["VERBS", "result_of", *_PLACES]  # noqa: PLE0604 - names of the stub


def result_of(verb: str) -> type:
    """Return the class of what a verb gives."""
    given = __getattr__(verb).__annotations__["return"]
    assert isinstance(given, type)
    return given


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a verb or a type when it is first used."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, own_name = _PLACES[name]
    found = import_module(place)
    return getattr(found, own_name, None) or import_module(f"{place}.{own_name}")
