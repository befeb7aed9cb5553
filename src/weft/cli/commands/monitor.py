"""`weft monitor` (operate): metrics of a host for Prometheus, beside what they should be."""

from pathlib import Path

import typer

from weft.cli import options
from weft.cli.documents import is_given

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def monitor(
    documents: list[Path] = [],
    *,
    given: options.ClusterGiven,
    address: str = "127.0.0.1",
    port: int = 9117,
    period: float = 15.0,
    root: Path = Path("/"),
    fabric: bool = False,
    textfile: Path | None = None,
    web_config: Path | None = None,
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
    """
    from weft.errors import SpecError
    from weft.monitor.sample import Host

    try:
        from weft.monitor import serve
    except ModuleNotFoundError as error:
        raise SpecError(
            "weft monitor needs prometheus_client: pip install weft[monitor]"
        ) from error
    cluster = given.cluster(documents) if is_given(given, documents) else None
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
