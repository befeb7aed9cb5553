"""`weft lint` (configure): check configuration files across their layers."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.exits import FAILED, PARTIAL
from weft.cli.failures import INPUT
from weft.cli.watch import progress


def lint(
    paths: list[Path],
    *,
    nccl: str | None = None,
    ignore: list[str] = [],
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Check configuration files offline, across NCCL, NICs, switches and pods.

    Reads NCCL settings, scripts, Kubernetes manifests, Slurm, OpenSM, SONiC, Cumulus, EOS,
    NX-OS, FRR and Linux hosts; unknown files are listed. The exit code is 4 for
    an error or a warning, 5 where a reader failed over a file, 2 when no file can be read.
    Give all files of a cluster at once: rules compare them.

    \b
    Examples:
      weft lint rendered/
      weft lint config_db.json job.sh nccl.conf --nccl 2.27.3
      weft lint k8s/ -o sarif --out lint.sarif
      weft lint . --ignore nccl_debug_left_on -o github
    """
    from weft.generate.names import version

    shown.check(kind="linted")
    with progress("reading", quiet=quiet):
        result = api.lint(paths, version(nccl) if nccl else None, frozenset(ignore))
    shown.emit(result)
    if not result.files:
        return PARTIAL if result.partial else INPUT
    if not result.clean:
        return FAILED
    return PARTIAL if result.partial else 0
