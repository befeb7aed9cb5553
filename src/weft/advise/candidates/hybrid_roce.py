"""Tuned RoCEv2 between GPUs, a second Ethernet for storage and management."""

from weft.advise.candidate import Candidate
from weft.advise.candidates.roce_tuned import roce_tuned
from weft.spec.cluster import FabricChoice

hybrid_roce = Candidate(
    title="tuned RoCEv2, storage on Ethernet of its own",
    short="tuned RoCE beside a storage network",
    family="ethernet",
    apply=lambda c: roce_tuned.apply(c).with_(storage_fabric=FabricChoice(kind="tcp")),
    settings=roce_tuned.settings,
    knowledge=roce_tuned.knowledge,
)
