"""`weft check` (verify): the checklist before production; what is not measured fails."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from weft import api
from weft.cli import options
from weft.cli.documents import documents_among
from weft.cli.watch import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.check.checked import Checklist
    from weft.check.dossier import Dossier
    from weft.spec.cluster import Cluster


def check(
    paths: list[Path] = [],
    *,
    given: options.ClusterGiven,
    gate: bool = False,
    live: bool = False,
    item: list[str] = [],
    dossier: Path | None = None,
    localised: Path | None = None,
    sign: Path | None = None,
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Check a cluster before production: links, MTU, GIDs, PFC, GPUDirect, transport, speed.

    Each item is PASS, FAIL or NOT MEASURED, against the plan of your cluster. Exit code 0: all
    items pass. 4: one failed. 5: one was not measured, and none failed. With --gate the items
    that one node can answer: a prolog of Slurm or an init container starts the job on 0 only.

    \b
    Examples:
      weft check bundles/ cluster.yaml
      weft check bundles/ nccl.log all_reduce.txt cluster.yaml --full
      weft check --gate --live cluster.yaml
      weft check bundles/ cluster.yaml -o junit --out check.xml
      weft check bundles/ runs/ cluster.yaml --dossier accepted.html --sign ~/.ssh/id_ed25519
    """
    import tempfile

    from weft.cli.signature import signed

    shown.check(dossier, kind="checklist" if dossier is None else "dossier")
    if dossier is None and (sign or localised):
        raise typer.BadParameter("--sign and --localised belong to --dossier FILE.html")
    if dossier is not None and (gate or item):
        raise typer.BadParameter("--dossier has every item; remove --gate and --item")
    documents, evidence = documents_among(paths)
    cluster = given.cluster(documents)
    with tempfile.TemporaryDirectory() as folder:
        if live:
            evidence = [*evidence, _collected(Path(folder))]
        if not evidence:
            raise typer.BadParameter("no PATH is given; name a bundle, or --live collects")
        with progress("reading", quiet=quiet):
            if dossier is None:
                result: Checklist | Dossier = api.check(evidence, cluster, gate=gate, only=item)
            else:
                result = _accepted(evidence, cluster, localised)
    if dossier is not None:
        options.Written(output="html", out=dossier).emit(result)
    if dossier is not None and sign is not None:
        signed(dossier, sign)
    shown.emit(result)
    return result.exit_code


def _accepted(
    evidence: "Sequence[Path]", cluster: "Cluster", localised: Path | None
) -> "Dossier":
    from datetime import UTC, datetime

    from weft.check.dossier import dossier

    written = datetime.now(UTC).isoformat(timespec="seconds")
    return dossier(evidence, cluster, written=written, localised=localised)


def _collected(folder: Path) -> Path:
    """Collect on this host into a folder."""
    import secrets

    from weft.collect import way as ways
    from weft.collect.gather import gather
    from weft.collect.script import Wish
    from weft.errors import Unreadable

    wish = Wish(
        interval_s=1, fabric=False, redact=False, keep_secrets=False,
        salt=secrets.token_hex(16),
    )  # fmt: skip
    way = ways.find("local")
    result = gather(wish, way, ["localhost"], folder, lambda _: None)
    if not result.complete:
        raise Unreadable(f"this host gave no bundle: {result.hosts[0].failure}")
    return folder
