import pytest

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.step import resolve, step_time
from weft.predict.training import predict
from weft.spec.load import model, preset
from weft.spec.overlay import CollectiveRatios, Overlay
from weft.spec.workload import Job, Parallelism
from weft.traffic.collective import Group, Operation

CLUSTER = preset("dgx_h100", hosts=4)
ACROSS = Group(ranks=32, ranks_per_domain=8)
INSIDE = Group(ranks=8, ranks_per_domain=8)
SLOW = Overlay(
    name="mine",
    collectives={
        "across.any.any": CollectiveRatios(
            fixed_ratio=3.0, volume_ratio=2.0, low_ratio=0.95, high_ratio=1.05, rows=9
        )
    },
)
JOB = Job(
    model=model("llama3_8b"), global_batch=128, sequence_length=8192,
    parallelism=Parallelism(tp=1, sharding="zero3", overlap_dp=False),
)  # fmt: skip


def times(overlay, size_bytes, group=ACROSS):
    bare, laid = (
        collective_time(CLUSTER.with_(overlay=o), Operation.ALL_REDUCE, size_bytes, group)
        for o in (None, overlay)
    )
    return bare, laid


def test_volume_and_start_are_moved_apart():
    """t' = 3 (t - volume) + 2 volume: 3 t at 8 bytes, 2 t at 8 GiB."""
    small, slow = times(SLOW, 8)
    assert slow.time_s.value == pytest.approx(3 * small.time_s.value, rel=1e-3)
    large, slow = times(SLOW, 8 << 30)
    assert slow.time_s.value == pytest.approx(2 * large.time_s.value, rel=0.02)


def test_the_band_is_that_of_the_measurement_and_of_what_differs_between_sweeps():
    ratios = SLOW.collectives["across.any.any"].with_(ranks=[32])
    own = SLOW.with_(collectives={"across.all_reduce.any": ratios})
    bare, slow = times(own, 8 << 30)
    assert slow.time_s.low <= 0.95 * slow.time_s.value
    width = slow.time_s.high / slow.time_s.value
    assert 1.05 < width < bare.time_s.high / bare.time_s.value
    assert any("overlay mine" in reason for reason in slow.reasons)


def test_what_was_measured_of_others_narrows_the_band_less():
    ratios = SLOW.collectives["across.any.any"].with_(ranks=[32])
    widths = []
    for name, ranks in (("all_reduce.any", 32), ("all_reduce.any", 64), ("any.any", 32)):
        overlay = SLOW.with_(collectives={f"across.{name}": ratios.with_(ranks=[ranks])})
        _, found = times(overlay, 8 << 30)
        widths.append(found.time_s.high / found.time_s.low)
    assert widths[0] < widths[1] == pytest.approx(widths[2])


def test_what_was_not_measured_stays():
    bare, laid = times(SLOW, 8 << 30, INSIDE)
    assert bare == laid
    bare, laid = times(Overlay(), 8 << 30)
    assert bare == laid


def test_what_was_measured_on_one_fabric_says_nothing_of_another():
    of_roce = SLOW.with_(fabric="roce")
    assert CLUSTER.fabric.kind != "roce"
    bare, laid = times(of_roce, 8 << 30)
    assert bare == laid
    bare, laid = times(SLOW.with_(fabric=CLUSTER.fabric.kind), 8 << 30)
    assert laid.time_s.value > bare.time_s.value


def test_a_slower_network_makes_a_slower_step_and_the_result_names_the_overlay():
    bare = predict(CLUSTER, JOB)
    slow = predict(CLUSTER.with_(overlay=SLOW), JOB)
    assert slow.step_s.value > 1.02 * bare.step_s.value
    assert bare.provenance.overlay is None
    assert slow.provenance.overlay == f"mine@{SLOW.sha256[:12]}"


@pytest.mark.parametrize("changed", ["matrix_ratio", "attention_ratio", "memory_ratio"])
def test_every_measured_rate_of_the_gpu_changes_the_step(changed):
    value = {"bf16": 0.5} if changed == "matrix_ratio" else 0.5
    job = resolve(CLUSTER, JOB)
    bare = step_time(CLUSTER, job).step_s.value
    laid = step_time(CLUSTER.with_(overlay=Overlay(**{changed: value})), job).step_s.value
    assert laid > 1.005 * bare
