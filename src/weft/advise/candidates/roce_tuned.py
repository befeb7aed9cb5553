"""RoCEv2 with adaptive routing and congestion control that somebody has tuned."""

from weft.advise.candidate import Candidate, on_fabric

roce_tuned = Candidate(
    title="RoCEv2, adaptive routing, tuned",
    short="tuned RoCE",
    family="ethernet",
    apply=lambda c: on_fabric(c, "roce", load_balancing="adaptive"),
    settings=6,  # PFC priority, ECN thresholds, DSCP map, headroom, congestion control, MTU
    knowledge="PFC, ECN, headroom and congestion control, on every switch and NIC",
)
