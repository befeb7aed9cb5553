"""An RDMA device's network interface is in another network namespace.

What it checks: active Ethernet RDMA devices that name no interface while their fellows do.
Why it matters: here the device has no address, so RoCE cannot use it; a container took it.
What to do: use it in the container that has the interface, or move the interface back; set
RDMA's own namespaces to exclusive (rdma system set netns exclusive).
References: the manual pages rdma-system(8), rdma-link(8) and network_namespaces(7).
"""

import re
from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.adapters import AdapterInterface, AdapterPort
from weft.observe.facts.base import LinkLayer, PortState

_LINE = re.compile(r"(?:^|[\s:>)\]])link \S{1,60}/\d{1,3} (?:state|subnet)")


def _check(facts: Facts) -> Iterator[Finding]:
    named = {one.adapter for one in facts.of(AdapterInterface)}
    ports = [one for one in facts.of(AdapterPort) if _of_rdma_link(one)]
    with_interface = [one for one in ports if one.interface or one.adapter in named]
    without = [one for one in ports if one not in with_interface]
    if without:
        active = [one for one in without if one.state is PortState.ACTIVE]
        yield finding(
            "rdma-netdev-other-namespace",
            without,
            0.85 if with_interface else 0.6,
            severity=Severity.ERROR if active and with_interface else Severity.WARNING,
            subject=", ".join(one.adapter for one in without),
            message="an RDMA device has no network interface here: another namespace has it",
            advice="run in the namespace that has the interface, or move the interface back",
            next_command="rdma system; ip netns list; ls /sys/class/infiniband/*/device/net",
            explains=("port-down", "gid-link-local", "gid-index-wrong"),
        )


def _of_rdma_link(port: AdapterPort) -> bool:
    """Return whether a line of `rdma link` states an Ethernet port (those of IB have LIDs)."""
    return (
        _LINE.search(port.evidence.text) is not None
        and port.link_layer is not LinkLayer.INFINIBAND
        and port.lid is None
        and "subnet_prefix" not in port.evidence.text
    )


interface_elsewhere = Rule(causes=("rdma-netdev-other-namespace",), check=_check)
