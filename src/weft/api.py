"""The verbs of weft: each a pure function on frozen, documented types.

Each is imported when it is first asked for, so that no verb pays for another.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weft import catalogue as catalog
    from weft.accuracy.run import score as accuracy
    from weft.accuracy.scoreboard import Scoreboard
    from weft.advise.claims import Claims, claims
    from weft.advise.compare import Comparison, compare
    from weft.advise.need import Need, Target, need
    from weft.advise.serving import ServiceComparison, compare_service
    from weft.advise.whatif import WhatIf, whatif
    from weft.bench.judge import Judgement, judge
    from weft.calibrate.calibration import Calibration, calibrate
    from weft.check.checked import Checklist, check
    from weft.doctor.diagnose import Diagnosis, diagnose
    from weft.generate.plan import Plan, plan
    from weft.generate.runbook import Runbooks
    from weft.generate.runbook import runbooks as runbook
    from weft.generate.target import Configuration, render
    from weft.lint.diff import Drift, diff
    from weft.lint.lint import Linted, lint
    from weft.predict.collective import Expectation, expect
    from weft.predict.inference import ServicePrediction, predict_service
    from weft.predict.replay import Replay, replay
    from weft.predict.scaling import Scaling, scaling
    from weft.predict.simulate import simulate, sweep
    from weft.predict.simulation import Simulation, Sweep
    from weft.predict.training import Prediction, predict
    from weft.spec.load import (
        load_case,
        load_cluster,
        load_inference,
        load_job,
        load_scenario,
        load_study,
        model,
        preset,
    )
    from weft.study.run import Studied, run_study
    from weft.tune.search import tune
    from weft.tune.tuned import Tuned

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

_PLACES: Final = {
    "catalog": "weft.catalogue:.",
    "Calibration": "weft.calibrate.calibration",
    "calibrate": "weft.calibrate.calibration",
    "Scoreboard": "weft.accuracy.scoreboard",
    "accuracy": "weft.accuracy.run:score",
    "Diagnosis": "weft.doctor.diagnose",
    "diagnose": "weft.doctor.diagnose",
    "Judgement": "weft.bench.judge",
    "judge": "weft.bench.judge",
    "Checklist": "weft.check.checked",
    "check": "weft.check.checked",
    "Drift": "weft.lint.diff",
    "diff": "weft.lint.diff",
    "Linted": "weft.lint.lint",
    "lint": "weft.lint.lint",
    "Plan": "weft.generate.plan",
    "plan": "weft.generate.plan",
    "Configuration": "weft.generate.target",
    "render": "weft.generate.target",
    "Runbooks": "weft.generate.runbook",
    "runbook": "weft.generate.runbook:runbooks",
    "Claims": "weft.advise.claims",
    "claims": "weft.advise.claims",
    "Comparison": "weft.advise.compare",
    "Need": "weft.advise.need",
    "Target": "weft.advise.need",
    "compare": "weft.advise.compare",
    "need": "weft.advise.need",
    "Expectation": "weft.predict.collective",
    "Prediction": "weft.predict.training",
    "Scaling": "weft.predict.scaling",
    "expect": "weft.predict.collective",
    "load_case": "weft.spec.load",
    "load_cluster": "weft.spec.load",
    "load_inference": "weft.spec.load",
    "load_job": "weft.spec.load",
    "load_scenario": "weft.spec.load",
    "load_study": "weft.spec.load",
    "Studied": "weft.study.run",
    "run_study": "weft.study.run",
    "model": "weft.spec.load",
    "predict": "weft.predict.training",
    "Replay": "weft.predict.replay",
    "replay": "weft.predict.replay",
    "ServiceComparison": "weft.advise.serving",
    "compare_service": "weft.advise.serving",
    "ServicePrediction": "weft.predict.inference",
    "predict_service": "weft.predict.inference",
    "preset": "weft.spec.load",
    "scaling": "weft.predict.scaling",
    "Simulation": "weft.predict.simulation",
    "simulate": "weft.predict.simulate",
    "Sweep": "weft.predict.simulation",
    "sweep": "weft.predict.simulate",
    "Tuned": "weft.tune.tuned",
    "tune": "weft.tune.search",
    "WhatIf": "weft.advise.whatif",
    "whatif": "weft.advise.whatif",
}

__all__ = [
    "VERBS", "Calibration", "Checklist", "Claims", "Comparison", "Configuration", "Diagnosis",
    "Drift", "Expectation",
    "Judgement", "Linted", "Need", "Plan", "Prediction", "Replay", "Runbooks", "Scaling",
    "Scoreboard", "ServiceComparison", "ServicePrediction", "Simulation", "Studied", "Sweep",
    "Target", "Tuned", "WhatIf", "accuracy", "calibrate", "catalog", "check", "claims",
    "compare", "compare_service", "diagnose", "diff",
    "expect", "fabrics", "judge", "lint",
    "load_case", "load_cluster", "load_inference", "load_job", "load_scenario", "load_study",
    "model",
    "need", "plan", "predict", "predict_service",
    "preset", "render", "replay", "result_of", "run_study", "runbook", "scaling",
    "simulate", "sweep", "tune", "whatif",
]  # fmt: skip


def result_of(verb: str) -> type:
    """Return the class of what a verb gives."""
    given = __getattr__(verb).__annotations__["return"]
    assert isinstance(given, type)
    return given


def fabrics() -> list[str]:
    """List the networks that ``compare`` knows."""
    from weft.advise.case import names  # noqa: PLC0415 - when it is asked for

    return names()


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a verb or a type when it is first used."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, _, inside = _PLACES[name].partition(":")
    module = import_module(place)
    return module if inside == "." else getattr(module, inside or name)
