"""`weft check` (verify): the checklist before production; what is not measured fails."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    import tempfile  # noqa: PLC0415 - after the words are understood

    from weft import api  # noqa: PLC0415 - as above
    from weft.cli.documents import documents_among  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above

    check_format(output, "checklist")
    documents, evidence = documents_among(paths)
    cluster = cluster_of(given, documents)
    with tempfile.TemporaryDirectory() as folder:
        if live:
            evidence = [*evidence, _collected(Path(folder))]
        if not evidence:
            raise typer.BadParameter("no PATH is given; name a bundle, or --live collects")
        with progress("reading", quiet=quiet):
            result = api.check(evidence, cluster, gate=gate, only=item)
    emit(result, output, full=full, out=out)
    return result.exit_code


def _collected(folder: Path) -> Path:
    """Collect on this host into a folder."""
    import secrets  # noqa: PLC0415 - as above

    from weft import plugins  # noqa: PLC0415 - as above
    from weft.collect import ways  # noqa: PLC0415 - as above
    from weft.collect.gather import gather  # noqa: PLC0415 - as above
    from weft.collect.script import Wish  # noqa: PLC0415 - as above
    from weft.collect.way import Way  # noqa: PLC0415 - as above
    from weft.errors import Unreadable  # noqa: PLC0415 - as above

    wish = Wish(
        interval_s=1, fabric=False, redact=False, keep_secrets=False,
        salt=secrets.token_hex(16),
    )  # fmt: skip
    way = plugins.load(ways, "local", Way)
    result = gather(wish, way, ["localhost"], folder, lambda _: None)
    if not result.complete:
        raise Unreadable(f"this host gave no bundle: {result.hosts[0].failure}")
    return folder
