"""Cisco NX-OS on Nexus 9000: MQC policies, PFC and its watchdog, BGP over link-local.

Queues are those of the eight-queue default templates (c-out-8q-*).
"""

from collections.abc import Iterator
from typing import Final

from weft.generate.lossless import Labels, Marking, Pause
from weft.generate.plan import Feature, Plan
from weft.generate.planned import Planned
from weft.generate.router import PREFIX, Cages, HostLink, Router, cages, routers, underlay_of
from weft.generate.target import Files, Proof, Target
from weft.generate.tuned import unset
from weft.network.network import layout

PEERS: Final = "FABRIC"
OWN: Final = "OWN"
QUEUES: Final = 8
STRICT: Final = 7
"""Group and queue of CNPs: NX-OS serves queue 7 at priority level 1. A group is known inside
the switch alone, so the NIC's priority of CNPs may be another.
[Cisco Nexus 9000 NX-OS QoS guide]"""
MOST_PATHS: Final = 64
MOST_CABLE_M: Final = 100
"""Longer cables want thresholds of pause by hand, and no source has them.
[Cisco Nexus 9000 NX-OS QoS guide]"""
SWITCHES: Final = ("cisco_n9364d_gx2a", "cisco_n9364e_sg2")


def _files(plan: Plan) -> Files:
    held = cages(plan)
    for router in routers(plan):
        yield f"{router.name}/nxos.conf", "\n".join(_conf(plan, router, held)) + "\n"


def _name(held: Cages, number: int) -> str:
    cage, place = held.place(number)
    own = f"Ethernet1/{cage + 1}"
    return own if held.split == 1 else f"{own}/{place + 1}"


def _conf(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    yield f"! configuration of {router.name} of {plan.names.cluster.text()}, by weft"
    yield "! written from Cisco's documents and not read by NX-OS yet: try it on one switch"
    if plan.pause is not None:
        yield f"! Headroom is the switch's own here. Planned for {plan.pause.cable_m.text()} m"
        yield f"! of cable: {plan.pause.headroom_bytes.text()} B a port; compare."
        yield from (f"! {line}" for line in unset(plan.pause))
    yield from (f"hostname {router.name}", "feature bgp")
    if held.split > 1:
        rate = int(plan.link.rate_gbit_per_s.number())
        mapped = f"map {rate}g-{held.split}x"
        yield f"interface breakout module 1 port 1-{held.count} {mapped}"
    assert plan.link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of switches"
    if plan.labels is not None and plan.pause is not None and plan.marking is not None:
        yield from _classes(plan.labels)
        yield from _lossless(plan.labels, plan.link.switch_mtu_bytes)
        yield from _queues(plan.labels, plan.marking)
        yield from ("system qos", "  service-policy type network-qos AI-NETWORK",
                    "  service-policy type queuing output AI-OUT")  # fmt: skip
        yield from _watchdog(plan.pause)
    yield from _filters(plan)
    yield from _ports(plan, router, held)
    yield from _bgp(plan, router, held)


def _classes(labels: Labels) -> Iterator[str]:
    yield from ("class-map type qos match-all AI-RDMA", f"  match dscp {labels.dscp.text()}")
    yield from ("class-map type qos match-all AI-CNP", f"  match dscp {labels.cnp_dscp.text()}")
    yield "policy-map type qos AI-IN"
    yield from ("  class AI-RDMA", f"    set qos-group {labels.priority.text()}")
    yield from ("  class AI-CNP", f"    set qos-group {STRICT}")
    yield from ("  class class-default", "    set qos-group 0")


def _lossless(labels: Labels, mtu: Planned) -> Iterator[str]:
    lossless = labels.priority.text()
    yield "policy-map type network-qos AI-NETWORK"
    yield from (f"  class type network-qos c-8q-nq{lossless}", f"    mtu {mtu.text()}",
                f"    pause pfc-cos {lossless}")  # fmt: skip
    for name in (f"c-8q-nq{STRICT}", "c-8q-nq-default"):
        yield from (f"  class type network-qos {name}", f"    mtu {mtu.text()}")


def _queues(labels: Labels, marking: Marking) -> Iterator[str]:
    """Yield every queue: what is left is shared out among all that are named."""
    lossless, weight = labels.priority.whole(), labels.rdma_weight.whole()
    yield from ("policy-map type queuing AI-OUT",
                f"  class type queuing c-out-8q-q{STRICT}", "    priority level 1")  # fmt: skip
    for queue in range(STRICT - 1, 0, -1):
        share = weight if queue == lossless else 0
        yield from (f"  class type queuing c-out-8q-q{queue}",
                    f"    bandwidth remaining percent {share}")  # fmt: skip
        if queue == lossless:
            yield (
                f"    random-detect minimum-threshold {marking.kmin_bytes.text()} bytes "
                f"maximum-threshold {marking.kmax_bytes.text()} bytes drop-probability "
                f"{round(marking.pmax_ratio.number() * 100)} weight 0 ecn"
            )
    yield from ("  class type queuing c-out-8q-q-default",
                f"    bandwidth remaining percent {100 - weight}")  # fmt: skip


def _watchdog(pause: Pause) -> Iterator[str]:
    poll, polls = pause.watchdog_short_poll_ms.text(), pause.watchdog_polls.text()
    yield from ("priority-flow-control watch-dog-interval on",
                f"priority-flow-control watch-dog interval {poll}",
                f"priority-flow-control watch-dog shutdown-multiplier {polls}",
                f"priority-flow-control fixed-restore multiplier {polls}")  # fmt: skip


def _filters(plan: Plan) -> Iterator[str]:
    """Yield what may be announced: the fabric's own addresses, so not the management port."""
    underlay = underlay_of(plan)
    yield f"ip prefix-list {OWN} seq 5 permit {underlay.loopbacks.text()} ge 32"
    yield f"ip prefix-list {OWN} seq 10 permit {underlay.pool.text()} ge {PREFIX}"
    yield from (f"route-map {OWN} permit 10", f"  match ip address prefix-list {OWN}")


def _ports(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    for port in router.switch.ports:
        link = next((one for one in router.hosts if one.port is port), None)
        far = _name(held, port.peer_port) if link is None else link.device
        yield f"interface {_name(held, port.number)}"
        yield f"  description {port.peer} {far}"
        yield from _port(plan, link)
    yield from ("interface loopback0", f"  ip address {router.loopback}/32")


def _port(plan: Plan, link: HostLink | None) -> Iterator[str]:
    assert plan.link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of switches"
    yield from ("  no switchport", f"  mtu {plan.link.switch_mtu_bytes.text()}")
    if plan.labels is not None:
        yield from ("  priority-flow-control mode on",
                    "  priority-flow-control watch-dog-interval on",
                    "  service-policy type qos input AI-IN")  # fmt: skip
    if link is None:
        # Routes of IPv4 over a link without an address of it.
        yield from ("  ip forward", "  ipv6 address use-link-local-only")
    else:
        yield f"  ip address {link.address}/{PREFIX}"
    yield "  no shutdown"


def _bgp(plan: Plan, router: Router, held: Cages) -> Iterator[str]:
    underlay = underlay_of(plan)
    yield from (f"router bgp {router.asn}", f"  router-id {router.loopback}",
                "  bestpath as-path multipath-relax", "  address-family ipv4 unicast",
                f"    redistribute direct route-map {OWN}")  # fmt: skip
    if router.block is not None:
        yield f"    aggregate-address {router.block} summary-only"
    yield f"    maximum-paths {underlay.most_paths.text()}"
    if router.fabric:
        timers = f"{underlay.keepalive_s.text()} {underlay.hold_s.text()}"
        yield from (f"  template peer {PEERS}", f"    timers {timers}",
                    "    address-family ipv4 unicast")  # fmt: skip
    for one in router.fabric:
        yield from (f"  neighbor {_name(held, one.port.number)}",
                    f"    inherit peer {PEERS}", f"    remote-as {one.peer_asn}")  # fmt: skip


def _refuses(plan: Plan) -> str | None:
    network = layout(plan.cluster)
    if network.switch not in SWITCHES:
        return f"nxos knows the ports of {', '.join(SWITCHES)}, not those of {network.switch}"
    if underlay_of(plan).most_paths.whole() > MOST_PATHS:
        return f"nxos takes at most {MOST_PATHS} paths"
    if plan.pause is not None and plan.pause.cable_m.number() > MOST_CABLE_M:
        return (
            f"nxos needs thresholds of pause by hand for cables above {MOST_CABLE_M} m, and "
            "Cisco publishes none; set topology.cable_m to 40 or less"
        )
    return None


nxos = Target(
    title="Cisco NX-OS: configuration of every switch",
    supports=frozenset({Feature.IP, Feature.PFC, Feature.PLANES, Feature.RACK}),
    needs=frozenset({Feature.IP}),
    refuses=_refuses,
    files=_files,
    proofs={"SWITCH/nxos.conf": Proof.GOLDEN},
)
