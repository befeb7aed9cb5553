"""Product families: which published systems are one design, and are left out together."""

import re
from functools import cache
from typing import Final

from weft.accuracy.kind import Row
from weft.accuracy.rows.words import read
from weft.engines.analytic.collective.tuning import gpu_class
from weft.spec.cluster import Cluster

_TEXT: Final = ("system", "site", "gpu", "fabric", "fabric_gen")
_BYTES_PER_GBIT: Final = 1.25e8


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    families = read("families")["family"]
    return tuple((family["name"], re.compile(family["pattern"])) for family in families)


def family_of(row: Row, cluster: Cluster) -> str:
    """Return the product family of a row's system.

    A named product where the row names one; otherwise GPU generation, NICs and fabric.
    """
    text = " ".join(row.get(key) or "" for key in _TEXT).lower()
    for name, pattern in _patterns():
        if pattern.search(text):
            return name
    generation = gpu_class(cluster.host.gpu).capitalize()
    fabric = (row.get("fabric") or "").lower()
    if cluster.hosts == 1 and "nvlink" in fabric:
        return f"{generation} NVSwitch"
    gbit = cluster.host.nic_bytes_per_s / _BYTES_PER_GBIT
    return f"{generation} {gbit:.0f}G {cluster.fabric.kind}"
