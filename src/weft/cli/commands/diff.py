"""`weft diff` (configure): compare what is running with what weft would render."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.documents import documents_among
from weft.cli.exits import FAILED, PARTIAL
from weft.cli.watch import progress


def diff(
    paths: list[Path],
    *,
    given: options.ClusterGiven,
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Compare what is running with the plan: each setting planned, running, and why it matters.

    Reads what `weft lint` reads: config_db.json, nv config show, running configurations,
    scripts, manifests, the environment of a job. The exit code is 0 when everything is as
    planned, 4 when something differs, 5 when a setting that lossless traffic needs is missing.

    \b
    Examples:
      weft diff cluster.yaml running/
      weft diff cluster.yaml leaf-0000/config_db.json nccl.conf weft-rdma
      weft diff cluster.yaml bundle/ -o json
    """
    from weft.check.diff import Verdict

    shown.check()
    documents, running = documents_among(paths)
    cluster = given.cluster(documents)
    with progress("reading", quiet=quiet):
        result = api.diff(cluster, running)
    shown.emit(result)
    codes = {Verdict.EQUAL: 0, Verdict.DIFFERENT: FAILED, Verdict.UNSEEN: PARTIAL}
    return codes[result.verdict]
