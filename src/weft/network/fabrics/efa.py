"""EFA: AWS's Scalable Reliable Datagram, sprayed over the network by the NIC."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

efa = Fabric(
    name="efa",
    title="EFA (SRD)",
    rdma=True,
    gpudirect=True,
    lossless="none: SRD retransmits",
    congestion_control=("srd",),
    default_mtu_bytes=8928,
    mtus_bytes=(4096, 8928),
    header_bytes=sourced(100.0, "ieee8023", "estimate", low=82.0, high=140.0, confidence=1),
    load_balancing={
        "spray": sourced(0.97, "aws_tests", low=0.90, high=1.0),
    },
    tuning={
        "tuned": sourced(1.0, "aws_tests"),
        "default": sourced(0.80, "aws_tests", low=0.68, high=0.95),
        "misconfigured": sourced(
            0.40, "aws_tests", "estimate", low=0.2, high=0.7, confidence=1
        ),
    },
    end_to_end_s=sourced(20e-6, "ofi_nccl", low=15e-6, high=35e-6),
    switch_hop_s=sourced(700e-9, "rag_c", low=500e-9, high=1000e-9),
    step_overhead_s=sourced(20e-6, "ofi_nccl", low=15e-6, high=75e-6),
    plugin_latency_s=75e-6,
    sources={
        "ieee8023": Source(
            key="ieee8023",
            kind=Kind.PAPER,
            title="IEEE 802.3: preamble 8, header 14, FCS 4, gap 12 bytes",
            url="https://standards.ieee.org/ieee/802.3/",
        ),
        "aws_tests": Source(
            key="aws_tests",
            kind=Kind.MEASURED,
            title="awsome-distributed-training micro-benchmarks/nccl-tests",
            url="https://github.com/aws-samples/awsome-distributed-training",
        ),
        "ofi_nccl": Source(
            key="ofi_nccl",
            kind=Kind.CODE,
            title="aws-ofi-nccl src/platform-aws.cpp @2daf7d303aa1",
            url="https://github.com/aws/aws-ofi-nccl",
            date="2026-08-21",
        ),
        "rag_c": Source(
            key="rag_c",
            kind=Kind.DATASHEET,
            title="Tomahawk 5 switch latency 560 to 1000 ns",
        ),
        "estimate": Source(
            key="estimate",
            kind=Kind.ESTIMATE,
            title="Judgement where no measurement is published; the range says how wide",
        ),
    },
)
