"""Networks for an inference service: each at its best, one verdict from the table."""

from math import inf

import pytest

from weft.advise.best import networks
from weft.advise.candidate import find
from weft.advise.serving import ServiceVerdict, compare_service
from weft.engines.analytic.inference import resolve, tokens_per_s
from weft.errors import Infeasible, UnknownName
from weft.spec.load import load_cluster, load_inference, preset

CLUSTER = preset("dgx_h200", hosts=8)
SPARSE = load_inference({"model": "deepseek_v3", "precision": "fp8", "sequences": 4096})
DENSE = load_inference({"model": "llama3_70b", "sequences": 512})


@pytest.fixture(scope="module", params=[SPARSE, DENSE], ids=["sparse", "dense"])
def compared(request):
    return compare_service(CLUSTER, request.param)


def test_the_recommended_network_costs_least_of_those_that_may_be(compared):
    free = [line for line in compared.lines if not line.objections]
    cheapest = min(free, key=lambda line: line.prediction.usd_per_1m_tokens.value)
    assert cheapest.name == compared.fabric
    assert cheapest.verdict is ServiceVerdict.ADVISED
    assert [line.verdict for line in compared.lines].count(ServiceVerdict.ADVISED) == 1


def test_a_row_that_costs_the_same_is_within_error_and_others_are_not(compared):
    for line in compared.lines:
        assert line.cost_ratio.low <= line.cost_ratio.value <= line.cost_ratio.high
        if line.verdict is ServiceVerdict.TIED:
            assert line.cost_ratio.low <= 1.005
        if line.verdict is ServiceVerdict.COSTS_MORE:
            assert line.cost_ratio.low > 1.005


def test_the_rows_do_not_depend_on_the_fabric_of_the_file(compared):
    tcp = CLUSTER.with_(fabric=CLUSTER.fabric.with_(kind="tcp"))
    again = compare_service(tcp, compared.service)
    assert again.fabric == compared.fabric
    same = {line.name: line.prediction.usd_per_1m_tokens for line in compared.lines}
    assert {line.name: line.prediction.usd_per_1m_tokens for line in again.lines} == same


def test_a_dense_model_that_fits_in_a_host_needs_no_network():
    found = compare_service(CLUSTER, DENSE, ["none", "infiniband", "tcp"])
    assert found.fabric == "none"
    assert "no scale-out network" in found.sentence
    assert all(line.prediction.network_ratio.value == 0 for line in found.lines)


def test_a_model_larger_than_a_host_needs_one():
    service = load_inference(
        {"model": "deepseek_v3", "precision": "bf16", "sequences": 512, "kv_precision": "fp8"}
    )
    cluster = preset("dgx_h100", hosts=8)
    found = compare_service(cluster, service, ["none", "infiniband"])
    assert found.fabric == "infiniband"
    assert [one.name for one in found.left_out] == ["none"]
    assert "hosts have no NIC" in found.left_out[0].reason
    with pytest.raises(Infeasible, match="no network can carry"):
        compare_service(cluster, service, ["none"])


def test_limits_of_the_owner_rule_rows_out():
    poor = load_cluster(
        {
            "preset": "dgx_h200",
            "hosts": 8,
            "constraints": {"network_budget_usd": "1000USD", "skills": {"roce": "none"}},
        }
    )
    found = compare_service(poor, SPARSE, ["infiniband", "roce_tuned"])
    assert found.fabric is None
    assert "No network can be recommended" in found.sentence
    assert all(line.verdict is ServiceVerdict.EXCLUDED for line in found.lines)


def test_pinned_nics_stay():
    found = compare_service(CLUSTER, SPARSE, ["infiniband"], pins=["host.nics", "host.nic"])
    host = found.lines[0].prediction.cluster.host
    assert (host.nics, host.nic) == (CLUSTER.host.nics, CLUSTER.host.nic)


def test_an_unknown_network_is_named_with_the_nearest():
    with pytest.raises(UnknownName, match="infiniband"):
        compare_service(CLUSTER, DENSE, ["infinband"])


@pytest.mark.parametrize("service", [SPARSE, DENSE], ids=["sparse", "dense"])
@pytest.mark.parametrize("name", ["infiniband", "tcp"])
def test_the_pruned_search_finds_the_cheapest_of_all_networks(name, service):
    def usd(cluster, hourly):
        try:
            return hourly / tokens_per_s(cluster, resolve(cluster, service))
        except Infeasible:
            return inf

    found = compare_service(CLUSTER, service, [name]).lines[0].prediction
    own = found.cost.usd_per_gpu_hour.value / found.tokens_per_s.value
    least = min(usd(cluster, hourly) for cluster, hourly in networks(find(name), CLUSTER))
    assert own == pytest.approx(least, rel=1e-6)
