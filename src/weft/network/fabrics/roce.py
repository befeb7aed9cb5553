"""RoCEv2: RDMA over routed Ethernet; PFC and DCQCN, ECMP or adaptive routing."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

roce = Fabric(
    name="roce",
    title="RoCEv2",
    rdma=True,
    gpudirect=True,
    lossless="PFC",
    congestion_control=("dcqcn", "none"),
    default_mtu_bytes=4096,
    mtus_bytes=(256, 512, 1024, 2048, 4096),
    header_bytes=sourced(82.0, "roce_annex", "ieee8023", high=98.0, confidence=3),
    load_balancing={
        "ecmp": sourced(
            0.85, "tolly_225112", "meta_sigcomm24", "asterfusion", low=0.60, high=0.92
        ),
        "adaptive": sourced(0.95, "asterfusion", "spx_multiplane", low=0.90, high=1.0),
        "planned": sourced(0.97, "tolly_225112", "meta_sigcomm24", low=0.90, high=1.0),
    },
    tuning={
        "tuned": sourced(1.0, "nccl_2409"),
        "default": sourced(0.78, "nccl_2409", "meta_sigcomm24", low=0.60, high=0.95),
        "misconfigured": sourced(0.47, "nccl_2409", low=0.20, high=0.78),
    },
    end_to_end_s=sourced(3.0e-6, "isca25", low=2.0e-6, high=5.0e-6),
    switch_hop_s=sourced(700e-9, "rag_c", low=500e-9, high=1000e-9),
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
        "tolly_225112": Source(
            key="tolly_225112",
            kind=Kind.MEASURED,
            title="Tolly 225112: 64 H20, 8x400G, RoCE planned paths, ECMP and InfiniBand",
            url="https://www.tolly.com/publications",
        ),
        "meta_sigcomm24": Source(
            key="meta_sigcomm24",
            kind=Kind.PAPER,
            title=(
                "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta "
                "Scale, SIGCOMM 2024"
            ),
            url="https://doi.org/10.1145/3651890.3672233",
            date="2024-08",
        ),
        "asterfusion": Source(
            key="asterfusion",
            kind=Kind.MEASURED,
            title="Asterfusion CX864E-N test report: ECMP 84.5 %, INT-based routing 97 %",
            url="https://cloudswit.ch/?p=21382",
        ),
        "spx_multiplane": Source(
            key="spx_multiplane",
            kind=Kind.PAPER,
            title="Spectrum-X multiplane, arXiv:2605.21187: 98 % of line rate",
            url="https://arxiv.org/abs/2605.21187",
            date="2026-05",
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
    },
)
