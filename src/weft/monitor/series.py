"""An inventory as series: one metric an attribute, its labels the key of the entity.

Exported is what no exporter of ``weft.metrics`` has by default. Names follow Prometheus: the
unit stands at the end, counters end in ``_total``, states are series of value 0 or 1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft.inventory.entity import Attribute, Entity, attribute, kind
from weft.inventory.inventory import Inventory, Reading
from weft.metrics.source import CANONICAL, all_metrics

KINDS: Final = (
    "port", "interface", "priority", "adapter", "slot", "gpu", "nvlink", "queue", "service",
    "process", "module", "job",
)  # fmt: skip
"""Kinds of entities that are exported; of a job what NCCL's RAS says of its communicators."""
UNITS: Final[Mapping[str, str]] = {
    "bytes/s": "bytes_per_second", "bytes": "bytes", "s": "seconds", "C": "celsius",
    "ratio": "ratio", "dBm": "dbm", "GT/s": "gigatransfers_per_second", "W": "watts",
    "Hz": "hertz",
}  # fmt: skip
"""Unit of the inventory, and how it ends the name of a metric."""
OWN: Final = "weft_monitor"
"""This monitor in the table of sources: what stands there is exported in any case."""
_EVERYWHERE: Final = ("node_exporter", "dcgm_exporter")
STATES: Final = frozenset({"state", "physical"})
"""Attributes with words for values that are exported."""
MOST_SERIES: Final = 20_000
LONGEST_LABEL: Final = 64
"""Characters of a label that are kept; names of devices are shorter."""


@dataclass(frozen=True, slots=True)
class Series:
    """One sample: the metric, what it is about, its type, its labels and its value."""

    name: str
    about: str
    type: str
    labels: tuple[tuple[str, str], ...]
    value: float


@cache
def exported_elsewhere() -> frozenset[str]:
    """Return the attributes of a host that an exporter that everybody runs has by default."""
    by = {name: {m.attribute for m in all_metrics() if m.exporter.name == name and not m.enable}
          for name in (*_EVERYWHERE, OWN)}  # fmt: skip
    return frozenset().union(*(by[name] for name in _EVERYWHERE)) - by[OWN]


def metric_name(path: str) -> str:
    """Return the name of the metric of an attribute.

    >>> metric_name("port.cnp_sent"), metric_name("port.rate")
    ('weft_port_cnp_sent_total', 'weft_port_rate_bytes_per_second')
    """
    told = attribute(path)
    unit = UNITS.get(told.unit, "")
    name = f"weft_{path.replace('.', '_')}"
    if unit and not name.endswith(unit):
        name = f"{name}_{unit}"
    return f"{name}_total" if told.type == "counter" else name


def series(inventory: Inventory) -> Iterator[Series]:
    """Yield the series of an inventory, at most MOST_SERIES."""
    count = 0
    for entity, found in inventory.readings.items():
        if entity.kind not in KINDS:
            continue
        for name, readings in found.items():
            path = f"{entity.kind}.{name}"
            told = kind(entity.kind).attributes[name]
            if path in exported_elsewhere():
                continue
            for sample in _samples(path, told, entity, readings[-1]):
                count += 1
                if count > MOST_SERIES:
                    return
                yield sample


def labels(entity: Entity) -> tuple[tuple[str, str], ...]:
    """Return the labels of an entity; the host is that of the scrape."""
    return tuple(
        (CANONICAL.get(name, name), said[:LONGEST_LABEL])
        for name, said in entity.fields.items()
        if name != "host"
    )


def _samples(path: str, told: Attribute, entity: Entity, reading: Reading) -> Iterator[Series]:
    value, form, own = reading.value, "gauge", labels(entity)
    if told.name in STATES and isinstance(value, str):
        own = (*own, (told.name, value[:LONGEST_LABEL]))
        value = 1.0
    if isinstance(value, int | float):
        if told.type == "counter" and not isinstance(value, bool):
            form = "counter"
        yield Series(metric_name(path), told.about, form, own, float(value))
