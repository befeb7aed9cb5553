"""A host's gateway is not on its link, or on no switch.

What it checks: the gateway of each rail against the host's subnet, and against the addresses of
switch ports; both ends of a link in one subnet of one length, on the port that the host is
cabled to. Where sessions lead to switches that were not read, a gateway that none of the others
has may be on one of those; then only rails that are cabled to a switch that was read count.
Why it matters: the rail cannot reach the others: NCCL hangs when it first uses it.
What to do: the two addresses of one /31, one on the switch port and one on the NIC.
References: RFC 3021; weft plan, underlay.
"""

from ipaddress import ip_address, ip_interface

from weft.lint.facts import Address, Port, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    fleets = [
        {one.address.partition("/")[0]: one for switch in fleet for one in switch.of(Address)}
        for fleet in case.fleets()
    ]
    cables = [one for switch in case.switches for one in switch.of(Port) if one.peer]
    rails = [one for one in case.of(Address) if one.side is Side.HOST and one.gateway]
    gateways = {one.gateway for one in rails}
    ends = {(one.peer, one.peer_port) for one in cables}
    for one in rails:
        try:
            inside = ip_address(one.gateway) in ip_interface(one.address).network
        except ValueError:
            yield problem(one, f"{one.gateway} is no address", "correct it")
            continue
        lacking = [own for own in fleets if own and one.gateway not in own]
        if not inside:
            yield problem(
                one,
                f"the gateway {one.gateway} of {one.device} {one.port} is not in {one.address}",
                "use the other address of the link",
            )
        elif case.absent and (one.device, one.port) not in ends:
            continue
        elif any(own.keys() & gateways for own in lacking) or (
            lacking and len(lacking) == len(fleets)
        ):
            yield problem(
                one,
                f"no switch has the gateway {one.gateway} of {one.device} {one.port}",
                "give it to the switch port, or correct it",
            )
        else:
            yield from _ends(one, [own[one.gateway] for own in fleets if one.gateway in own])
    yield from _cabled(case, {one.gateway: one for one in rails}, cables)


def _ends(one: Address, switches: list[Address]) -> Found:
    for other in switches:
        length = other.address.partition("/")[2]
        if length and length != one.address.partition("/")[2]:
            yield problem(
                [other, one],
                f"{other.device} {other.port} has {other.address}, and {one.device} "
                f"{one.port} at its other end {one.address}",
                "give both ends one length",
            )


def _cabled(case: Case, rails: dict[str, Address], ports: list[Port]) -> Found:
    """Compare where the gateway of a host is with where the host is cabled."""
    cables = {(one.device, one.name): one for one in ports}
    hosts = {one.device for one in rails.values()}
    named = {(one.device, one.port) for one in rails.values()}
    described = {one.device for one in ports}
    for switch in case.switches:
        for own in switch.of(Address):
            rail = rails.get(own.address.partition("/")[0])
            port = cables.get((switch.name, own.port))
            if rail is None or switch.name not in described:
                continue
            far = (port.peer, port.peer_port) if port else None
            crossed = far in named and far != (rail.device, rail.port)
            if port is None or crossed or (port.peer in hosts and port.peer != rail.device):
                yield problem(
                    [own, rail, *([port] if port else [])],
                    f"{switch.name} {own.port} has the gateway of {rail.device} {rail.port}, "
                    + (
                        f"and is cabled to {port.peer} {port.peer_port}"
                        if port
                        else "and no cable is there"
                    ),
                    "give it to the port that the host is cabled to",
                )


address_gateway = Rule(
    layer=Layer.ROUTING,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc3021",
    check=_check,
    needs=(Side.HOST, Side.SWITCH),
)
