"""`weft bench localise`: which part is slow, by the tests that tell most."""

import shlex
from functools import partial
from typing import TYPE_CHECKING

from weft.cli import options
from weft.cli.exits import FAILED, PARTIAL
from weft.cli.watch import progress
from weft.errors import SpecError
from weft.units import parse_rate

if TYPE_CHECKING:
    from weft.bench.localise import Localisation, Outcome
    from weft.bench.processes import Report


def localise(
    *,
    hosts: str,
    leaves: str = "",
    result: list[str] = [],
    expected: str = "",
    at_once: bool = False,
    group: int = 2,
    run: str = "",
    launcher: str = ("ssh"),
    seconds: float = 3.0,
    shown: options.Written,
    quiet: bool = False,
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
    """
    from dataclasses import replace

    from weft.bench.command import places
    from weft.bench.localise import SURE, Layout, localise, search

    shown.check()
    names, addresses = places(hosts)
    layout = Layout(hosts=names, leaf_of=_leaves(leaves, names))
    rate = parse_rate(expected) if expected else None
    if run:
        with progress("testing pairs", quiet=quiet) as report:
            how = (run, launcher, seconds)
            measure = partial(_measured, how=how, addresses=addresses, report=report)
            plan = partial(localise, layout, expected_bytes_per_s=rate, at_once=at_once)
            found, _ = search(plan, measure)
    else:
        found = localise(
            layout, list(map(_outcome, result)), expected_bytes_per_s=rate,
            at_once=at_once, largest_group=group,
        )  # fmt: skip
    found = replace(found, commands=_commands(found, launcher, addresses))
    shown.emit(found)
    if found.named:
        return FAILED
    return 0 if found.settled and found.none_probability >= SURE else PARTIAL


def _measured(
    hosts: tuple[str, ...], how: tuple[str, str, float], addresses: dict[str, str],
    report: "Report",
) -> float:  # fmt: skip
    """Run one pair and return the rate of its largest size."""
    from weft.bench.run import run
    from weft.bench.tool import Ask

    tool, launcher, seconds = how
    report(", ".join(hosts))
    ask = Ask(
        operation="tcp" if tool == "iperf3" else "write_bw", hosts=hosts, seconds=seconds,
        master=addresses.get(hosts[0], ""), smallest_bytes=1 << 23, largest_bytes=1 << 23,
    )  # fmt: skip
    last = run(tool, ask, launcher=launcher).timings[-1]
    return last.size_bytes / last.time_s


def _leaves(text: str, hosts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        leaf, equals, members = part.partition("=")
        if not equals or not leaf:
            raise SpecError(f"{part!r} is not a leaf; write its hosts as leaf1=a+b")
        found |= dict.fromkeys(members.split("+"), leaf)
    if found and found.keys() != set(hosts):
        odd = ", ".join(sorted(found.keys() ^ set(hosts)))
        raise SpecError(f"--leaves and --hosts do not name the same hosts: {odd}")
    return found


def _outcome(text: str) -> "Outcome":
    from weft.bench.localise import Outcome

    names, equals, rate = text.rpartition("=")
    hosts = tuple(filter(None, names.split(",")))
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
    for test in found.next:
        named = (f"{n}={addresses[n]}" if n in addresses else n for n in test.hosts)
        how = pair if len(test.hosts) == 2 else group  # noqa: PLR2004 - a pair
        commands.append(shlex.join(["weft", "bench", "run", *how, "--hosts", ",".join(named)]))
    return tuple(commands)
