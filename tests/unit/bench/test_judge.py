"""The judge on sweeps whose truth is known, because they are made from a model's curve."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from weft import report
from weft.bench import noise, shape, store
from weft.bench.expected import Setting, expected, group_of, times_s
from weft.bench.fault import all_faults
from weft.bench.infer import gpu_of
from weft.bench.judge import judge, judge_sweep
from weft.bench.run import BenchRun
from weft.bench.sweep import MessageTest, Timing, read_sweep
from weft.bench.verdict import Outcome
from weft.doctor.diagnose import diagnose
from weft.errors import SpecError
from weft.readers.read import read
from weft.spec.load import preset
from weft.spec.overlay import CollectiveRatios, Overlay
from weft.traffic.collective import Operation

SAMPLES = Path(__file__).parents[2] / "samples"
EXAMPLES = Path(__file__).parents[3] / "examples" / "runs"
MIB = 2**20


def test_a_run_on_its_curve_passes(cluster, sweep_on):
    found = judge_sweep(sweep_on(cluster), cluster)
    assert found.outcome is Outcome.PASS
    assert found.candidates[0].name == "healthy"
    assert (found.curve, found.group, found.next_checks) == (None, (), ())


def test_explanations_are_listed_by_probability_and_the_likeliest_group_leads():
    found = judge(EXAMPLES / "all_reduce_h100_slow.txt")
    shares = [one.probability for one in found.candidates]
    assert shares == sorted(shares, reverse=True)
    groups = {one.group for one in found.candidates} - {0}
    whole = {n: sum(c.probability for c in found.candidates if c.group == n) for n in groups}
    leading = max(whole, key=whole.get)
    assert found.group == tuple(c.name for c in found.candidates if c.group == leading)


def _cost(cluster, run, name, label):
    """Return what a form of a fault costs, by size."""
    setting = Setting(cluster=cluster, sweep=run, group=group_of(cluster, run))
    form = next(f for f in dict(all_faults())[name].forms(setting) if label in f.label)
    sound = times_s(setting, cluster, {})
    slow = times_s(setting, form.cluster, form.factors)
    sizes = (t.size_bytes for t in run.timings)
    return dict(zip(sizes, (f / s for f, s in zip(slow, sound, strict=True)), strict=True))


def _with_fault(cluster, sweep_on, name, label, **more):
    cost = _cost(cluster, sweep_on(cluster), name, label)
    return sweep_on(cluster, lambda size: cost[size], **more)


def test_half_of_the_nics_fail_in_large_sizes_and_small_ones_still_pass(cluster, sweep_on):
    found = judge_sweep(_with_fault(cluster, sweep_on, "nics_lost", "4 of 8"), cluster)
    assert found.outcome is Outcome.FAIL
    by_name = {one.name: one for one in found.ranges}
    assert by_name["small"].outcome is Outcome.PASS
    assert by_name["large"].outcome is Outcome.FAIL
    assert by_name["large"].slower_ratio == pytest.approx(0.75, abs=0.2)
    assert "nics_lost" in found.group


def test_faults_with_one_curve_are_a_group_with_the_check_that_parts_them(cluster, sweep_on):
    """A link at half of its rate, half of the NICs and other traffic make one plateau."""
    found = judge_sweep(_with_fault(cluster, sweep_on, "nics_lost", "4 of 8"), cluster)
    assert len(found.group) > 1
    first = found.next_checks[0]
    gains = [one.gain_bits for one in found.next_checks]
    assert gains == sorted(gains, reverse=True)
    assert len({what for what, names in first.shows.items() if {*names} & {*found.group}}) > 1
    numbers = {one.name: one.group for one in found.candidates}
    assert {numbers[name] for name in found.group} == {1}


def test_a_scale_common_to_all_sizes_is_no_known_fault(cluster, sweep_on):
    """No fault slows eight bytes and eight GiB alike."""
    found = judge_sweep(sweep_on(cluster, lambda _: 2.0), cluster)
    assert found.outcome is Outcome.FAIL
    assert found.candidates[0].name == "none of these"


def test_without_large_sizes_bandwidth_is_not_tested_so_nothing_passes(cluster, sweep_on):
    found = judge_sweep(sweep_on(cluster, sizes=(1024, 2048, 4096)), cluster)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "64 MiB" in " ".join(found.said)


def test_between_the_two_edges_no_number_of_repeats_decides(cluster, sweep_on):
    found = judge_sweep(sweep_on(cluster, lambda _: 1.2, noise_ratio=0.001), cluster)
    large = next(one for one in found.ranges if one.name == "large")
    assert large.pass_below_ratio < 0.2 < large.fail_above_ratio
    assert (large.outcome, large.repeats) == (Outcome.INCONCLUSIVE, None)
    assert "repeats do not decide" in large.reason


def test_noise_at_an_edge_asks_for_the_repeats_of_the_power_calculation(cluster, sweep_on):
    sound = judge_sweep(sweep_on(cluster), cluster)
    edge = 1 + next(one for one in sound.ranges if one.name == "large").pass_below_ratio
    run = sweep_on(cluster, lambda _: edge * 0.97, noise_ratio=0.0001)
    noisy = replace(run, timings=tuple(replace(t, noise_ratio=0.1) for t in run.timings))
    large = next(r for r in judge_sweep(noisy, cluster).ranges if r.name == "large")
    assert large.outcome is Outcome.INCONCLUSIVE
    assert large.repeats is not None
    # n = ((1.645 + 0.842) noise / distance)^2, distance = log(1 / 0.97)
    wanted = ((1.6449 + 0.8416) * large.noise_ratio / 0.030459) ** 2
    assert large.repeats == pytest.approx(wanted, rel=0.1, abs=1)


def test_wrong_results_fail_however_fast(cluster, sweep_on):
    run = sweep_on(cluster)
    wrong = replace(run, timings=(replace(run.timings[0], wrong=3), *run.timings[1:]))
    assert judge_sweep(wrong, cluster).outcome is Outcome.FAIL


def test_wrong_results_alone_do_not_make_a_fault_of_speed(cluster, sweep_on):
    right = sweep_on(cluster)
    first, *others = right.timings
    found = judge_sweep(replace(right, timings=(replace(first, wrong=3), *others)), cluster)
    assert found.outcome is Outcome.FAIL
    assert found.candidates[0].name == "healthy"
    assert found.curve is None


def test_a_run_faster_than_the_cluster_can_be_is_of_another_cluster(cluster, sweep_on):
    """Half of twice the NICs of the file would pass otherwise."""
    found = judge_sweep(sweep_on(cluster, lambda s: 0.4 if s > 4 * MIB else 1.0), cluster)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "large sizes are faster" in found.unknown[0]


def test_a_band_of_own_measurements_is_narrower_and_decides(cluster, sweep_on):
    ratios = CollectiveRatios(low_ratio=0.97, high_ratio=1.03, rows=20)
    known = cluster.with_(
        overlay=Overlay(
            name="ours", fabric="infiniband", collectives={"across.all_reduce.any": ratios}
        )
    )
    run = sweep_on(cluster, lambda _: 1.22, noise_ratio=0.001)
    assert judge_sweep(run, cluster).outcome is Outcome.INCONCLUSIVE
    assert judge_sweep(run, known).outcome is Outcome.FAIL


DISTINCT = ("gpudirect_off", "tcp_fallback", "no_scale_up", "wrong_protocol", "affinity")


@pytest.mark.parametrize("name", DISTINCT)
def test_a_fault_with_a_shape_of_its_own_is_named_first(cluster, sweep_on, name):
    run = sweep_on(cluster)
    setting = Setting(cluster=cluster, sweep=run, group=group_of(cluster, run))
    fault = dict(all_faults())[name]
    worst = list(fault.forms(setting))[0 if name == "wrong_protocol" else -1]
    sound = times_s(setting, cluster, {})
    cost = dict(
        zip(
            (t.size_bytes for t in run.timings),
            (f / s for f, s in zip(
                times_s(setting, worst.cluster, worst.factors), sound, strict=True
            )),
            strict=True,
        )
    )  # fmt: skip
    found = judge_sweep(sweep_on(cluster, lambda s: cost[s]), cluster)
    assert found.fault is not None
    assert found.fault.name == name


def test_what_no_fault_explains_is_none_of_these(cluster, sweep_on):
    """Five times slower at the largest size alone: no fault has that curve."""
    found = judge_sweep(sweep_on(cluster, lambda s: 5.0 if s > 2**29 else 1.0), cluster)
    assert found.candidates[0].name == "none of these"


def test_probabilities_add_up_to_one(cluster, sweep_on):
    run = sweep_on(cluster, lambda _: 1.4)
    setting = Setting(cluster=cluster, sweep=run, group=group_of(cluster, run))
    found = shape.explain(setting, expected(setting))
    assert sum(one.probability for one in found) == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "fault"), all_faults(), ids=[n for n, _ in all_faults()])
def test_every_fault_slows_some_system_and_speeds_none_much(name, fault, sweep_on):
    """A fault whose curve nowhere changes tells nothing; one that is faster is no fault."""
    seen = []
    for spec in ("dgx_h100", "hgx_h100_roce", "a100_tcp_100g"):
        own = preset(spec, hosts=4)
        own = own.with_(
            fabric=own.fabric.with_(
                sockets=8 if spec == "a100_tcp_100g" else None,
                socket_threads=4 if spec == "a100_tcp_100g" else None,
                in_network_reduction=spec == "dgx_h100",
            )
        )
        run = sweep_on(own)
        setting = Setting(cluster=own, sweep=run, group=group_of(own, run))
        sound = times_s(setting, own, {})
        for form in fault.forms(setting):
            curve = times_s(setting, form.cluster, form.factors)
            seen += [f / s for f, s in zip(curve, sound, strict=True)]
    assert max(seen) > 1.02, name
    assert min(seen) > 0.6, name


def test_a_log_names_ranks_hosts_and_gpus_but_not_the_rate_of_its_nics():
    found = judge(SAMPLES / "calibrate" / "two_hosts.txt")
    assert found.outcome is Outcome.INCONCLUSIVE
    assert (found.ranks, found.hosts) == (4, 2)
    assert any("rate of the NICs" in one for one in found.unknown)
    assert any("DGX H100" in one for one in found.assumed)


def test_one_host_is_judged_without_a_spec(tmp_path):
    """Inside a host the GPU says all: 8 GPUs on NVLink, 480 GB/s of busbw with NVLS."""
    rows = "".join(
        f"  {size}  {size // 4}  float  sum  -1  {time}  1.0  1.0  0\n"
        for size, time in ((1 << 28, 1030.0), (1 << 30, 3950.0), (1 << 32, 15400.0))
    )
    ranks = "".join(
        f"#  Rank  {r} Group  0 Pid  1 on  one device  {r} [0x0] NVIDIA H100 80GB HBM3\n"
        for r in range(8)
    )
    file = tmp_path / "all_reduce.txt"
    file.write_text(
        f"{ranks}# out-of-place\n# size count type redop root time algbw busbw\n{rows}"
    )
    found = judge(file)
    assert found.outcome is Outcome.PASS
    assert found.unknown == ()


def test_a_run_that_the_cluster_has_no_room_for_is_refused(cluster, sweep_on):
    with pytest.raises(SpecError, match="describe the cluster that was measured"):
        judge_sweep(sweep_on(cluster), cluster.with_(hosts=2))


def test_perftest_needs_a_cluster_and_is_judged_with_one():
    file = SAMPLES / "calibrate" / "write_bw.txt"
    assert judge(file).outcome is Outcome.INCONCLUSIVE
    found = judge(file, preset("hgx_h100_roce", hosts=2))
    assert found.what == "bandwidth"
    assert found.outcome is Outcome.PASS


def test_the_two_timings_of_a_size_show_its_noise():
    run, _ = read_sweep([SAMPLES / "calibrate" / "two_hosts.txt"])
    assert run.operation is Operation.ALL_REDUCE
    assert [t.size_bytes for t in run.timings] == [8, MIB, 2**30]
    assert run.timings[0].noise_ratio == pytest.approx(noise.published(8))
    with_gap = (SAMPLES / "calibrate" / "two_hosts.txt").read_text()
    assert "27.90" in with_gap


def test_a_file_without_rows_is_refused(tmp_path):
    file = tmp_path / "x.txt"
    file.write_text("nothing\n")
    with pytest.raises(SpecError, match="was it cut short"):
        judge(file)


def test_iterations_show_their_own_noise():
    assert noise.measured([1.0, 1.1]) is None
    spread = noise.measured([1.0, 1.1, 0.9, 1.0])
    assert spread == pytest.approx(0.041, abs=0.002)


def test_drivers_names_lead_to_the_catalogue():
    assert gpu_of("NVIDIA H100 80GB HBM3") == "h100_sxm"
    assert gpu_of("AMD Instinct MI300X") == "mi300x"
    assert Timing(size_bytes=1, time_s=1, noise_ratio=0).wrong == 0


def _run_of(tmp_path, gpu="NVIDIA H100 80GB HBM3", more=""):
    text = (EXAMPLES / "all_reduce_h100.txt").read_text()
    file = tmp_path / "all_reduce.txt"
    file.write_text(text.replace("NVIDIA H100 80GB HBM3", gpu) + more)
    return file


def test_a_cluster_file_of_another_gpu_decides_nothing(tmp_path):
    cluster = preset("dgx_h100", hosts=2)
    assert judge(_run_of(tmp_path), cluster).outcome is Outcome.PASS
    found = judge(_run_of(tmp_path, "NVIDIA A100-SXM4-80GB"), cluster)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "A100" in found.unknown[0]


def test_the_version_that_ran_counts_not_that_of_the_file(tmp_path):
    file = _run_of(tmp_path, more="NCCL version 2.18.1+cuda12.1\n")
    found = judge(file, preset("dgx_h100", hosts=2))
    assert found.cluster is not None
    assert found.cluster.nccl.version == "2.18.1"
    assert any("2.18.1" in one for one in found.said)


def test_what_the_doctor_names_in_the_output_is_told(tmp_path):
    more = "a:1:2 [0] NCCL INFO NCCL_PROTO set by environment to LL.\n"
    found = judge(_run_of(tmp_path, more=more), preset("dgx_h100", hosts=2))
    assert any("NCCL_PROTO=LL" in one for one in found.said)
    log = SAMPLES / "rules" / "link_degraded" / "fires" / "ibportstate.txt"
    found = judge([_run_of(tmp_path), log], preset("dgx_h100", hosts=2))
    assert any("ib-link-degraded" in one for one in found.findings)


def test_one_queue_pair_on_a_fast_line_is_allowed_what_sound_hosts_show(tmp_path):
    """328 of 400 Gb/s with one queue pair is no fault: eight reach the line on sound hosts."""
    file = tmp_path / "ib_write_bw.txt"
    file.write_text(
        "                    RDMA_Write BW Test\n Number of qps   : 1\n Link type : IB\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        " 65536      1000             328.64             328.61             0.626777\n"
    )
    found = judge(file, preset("dgx_h100", hosts=2))
    assert found.outcome is Outcome.PASS
    assert any("-q 8" in one for one in found.said)
    file.write_text(file.read_text().replace("328", "98"))
    assert judge(file, preset("dgx_h100", hosts=2)).outcome is Outcome.FAIL


CHANNELS = "".join(
    f"node-0:40:41 [0] NCCL INFO Channel {c:02d}/0 : 0[0] -> 8[0] [send] via NET/IB/{c}{{}}\n"
    for c in range(8)
)


def test_a_log_with_gpudirect_speaks_against_its_being_off(cluster, tmp_path, sweep_on):
    run = _with_fault(cluster, sweep_on, "gpudirect_off", "copies")
    share = {}
    for way in ("/GDRDMA", ""):
        file = tmp_path / "nccl.log"
        file.write_text(CHANNELS.format(*[way] * 8))
        found = judge_sweep(run, cluster, read(file))
        share[way] = next(c.probability for c in found.candidates if c.name == "gpudirect_off")
        side = "against" if way else "for"
        assert any(line.endswith(f"{side} gpudirect_off") for line in found.told)
        assert "nccl_log" not in [one.name for one in found.next_checks]
    alone = judge_sweep(run, cluster)
    named = next(c.probability for c in alone.candidates if c.name == "gpudirect_off")
    assert share["/GDRDMA"] < named < share[""]


def test_runs_that_differ_speak_for_traffic_of_others(tmp_path):
    """A slot with half its lanes is slow every time; what others send comes and goes."""
    text = (EXAMPLES / "all_reduce_h100_slow.txt").read_text()
    share = {}
    for name, factors in (("steady", (1.0, 1.0, 1.0)), ("unsteady", (0.7, 1.0, 1.4))):
        files = [tmp_path / f"{name}{place}_all_reduce.txt" for place in range(3)]
        for file, factor in zip(files, factors, strict=True):
            file.write_text("\n".join(_slower(line, factor) for line in text.splitlines()))
        found = judge(files, preset("dgx_h100", hosts=2))
        share[name] = next(
            one.probability for one in found.candidates if one.name == "shared_network"
        )
        side = "for" if name == "unsteady" else "against"
        assert any(line.endswith(f"{side} shared_network") for line in found.told)
    assert share["unsteady"] > share["steady"]


def _slower(line, factor):
    """Multiply the time out of place of a row of nccl-tests."""
    words = line.split()
    if len(words) > 10 and words[0].isdigit():
        words[5] = f"{float(words[5]) * factor:.2f}"
        return "  ".join(words)
    return line


def test_what_the_doctor_finds_speaks_for_the_fault_that_it_is(cluster, sweep_on):
    run = _with_fault(cluster, sweep_on, "slow_pair", "a link at 4")
    log = SAMPLES / "rules" / "link_degraded" / "fires" / "ibportstate.txt"
    found = judge_sweep(run, cluster, read(log), findings=diagnose([log]).findings)
    assert found.fault is not None
    assert found.fault.name == "slow_pair"
    assert any("ib-link-degraded" in line and "slow_pair" in line for line in found.told)


def test_several_collectives_of_one_run_are_judged_together(cluster, sweep_on):
    """NVLS and SHARP take part in all-reduce alone, a slow link in all of them."""
    run = sweep_on(cluster)
    kinds = (Operation.ALL_REDUCE, Operation.ALL_TO_ALL)
    both = replace(
        run,
        timings=tuple(
            replace(t, test=MessageTest(what="collective", operation=kind))
            for kind in kinds
            for t in run.timings
        ),
    )
    cost = list(_cost(cluster, both, "slow_pair", "a link at 4").values())
    setting = Setting(cluster=cluster, sweep=both, group=group_of(cluster, both))
    form = next(f for f in dict(all_faults())["slow_pair"].forms(setting) if "at 4" in f.label)
    slow = times_s(setting, form.cluster, form.factors)
    timings = tuple(replace(t, time_s=s) for t, s in zip(both.timings, slow, strict=True))
    found = judge_sweep(replace(both, timings=timings), cluster)
    assert cost
    assert {one.test for one in found.ranges} == {"all_reduce", "alltoall"}
    assert "slow_pair" in found.group
    alone = judge_sweep(
        replace(
            run, timings=tuple(replace(t, test=None) for t in timings[: len(timings) // 2])
        ),
        cluster,
    )
    assert len(found.group) <= len(alone.group)


def test_two_collectives_in_two_files_are_two_tables(tmp_path):
    text = (EXAMPLES / "all_reduce_h100.txt").read_text()
    files = [tmp_path / name for name in ("all_reduce.txt", "all_gather.txt")]
    for file in files:
        rows = "\n".join(line for line in text.splitlines() if "starting" not in line)
        file.write_text(rows)
    run, _ = read_sweep(files)
    assert run.tests == ("all_reduce", "all_gather")


def _log(adapters, speed="speed=400000"):
    found = "".join(
        f"node-{h}:400{i}:400{i} [{i}] NCCL INFO NET/IB: [{i}] mlx5_{i}:uverbs{i}:1/IB "
        f"provider=Mlx5 {speed} context=0x5597 pciPath=/sys/devices/pci0000:00/{i} ar=1\n"
        for h in (0, 1)
        for i in range(adapters)
        if speed
    )
    names = " ".join(f"[{i}]mlx5_{i}:1/IB" for i in range(adapters))
    return (
        f"{found}node-0:40:40 [0] NCCL INFO NET/IB : Using {names} [RO]; OOB e0:10.0.0.1<0>\n"
    )


def test_a_log_that_names_adapters_and_their_rate_is_enough(tmp_path):
    found = judge(_run_of(tmp_path, more=_log(8)))
    assert (found.outcome, found.unknown) == (Outcome.PASS, ())
    assert found.cluster is not None
    assert found.cluster.host.nics == 8


def test_fewer_adapters_than_the_usual_server_has_are_not_taken_for_all(tmp_path):
    """Else four of eight NICs lost would be judged as a host of four, and pass."""
    found = judge(_run_of(tmp_path, more=_log(4)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "8 NICs (NVIDIA DGX H100) or 4" in found.unknown[0]


def _perftest_table(title, adapter, queue_pairs, heading, row):
    return (
        f"                    RDMA_Write {title} Test\n"
        f" Dual-port       : OFF\t\tDevice         : {adapter}\n"
        f" Number of qps   : {queue_pairs}\t\tTransport type : IB\n"
        " Link type       : IB\n"
        f" #bytes #iterations    {heading}\n {row}\n"
    )


def _bandwidth_table(adapter, average, queue_pairs=1):
    heading = "BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
    row = f"65536  5000  {average + 10}  {average}  0.74"
    return _perftest_table("BW", adapter, queue_pairs, heading, row)


_LATENCY_TABLE = _perftest_table(
    "Latency", "mlx5_0", 1,
    "t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]",
    "8  1000  1.61  3.10  1.65  1.66  0.04",
)  # fmt: skip


def test_every_table_of_a_perftest_log_is_judged(tmp_path):
    file = tmp_path / "perftest.txt"
    file.write_text(_bandwidth_table("mlx5_0", 46490.1) + _LATENCY_TABLE)
    found = judge(file, preset("hgx_h100_roce", hosts=2))
    tests = ["write bandwidth, mlx5_0", "write latency, mlx5_0"]
    assert [one.test for one in found.points] == tests
    assert [one.test for one in found.ranges] == tests
    assert [one.limit for one in found.points] == ["NIC", "latency"]


def test_a_latency_has_no_rate(tmp_path):
    file = tmp_path / "perftest.txt"
    file.write_text(_bandwidth_table("mlx5_0", 46490.1) + _LATENCY_TABLE)
    found = judge(file, preset("hgx_h100_roce", hosts=2))
    assert [one.rate_bytes_per_s is None for one in found.points] == [False, True]
    shown = report.show(found, "text")
    row = next(line for line in shown.splitlines() if " us " in line and "latency" in line)
    assert row.split()[-6:-4] == ["-", "-"]


def test_half_of_the_rate_with_one_queue_pair_fails(tmp_path):
    """One queue pair may cost a sound host 1.38 times the time, and no more."""
    file = tmp_path / "perftest.txt"
    file.write_text(_bandwidth_table("mlx5_0", 23800.0))
    assert judge(file, preset("hgx_h100_roce", hosts=2)).outcome is Outcome.FAIL


def test_only_the_tables_that_fail_are_explained(tmp_path):
    """Beside seven sound adapters the curve of the slow one is as it is alone."""
    slow = _bandwidth_table("mlx5_1", 12000.0)
    found = {}
    for name, text in (("alone", slow), ("both", _bandwidth_table("mlx5_0", 46490.1) + slow)):
        file = tmp_path / f"{name}.txt"
        file.write_text(text)
        found[name] = judge(file, preset("hgx_h100_roce", hosts=2))
    assert found["both"].fault.name == found["alone"].fault.name
    assert len(found["both"].curve.times_s) == len(found["both"].points) == 2


def test_a_slow_adapter_does_not_hide_behind_a_sound_one_of_the_same_log(tmp_path):
    file = tmp_path / "perftest.txt"
    file.write_text(_bandwidth_table("mlx5_0", 46490.1) + _bandwidth_table("mlx5_1", 9000.0))
    found = judge(file, preset("hgx_h100_roce", hosts=2))
    assert [one.outcome for one in found.ranges] == [Outcome.PASS, Outcome.FAIL]
    assert found.outcome is Outcome.FAIL


def test_each_table_has_the_queue_pairs_of_its_own_setup(tmp_path):
    file = tmp_path / "perftest.txt"
    file.write_text(_bandwidth_table("mlx5_0", 46490.1, 8) + _bandwidth_table("mlx5_0", 9e3))
    found = judge(file, preset("hgx_h100_roce", hosts=2))
    tests = ["write bandwidth, 8 queue pairs, mlx5_0", "write bandwidth, mlx5_0"]
    assert [one.test for one in found.points] == tests
    eight, one = (point.expected_s for point in found.points)
    assert one.high > eight.high


def test_rows_between_two_nics_beside_a_collective_are_said_not_to_be_judged(tmp_path, cluster):
    (tmp_path / "bw.txt").write_text(_bandwidth_table("mlx5_0", 46490.1))
    found = judge([SAMPLES / "calibrate" / "two_hosts.txt", tmp_path / "bw.txt"], cluster)
    assert "1 row between two NICs not judged: give that file alone" in found.said


def test_good_runs_narrow_the_band_and_decide_what_the_model_leaves_open(cluster, sweep_on):
    """12 % slower lies inside what is published, and far outside of what this cluster does."""
    good = [(f"run {n}", sweep_on(cluster, lambda _: 1.05, seed=n)) for n in range(2, 8)]
    run = sweep_on(cluster, lambda _: 1.05 * 1.12)
    assert judge_sweep(run, cluster).outcome is not Outcome.FAIL
    found = judge_sweep(run, cluster, good=good)
    assert found.outcome is Outcome.FAIL
    assert [one.slower_ratio for one in found.ranges] == pytest.approx([0.12] * 3, abs=0.02)
    assert (
        judge_sweep(sweep_on(cluster, lambda _: 1.05), cluster, good=good).outcome
        is Outcome.PASS
    )
    assert found.good == tuple(f"run {n}" for n in range(2, 8))


def test_a_run_faster_than_the_good_ones_passes_and_says_so(cluster, sweep_on):
    good = [("it", sweep_on(cluster, lambda _: 1.5))]
    found = judge_sweep(sweep_on(cluster), cluster, good=good)
    assert (found.outcome, found.unknown) == (Outcome.PASS, ())
    assert any("measure those again" in one for one in found.said)


def test_good_runs_that_differ_widen_the_band(cluster, sweep_on):
    """No run is failed for what the good ones do among themselves."""
    good = [
        (f"{n}", sweep_on(cluster, lambda _, f=f: f, seed=n))
        for n, f in enumerate((0.85, 1.0, 1.2))
    ]
    found = judge_sweep(sweep_on(cluster, lambda _: 1.15), cluster, good=good)
    assert found.outcome is not Outcome.FAIL
    # edge = t(0.9, 2) x stdev(log 0.85, 0, log 1.2) x sqrt(1 + 1/3)
    assert found.ranges[0].pass_below_ratio == pytest.approx(
        math.expm1(1.8856 * 0.1725 * math.sqrt(4 / 3)), rel=0.05
    )


def test_sizes_between_those_of_a_good_run_are_taken_from_both(cluster, sweep_on):
    good = sweep_on(cluster, lambda _: 1.3, sizes=tuple(2**p for p in range(10, 34, 4)))
    found = judge_sweep(sweep_on(cluster, lambda _: 1.3), cluster, good=[("it", good)])
    assert found.outcome is Outcome.PASS
    assert max(abs(one.slower_ratio) for one in found.ranges) < 0.02


def test_a_good_run_of_another_kind_is_refused(cluster, sweep_on):
    run = sweep_on(cluster)
    for other in (replace(run, ranks=16), replace(run, operation=Operation.ALL_GATHER)):
        with pytest.raises(SpecError, match="only runs of the same kind"):
            judge_sweep(run, cluster, good=[("x", other)])


def test_a_fault_is_named_on_the_curve_of_good_runs(cluster, sweep_on):
    cost = _cost(cluster, sweep_on(cluster), "gpudirect_off", "copies")
    good = [("it", sweep_on(cluster, lambda _: 1.2))]
    run = sweep_on(cluster, lambda size: 1.2 * cost[size], seed=5)
    found = judge_sweep(run, cluster, good=good)
    assert "gpudirect_off" in found.group
    shown = [
        one.time_s / slow for one, slow in zip(found.points, found.curve.times_s, strict=True)
    ]
    assert max(abs(math.log(one)) for one in shown) < 0.05


def test_a_run_without_a_cluster_that_is_known_is_judged_by_a_good_one(tmp_path):
    """NICs that no log names keep a verdict open, but not against the cluster's own run."""
    files = [tmp_path / name for name in ("all_reduce_a.txt", "all_reduce_b.txt")]
    for file in files:
        file.write_text((EXAMPLES / "all_reduce_h100.txt").read_text())
    assert judge(files[0]).outcome is Outcome.INCONCLUSIVE
    assert judge(files[0], good=[files[1]]).outcome is Outcome.PASS


def test_where_nothing_is_known_of_the_cluster_a_good_run_still_gives_a_verdict(sweep_on):
    """The worker of PyTorch on CPUs names no GPU that the catalogue has."""
    cluster = preset("dgx_h100", hosts=4)
    run = replace(sweep_on(cluster), gpu_name="CPU")
    good = [(f"run {n}", replace(sweep_on(cluster, seed=n), gpu_name="CPU")) for n in range(4)]
    assert judge_sweep(run).outcome is Outcome.INCONCLUSIVE
    found = judge_sweep(run, good=good)
    assert (found.outcome, found.candidates, found.cluster) == (Outcome.PASS, (), None)
    slow = replace(
        run, timings=tuple(replace(t, time_s=t.time_s * 1.5) for t in run.timings[::2])
    )
    found = judge_sweep(slow, good=good)
    assert found.outcome is Outcome.FAIL
    assert found.ranges[-1].slower_ratio == pytest.approx(0.5, abs=0.02)
    assert any("cluster.yaml" in one for one in found.said)
    assert "as in run 0" in report.show(found, "text")
    far = replace(run.timings[0], size_bytes=2.0**50)
    found = judge_sweep(replace(run, timings=(*run.timings, far)), good=good)
    assert any("left out" in one for one in found.said)


def test_runs_of_the_history_are_named_by_their_numbers(tmp_path):
    url = f"sqlite:///{tmp_path}/h.sqlite3"
    file = _run_of(tmp_path)
    sweep, _ = read_sweep([file])
    for factor in (1.0, 1.01, 0.99):
        timings = tuple(replace(t, time_s=t.time_s * factor) for t in sweep.timings)
        kept = BenchRun(
            tool="nccl-tests", operation="all_reduce", launcher="mpirun", hosts=("a", "b"),
            ranks=16, ranks_per_host=8, versions=(), options=(), began="2026-11-21T16:00:00Z",
            timings=timings, what="collective", commands=(), output="",
        )  # fmt: skip
        store.keep(kept, url)
    found = judge(file, good=["1-3"], history=url)
    assert (found.outcome, found.good) == (Outcome.PASS, ("run 1", "run 2", "run 3"))
    with pytest.raises(SpecError, match="it has: 1 to 3"):
        judge(file, good=["7"], history=url)


def test_a_kept_run_of_perftest_is_a_good_run_for_its_table(tmp_path):
    url = f"sqlite:///{tmp_path}/h.sqlite3"
    file = tmp_path / "ib_write_bw.txt"
    file.write_text(_bandwidth_table("mlx5_0", 35000.0))
    cluster = preset("hgx_h100_roce", hosts=2)
    sweep, _ = read_sweep([file])
    kept = BenchRun(
        tool="perftest", operation="write_bw", launcher="ssh", hosts=("a", "b"), ranks=2,
        ranks_per_host=1, versions=(), options=(), began="2026-11-21T16:00:00Z",
        timings=sweep.timings, what="bandwidth", commands=(), output="",
    )  # fmt: skip
    store.keep(kept, url)
    found = judge(file, cluster, good=["1"], history=url)
    assert found.outcome is not Outcome.FAIL
    assert found.ranges[0].slower_ratio == pytest.approx(0.0, abs=1e-6)
    file.write_text(_bandwidth_table("mlx5_0", 35000.0) + _LATENCY_TABLE)
    with pytest.raises(SpecError, match="give the good run as a file"):
        judge(file, cluster, good=["1"], history=url)
