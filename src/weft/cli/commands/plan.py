"""`weft plan` (configure): every number of the configuration, once, with its reason."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.watch import progress

FOR_PEOPLE = ("text", "md", "html")


def plan(
    documents: list[Path] = [],
    *,
    given: options.ClusterGiven,
    explain: bool = False,
    tuning: Path | None = None,
    shown: options.Written,
) -> None:
    """Plan the configuration of a cluster: labels, thresholds, headroom, addresses, names.

    Switch, NIC and NCCL are rendered from these numbers (weft render), so they agree. Values of
    nccl.env that conflict with the fabric are left out and listed; -o json has all reasons.

    \b
    Examples:
      weft plan cluster.yaml
      weft plan cluster.yaml --explain
      weft plan cluster.yaml --tuning tuned.yaml --explain
      weft plan cluster.yaml --set topology.cable_m=100 -o json
    """
    from weft.generate.effects import explained

    shown.check()
    result = api.plan(given.cluster(documents, tuning=tuning))
    if not explain or shown.output not in FOR_PEOPLE:
        shown.emit(result)
        return
    with progress("simulating the effect of each value"):
        reasons = explained(result)
    shown.emit(reasons)
