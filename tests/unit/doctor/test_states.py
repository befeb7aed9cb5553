"""Plain states of a sick cluster, a few lines each: the doctor names what and where."""

import json
import time
from pathlib import Path

import pytest

from ras_text import ras
from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict
from weft.predict.collective import busbw, expect
from weft.spec.cluster import Cluster
from weft.spec.load import preset


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return preset("dgx_h100", hosts=2)


def diagnosed(folder: Path, files: dict[str, str], cluster: Cluster | None = None) -> Diagnosis:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return diagnose([folder], cluster)


def ibstat(rates: list[float], *, model: str = "MT4129", layer: str = "InfiniBand") -> str:
    return "".join(
        f"CA 'mlx5_{place}'\n\tCA type: {model}\n\tNumber of ports: 1\n\tPort 1:\n"
        f"\t\tState: {'Active' if rate else 'Down'}\n"
        f"\t\tPhysical state: {'LinkUp' if rate else 'Polling'}\n"
        f"\t\tRate: {rate or 10:g}\n\t\tBase lid: {place + 1}\n\t\tSM lid: 1\n"
        f"\t\tLink layer: {layer}\n"
        for place, rate in enumerate(rates)
    )


def found(result: Diagnosis, *words: str) -> str:
    """Return the title of the first finding that is a problem and holds the words."""
    assert result.verdict is Verdict.PROBLEM, result
    titles = [f"{one.cause} {one.told} {' '.join(one.entities)}" for one in result.findings]
    hits = [one for one in titles if all(word.lower() in one.lower() for word in words)]
    assert hits, titles
    return hits[0]


@pytest.mark.parametrize("slow", [2.5, 25, 100, 200])
def test_one_of_two_ports_is_slow(tmp_path: Path, cluster: Cluster, slow: float) -> None:
    result = diagnosed(tmp_path, {"ibstat.txt": ibstat([400, slow])}, cluster)
    assert "mlx5_1" in found(result, "rate", "mlx5_1")


@pytest.mark.parametrize("slow", [2.5, 25, 100])
def test_one_of_eight_ports_is_slow_without_a_cluster_file(tmp_path: Path, slow: float) -> None:
    result = diagnosed(tmp_path, {"ibstat.txt": ibstat([400] * 7 + [slow])})
    assert "mlx5_7" in found(result, "rate")


def test_all_ports_run_at_half_of_what_the_file_declares(
    tmp_path: Path, cluster: Cluster
) -> None:
    found(diagnosed(tmp_path, {"ibstat.txt": ibstat([200] * 8)}, cluster), "rate")


def test_ports_as_declared_are_no_problem(tmp_path: Path, cluster: Cluster) -> None:
    result = diagnosed(tmp_path, {"ibstat.txt": ibstat([400] * 8)}, cluster)
    assert result.verdict is Verdict.NONE
    assert result.not_covered


@pytest.mark.parametrize("lid", [0, 7])
def test_one_port_polls_beside_seven_that_are_active(tmp_path: Path, lid: int) -> None:
    text = ibstat([400] * 7 + [0]).replace("Base lid: 8", f"Base lid: {lid}")
    assert "mlx5_7" in found(diagnosed(tmp_path, {"ibstat.txt": text}), "link")


def nccl_log(
    adapters: int, *, gdr: bool, network: str = "IB", ranks: int = 8, host: str = "n1"
) -> str:
    using = " ".join(f"[{one}]mlx5_{one}:1/IB" for one in range(adapters))
    path = f"{network}/0/GDRDMA" if gdr else f"{network}/0"
    lines = ["NCCL version 2.27.3+cuda12.9"]
    for rank in range(ranks):
        front = f"{host}:{100 + rank}:{200 + rank} [{rank}] NCCL INFO"
        if network == "IB":
            lines.append(f"{front} NET/IB : Using {using} [RO]; OOB eth0:10.0.0.1<0>")
        lines += [
            f"{front} Using network {network}",
            f"{front} comm 0x rank {rank} nRanks 16 nNodes 2 localRanks 8 localRank {rank}",
            f"{front} Channel 00/0 : {rank}[0] -> {rank + 8}[0] [send] via NET/{path}",
        ]
    return "\n".join(lines) + "\n"


def test_nccl_uses_half_of_the_adapters(tmp_path: Path, cluster: Cluster) -> None:
    result = diagnosed(tmp_path, {"nccl.log": nccl_log(4, gdr=False)}, cluster)
    found(result, "fewer adapters")
    found(result, "GPUDirect")


def test_nccl_as_declared_is_no_problem(tmp_path: Path, cluster: Cluster) -> None:
    result = diagnosed(tmp_path, {"nccl.log": nccl_log(8, gdr=True)}, cluster)
    assert result.verdict is Verdict.NONE, result.findings


@pytest.mark.parametrize("ranks", [8, 64])
def test_all_ranks_use_sockets(tmp_path: Path, cluster: Cluster, ranks: int) -> None:
    text = nccl_log(0, gdr=False, network="Socket", ranks=ranks)
    found(diagnosed(tmp_path / "with", {"nccl.log": text}, cluster), "network")


def test_many_ranks_use_sockets_and_no_file_says_that_they_should_not(tmp_path: Path) -> None:
    text = nccl_log(0, gdr=False, network="Socket", ranks=64)
    result = diagnosed(tmp_path, {"nccl.log": text})
    assert result.findings


def nccl_tests(share: float, cluster: Cluster) -> str:
    head = "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592\n"
    ranks = "".join(
        f"#  Rank {rank:2d} Group  0 Pid  {500 + rank} on    n{rank // 8} device  {rank % 8} "
        "[0x19] NVIDIA H100 80GB HBM3\n"
        for rank in range(16)
    )
    rows = ""
    for point in expect(cluster, smallest_bytes=1 << 30, largest_bytes=1 << 33).points:
        bus = busbw(point).value * share / 1e9
        alg = bus / (2 * 15 / 16)
        time_us = point.size_bytes / alg / 1e3
        rows += (
            f"{int(point.size_bytes)} {int(point.size_bytes / 4)} float sum -1 "
            f"{time_us:.1f} {alg:.2f} {bus:.2f} 0\n"
        )
    return f"{head}{ranks}#       size  count  type redop root time algbw busbw #wrong\n{rows}"


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_nccl_tests_far_below_the_expected_curve(
    tmp_path: Path, cluster: Cluster, share: float
) -> None:
    result = diagnosed(tmp_path, {"all_reduce.txt": nccl_tests(share, cluster)}, cluster)
    found(result, "collective")


def test_a_slow_benchmark_follows_from_what_slows_it(tmp_path: Path, cluster: Cluster) -> None:
    files = {"run.txt": nccl_tests(0.4, cluster), "nccl.log": nccl_log(8, gdr=False)}
    first, *others = diagnosed(tmp_path, files, cluster).findings
    assert first.cause == "process.gdr"
    assert first.severity == "error"
    assert "collective.busbw" in first.consequences
    assert all(one.cause != "collective.busbw" for one in others)


def test_nccl_tests_on_the_expected_curve(tmp_path: Path, cluster: Cluster) -> None:
    result = diagnosed(tmp_path, {"all_reduce.txt": nccl_tests(1.0, cluster)}, cluster)
    assert result.verdict is Verdict.NONE, result.findings


def test_a_priority_that_is_paused_nine_seconds_of_ten(tmp_path: Path) -> None:
    files = {
        "hosts/n1/sample_1_at_1000/ethtool_-S_eth2": (
            "NIC statistics:\n     rx_prio3_pause: 1000\n     rx_prio3_pause_duration: 5000\n"
        ),
        "hosts/n1/sample_2_at_1010/ethtool_-S_eth2": (
            "NIC statistics:\n     rx_prio3_pause: 9001000\n"
            "     rx_prio3_pause_duration: 9005000\n"
        ),
    }
    title = found(diagnosed(tmp_path, files), "pause")
    assert "eth2" in title
    assert "n1" in title


def test_very_many_pauses_without_a_congestion_mark(tmp_path: Path) -> None:
    text = "$ ethtool -S eth2 | grep pause\n     rx_prio3_pause: 18000000\n"
    assert "eth2" in found(diagnosed(tmp_path, {"ethtool.txt": text}), "pause")


def test_discards_that_grow_in_a_lossless_class(tmp_path: Path) -> None:
    files = {
        f"hosts/n1/sample_{n}_at_{1000 + n}/ethtool_-S_eth2": (
            f"NIC statistics:\n     rx_prio3_discards: {1000 * n}\n"
        )
        for n in (1, 2)
    }
    found(diagnosed(tmp_path, files), "priority 3 of eth2", "drops")


def test_pause_counters_of_a_sonic_switch(tmp_path: Path) -> None:
    text = (
        "admin@leaf1:~$ show pfc counters\n"
        "    Port Rx    PFC0    PFC1    PFC2         PFC3    PFC4    PFC5    PFC6    PFC7\n"
        "-----------  ------  ------  ------  -----------  ------  ------  ------  ------\n"
        "  Ethernet0       0       0       0  182,000,000       0       0       0       0\n"
        "  Ethernet4       0       0       0            0       0       0       0       0\n"
    )
    assert "ethernet0" in found(diagnosed(tmp_path, {"pfc.txt": text}), "pause").lower()


def test_gpudirect_off_and_peermem_not_loaded(tmp_path: Path) -> None:
    log = "\n".join(
        f"n1:10:1{one} [{one}] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA {one} "
        f"'mlx5_{one}'"
        for one in range(8)
    )
    modules = (
        "$ lsmod\nModule                  Size  Used by\nnvidia_uvm   1753088  0\n"
        "nvidia              56463360  147 nvidia_uvm,nvidia_modeset\nmlx5_ib   500000  0\n"
    )
    result = diagnosed(tmp_path, {"nccl.log": log, "lsmod.txt": modules})
    found(result, "gdr-peermem-not-loaded")


def test_two_drivers_on_two_hosts(tmp_path: Path) -> None:
    files = {
        f"{host}/nvidia-smi.txt": f"| NVIDIA-SMI {v} Driver Version: {v} CUDA Version: 12.4 |\n"
        for host, v in (("n1", "550.90.07"), ("n2", "535.183.01"))
    }
    found(diagnosed(tmp_path, files), "driver")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver",
            "driver",
        ),
        ("Failed to initialize NVML: Driver/library version mismatch", "driver"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.", "memory"),
        (
            "n1:1:2 [0] NCCL WARN NET/IB : mlx5_2:1 Got async error event: port error",
            "mlx5_2",
        ),
    ],
)
def test_a_line_that_says_it_all(tmp_path: Path, text: str, cause: str) -> None:
    found(diagnosed(tmp_path, {"out.txt": text + "\n"}), cause)


def test_ports_that_wait_for_a_subnet_manager(tmp_path: Path) -> None:
    text = ibstat([400] * 8).replace("Active", "Initializing").replace("SM lid: 1", "SM lid: 0")
    service = (
        "$ systemctl status opensm\n● opensm.service - opensm\n   Active: inactive (dead)\n"
    )
    found(diagnosed(tmp_path, {"ibstat.txt": text, "opensm.txt": service}), "subnet-manager")


def test_gpu_health_of_dcgm(tmp_path: Path) -> None:
    text = "#Entity   TVIOL   ECCDBV\nID\nGPU 0     0       0\nGPU 1     91000000  2\n"
    result = diagnosed(tmp_path, {"dcgmi_dmon.txt": "$ dcgmi dmon -e 241,311\n" + text})
    found(result, "GPU 1")


def test_an_empty_folder_cannot_tell(tmp_path: Path) -> None:
    assert diagnose([tmp_path]).verdict is Verdict.UNKNOWN


def test_a_dead_adapter_does_not_hide_a_dead_port_of_another_host(tmp_path: Path) -> None:
    files = {
        "n1/dmesg.txt": "[ 9.1] mlx5_core 0000:5e:00.0: device's health compromised\n",
        "n2/ibstat.txt": ibstat([400] * 7 + [0]),
    }
    result = diagnosed(tmp_path, files)
    found(result, "n1")
    found(result, "n2", "mlx5_7")


def test_folders_of_hosts_are_not_merged(tmp_path: Path) -> None:
    files = {
        f"n{one}/ibstat.txt": ibstat([400] * 7 + [400 if one else 100]) for one in range(4)
    }
    title = found(diagnosed(tmp_path, files), "rate")
    assert "n0" in title
    assert "n1" not in title


def test_many_hosts_are_folded(tmp_path: Path) -> None:
    files = {f"n{one}/ibstat.txt": ibstat([400] * 7 + [0]) for one in range(60)}
    result = diagnosed(tmp_path, files)
    assert len(result.findings) == 1
    assert len(result.findings[0].title) < 300
    assert len(result.findings[0].entities) == 60


def flight(sequence: int, operation: str = "nccl:all_reduce", ranks: int = 8) -> str:
    """Return a dump of the flight recorder, which does not hold the rank itself."""
    entry = {
        "collective_seq_id": sequence, "profiling_name": operation, "state": "scheduled",
        "input_sizes": [[1024]],
    }  # fmt: skip
    config = {"0": {"ranks": str(list(range(ranks)))}}
    return json.dumps({"version": "2.4", "pg_config": config, "entries": [entry]})


@pytest.mark.parametrize("behind", [0, 3, 7])
def test_the_rank_that_is_behind_in_flight_recorder_dumps(tmp_path: Path, behind: int) -> None:
    files = {
        f"trace_rank_{rank}.json": flight(88122 if rank == behind else 88123)
        for rank in range(8)
    }
    assert f"rank {behind} did not" in found(diagnosed(tmp_path, files), "rank-behind")


def test_the_rank_with_another_operation_in_flight_recorder_dumps(tmp_path: Path) -> None:
    files = {
        f"trace_rank_{rank}.json": flight(7, "nccl:broadcast" if rank == 5 else "nccl:all")
        for rank in range(8)
    }
    assert "rank 5" in found(diagnosed(tmp_path, files), "app-collective-mismatch")


def test_a_rank_without_a_dump_beside_those_of_the_others(tmp_path: Path) -> None:
    files = {f"trace_rank_{rank}.json": flight(7) for rank in range(8) if rank != 2}
    assert "rank 2" in found(diagnosed(tmp_path, files), "peer-process-died")


def test_a_thousand_hosts_with_one_that_is_odd(tmp_path: Path) -> None:
    files = {f"hosts/n{one}/ibstat": ibstat([400] * 8) for one in range(999)}
    files["hosts/n999/ibstat"] = ibstat([400] * 7 + [100])
    result = diagnosed(tmp_path, files)
    assert "n999" in found(result, "rate")
    assert len(result.findings) == 1


def test_a_line_of_a_megabyte_takes_linear_time(tmp_path: Path) -> None:
    took = []
    for size in (1 << 17, 1 << 20):
        text = ("NET/IB : Got completion from peer " * (size // 34))[:size] + "\n"
        begin = time.process_time()
        diagnosed(tmp_path / str(size), {"nccl.log": text})
        took.append(time.process_time() - begin)
    assert took[1] < 40 * max(took[0], 0.01)


def test_a_port_error_of_nccl_names_the_port(tmp_path: Path) -> None:
    line = "n8:33:34 [4] transport/net_ib.cc:119 NCCL WARN NET/IB : mlx5_4:1 Got async {}\n"
    for spelling in ("event : port error", "error event: port error"):
        result = diagnosed(tmp_path, {"nccl.log": line.format(spelling)})
        assert "mlx5_4/1 on n8" in found(result, "mlx5_4")


def test_an_inactive_nvlink_among_the_hosts_of_a_large_job(tmp_path: Path) -> None:
    def links(odd: str) -> str:
        return "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n" + "".join(
            f"\t Link {link}: {odd if link == 3 else '26.562 GB/s'}\n" for link in range(4)
        )

    files = {
        f"hosts/n{host}/nvidia-smi_nvlink_-s.txt": links(
            "<inactive>" if host == 433 else "26.562 GB/s"
        )
        for host in range(500)
    }
    assert "n433" in found(diagnosed(tmp_path, files), "NVLink", "n433")


def test_two_hosts_that_report_one_another_are_both_alive(tmp_path: Path) -> None:
    text = (
        "n{}:1:2 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer "
        "10.0.0.{}<4711> with status=12 opcode=0 len=0 vendor err 129 (Send)\n"
    )
    both = diagnosed(tmp_path / "both", {"nccl.log": text.format(1, 2) + text.format(2, 1)})
    one = diagnosed(tmp_path / "one", {"nccl.log": text.format(1, 3) + text.format(2, 3)})
    assert both.causes[0] == "fabric-path-unreachable"
    assert both.findings[0].probability_ratio > max(
        finding.probability_ratio
        for finding in one.findings
        if finding.cause == "fabric-path-unreachable"
    )


def test_what_a_host_could_not_show_is_named_with_its_command(tmp_path: Path) -> None:
    ibstat = "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n"
    for host, text in (("n1", ibstat), ("n2", "# not installed: ibstat (not judged)\n")):
        folder = tmp_path / "hosts" / host
        folder.mkdir(parents=True)
        (folder / "ibstat").write_text(text)
        (folder / "nvidia-smi.csv").write_text(
            "index, name, temperature.gpu\n0, NVIDIA H100, 40\n"
        )
    found = diagnose([tmp_path]).not_covered
    assert "links of adapters of n2 (ibstat is not installed)" in found
    assert "cabling (lldpctl)" in found
    assert not [one for one in found if "GPU health" in one]


@pytest.mark.parametrize("size", [8, 64, 512])
def test_a_rank_that_ras_holds_for_dead_is_named(tmp_path: Path, size: int) -> None:
    result = diagnosed(tmp_path, {"ncclras.json": ras([700] * size, dead=(size - 3,))})
    assert f"rank {size - 3} " in found(result, "peer-process-died")


@pytest.mark.parametrize("size", [8, 64, 512])
def test_a_rank_behind_is_named_where_no_rank_moves(tmp_path: Path, size: int) -> None:
    counts = [700] * (size - 1) + [699]
    files = {"before/ncclras.json": ras(counts), "after/ncclras.json": ras(counts)}
    assert f"rank {size - 1} " in found(diagnosed(tmp_path, files), "rank-behind")


def test_ranks_that_move_are_not_behind(tmp_path: Path) -> None:
    files = {
        "before/ncclras.json": ras([700, 712, 705, 700]),
        "after/ncclras.json": ras([800, 812, 805, 800]),
    }
    assert diagnosed(tmp_path, files).verdict is not Verdict.PROBLEM


def rates(sent: list[float]) -> dict[str, str]:
    """Return a route over ports of a leaf of EOS, and at which Mb/s each sends."""
    head = "Port   Name  Intvl   In Mbps      %  In Kpps  Out Mbps      % Out Kpps\n"
    lines = [
        f"Et{n}/1  sp{n}   0:30   90000.0  22.5%    10800  "
        f"{rate:8.1f}  {rate / 4000:4.1f}%    4000\n"
        for n, rate in enumerate(sent, 49)
    ]
    hops = [f"           via 10.1.{n}.0, Ethernet{n}/1\n" for n in range(49, 49 + len(sent))]
    return {
        "switches/leaf1/show_ip_route.txt": "VRF: default\n B E  10.9.0.0/16\n" + "".join(hops),
        "switches/leaf1/show_interfaces_counters_rates.txt": head + "".join(lines),
    }


@pytest.mark.parametrize("paths", [4, 8, 32])
def test_one_of_the_equal_paths_carries_nearly_all(tmp_path: Path, paths: int) -> None:
    result = diagnosed(tmp_path, rates([389000.0, *[30000.0] * (paths - 1)]))
    assert "Et49/1" in found(result, "equal paths")


@pytest.mark.parametrize("paths", [2, 4, 8])
def test_equal_paths_that_differ_as_hashes_do_are_silent(tmp_path: Path, paths: int) -> None:
    result = diagnosed(tmp_path, rates([200000.0 + 30000.0 * (n % 3) for n in range(paths)]))
    assert result.verdict is not Verdict.PROBLEM


@pytest.mark.parametrize("sent", [[900.0, 0.0, 0.1, 0.0], [0.9, 0.1, 0.0, 0.1]])
def test_equal_paths_that_are_idle_are_silent(tmp_path: Path, sent: list[float]) -> None:
    assert diagnosed(tmp_path, rates(sent)).verdict is not Verdict.PROBLEM


def test_ports_of_different_routes_are_no_equal_paths(tmp_path: Path) -> None:
    files = rates([380000.0, 379000.0, *[100.0] * 6])
    lines = [
        f" B E  10.9.{n}.0/24 [200/0] via 10.1.{n}.0, Ethernet{n}/1\n" for n in range(49, 57)
    ]
    files["switches/leaf1/show_ip_route.txt"] = "VRF: default\n" + "".join(lines)
    assert diagnosed(tmp_path, files).verdict is not Verdict.PROBLEM


def routes(switch: str, prefix: str, ports: range) -> dict[str, str]:
    hops = "".join(f"  via 10.0.{n}.1, Ethernet{n}/1\n" for n in ports)
    return {f"switches/{switch}/show_ip_route.txt": f"VRF: default\n B E  {prefix}\n{hops}"}


@pytest.mark.parametrize("spines", [2, 8])
def test_leaves_and_spines_have_different_next_hops(tmp_path: Path, spines: int) -> None:
    files = {}
    for leaf in range(16):
        files |= routes(f"leaf{leaf}", "10.1.99.0/24", range(49, 49 + spines))
    for spine in range(spines):
        files |= routes(f"spine{spine}", "10.1.99.0/24", range(1, 2))
    assert diagnosed(tmp_path, files).verdict is not Verdict.PROBLEM


@pytest.mark.parametrize("switches", [4, 9])
def test_a_switch_whose_routes_have_fewer_next_hops(tmp_path: Path, switches: int) -> None:
    files = {}
    for switch in range(switches):
        hops = [f"  * 10.2.{n}.1, via swp{n}, weight 1\n" for n in range(8 - (switch == 2))]
        text = "Routing entry for 10.7.0.0/16\n" + "".join(hops)
        files[f"switches/tor{switch}/show_ip_route.txt"] = text
    assert "tor2" in found(diagnosed(tmp_path, files), "next hops")


@pytest.mark.parametrize(
    "order", [("host", "nic", "switch", "port"), ("switch", "port", "host", "nic")]
)
@pytest.mark.parametrize("rails", [2, 8])
def test_two_cables_that_are_not_as_planned(
    tmp_path: Path, order: tuple[str, ...], rails: int
) -> None:
    plan, files = [",".join(order)], {}
    for rail in range(rails):
        lines = ["LocalPort  Speed  Mode     RemoteHost  RemotePort",
                 "---------  -----  -------  ----------  ----------"]  # fmt: skip
        for host in range(6):
            row = {"host": f"h{host}", "nic": f"n{rail}", "switch": f"leaf{rail}",
                   "port": f"swp{host}"}  # fmt: skip
            plan.append(",".join(row[name] for name in order))
            swapped = host == 4 and rail < 2
            seen = f"n{1 - rail}" if swapped else f"n{rail}"
            lines.append(f"swp{host}       400G   Default  h{host}          {seen}")
        files[f"switches/leaf{rail}/net_show_lldp.txt"] = "\n".join(lines) + "\n"
    files["cabling.csv"] = "\n".join(plan) + "\n"
    title = found(diagnosed(tmp_path, files), "cable")
    assert "swp4" in title


def cabling(host: str, adapter: str, port: str, *, swapped: bool = False) -> dict[str, str]:
    """Return a plan of four cables, and LLDP of EOS with other spellings of the same."""
    order = (2, 1, 3, 4) if swapped else (1, 2, 3, 4)
    head = "Port          Neighbor Device ID       Neighbor Port ID    TTL\n"
    seen = [f"Et{n}/1         {host.format(n=place):24} {adapter:19} 120\n"
            for n, place in enumerate(order, 1)]  # fmt: skip
    plan = [f"node{n},eth2,leaf1,{port}{n}/1\n" for n in range(1, 5)]
    return {
        "cabling.csv": "host,nic,switch,port\n" + "".join(plan),
        "switches/leaf1/show_lldp_neighbors.txt": head + "".join(seen),
    }


SPELLINGS = (
    ("node{n}.cluster.local", "eth2", "Et"),
    ("Node{n}", "eth2", "Ethernet"),
    ("node{n}", "enp3s0f0np0", "Et"),
    ("node{n}", "b83f.d200.0001", "Ethernet"),
)


@pytest.mark.parametrize(("host", "adapter", "port"), SPELLINGS)
def test_a_plan_and_lldp_may_spell_a_cable_differently(
    tmp_path: Path, host: str, adapter: str, port: str
) -> None:
    files = cabling(host, adapter, port)
    assert diagnosed(tmp_path, files).verdict is not Verdict.PROBLEM


@pytest.mark.parametrize(("host", "adapter", "port"), SPELLINGS)
def test_swapped_cables_are_found_however_they_are_spelled(
    tmp_path: Path, host: str, adapter: str, port: str
) -> None:
    files = cabling(host, adapter, port, swapped=True)
    assert "Et1/1" in found(diagnosed(tmp_path, files), "LLDP", "cabling plan")


def bootstrap(interface: str) -> dict[str, str]:
    line = "node{n}:10:10 [0] NCCL INFO Bootstrap: Using {name}:10.0.0.{n}<0>\n"
    network = "node{n}:10:10 [0] NCCL INFO Using network IB\n"
    return {f"node{n}.log": (line + network).format(n=n, name=interface) for n in (1, 2)}


@pytest.mark.parametrize("interface", ["br-ex", "br-bond0", "flannel.1", "eth0"])
def test_bridges_that_join_hosts_may_bootstrap(tmp_path: Path, interface: str) -> None:
    assert diagnosed(tmp_path, bootstrap(interface)).verdict is not Verdict.PROBLEM


@pytest.mark.parametrize("interface", ["br-0123456789ab", "virbr0", "cni0"])
def test_bridges_within_a_host_do_not_bootstrap(tmp_path: Path, interface: str) -> None:
    assert "interface" in found(diagnosed(tmp_path, bootstrap(interface)), "bootstrap")


@pytest.mark.parametrize("last", [5, 50])
def test_a_number_of_a_step_is_no_time(tmp_path: Path, last: int) -> None:
    rows = [f"{step},{rank},2.1\n" for step in range(3) for rank in range(8)]
    rows += [f"{last},2,2.0\n"]
    result = diagnosed(tmp_path, {"times.csv": "step,rank,loss\n" + "".join(rows)})
    assert result.verdict is not Verdict.PROBLEM


def test_an_idle_host_is_not_bad(tmp_path: Path) -> None:
    rows = [f"n{n}     {'idle' if n == 4 else 'alloc':8} 128\n" for n in range(6)]
    result = diagnosed(tmp_path, {"nodes.txt": "NAME   STATE    CPU\n" + "".join(rows)})
    assert not any("field.state" in one.cause for one in result.findings)
