"""Until traffic flows again after a fault: by fabric, and by the timer of NCCL."""

import pytest

from weft.advise.failover import ACK_S, RETRIES, every_fail_over, fail_over
from weft.spec.load import load_cluster


def cluster(kind="roce", **env):
    preset = {"roce": "hgx_h100_roce", "infiniband": "dgx_h100"}.get(kind, "hgx_h100_roce")
    changed = {} if kind == "infiniband" else {"fabric": {"kind": kind}}
    return load_cluster({"preset": preset, **changed, "nccl": {"env": env}})


def test_traffic_flows_again_after_rerouting_and_the_timer():
    found = fail_over(cluster())
    assert found.until_s.value == found.reroutes_s.value + found.resends_s.value
    assert found.until_s.low <= found.until_s.value <= found.until_s.high
    assert found.sources


@pytest.mark.parametrize("value", [14, 18, 22])
def test_verbs_wait_as_long_as_nccl_is_told(value):
    """4.096 us x 2^value, and eight times that until the connection ends. [IBTA]"""
    found = fail_over(cluster(NCCL_IB_TIMEOUT=str(value)))
    assert found.resends_s.value == pytest.approx(ACK_S * 2**value)
    assert found.patience_s == pytest.approx(ACK_S * 2**value * (RETRIES + 1))
    assert found.may_end_the_job == (found.reroutes_s.high > found.patience_s)


def test_a_short_timer_lets_a_slow_reroute_end_the_job():
    """3 s until hold timers notice, half a second of patience."""
    assert fail_over(cluster(NCCL_IB_TIMEOUT="14")).may_end_the_job
    assert not fail_over(cluster()).may_end_the_job


def test_senders_that_know_paths_wait_less_than_switches_that_route():
    by_title = {one.title: one.until_s.value for one in every_fail_over()}
    assert by_title["Ultra Ethernet"] < by_title["EFA (SRD)"] < by_title["TCP sockets"]
    assert by_title["TCP sockets"] < by_title["RoCEv2"]


def test_a_fabric_of_which_nothing_is_published_has_no_fail_over():
    assert "Slingshot 11" not in {one.title for one in every_fail_over()}
