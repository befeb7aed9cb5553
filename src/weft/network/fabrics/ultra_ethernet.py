"""Ultra Ethernet: packets sprayed, delivered out of order, NSCC, trimming, no PFC needed."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

ultra_ethernet = Fabric(
    name="ultra_ethernet",
    title="Ultra Ethernet",
    rdma=True,
    gpudirect=True,
    lossless="trimming and selective retransmission; link retry and credits optional",
    congestion_control=("nscc", "rccc"),
    default_mtu_bytes=4096,
    mtus_bytes=(1500, 2048, 4096, 8192),
    header_bytes=sourced(94.0, "uec", "ieee8023", low=78.0, high=110.0),
    load_balancing={
        "spray": sourced(0.96, "mrc", "spx_multiplane", low=0.90, high=1.0),
        "ecmp": sourced(0.85, "tolly_225112", low=0.60, high=0.92),
    },
    tuning={
        "tuned": sourced(1.0, "mrc"),
        "default": sourced(0.95, "uec", "estimate", low=0.85, high=1.0, confidence=1),
        "misconfigured": sourced(0.55, "nccl_2409", low=0.25, high=0.80, confidence=1),
    },
    end_to_end_s=sourced(3.0e-6, "mrc", low=2.0e-6, high=5.1e-6),
    switch_hop_s=sourced(700e-9, "rag_c", low=500e-9, high=1000e-9),
    sources={
        "uec": Source(
            key="uec",
            kind=Kind.PAPER,
            title="Ultra Ethernet Specification 1.0",
            url="https://ultraethernet.org/",
            date="2025-06-11",
        ),
        "ieee8023": Source(
            key="ieee8023",
            kind=Kind.PAPER,
            title="IEEE 802.3: preamble 8, header 14, FCS 4, gap 12 bytes",
            url="https://standards.ieee.org/ieee/802.3/",
        ),
        "mrc": Source(
            key="mrc",
            kind=Kind.PAPER,
            title=(
                "Araujo et al., MRC, arXiv:2605.04333: packet spraying on multi-plane Ethernet"
            ),
            url="https://arxiv.org/abs/2605.04333",
            date="2026-05",
        ),
        "spx_multiplane": Source(
            key="spx_multiplane",
            kind=Kind.PAPER,
            title="Spectrum-X multiplane, arXiv:2605.21187: 98 % of line rate",
            url="https://arxiv.org/abs/2605.21187",
            date="2026-05",
        ),
        "tolly_225112": Source(
            key="tolly_225112",
            kind=Kind.MEASURED,
            title="Tolly 225112: 64 H20, 8x400G, RoCE planned paths, ECMP and InfiniBand",
            url="https://www.tolly.com/publications",
        ),
        "nccl_2409": Source(
            key="nccl_2409",
            kind=Kind.MEASURED,
            title="NVIDIA/nccl issue 2409: 16 H100, RoCE, before and after the fix",
            url="https://github.com/NVIDIA/nccl/issues/2409",
            date="2026-09",
        ),
        "rag_c": Source(
            key="rag_c",
            kind=Kind.DATASHEET,
            title="Tomahawk 5 switch latency 560 to 1000 ns",
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
