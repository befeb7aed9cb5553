"""An address is given twice, or two subnets overlap.

What it checks: addresses of switch ports, loopbacks and hosts; router IDs; addresses that are
the network's own.
Why it matters: one of the two is unreachable, by turns: the hardest fault to find at night.
What to do: give each its own.
References: RFC 3021 (/31 links), RFC 4271 (router ID).
"""

from ipaddress import ip_interface

from weft.lint.facts import Address, Side, Speaker
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        rows = [one for switch in fleet for one in switch.of(Address)]
        yield from _twice(rows)
        speakers: dict[str, Speaker] = {}
        for switch in fleet:
            for one in switch.of(Speaker):
                first = speakers.setdefault(one.router_id, one) if one.router_id else one
                if first.device != one.device:
                    yield problem(
                        [one, first],
                        f"router ID {one.router_id} is that of {first.device} "
                        f"and of {one.device}",
                        "give each its own",
                    )
    hosts = [one for one in case.of(Address) if one.side is Side.HOST]
    yield from _twice(hosts)


def _twice(rows: list[Address]) -> Found:
    taken: dict[tuple[str, str], Address] = {}
    for one in rows:
        address = one.address.partition("/")[0]
        try:
            ip_interface(one.address)
        except ValueError:
            yield problem(one, f"{one.address} is no address", "write it as 10.0.0.1/31")
            continue
        if address.lower().startswith("fe80"):
            continue
        first = taken.setdefault((one.vrf, address), one)
        if first is not one and (first.device, first.port) != (one.device, one.port):
            if _anycast(first, one):
                continue
            yield problem(
                [one, first],
                f"{address} is given to {first.device} {first.port} and to "
                f"{one.device} {one.port}",
                "give each its own",
            )


def _anycast(first: Address, one: Address) -> bool:
    """Return whether two switches share an address on purpose.

    Pairs have one tunnel address (on a second loopback) and one gateway of a VLAN.
    """
    names = {first.port.lower(), one.port.lower()}
    apart = first.device != one.device and not names & {"lo", "lo0", "loopback0"}
    return apart and any(all(n.startswith(p) for n in names) for p in ("lo", "vlan"))


address_duplicate = Rule(
    layer=Layer.ROUTING,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc3021",
    check=_check,
)
