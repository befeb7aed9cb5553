"""`weft bench judge`: is a measured sweep what it should be, and what is wrong if not."""

from pathlib import Path
from typing import Annotated, Final

import typer

from weft.cli import options
from weft.cli.commands.bench.reach import HistoryUrl

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Output of nccl-tests or rccl-tests (text or JSON), perftest, iperf3, OSU or weft "
        "bench run; with the NCCL log of the run or ibstat of a host, if they are there.",
    ),
]
FAILED: Final = 4
INCONCLUSIVE: Final = 5


def judge(
    runs: Runs,
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    good: Annotated[
        list[str],
        typer.Option(
            "--good",
            metavar="RUN",
            help="An own run known to be good: a file, or numbers of the run history, as 3-9; "
            "repeatable.",
        ),
    ] = [],  # noqa: B006 - as above
    history: HistoryUrl = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Judge a measured sweep: PASS, FAIL or INCONCLUSIVE, and which fault fits if it fails.

    The sweep is laid over the curve that this cluster should show, noise is allowed for, and
    known faults are simulated to see whose curve it is. Leaves with 0 for PASS, 4 for FAIL, 5
    where the run cannot tell. Without -f the cluster is worked out from the output itself, as
    far as it says; what is assumed is named, with the verdict on each system that it may be.
    Runs given with --good say what is expected in place of the model.

    \b
    Examples:
      weft bench judge all_reduce.txt -f cluster.yaml
      weft bench judge run.json nccl.log -f cluster.yaml --chart judged.svg
      weft bench judge tonight.json -f cluster.yaml --good 3-9
      weft bench judge all_reduce.txt -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.bench.verdict import Outcome  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_alone  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, progress  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart)
    cluster = cluster_alone(files, sets, overlay) if files else None
    with progress("judging", quiet=quiet):
        result = api.judge(runs, cluster, good=good, history=history)
    emit(result, output, out=out, charts=chart)
    return {Outcome.PASS: 0, Outcome.FAIL: FAILED}.get(result.outcome, INCONCLUSIVE)
