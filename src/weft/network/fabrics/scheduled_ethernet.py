"""Scheduled Ethernet: cells sprayed over the fabric, receivers grant credits (VOQ, DDC)."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

scheduled_ethernet = Fabric(
    name="scheduled_ethernet",
    title="Scheduled Ethernet",
    rdma=True,
    gpudirect=True,
    lossless="receiver credits inside the fabric, PFC at its edge",
    congestion_control=("credits",),
    default_mtu_bytes=4096,
    mtus_bytes=(1024, 2048, 4096),
    header_bytes=sourced(82.0, "roce_annex", "ieee8023", high=98.0, confidence=3),
    load_balancing={
        "scheduled": sourced(0.98, "tolly_225107", "drivenets", low=0.93, high=1.0),
    },
    tuning={
        "tuned": sourced(1.0, "tolly_225107"),
        "default": sourced(0.95, "tolly_225107", "estimate", low=0.85, high=1.0, confidence=1),
        "misconfigured": sourced(0.50, "nccl_2409", low=0.25, high=0.78),
    },
    end_to_end_s=sourced(3.0e-6, "isca25", low=2.0e-6, high=5.0e-6),
    switch_hop_s=sourced(2.8e-6, "switch_survey", low=2.0e-6, high=3.8e-6),
    sources={
        "roce_annex": Source(
            key="roce_annex",
            kind=Kind.PAPER,
            title=(
                "InfiniBand Architecture Specification, annex A17 (RoCEv2) on IEEE 802.3 "
                "framing"
            ),
            url="https://www.infinibandta.org/ibta-specification/",
        ),
        "ieee8023": Source(
            key="ieee8023",
            kind=Kind.PAPER,
            title="IEEE 802.3: preamble 8, header 14, FCS 4, gap 12 bytes",
            url="https://standards.ieee.org/ieee/802.3/",
        ),
        "tolly_225107": Source(
            key="tolly_225107",
            kind=Kind.MEASURED,
            title="Tolly 225107: 64 H20, scheduled fabric against InfiniBand",
            url="https://www.tolly.com/publications",
        ),
        "drivenets": Source(
            key="drivenets",
            kind=Kind.PAPER,
            title="Scala Computing for DriveNets: scheduled fabric against Clos, simulation",
            url="https://drivenets.com/blog/",
        ),
        "nccl_2409": Source(
            key="nccl_2409",
            kind=Kind.MEASURED,
            title="NVIDIA/nccl issue 2409: 16 H100, RoCE, before and after the fix",
            url="https://github.com/NVIDIA/nccl/issues/2409",
            date="2026-09",
        ),
        "isca25": Source(
            key="isca25",
            kind=Kind.PAPER,
            title="DeepSeek-AI, Insights into DeepSeek-V3, ISCA 2025, Table 5",
            url="https://arxiv.org/abs/2505.09343",
            date="2025-05",
        ),
        "switch_survey": Source(
            key="switch_survey",
            kind=Kind.PRESS,
            title="Switch latency by chip",
        ),
        "nccl": Source(
            key="nccl",
            kind=Kind.CODE,
            title="NCCL 2.30.7 src/graph/tuning.cc",
            url="https://github.com/NVIDIA/nccl",
            date="2026-06-11",
        ),
        "estimate": Source(
            key="estimate",
            kind=Kind.ESTIMATE,
            title="Judgement where no measurement is published; the range says how wide",
        ),
    },
)
