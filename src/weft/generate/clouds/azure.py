"""Azure: InfiniBand of ND machines, whose PCIe the virtual machine does not show."""

from weft.generate.cloud import Cloud, Setting

_WHY_TOPOLOGY = (
    "the virtual machine hides which GPU and NIC share a switch; Azure's image has it"
)

azure = Cloud(
    title="Azure ND, InfiniBand",
    vendor="Microsoft",
    fabrics=frozenset({"infiniband"}),
    source="azure_hpc",
    settings={
        "NCCL_SOCKET_IFNAME": Setting("eth0", "bootstrap over the network that every VM has"),
        "NCCL_IB_PCI_RELAXED_ORDERING": Setting(
            1, "writes of the NIC may pass one another: full rate through the hypervisor"
        ),
    },
    more={
        **{
            name: {"NCCL_TOPO_FILE": Setting("/opt/microsoft/ndv4-topo.xml", _WHY_TOPOLOGY)}
            for name in ("azure_nd_a100_v4", "azure_ndm_a100_v4")
        },
        **{
            name: {"NCCL_TOPO_FILE": Setting("/opt/microsoft/ndv5-topo.xml", _WHY_TOPOLOGY)}
            for name in ("azure_nd_h100_v5", "azure_nd_h200_v5")
        },
    },
    beside="Azure runs the subnet manager and gives each virtual machine scale set its own "
    "P_Key; UCX wants it as UCX_IB_PKEY",
)
