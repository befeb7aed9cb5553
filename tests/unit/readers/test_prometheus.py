"""What exporters answer is read by the same table that alerts and dashboards are made from."""

import pytest

from weft.inventory.entity import kind
from weft.inventory.inventory import Inventory
from weft.metrics.source import Metric, all_metrics
from weft.readers.engine import engine
from weft.readers.read import Reading
from weft.readers.scribe import Scribe

KEY = {"host": "node7", "adapter": "mlx5_3", "port": "1", "interface": "eth3", "gpu": "5",
       "switch": "0xaa", "priority": "3", "queue": "4", "job": "c0ffee"}  # fmt: skip


def keys(metric: Metric) -> set[str]:
    return set(kind(metric.attribute.partition(".")[0]).key)


METRICS = [one for one in all_metrics() if one.exporter.labels and keys(one) <= set(KEY)]


def sample(metric: Metric, value: float) -> str:
    own = metric.exporter.labels
    labels = {own[one]: KEY[one] for one in keys(metric) if one in own}
    if labels.get("instance"):
        labels["instance"] += ":9100"
    said = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return f"{metric.name(KEY)}{{{said}}} {value:g}"


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.metric)
def test_each_metric_of_the_table_is_read_as_its_attribute(metric: Metric) -> None:
    value, said = next(iter(metric.values.items()), ("7", 7 * metric.factor))
    inventory = Inventory()
    reading = Reading(engine(), Scribe(inventory, "metrics.txt"))
    reading.line(1, b"# HELP x about")
    reading.line(2, sample(metric, float(value)).encode())
    reading.finish()
    wanted, _, name = metric.attribute.partition(".")
    found = [(e, inventory.value(e, name)) for e, _ in inventory.of(wanted)]
    wanted_value = said if isinstance(said, str) else pytest.approx(said)
    assert [value for _, value in found] == [wanted_value]
    fields = found[0][0].fields
    labelled = metric.exporter.labels.keys() & fields.keys()
    assert {one: fields[one] for one in labelled} == {one: KEY[one] for one in labelled}


def test_an_exporter_that_names_its_host_is_believed() -> None:
    inventory = Inventory()
    reading = Reading(engine(), Scribe(inventory, "metrics.txt"))
    reading.line(1, b'DCGM_FI_DEV_GPU_TEMP{gpu="6",UUID="GPU-6",Hostname="n4"} 71')
    reading.finish()
    ((entity, _),) = inventory.of("gpu")
    assert entity.fields == {"host": "n4", "gpu": "6"}
