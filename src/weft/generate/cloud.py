"""Clouds: networks that a provider runs, and what NCCL needs there; rows of ``clouds.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from weft.generate.host import rented_from
from weft.generate.planned import Planned, Scalar
from weft.records import records
from weft.spec.cluster import Cluster

Settings = Mapping[str, tuple[Scalar, str]]
"""Values of variables, and why the provider wants them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """The network of one vendor for one kind of fabric."""

    title: str
    vendor: str
    """As servers of the catalogue name it."""
    fabrics: frozenset[str]
    source: str
    settings: Settings
    """Variables by name; those of the plan that differ are replaced."""
    more: Mapping[str, Settings] = field(default_factory=dict)
    """Further variables by the name of the server."""
    tuner: str = ""
    """Why no other tuner can be loaded; empty where the kind of fabric decides."""
    gid_index: int | None = None
    """Of RoCE v2 on its hosts; set for versions of NCCL that do not find it."""
    traffic_class: int | None = None
    """That the provider's switches know; none where nothing reads it."""
    beside: str = ""
    """What is to be done that is no variable."""
    libraries: tuple[str, ...] = ()
    """Folders of the provider's plug-in; none where the image has it."""
    mounts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Folders of the host that pods see: path there and path in the pod."""

    def variables(self, server: str) -> dict[str, Planned]:
        """Return the variables on one of its servers, with reasons."""
        both = {**self.settings, **self.more.get(server, {})}
        return {
            name: Planned(value=value, reason=reason, source=self.source)
            for name, (value, reason) in both.items()
        }


@cache
def clouds() -> tuple[Cloud, ...]:
    """Return all clouds, as ``clouds.toml`` lists them."""
    return tuple(records("weft.generate", "clouds", Cloud).values())


def cloud_of(cluster: Cluster) -> Cloud | None:
    """Return the cloud that a cluster is rented from; none where weft knows of none."""
    vendor, fabric = rented_from(cluster), cluster.fabric.kind
    return next(
        (cloud for cloud in clouds() if cloud.vendor == vendor and fabric in cloud.fabrics),
        None,
    )
