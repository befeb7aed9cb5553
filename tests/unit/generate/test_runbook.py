"""Runbooks: every cause has one, every alert leads to one, all names are of the cluster."""

import re

import pytest
import yaml

from weft.doctor.cause import causes
from weft.errors import UnknownName
from weft.generate.alert import alerts, all_alerts
from weft.generate.plan import plan
from weft.generate.runbook import _tables, runbook_of, runbooks, slug
from weft.generate.target import render
from weft.report.renderers.html import anchor, fragment
from weft.report.views.runbooks import _page
from weft.spec.load import preset

CLUSTERS = [
    preset("hgx_h100_roce", hosts=64), preset("dgx_h100", hosts=64), preset("aws_p5", hosts=16),
    preset("h100_tcp_100g", hosts=4),
]  # fmt: skip
WITHOUT_FAULT = {"collective-below-model", "host-not-measured"}
"""What alerts see and the doctor has no row for: a deviation, and missing measurements."""


def test_every_cause_of_a_runbook_is_one_of_the_doctor_and_in_one_runbook_only():
    known = {one.name for one in causes()}
    listed = [cause for row in _tables() for cause in row["causes"]]
    assert set(listed) - known == WITHOUT_FAULT
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("alert", all_alerts(), ids=lambda a: a.name)
def test_every_alert_has_a_cause_or_a_runbook(alert):
    assert alert.cause in {one.name for one in causes()} | WITHOUT_FAULT


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda c: c.name)
def test_runbooks_have_the_names_of_the_cluster_and_nothing_left_to_fill(cluster):
    found = runbooks(plan(cluster))
    text = repr(found.runbooks)
    assert "[[" not in text
    assert not re.search(r"[{](?:entities|hosts|adapter|interface|slot|gpu)[}]", text)
    assert plan(cluster).names.first_host.text() in text
    assert len({one.name for one in found.runbooks}) == len(found.runbooks)


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda c: c.name)
def test_every_cause_leads_to_a_runbook_where_the_fabric_has_it(cluster):
    names = {one.name for one in runbooks(plan(cluster)).runbooks}
    for alert in alerts(plan(cluster)):
        assert runbook_of(alert.cause) in names, alert.name


@pytest.mark.parametrize("cluster", CLUSTERS[:2], ids=lambda c: c.name)
def test_links_of_alerts_end_at_a_heading_of_the_page(cluster):
    page = fragment(_page(runbooks(plan(cluster))))
    files = {f.path: f.text for f in render(plan(cluster), ["prometheus"]).files}
    groups = yaml.safe_load(files["prometheus/weft.rules.yml"])["groups"]
    for rule in (rule for group in groups for rule in group["rules"] if "alert" in rule):
        where = rule["annotations"]["runbook_url"].partition("#")[2]
        assert f'id="{where}"' in page, rule["alert"]


def test_the_page_and_the_tables_name_parts_alike():
    for row in _tables():
        assert slug(row["title"]) == anchor(row["title"])


def test_one_is_found_by_its_name_or_by_a_cause():
    made = plan(CLUSTERS[0])
    assert runbooks(made, "pfc-storm").runbooks == runbooks(made, "pause-without-ecn").runbooks
    assert runbooks(made, "PFC storm").runbooks[0].title == "PFC storm"
    with pytest.raises(UnknownName, match="did you mean 'pfc-storm'"):
        runbooks(made, "pfc-storms")


def test_values_of_a_check_follow_the_plan():
    slow = preset("hgx_h100_roce", hosts=64)
    slow = slow.with_(host=slow.host.with_(nic_bytes_per_s=25e9))
    assert "200" in runbooks(plan(slow), "port-down").runbooks[0].check[0].expected
    assert "400" in runbooks(plan(CLUSTERS[0]), "port-down").runbooks[0].check[0].expected
