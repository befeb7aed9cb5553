"""A host's gateway is not on its link, or on no switch.

What it checks: the gateway of each rail against the host's subnet, and against the addresses of
switch ports; both ends of a link in one subnet.
Why it matters: the rail cannot reach the others: NCCL hangs when it first uses it.
What to do: the two addresses of one /31, one on the switch port and one on the NIC.
References: RFC 3021; weft plan, underlay.
"""

from ipaddress import ip_address, ip_interface

from weft.lint.facts import Address, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    fleets = [
        {one.address.partition("/")[0] for switch in fleet for one in switch.of(Address)}
        for fleet in case.fleets()
    ]
    rails = [one for one in case.of(Address) if one.side is Side.HOST and one.gateway]
    gateways = {one.gateway for one in rails}
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
        elif any(own & gateways for own in lacking) or (
            lacking and len(lacking) == len(fleets)
        ):
            yield problem(
                one,
                f"no switch has the gateway {one.gateway} of {one.device} {one.port}",
                "give it to the switch port, or correct it",
            )


address_gateway = Rule(
    layer=Layer.ROUTING,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc3021",
    check=_check,
    needs=(Side.HOST, Side.SWITCH),
)
