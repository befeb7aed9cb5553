"""What a cluster should show, as series beside those that are measured.

Bus bandwidth is that of ``weft expect`` at large sizes, with both ends of its band; link rate
is the plan's. Findings are those of ``weft diagnose``: a series a cause, with its probability.
"""

from collections.abc import Iterator

from weft.doctor.diagnose import diagnose
from weft.generate.expected_busbw import points
from weft.generate.plan import plan
from weft.inventory.inventory import Inventory
from weft.monitor.series import LONGEST_LABEL, Series
from weft.spec.cluster import Cluster
from weft.units import parse_rate

BUSBW = "weft_expected_collective_busbw_bytes_per_second"
LINK = "weft_expected_port_rate_bytes_per_second"
FINDING = "weft_finding_probability_ratio"


def expected(cluster: Cluster) -> Iterator[Series]:
    """Yield what the model and the plan say of a cluster: at most some 300 series."""
    made = plan(cluster)
    rate = parse_rate(f"{made.link.rate_gbit_per_s.number()}Gb/s")
    for device in made.names.device_list():
        own = (("device", device), ("port", "1"))
        yield Series(LINK, "rate of a port, as planned", "gauge", own, rate)
    about = "bus bandwidth by weft expect; bound is the value or an end of its 80 % band"
    for point in points(made):
        for bound in ("value", "low", "high"):
            named = (*point.labels.items(), ("bound", bound))
            yield Series(BUSBW, about, "gauge", named, getattr(point.busbw_bytes_per_s, bound))


def findings(inventory: Inventory, cluster: Cluster | None) -> Iterator[Series]:
    """Yield the findings of the doctor: one series a cause, 0 where nothing is found."""
    about = "how probable a cause is, as weft diagnose says it"
    found: dict[tuple[str, str], float] = {}
    for one in diagnose(inventory, cluster).findings:
        key = (one.cause[:LONGEST_LABEL], str(one.severity))
        found[key] = max(found.get(key, 0.0), one.probability_ratio)
    for (cause, severity), probability in found.items():
        own = (("cause", cause), ("severity", severity))
        yield Series(FINDING, about, "gauge", own, probability)
