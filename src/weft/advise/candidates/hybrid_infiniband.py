"""InfiniBand between GPUs, Ethernet of its own for storage and management."""

from weft.advise.candidate import Candidate, on_fabric
from weft.spec.cluster import FabricChoice

hybrid_infiniband = Candidate(
    title="InfiniBand, storage on Ethernet of its own",
    short="InfiniBand beside a storage network",
    family="infiniband",
    apply=lambda c: on_fabric(c, "infiniband", load_balancing="adaptive").with_(
        storage_fabric=FabricChoice(kind="tcp")
    ),
    settings=1,
    knowledge="two networks: subnet manager and Ethernet",
)
