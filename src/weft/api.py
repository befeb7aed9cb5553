"""The verbs of weft: each a pure function on frozen, documented types.

Each is imported when it is first asked for, so that no verb pays for another.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weft.predict.collective import Expectation, expect
    from weft.predict.scaling import Scaling, scaling
    from weft.predict.training import Prediction, predict
    from weft.spec.load import load_case, load_cluster, load_job, model, preset

VERBS: Final = {
    "predict": "predict",
    "scaling": "predict",
    "expect": "expect",
}
"""Verbs of this module, and the command that speaks each."""

_PLACES: Final = {
    "Expectation": "weft.predict.collective",
    "Prediction": "weft.predict.training",
    "Scaling": "weft.predict.scaling",
    "expect": "weft.predict.collective",
    "load_case": "weft.spec.load",
    "load_cluster": "weft.spec.load",
    "load_job": "weft.spec.load",
    "model": "weft.spec.load",
    "predict": "weft.predict.training",
    "preset": "weft.spec.load",
    "scaling": "weft.predict.scaling",
}

__all__ = [
    "VERBS", "Expectation", "Prediction", "Scaling", "expect", "load_case", "load_cluster",
    "load_job", "model", "predict", "preset", "scaling",
]  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a verb or a type when it is first used."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
