"""`weft collect` (diagnose): gather what diagnose reads, by a script to be read first."""

from pathlib import Path

import typer

from weft.cli import options
from weft.errors import SpecError

INCOMPLETE = 3


def collect(
    hosts: list[str] | None = None,
    *,
    via: str | None = None,
    folder: Path = Path("bundles"),
    interval_s: int = 10,
    fabric: bool = False,
    redact: bool = False,
    keep_secrets: bool = False,
    shown: options.Shown,
    quiet: bool = False,
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
    """
    import secrets

    from weft.collect.script import Wish, script

    wish = Wish(
        interval_s=interval_s, fabric=fabric, redact=redact, keep_secrets=keep_secrets,
        salt=secrets.token_hex(16),
    )  # fmt: skip
    if via is None:
        if hosts:
            raise SpecError(f"{' '.join(hosts)}: say how to reach them, as --via ssh")
        typer.echo(script(wish), nl=False)
        return 0
    from weft.collect import way as ways
    from weft.collect.gather import Taken, gather

    shown.check()
    way = ways.find(via)
    targets = _targets(via, way.takes, hosts)

    def tell(taken: Taken) -> None:
        if not quiet:
            typer.echo(f"{taken.host}: {taken.failure or taken.file}", err=True)

    result = gather(wish, way, targets, folder, tell)
    shown.emit(result)
    return 0 if result.complete else INCOMPLETE


def _targets(via: str, takes: str, hosts: list[str] | None) -> list[str]:
    if via == "local" and hosts:
        raise SpecError(f"--via local is this host; {' '.join(hosts)}: try --via ssh")
    if via != "local" and not hosts:
        raise SpecError(f"--via {via} takes {takes}, at least one")
    return hosts or [""]
