"""`weft monitor` (operate): metrics of a host for Prometheus, beside what they should be."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

AddressOption = Annotated[
    str, typer.Option("--address", metavar="ADDRESS", help="Where to listen; loopback alone.")
]
PortOption = Annotated[int, typer.Option("--port", min=1, max=65535, metavar="N")]
PeriodOption = Annotated[
    float, typer.Option("--period", min=1.0, metavar="SECONDS", help="Between looks.")
]
RootOption = Annotated[
    Path,
    typer.Option("--root", metavar="DIR", help="Where the host's file system is mounted."),
]
FabricOption = Annotated[
    bool,
    typer.Option(
        "--fabric", help="Also what one host asks for all: NCCL RAS, the InfiniBand subnet."
    ),
]
TextfileOption = Annotated[
    Path | None,
    typer.Option(
        "--textfile", metavar="FILE.prom",
        help="Look once and write a file for the textfile collector of node_exporter.",
    ),
]  # fmt: skip
WebOption = Annotated[
    Path | None,
    typer.Option(
        "--web-config", metavar="FILE",
        help="TLS and passwords (bcrypt), as the exporters of Prometheus take them.",
    ),
]  # fmt: skip
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def monitor(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    address: AddressOption = "127.0.0.1",
    port: PortOption = 9117,
    period: PeriodOption = 15.0,
    root: RootOption = Path("/"),
    fabric: FabricOption = False,
    textfile: TextfileOption = None,
    web_config: WebOption = None,
) -> None:
    """Export what a host shows of its network: RDMA counters, pauses, states, modules.

    Only what node_exporter and dcgm-exporter do not have by default. With a cluster the values
    that the model and the plan expect stand beside it, and what weft diagnose finds. A scrape
    answers with the newest look, so it never waits for a tool. One host of a job may ask NCCL's
    RAS for the ranks of its communicators (--fabric, NCCL 2.28 and later).

    \b
    Examples:
      weft monitor cluster.yaml
      weft monitor cluster.yaml --fabric
      weft monitor cluster.yaml --textfile /var/lib/node_exporter/weft.prom
      weft monitor cluster.yaml --address 0.0.0.0 --web-config web.yml
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.cli.documents import is_given  # noqa: PLC0415 - after the words
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - after the words
    from weft.errors import SpecError  # noqa: PLC0415 - as above
    from weft.monitor.sample import Host  # noqa: PLC0415 - as above

    try:
        from weft.monitor import serve  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise SpecError(
            "weft monitor needs prometheus_client: pip install weft[monitor]"
        ) from error
    cluster = cluster_of(given, documents) if is_given(given, documents) else None
    if not root.is_dir():
        raise SpecError(
            f"--root {root}: is no folder; give where the host is mounted, as /host"
        )
    made = serve.Monitor(Host(root=root, fabric=fabric), cluster)
    if textfile is not None:
        made.look()
        serve.write(made, textfile)
        return
    web = serve.web_config(web_config) if web_config else serve.Web()
    if address not in LOOPBACK:
        typer.echo(
            f"weft: listening on {address}: everybody who reaches it reads the metrics",
            err=True,
        )
    typer.echo(f"weft: metrics at {address}:{port}/metrics, every {period:g} s", err=True)
    serve.serve(made, address, port, web, period)
