"""Ultra Ethernet: packets sprayed over all paths, trimming, its own transport."""

from weft.advise.candidate import Candidate, on_fabric

ultra_ethernet = Candidate(
    title="Ultra Ethernet",
    short="Ultra Ethernet",
    family="ethernet",
    apply=lambda c: on_fabric(c, "ultra_ethernet"),
    resembles="roce_tuned",
    settings=3,  # ECN thresholds, trimming, traffic classes
    knowledge="a transport that is new to everybody",
)
