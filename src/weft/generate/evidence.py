"""Where the numbers of a plan are from."""

from typing import Final

from weft.sources import Kind, Source


def _source(key: str, kind: Kind, title: str, url: str = "", date: str = "") -> Source:
    return Source(key=key, kind=kind, title=title, url=url, date=date)


_ALL: Final = (
    _source("weft", Kind.CODE, "follows from the other values of the plan"),
    _source("cluster", Kind.CODE, "the cluster document"),
    _source("catalogue", Kind.DATASHEET, "the device in weft's catalogue, with its sources"),
    _source("simulation", Kind.CODE, "a search with weft's packet engine (weft tune)"),
    _source("estimate", Kind.ESTIMATE, "no published rule; the reason says what was assumed"),
    _source(
        "cumulus_roce", Kind.DATASHEET,
        "NVIDIA Cumulus Linux 5.14, RDMA over Converged Ethernet: lossless defaults",
        "https://docs.nvidia.com/networking-ethernet-software/cumulus-linux-514/Layer-1-and-"
        "Switch-Ports/Quality-of-Service/RDMA-over-Converged-Ethernet-RoCE",
    ),
    _source(
        "dcqcn", Kind.PAPER,
        "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
        "https://doi.org/10.1145/2785956.2787484", "2015-08",
    ),
    _source(
        "connectx_firmware", Kind.CODE,
        "firmware defaults of ConnectX, as public dumps of mlxconfig show them",
    ),
    _source(
        "mlnx_qos", Kind.DATASHEET,
        "NVIDIA MLNX_OFED documentation: mlnx_qos, cma_roce_tos, traffic_class in sysfs",
        "https://docs.nvidia.com/networking/display/mlnxofedv24010331/quality+of+service+(qos)",
    ),
    _source(
        "sonic_headroom", Kind.CODE,
        "SONiC sonic-swss, cfgmgr/buffer_headroom_mellanox.lua",
        "https://github.com/sonic-net/sonic-swss",
    ),
    _source(
        "sonic_pool", Kind.CODE,
        "SONiC sonic-swss, cfgmgr/buffer_pool_mellanox.lua; the MMU is that of "
        "sonic-buildimage, buffers_defaults_t0.j2",
        "https://github.com/sonic-net/sonic-swss", "2026-08",
    ),
    _source(
        "sonic_qos", Kind.CODE,
        "SONiC sonic-buildimage: qos_config.j2, buffers_config.j2, cable lengths by role",
        "https://github.com/sonic-net/sonic-buildimage",
    ),
    _source(
        "sonic_pfcwd", Kind.CODE,
        "SONiC sonic-utilities, pfcwd start_default",
        "https://github.com/sonic-net/sonic-utilities",
    ),
    _source(
        "sonic_yang", Kind.CODE,
        "SONiC sonic-yang-models", "https://github.com/sonic-net/sonic-buildimage",
    ),
    _source(
        "rfc7938", Kind.PAPER, "RFC 7938: BGP for routing in large-scale data centers",
        "https://www.rfc-editor.org/rfc/rfc7938", "2016-08",
    ),
    _source(
        "rfc5549", Kind.PAPER,
        "RFC 8950 (was 5549): IPv4 routes with an IPv6 next hop",
        "https://www.rfc-editor.org/rfc/rfc8950", "2020-11",
    ),
    _source(
        "rfc3021", Kind.PAPER, "RFC 3021: 31-bit prefixes on point-to-point links",
        "https://www.rfc-editor.org/rfc/rfc3021", "2000-12",
    ),
    _source(
        "rfc6996", Kind.PAPER, "RFC 6996: AS numbers for private use",
        "https://www.rfc-editor.org/rfc/rfc6996", "2013-07",
    ),
    _source(
        "arista_qos", Kind.DATASHEET,
        "Arista EOS user manual: interface MTU, QoS profiles, PFC watchdog; AVD's schema",
        "https://www.arista.com/en/um-eos/eos-quality-of-service",
    ),
    _source(
        "nvue_qos", Kind.DATASHEET,
        "NVIDIA NVUE command reference, QoS: pfc-watchdog polling-interval and robustness",
        "https://docs.nvidia.com/networking-ethernet-software/nvue-reference/"
        "Set-and-Unset-Commands/QoS", "2026-11",
    ),
    _source(
        "cisco_qos", Kind.DATASHEET,
        "Cisco Nexus 9000 NX-OS QoS configuration guide: priority flow control, watchdog",
        "https://www.cisco.com/c/en/us/td/docs/dcn/nx-os/nexus9000/105x/configuration/qos/"
        "cisco-nexus-9000-series-nx-os-quality-of-service-configuration-guide-105x.html",
    ),
    _source(
        "cisco_blueprint", Kind.DATASHEET,
        "Cisco Data Center Networking Blueprint for AI/ML Applications",
        "https://www.cisco.com/c/en/us/td/docs/dcn/whitepapers/cisco-data-center-networking-"
        "blueprint-for-ai-ml-applications.html",
    ),
    _source(
        "juniper_pfcwd", Kind.DATASHEET, "Juniper Junos CoS: PFC watchdog and its defaults",
        "https://www.juniper.net/documentation/us/en/software/junos/cos/topics/topic-map/"
        "cos-pfc-watchdog-configure.html",
    ),
    _source(
        "juniper_dcqcn", Kind.DATASHEET,
        "Juniper Apstra: DCQCN configlets (classes, PFC, drop profile 55 % and 90 %)",
        "https://www.juniper.net/documentation/us/en/software/apstra6.1/apstra-connectorops-"
        "rnic-configurator-guide/topics/concept/apstra-connectorops-rnic-configurator-guide-"
        "dcqcn-configlets.html",
    ),
    _source(
        "frr_datacenter", Kind.CODE,
        "FRRouting: defaults of the profile datacenter, as Cumulus Linux has them",
        "https://docs.frrouting.org/en/latest/basic.html",
    ),
    _source(
        "nccl_env", Kind.DATASHEET, "NVIDIA NCCL user guide: environment variables (2.30.7)",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", "2026-06",
    ),
    _source(
        "nccl_trouble", Kind.DATASHEET,
        "NVIDIA NCCL user guide: troubleshooting (ACS, GPUDirect, limits, shared memory)",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    ),
    _source(
        "meta_roce", Kind.PAPER,
        "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, "
        "SIGCOMM 2024",
        "https://doi.org/10.1145/3651890.3672233", "2024-08",
    ),
    _source(
        "aws_efa", Kind.DATASHEET,
        "awsome-distributed-training, EFA cheat sheet; the plug-in's name is that of "
        "https://github.com/aws/aws-ofi-nccl from 1.12 on",
        "https://github.com/aws-samples/awsome-distributed-training",
    ),
    _source(
        "azure_hpc", Kind.CODE,
        "Azure azurehpc: NCCL on ND machines, with the topology files of the images",
        "https://github.com/Azure/azurehpc", "2024-10",
    ),
    _source(
        "gcp_gib", Kind.CODE,
        "Google Cloud cluster-toolkit: environment of gIB on A3 Ultra",
        "https://github.com/GoogleCloudPlatform/cluster-toolkit",
    ),
    _source(
        "gcp_tcpx", Kind.CODE,
        "Google container-engine-accelerators: example of GPUDirect-TCPX on A3 High; receive "
        "CPUs as in Google's guide (126, where the example overlaps with sending at 124)",
        "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/"
        "gpudirect-tcpx/nccl-config-latest.yaml",
    ),
    _source(
        "gcp_tcpxo", Kind.CODE,
        "Google container-engine-accelerators: environment of GPUDirect-TCPXO on A3 Mega",
        "https://github.com/GoogleCloudPlatform/container-engine-accelerators",
    ),
    _source(
        "oci_nccl", Kind.CODE,
        "Oracle oci-hpc-oke: recommended NCCL parameters by shape",
        "https://github.com/oracle-quickstart/oci-hpc-oke",
    ),
    _source(
        "ibta", Kind.PAPER, "InfiniBand Architecture Specification, volume 1",
        "https://www.infinibandta.org/ibta-specification/",
    ),
    _source(
        "mlnxsm", Kind.DATASHEET,
        "NVIDIA subnet manager (MLNXSM) 5.10: adaptive routing and its options",
        "https://docs.nvidia.com/networking/display/MLNXSMRNv510/Changes+and+New+Features",
    ),
    _source(
        "opensm", Kind.CODE, "OpenSM 3.3: routing engines, partitions and QoS (man opensm)",
        "https://github.com/linux-rdma/opensm",
    ),
    _source(
        "l8k", Kind.DATASHEET,
        "NVIDIA Kubernetes Launch Kit: profiles, configuration file, release catalogue",
        "https://nvidia.github.io/k8s-launch-kit/", "2026-10",
    ),
    _source(
        "topograph", Kind.CODE, "NVIDIA topograph: labels of nodes by their switches",
        "https://github.com/NVIDIA/topograph",
    ),
    _source(
        "dranet", Kind.CODE, "DRANET: device class, attributes and parameters of dra.net",
        "https://github.com/google/dranet",
    ),
    _source("pci_ids", Kind.CODE, "the PCI ID repository", "https://pci-ids.ucw.cz/"),
)  # fmt: skip

SOURCES: Final = {source.key: source for source in _ALL}
