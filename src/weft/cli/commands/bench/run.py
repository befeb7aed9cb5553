"""`weft bench run`: run a benchmark here, over ssh, in pods, by Slurm or MPI, and keep it."""

from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from weft.cli import options
from weft.cli.watch import progress
from weft.units import parse_size

_USUAL: Final = {"perftest": "write_bw", "iperf3": "tcp"}
"""What a tool runs where nobody says."""


def run(
    tool: str,
    operation: str = "",
    *,
    hosts: str = "",
    launcher: str = "local",
    ranks_per_host: int | None = None,
    smallest: str | None = None,
    largest: str | None = None,
    factor: float | None = None,
    iterations: int | None = None,
    warmup: int | None = None,
    repeats: int = 1,
    seconds: float | None = None,
    streams: int | None = None,
    backend: str | None = None,
    master: str | None = None,
    interface: str | None = None,
    python: str | None = None,
    env: list[str] = [],
    added: list[str] = [],
    label: str = "",
    timeout: float = 900.0,
    history: str | None = None,
    no_history: bool = False,
    save: Path | None = None,
    dry_run: bool = False,
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Run a benchmark and keep what it measured in the run history.

    Commands run without a shell; over ssh every word is quoted. Processes that outlive
    the run are ended. The output that --save writes is
    what weft bench judge reads.

    \b
    Examples:
      weft bench run nccl-tests --launcher mpirun --hosts a,b --ranks-per-host 8 --save r.txt
      weft bench run perftest write_bw --launcher ssh --hosts a,b
      weft bench run torch.distributed --backend gloo --ranks-per-host 2 -e 16MiB
      weft bench run iperf3 --launcher ssh --hosts a,b --dry-run
    """
    from weft.bench import run as runs
    from weft.bench import store
    from weft.bench import tool as tools
    from weft.bench.command import places, variables
    from weft.cli.output import write_file

    shown.check(save)
    names, addresses = places(hosts)
    given = {
        "smallest_bytes": None if smallest is None else parse_size(smallest),
        "largest_bytes": None if largest is None else parse_size(largest),
        "factor": factor, "iterations": iterations, "warmup": warmup, "seconds": seconds,
        "streams": streams, "backend": backend, "master": master, "interface": interface,
        "ranks_per_host": ranks_per_host, "python": python,
    }  # fmt: skip
    asked = {name: value for name, value in given.items() if value is not None}
    tools.find(tool).check(asked)
    first = next((addresses[n] for n in names[:1] if n in addresses), "")
    ask = tools.Ask(
        operation=operation or _USUAL.get(tool, "all_reduce"), hosts=names,
        env=variables(tuple(env)), options=tuple(added),
        **cast("dict[str, Any]", {"master": first, **asked}),
    )  # fmt: skip
    if dry_run:
        for command in runs.commands(tool, launcher, ask):
            print(runs.shown(command))
        return 0
    with progress("running", quiet=quiet) as report:
        once = partial(
            runs.run, tool, ask, launcher=launcher, label=label, timeout_s=timeout,
            report=report,
        )  # fmt: skip
        found = list(runs.repeated(repeats, once, report))
    if save is not None:
        write_file(save, "".join(run.output for run in found).encode("utf-8"))
    if not no_history:
        url = history or store.default_url()
        found = [store.keep(run, url) for run in found]
    shown.emit(found[-1])
    return 0
