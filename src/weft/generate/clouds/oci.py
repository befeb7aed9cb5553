"""Oracle Cloud: RoCE of bare-metal GPU shapes."""

from weft.generate.cloud import Cloud, Setting

oci = Cloud(
    title="Oracle Cloud, RoCE",
    vendor="Oracle",
    fabrics=frozenset({"roce"}),
    source="oci_nccl",
    traffic_class=41,
    settings={
        "NCCL_IB_TC": Setting(41, "the class of data in Oracle's network: DSCP 10, ECT(1)"),
        "NCCL_IB_FIFO_TC": Setting(185, "the class of control messages: DSCP 46"),
        "NCCL_IB_TIMEOUT": Setting(22, "outlives a path that fails over"),
        "NCCL_SOCKET_IFNAME": Setting("eth0", "bootstrap over the front-end network"),
        "NCCL_CUMEM_ENABLE": Setting(0, "as Oracle measured it best on these shapes"),
        "NCCL_IGNORE_CPU_AFFINITY": Setting(1, "the scheduler's masks do not fit the NICs'"),
    },
    more={
        "oci_bm_gpu4_8": {
            "NCCL_IB_QPS_PER_CONNECTION": Setting(4, "four paths a connection"),
        },
    },
    beside="take NCCL_IB_HCA from Oracle's table for the shape: some of the NICs are not for "
    "collectives",
)
