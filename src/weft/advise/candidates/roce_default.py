"""RoCEv2 as delivered: five-tuple ECMP and the default congestion control."""

from weft.advise.candidate import Candidate, on_fabric

roce_default = Candidate(
    title="RoCEv2, ECMP, untuned",
    short="untuned RoCE",
    family="ethernet",
    apply=lambda c: on_fabric(c, "roce", load_balancing="ecmp", tuning="default"),
    choice=False,
    settings=2,  # PFC and MTU: without them it does not run at all
    knowledge="Ethernet; nobody looks after losslessness",
)
