"""Published rows of collectives, as clusters and groups."""

import pytest

from weft.accuracy.kind import LeftOut, Score, all_kinds
from weft.accuracy.rows.collective import case_of, try_case
from weft.traffic.collective import Operation

RUN = {
    "run_id": "r", "op": "all_reduce", "gpu": "H100-80GB-SXM", "gpus": "32", "nodes": "4",
    "fabric": "InfiniBand", "fabric_gen": "NDR", "nics_per_node": "8", "nic_gbps": "400",
    "system": "site", "health": "reference", "settings": "", "software": "",
}  # fmt: skip
POINTS = [
    {"run_id": "r", "size_B": "1048576", "time_us": "82.17", "busbw_GBps": "24.73"},
    {"run_id": "r", "size_B": "1073741824", "time_us": "5808.8", "busbw_GBps": "358.14"},
]


def run(**changes: str) -> dict[str, str]:
    return RUN | changes


@pytest.mark.parametrize(
    ("gpu", "name"),
    [("H100-80GB-SXM", "h100_sxm"), ("A100 (DGX A100)", "a100_sxm_80"),
     ("V100-SXM2-32GB", "v100"), ("GB300", "gb300"), ("MI355X", "mi355x"),
     ("NVIDIA H200 141GB HBM3e", "h200_sxm"), ("L40S", "l40s"), ("T4 (g4dn-class)", "t4"),
     ("H100/H200 (not named)", "h200_sxm")],
)  # fmt: skip
def test_a_gpu_is_recognised_however_it_is_written(gpu, name):
    assert case_of(run(gpu=gpu)).cluster.host.gpu == name


@pytest.mark.parametrize(
    ("text", "name"),
    [("EFA (SRD/Ethernet)", "efa"), ("TCP sockets", "tcp"), ("TCP (GPUDirect-TCPX)", "tcpx"),
     ("TCPXO (FasTrak)", "tcpxo"), ("RoCEv2", "roce"), ("InfiniBand HDR", "infiniband"),
     ("Slingshot-11 (libfabric cxi, aws-ofi-nccl)", "slingshot"), ("IPoIB over HDR", "tcp"),
     ("NVLink + InfiniBand", "infiniband"), ("Spectrum-X Ethernet", "roce")],
)  # fmt: skip
def test_a_fabric_is_recognised_however_it_is_written(text, name):
    assert case_of(run(fabric=text)).cluster.fabric.kind == name


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"gpu": "not-stated"}, "GPU not named"), ({"fabric": "?", "fabric_gen": ""}, "fabric"),
     ({"nics_per_node": ""}, "NICs not stated"), ({"op": "gather"}, "not modelled"),
     ({"gpus": ""}, "GPUs not stated")],
)  # fmt: skip
def test_a_row_without_a_needed_fact_is_left_out_with_the_reason(changes, reason):
    tables = {"nccl_runs": [run(**changes)], "nccl_points": POINTS}
    found = list(all_kinds()["collective_from_64MiB"].score(tables))
    assert [type(row) for row in found] == [LeftOut]
    assert reason in found[0].reason
    assert try_case(run(**changes)) is None


def test_nics_are_read_from_the_text_when_the_columns_are_empty():
    host = case_of(
        run(nics_per_node="", nic_gbps="", fabric_gen="NDR 8x400G CX-7")
    ).cluster.host
    assert (host.nics, host.nic_bytes_per_s) == (8, 50e9)


def test_racks_joined_by_nvlink_are_one_domain_each():
    rack = run(
        gpu="GB200", gpus="144", nodes="36", fabric="NVLink + InfiniBand", nics_per_node="4"
    )
    case = case_of(rack)
    assert (case.group.domains, case.group.ranks_per_domain, case.cluster.host.nics) == (
        2,
        72,
        72,
    )


def test_variables_in_the_settings_reach_the_library():
    case = case_of(run(settings="NCCL_ALGO=RING QPS=2 MIN_CTAS=24 NCCL_IB_DISABLE=1"))
    wanted = {"NCCL_ALGO": "RING", "NCCL_MIN_CTAS": "24", "NCCL_IB_DISABLE": "1"}
    assert case.cluster.nccl.env == wanted


def test_the_library_version_is_not_that_of_nccl_tests():
    case = case_of(run(software="nccl-tests 2.17.6, NCCL 2.26.2+cuda12.8"))
    assert case.cluster.nccl.version == "2.26.2"


def test_points_go_to_the_kind_of_their_size_and_quantity():
    tables = {"nccl_runs": [run()], "nccl_points": POINTS}
    (large,), (small,) = (
        list(all_kinds()[name].score(tables))
        for name in ("collective_from_64MiB", "collective_below_64MiB")
    )
    assert (large.quantity, small.quantity) == ("busbw_bytes_per_s", "time_s")
    assert (large.labels["scale"], large.labels["size"]) == ("3-8 hosts", "from 1 GiB")
    assert abs(large.error_ratio) < 0.15
    assert large.low < large.predicted < large.high


def test_the_peak_stands_in_for_a_sweep_that_is_not_there():
    tables = {"nccl_runs": [run(peak_busbw_GBps="365.84", peak_at_B="17179869184")]}
    (score,) = all_kinds()["collective_from_64MiB"].score(tables)
    assert isinstance(score, Score)
    assert score.measured == pytest.approx(365.84e9)


def test_a_point_of_a_run_that_is_not_listed_is_left_out():
    (row,) = all_kinds()["collective_from_64MiB"].score({"nccl_points": POINTS})
    assert isinstance(row, LeftOut)


@pytest.mark.parametrize(
    ("health", "healthy"),
    [("reference", True), ("tuned", True), ("complaint", False), ("broken", False),
     ("unknown", False), ("", False)],
)  # fmt: skip
def test_broken_and_unknown_systems_are_scored_apart(health, healthy):
    assert case_of(run(health=health)).healthy is healthy


def test_a_summary_row_needs_a_size_and_one_measured_value():
    good = run(row_id="n1", size="1 GiB", value="358", unit="GB/s busbw", kind="measured")
    rows = [good, good | {"size": "large"}, good | {"value": "320-350"}, good | {"kind": "doc"}]
    found = list(all_kinds()["collective_summary"].score({"nccl_summary": rows}))
    assert [isinstance(row, Score) for row in found] == [True, False, False, False]
    assert case_of(good).operation is Operation.ALL_REDUCE
