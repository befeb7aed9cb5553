"""`weft bench run`: run a benchmark here, over ssh, in pods, by Slurm or MPI, and keep it."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, cast

from weft.cli import options
from weft.cli.options import argument, option
from weft.cli.watch import progress
from weft.units import parse_size

_USUAL: Final = {"perftest": "write_bw", "iperf3": "tcp"}
"""What a tool runs where nobody says."""


def run(
    tool: Annotated[
        str, argument("TOOL", "nccl-tests, perftest, torch.distributed or iperf3.")
    ],
    operation: Annotated[
        str,
        argument(
            "OPERATION", "As all_reduce; write_bw and the like for perftest; tcp for iperf3."
        ),
    ] = "",
    *,
    hosts: options.Hosts = "",
    launcher: Annotated[
        str, option("--launcher NAME", "local, ssh, kubectl, netns, srun or mpirun.")
    ] = "local",
    ranks_per_host: Annotated[
        int | None, option("--ranks-per-host COUNT", "GPUs on each host; default: 1.", min=1)
    ] = None,
    smallest: Annotated[str | None, option("-b --begin SIZE", "First size; 8B.")] = None,
    largest: Annotated[str | None, option("-e --end SIZE", "Last size; 1GiB.")] = None,
    factor: Annotated[
        float | None, option("--factor NUMBER", "Ratio of sizes; 2.", min=1.01)
    ] = None,
    iterations: Annotated[
        int | None, option("--iterations COUNT", "Of each size; 20, and perftest's own.", min=1)
    ] = None,
    warmup: Annotated[
        int | None, option("--warmup COUNT", "Before they count; 5.", min=0)
    ] = None,
    repeats: Annotated[int, option("--repeats COUNT", "Whole runs.", min=1)] = 1,
    seconds: Annotated[
        float | None, option("--seconds NUMBER", "Of iperf3; 10.", min=1)
    ] = None,
    streams: Annotated[
        int | None, option("--streams COUNT", "Connections or queue pairs; 1.", min=1)
    ] = None,
    backend: Annotated[
        str | None, option("--backend NAME", "nccl or gloo (torch.distributed).")
    ] = None,
    master: Annotated[str | None, option("--master ADDRESS", "Of the first host.")] = None,
    interface: Annotated[
        str | None, option("--interface NAME", "For NCCL's and gloo's sockets.")
    ] = None,
    python: Annotated[
        str | None, option("--python PROGRAM", "With PyTorch, on the hosts; python3.")
    ] = None,
    env: Annotated[list[str], option("--env NAME=VALUE", "Of the job; repeatable.")] = [],
    added: Annotated[list[str], option("--option WORD", "Added to the command.")] = [],
    label: Annotated[str, option("--label TEXT", "Runs of one label are compared.")] = "",
    timeout: Annotated[float, option("--timeout SECONDS", "Of one run.", min=1)] = 900.0,
    history: options.HistoryUrl = None,
    no_history: Annotated[bool, option("--no-history", "Do not keep the run.")] = False,
    save: Annotated[
        Path | None, option("--save FILE", "Write the benchmark's own output as well.")
    ] = None,
    dry_run: Annotated[
        bool, option("--dry-run", "Print the commands and run nothing.")
    ] = False,
    shown: options.Written,
    quiet: options.Quiet = False,
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
