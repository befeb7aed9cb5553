"""A launch and its list of hosts do not fit.

What it checks: mpirun's -np and ppr against the slots of the hostfile beside it, hosts that
stand there twice or with other slots than the rest; torchrun's --nnodes, --nproc-per-node and
its rendezvous against the same list.
Why it matters: ranks are missing or too many: Open MPI stops, or the first collective waits
for a host that nobody starts.
What to do: one line a host, slots = GPUs, -np = their sum.
References: mpirun(1) of Open MPI; torchrun.
"""

from collections import Counter
from typing import Final

import re2

from weft.lint.document import whole
from weft.lint.facts import Launch, Slots
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_PLACED: Final = re2.compile(r"ppr:(\d+):node")
_HOST: Final = re2.compile(r"(?:\$\{\w+:-)?([A-Za-z][\w.-]*)\}?(?::\d+)?")
_MPI: Final = frozenset({"mpirun", "mpiexec", "orterun"})


def _check(case: Case) -> Found:
    folders: dict[str, list[Slots]] = {}
    for one in case.of(Slots):
        folders.setdefault(_folder(one.at.text.name), []).append(one)
    for rows in folders.values():
        yield from _rows(rows)
    for launch in case.of(Launch):
        hosts = folders.get(_folder(launch.at.text.name), [])
        named = len({one.at.text.name for one in hosts}) == 1
        if named and launch.tool in _MPI and _value(launch, "--hostfile", "-hostfile"):
            yield from _mpi(launch, hosts)
        elif named and launch.tool == "torchrun":
            yield from _torch(launch, hosts)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _rows(rows: list[Slots]) -> Found:
    first: dict[str, Slots] = {}
    usual = Counter(one.count for one in rows).most_common(1)[0][0]
    for one in rows:
        other = first.setdefault(one.device, one)
        if other is not one:
            yield problem(
                [one, other],
                f"{one.device} stands twice in the list: it takes {one.count} ranks more",
                "name each host once",
            )
        if one.count != usual:
            yield problem(
                one,
                f"{one.device} takes {one.count} ranks, the others {usual}",
                f"give it {usual} slots",
            )


def _mpi(launch: Launch, hosts: list[Slots]) -> Found:
    ranks, total = whole(_value(launch, "-np", "-n", "--np")), sum(one.count for one in hosts)
    if ranks is not None and (ranks > total or 0 < total - ranks < hosts[0].count):
        yield problem(
            [launch, hosts[0]],
            f"mpirun starts {ranks} ranks, and the {len(hosts)} lines of its list have "
            f"{total} slots",
            f"start {total}, or correct the list",
            severity=Severity.ERROR if ranks > total else None,
        )
    placed = next((m for word in launch.words if (m := _PLACED.search(word))), None)
    if placed and ranks is not None and int(placed[1]) * len(hosts) < ranks:
        yield problem(
            [launch, hosts[0]],
            f"{placed[1]} ranks a host on {len(hosts)} hosts are fewer than {ranks}",
            f"place {-(-ranks // len(hosts))} a host",
        )


def _torch(launch: Launch, hosts: list[Slots]) -> Found:
    names = {one.device for one in hosts}
    nodes = whole(_value(launch, "--nnodes"))
    each = whole(_value(launch, "--nproc-per-node", "--nproc_per_node"))
    if nodes is not None and nodes != len(names) and nodes * 2 > len(names) > 1:
        yield problem(
            [launch, hosts[0]],
            f"torchrun waits for {nodes} hosts, and the list beside it has {len(names)}",
            f"write --nnodes={len(names)}, or correct the list",
        )
    if each is not None and each not in {1, hosts[0].count}:
        yield problem(
            [launch, hosts[0]],
            f"torchrun starts {each} ranks a host, and the list beside it has {hosts[0].count}",
            f"start {hosts[0].count}",
        )
    place = _value(launch, "--rdzv-endpoint", "--rdzv_endpoint", "--master-addr")
    host = _HOST.fullmatch(place)
    if host and host[1] not in names and "." not in host[1] and host[1] != "localhost":
        yield problem(
            [launch, hosts[0]],
            f"torchrun meets on {host[1]}, which is not in the list of hosts",
            f"meet on {hosts[0].device}",
        )


def _value(launch: Launch, *names: str) -> str:
    for number, word in enumerate(launch.words):
        head, equals, value = word.partition("=")
        if head in names:
            following = launch.words[number + 1] if number + 1 < len(launch.words) else ""
            return value if equals else following
    return ""


launch_hosts = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.open-mpi.org/en/main/launching-apps/scheduling.html",
    check=_check,
)
