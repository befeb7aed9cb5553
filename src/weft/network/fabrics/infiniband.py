"""InfiniBand: credits on every link, adaptive routing in the switches, SHARP in the network."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

infiniband = Fabric(
    name="infiniband",
    title="InfiniBand",
    rdma=True,
    gpudirect=True,
    lossless="credits",
    congestion_control=("fecn_becn", "none"),
    default_mtu_bytes=4096,
    mtus_bytes=(256, 512, 1024, 2048, 4096),
    header_bytes=sourced(26.0, "ibta", high=42.0, confidence=3),
    load_balancing={
        "adaptive": sourced(0.97, "tolly_225112", "sc24_gpu2gpu", low=0.90, high=1.0),
        "static": sourced(0.85, "tolly_225112", "estimate", low=0.60, high=0.95, confidence=1),
    },
    tuning={
        "tuned": sourced(1.0, "nccl_tests_309"),
        "default": sourced(0.93, "nccl_tests_309", low=0.80, high=1.0),
        "misconfigured": sourced(0.50, "nccl_2409", low=0.25, high=0.78),
    },
    end_to_end_s=sourced(1.5e-6, "isca25", low=1.0e-6, high=2.5e-6),
    switch_hop_s=sourced(130e-9, "public_brief_qm8790", low=100e-9, high=330e-9),
    in_network_reduction=True,
    sources={
        "ibta": Source(
            key="ibta",
            kind=Kind.PAPER,
            title=(
                "InfiniBand Architecture Specification, volume 1: LRH 8, BTH 12, ICRC 4, "
                "VCRC 2, RETH 16 bytes"
            ),
            url="https://www.infinibandta.org/ibta-specification/",
        ),
        "tolly_225112": Source(
            key="tolly_225112",
            kind=Kind.MEASURED,
            title="Tolly 225112: 64 H20, 8x400G, RoCE planned paths, ECMP and InfiniBand",
            url="https://www.tolly.com/publications",
        ),
        "sc24_gpu2gpu": Source(
            key="sc24_gpu2gpu",
            kind=Kind.PAPER,
            title="De Sensi et al., Exploring GPU-to-GPU Communication, SC 2024",
            url="https://doi.org/10.1109/SC41406.2024.00039",
            date="2024-11",
        ),
        "nccl_tests_309": Source(
            key="nccl_tests_309",
            kind=Kind.MEASURED,
            title="NVIDIA/nccl-tests issue 309: H100 NDR clusters",
            url="https://github.com/NVIDIA/nccl-tests/issues/309",
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
        "public_brief_qm8790": Source(
            key="public_brief_qm8790",
            kind=Kind.DATASHEET,
            title="Quantum QM8790 product brief: 130 ns port to port",
            url="https://network.nvidia.com/files/doc-2020/br-qm8790.pdf",
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
