"""Ethernet whose leaves cut packets into cells and grant credits (a scheduled fabric)."""

from weft.advise.candidate import Candidate, on_fabric

scheduled_ethernet = Candidate(
    title="scheduled Ethernet",
    short="scheduled Ethernet",
    family="ethernet",
    apply=lambda c: on_fabric(c, "scheduled_ethernet"),
    resembles="roce_tuned",
    settings=2,  # PFC from NIC to leaf, MTU; the fabric balances itself
    knowledge="Ethernet at the edge; the fabric inside is its vendor's",
)
