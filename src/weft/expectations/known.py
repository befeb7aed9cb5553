"""All that expectations are made from: the inventory, and the cluster where one is given."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.inventory.inventory import Inventory

if TYPE_CHECKING:
    from weft.spec.cluster import Cluster
    from weft.spec.workload import Job


@dataclass(slots=True)
class Known:
    """What is known of a cluster before anything is judged."""

    inventory: Inventory
    cluster: "Cluster | None" = None
    job: "Job | None" = None
    kept: dict[Any, Any] = field(default_factory=dict)
    """What a source has worked out once for all entities."""
