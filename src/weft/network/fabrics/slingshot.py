"""Slingshot 11: HPE Ethernet, adaptive routing per packet, dragonfly (libfabric cxi)."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

slingshot = Fabric(
    name="slingshot",
    title="Slingshot 11",
    rdma=True,
    gpudirect=True,
    lossless="credits and link-level retry",
    congestion_control=("slingshot",),
    default_mtu_bytes=9000,
    mtus_bytes=(2048, 9000),
    header_bytes=sourced(90.0, "slingshot", "ieee8023", low=60.0, high=120.0),
    load_balancing={
        "adaptive": sourced(0.93, "slingshot", "sc24_gpu2gpu", low=0.80, high=1.0),
    },
    tuning={
        "tuned": sourced(1.0, "cscs"),
        "default": sourced(0.85, "cscs", "estimate", low=0.6, high=1.0, confidence=1),
        "misconfigured": sourced(0.06, "cscs", low=0.05, high=0.5),
    },
    end_to_end_s=sourced(2.0e-6, "slingshot", low=1.5e-6, high=3.5e-6),
    switch_hop_s=sourced(350e-9, "slingshot", low=300e-9, high=400e-9),
    sources={
        "slingshot": Source(
            key="slingshot",
            kind=Kind.PAPER,
            title=(
                "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect, SC 2020"
            ),
            url="https://arxiv.org/abs/2008.08886",
            date="2020-08",
        ),
        "ieee8023": Source(
            key="ieee8023",
            kind=Kind.PAPER,
            title="IEEE 802.3: preamble 8, header 14, FCS 4, gap 12 bytes",
            url="https://standards.ieee.org/ieee/802.3/",
        ),
        "sc24_gpu2gpu": Source(
            key="sc24_gpu2gpu",
            kind=Kind.PAPER,
            title="De Sensi et al., Exploring GPU-to-GPU Communication, SC 2024",
            url="https://doi.org/10.1109/SC41406.2024.00039",
            date="2024-11",
        ),
        "cscs": Source(
            key="cscs",
            kind=Kind.MEASURED,
            title="CSCS Alps: nccl-tests on GH200, Slingshot 11 and plain sockets",
            url="https://docs.cscs.ch",
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
