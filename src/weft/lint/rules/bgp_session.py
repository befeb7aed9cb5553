"""A session over an interface cannot carry IPv4 routes, or a cabled uplink has none.

What it checks: unnumbered sessions without the extended next hop (RFC 8950), without the IPv4
family; switches that speak BGP and announce nothing; cables between switches without a session
while others have one.
Why it matters: the session is up and no route comes: hosts below are unreachable, or a link is
paid for and unused.
What to do: activate IPv4, extended next hop, redistribute connected routes.
References: RFC 8950; RFC 7938.
"""

from weft.lint.facts import Address, Neighbor, Port, Speaker
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        names = {switch.name for switch in fleet}
        for switch in fleet:
            for one in switch.of(Neighbor):
                if ":" in one.peer:  # a session over IPv6 addresses may carry IPv6 alone
                    continue
                if one.active is False:
                    yield problem(
                        one,
                        f"{switch.name} exchanges no IPv4 routes with {one.peer}",
                        "activate the family",
                    )
                elif one.unnumbered and one.extended_nexthop is False:
                    yield problem(
                        one,
                        f"{switch.name} cannot carry IPv4 over {one.peer}: the next "
                        "hop is IPv6",
                        "allow the extended next hop",
                    )
            yield from _unaddressed(switch)
            yield from _nameless(switch)
            for speaker in switch.of(Speaker):
                if speaker.announces is False and switch.of(Address):
                    yield problem(
                        speaker, f"{switch.name} announces no route", "redistribute connected"
                    )
            yield from _silent(switch, names)


def _unaddressed(switch: Device) -> Found:
    """Yield sessions over an interface that has no IPv6 address to speak from."""
    ports = {one.name: one for one in switch.of(Port)}
    for one in switch.of(Neighbor):
        port = ports.get(one.peer)
        if one.unnumbered and port is not None and port.link_local is False:
            yield problem(
                [port, one],
                f"{switch.name} {port.name} has no IPv6 address, or carries no IPv4 over "
                "it: a session over the interface needs both",
                "set its link-local address, as on the other uplinks",
            )


def _nameless(switch: Device) -> Found:
    sessions = switch.of(Neighbor)
    if any(one.remote or one.unnumbered for one in sessions):
        for one in sessions:
            if not one.remote:
                yield problem(
                    one,
                    f"{switch.name} expects no AS at {one.peer}: the session does not start",
                    "put it into the group of the others, or give remote-as",
                )


def _silent(switch: Device, names: set[str]) -> Found:
    peers = {one.peer for one in switch.of(Neighbor)}
    uplinks = [one for one in switch.of(Port) if one.peer in names]
    spoken = [one for one in uplinks if one.name in peers]
    for one in uplinks if spoken else ():
        if one.name not in peers:
            yield problem(
                one,
                f"{switch.name} has no session on {one.name} to {one.peer}",
                "add the neighbour",
            )


bgp_session = Rule(
    layer=Layer.ROUTING,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc8950",
    check=_check,
)
