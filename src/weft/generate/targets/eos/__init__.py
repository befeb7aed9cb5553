"""Arista EOS: QoS profile, PFC and its watchdog, ECN, ports, BGP over link-local addresses."""

from collections.abc import Iterator, Mapping
from typing import Final

from weft import units
from weft.generate.lossless import Labels, Marking, Pause
from weft.generate.plan import Feature, Plan
from weft.generate.router import (
    PREFIX,
    Cages,
    FabricLink,
    HostLink,
    Router,
    cages,
    routers,
    underlay_of,
)
from weft.generate.target import Files, Proof, Target
from weft.generate.tuned import unset
from weft.network.network import layout

GROUP: Final = "FABRIC"
OWN: Final = "OWN"
PROFILE: Final = "AI"
DSCPS: Final = 64
OTHER: Final = 0
"""Class and queue of all other traffic."""
LANES: Final = 8
"""Of every cage of the switches below; a port is named by the first of its own."""
LANE_GBIT: Final[Mapping[str, int]] = {
    "arista_7060cx5_32p": 50, "arista_7060dx5_64s": 50,
    "arista_7060x6_32pe": 100, "arista_7060x6_64pe": 100,
}  # fmt: skip
"""Rate of a lane by switch of fixed form: Tomahawk 4 has 50G, Tomahawk 5 100G."""


def _files(plan: Plan) -> Files:
    held = cages(plan)
    for router in routers(plan):
        yield f"{router.name}/eos.conf", "\n".join(_conf(plan, router, held)) + "\n"


def _name(held: Cages, number: int) -> str:
    cage, place = held.place(number)
    return f"Ethernet{cage + 1}/{place * LANES // held.split + 1}"


def _conf(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    yield f"! configuration of {router.name} of {plan.names.cluster.text()}, by weft"
    yield from _unsaid(plan.pause)
    yield from ("!", "service routing protocols model multi-agent",
                "!", f"hostname {router.name}")  # fmt: skip
    if plan.labels is not None and plan.marking is not None and plan.pause is not None:
        yield from _profile(plan.labels, plan.marking, plan.pause)
    yield from _ports(plan, router, held)
    yield from ("!", "ip routing ipv6 interfaces", "!", "ipv6 unicast-routing")
    if plan.labels is not None:
        yield from _maps(plan.labels)
    yield from _filters(plan)
    yield from _bgp(plan, router, held)
    yield from ("!", "end")


def _unsaid(pause: Pause | None) -> Iterator[str]:
    """Say what the switch decides by itself, and with which numbers to compare it."""
    if pause is not None:
        yield f"! Headroom is the switch's own here. Planned for {pause.cable_m.text()} m of"
        yield f"! cable: {pause.headroom_bytes.text()} B a port; compare before you trust it."
        yield from (f"! {line}" for line in unset(pause))


def _profile(labels: Labels, marking: Marking, pause: Pause) -> Iterator[str]:
    lossless, weight = labels.priority.text(), labels.rdma_weight.whole()
    kmin, kmax = marking.kmin_bytes.text(), marking.kmax_bytes.text()
    percent = round(marking.pmax_ratio.number() * 100)
    yield from ("!", f"qos profile {PROFILE}", "   qos trust dscp")
    yield from ("   !", f"   uc-tx-queue {OTHER}", f"      bandwidth percent {100 - weight}",
                "      no priority")  # fmt: skip
    yield from ("   !", f"   uc-tx-queue {lossless}", f"      bandwidth percent {weight}",
                "      no priority")  # fmt: skip
    yield (
        f"      random-detect ecn minimum-threshold {kmin} bytes maximum-threshold {kmax} "
        f"bytes max-mark-probability {percent} weight 0"
    )
    yield from ("   !", f"   uc-tx-queue {labels.cnp_priority.text()}",
                "      priority strict")  # fmt: skip
    yield from ("   !", "   priority-flow-control on",
                f"   priority-flow-control priority {lossless} no-drop")  # fmt: skip
    yield from _watchdog(pause)


def _ports(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    for port in router.switch.ports:
        link = next((one for one in router.hosts if one.port is port), None)
        yield from ("!", f"interface {_name(held, port.number)}")
        far = _name(held, port.peer_port) if link is None else link.device
        yield f"   description {port.peer} {far}"
        yield from _port(plan, link)
    yield from ("!", "interface Loopback0", f"   ip address {router.loopback}/32")


def _port(plan: Plan, link: HostLink | None) -> Iterator[str]:
    assert plan.link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of switches"
    yield f"   mtu {plan.link.switch_mtu_bytes.text()}"
    yield f"   speed {_speed(plan)}"
    yield from ("   error-correction encoding reed-solomon", "   no switchport")
    yield "   ipv6 enable" if link is None else f"   ip address {link.address}/{PREFIX}"
    if plan.labels is not None:
        yield f"   service-profile {PROFILE}"


def _speed(plan: Plan) -> str:
    """Return rate and lanes of a port, as 400g-4."""
    rate = int(plan.link.rate_gbit_per_s.number())
    return f"{rate}g-{rate // LANE_GBIT[layout(plan.cluster).switch]}"


def _maps(labels: Labels) -> Iterator[str]:
    """Map labels to classes and classes to queues of the same number.

    All of it is said: by default, EOS puts DSCP 24 to 31 into class 3, what is unmarked into
    class 1, and classes 0 and 1 into each other's queue.
    """
    pairs = ((labels.dscp, labels.priority), (labels.cnp_dscp, labels.cnp_priority))
    own = {dscp.whole() for dscp, _ in pairs}
    others = " ".join(str(dscp) for dscp in range(DSCPS) if dscp not in own)
    yield from ("!", f"qos map dscp {others} to traffic-class {OTHER}")
    for dscp, priority in pairs:
        yield f"qos map dscp {dscp.text()} to traffic-class {priority.text()}"
    for queue in (OTHER, *(priority.whole() for _, priority in pairs)):
        yield f"qos map traffic-class {queue} to tx-queue {queue}"


def _watchdog(pause: Pause) -> Iterator[str]:
    watchdog = "   priority-flow-control pause watchdog"
    seconds = [
        f"{one.whole() / 1000:.{digits}f}"
        for one, digits in (
            (pause.watchdog_detection_ms, 2),
            (pause.watchdog_short_poll_ms, 3),
            (pause.watchdog_restoration_ms, 2),
        )
    ]
    yield from (watchdog, f"{watchdog} port action {pause.watchdog_action.text()}")
    yield (
        f"{watchdog} port timer timeout {seconds[0]} polling-interval {seconds[1]} "
        f"recovery-time {seconds[2]}"
    )


def _filters(plan: Plan) -> Iterator[str]:
    """Yield what may be announced: the fabric's own addresses, so not the management port."""
    underlay = underlay_of(plan)
    yield from ("!", f"ip prefix-list {OWN}",
                f"   seq 5 permit {underlay.loopbacks.text()} ge 32",
                f"   seq 10 permit {underlay.pool.text()} ge {PREFIX}")  # fmt: skip
    yield from ("!", f"route-map {OWN} permit 10", f"   match ip address prefix-list {OWN}")


def _bgp(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    underlay = underlay_of(plan)
    paths = underlay.most_paths.text()
    yield from ("!", f"router bgp {router.asn}", f"   router-id {router.loopback}",
                f"   maximum-paths {paths} ecmp {paths}",
                "   no bgp default ipv4-unicast")  # fmt: skip
    if router.fabric:
        timers = f"{underlay.keepalive_s.text()} {underlay.hold_s.text()}"
        yield from (f"   neighbor {GROUP} peer group", f"   neighbor {GROUP} timers {timers}")
    for one in router.fabric:
        yield _neighbour(one, held)
    if router.block is not None:
        yield f"   aggregate-address {router.block} summary-only"
    yield f"   redistribute connected route-map {OWN}"
    if router.fabric:
        yield from ("   !", "   address-family ipv4",
                    f"      neighbor {GROUP} next-hop address-family ipv6 originate",
                    f"      neighbor {GROUP} activate")  # fmt: skip


def _neighbour(one: FabricLink, held: Cages) -> str:
    port = _name(held, one.port.number)
    return f"   neighbor interface {port} peer-group {GROUP} remote-as {one.peer_asn}"


def _refuses(plan: Plan) -> str | None:
    switch = layout(plan.cluster).switch
    if switch not in LANE_GBIT:
        return f"eos knows the ports of {', '.join(LANE_GBIT)}, not those of {switch}"
    if LANES % cages(plan).split:
        rate = units.show_rate(layout(plan.cluster).link_bytes_per_s)
        return f"eos cannot split the cages of {switch} into ports of {rate}"
    return None


eos = Target(
    title="Arista EOS: configuration of every switch",
    supports=frozenset({Feature.IP, Feature.PFC, Feature.PLANES, Feature.RACK}),
    needs=frozenset({Feature.IP}),
    refuses=_refuses,
    files=_files,
    proofs={"SWITCH/eos.conf": Proof.SCHEMA},
)
