"""The MTU is too small for packets of 4096 bytes.

What it checks: MTUs of hosts, ports, networks of pods and SR-IOV policies under 4200 in an
Ethernet fabric for training; and the MTU of the default partition on InfiniBand.
Why it matters: RoCE takes the largest payload that fits: 1024 at MTU 1500, so four times the
packets, and NICs that count packets do not reach their rate. TCP pays it in CPU.
What to do: 9000 on hosts and pods, 9216 on switches; mtu=5 (4096) in partitions.conf.
References: NVIDIA, RoCE MTU; the practice "jumbo frames, 9000 and more".
"""

from typing import Final

from weft.lint.facts import Network, Offered, Partition, Port, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LEAST: Final = 4200
_CODE_4096: Final = 5


def _check(case: Case) -> Found:
    if case.fabric != "infiniband":
        seen: dict[tuple[str, int], Port] = {}
        for one in case.of(Port):
            if one.mtu_bytes and one.mtu_bytes < _LEAST and _data(one):
                seen.setdefault((one.device, one.mtu_bytes), one)
        for port in seen.values():
            yield problem(
                port, f"{port.device} {port.name}: MTU {port.mtu_bytes}".strip(), _fix(port)
            )
    offers: list[Network | Offered] = [*case.of(Network), *case.of(Offered)]
    for offer in offers:
        if offer.mtu_bytes and offer.mtu_bytes < _LEAST and _is_rdma(offer):
            yield problem(offer, f"{offer.device}: MTU {offer.mtu_bytes}", "use 9000")
    for part in case.of(Partition):
        if part.ipoib and part.mtu_code is not None and part.mtu_code < _CODE_4096:
            yield problem(
                part,
                f"partition {part.name} has MTU code {part.mtu_code}; 4096 bytes is "
                f"{_CODE_4096}",
                f"set mtu={_CODE_4096}",
            )


def _is_rdma(one: Network | Offered) -> bool:
    return (
        isinstance(one, Offered)
        or bool(one.resource)
        or one.kind
        in {
            "macvlan",
            "ipvlan",
            "host-device",
            "sriov",
            "MacvlanNetwork",
            "SriovNetwork",
            "HostDeviceNetwork",
            "OVSNetwork",
        }
    )


def _data(port: Port) -> bool:
    return not port.name.lower().startswith(
        ("lo", "mgmt", "eth0", "management", "vlan", "null")
    )


def _fix(port: Port) -> str:
    return "use 9216" if port.side is Side.SWITCH else "use 9000"


mtu_small = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking/display/mlnxofedv24010331/rdma+over+converged+ethernet+(roce)",
    check=_check,
)
