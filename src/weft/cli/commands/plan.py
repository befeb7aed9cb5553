"""`weft plan`: every number of the configuration, computed once, with its reason."""

from typing import Annotated

import typer

from weft.cli import options

ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Reason and source of every value.")
]
FOR_PEOPLE = ("text", "md", "html")


def plan(
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    explain: ExplainOption = False,
    tuning: options.TuningFile = None,
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
) -> None:
    """Plan the configuration of a cluster: labels, thresholds, headroom, addresses, names.

    Switch, NIC and NCCL are rendered from these numbers (weft render), so they agree. What
    nccl.env asks for against the fabric is left out and said; -o json always has the reasons.

    \b
    Examples:
      weft plan -f cluster.yaml
      weft plan -f cluster.yaml --explain
      weft plan -f cluster.yaml --tuning tuned.yaml --explain
      weft plan -f cluster.yaml --set topology.cable_m=100 -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_alone  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.generate.effects import explained  # noqa: PLC0415 - as above

    check_format(output)
    result = api.plan(cluster_alone(files, sets, tuning=tuning))
    wanted = explain and output in FOR_PEOPLE
    if not wanted:
        emit(result, output, out=out)
        return
    with progress("simulating what the numbers are worth"):
        shown = explained(result)
    emit(shown, output, out=out)
