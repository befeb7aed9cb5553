"""weft: what should this network do?

The verbs and the types that they take and give; each is imported when it is first used.
(Type checkers read them in ``__init__.pyi``.)

>>> import weft
>>> cluster = weft.preset("dgx_h100", hosts=4)
>>> curve = weft.expect(cluster, "all_reduce", smallest_bytes=2**30, largest_bytes=2**30)
>>> 200e9 < curve.peak_busbw_bytes_per_s.value < 500e9
True
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = [
    "Calibration", "Checklist", "Claims", "Comparison", "Configuration", "Diagnosis",
    "Drift", "Expectation",
    "Judgement", "Linted", "Need", "Plan", "Prediction", "Replay", "Runbooks", "Scaling",
    "Scoreboard", "ServiceComparison", "ServicePrediction", "Simulation", "Studied", "Sweep",
    "Target", "Tuned", "WhatIf", "accuracy", "calibrate", "catalog", "check", "claims",
    "compare", "compare_service", "diagnose", "diff",
    "expect", "fabrics", "judge", "lint",
    "load_case", "load_cluster", "load_inference", "load_job", "load_scenario", "load_study",
    "model",
    "need", "plan", "predict", "predict_service",
    "preset", "render", "replay", "run_study", "runbook", "scaling",
    "simulate", "sweep", "tune", "whatif",
]  # fmt: skip


def _public(name: str) -> Any:  # noqa: ANN401 - any public name
    # By name, not by an import statement: every part of weft imports this package, and none
    # of them may thereby import the layers above it.
    api, frames = import_module("weft.api"), import_module("weft.report.frames")
    found = getattr(api, name)
    if isinstance(found, type):
        frames.attach(found)
    elif name in api.VERBS:
        frames.attach(api.result_of(name))
    return found


def _verb(name: str) -> property:
    """Keep a verb in its place when the import system binds a sub-package of its name there."""
    return property(lambda _: _public(name), lambda _, __: None)


class _Package(ModuleType):
    """The package with its verbs: some of them bear the name of the sub-package they are in."""

    accuracy = _verb("accuracy")
    calibrate = _verb("calibrate")
    check = _verb("check")
    lint = _verb("lint")
    predict = _verb("predict")
    tune = _verb("tune")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any public name
        if name not in __all__:
            raise AttributeError(f"module 'weft' has no attribute {name!r}")
        return _public(name)


sys.modules[__name__].__class__ = _Package
