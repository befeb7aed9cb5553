"""NVIDIA Cumulus Linux: NVUE commands of every switch, as `nv config show -o commands` says.

The spelling is that of release 5.14: later than `enable on`, so not for 5.10 and older.
"""

from collections.abc import Iterator
from typing import Final

from weft.generate.lossless import Labels, Marking, Pause
from weft.generate.plan import Feature, Plan
from weft.generate.router import PREFIX, Cages, Router, cages, routers, underlay_of
from weft.generate.target import Files, Proof, Target, header
from weft.generate.tuned import unset
from weft.network.network import layout

GROUP: Final = "FABRIC"
OWN: Final = "OWN"
DSCPS: Final = 64
OTHER: Final = 0
"""Switch priority and queue of all other traffic."""
MOST_PATHS: Final = 128
UNPROVEN: Final = "# written from documents and not read by NVUE yet: look at nv config diff"
SWITCHES: Final = ("sn3700", "sn4600", "sn4600c", "sn4700", "sn5400", "sn5600")
"""Spectrum switches whose cages are counted along the front."""


def _files(plan: Plan) -> Files:
    held = cages(plan)
    for router in routers(plan):
        lines = [f"nv set {line}" if line[0] != "#" else line
                 for line in _lines(plan, router, held)]  # fmt: skip
        first = header(plan, f"NVUE commands of {router.name}")
        yield f"{router.name}/nvue.commands", "\n".join([first, UNPROVEN, *lines]) + "\n"


def _name(held: Cages, number: int) -> str:
    cage, place = held.place(number)
    return f"swp{cage + 1}" if held.split == 1 else f"swp{cage + 1}s{place}"


def _lines(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    yield f"system hostname {router.name}"
    yield from _ports(plan, router, held)
    if plan.labels is not None and plan.pause is not None and plan.marking is not None:
        yield from _classes(plan.labels, plan.pause)
        yield from _queues(plan.labels, plan.marking)
        yield from _watchdog(plan.pause, _all_ports(router, held))
    yield from _policy(plan)
    yield from _bgp(plan, router, held)


def _all_ports(router: Router, held: Cages) -> str:
    return ",".join(_name(held, port.number) for port in router.switch.ports)


def _ports(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    assert plan.link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of switches"
    yield f"interface lo ip address {router.loopback}/32"
    if held.split > 1:
        used = sorted({held.place(port.number)[0] + 1 for port in router.switch.ports})
        names = ",".join(f"swp{cage}" for cage in used)
        yield f"interface {names} link breakout {held.split}x"
    yield f"interface {_all_ports(router, held)} link mtu {plan.link.switch_mtu_bytes.text()}"
    for link in router.hosts:
        name = _name(held, link.port.number)
        yield f"interface {name} description '{link.port.peer} {link.device}'"
        yield f"interface {name} ip address {link.address}/{PREFIX}"
    for one in router.fabric:
        far = f"{one.port.peer} {_name(held, one.port.peer_port)}"
        yield f"interface {_name(held, one.port.number)} description '{far}'"


def _classes(labels: Labels, pause: Pause) -> Iterator[str]:
    """Yield RoCE's profile, and after it what the plan says otherwise or again."""
    yield from ("qos roce state enabled", "qos roce mode lossless")
    yield "# NVUE sizes headroom by the length of the cable; NVIDIA advises against more."
    yield f"# The plan has {pause.headroom_bytes.text()} B a port: {pause.cable_m.text()} m."
    yield from (f"# {line}" for line in unset(pause))
    yield f"qos roce cable-length {pause.cable_m.text()}"
    yield f"qos pfc default-global switch-priority {labels.priority.text()}"
    yield from ("qos pfc default-global tx enable", "qos pfc default-global rx enable")
    pairs = ((labels.dscp, labels.priority), (labels.cnp_dscp, labels.cnp_priority))
    own = {dscp.whole() for dscp, _ in pairs}
    others = ",".join(str(dscp) for dscp in range(DSCPS) if dscp not in own)
    mapping = "qos mapping default-global"
    yield from (f"{mapping} trust l3", f"{mapping} dscp {others} switch-priority {OTHER}")
    for dscp, priority in pairs:
        yield f"{mapping} dscp {dscp.text()} switch-priority {priority.text()}"


def _queues(labels: Labels, marking: Marking) -> Iterator[str]:
    lossless, cnp = labels.priority.whole(), labels.cnp_priority.whole()
    for queue in (OTHER, lossless, cnp):
        mapped = f"switch-priority {queue} traffic-class {queue}"
        yield f"qos egress-queue-mapping default-global {mapped}"
    weight = labels.rdma_weight.whole()
    for queue, percent in ((OTHER, 100 - weight), (lossless, weight)):
        scheduler = f"qos egress-scheduler default-global traffic-class {queue}"
        yield from (f"{scheduler} mode dwrr", f"{scheduler} bw-percent {percent}")
    yield f"qos egress-scheduler default-global traffic-class {cnp} mode strict"
    marked = f"qos congestion-control default-global traffic-class {lossless}"
    yield f"{marked} min-threshold {marking.kmin_bytes.text()}"
    yield f"{marked} max-threshold {marking.kmax_bytes.text()}"
    yield f"{marked} probability {round(marking.pmax_ratio.number() * 100)}"
    yield f"{marked} ecn enable"
    yield "# RoCE's profile marks the queue of all other traffic as well; the plan does not."
    yield f"qos congestion-control default-global traffic-class {OTHER} ecn disable"


def _watchdog(pause: Pause, ports: str) -> Iterator[str]:
    yield f"qos pfc-watchdog polling-interval {pause.watchdog_short_poll_ms.text()}"
    yield f"qos pfc-watchdog robustness {pause.watchdog_polls.text()}"
    yield f"interface {ports} qos pfc-watchdog state enable"


def _policy(plan: Plan) -> Iterator[str]:
    """Yield what may be announced: the fabric's own addresses, so not the management port."""
    underlay = underlay_of(plan)
    yield f"router policy prefix-list {OWN} type ipv4"
    for rule, pool, longest in ((5, underlay.loopbacks, 32), (10, underlay.pool, PREFIX)):
        own = f"router policy prefix-list {OWN} rule {rule}"
        yield f"{own} match {pool.text()} min-prefix-len {longest}"
        yield f"{own} action permit"
    for what in ("match type ipv4", f"match ip-prefix-list {OWN}", "action permit"):
        yield f"router policy route-map {OWN} rule 10 {what}"


def _bgp(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    underlay, own = underlay_of(plan), "vrf default router bgp"
    yield from ("router bgp state enabled", f"router bgp autonomous-system {router.asn}",
                f"router bgp router-id {router.loopback}", f"{own} state enabled",
                f"{own} path-selection multipath aspath-ignore enabled")  # fmt: skip
    if router.fabric:
        group = f"{own} peer-group {GROUP}"
        yield from (f"{group} remote-as external",
                    f"{group} timers keepalive {underlay.keepalive_s.text()}",
                    f"{group} timers hold {underlay.hold_s.text()}",
                    f"{group} address-family ipv4-unicast state enabled")  # fmt: skip
    for one in router.fabric:
        neighbour = f"{own} neighbor {_name(held, one.port.number)}"
        yield from (f"{neighbour} type unnumbered", f"{neighbour} peer-group {GROUP}")
    family = f"{own} address-family ipv4-unicast"
    yield from (f"{family} state enabled", f"{family} redistribute connected state enabled",
                f"{family} redistribute connected route-map {OWN}")  # fmt: skip
    if router.block is not None:
        yield f"{family} aggregate-route {router.block} summary-only enabled"
    yield f"{family} multipaths ebgp {underlay.most_paths.text()}"


def _refuses(plan: Plan) -> str | None:
    network = layout(plan.cluster)
    if network.switch not in SWITCHES:
        return (
            f"cumulus knows the ports of {', '.join(SWITCHES)}, not those of {network.switch}"
        )
    if underlay_of(plan).most_paths.whole() > MOST_PATHS:
        return f"cumulus takes at most {MOST_PATHS} paths"
    return None


cumulus = Target(
    title="Cumulus Linux: NVUE commands of every switch",
    supports=frozenset({Feature.IP, Feature.PFC, Feature.PLANES, Feature.RACK}),
    needs=frozenset({Feature.IP}),
    refuses=_refuses,
    files=_files,
    proofs={"SWITCH/nvue.commands": Proof.GOLDEN},
)
