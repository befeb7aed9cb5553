from weft import catalogue as catalog
from weft.accuracy.run import score as accuracy
from weft.accuracy.scoreboard import Scoreboard
from weft.advise.case import names as fabrics
from weft.advise.claims import Claims, claims
from weft.advise.compare import Comparison, compare
from weft.advise.need import Need, Target, need
from weft.advise.serving import ServiceComparison, compare_service
from weft.advise.whatif import WhatIf, whatif
from weft.bench.judge import Judgement, judge
from weft.calibrate.calibration import Calibration, calibrate
from weft.check.checked import Checklist, check
from weft.check.diff import Drift, diff
from weft.doctor.diagnose import Diagnosis, diagnose
from weft.generate.plan import Plan, plan
from weft.generate.runbook import Runbooks
from weft.generate.runbook import runbooks as runbook
from weft.generate.target import Configuration, render
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
