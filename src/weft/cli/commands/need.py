"""`weft need`: how much network a target asks for, and where more stops to pay."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from weft.cli import options

if TYPE_CHECKING:
    from weft.advise.need import Target

TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="METRIC=VALUE",
        help=(
            "mfu_of_max=0.95 (share of what unlimited bandwidth gives; the default), mfu=0.4, "
            "tokens_per_s=2e6 or step_s=4."
        ),
    ),
]  # fmt: skip
METRICS: Final = ("mfu_of_max", "mfu", "tokens_per_s", "step_s")
FAILED = 4


def need(
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    target: TargetOption = None,
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Solve for the bandwidth, NICs, oversubscription and latency that a target needs.

    One thing at a time, the others as they are; with the curve of speed against bandwidth and
    its knee. The exit code is 4 where the cluster as it is does not reach the target.

    \b
    Examples:
      weft need -f cluster.yaml -f job.yaml
      weft need -f both.yaml --target mfu=0.42 --chart knee.svg
      weft need -f both.yaml --target step_s=8 -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_and_job  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above

    check_format(output)
    wanted = None if target is None else _target(target)
    cluster, job = cluster_and_job(files, sets, overlay)
    with progress("solving", quiet=quiet):
        result = api.need(cluster, job, wanted)
    emit(result, output, out=out, charts=chart)
    return 0 if result.reached else FAILED


def _target(text: str) -> "Target":
    from weft.advise.need import Target  # noqa: PLC0415 - after the words are understood

    asked, _, value = text.partition("=")
    try:
        for metric in METRICS:
            if metric == asked:
                return Target(metric=metric, value=float(value))
    except ValueError:
        pass
    raise typer.BadParameter(
        f"{text!r}: write a metric ({', '.join(METRICS)}) and a number, as mfu=0.42",
        param_hint="--target",
    )
