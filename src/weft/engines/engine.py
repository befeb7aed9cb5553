"""What every engine answers: a collective on a cluster, a training step on a cluster."""

from dataclasses import dataclass

from weft.results import Estimate
from weft.traffic.collective import Group, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTime:
    """One collective of one size, with what NCCL is expected to choose for it."""

    operation: Operation
    group: Group
    size_bytes: float
    time_s: Estimate
    algorithm: str
    protocol: str
    channels: int
    limit: str
    """What bounds it: NIC, NVLink, PCIe, latency, CPU, oversubscribed uplinks ..."""
    reasons: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    domain: str = ""
    """``within the measured domain``, or what of it lies beyond any measurement."""

    @property
    def algbw_bytes_per_s(self) -> float:
        """Size over time."""
        return self.size_bytes / self.time_s.value

    @property
    def busbw_bytes_per_s(self) -> float:
        """Algorithm bandwidth times nccl-tests' factor."""
        return self.algbw_bytes_per_s * self.operation.bus_factor(self.group.ranks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """One kind of communication of a training step, and what of it is not hidden."""

    dimension: str
    """dp, tp, cp, pp or ep."""
    operation: Operation
    group: Group
    size_bytes: float
    calls: float
    """Collectives of this kind on one GPU in one step."""
    total_s: float
    exposed_s: float
    fabric_ratio: float
    """Share of its time spent on the scale-out fabric (0: it never leaves the domain)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """One optimiser step of a job on a cluster; all times of the critical path, in seconds."""

    step_s: Estimate
    breakdown_s: dict[str, float]
    """matrix, attention, memory_bound, recompute, launch, bubble, exposed_tp, exposed_cp,
    exposed_ep, exposed_pp, exposed_dp, optimizer, straggler: they add up to step_s."""
    traffic: tuple[Traffic, ...]
    model_flops: float
    """Useful FLOP of one step over all GPUs (no recomputation)."""
    hardware_flops: float
    """FLOP executed, recomputation counted."""
    memory_bytes: dict[str, float]
    """weights, gradients, optimizer, activations, reserve of the fullest GPU."""
    reasons: tuple[str, ...]
    assumptions: tuple[str, ...]
    domain: str = ""
    """``within the measured domain``, or what of the step lies beyond any measurement."""
