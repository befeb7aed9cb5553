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
    PAUSED = "every link paused for a share of the time"
    GPU_SLOW = "one GPU at half of its clock"
    STOP = "the job stops, restarts elsewhere and repeats the work since its last checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a fault costs a job: a longer step or a stop, and money of the GPUs that wait."""

    fault: Fault
    step_ratio: Estimate | None = None
    """By how much the step grows: 0.1 is ten per cent; none where the job stops."""
    stop_s: Estimate | None = None
    """Wall time that one stop costs; none where the job goes on."""
    usd: Estimate
    """A day of the longer step, or one stop."""
    cluster: str
    job: str
    gpus: int
    stated: bool
    """Whether the job is the user's own; else it is weft's default, named here."""
