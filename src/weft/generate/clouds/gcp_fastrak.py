"""Google Cloud A3 Mega: GPUDirect-TCPXO through the plug-in FasTrak."""

from weft.generate.cloud import Cloud, Setting

gcp_fastrak = Cloud(
    title="Google Cloud, GPUDirect-TCPXO",
    vendor="Google",
    fabrics=frozenset({"tcpxo"}),
    source="gcp_tcpxo",
    settings={
        "NCCL_FASTRAK_CTRL_DEV": Setting("eth0", "control messages"),
        "NCCL_FASTRAK_IFNAME": Setting(
            "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8", "one interface a GPU"
        ),
        "NCCL_FASTRAK_NUM_FLOWS": Setting(2, "as Google's profile has it"),
        "NCCL_FASTRAK_USE_SNAP": Setting(1, "the transport of the NIC's own"),
        "NCCL_FASTRAK_USE_LLCM": Setting(1, "low latency for small messages"),
        "NCCL_SOCKET_IFNAME": Setting("eth0", "bootstrap apart from the data"),
        "NCCL_CROSS_NIC": Setting(0, "every rail is a network of its own"),
        "NCCL_ALGO": Setting("Ring,Tree", "the plug-in is tested with these alone"),
        "NCCL_PROTO": Setting("Simple", "the plug-in reorders, which LL does not survive"),
        "NCCL_MIN_CTAS": Setting(
            4, "Google's profile has it by the old name NCCL_MIN_NCHANNELS"
        ),
        "NCCL_P2P_NET_CHUNKSIZE": Setting(524288, "as Google's profile has it"),
        "NCCL_P2P_PCI_CHUNKSIZE": Setting(524288, "as Google's profile has it"),
        "NCCL_P2P_NVL_CHUNKSIZE": Setting(1048576, "as Google's profile has it"),
        "NCCL_BUFFSIZE": Setting(8388608, "as Google's profile has it"),
        "NCCL_NET_GDR_LEVEL": Setting("PIX", "GPU and NIC share a PCIe switch"),
        "NCCL_NVLS_ENABLE": Setting(0, "not with this plug-in"),
        "NCCL_TUNER_PLUGIN": Setting("libnccl-tuner.so", "comes with the plug-in"),
    },
    beside="source nccl-env-profile.sh of the plug-in that you run: its release decides, and "
    "NCCL stops where a value differs from it",
)
