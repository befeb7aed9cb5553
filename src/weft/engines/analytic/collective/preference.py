"""Where weft's times prefer another pair than the library's own cost model chooses."""

from dataclasses import dataclass

from weft.engines.analytic.collective.choice import choose, options
from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.model import collective_time, option_time_s
from weft.engines.analytic.collective.path import Same, path_of
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """At one size: what the library runs, what is fastest here, and by how much."""

    size_bytes: int
    chosen: tuple[str, str]
    """Algorithm and protocol."""
    fastest: tuple[str, str]
    gain_ratio: float
    """Time of the library's choice over that of the fastest; 1 where they are the same."""
    band_ratio: float
    """Upper end of the model's 80 % band over its time: gains below cannot be told."""


def preference(
    cluster: Cluster, operation: Operation, size_bytes: int, group: Group
) -> Preference:
    """Compare the library's choice with the fastest of all that it may run."""
    path = path_of(Same(cluster), group, current())
    chosen = choose(path, operation, size_bytes)
    times_s = {option: option_time_s(path, option, size_bytes)
               for option in options(path, operation)}  # fmt: skip
    fastest = min(times_s, key=lambda option: times_s[option])
    band = collective_time(cluster, operation, size_bytes, group).time_s
    return Preference(
        size_bytes=size_bytes, chosen=(chosen.kind.name, chosen.protocol),
        fastest=(fastest.kind.name, fastest.protocol),
        gain_ratio=times_s[chosen] / times_s[fastest], band_ratio=band.high / band.value,
    )  # fmt: skip
