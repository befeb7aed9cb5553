"""Which published systems are one product."""

import pytest

from weft.accuracy import tables
from weft.accuracy.rows.collective import case_of, family_of, try_case

ROW = {
    "run_id": "r", "op": "all_reduce", "gpu": "H100-80GB-SXM", "gpus": "16", "nodes": "2",
    "fabric": "InfiniBand", "nics_per_node": "8", "nic_gbps": "400", "system": "s",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "family"),
    [({"site": "AWS p5.48xlarge EKS"}, "AWS p5"), ({"system": "AWS p5en (lab)"}, "AWS p5en"),
     ({"site": "GCP A3 Ultra (gIB)"}, "GCP A3 Ultra"), ({}, "Hopper 400G infiniband"),
     ({"gpu": "GB200", "fabric": "NVLink"}, "GB200 NVL72"),
     ({"nic_gbps": "200"}, "Hopper 200G infiniband")],
)  # fmt: skip
def test_a_named_product_is_a_family_and_the_rest_goes_by_hardware(changes, family):
    row = ROW | changes
    assert family_of(row, case_of(row).cluster) == family


def test_every_published_sweep_has_a_family_and_a_key_of_its_own():
    cases = [c for c in map(try_case, tables.read(tables.SHIPPED)["nccl_runs"]) if c]
    assert all(case.family for case in cases)
    assert len({case.sweep for case in cases}) == len(cases)


def test_a_variable_before_a_comma_is_read_without_it():
    case = case_of(ROW | {"settings": "NCCL_NVLS_ENABLE=0, no in-network reduction"})
    assert case.cluster.nccl.env["NCCL_NVLS_ENABLE"] == "0"


def test_nvls_that_a_row_states_is_settled():
    case = case_of(ROW | {"settings": "NCCL 2.29.7; default, NVLS on"})
    assert case.cluster.nccl.env["NCCL_NVLS_ENABLE"] == "1"
