"""Linux hosts: NIC quality of service, MTU, addresses and limits, as systemd units."""

from weft.generate.host_files import host_files
from weft.generate.plan import Feature
from weft.generate.target import Proof, Target

linux_host = Target(
    title="Linux hosts: systemd units, sysctl, limits, addresses",
    supports=frozenset({Feature.IP, Feature.PFC, Feature.SUBNET, Feature.MESH}),
    files=host_files,
    proofs={
        "weft-rdma": Proof.GOLDEN,
        "weft-gpudirect": Proof.GOLDEN,
        "weft-rdma.service, weft-gpudirect.service": Proof.SOFTWARE,
        "90-weft-rdma.conf": Proof.SCHEMA,
        "rails.tsv, weft-rdma-limits.conf": Proof.GOLDEN,
    },
)
