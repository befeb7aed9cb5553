"""The two ends of a cable do not agree.

What it checks: speed, FEC, autonegotiation and state of both ends of each cable that
descriptions name; and that each end names the other.
Why it matters: a link with two speeds, or FEC on one end, stays down or drops frames; a cable
in the wrong port mixes rails.
What to do: set both ends alike; correct the cable or the description.
References: IEEE 802.3, clauses 91 and 119 (FEC); cabling as descriptions state it.
"""

from weft.lint.facts import Port
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        ports = {(s.name, one.name): one for s in fleet for one in s.of(Port)}
        merged = _merged(fleet)
        names = {switch.name for switch in fleet}
        for (device, name), one in merged.items():
            if one.peer not in names or not one.peer_port:
                continue
            other = merged.get((one.peer, one.peer_port))
            if other is None:
                yield problem(
                    one,
                    f"{device} {name} is cabled to {one.peer} {one.peer_port}, which "
                    "is not there",
                    "correct the description or the cable",
                )
            elif (other.peer, other.peer_port) != (device, name):
                yield problem(
                    [one, ports[one.peer, one.peer_port]],
                    f"{device} {name} names "
                    f"{one.peer} {one.peer_port}, which names {other.peer} "
                    f"{other.peer_port}",
                    "correct the description or the cable",
                )
            elif (device, name) < (one.peer, one.peer_port):
                yield from _compare(one, other)


def _merged(fleet: list[Device]) -> dict[tuple[str, str], Port]:
    """Return the ports by device and name, where several files say something of one."""
    found: dict[tuple[str, str], Port] = {}
    for switch in fleet:
        for one in switch.of(Port):
            before = found.get((switch.name, one.name))
            if before is None or one.peer:
                found[switch.name, one.name] = one
    return found


def _compare(one: Port, other: Port) -> Found:
    for what, mine, theirs in (
        ("speed", one.speed_gbit, other.speed_gbit),
        ("FEC", one.fec, other.fec),
        ("autonegotiation", one.autoneg, other.autoneg),
        ("MTU", one.mtu_bytes, other.mtu_bytes),
    ):
        if mine != theirs and mine is not None and theirs is not None and (mine or theirs):
            yield problem(
                [one, other],
                f"{what} is {mine or 'unset'} on {one.device} {one.name} and "
                f"{theirs or 'unset'} on {other.device} {other.name}",
                "set both ends alike",
            )


link_ends_differ = Rule(
    layer=Layer.LINKS,
    severity=Severity.ERROR,
    reference="https://standards.ieee.org/ieee/802.3/10422/",
    check=_check,
)
