"""GPUDirect-TCPX: Google's TCP that lands payload in GPU memory (A3 High)."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

tcpx = Fabric(
    name="tcpx",
    title="GPUDirect-TCPX",
    rdma=False,
    gpudirect=True,
    lossless="none: TCP retransmits",
    congestion_control=("cubic", "bbr"),
    default_mtu_bytes=8244,
    mtus_bytes=(1460, 8244),
    header_bytes=sourced(90.0, "rfc", "ieee8023", confidence=3),
    load_balancing={
        "ecmp": sourced(0.90, "gcp_toolkit", "estimate", low=0.6, high=0.98, confidence=1),
    },
    tuning={
        "tuned": sourced(1.0, "gcp_toolkit"),
        "default": sourced(0.70, "gcp_toolkit", low=0.5, high=0.9),
        "misconfigured": sourced(
            0.30, "gcp_toolkit", "estimate", low=0.1, high=0.6, confidence=1
        ),
    },
    end_to_end_s=sourced(45e-6, "gcp_toolkit", low=25e-6, high=85e-6),
    switch_hop_s=sourced(700e-9, "rag_c", low=500e-9, high=1000e-9),
    step_overhead_s=sourced(150e-6, "gcp_toolkit", low=50e-6, high=900e-6, confidence=1),
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
