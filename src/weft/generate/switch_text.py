"""Configurations of switches as text: what a template is given, and how it is filled.

A target has one template; it holds the vendor's words, and this module the values: the same
for every vendor, each of them from the plan.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any, Final

from weft.generate.lossless import Marking, Pause
from weft.generate.plan import Plan, lossless
from weft.generate.router import PREFIX, Router, Vrf, cages, routers, underlay_of
from weft.generate.site_text import site_text
from weft.generate.switch_system import SwitchSystem, switch_systems
from weft.generate.target import Files
from weft.generate.template import text_of
from weft.generate.tuned import unset
from weft.network.network import layout
from weft.readers.rendered import BY_WEFT
from weft.records import table

DSCPS: Final = 64
OTHER: Final = 0
"""Class and queue of all other traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortText:
    """One port, as a template writes it."""

    name: str
    number: int
    peer: str
    kind: str
    """Kind of link: ``host``, ``spine`` or ``core``."""
    far: str
    """Port of the peer, or the NIC of a host."""
    address: str
    """With its prefix; empty towards another switch but of a sub-interface."""
    peer_asn: int
    """0 towards a host."""
    across: bool
    """Leads to another group, where groups are joined directly."""
    vrf: str
    """Of a port to a host of a tenant, and of a sub-interface; empty: the default."""
    tag: int = 0
    """Of a sub-interface."""
    parent: str = ""
    """Of a sub-interface."""
    peer_address: str = ""
    """Of a sub-interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VrfText:
    """One VRF, as a template writes it."""

    name: str
    """Empty for the default."""
    tag: int
    block: IPv4Network | None
    fabric: list[PortText]
    """Sub-interfaces where it has a tag."""
    groups: list[str]
    """Of peers: FABRIC, and ACROSS to other groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lossless:
    """PFC and ECN of one system, and what is said of them."""

    system: SwitchSystem
    pause: Pause
    marking: Marking
    unset: tuple[str, ...]
    """What a search found and this target leaves to the switch."""

    @property
    def percent(self) -> int:
        """Share of packets that are marked at Kmax."""
        return round(self.marking.pmax_ratio.number() * 100)

    @property
    def claim(self) -> str:
        """Say whether ECN marks before PFC pauses: computed, or not claimed."""
        if not self.system.has_claim or self.pause.xoff_bytes is None:
            return "Not claimed that ECN marks before PFC pauses: weft does not set all terms."
        return (
            f"ECN is certain at {self.marking.kmax_bytes.text()} B, PFC pauses from "
            f"{self.pause.xoff_bytes.text()} B on, with every port congested."
        )


def lossless_of(plan: Plan, name: str) -> Lossless | None:
    """Return PFC and ECN of a plan for a system; None for a lossy fabric."""
    if plan.pause is None:
        return None
    on = switch_systems()[name]
    pause, marking = lossless(plan.cluster, on)
    return Lossless(system=on, pause=pause, marking=marking, unset=unset(pause))


def switch_files(
    plan: Plan, target: str, file: str, name: Callable[[int, int, int], str], *, vrf: str,
    **more: Any,  # noqa: ANN401 - whatever the target's template asks for besides
) -> Files:  # fmt: skip
    """Yield the file of every switch.

    ``name`` is of a port by its cage, its place in it and the ports of a cage; ``vrf`` what the
    system calls its management VRF.
    """
    held = cages(plan)

    def port(number: int) -> str:
        return name(*held.place(number), held.split)

    for router in routers(plan):
        used = {held.place(port.number)[0] for port in router.switch.ports}
        yield f"{router.name}/{file}", fill(
            target, f"{file}.j2", plan, router, port, site=site_text(plan, router, vrf),
            cages=held, used_cages=sorted(used), **more,
        )  # fmt: skip


def fill(
    target: str, template: str, plan: Plan, router: Router, name: Callable[[int], str],
    **more: Any,  # noqa: ANN401 - whatever the target's template asks for besides
) -> str:  # fmt: skip
    """Return the text of a target's template for one switch; ``name`` is of a port."""
    ports = _ports(router, name)
    vrfs = [_vrf(vrf, ports) for vrf in router.vrfs()]
    values: dict[str, Any] = {
        "by": BY_WEFT,
        "apply": table("weft.generate", "targets")[target].get("apply", ""),
        "cluster": plan.names.cluster.text(),
        "router": router,
        "ports": ports,
        "hosts": [port for port in ports if not port.peer_asn],
        "fabric": [port for port in ports if port.peer_asn],
        "vrfs": vrfs,
        "tenants": vrfs[1:],
        "inside": _inside(vrfs[1:]),
        "underlay": underlay_of(plan),
        "mtu": "" if plan.link.switch_mtu_bytes is None else plan.link.switch_mtu_bytes.text(),
        "rate_gbit": int(plan.link.rate_gbit_per_s.number()),
        "prefix": PREFIX,
        "labels": plan.labels,
        "other": OTHER,
        "other_dscps": _other_dscps(plan),
        "balancing": plan.cluster.fabric.load_balancing or "ecmp",
        "seed": router.switch.count + 1,
        "lossless": None,
    }
    return text_of(f"{target}/{template}", **(values | more))


def _ports(router: Router, name: Callable[[int], str]) -> list[PortText]:
    hosts = {host.port.number: host for host in router.hosts}
    fabric = {link.port.number: link for link in router.fabric}
    return [
        PortText(
            name=name(port.number), number=port.number, peer=port.peer,
            kind=router.switch.kind(port),
            far=name(port.peer_port) if port.host is None else hosts[port.number].device,
            address="" if port.host is None else f"{hosts[port.number].address}/{PREFIX}",
            peer_asn=fabric[port.number].peer_asn if port.host is None else 0,
            across=port.host is None and fabric[port.number].across,
            vrf="" if port.host is None else hosts[port.number].tenant,
        )
        for port in router.switch.ports
    ]  # fmt: skip


def _vrf(vrf: Vrf, ports: Iterable[PortText]) -> VrfText:
    by_number = {port.number: port for port in ports}
    links = [
        replace(
            port, name=f"{port.name}.{vrf.tag}", vrf=vrf.name, tag=vrf.tag, parent=port.name,
            address=f"{link.address}/{PREFIX}", peer_address=str(link.peer_address),
        ) if vrf.tag else port
        for link in vrf.fabric for port in (by_number[link.port.number],)
    ]  # fmt: skip
    groups = dict.fromkeys("ACROSS" if link.across else "FABRIC" for link in links)
    return VrfText(
        name=vrf.name, tag=vrf.tag, block=vrf.block, fabric=links, groups=list(groups)
    )


def _inside(vrfs: Iterable[VrfText]) -> dict[str, list[PortText]]:
    """Return the sub-interfaces of each port."""
    found: dict[str, list[PortText]] = defaultdict(list)
    for vrf in vrfs:
        for text in vrf.fabric:
            found[text.parent].append(text)
    return found


def _other_dscps(plan: Plan) -> list[int]:
    """Return the DSCPs that are neither RDMA's nor CNPs'."""
    if plan.labels is None:
        return []
    own = {plan.labels.dscp.whole(), plan.labels.cnp_dscp.whole()}
    return [dscp for dscp in range(DSCPS) if dscp not in own]


def vendor_refusal(
    plan: Plan, target: str, known: Iterable[str], *, most_paths: int | None = None
) -> str | None:
    """Return why a target cannot configure the switches of a plan; None where it can."""
    switch = layout(plan.cluster).switch
    names = tuple(known)
    if switch not in names:
        return f"{target} knows the ports of {', '.join(names)}, not those of {switch}"
    if most_paths is not None and underlay_of(plan).most_paths.whole() > most_paths:
        return f"{target} takes at most {most_paths} paths"
    return None
