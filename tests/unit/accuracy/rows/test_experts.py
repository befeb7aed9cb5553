import pytest

from weft.accuracy.kind import all_kinds
from weft.accuracy.rows.experts import exchange_of
from weft.errors import SpecError

ROW = {
    "row_id": "e1", "system": "s", "gpu": "H800 SXM (NVLink ~160 GB/s max)",
    "nic": "CX-7 1x400G per GPU", "fabric": "InfiniBand NDR", "library": "DeepEP V1",
    "phase": "dispatch", "pattern": "normal kernel", "ep_ranks": "32",
    "tokens_per_rank": "4096", "hidden": "7168", "topk": "8", "precision": "FP8",
    "bandwidth_GBps": "59",
}  # fmt: skip
LOW = ROW | {"pattern": "low-latency kernel", "latency_us": "182", "tokens_per_rank": "128"}
ALSO_INSIDE = {"notes": "RDMA only, also inside a node"}


def scored(row):
    (found,) = all_kinds()["expert_all_to_all"].score({"ep_alltoall": [row]})
    return found


def test_a_token_goes_once_to_each_host():
    """S = tokens x hosts reached x width x bytes, at most four hosts."""
    assert exchange_of(ROW | {"ep_ranks": "16"}).size_bytes == 4096 * 2 * 7168
    assert exchange_of(ROW | {"ep_ranks": "64"}).size_bytes == 4096 * 4 * 7168


def test_a_kernel_of_low_latency_sends_every_pair_that_leaves_the_host():
    found = exchange_of(LOW)
    assert found.size_bytes == 128 * 8 * 7168
    assert found.leaving_ratio == 24 / 32
    assert exchange_of(LOW | ALSO_INSIDE).leaving_ratio == 31 / 32
    assert exchange_of(LOW | {"ep_ranks": "8"}).leaving_ratio is None


@pytest.mark.parametrize(
    "nic", ["EFA 16x200G", "EFA 8x400G", "CX-7 1x400G per GPU", "CX-7", "Thor2 400G"]
)
def test_nics_are_read_per_host_or_per_gpu(nic):
    assert exchange_of(ROW | {"nic": nic}).nic_bytes_per_s == 50e9


def test_logical_bandwidth_may_exceed_the_nic():
    """Pairs that stay on the own host count: on two hosts nearly twice the NIC."""
    assert 60e9 < scored(ROW | {"ep_ranks": "16"}).predicted < 100e9


def test_what_is_measured_is_what_is_predicted():
    assert scored(ROW).quantity == "algbw_bytes_per_s"
    assert scored(LOW).quantity == "time_s"
    assert scored(LOW | ALSO_INSIDE).inside


@pytest.mark.parametrize(
    "change", [{"library": "raw RDMA test"}, {"ep_ranks": ""}, {"precision": "INT4"}]
)
def test_what_is_not_covered_is_refused(change):
    with pytest.raises(SpecError):
        exchange_of(ROW | change)


def test_the_rows_that_constants_come_from_are_apart():
    assert scored(ROW).healthy
    assert not scored(LOW).healthy
    assert scored(LOW | {"library": "UCCL-EP"}).healthy
