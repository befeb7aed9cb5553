import pytest

from weft.doctor.cost import Fault
from weft.doctor.price import default_case, price, with_fault
from weft.spec.load import load_job, preset


def test_every_fault_costs_the_default_job_something():
    for fault in Fault:
        found = price(fault, 0.5)
        assert found is not None, fault
        assert (found.step_ratio or found.stop_s).value > 0
        assert (found.step_ratio is None) == (fault is Fault.STOP) != (found.stop_s is None)
        assert found.usd.low < found.usd.value < found.usd.high
        assert not found.stated


def test_money_is_the_share_of_the_day_that_is_waited():
    """A step that takes 1 + r as long wastes r / (1 + r) of what the GPUs cost in a day."""
    from weft.predict.training import predict  # noqa: PLC0415 - the model is slow to load

    cluster, job = default_case()
    sound = predict(cluster, job)
    found = price(Fault.SOCKETS)
    per_day = sound.cost.usd_per_gpu_hour.value * sound.gpus * 24
    grown = found.step_ratio.value
    assert found.usd.value == pytest.approx(per_day * grown / (1 + grown))


def test_a_stop_costs_the_restart_and_half_the_work_between_checkpoints():
    cluster, job = default_case()
    known = cluster.with_(
        reliability=cluster.reliability.with_(restart_s=600.0, checkpoint_interval_s=1800.0)
    )
    found = price(Fault.STOP, 1.0, known, job)
    assert found.stop_s.value == found.stop_s.low == found.stop_s.high == 600 + 1800 / 2
    rare = known.with_(reliability=known.reliability.with_(checkpoint_interval_s=7200.0))
    assert price(Fault.STOP, 1.0, rare, job).usd.value > found.usd.value


def test_a_gpu_at_half_its_clock_at_most_doubles_the_step_and_no_network_helps():
    cluster, job = default_case()
    found = price(Fault.GPU_SLOW, 1.0, cluster, job)
    assert 0.5 < found.step_ratio.value <= 1.0
    slower = cluster.with_(
        host=cluster.host.with_(nic_bytes_per_s=cluster.host.nic_bytes_per_s / 8)
    )
    assert price(Fault.GPU_SLOW, 1.0, slower, job).step_ratio.value < found.step_ratio.value


def test_links_paused_for_half_of_the_time_are_links_at_half_their_rate():
    paused, narrow = price(Fault.PAUSED, 0.5), price(Fault.LINK_NARROW, 0.5)
    assert paused.step_ratio == narrow.step_ratio


def test_a_fault_of_what_is_not_there_has_no_price():
    cluster, job = default_case()
    tcp = with_fault(cluster, Fault.SOCKETS)
    assert tcp.fabric.kind == "tcp"
    assert with_fault(tcp, Fault.SOCKETS) is None
    assert with_fault(tcp, Fault.GPUDIRECT_OFF) is None
    assert price(Fault.MISTUNED, 1.0, cluster, job) is None  # InfiniBand has nothing to tune


def test_a_narrower_link_costs_more():
    half, quarter = price(Fault.LINK_NARROW, 0.5), price(Fault.LINK_NARROW, 0.25)
    assert quarter.step_ratio.value > half.step_ratio.value
    assert with_fault(default_case()[0], Fault.LINK_NARROW, 1.0) is None


def test_a_job_of_the_user_is_priced_as_such():
    cluster = preset("dgx_h100", hosts=4)
    job = load_job({"model": "llama3_8b", "global_batch": 128})
    found = price(Fault.GPUDIRECT_OFF, 1.0, cluster, job)
    assert found.stated
    assert found.gpus == 32


def test_a_job_that_does_not_fit_has_no_price():
    small = preset("dgx_h100", hosts=1)
    job = load_job({"model": "llama3_405b", "global_batch": 8})
    assert price(Fault.SOCKETS, 1.0, small, job) is None
