"""NCCL is told to look for a GID that no NIC of the hosts has.

What it checks: NCCL_IB_ADDR_FAMILY and NCCL_IB_ADDR_RANGE against the addresses of the rails.
Why it matters: NCCL finds no GID of that kind, takes a link-local one or none: queue pairs do
not connect, and the job hangs or stops at its first collective.
What to do: unset both, or name the family and the range of the rails.
References: NCCL user guide, NCCL_IB_ADDR_FAMILY and NCCL_IB_ADDR_RANGE.
"""

from ipaddress import ip_interface, ip_network

from weft.lint.facts import Address, Side, Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_VERSIONS = {"AF_INET": 4, "AF_INET6": 6}


def _check(case: Case) -> Found:
    rails = [one for one in case.of(Address) if one.side is Side.HOST and one.gateway]
    versions = {version for one in rails if (version := _version(one))}
    for one in case.variables("NCCL_IB_ADDR_FAMILY"):
        wanted = _VERSIONS.get(one.value)
        if wanted and versions and wanted not in versions:
            yield problem(
                [one, rails[0]],
                f"{one.name}={one.value}, and the rails have IPv{min(versions)} addresses",
                f"unset {one.name}",
            )
    for one in case.variables("NCCL_IB_ADDR_RANGE"):
        yield from _range(one, rails)


def _version(one: Address) -> int:
    try:
        return ip_interface(one.address).version
    except ValueError:
        return 0


def _range(one: Variable, rails: list[Address]) -> Found:
    try:
        network = ip_network(one.value, strict=False)
    except ValueError:
        yield problem(one, f"{one.name}: {one.value} is no prefix", "write 172.16.0.0/12 or so")
        return
    known = [rail for rail in rails if _version(rail)]
    outside = [rail for rail in known if ip_interface(rail.address).ip not in network]
    if outside:
        yield problem(
            [one, outside[0]],
            f"{len(outside)} of {len(known)} addresses of the rails are not in "
            f"{one.name}={one.value}",
            "name a range that holds them all, or unset it",
        )


nccl_gid_selection = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
