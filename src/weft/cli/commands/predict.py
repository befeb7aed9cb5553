"""`weft predict` (decide): how long a training step takes on this cluster, and why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from weft.cli import options

if TYPE_CHECKING:
    from weft.predict.grid import Grid
    from weft.predict.scaling import Scaling
    from weft.predict.training import Prediction

PARTIAL = 5


def predict(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.CaseGiven,
    sweep: options.Sweep = [],  # noqa: B006 - as above
    fidelity: options.Fidelity = "analytic",
    failed: options.Failed = [],  # noqa: B006 - as above
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import (  # noqa: PLC0415 - as above
        case_of,
        is_service,
        service_of,
        with_defaults,
    )
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.sweeps import swept_case  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above
    from weft.study.measures import predicted  # noqa: PLC0415 - as above

    check_format(output)
    _check_failed(failed, sweep=sweep, fidelity=fidelity)
    if is_service(given, documents):
        _refuse(sweep=sweep, fidelity=fidelity)
        check_places(out, charts=chart, kind="service_prediction")
        asked = service_of(given, documents)
        served = api.predict_service(asked.cluster, asked.service)
        emit(served, output, full=full, out=out, charts=chart)
        return 0
    kind = _kind(sweep)
    check_places(out, charts=chart, kind=kind)
    with watched("predicting", fidelity, quiet=quiet) as report:
        result: Prediction | Scaling | Grid
        if kind == "grid":
            result = swept_case(
                "predict", sweep, given, documents,
                run=lambda one: api.predict(
                    one.cluster, one.job, fidelity=fidelity, report=report
                ),
                measures=predicted,
            )  # fmt: skip
        elif kind == "scaling":
            sizes, case = _sizes(sweep[0]), case_of(given, documents)
            result = api.scaling(
                case.cluster, case.job, sizes, fidelity=fidelity, report=report
            )
        else:
            case = case_of(given, documents)
            if failed:
                from weft.advise.whatif import (  # noqa: PLC0415 - it compiles kernels
                    predict_failed,
                )

                found = predict_failed(case.cluster, case.job, failed, report=report)
            else:
                found = api.predict(case.cluster, case.job, fidelity=fidelity, report=report)
            result = with_defaults(found, case.defaults)
    emit(result, output, full=full, out=out, charts=chart)
    return 0 if result.complete else PARTIAL


def _kind(sweep: Sequence[str]) -> str:
    """Name the kind of the result: GPUs alone grow the batch with them."""
    if not sweep:
        return "prediction"
    return "scaling" if [one.partition("=")[0] for one in sweep] == ["gpus"] else "grid"


def _check_failed(failed: Sequence[str], *, sweep: Sequence[str], fidelity: str) -> None:
    """Refuse faults where links are not simulated, or together with a sweep."""
    options.check_failed(failed, fidelity)
    if failed and sweep:
        raise typer.BadParameter(
            "faults are not swept; run once without --sweep for each", param_hint="--failed"
        )


def _refuse(*, sweep: Sequence[str], fidelity: str) -> None:
    """Refuse options that hold for training alone."""
    if sweep:
        raise typer.BadParameter(
            "an inference service has no sweep; run once for each --set sequences=N",
            param_hint="--sweep",
        )
    if fidelity != "analytic":
        raise typer.BadParameter(
            f"{fidelity!r}: inference is predicted with analytic alone", param_hint="--fidelity"
        )


def _sizes(sweep: str) -> list[int]:
    counts = [value.strip() for value in sweep.partition("=")[2].split(",")]
    if not all(value.isdecimal() and int(value) for value in counts):
        raise typer.BadParameter(
            f"{sweep!r}: write whole numbers above 0, as gpus=128,512,1024",
            param_hint="--sweep",
        )
    return [int(value) for value in counts]
