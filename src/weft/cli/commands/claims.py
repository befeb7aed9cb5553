"""`weft claims` (decide): what articles on InfiniBand and Ethernet say, put to the test."""

from weft.cli import options


def claims(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.CaseGiven,
    fidelity: options.Fidelity = "analytic",
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import case_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, kind="claims")
    case = case_of(given, documents)
    with watched("testing claims", fidelity, quiet=quiet) as report:
        result = api.claims(case.cluster, case.job, fidelity=fidelity, report=report)
    emit(result, output, full=full, out=out)
    return 0
