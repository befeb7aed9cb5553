"""`weft whatif` (operate): what each fault of the network costs this job."""

from typing import Annotated

import typer

from weft.cli import options


def whatif(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.CaseGiven,
    faults: Annotated[
        int, typer.Option("--faults", min=1, max=2, help="Faults at once: 1 or 2.")
    ] = 1,
    lead_weeks: Annotated[
        float,
        typer.Option(
            "--lead-weeks",
            min=0,
            metavar="WEEKS",
            help="From the order of a spare part to having it.",
        ),
    ] = 8.0,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import case_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, kind="what_if")
    case = case_of(given, documents)
    with watched("trying faults", "flow", quiet=quiet) as report:
        result = api.whatif(
            case.cluster, case.job, faults=faults, lead_weeks=lead_weeks, report=report
        )
    emit(result, output, full=full, out=out)
    return 0
