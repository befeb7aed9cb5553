"""Alerts: rows that hold, thresholds of the plan, consequences inhibited by their cause."""

import re

import pytest
import yaml

from weft.generate.alert import SEVERITIES, alerts, all_alerts, inhibitions, limit, series_of
from weft.generate.expected_busbw import points, size_pattern
from weft.generate.plan import plan
from weft.generate.target import reason_against, render
from weft.inventory.table import rows
from weft.spec.load import preset

ROCE = preset("hgx_h100_roce", hosts=64)
INFINIBAND = preset("dgx_h100", hosts=64)


def _rules(cluster):
    found = {f.path: f.text for f in render(plan(cluster), ["prometheus"]).files}
    groups = yaml.safe_load(found["prometheus/weft.rules.yml"])["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("alert", all_alerts(), ids=lambda a: a.name)
def test_an_alert_has_a_reason_a_fault_and_a_look_alike(alert):
    assert alert.severity in SEVERITIES
    assert alert.because
    assert alert.fault
    assert alert.alike
    assert alert.alike_is


def test_every_attribute_that_rules_read_has_healthy_values():
    healthy = {row["attribute"] for row in rows("weft.generate", "healthy.yaml")}
    assert {one.attribute for one in series_of(a.expr for a in all_alerts())} <= healthy


@pytest.mark.parametrize("cluster", [ROCE, INFINIBAND], ids=["roce", "infiniband"])
def test_no_alert_inhibits_itself_in_a_circle_nor_one_that_is_worse(cluster):
    edges = [(a, b) for a, b in inhibitions(alerts(plan(cluster)))]
    assert edges
    below = {}
    for source, target in edges:
        assert SEVERITIES.index(source.severity) <= SEVERITIES.index(target.severity)
        below.setdefault(source.name, set()).add(target.name)

    def reached(name, seen=()):
        assert name not in seen
        for one in below.get(name, ()):
            reached(one, (*seen, name))

    for name in below:
        reached(name)


def test_a_storm_inhibits_the_drops_and_the_slow_collectives_that_follow_from_it():
    pairs = {(a.name, b.name) for a, b in inhibitions(alerts(plan(ROCE)))}
    assert ("WeftPauseStorm", "WeftLosslessDrops") in pairs
    assert ("WeftPauseStorm", "WeftCollectiveSlow") in pairs
    assert ("WeftLosslessDrops", "WeftPauseStorm") not in pairs


def test_the_limit_of_a_slow_port_follows_the_rate_of_the_plan():
    slow = preset("hgx_h100_roce", hosts=64)
    slow = slow.with_(host=slow.host.with_(nic_bytes_per_s=25e9))
    for cluster, rate in ((ROCE, 50e9), (slow, 25e9)):
        (rule,) = (one for one in _rules(cluster) if one.get("alert") == "WeftPortSlow")
        assert f"0.98 * {rate:.0f} " in rule["expr"]


def test_the_lossless_class_is_that_of_the_plan():
    rules = _rules(ROCE)
    priority = plan(ROCE).labels.priority.text()
    read = [one["expr"] for one in rules if "_prio" in one["expr"]]
    assert read
    assert all(f"prio{priority}_" in one for one in read)


def test_limits_are_those_of_the_doctor():
    (rule,) = (one for one in _rules(INFINIBAND) if one.get("alert") == "WeftSymbolErrors")
    assert rule["expr"].endswith(f"> {limit('port.symbol_errors', 'growth')}")


def test_series_are_bounded_whatever_exporters_add():
    """Every recorded rule keeps the labels of its entity alone, or is one value."""
    for rule in _rules(ROCE):
        if "record" in rule and rule["record"] != "weft:collective_busbw:sized":
            assert re.match(r"\(?(?:sum|max|avg) by \(|vector\(", rule["expr"]), rule
    assert sum("vector(" in one["expr"] for one in _rules(ROCE)) <= 96


def test_alerts_do_not_depend_on_what_the_plan_lacks():
    assert not any("[[=" in one.expr for one in alerts(plan(preset("gcp_a3_ultra"))))
    assert reason_against("prometheus", plan(preset("gb200_nvl72")))


def test_the_expected_value_of_a_size_is_the_low_end_of_the_band():
    found = list(points(plan(INFINIBAND)))
    assert {one.hosts for one in found} == {64, 32, 16, 8, 4, 2}
    assert all(one.busbw_bytes_per_s.low < one.busbw_bytes_per_s.value for one in found)


@pytest.mark.parametrize("size_mib", [64, 256, 1024])
def test_ranges_of_the_inspector_fall_into_one_size(size_mib):
    pattern = re.compile(size_pattern(size_mib))
    unit, low = ("GB", size_mib // 1024) if size_mib >= 1024 else ("MB", size_mib)
    for number in range(1, 1024):
        inside = low <= number < min(4 * low, 1024)
        assert bool(pattern.fullmatch(f"{number}-{number + 1}{unit}")) == inside
