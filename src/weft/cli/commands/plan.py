"""`weft plan` (configure): every number of the configuration, once, with its reason."""

from typing import Annotated

import typer

from weft.cli import options

ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Reason and source of every value.")
]
FOR_PEOPLE = ("text", "md", "html")


def plan(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    explain: ExplainOption = False,
    tuning: options.TuningFile = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.generate.effects import explained  # noqa: PLC0415 - as above

    check_format(output)
    result = api.plan(cluster_of(given, documents, tuning=tuning))
    wanted = explain and output in FOR_PEOPLE
    if not wanted:
        emit(result, output, full=full, out=out)
        return
    with progress("simulating the effect of each value"):
        shown = explained(result)
    emit(shown, output, full=full, out=out)
