"""The network that the cluster is given with, unchanged."""

from weft.advise.candidate import Candidate

as_given = Candidate(
    title="the network as it is given",
    short="the network given",
    family="given",
    apply=lambda c: c,
    settings=0,  # it is there
    knowledge="what its owners know already",
)
