"""Elastic Fabric Adapter: what AWS rents."""

from weft.advise.candidate import Candidate, on_fabric

efa = Candidate(
    title="EFA (AWS)",
    short="EFA",
    family="cloud",
    apply=lambda c: on_fabric(c, "efa"),
    settings=0,  # the cloud runs it
    knowledge="libfabric and the NCCL plug-in; the network itself is the cloud's",
)
