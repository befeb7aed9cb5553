"""Where an attribute of the inventory is found in Prometheus: metric, exporter, labels.

The rows are ``sources/*.yaml`` and ``exporters.yaml``. A metric of the same attribute from two
exporters is brought to the same labels, so that rules are written once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from weft.errors import UnknownName
from weft.inventory.entity import attribute, kind
from weft.inventory.table import rows, tables
from weft.plugins import unknown

CANONICAL: Final[Mapping[str, str]] = {
    "host": "instance",
    "adapter": "device",
    "port": "port",
    "interface": "device",
    "priority": "priority",
    "gpu": "gpu",
    "switch": "switch",
    "queue": "queue",
    "job": "communicator",
}
"""The label of the rules of weft for each field of the key of an entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """A program that answers scrapes of Prometheus."""

    name: str
    about: str
    job: str
    port: int
    labels: Mapping[str, str]
    """Its label for a field of the key of an entity."""
    source: str
    own_host: str = ""
    """The label by which it names its host itself, where it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric of an exporter that is an attribute of the inventory."""

    attribute: str
    exporter: Exporter
    metric: str
    """Its name; fields of the key that are part of it are in braces."""
    type: str = "gauge"
    factor: float = 1.0
    """What its value is multiplied by to be in the unit of the attribute."""
    values: Mapping[str, str] = field(default_factory=dict)
    """For a state: what each number means."""
    keep: tuple[str, ...] = ()
    """Labels beside the key by which series of it differ."""
    enable: str = ""
    """What must be switched on in the exporter; empty where it is exported by default."""

    def name(self, key: Mapping[str, str]) -> str:
        """Return the name of the metric for one key, as of priority 3.

        >>> metrics("priority.rx_pause")[0].name({"priority": "3"})
        'node_ethtool_received_prio3_pause'
        """
        return self.metric.format(**key)

    def labels(self) -> dict[str, str]:
        """Return the exporter's label for each label of the rules of weft.

        >>> metrics("switch_port.symbol_errors")[0].labels()
        {'switch': 'node_guid', 'port': 'port_num'}
        """
        fields = kind(self.attribute.partition(".")[0]).key
        own = self.exporter.labels
        found = {CANONICAL[text]: own[text] for text in fields if text in own}
        return found | {text: text for text in self.keep}


@cache
def exporters() -> Mapping[str, Exporter]:
    """Return every exporter by name."""
    return {row["exporter"]: _exporter(row) for row in rows("weft.metrics", "exporters.yaml")}


def _exporter(row: Mapping[str, Any]) -> Exporter:
    told = dict(row)
    return Exporter(name=told.pop("exporter"), **told)


@cache
def all_metrics() -> tuple[Metric, ...]:
    """Return every row of the tables of sources, the preferred one of an attribute first."""
    found = tables("weft.metrics", "sources")
    return tuple(_metric(row) for table in found.values() for row in table)


def _metric(row: Mapping[str, Any]) -> Metric:
    attribute(row["attribute"])
    told = dict(row)
    values = {str(number): word for number, word in told.pop("values", {}).items()}
    return Metric(
        exporter=exporters()[told.pop("exporter")], values=values,
        keep=tuple(told.pop("keep", ())), **told,
    )  # fmt: skip


def metrics(path: str) -> Sequence[Metric]:
    """Return the metrics of an attribute, as ``port.rate``; raise UnknownName without any."""
    found = [metric for metric in all_metrics() if metric.attribute == path]
    if not found:
        known = sorted({metric.attribute for metric in all_metrics()})
        raise UnknownName(unknown("metric", path, known))
    return found
