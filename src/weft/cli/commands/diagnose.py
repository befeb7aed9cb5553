"""`weft diagnose` (diagnose): what is wrong, from whatever the cluster's tools printed."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Logs, outputs, folders or bundles; all together."),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with code 4 for a possible problem too.")
]


def diagnose(
    paths: PathsArgument,
    *,
    given: options.CaseGiven,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    strict: StrictOption = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> int:
    """Say what is wrong, on which lines, how sure that is, and what to do next.

    What was read is compared with what should be: your cluster file, the catalogue, the other
    ports and hosts, standards, and the model. Exit code 0: no problem found in what was read,
    with a list of what was not covered. 4: a problem. 5: the files cannot tell.
    With a cluster and a job the findings are priced for them.

    \b
    Examples:
      weft diagnose nccl.log
      weft diagnose bundle/ cluster.yaml job.yaml
      weft diagnose nccl.log dmesg.txt ibstat.txt -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.documents import documents_among, is_given  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.doctor.verdict import exit_code  # noqa: PLC0415 - as above

    check_format(output)
    documents, evidence = documents_among(paths)
    cluster = job = None
    if is_given(given, documents):
        from weft.cli.inputs import perhaps_case_of  # noqa: PLC0415 - it takes an eighth of a second

        cluster, job = perhaps_case_of(given, documents)
    with progress("reading", quiet=quiet):
        result = api.diagnose(evidence, cluster, job)
    emit(result, output, full=full, out=out)
    return exit_code(result.verdict, strict=strict)
