"""What a fault of the model is, and what it costs."""

from dataclasses import dataclass
from enum import StrEnum

from weft.results import Estimate


class Fault(StrEnum):
    """A fault that the model can put into a cluster, so that it has a price."""

    RAIL_LOST = "one rail lost"
    SOCKETS = "TCP in place of RDMA"
    GPUDIRECT_OFF = "GPUDirect RDMA off"
    LINK_NARROW = "every link at a share of its rate"
    PCIE_NARROW = "the NIC's PCIe link at a share of its rate"
    MISTUNED = "lossless fabric misconfigured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a fault costs a job: step time gained, and the money a day that waits for it."""

    fault: Fault
    step_ratio: Estimate
    """By how much the step grows: 0.1 is ten per cent."""
    usd_per_day: Estimate
    cluster: str
    job: str
    gpus: int
    stated: bool
    """Whether the job is the user's own; else it is weft's default, named here."""
