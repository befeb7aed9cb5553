"""The MTU is not the same along the path, or a host sends more than its switch takes.

What it checks: MTUs of the ports of a switch, of both ends of a cable, of switches, of hosts
against switches, and of pods against hosts and switches.
Why it matters: small packets pass and large ones vanish: connections come up, and the first
real message hangs. One port at 1500 in the middle is enough.
What to do: 9216 on every switch port, 9000 (or 4200 and more) on every host.
References: IEEE 802.3; RFC 1191 (a switch does not tell that it dropped).
"""

from collections import Counter

from weft.lint.facts import Network, Port, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        rows = [p for switch in fleet for p in switch.of(Port) if p.mtu_bytes and _data(p)]
        counts = Counter(one.mtu_bytes for one in rows)
        usual = counts.most_common(1)[0][0] if counts else None
        shown = next((one for one in rows if one.mtu_bytes == usual), None)
        odd: dict[str, list[Port]] = {}
        for one in rows:
            if one.mtu_bytes != usual:
                odd.setdefault(one.device, []).append(one)
        for device, ports in odd.items():
            assert shown is not None
            more = f" and {len(ports) - 1} more" if len(ports) > 1 else ""
            yield problem(
                [ports[0], shown],
                f"{ports[0].name}{more} of {device} has MTU "
                f"{ports[0].mtu_bytes}, others {usual}",
                "use one MTU",
                # A network that nobody is seen to use RDMA on may have links of several MTUs.
                severity=None if case.fabric or Side.JOB in case.sides else Severity.WARNING,
            )
        yield from _hosts(case, rows)


def _data(port: Port) -> bool:
    """Return whether a port carries the fabric's data."""
    return not port.name.lower().startswith(
        ("lo", "mgmt", "eth0", "management", "vlan", "null")
    )


def _hosts(case: Case, rows: list[Port]) -> Found:
    least = min(rows, key=lambda one: one.mtu_bytes or 0, default=None)
    if least is None or least.mtu_bytes is None:
        return
    for one in case.of(Port):
        if one.side is Side.HOST and one.mtu_bytes and one.mtu_bytes > least.mtu_bytes:
            yield problem(
                [one, least],
                f"hosts send frames of {one.mtu_bytes}, and {least.name} of "
                f"{least.device} takes {least.mtu_bytes}",
                "raise the switch",
            )
    for network in case.of(Network):
        if network.mtu_bytes and network.mtu_bytes > least.mtu_bytes:
            yield problem(
                [network, least],
                f"pods send frames of {network.mtu_bytes}, and "
                f"{least.name} of {least.device} takes {least.mtu_bytes}",
                "lower the pod's, or raise the switch's",
            )


mtu_ends_differ = Rule(
    layer=Layer.LINKS,
    severity=Severity.ERROR,
    reference="https://standards.ieee.org/ieee/802.3/10422/",
    check=_check,
)
