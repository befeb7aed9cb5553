"""`weft compare` (decide): what other networks would do to this job, side by side."""

from collections.abc import Sequence
from typing import Annotated

import typer

from weft.cli import options

FabricsOption = Annotated[
    str | None,
    typer.Option(
        "--fabrics", metavar="NAME,NAME,...",
        help="Networks to compare; without it six. `--fabrics list` names all.",
    ),
]  # fmt: skip
YearsOption = Annotated[
    float | None,
    typer.Option("--years", metavar="NUMBER", help="Years of the total cost of ownership."),
]
SameOption = Annotated[
    str | None,
    typer.Option(
        "--same", metavar="GROUP,GROUP,...",
        help="What all rows share, as the cluster has it: parallelism, topology, switch, nics.",
    ),
]  # fmt: skip
PARTIAL = 5


def compare(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.CaseGiven,
    fabrics: FabricsOption = None,
    years: YearsOption = None,
    same: SameOption = None,
    sweep: options.Sweep = [],  # noqa: B006 - as above
    fidelity: options.Fidelity = "analytic",
    failed: options.Failed = [],  # noqa: B006 - as above
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Compare networks for the same hosts and the same job, or the same inference service.

    Each network is at its best for the job: parallelism, topology, switch, NICs and
    oversubscription are searched within the keys that your files and --set state. Keys of a
    preset may change, except GPUs, hosts and what joins the GPUs of a host. Several jobs give
    one answer, each with its `weight` of the tokens; several clusters are compared as they are.

    \b
    Examples:
      weft compare cluster.yaml job.yaml
      weft compare --preset dgx_h200 --gpus 512 --model llama3_70b
      weft compare both.yaml --fabrics infiniband,roce_tuned,tcp --years 5
      weft compare cluster.yaml inference.yaml
      weft compare both.yaml --same parallelism,topology,nics
      weft compare both.yaml --fidelity packet
      weft compare both.yaml --fidelity flow --failed leaf_link_down
      weft compare both.yaml --sweep hosts=2,8,32 --sweep model=llama3_8b,llama3_70b
      weft compare both.yaml -o html --out report.html
      weft compare both.yaml --chart cost_bars=cost.svg --chart break_even=changes.png

    With --fabrics, if some of them cannot run the job, the exit code is 5.
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
    from weft.study.measures import compared  # noqa: PLC0415 - as above

    if fabrics == "list":
        print("\n".join(api.fabrics()))
        return 0
    check_format(output)
    options.check_failed(failed, fidelity)
    names = None if fabrics is None else _listed(fabrics)
    if is_service(given, documents):
        _refuse(same=same, fidelity=fidelity, sweep=sweep)
        check_places(out, charts=chart, kind="service_comparison")
        asked = service_of(given, documents)
        served = api.compare_service(
            asked.cluster, asked.service, names, years=years, pins=asked.pins
        )
        emit(served, output, full=full, out=out, charts=chart)
        return PARTIAL if served.left_out and fabrics is not None else 0
    check_places(out, charts=chart, kind="grid" if sweep else "comparison")
    if sweep:
        with watched("comparing networks", fidelity, quiet=quiet) as report:
            found = swept_case(
                "compare", sweep, given, documents,
                run=lambda one: api.compare(
                    one.cluster, one.job, names, years=years, pins=one.pins, same=_listed(same),
                    fidelity=fidelity, failed=failed, report=report,
                ),
                measures=compared,
            )  # fmt: skip
        emit(found, output, full=full, out=out, charts=chart)
        return 0 if found.complete else PARTIAL
    case = case_of(given, documents, several=True)
    with watched("comparing networks", fidelity, quiet=quiet) as report:
        result = api.compare(
            case.clusters, case.jobs, names, years=years, pins=case.pins, same=_listed(same),
            fidelity=fidelity, failed=failed, report=report,
        )  # fmt: skip
    emit(with_defaults(result, case.defaults), output, full=full, out=out, charts=chart)
    missing = result.left_out and fabrics is not None
    return PARTIAL if missing or not result.complete else 0


def _refuse(*, same: str | None, fidelity: str, sweep: Sequence[str]) -> None:
    """Refuse options that hold for training alone."""
    if sweep:
        raise typer.BadParameter(
            "networks are swept for training jobs alone; run once for each --set",
            param_hint="--sweep",
        )
    if same is not None:
        raise typer.BadParameter(
            "rows of an inference service are searched apart; state keys with --set instead",
            param_hint="--same",
        )
    if fidelity != "analytic":
        raise typer.BadParameter(
            f"{fidelity!r}: inference is predicted with analytic alone", param_hint="--fidelity"
        )


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []
