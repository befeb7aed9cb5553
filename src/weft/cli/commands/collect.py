"""`weft collect` (diagnose): gather what diagnose reads, by a script to be read first."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

HostsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="HOST", help="Hosts (ssh) or pods (kubectl); none: this host."),
]
WayOption = Annotated[
    str | None,
    typer.Option(
        "--via", metavar="WAY",
        help="local, ssh or kubectl: run it there; default: print the script.",
    ),
]  # fmt: skip
FolderOption = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder that the bundles go to.")
]
IntervalOption = Annotated[
    int, typer.Option("--interval", metavar="SECONDS", help="Between two samples of counters.")
]
FabricOption = Annotated[
    bool,
    typer.Option(
        "--fabric",
        help="Also cluster-wide state (subnet, Kubernetes); use it on one host.",
    ),
]
RedactOption = Annotated[
    bool,
    typer.Option("--redact", help="Hide addresses, names and serial numbers on the host."),
]
KeepOption = Annotated[
    bool,
    typer.Option("--keep-secrets", help="Leave passwords, tokens and keys in the outputs."),
]
INCOMPLETE = 3


def collect(
    hosts: HostsArgument = None,
    *,
    via: WayOption = None,
    folder: FolderOption = Path("bundles"),
    interval_s: IntervalOption = 10,
    fabric: FabricOption = False,
    redact: RedactOption = False,
    keep_secrets: KeepOption = False,
    output: options.OutputFormat = "text",
    quiet: options.Quiet = False,
) -> int:
    """Gather the state and counters of hosts for weft diagnose; it only reads.

    Without --via it prints one POSIX shell script: read it, then run it where you like. It
    needs no agent and no network. With --via the same script runs there and one bundle a
    host is kept. Counters are read twice, so that rates exist. Passwords, tokens and keys are
    removed on the host. The exit code is 3 when a host returned no bundle.

    \b
    Examples:
      weft collect > collect.sh
      weft collect --redact --interval 60 > collect.sh
      weft collect --via ssh node01 node02 --out bundles
      weft collect --via kubectl training/worker-0:main
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    import secrets  # noqa: PLC0415 - after the words are understood

    from weft.collect.script import Wish, script  # noqa: PLC0415 - as above

    wish = Wish(
        interval_s=interval_s, fabric=fabric, redact=redact, keep_secrets=keep_secrets,
        salt=secrets.token_hex(16),
    )  # fmt: skip
    if via is None:
        return _print(script(wish), hosts)
    from weft.cli.output import check_format, emit  # noqa: PLC0415 - as above
    from weft.collect import way as ways  # noqa: PLC0415 - as above
    from weft.collect.gather import Taken, gather  # noqa: PLC0415 - as above

    check_format(output)
    way = ways.find(via)
    targets = _targets(via, way.takes, hosts)

    def tell(taken: Taken) -> None:
        if not quiet:
            typer.echo(f"{taken.host}: {taken.failure or taken.file}", err=True)

    result = gather(wish, way, targets, folder, tell)
    emit(result, output)
    return 0 if result.complete else INCOMPLETE


def _print(text: str, hosts: list[str] | None) -> int:
    from weft.errors import SpecError  # noqa: PLC0415 - as above

    if hosts:
        raise SpecError(f"{' '.join(hosts)}: say how to reach them, as --via ssh")
    typer.echo(text, nl=False)
    return 0


def _targets(via: str, takes: str, hosts: list[str] | None) -> list[str]:
    from weft.errors import SpecError  # noqa: PLC0415 - as above

    if via == "local" and hosts:
        raise SpecError(f"--via local is this host; {' '.join(hosts)}: try --via ssh")
    if via != "local" and not hosts:
        raise SpecError(f"--via {via} takes {takes}, at least one")
    return hosts or [""]
