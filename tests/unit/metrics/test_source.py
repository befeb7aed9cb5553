"""Metrics of exporters: names as Prometheus wants them, attributes that exist."""

import re

import pytest

from weft.errors import UnknownName
from weft.inventory.entity import attribute
from weft.metrics.source import all_metrics, exporters, metrics

UNITS = ("_bytes", "_bytes_per_second", "_seconds", "_celsius", "_ratio", "_info", "_total")


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda m: m.metric)
def test_names_are_names_and_ours_end_in_a_unit(metric):
    name = metric.name({"priority": "3"})
    assert re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", name)
    if metric.exporter.name == "weft_monitor":
        assert ":" not in name
        assert name.endswith(UNITS) or not attribute(metric.attribute).unit
        assert name.endswith("_total") == (metric.type == "counter")


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda m: m.metric)
def test_a_counter_is_a_counter_of_the_inventory(metric):
    assert (attribute(metric.attribute).type == "counter") == (metric.type == "counter")


def test_metrics_of_one_attribute_have_the_same_labels_in_rules():
    for one in all_metrics():
        assert one.labels().keys() == metrics(one.attribute)[0].labels().keys(), one.metric


def test_every_exporter_says_where_its_names_are_from():
    for one in exporters().values():
        assert one.source.startswith("https://")
        assert 0 < one.port < 1 << 16


def test_an_attribute_without_a_metric_is_refused_with_what_is_near():
    with pytest.raises(UnknownName, match=r"did you mean 'port.rate'"):
        metrics("port.rat")
