"""What the judge says where a run leaves something open: assumed, supposed, hidden."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from weft import report
from weft.bench.check import all_checks
from weft.bench.expected import Setting, group_of, times_s
from weft.bench.fault import all_faults
from weft.bench.judge import judge, judge_sweep
from weft.bench.sweep import read_sweep
from weft.bench.verdict import Outcome
from weft.readers.read import read, read_text
from weft.spec.load import preset

LARGE = (2**30, 2**32)
EXAMPLES = Path(__file__).parents[3] / "examples" / "runs"


def _cost(cluster, run, name, label):
    setting = Setting(cluster=cluster, sweep=run, group=group_of(cluster, run))
    form = next(f for f in dict(all_faults())[name].forms(setting) if label in f.label)
    sound = times_s(setting, cluster, {})
    slow = times_s(setting, form.cluster, form.factors)
    pairs = zip(run.timings, slow, sound, strict=True)
    return {t.size_bytes: f / s for t, f, s in pairs}


def _with_fault(cluster, sweep_on, name, label, **more):
    sizes = {"sizes": more["sizes"]} if "sizes" in more else {}
    cost = _cost(cluster, sweep_on(cluster, **sizes), name, label)
    return sweep_on(cluster, lambda size: cost[size], **more)


@pytest.mark.parametrize("left", [1, 2, 3, 4, 5, 6, 7])
def test_a_good_run_tells_how_many_nics_are_left(cluster, sweep_on, left):
    """By a band of 3 % every fraction of eight is a step of its own.

    NCCL lays 28 channels over seven NICs and 16 over eight, so the last costs 5 % only.
    """
    run = _with_fault(cluster, sweep_on, "nics_lost", f"{left} of 8", seed=left)
    good = [(f"run {n}", sweep_on(cluster, seed=20 + n)) for n in range(5)]
    found = judge_sweep(run, cluster, good=good)
    assert found.outcome is (Outcome.FAIL if left < 7 else Outcome.INCONCLUSIVE)
    lost = next(one for one in found.candidates if one.name == "nics_lost")
    assert lost.form == f"{left} of 8 NICs work"
    assert lost.forms[0][0] == lost.form
    shares = [share for _, share in lost.forms]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1 + 1e-9


def test_where_the_band_is_wider_than_a_step_all_fractions_that_fit_are_told(cluster, sweep_on):
    """Large sizes alone show the level and no shape, and the band is wider than a step."""
    run = _with_fault(cluster, sweep_on, "nics_lost", "5 of 8", sizes=LARGE)
    found = judge_sweep(run, cluster)
    lost = next(one for one in found.candidates if one.name == "nics_lost")
    assert len(lost.forms) > 1
    assert "5 of 8 NICs work" in dict(lost.forms)
    assert "how much: " in report.show(found, "text")


def test_a_log_that_names_the_adapters_tells_how_many_are_left(cluster, sweep_on, tmp_path):
    run = _with_fault(cluster, sweep_on, "nics_lost", "4 of 8", sizes=LARGE)
    names = " ".join(f"[{i}]mlx5_{i}:1/IB" for i in range(5))
    log = tmp_path / "nccl.log"
    log.write_text(f"n0:1:1 [0] NCCL INFO NET/IB : Using {names} [RO]; OOB e0:10.0.0.1<0>\n")
    found = judge_sweep(run, cluster, read(log))
    alone = judge_sweep(run, cluster)
    share = {}
    for key, one in (("log", found), ("alone", alone)):
        lost = next(c for c in one.candidates if c.name == "nics_lost")
        share[key] = dict(lost.forms).get("5 of 8 NICs work", 0.0)
    assert share["log"] > 0.5 > share["alone"]


def test_a_pass_says_what_its_band_hides(cluster, sweep_on):
    """One NIC of eight costs a twentieth, and a new system is known to a third."""
    found = judge_sweep(_with_fault(cluster, sweep_on, "nics_lost", "7 of 8"), cluster)
    assert found.outcome is Outcome.PASS
    assert max(one.slower_ratio for one in found.unseen) == pytest.approx(0.35, abs=0.15)
    assert "What it would have passed with" in report.show(found, "text")
    good = [(f"run {n}", sweep_on(cluster, seed=30 + n)) for n in range(5)]
    sound = judge_sweep(sweep_on(cluster), cluster, good=good)
    assert sound.outcome is Outcome.PASS
    assert max((one.slower_ratio for one in sound.unseen), default=0.0) < 0.05


def test_a_fault_that_would_need_too_fast_a_cluster_is_not_hidden(cluster, sweep_on):
    run = sweep_on(cluster, lambda _: 0.97)
    assert "nics_lost" not in [one.name for one in judge_sweep(run, cluster).unseen]


def test_what_a_log_denies_is_not_told_as_hidden(cluster, sweep_on, tmp_path):
    run = _with_fault(cluster, sweep_on, "nics_lost", "7 of 8")
    names = " ".join(f"[{i}]mlx5_{i}:1/IB" for i in range(8))
    log = tmp_path / "nccl.log"
    log.write_text(f"n0:1:1 [0] NCCL INFO NET/IB : Using {names} [RO]; OOB e0:10.0.0.1<0>\n")
    found = judge_sweep(run, cluster, read(log))
    assert found.outcome is Outcome.PASS
    assert "nics_lost" not in [one.name for one in found.unseen]


def test_without_a_cluster_file_the_cluster_is_told_as_assumed():
    found = judge(EXAMPLES / "all_reduce_h100.txt")
    assert found.outcome is Outcome.INCONCLUSIVE
    assert (found.guessed, found.supposed) == (("host", "network"), Outcome.PASS)
    shown = report.show(found, "text")
    assert "assumed: NVIDIA DGX H100" in shown
    assert "assumed: 8 x 400 Gb/s infiniband per host" in shown
    assert "8 x 400 Gb/s infiniband: PASS" in shown
    known = report.show(judge(EXAMPLES / "all_reduce_h100.txt", preset("dgx_h100", hosts=2)))
    assert "assumed" not in known.lower()


def test_the_verdict_is_told_for_each_system_that_it_may_be():
    by_name = {}
    for name in ("all_reduce_h100", "all_reduce_h100_slow"):
        found = judge(EXAMPLES / f"{name}.txt")
        by_name[name] = {one.system: one for one in found.suppositions}
    slow, fast = by_name["all_reduce_h100_slow"], by_name["all_reduce_h100"]
    # Half the rate may still be another algorithm on a system never measured.
    assert slow["dgx_h100"].outcome is not Outcome.PASS
    assert fast["dgx_h100"].outcome is Outcome.PASS
    assert fast["gcp_a3_high"].too_fast
    assert slow["dgx_h100, NICs: 2"].outcome is not Outcome.FAIL
    assert "aws_p5, NICs: 16" not in slow
    assert judge(EXAMPLES / "all_reduce_h100.txt", preset("dgx_h100")).suppositions == ()


def test_ports_beside_a_run_tell_the_nics(tmp_path):
    ports = "".join(
        f"CA 'mlx5_{i}'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n"
        "\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n"
        for i in range(10)
    )
    (tmp_path / "ibstat.txt").write_text(ports)
    found = judge([EXAMPLES / "all_reduce_h100.txt", tmp_path / "ibstat.txt"])
    assert (found.outcome, found.unknown) == (Outcome.PASS, ())
    assert found.cluster is not None
    assert found.cluster.host.nics == 8, "two of ten are for storage"


def _write_bw(average_gbit):
    return (
        "                    RDMA_Write BW Test\n"
        " Dual-port       : OFF\t\tDevice         : mlx5_0\n"
        " Number of qps   : 8\t\tTransport type : IB\n Link type       : IB\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        f" 1048576    5000          {average_gbit:.2f}          {average_gbit:.2f}     0.1\n"
    )


def test_a_link_of_unknown_rate_is_asked_for_and_supposed(tmp_path):
    file = tmp_path / "ib_write_bw.txt"
    file.write_text(_write_bw(196.0))
    found = judge(file)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "rate of the link of mlx5_0" in found.unknown[0]
    outcomes = {one.system: one.outcome for one in found.suppositions}
    assert outcomes["200 Gb/s infiniband"] is Outcome.PASS
    assert outcomes["400 Gb/s infiniband"] is Outcome.FAIL
    port = "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: {}\n"
    port += "\t\tLink layer: InfiniBand\n"
    for rate, outcome in ((200, Outcome.PASS), (400, Outcome.FAIL)):
        (tmp_path / "ibstat.txt").write_text(port.format(rate))
        found = judge([file, tmp_path / "ibstat.txt"])
        assert found.outcome is outcome
        assert any("whether or not it is what the link should have" in s for s in found.said)


def test_mpi_is_no_fault_of_the_link(tmp_path):
    """Two microseconds a message are MPI's; half of the line at 4 MiB is not."""
    file = tmp_path / "osu_bw.txt"
    found = {}
    for most in (47000.0, 23500.0):
        rows = "".join(
            f"{2**p:<10d} {min(most, 2**p / 2.4e-6 / 1e6):20.2f}\n" for p in range(23)
        )
        file.write_text(f"# OSU MPI Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)\n{rows}")
        found[most] = judge(file, preset("dgx_h100", hosts=2))
    ranges = {one.name: one.outcome for one in found[47000.0].ranges}
    assert found[47000.0].outcome is Outcome.INCONCLUSIVE
    assert ranges["middle"] is Outcome.PASS
    assert found[23500.0].outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("title", "outcome"),
    [("MPI", Outcome.INCONCLUSIVE), ("xCCL NCCL", Outcome.FAIL)],
)
def test_a_slow_collective_of_mpi_is_no_failure_and_one_of_nccl_is(tmp_path, title, outcome):
    times = [
        line.split() for line in (EXAMPLES / "all_reduce_h100.txt").read_text().splitlines()
        if line.strip()[:1].isdigit()
    ]  # fmt: skip
    rows = "".join(f"{row[0]:<12s} {float(row[5]) * 5:15.2f}\n" for row in times)
    file = tmp_path / "osu.txt"
    file.write_text(
        f"# OSU {title} Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n{rows}"
    )
    found = judge(file, preset("dgx_h100", hosts=2))
    assert found.outcome is outcome
    assert bool(found.candidates) is (outcome is Outcome.FAIL)
    if outcome is Outcome.INCONCLUSIVE:
        assert "how MPI carries this collective" in found.unknown[0]


_IPERF = (
    "Connecting to host 10.0.0.2, port 5201\n"
    "[  5] local 10.0.0.1 port 40312 connected to 10.0.0.2 port 5201\n"
    "[ ID] Interval           Transfer     Bitrate         Retr\n"
    "[  5]   0.00-10.00  sec  {moved} GBytes  {rate} Gbits/sec   12             sender\n"
    "[  5]   0.00-10.04  sec  {moved} GBytes  {rate} Gbits/sec                  receiver\n"
)


@pytest.mark.parametrize(
    ("rate", "kind", "outcome"),
    [(9.4, "tcp", Outcome.PASS), (1.0, "tcp", Outcome.FAIL),
     (1.0, "roce", Outcome.INCONCLUSIVE)],
)  # fmt: skip
def test_what_iperf3_prints_is_judged_as_tcp(tmp_path, rate, kind, outcome):
    """9.4 of 10 Gb/s is what headers leave; a tenth of the line is no TCP that is sound."""
    file = tmp_path / "iperf3.txt"
    file.write_text(_IPERF.format(moved=f"{rate * 1.16:.2f}", rate=f"{rate:.2f}"))
    cluster = preset("h100_tcp_100g" if kind == "tcp" else "hgx_h100_roce", hosts=2)
    host = cluster.host.with_(nic_bytes_per_s=1.25e9)
    found = judge(file, cluster.with_(host=host))
    assert found.operation == "tcp bandwidth"
    assert found.outcome is outcome
    assert any("-P 8" in one for one in found.said)


def test_a_fault_that_explains_nothing_is_none_of_these():
    """Latency five times too high: no fault of the network's bandwidth explains it."""
    run, _ = read_sweep([EXAMPLES / "all_reduce_h100.txt"])
    slow = replace(
        run, timings=tuple(replace(t, time_s=t.time_s * 30) for t in run.timings[:4])
    )
    found = judge_sweep(slow, preset("dgx_h100", hosts=2))
    assert found.outcome is Outcome.FAIL
    assert found.candidates[0].name == "none of these"
    assert sum(one.probability for one in found.candidates) == pytest.approx(1.0)


def test_a_run_that_varies_while_it_lasts_speaks_for_traffic_of_others(tmp_path):
    """In place and out of place do the same work, one after the other."""
    text = (EXAMPLES / "all_reduce_h100_slow.txt").read_text()
    share, told = {}, {}
    for name, factors in (("steady", (1.0, 1.0)), ("unsteady", (0.75, 1.3))):
        lines, turn = [], 0
        for line in text.splitlines():
            words = line.split()
            if len(words) > 10 and words[0].isdigit():
                words[9] = f"{float(words[5]) * factors[turn % 2]:.2f}"
                turn += 1
                lines.append("  ".join(words))
            else:
                lines.append(line)
        file = tmp_path / f"{name}_all_reduce.txt"
        file.write_text("\n".join(lines))
        found = judge(file, preset("dgx_h100", hosts=2))
        told[name] = found.told
        named = {one.name: one.probability for one in found.candidates}
        share[name] = named["shared_network"]
    assert share["unsteady"] > share["steady"]
    assert any("in place and out of place of large sizes differ" in t for t in told["unsteady"])
    assert told["steady"] == ()


@pytest.mark.parametrize(("spread", "varies"), [(0.01, False), (0.4, True)])
def test_iterations_that_differ_are_told(spread, varies):
    times_s = [1.0 + spread * (turn % 2) for turn in range(20)]
    run = {
        "weft_bench": 1, "benchmark": "torch.distributed", "operation": "all_reduce",
        "results": [{"size_bytes": 2**30, "times_s": times_s}],
    }  # fmt: skip
    setting = Setting(cluster=preset("dgx_h100"), sweep=None, group=None)
    within_run = dict(all_checks())["within_run"].read
    assert within_run is not None
    seen = read_text(json.dumps(run), "run.json")
    assert ("varies" in within_run(setting, seen)) is varies


def test_a_message_that_takes_long_to_start_is_a_slow_host_and_no_slow_link(tmp_path):
    """Nine microseconds for two bytes: no rate of a link explains them."""
    rows = "".join(
        f" {2**p}       1000          4.1           8.2         4.3        4.4      0.1\n"
        for p in range(1, 8)
    )
    file = tmp_path / "ib_write_lat.txt"
    file.write_text(
        "                    RDMA_Write Latency Test\n Device         : mlx5_0\n"
        " Number of qps   : 1\n Link type       : IB\n"
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
        "    t_stdev[usec]\n" + rows
    )
    found = judge(file, preset("dgx_h100", hosts=2))
    assert {"affinity", "low_cpu_frequency"} <= {*found.group}
    assert "slow_pair" not in found.group
    assert "message costs" in next(c.form for c in found.candidates if c.name == "affinity")


def test_a_pass_with_the_curve_of_a_fault_says_so(cluster, sweep_on):
    """Part of the cost of missing SHARP lies inside the band; no sound system has that bump."""
    sharp = cluster.with_(fabric=cluster.fabric.with_(in_network_reduction=True))
    sizes = tuple(2**p for p in range(10, 34))
    cost = _cost(sharp, sweep_on(sharp, sizes=sizes), "sharp_missing", "no CollNet")
    found = judge_sweep(sweep_on(sharp, lambda size: cost[size] ** 0.48, sizes=sizes), sharp)
    assert found.outcome is Outcome.PASS
    assert found.suspect
    assert "sharp_missing" in found.group
    shown = report.show(found, "text")
    assert "its shape is that of a fault" in shown
    assert "sharp_missing" in shown
    sound = judge_sweep(sweep_on(sharp, sizes=sizes), sharp)
    assert (sound.outcome, sound.suspect) == (Outcome.PASS, False)


def test_what_a_log_tells_apart_is_no_group(cluster, sweep_on, tmp_path):
    """One curve, and a log that says which of the faults it is."""
    run = _with_fault(cluster, sweep_on, "nics_lost", "4 of 8")
    names = " ".join(f"[{i}]mlx5_{i}:1/IB" for i in range(4))
    log = tmp_path / "nccl.log"
    log.write_text(f"n0:1:1 [0] NCCL INFO NET/IB : Using {names} [RO]; OOB e0:10.0.0.1<0>\n")
    assert len(judge_sweep(run, cluster).group) > 1
    assert judge_sweep(run, cluster, read(log)).group == ("nics_lost",)


def test_interfaces_of_sockets_are_no_lost_adapters(cluster, sweep_on, tmp_path):
    run = _with_fault(cluster, sweep_on, "tcp_fallback", "10Gb/s")
    log = tmp_path / "nccl.log"
    log.write_text(
        "n0:1:1 [0] NCCL INFO NET/Socket : Using [0]eno1:10.9.0.10<0>\n"
        "n0:1:1 [0] NCCL INFO Using network Socket\n"
        "n0:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0\n"
    )
    found = judge_sweep(run, cluster, read(log))
    assert found.fault is not None
    assert found.fault.name == "tcp_fallback"
    assert not any("nics_lost" in line or "gpudirect_off" in line for line in found.told)


def test_what_cannot_be_missing_is_not_told_as_missing(cluster, sweep_on, tmp_path):
    """A cluster without SHARP lacks no channels of CollNet."""
    log = tmp_path / "nccl.log"
    log.write_text(
        "n0:1:1 [0] NCCL INFO 16 coll channels, 0 collnet channels, 0 nvls channels, "
        "32 p2p channels, 2 p2p channels per peer\n"
    )
    found = judge_sweep(
        _with_fault(cluster, sweep_on, "nics_lost", "2 of 8"), cluster, read(log)
    )
    assert not any("sharp_missing" in line for line in found.told)
    assert any("nvls_missing" in line for line in found.told)


def test_json_of_rccl_tests_names_its_hosts(tmp_path):
    """LL128 is not there on these GPUs: forcing it is refused and no fault of the run."""
    cluster = preset("mi300x_roce", hosts=2)
    rows = [
        {"name": "AllReduce", "nodes": 2, "ranks": 16, "ranksPerNode": 8, "size": 2**p,
         "type": "float", "redop": "sum", "inPlace": 0, "time": 40.0 + 2**p / 30e3,
         "algBw": 30.0, "busBw": 56.0, "wrong": 0}
        for p in range(20, 34)
    ]  # fmt: skip
    file = tmp_path / "run.json"
    file.write_text(json.dumps(rows))
    found = judge(file, cluster)
    assert (found.benchmark, found.ranks, found.hosts) == ("rccl-tests", 16, 2)
    assert found.outcome is Outcome.FAIL
    forms = {form for one in found.candidates for form, _ in one.forms}
    assert "NCCL_PROTO=LL128" not in forms


_GB200 = "".join(
    f"#  Rank {r:2d} Group  0 Pid  1 on  n{r // 4} device  {r % 4} [0x0] NVIDIA GB200\n"
    for r in range(72)
)


def test_hosts_that_nvlink_joins_are_one_rack_and_that_is_assumed_or_known(tmp_path):
    """Eighteen operating systems of one NVL72 are no eighteen hosts with NICs between them."""
    rows = "".join(
        f"  {size}  {size // 4}  float  sum  -1  {size / 380e9 * 1e6:.1f}  1.0  1.0  0\n"
        for size in (2**28, 2**30, 2**33)
    )
    file = tmp_path / "all_reduce.txt"
    file.write_text(
        f"{_GB200}# out-of-place\n# size count type redop root time algbw busbw\n{rows}"
    )
    found = judge(file)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "whether NVLink joins the 18 hosts" in found.unknown[0]
    assert {"gb200_nvl72", "gb200_nvl72, hosts not joined"} == {
        one.system for one in found.suppositions
    }
    log = tmp_path / "nccl.log"
    log.write_text(
        "a:1:1 [0] NCCL INFO comm 0x55 rank 0 nRanks 72 nNodes 18 localRanks 4 localRank 0 "
        "MNNVL 1\n"
    )
    known = judge([file, log])
    assert known.unknown == ()
    assert known.outcome is found.supposed


def test_copies_in_host_memory_cost_little_where_every_gpu_has_four_nics():
    """Each NIC copies a share of a slot: two to one GPU carried 17 GB/s over 24 (UCCL-Lite)."""
    cost = {}
    for name in ("aws_p5", "dgx_h100"):
        own = preset(name, hosts=4)
        run = replace(read_sweep([EXAMPLES / "all_reduce_h100.txt"])[0], ranks=32, host_count=4)
        cost[name] = _cost(own, run, "gpudirect_off", "copies").get(2**33, 1.0)
    assert cost["aws_p5"] == pytest.approx(1.0, abs=0.1)
    assert cost["dgx_h100"] > 2
