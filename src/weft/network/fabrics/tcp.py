"""TCP: kernel sockets; every byte is copied by a core at each end, through host memory."""

from weft.network.fabric import Fabric
from weft.sources import Kind, Source, sourced

tcp = Fabric(
    name="tcp",
    title="TCP sockets",
    rdma=False,
    gpudirect=False,
    lossless="none: TCP retransmits",
    congestion_control=("cubic", "dctcp", "bbr"),
    default_mtu_bytes=9000,
    mtus_bytes=(1500, 9000),
    header_bytes=sourced(90.0, "rfc", "ieee8023", confidence=3),
    load_balancing={
        "ecmp": sourced(0.90, "tolly_225112", "estimate", low=0.60, high=0.98, confidence=1),
    },
    tuning={
        "tuned": sourced(1.0, "p3dn"),
        "default": sourced(0.65, "p3dn", low=0.4, high=0.9),
        "misconfigured": sourced(0.25, "p3dn", low=0.15, high=0.5),
    },
    end_to_end_s=sourced(45e-6, "azure_aks_rdma", low=25e-6, high=85e-6),
    switch_hop_s=sourced(700e-9, "rag_c", low=500e-9, high=1000e-9),
    step_overhead_s=sourced(12e-6, "cscs", "schmaustech", low=0.0, high=45e-6),
    socket_bytes_per_s=sourced(4.6e9, "schmaustech", "p3dn", low=1.5e9, high=7.0e9),
    host_socket_bytes_per_s=sourced(
        20e9, "estimate", "schmaustech", low=8e9, high=30e9, confidence=1
    ),
    packet_cost_bytes=sourced(
        2000.0, "p3dn", "estimate", low=1000.0, high=4000.0, confidence=1
    ),
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
        "tolly_225112": Source(
            key="tolly_225112",
            kind=Kind.MEASURED,
            title="Tolly 225112: 64 H20, 8x400G, RoCE planned paths, ECMP and InfiniBand",
            url="https://www.tolly.com/publications",
        ),
        "p3dn": Source(
            key="p3dn",
            kind=Kind.MEASURED,
            title="NCCL over TCP on p3dn (100G ENA), NVIDIA/nccl issue threads",
            url="https://github.com/NVIDIA/nccl/issues",
        ),
        "azure_aks_rdma": Source(
            key="azure_aks_rdma",
            kind=Kind.MEASURED,
            title=(
                "Azure/aks-rdma-infiniband expected outputs (sockperf, nccl-tests over IPoIB)"
            ),
            url="https://github.com/Azure/aks-rdma-infiniband",
        ),
        "schmaustech": Source(
            key="schmaustech",
            kind=Kind.MEASURED,
            title="schmaustech/nvidia-tools-image: NCCL over TCP on 400G",
            url="https://github.com/schmaustech/nvidia-tools-image",
        ),
        "cscs": Source(
            key="cscs",
            kind=Kind.MEASURED,
            title="CSCS Alps: nccl-tests on GH200, Slingshot 11 and plain sockets",
            url="https://docs.cscs.ch",
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
