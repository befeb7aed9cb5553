"""`weft bench run`: run a benchmark here, over ssh, in pods, by Slurm or MPI, and keep it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from weft.cli import options
from weft.cli.commands.bench.reach import HistoryUrl, Hosts, LauncherName
from weft.units import parse_size

if TYPE_CHECKING:
    from weft.bench.run import BenchRun
    from weft.bench.tool import Ask

Given = TypeVar("Given")


def run(
    tool: Annotated[
        str,
        typer.Argument(
            metavar="TOOL", help="nccl-tests, perftest, torch.distributed or iperf3."
        ),
    ],
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION",
            help="As all_reduce; write_bw and the like for perftest; tcp for iperf3.",
        ),
    ] = "",
    *,
    hosts: Hosts = "",
    launcher: LauncherName = "local",
    ranks_per_host: Annotated[
        int | None,
        typer.Option(
            "--ranks-per-host", metavar="COUNT", help="GPUs on each host; default: 1.", min=1
        ),
    ] = None,
    smallest: Annotated[
        str | None, typer.Option("-b", "--begin", metavar="SIZE", help="First size; 8B.")
    ] = None,
    largest: Annotated[
        str | None, typer.Option("-e", "--end", metavar="SIZE", help="Last size; 1GiB.")
    ] = None,
    factor: Annotated[
        float | None,
        typer.Option("--factor", metavar="NUMBER", help="Ratio of sizes; 2.", min=1.01),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            metavar="COUNT",
            help="Of each size; 20, and perftest's own.",
            min=1,
        ),
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option("--warmup", metavar="COUNT", help="Before they count; 5.", min=0),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="COUNT", help="Whole runs.", min=1)
    ] = 1,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="NUMBER", help="Of iperf3; 10.", min=1),
    ] = None,
    streams: Annotated[
        int | None,
        typer.Option(
            "--streams", metavar="COUNT", help="Connections or queue pairs; 1.", min=1
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option("--backend", metavar="NAME", help="nccl or gloo (torch.distributed)."),
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", metavar="ADDRESS", help="Of the first host.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option("--interface", metavar="NAME", help="For NCCL's and gloo's sockets."),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            "--python", metavar="PROGRAM", help="With PyTorch, on the hosts; python3."
        ),
    ] = None,
    env: Annotated[
        list[str], typer.Option("--env", metavar="NAME=VALUE", help="Of the job; repeatable.")
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    option: Annotated[
        list[str], typer.Option("--option", metavar="WORD", help="Added to the command.")
    ] = [],  # noqa: B006 - as above
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="Runs of one label are compared.")
    ] = "",
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Of one run.", min=1)
    ] = 900.0,
    history: HistoryUrl = None,
    no_history: Annotated[
        bool, typer.Option("--no-history", help="Do not keep the run.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Write the benchmark's own output as well."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands and run nothing.")
    ] = False,
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.bench import tool as tools  # noqa: PLC0415 - after the words are understood
    from weft.bench.command import places, variables  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places  # noqa: PLC0415 - as above

    check_format(output)
    check_places(save, out)
    names, addresses = places(hosts)
    given = {
        "smallest_bytes": _read(parse_size, smallest),
        "largest_bytes": _read(parse_size, largest),
        "factor": factor, "iterations": iterations, "warmup": warmup, "seconds": seconds,
        "streams": streams, "backend": backend, "master": master, "interface": interface,
        "ranks_per_host": ranks_per_host, "python": python,
    }  # fmt: skip
    asked = {name: value for name, value in given.items() if value is not None}
    tools.find(tool).check(asked)
    first = next((addresses[n] for n in names[:1] if n in addresses), "")
    ask = tools.Ask(
        operation=operation or _usual(tool), hosts=names, env=variables(tuple(env)),
        options=tuple(option), **cast("dict[str, Any]", {"master": first, **asked}),
    )  # fmt: skip
    if dry_run:
        return _shown(tool, launcher, ask)
    found = _run(tool, launcher, ask, (repeats, timeout, label), quiet=quiet)
    return _kept(found, None if no_history else history or "", save, (output, out))


def _read(how: Callable[[str], Given], text: str | None) -> Given | None:
    return None if text is None else how(text)


def _usual(tool: str) -> str:
    return {"perftest": "write_bw", "iperf3": "tcp"}.get(tool, "all_reduce")


def _shown(tool: str, launcher: str, ask: "Ask") -> int:
    from weft.bench.run import commands, shown  # noqa: PLC0415 - as above

    for one in commands(tool, launcher, ask):
        print(shown(one))
    return 0


def _run(
    tool: str, launcher: str, ask: "Ask", how: tuple[int, float, str], *, quiet: bool
) -> "list[BenchRun]":
    from weft.bench.run import repeated, run  # noqa: PLC0415 - as above
    from weft.cli.output import watched  # noqa: PLC0415 - as above

    repeats, timeout_s, label = how
    with watched("running", quiet=quiet) as report:
        return list(
            repeated(
                repeats,
                lambda: run(
                    tool,
                    ask,
                    launcher=launcher,
                    label=label,
                    timeout_s=timeout_s,
                    report=report,
                ),
                report,
            )
        )


def _kept(
    found: "list[BenchRun]",
    history: str | None,
    save: Path | None,
    how: tuple[str, Path | None],
) -> int:
    from weft.bench import store  # noqa: PLC0415 - as above
    from weft.cli.output import emit, write_file  # noqa: PLC0415 - as above

    if save is not None:
        write_file(save, "".join(one.output for one in found).encode("utf-8"))
    if history is not None:
        url = history or store.default_url()
        found = [store.keep(one, url) for one in found]
    emit(found[-1], how[0], out=how[1])
    return 0
