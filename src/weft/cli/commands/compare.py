"""`weft compare`: what other networks would do to this job, side by side."""

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
PARTIAL = 5


def compare(
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    fabrics: FabricsOption = None,
    years: YearsOption = None,
    fidelity: options.Fidelity = "analytic",
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Compare networks for the same hosts and the same job.

    Step time, MFU, exposed communication, cost per token and total cost of each; which one to
    take and why; how far each input must move to change that; and what practitioners' rules
    say of this very cluster, put to the test.

    \b
    Examples:
      weft compare -f cluster.yaml -f job.yaml
      weft compare -f both.yaml --fabrics infiniband,roce_tuned,tcp --years 5
      weft compare -f both.yaml --fidelity packet
      weft compare -f both.yaml -o html --out report.html
      weft compare -f both.yaml --chart cost_bars=cost.svg --chart flip_tornado=flips.png

    With several networks and some that cannot run the job, the exit code is 5.
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_and_job  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above

    if fabrics == "list":
        print("\n".join(api.fabrics()))
        return 0
    check_format(output)
    check_places(out, charts=chart, kind="comparison")
    cluster, job = cluster_and_job(files, sets, overlay)
    names = None if fabrics is None else [name.strip() for name in fabrics.split(",")]
    with watched("comparing networks", fidelity, quiet=quiet) as report:
        result = api.compare(cluster, job, names, years=years, fidelity=fidelity, report=report)
    emit(result, output, out=out, charts=chart)
    return PARTIAL if result.left_out or not result.complete else 0
