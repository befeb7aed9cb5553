"""A cabled port is shut down.

What it checks: ports with a description of a peer, an address or a session, that are down by
configuration.
Why it matters: a rail or an uplink is missing for good; ECMP hides it, bandwidth shows it.
What to do: bring it up, or remove its configuration.
References: SONiC, PORT admin_status; shutdown of EOS and NX-OS.
"""

from weft.lint.facts import Address, Neighbor, Port, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Port):
        if one.side is Side.HOST and one.up is False and one.mtu_bytes:
            yield problem(one, f"{one.name} is set up and shut down", "end the line with up")
    for switch in case.switches:
        used = {one.port for one in switch.of(Address)} | {n.peer for n in switch.of(Neighbor)}
        for one in switch.of(Port):
            if one.up is False and (one.peer or one.name in used):
                to = f" to {one.peer}" if one.peer else ""
                yield problem(one, f"{switch.name} {one.name}{to} is shut down", "bring it up")


link_down = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
