"""What a cloud is to a configuration: somebody else's network, and what NCCL needs on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft import plugins
from weft.generate import clouds
from weft.generate.host import rented_from
from weft.generate.planned import Planned, Scalar
from weft.spec.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and why the provider wants it."""

    value: Scalar
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """The network of one vendor for one kind of fabric."""

    title: str
    vendor: str
    """As servers of the catalogue name it."""
    fabrics: frozenset[str]
    source: str
    settings: Mapping[str, Setting]
    """Variables by name; those of the plan that differ are replaced."""
    more: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    """Further variables by the name of the server."""
    traffic_class: int | None = None
    """That the provider's switches know; none where nothing reads it."""
    beside: str = ""
    """What is to be done that is no variable."""

    def variables(self, server: str) -> dict[str, Planned]:
        """Return the variables on one of its servers, with reasons."""
        both = {**self.settings, **self.more.get(server, {})}
        return {
            name: Planned(value=one.value, reason=one.reason, source=self.source)
            for name, one in both.items()
        }


def cloud_of(cluster: Cluster) -> Cloud | None:
    """Return the cloud that a cluster is rented from; none where weft knows of none."""
    vendor = rented_from(cluster)
    for name in plugins.names(clouds) if vendor is not None else ():
        cloud = plugins.load(clouds, name, Cloud)
        if cloud.vendor == vendor and cluster.fabric.kind in cloud.fabrics:
            return cloud
    return None
