"""The text format of Prometheus, as exporters answer: each metric of ``weft.metrics`` is read.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import re2

from weft.inventory.values import Value
from weft.metrics.source import Metric, all_metrics
from weft.readers.line import Line
from weft.readers.parser import Lines, Parser
from weft.readers.scribe import Scribe

_SAMPLE: Final = re2.compile(
    r"^(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})? "
    r"(?P<value>[-+]?[\d.]+(?:[eE][-+]?\d+)?)(?: \d+)?$"
)
_SCRAPED: Final = "instance"
"""The label that Prometheus adds: address and port of what was asked."""
_LABEL: Final = re2.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def _read(lines: Lines, scribe: Scribe) -> None:
    for line in lines:
        sample = _SAMPLE.search(line.text.strip())
        if sample:
            _record(sample["name"], dict(_LABEL.findall(sample["labels"] or "")),
                    float(sample["value"]), line, scribe)  # fmt: skip


def _record(
    name: str, labels: Mapping[str, str], value: float, line: Line, scribe: Scribe
) -> None:
    for metric, inside in _known(name):
        said = _value(metric, value)
        if said is not None:
            scribe.state(metric.attribute, said, line, {**_key(metric, labels), **inside})


def _value(metric: Metric, value: float) -> Value | None:
    if metric.values:
        return metric.values.get(f"{value:g}")
    return value * metric.factor


def _key(metric: Metric, labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the fields of the key; an exporter that was asked directly may name its host."""
    exporter = metric.exporter
    found = {field: labels.get(label, "") for field, label in exporter.labels.items()}
    for field, label in exporter.labels.items():
        if label == _SCRAPED:
            found[field] = found[field].rpartition(":")[0] or found[field]
    return found | {"host": found.get("host") or labels.get(exporter.own_host, "")}


@cache
def _known(name: str) -> tuple[tuple[Metric, Mapping[str, str]], ...]:
    """Return the attributes that a metric is, and the fields of the key in its name."""
    return tuple(_matches(name))


def _matches(name: str) -> Iterator[tuple[Metric, Mapping[str, str]]]:
    seen: set[str] = set()
    for metric in all_metrics():
        pattern = metric.metric.replace("{", "(?P<").replace("}", r">\w+?)")
        found = re2.fullmatch(pattern, name)
        if found and metric.attribute not in seen:
            seen.add(metric.attribute)
            yield metric, found.groupdict()


prometheus = Parser(
    "prometheus",
    opens=(r"^# (?:HELP|TYPE) [A-Za-z_:][\w:]* ", r'^[A-Za-z_:][\w:]*\{\w+="'),
    reads=_read,
    keeps=(r"^#", r"^[A-Za-z_:][\w:]*(?:\{.*\})? [-+\d]"),
)
