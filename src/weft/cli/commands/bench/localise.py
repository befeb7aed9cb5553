"""`weft bench localise`: which part is slow, by the tests that tell most."""

import shlex
from typing import TYPE_CHECKING, Annotated, Final

import typer

from weft.cli import options
from weft.cli.commands.bench.reach import Hosts, PairLauncherName, Seconds
from weft.errors import SpecError
from weft.units import parse_rate

if TYPE_CHECKING:
    from weft.bench.localise import Localisation, Outcome
    from weft.bench.processes import Report

FAULTY: Final = 4
OPEN: Final = 5


def localise(
    *,
    hosts: Hosts,
    leaves: Annotated[
        str,
        typer.Option(
            "--leaves", metavar="L=A+B,...", help="Hosts of each leaf, as leaf1=a+b,leaf2=c+d."
        ),
    ] = "",
    result: Annotated[
        list[str],
        typer.Option(
            "--result",
            metavar="A,B=RATE",
            help="A test that was run, as a,b=92Gb/s; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    expected: Annotated[
        str, typer.Option("--expected", metavar="RATE", help="Of a healthy pair, as 92Gb/s.")
    ] = "",
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Plan as many tests as share no host.")
    ] = False,
    group: Annotated[
        int, typer.Option("--group", metavar="COUNT", help="Hosts in one test.", min=2)
    ] = 2,
    run: Annotated[
        str,
        typer.Option(
            "--run", metavar="TOOL", help="Run the tests as well: iperf3 or perftest."
        ),
    ] = "",
    launcher: PairLauncherName = "ssh",
    seconds: Seconds = 3.0,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> int:
    """Find the slow host or uplink: plan the tests that tell most, and read their results.

    Without --run the next test is printed, with its command; give its measurement with
    --result and run weft again. With --run the tests are run until a part is named. The exit
    code is 4 where a part is named, 0 where all are healthy, 5 while it is undecided.

    \b
    Examples:
      weft bench localise --hosts a,b,c,d --result a,b=92Gb/s --result c,d=12Gb/s
      weft bench localise --hosts a,b,c,d --leaves leaf1=a+b,leaf2=c+d --at-once
      weft bench localise --hosts a,b,c,d --run iperf3 --launcher ssh
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from dataclasses import replace  # noqa: PLC0415 - after the words are understood

    from weft.bench.command import places  # noqa: PLC0415 - as above
    from weft.bench.localise import Layout, localise, search  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, watched  # noqa: PLC0415 - as above

    check_format(output)
    names, addresses = places(hosts)
    layout = Layout(hosts=names, leaf_of=_leaves(leaves, names))
    rate = parse_rate(expected) if expected else None
    if run:
        with watched("testing pairs", quiet=quiet) as report:
            measure = _Measure(run, launcher, addresses, seconds, report)
            found, _ = search(
                layout, measure, expected_bytes_per_s=rate, at_once=at_once
            )  # fmt: skip
    else:
        found = localise(
            layout, [_outcome(one) for one in result], expected_bytes_per_s=rate,
            at_once=at_once, largest_group=group,
        )  # fmt: skip
    found = replace(found, commands=_commands(found, launcher, addresses))
    emit(found, output, full=full, out=out)
    if found.named:
        return FAULTY
    return 0 if found.settled and _sound(found) else OPEN


def _sound(found: "Localisation") -> bool:
    from weft.bench.localise import SURE  # noqa: PLC0415 - as above

    return found.none_probability >= SURE


class _Measure:
    """Runs one pair and returns the rate of its largest size."""

    def __init__(
        self, tool: str, launcher: str, addresses: dict[str, str], seconds: float,
        report: "Report",
    ) -> None:  # fmt: skip
        self._how = (tool, launcher, seconds)
        self._addresses, self._report = addresses, report

    def __call__(self, hosts: tuple[str, ...]) -> float:
        """Run the test between two hosts."""
        from weft.bench.run import run  # noqa: PLC0415 - as above
        from weft.bench.tool import Ask  # noqa: PLC0415 - as above

        tool, launcher, seconds = self._how
        self._report(", ".join(hosts))
        ask = Ask(
            operation="tcp" if tool == "iperf3" else "write_bw", hosts=hosts, seconds=seconds,
            master=self._addresses.get(hosts[0], ""), smallest_bytes=1 << 23,
            largest_bytes=1 << 23,
        )  # fmt: skip
        last = run(tool, ask, launcher=launcher).timings[-1]
        return last.size_bytes / last.time_s


def _leaves(text: str, hosts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in (one for one in text.split(",") if one):
        leaf, equals, members = part.partition("=")
        if not equals or not leaf:
            raise SpecError(f"{part!r} is not a leaf; write its hosts as leaf1=a+b")
        found |= dict.fromkeys(members.split("+"), leaf)
    if found and found.keys() != set(hosts):
        odd = ", ".join(sorted(found.keys() ^ set(hosts)))
        raise SpecError(f"--leaves and --hosts do not name the same hosts: {odd}")
    return found


def _outcome(text: str) -> "Outcome":
    from weft.bench.localise import Outcome  # noqa: PLC0415 - as above

    names, equals, rate = text.rpartition("=")
    hosts = tuple(one for one in names.split(",") if one)
    if not equals or len(hosts) < 2:  # noqa: PLR2004 - a pair
        raise SpecError(f"{text!r} is not a result; write it as a,b=92Gb/s")
    return Outcome(hosts=hosts, bytes_per_s=parse_rate(rate))


def _commands(
    found: "Localisation", launcher: str, addresses: dict[str, str]
) -> tuple[str, ...]:
    # Links of a laboratory carry TCP and no RDMA.
    tool = ("iperf3",) if launcher == "netns" else ("perftest", "write_bw")
    pair = (*tool, "--launcher", launcher)
    group = ("nccl-tests", "alltoall", "--launcher", "mpirun")
    commands = []
    for one in found.next:
        named = (f"{n}={addresses[n]}" if n in addresses else n for n in one.hosts)
        how = pair if len(one.hosts) == 2 else group  # noqa: PLR2004 - a pair
        commands.append(shlex.join(["weft", "bench", "run", *how, "--hosts", ",".join(named)]))
    return tuple(commands)
