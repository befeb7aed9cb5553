"""What a comparison may not change: the keys that the user wrote."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from weft.errors import UnknownName
from weft.spec.cluster import Cluster

SAME: Final = {
    "parallelism": ("job.parallelism",),
    "topology": (
        "topology.kind", "topology.oversubscription", "topology.pod_oversubscription",
        "topology.hosts_per_pod", "topology.planes",
    ),
    "switch": ("topology.switch",),
    "nics": ("host.nic", "host.nics", "host.nic_bytes_per_s"),
}  # fmt: skip
"""Groups of keys that ``--same`` holds equal in every row."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Dotted keys of the cluster that keep the value of the spec in every row."""

    keys: frozenset[str] = frozenset()

    @classmethod
    def of(cls, keys: Iterable[str]) -> "Pins":
        """Return pins of some keys; a mapping pins what is below it.

        >>> "topology.kind" in Pins.of(["topology"])
        True
        """
        return cls(frozenset(keys))

    def __contains__(self, key: str) -> bool:
        """Tell whether a key, or one above it, is pinned."""
        parts = key.split(".")
        return any(".".join(parts[: n + 1]) in self.keys for n in range(len(parts)))

    def and_same(self, groups: Iterable[str]) -> "Pins":
        """Return these pins and those of the groups that rows are to share."""
        added: set[str] = set()
        for group in groups:
            if group not in SAME:
                known = ", ".join(SAME)
                raise UnknownName(f"--same {group}: unknown group; the groups are: {known}")
            added.update(SAME[group])
        return Pins(self.keys | added)

    def shown(self, cluster: Cluster) -> tuple[str, ...]:
        """Return the pinned keys of the network with their values, for a reader."""
        found = []
        for keys in SAME.values():
            for key in keys:
                part, _, name = key.partition(".")
                if key in self and part in {"topology", "host"}:
                    found.append(f"{key}={getattr(getattr(cluster, part), name)}")
        return tuple(found)


NOTHING: Final = Pins()
