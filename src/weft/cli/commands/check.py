"""`weft check` (verify): the checklist before production; what is not measured fails."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.check.checked import Checklist
    from weft.check.dossier import Dossier
    from weft.spec.cluster import Cluster

PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH", show_default=False, help="Bundles, logs and outputs; and documents."
    ),
]
GateOption = Annotated[
    bool, typer.Option("--gate", help="The items of one node alone, for a gate before jobs.")
]
LiveOption = Annotated[
    bool, typer.Option("--live", help="Collect on this host first (weft collect --via local).")
]
ItemOption = Annotated[
    list[str], typer.Option("--item", metavar="NAME", help="Check this item alone; repeatable.")
]
DossierOption = Annotated[
    Path | None,
    typer.Option("--dossier", metavar="FILE.html",
                 help="Write the acceptance dossier; its verdict is the exit code."),
]  # fmt: skip
LocalisedOption = Annotated[
    Path | None,
    typer.Option("--localised", metavar="FILE.json",
                 help="For --dossier: weft bench localise -o json over all hosts."),
]  # fmt: skip
SignOption = Annotated[
    Path | None,
    typer.Option(
        "--sign", metavar="KEY", help="Sign --dossier with this SSH key: FILE.html.sig."
    ),
]
OutputFormat = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="FORMAT", help="text, json, yaml, md, html or junit."
    ),
]


def check(
    paths: PathsArgument = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    gate: GateOption = False,
    live: LiveOption = False,
    item: ItemOption = [],  # noqa: B006 - as above
    dossier: DossierOption = None,
    localised: LocalisedOption = None,
    sign: SignOption = None,
    output: OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    import tempfile  # noqa: PLC0415 - after the words are understood

    from weft import api  # noqa: PLC0415 - as above
    from weft.cli.documents import documents_among  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, progress  # noqa: PLC0415 - as above

    check_format(output, "checklist" if dossier is None else "dossier")
    check_places(dossier, out)
    if dossier is None and (sign or localised):
        raise typer.BadParameter("--sign and --localised belong to --dossier FILE.html")
    if dossier is not None and (gate or item):
        raise typer.BadParameter("--dossier has every item; remove --gate and --item")
    documents, evidence = documents_among(paths)
    cluster = cluster_of(given, documents)
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
        _write_signed(result, dossier, sign)
    emit(result, output, full=full, out=out)
    return result.exit_code


def _accepted(
    evidence: "Sequence[Path]", cluster: "Cluster", localised: Path | None
) -> "Dossier":
    from datetime import UTC, datetime  # noqa: PLC0415 - as above

    from weft.check.dossier import dossier  # noqa: PLC0415 - as above

    written = datetime.now(UTC).isoformat(timespec="seconds")
    return dossier(evidence, cluster, written=written, localised=localised)


def _write_signed(result: "Checklist | Dossier", file: Path, key: Path | None) -> None:
    """Write a dossier, and the signature beside it where there is a key."""
    from weft.cli.output import emit  # noqa: PLC0415 - as above
    from weft.cli.signature import signed  # noqa: PLC0415 - as above

    emit(result, "html", out=file)
    if key is not None:
        signed(file, key)


def _collected(folder: Path) -> Path:
    """Collect on this host into a folder."""
    import secrets  # noqa: PLC0415 - as above

    from weft.collect import way as ways  # noqa: PLC0415 - as above
    from weft.collect.gather import gather  # noqa: PLC0415 - as above
    from weft.collect.script import Wish  # noqa: PLC0415 - as above
    from weft.errors import Unreadable  # noqa: PLC0415 - as above

    wish = Wish(
        interval_s=1, fabric=False, redact=False, keep_secrets=False,
        salt=secrets.token_hex(16),
    )  # fmt: skip
    way = ways.find("local")
    result = gather(wish, way, ["localhost"], folder, lambda _: None)
    if not result.complete:
        raise Unreadable(f"this host gave no bundle: {result.hosts[0].failure}")
    return folder
