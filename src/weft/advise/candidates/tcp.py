"""TCP over the same Ethernet ports: kernel copies instead of RDMA."""

from weft.advise.candidate import Candidate, on_fabric

tcp = Candidate(
    title="TCP over the same ports",
    short="TCP",
    family="tcp",
    apply=lambda c: on_fabric(c, "tcp"),
    settings=1,  # MTU
    knowledge="Ethernet",
)
