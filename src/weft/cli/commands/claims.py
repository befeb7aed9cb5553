"""`weft claims` (decide): what articles on InfiniBand and Ethernet say, put to the test."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.watch import watched


def claims(
    documents: list[Path] = [],
    *,
    given: options.CaseGiven,
    fidelity: str = "analytic",
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Test the claims of five articles on InfiniBand and Ethernet on this cluster and job.

    Each claim is a number with a range. It holds where the 80 % band of what weft computes
    lies inside the range, does not hold where it lies outside, and is undecided where the
    band crosses an end. What needs queues and pauses takes --fidelity packet.

    \b
    Examples:
      weft claims cluster.yaml job.yaml
      weft claims --preset dgx_h100 --gpus 512 --model llama3_70b --full
      weft claims both.yaml --fidelity packet -o html --out claims.html
    """
    shown.check(kind="claims")
    case = given.case(documents)
    with watched("testing claims", fidelity, quiet=quiet) as report:
        result = api.claims(case.cluster, case.job, fidelity=fidelity, report=report)
    shown.emit(result)
    return 0
