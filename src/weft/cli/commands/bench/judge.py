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
    given: options.ClusterGiven,
    output: options.OutputFormat = "text",
    full: options.Full = False,
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

    The sweep is compared with the curve that this cluster should show, with noise taken into
    account, and with the curves of simulated faults. The exit code is 0 for PASS, 4 for FAIL,
    5 for INCONCLUSIVE. Without a cluster document the cluster is inferred from the output;
    assumptions are listed, with the verdict for each possible system. Runs given with --good
    replace the model as the expectation.

    \b
    Examples:
      weft bench judge all_reduce.txt cluster.yaml
      weft bench judge run.json nccl.log cluster.yaml --chart judged.svg
      weft bench judge tonight.json cluster.yaml --good 3-9
      weft bench judge all_reduce.txt -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.bench.verdict import Outcome  # noqa: PLC0415 - as above
    from weft.cli.documents import documents_among, is_given  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, progress  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart)
    documents, outputs = documents_among(runs)
    known = is_given(given, documents)
    cluster = cluster_of(given, documents, overlay=overlay) if known else None
    with progress("judging", quiet=quiet):
        result = api.judge(outputs, cluster, good=good, history=history)
    emit(result, output, full=full, out=out, charts=chart)
    return {Outcome.PASS: 0, Outcome.FAIL: FAILED}.get(result.outcome, INCONCLUSIVE)
