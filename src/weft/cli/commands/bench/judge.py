"""`weft bench judge`: is a measured sweep what it should be, and what is wrong if not."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.documents import documents_among, is_given
from weft.cli.exits import FAILED, PARTIAL
from weft.cli.watch import progress


def judge(
    runs: list[Path],
    *,
    given: options.ClusterGiven,
    overlay: Path | None = None,
    good: list[str] = [],
    history: str | None = None,
    shown: options.Drawn,
    quiet: bool = False,
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
    """
    from weft.bench.verdict import Outcome

    shown.check()
    documents, outputs = documents_among(runs)
    known = is_given(given, documents)
    cluster = given.cluster(documents, overlay=overlay) if known else None
    with progress("judging", quiet=quiet):
        result = api.judge(outputs, cluster, good=good, history=history)
    shown.emit(result)
    return {Outcome.PASS: 0, Outcome.FAIL: FAILED}.get(result.outcome, PARTIAL)
