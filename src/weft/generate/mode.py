"""What a mode of attachment is, how NICs get into a pod: the rows of ``modes.toml``."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft.errors import UnknownName
from weft.plugins import unknown
from weft.records import records

NODE_GPUS: Final = 16
"""Most GPUs of one machine; what has more is a rack of several."""
ETHERNET: Final = frozenset({"roce", "scheduled_ethernet"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a mode is judged by."""

    fabric: str
    nic_vendor: str
    gpus_per_host: int
    pods_per_host: int
    virtual: bool
    """The hosts are virtual machines."""
    rented: bool
    """The network is the provider's, and so are its addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One way to attach pods to a fabric."""

    title: str
    fabrics: frozenset[str]
    nic_vendor: str = ""
    """Whose NICs it serves; empty: anybody's."""
    one_pod_a_host: str = ""
    """Why pods cannot share a host's NICs; empty: they can."""
    why: str
    """What speaks for it where it fits."""
    rank: int
    """The lowest of those that fit is chosen."""
    resource: str = ""
    """What a pod asks for, with N for the number of the rail; empty: no resource."""
    network: str = ""
    """What a pod is attached to, with N for the number of the rail; empty: no network."""
    whole_resource: bool = False
    """One resource stands for all NICs, and a pod asks for as many as the host has."""
    claim: bool = False
    """Pods claim devices (dynamic resource allocation) instead of asking for a resource."""
    keeps_device_names: bool = True
    """A pod sees the RDMA devices by the names that the host has for them."""
    on_host_network: bool = False
    functions: bool = False
    """Pods get virtual functions."""
    operator: bool = False
    """It has a part in NVIDIA's network operator."""

    def against(self, case: Case) -> str | None:
        """Return why a cluster cannot use this mode; none where it can."""
        return next(self._objections(case), None)

    def _objections(self, case: Case) -> Iterator[str]:
        if case.gpus_per_host > NODE_GPUS:
            yield (
                f"a host of this cluster is a rack of {case.gpus_per_host} GPUs: Kubernetes "
                "places its trays, which the document does not name"
            )
        if case.fabric not in self.fabrics:
            yield f"it is for {', '.join(sorted(self.fabrics))}; the fabric is {case.fabric}"
        if self.nic_vendor and case.nic_vendor != self.nic_vendor:
            yield f"it is for NICs of {self.nic_vendor}; these are of {case.nic_vendor}"
        if self.network and case.rented and case.fabric in ETHERNET:
            yield "the provider gives the NICs addresses, and the plan does not know them"
        if self.functions and case.virtual:
            yield "a virtual machine's NIC is a function already, and makes no further ones"
        if self.one_pod_a_host and case.pods_per_host > 1:
            yield self.one_pod_a_host


def find(name: str) -> Mode:
    """Return a mode by its name."""
    if name not in _modes():
        raise UnknownName(unknown("mode of attachment", name, tuple(_modes())))
    return _modes()[name]


def by_rank() -> tuple[tuple[str, Mode], ...]:
    """Return all modes, the preferred ones first."""
    return tuple(sorted(_modes().items(), key=lambda pair: (pair[1].rank, pair[0])))


@cache
def _modes() -> dict[str, Mode]:
    return records("weft.generate", "modes", Mode)
