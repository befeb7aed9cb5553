"""`weft predict`: how long a training step takes on this cluster, and why."""

from typing import Annotated

import typer

from weft.cli import options

PARTIAL = 5


def predict(
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            metavar="gpus=N,N,...",
            help="Predict at several sizes, the batch growing in step.",
        ),
    ] = None,
    fidelity: options.Fidelity = "analytic",
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Predict the training step of one job on one cluster.

    Step time with its breakdown, MFU, tokens per second, exposed communication, goodput,
    cost and energy, each with its 80 % band, and the reasons.

    \b
    Examples:
      weft predict -f cluster.yaml -f job.yaml
      weft predict -f both.yaml --set fabric.kind=tcp --set precision=fp8
      weft predict -f both.yaml --fidelity packet --set fabric.tuning=misconfigured
      weft predict -f both.yaml --sweep gpus=128,512,1024,4096 --chart scaling.svg
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_and_job  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart, kind="prediction" if sweep is None else "scaling")
    sizes = None if sweep is None else _sizes(sweep)
    cluster, job = cluster_and_job(files, sets, overlay)
    doing = "searching" if job.parallelism == "auto" else "predicting"
    doing = doing if sizes is None else f"predicting {len(sizes)} sizes"
    with watched(doing, fidelity, quiet=quiet) as report:
        if sizes is None:
            result = api.predict(cluster, job, fidelity=fidelity, report=report)
        else:
            scaled = api.scaling(cluster, job, sizes, fidelity=fidelity, report=report)
    if sizes is None:
        emit(result, output, out=out, charts=chart)
        return 0 if result.complete else PARTIAL
    emit(scaled, output, out=out, charts=chart)
    return PARTIAL if scaled.skipped else 0


def _sizes(sweep: str) -> list[int]:
    name, _, values = sweep.partition("=")
    counts = [value.strip() for value in values.split(",")]
    if name != "gpus" or not all(value.isdecimal() and int(value) for value in counts):
        raise typer.BadParameter(
            f"{sweep!r}: write gpus= and whole numbers above 0, as gpus=128,512,1024",
            param_hint="--sweep",
        )
    return [int(value) for value in counts]
