"""What NCCL is given besides variables: a topology, a table of choices, a launch."""

import re
import subprocess
import xml.etree.ElementTree as ET
from ipaddress import ip_address, ip_network

import pytest

from weft.engines.analytic.collective import collective_time
from weft.generate.plan import plan
from weft.generate.rails import rail_links
from weft.generate.target import reason_against, render
from weft.predict.preferred import SIZES_BYTES, choices
from weft.spec.load import preset
from weft.traffic.collective import Group, Operation

AZURE = preset("azure_nd_h100_v5", hosts=2)
LARGE = preset("hgx_h100_roce", hosts=1024)


def _text(cluster, target, file):
    made = {one.path: one.text for one in render(plan(cluster), [target]).files}
    return made[f"{target}/{file}"]


# ---------------------------------------------------------------- topology


def _fake(folder, name, body):
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path):
    """A machine of Azure: eight GPUs, eight NICs, and one more of the front-end network."""
    gpus = [f"00000001:0{n}:00.0" for n in range(8)]
    _fake(tmp_path, "nvidia-smi", "printf '%s\\n' " + " ".join(reversed(gpus)).upper())
    for number in range(9):
        device = tmp_path / "devices" / f"01{number:02x}:00:02.0"
        device.mkdir(parents=True)
        port = tmp_path / "class" / "infiniband" / f"mlx5_{number}" / "ports" / "1"
        port.mkdir(parents=True)
        (port / "link_layer").write_text("Ethernet\n" if number == 8 else "InfiniBand\n")
        (port.parents[1] / "device").symlink_to(device)
    for node in range(2):
        place = tmp_path / "devices" / "system" / "node" / f"node{node}"
        place.mkdir(parents=True)
        (place / "cpumap").write_text(f"{node},ffffffff\n")
    (tmp_path / "cpuinfo").write_text(
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon\n"
    )
    return tmp_path


def _written(machine, cluster=AZURE):
    script = machine / "script"
    script.write_text(_text(cluster, "nccl_topology", "weft-nccl-topology"))
    out = machine / "made" / "topology.xml"
    done = subprocess.run(
        ["sh", script, out], capture_output=True, text=True, check=False,
        env={"PATH": f"{machine}:/usr/bin:/bin", "SYSFS": str(machine),
             "CPUINFO": str(machine / "cpuinfo")},
    )  # fmt: skip
    return done, out


def test_every_gpu_lies_with_the_nic_of_its_rail_and_half_of_them_on_each_socket(machine):
    done, out = _written(machine)
    assert (done.returncode, done.stderr) == (0, "")
    system = ET.parse(out).getroot()  # noqa: S314 - we wrote it
    assert (system.tag, system.get("version")) == ("system", "1")
    sockets = system.findall("cpu")
    assert [one.get("numaid") for one in sockets] == ["0", "1"]
    assert sockets[1].get("affinity") == "1,ffffffff"
    assert (sockets[0].get("vendor"), sockets[0].get("familyid")) == ("GenuineIntel", "6")
    bridges = [bridge for socket in sockets for bridge in socket]
    assert len({bridge.get("busid") for bridge in bridges}) == len(bridges) == 8
    for number, bridge in enumerate(bridges):
        gpu, nic = bridge
        assert (gpu.get("busid"), gpu.get("class")) == (f"0001:0{number}:00.0", "0x030200")
        assert (nic.get("busid"), nic.get("class")) == (f"01{number:02x}:00:02.0", "0x020700")
        assert gpu.get("link_speed") == "32.0 GT/s PCIe"
    assert [len(one) for one in sockets] == [4, 4]


def test_a_machine_that_is_not_the_planned_one_gets_no_topology(machine):
    _fake(machine, "nvidia-smi", "echo 00000001:00:00.0")
    done, out = _written(machine)
    assert done.returncode == 1
    assert "found 1 gpus, planned 8" in done.stderr
    assert not out.exists()


def test_whole_machines_show_their_pcie_themselves():
    assert "reads PCIe itself" in reason_against("nccl_topology", plan(LARGE))


# ------------------------------------------------------------------- tuner


def _rows(cluster):
    text = _text(cluster, "nccl_tuner", "tuner.csv")
    return [line.split(",") for line in text.splitlines() if not line.startswith("#")]


def test_a_row_names_what_the_plugin_knows_and_ranges_do_not_overlap():
    rows = _rows(LARGE)
    assert rows
    last: dict = {}
    for kind, first, stop, algorithm, protocol, channels, hosts, ranks, *more in rows:
        assert kind in {"allreduce", "allgather", "reducescatter", "broadcast", "reduce"}
        assert algorithm in {
            "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat",
        }  # fmt: skip
        assert protocol in {"ll", "ll128", "simple"}
        assert last.get(kind, 0) < int(first) < int(stop) < 2**33
        last[kind] = int(stop)
        assert [channels, hosts, ranks, *more] == ["-1", "1024", "8192", "-1", "-1"]


def test_every_preferred_choice_is_faster_when_it_is_forced():
    """time(left to the library) / time(forced) > 1, and the gain claimed exceeds the band."""
    group = Group(ranks=LARGE.gpus, ranks_per_domain=8)
    for one in choices(LARGE).preferred:
        env = {"NCCL_ALGO": one.algorithm, "NCCL_PROTO": one.protocol}
        forced = LARGE.with_(nccl=LARGE.nccl.with_(env=env))
        for size in (one.first_bytes, (one.last_bytes + 1) // 2):
            usual, better = (
                collective_time(cluster, one.operation, size, group).time_s.value
                for cluster in (LARGE, forced)
            )
            assert usual / better > 1
            assert one.least_gain_ratio > one.band_ratio


def test_gains_within_the_models_error_are_counted_and_left_out():
    made = choices(LARGE)
    assert made.untold > 0
    sizes = [one for one in SIZES_BYTES for _ in Operation]
    assert len(made.preferred) + made.untold < len(sizes)
    text = _text(LARGE, "nccl_tuner", "tuner.csv")
    assert f"At {made.untold} more sizes" in text


def test_where_nccl_chooses_well_the_table_is_empty_and_says_so():
    text = _text(preset("h100_tcp_100g", hosts=8), "nccl_tuner", "tuner.csv")
    assert "NCCL's own choices stand" in text
    assert all(line.startswith("#") for line in text.splitlines())


def test_a_plugin_with_its_own_tuner_is_not_given_a_second():
    for name in ("aws_p5", "gcp_a3_mega", "gcp_a3_ultra", "gcp_a4"):
        assert "only one can be loaded" in reason_against("nccl_tuner", plan(preset(name)))


# ------------------------------------------------------------------ launch


def test_torchrun_is_told_the_hosts_the_gpus_and_the_environment(tmp_path):
    _fake(tmp_path, "torchrun", 'echo "$@"; env | grep "^NCCL" | sort')
    (tmp_path / "torchrun.sh").write_text(_text(LARGE, "launch", "torchrun.sh"))
    done = subprocess.run(
        ["sh", tmp_path / "torchrun.sh", "train.py", "--name", "a b"], check=True,
        capture_output=True, text=True, env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )  # fmt: skip
    words, *variables = done.stdout.splitlines()
    assert words == (
        "--nnodes=1024 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-id=weft "
        "--rdzv-endpoint=host-0000:29500 train.py --name a b"
    )
    planned = plan(LARGE).nccl.settings.items()
    assert variables == sorted(f"{name}={one.text()}" for name, one in planned)


@pytest.mark.parametrize("hosts", [2, 24, 300])
def test_mpi_leaves_alone_the_addresses_of_rails_and_no_others(hosts):
    """A rail is reached from its own address alone; a network of management stays."""
    cluster = preset("hgx_h100_roce", hosts=hosts)
    line = re.search(r"btl_tcp_if_exclude (\S+)", _text(cluster, "launch", "mpirun.sh"))
    left_alone = [ip_network(one) for one in line[1].split(",") if "/" in one]
    rails = [ip_address(one.address) for one in rail_links(plan(cluster))]
    assert all(any(one in network for network in left_alone) for one in rails)
    assert not any(ip_address("172.24.0.9") in network for network in left_alone)
