"""Google Cloud A3 Ultra and newer: RoCE through Google's plug-in gIB."""

from weft.generate.cloud import Cloud, Setting

gcp_gib = Cloud(
    title="Google Cloud, gIB",
    vendor="Google",
    fabrics=frozenset({"roce"}),
    source="gcp_gib",
    traffic_class=52,
    settings={
        "NCCL_NET": Setting("gIB", "Google's plug-in; without it there is no RDMA here"),
        "NCCL_CROSS_NIC": Setting(0, "every rail is a network of its own"),
        "NCCL_NET_GDR_LEVEL": Setting("PIX", "GPU and NIC share a PCIe switch"),
        "NCCL_P2P_NET_CHUNKSIZE": Setting(131072, "as Google measured it best"),
        "NCCL_NVLS_CHUNKSIZE": Setting(524288, "as Google measured it best"),
        "NCCL_IB_ADAPTIVE_ROUTING": Setting(1, "Google's switches spread packets"),
        "NCCL_IB_QPS_PER_CONNECTION": Setting(4, "four paths a connection"),
        "NCCL_IB_TC": Setting(52, "the class of data in Google's network: DSCP 13"),
        "NCCL_IB_FIFO_TC": Setting(84, "the class of control messages: DSCP 21"),
    },
    beside="the image's set_nccl_env.sh sets the same and the tuner besides; where it "
    "differs, believe the image",
)
