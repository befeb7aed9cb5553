"""`weft predict` (decide): how long a training step takes on this cluster, and why."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from weft import api
from weft.cli import options
from weft.cli.exits import PARTIAL
from weft.cli.watch import watched

if TYPE_CHECKING:
    from weft.cli.inputs import Case
    from weft.predict.grid import Grid
    from weft.predict.scaling import Scaling
    from weft.predict.training import Prediction
    from weft.predict.watching import Report


def predict(
    documents: list[Path] = [],
    *,
    given: options.CaseGiven,
    sweep: list[str] = [],
    fidelity: str = "analytic",
    failed: list[str] = [],
    shown: options.Drawn,
    quiet: bool = False,
) -> int:
    """Predict a training job, or an inference service, on one cluster.

    Step time with its breakdown, MFU, tokens per second, exposed communication, goodput,
    cost and energy, each with its 80 % band, and the reasons. For a document of kind
    Inference: time to first token, time per output token, tokens per second, the network's
    share and the cost of a million tokens.

    \b
    Examples:
      weft predict --preset dgx_h200 --gpus 512 --model llama3_70b
      weft predict cluster.yaml job.yaml
      weft predict both.yaml --set fabric.kind=tcp --set precision=fp8
      weft predict both.yaml --fidelity packet --set fabric.tuning=misconfigured
      weft predict both.yaml --fidelity flow --failed leaf_link_down
      weft predict cluster.yaml inference.yaml --set sequences=512
      weft predict both.yaml --sweep gpus=128,512,1024,4096 --chart scaling.svg
      weft predict both.yaml --sweep hosts=64,128 --sweep fabric.kind=roce,tcp
    """
    from weft.cli.inputs import is_service, with_defaults
    from weft.cli.sweeps import swept_case
    from weft.study.measures import predicted

    options.check_failed(failed, fidelity)
    why = "faults are not swept; run once without --sweep for each"
    options.refuse("--failed", failed and sweep, why)
    if is_service(given, documents):
        why = "an inference service has no sweep; run once for each --set sequences=N"
        options.refuse("--sweep", sweep, why)
        options.check_service(fidelity)
        _predict_service(documents, given, shown)
        return 0
    kind = _kind(sweep)
    shown.check(kind=kind)
    with watched("predicting", fidelity, quiet=quiet) as report:
        run = partial(_predicted, fidelity=fidelity, failed=failed, report=report)
        result: Prediction | Scaling | Grid
        if kind == "grid":
            result = swept_case("predict", sweep, given, documents, run=run, measures=predicted)
        elif kind == "scaling":
            sizes, case = _sizes(sweep[0]), given.case(documents)
            result = api.scaling(
                case.cluster, case.job, sizes, fidelity=fidelity, report=report
            )
        else:
            case = given.case(documents)
            result = with_defaults(run(case), case.defaults)
    shown.emit(result)
    return 0 if result.complete else PARTIAL


def _predict_service(
    documents: Sequence[Path], given: options.CaseGiven, shown: options.Drawn
) -> None:
    from weft.cli.inputs import service_of

    shown.check(kind="service_prediction")
    asked = service_of(given, documents)
    shown.emit(api.predict_service(asked.cluster, asked.service))


def _predicted(
    case: "Case", *, fidelity: str, failed: Sequence[str], report: "Report"
) -> "Prediction":
    if not failed:
        return api.predict(case.cluster, case.job, fidelity=fidelity, report=report)
    from weft.advise.whatif import predict_failed  # it compiles kernels

    return predict_failed(case.cluster, case.job, failed, report=report)


def _kind(sweep: Sequence[str]) -> str:
    """Name the kind of the result: GPUs alone grow the batch with them."""
    if not sweep:
        return "prediction"
    return "scaling" if [key.partition("=")[0] for key in sweep] == ["gpus"] else "grid"


def _sizes(sweep: str) -> list[int]:
    counts = [value.strip() for value in sweep.partition("=")[2].split(",")]
    if not all(value.isdecimal() and int(value) for value in counts):
        raise typer.BadParameter(
            f"{sweep!r}: write whole numbers above 0, as gpus=128,512,1024",
            param_hint="--sweep",
        )
    return [int(value) for value in counts]
