"""Elastic Fabric Adapter: what AWS rents, on hosts that have its NICs."""

from weft import catalogue
from weft.advise.candidate import Candidate, on_fabric
from weft.errors import Infeasible
from weft.spec.cluster import Cluster


def _apply(cluster: Cluster) -> Cluster:
    nic = cluster.host.nic
    if "efa" not in catalogue.find("nics", nic).fabrics:
        raise Infeasible(
            f"EFA can be rented from AWS alone, and host.nic is {nic}: start from one of its "
            "presets, such as aws_p5"
        )
    return on_fabric(cluster, "efa")


efa = Candidate(
    title="EFA (AWS)",
    short="EFA",
    family="cloud",
    apply=_apply,
    settings=0,  # the cloud runs it
    knowledge="libfabric and the NCCL plug-in; the network itself is the cloud's",
)
