"""Cisco NX-OS on Nexus 9000: MQC policies, PFC and its watchdog, BGP over link-local.

Queues are those of the eight-queue default templates (c-out-8q-*).
"""

from dataclasses import dataclass, replace
from typing import Final

from weft.errors import Infeasible
from weft.generate.lossless import KMAX_OVER_KMIN_AT_LEAST, SWITCH_MTU_BYTES
from weft.generate.plan import Plan
from weft.generate.switch_text import Lossless, lossless_of, switch_files, vendor_refusal
from weft.generate.target import Files, declared
from weft.network.headroom import KIB
from weft.network.network import layout

STRICT: Final = 7
"""Group and queue of CNPs: NX-OS serves queue 7 at priority level 1. A group is known inside
the switch alone, so the NIC's priority of CNPs may be another.
[Cisco Nexus 9000 NX-OS QoS guide]"""
MOST_PATHS: Final = 64
MOST_CABLE_M: Final = 100
"""NX-OS sizes headroom for cables to here; longer ones need thresholds of pause by hand.
[Cisco Nexus 9000 NX-OS QoS guide]"""
SWITCHES: Final = ("cisco_n9364d_gx2a", "cisco_n9364e_sg2")


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseBuffer:
    """Ingress buffer of one port's lossless queue, set by hand for long cables."""

    size_bytes: int
    pause_bytes: int
    resume_bytes: int


def _sized(plan: Plan) -> tuple[Lossless | None, PauseBuffer | None]:
    """Return PFC and ECN, and the ingress buffer of a port where NX-OS does not size it.

    A port has its part of RDMA's share of the buffer. Its top is the planned headroom; below
    it the port pauses, at most a frame above Kmax, and goes on two frames lower. Kmax is
    lowered where it would not fit. Cisco publishes no figures of its own.
    """
    lossless, network = lossless_of(plan, "nxos"), layout(plan.cluster)
    if lossless is None or lossless.pause.cable_m.number() <= MOST_CABLE_M:
        return lossless, None
    assert plan.labels is not None, "a lossless plan has labels"
    whole = network.site.switch.buffer_bytes
    if whole is None:
        raise Infeasible(
            f"nxos needs the buffer of {network.switch} for cables above {MOST_CABLE_M} m"
        )
    headroom = lossless.pause.headroom_bytes.whole()
    share = int(whole.value * plan.labels.rdma_weight.whole() / 100 / network.radix)
    asked = lossless.marking.kmax_bytes
    stop = min(asked.whole() + SWITCH_MTU_BYTES, share - headroom)
    kmax = (stop - SWITCH_MTU_BYTES) // KIB * KIB
    if kmax < KMAX_OVER_KMIN_AT_LEAST * lossless.marking.kmin_bytes.whole():
        raise Infeasible(
            f"nxos: {headroom} B of headroom leave {stop} B of the {share} B that each of "
            f"{network.radix} ports of {network.switch} has; shorten topology.cable_m"
        )
    marks = replace(lossless.marking, kmax_bytes=replace(asked, value=min(kmax, asked.whole())))
    buffer = PauseBuffer(
        size_bytes=stop + headroom, pause_bytes=stop,
        resume_bytes=stop - 2 * SWITCH_MTU_BYTES,
    )  # fmt: skip
    return replace(lossless, marking=marks), buffer


def _claim(lossless: Lossless, buffer: PauseBuffer | None) -> str:
    if buffer is None:
        return lossless.claim
    return (
        f"ECN is certain at {lossless.marking.kmax_bytes.text()} B, PFC pauses at "
        f"{buffer.pause_bytes} B: a fixed buffer of {buffer.size_bytes} B a port."
    )


def _files(plan: Plan) -> Files:
    lossless, buffer = _sized(plan)
    return switch_files(
        plan, "nxos", "nxos.conf", _port, vrf="management", lossless=lossless, strict=STRICT,
        buffer=buffer, claim=_claim(lossless, buffer) if lossless else "",
    )  # fmt: skip


def _port(cage: int, place: int, split: int) -> str:
    return f"Ethernet1/{cage + 1}" + (f"/{place + 1}" if split > 1 else "")


def _refuses(plan: Plan) -> str | None:
    refusal = vendor_refusal(plan, "nxos", SWITCHES, most_paths=MOST_PATHS)
    if refusal is None:
        try:
            _sized(plan)
        except Infeasible as failure:
            return str(failure)
    return refusal


nxos = declared("nxos", files=_files, refuses=_refuses)
