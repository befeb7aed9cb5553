"""InfiniBand with adaptive routing at the rate of the NICs."""

from weft.advise.candidate import Candidate, on_fabric

infiniband = Candidate(
    title="InfiniBand, adaptive routing",
    short="InfiniBand",
    family="infiniband",
    apply=lambda c: on_fabric(c, "infiniband", load_balancing="adaptive"),
    settings=1,  # the subnet manager holds routing for the whole fabric
    knowledge="subnet manager, partitions; lossless without tuning",
)
