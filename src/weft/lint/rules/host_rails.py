"""A host lacks a rail that the others have, or two rails of it share a routing table.

What it checks: rails.tsv: the devices of each host against those of most hosts, one table for
each rail; scripts that set up RDMA devices one after another: each device once, and all of
those that have addresses.
Why it matters: the rail has no address, answers through another rail, or is never given its
MTU and quality of service: its GPU is slow, or NCCL hangs.
What to do: one row and one table for each rail of each host.
References: ip-rule(8); Linux, source routing of several interfaces.
"""

from collections import Counter
from typing import Final

import re2

from weft.lint.facts import Fact, Option, RailTable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_DEVICE: Final = re2.compile(r"(mlx5|mlx4|bnxt_re|irdma|rocep\w*|rdma)_?\d+")
_MOST_RATIO: Final = 0.75
_KERNELS: Final = frozenset({"0", "253", "254", "255", "main", "local", "default"})


def _check(case: Case) -> Found:
    files: dict[str, list[RailTable]] = {}
    for one in case.of(RailTable):
        files.setdefault(one.at.text.name, []).append(one)
    for rows in files.values():
        yield from _rows(rows)
    devices = {one.port: one for one in case.of(RailTable)}
    for loop in case.options("rdma-devices"):
        yield from _loop(loop, devices)


def _rows(rows: list[RailTable]) -> Found:
    hosts: dict[str, dict[str, RailTable]] = {}
    for one in rows:
        own = hosts.setdefault(one.device, {})
        other = next((o for o in own.values() if o.table == one.table), None)
        if one.port in own:
            yield problem(
                [one, own[one.port]], f"{one.device} has {one.port} twice", "name it once"
            )
        elif one.table in _KERNELS:
            yield problem(
                one,
                f"the table {one.table} is the kernel's own: {one.device} loses other routes",
                "use 1 to 252",
            )
        elif other is not None:
            yield problem(
                [one, other],
                f"{one.port} and {other.port} of {one.device} share the table {one.table}: the "
                "second route replaces the first",
                "give each rail a table of its own",
            )
        own.setdefault(one.port, one)
    counts = Counter(port for own in hosts.values() for port in own)
    usual = {port for port, count in counts.items() if count >= len(hosts) * _MOST_RATIO}
    for host, own in hosts.items():
        for port in sorted(usual - own.keys()):
            yield problem(
                next(iter(own.values())),
                f"{host} has no row for {port}, as the other hosts have",
                "add its address, gateway and table",
            )


def _loop(loop: Option, devices: dict[str, RailTable]) -> Found:
    names = loop.value.split()
    if sum(bool(_DEVICE.fullmatch(name)) for name in names) * 2 <= len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        yield problem(loop, f"{twice[0]} stands twice in the list", "name each device once")
    missing = sorted(devices.keys() - set(names))
    if missing and len(missing) < len(devices):
        seen: list[Fact] = [loop, devices[missing[0]]]
        yield problem(
            seen,
            f"{missing[0]} has an address and is not in the list: it is not set up",
            "add the device",
        )


host_rails = Rule(
    layer=Layer.HOSTS,
    severity=Severity.ERROR,
    reference="https://man7.org/linux/man-pages/man8/ip-rule.8.html",
    check=_check,
)
