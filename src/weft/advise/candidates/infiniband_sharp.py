"""InfiniBand whose switches reduce (SHARP), used by NCCL through CollNet."""

from weft.advise.candidate import Candidate, on_fabric

infiniband_sharp = Candidate(
    title="InfiniBand with in-network reduction",
    short="InfiniBand with SHARP",
    family="infiniband",
    apply=lambda c: on_fabric(
        c, "infiniband", load_balancing="adaptive", in_network_reduction=True
    ),
    settings=2,  # the subnet manager and the aggregation manager
    knowledge="subnet manager, aggregation manager, NCCL's CollNet",
)
