"""`weft whatif` (operate): what each fault of the network costs this job."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.watch import watched


def whatif(
    documents: list[Path] = [],
    *,
    given: options.CaseGiven,
    faults: int = 1,
    lead_weeks: float = 8.0,
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Predict a job with each kind of network fault, ranked by what it costs the job.

    Links of NICs, leaves and spines, and whole switches: down, or at half rate. The network
    is simulated as flows, after routing has converged on what is left. A fault that cuts a
    NIC off stops the job; others slow its steps for as long as they last.

    \b
    Examples:
      weft whatif cluster.yaml job.yaml
      weft whatif --preset hgx_h100_roce --gpus 512 --model llama3_70b
      weft whatif both.yaml --faults 2 --full
    """
    shown.check(kind="what_if")
    case = given.case(documents)
    with watched("trying faults", "flow", quiet=quiet) as report:
        result = api.whatif(
            case.cluster, case.job, faults=faults, lead_weeks=lead_weeks, report=report
        )
    shown.emit(result)
    return 0
