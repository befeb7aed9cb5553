"""`weft need` (decide): how much network a target needs, and where more stops to pay."""

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
FAILED, PARTIAL = 4, 5


def need(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.CaseGiven,
    target: TargetOption = None,
    sweep: options.Sweep = [],  # noqa: B006 - as above
    fidelity: options.Fidelity = "analytic",
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Solve for the bandwidth, NICs, oversubscription and latency that a target needs.

    One thing at a time, the others as they are; then the cheapest network that reaches it,
    and the curve of speed against bandwidth with its knee. The exit code is 4 where the
    cluster as it is does not reach the target.

    \b
    Examples:
      weft need cluster.yaml job.yaml
      weft need --preset dgx_h200 --gpus 512 --model llama3_70b
      weft need both.yaml --target mfu=0.42 --chart knee.svg
      weft need both.yaml --target step_s=8 -o json
      weft need both.yaml --sweep hosts=16,64,256
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import case_of, with_defaults  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.cli.sweeps import swept_case  # noqa: PLC0415 - as above
    from weft.study.measures import needed  # noqa: PLC0415 - as above

    check_format(output)
    wanted = None if target is None else _target(target)
    if sweep:
        with progress("solving", quiet=quiet):
            found = swept_case(
                "need", sweep, given, documents,
                run=lambda one: api.need(one.cluster, one.job, wanted, fidelity=fidelity),
                measures=needed,
            )  # fmt: skip
        emit(found, output, full=full, out=out, charts=chart)
        return 0 if found.complete else PARTIAL
    case = case_of(given, documents)
    with progress("solving", quiet=quiet):
        result = api.need(case.cluster, case.job, wanted, pins=case.pins, fidelity=fidelity)
    emit(with_defaults(result, case.defaults), output, full=full, out=out, charts=chart)
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
