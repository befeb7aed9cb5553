"""`weft diagnose` (diagnose): what is wrong, from whatever the cluster's tools printed."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.documents import documents_among, is_given
from weft.cli.watch import progress


def diagnose(
    paths: list[Path],
    *,
    given: options.CaseGiven,
    strict: bool = False,
    shown: options.Written,
    quiet: bool = False,
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
    """
    from weft.doctor.verdict import exit_code

    shown.check()
    documents, evidence = documents_among(paths)
    cluster = job = None
    if is_given(given, documents):
        from weft.cli.inputs import perhaps_case_of

        cluster, job = perhaps_case_of(given, documents)
    with progress("reading", quiet=quiet):
        result = api.diagnose(evidence, cluster, job)
    shown.emit(result)
    return exit_code(result.verdict, strict=strict)
