"""GPUDirect-TCPXO (FasTrak): Google's offloaded TCP into GPU memory (A3 Mega)."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

tcpxo = Fabric(
    name="tcpxo",
    title="GPUDirect-TCPXO",
    rdma=False,
    gpudirect=True,
    lossless="none: retransmission by the offload",
    congestion_control=("swift", "bbr"),
    default_mtu_bytes=8244,
    mtus_bytes=(4096, 8244),
    header_bytes=sourced(90.0, "rfc", "ieee8023", confidence=2),
    load_balancing={
        "spray": sourced(0.95, "gcp_toolkit", "estimate", low=0.85, high=1.0, confidence=1),
    },
    tuning={
        "tuned": sourced(1.0, "gcp_toolkit"),
        "default": sourced(0.80, "gcp_toolkit", "estimate", low=0.6, high=0.95, confidence=1),
        "misconfigured": sourced(
            0.30, "gcp_toolkit", "estimate", low=0.1, high=0.6, confidence=1
        ),
    },
    end_to_end_s=sourced(25e-6, "gcp_toolkit", low=15e-6, high=60e-6),
    switch_hop_s=sourced(700e-9, "rag_c", low=500e-9, high=1000e-9),
    step_overhead_s=sourced(55e-6, "gcp_toolkit", low=30e-6, high=70e-6),
    sources={
        "rfc": Source(
            key="rfc",
            kind=Kind.PAPER,
            title="RFC 791 and RFC 9293: IPv4 20, TCP 20 bytes and 12 of timestamps",
            url="https://www.rfc-editor.org/rfc/rfc9293",
        ),
        "ieee8023": Source(
            key="ieee8023",
            kind=Kind.PAPER,
            title="IEEE 802.3: preamble 8, header 14, FCS 4, gap 12 bytes",
            url="https://standards.ieee.org/ieee/802.3/",
        ),
        "gcp_toolkit": Source(
            key="gcp_toolkit",
            kind=Kind.MEASURED,
            title=(
                "GoogleCloudPlatform/cluster-toolkit nccl-tests logs of A3 High, A3 Mega, "
                "A3 Ultra"
            ),
            url="https://github.com/GoogleCloudPlatform/cluster-toolkit",
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
