"""Clusters that lstopo and InfraGraph describe: counts, nearness, refusals."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from weft.cli import app
from weft.design.described import described_cluster
from weft.errors import SpecError, WeftError
from weft.network.network import layout
from weft.readers.description import read_description
from weft.spec.load import load_cluster

WITHOUT_GPUS = (
    Path(__file__).parents[2] / "samples" / "descriptions" / "lstopo-without-gpus.xml"
)
CX7 = "15b3:1021", "MT2910 Family [ConnectX-7]"
H100 = "GH100 [H100 SXM5 80GB]"


def pci(bus, kind, ids, title, *inner, speed=63.0):
    return (
        f'<object type="PCIDev" pci_busid="0000:{bus:02x}:00.0" pci_link_speed="{speed}" '
        f'pci_type="{kind} [{ids}] [{ids}] 00"><info name="PCIDevice" value="{title}"/>'
        f"{''.join(inner)}</object>"
    )


def rdma(number):
    return f'<object type="OSDev" name="mlx5_{number}" osdev_type="3"/>'


def switch(*inner):
    """Write a PCIe switch behind a root port of a host bridge of its own."""
    return (
        '<object type="Bridge" depth="0"><object type="Bridge" depth="1">'
        f"{''.join(inner)}</object></object>"
    )


def lstopo(gpus=8, kind="0207", storage=2):
    """Write a host of two sockets whose GPUs share a PCIe switch with one NIC each."""
    sockets = []
    for socket in range(2):
        own = [
            switch(
                pci(2 * at, "0302", "10de:2330", H100), pci(2 * at + 1, kind, *CX7, rdma(at))
            )
            for at in range(socket * gpus // 2, (socket + 1) * gpus // 2)
        ]
        own += [
            switch(pci(at, kind, *CX7, rdma(at)))
            for at in range(100 + socket * 10, 100 + socket * 10 + storage // 2)
        ]
        sockets.append(
            '<object type="Package"><info name="CPUVendor" value="AuthenticAMD"/>'
            f"{''.join(own)}</object>"
        )
    return (
        '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">'
        '<object type="Machine"><info name="HostName" value="node-7"/>'
        f"{''.join(sockets)}</object></topology>"
    )


def edge(near, far, link="host"):
    """Join two (instance, component)."""
    ends = [{"instance": one, "component": component} for one, component in (near, far)]
    return {"ep1": ends[0], "ep2": ends[1], "link": link, "scheme": "one2one"}


def infragraph(hosts, nics, leaves, *, spines=0, cables=1, rails=False):
    """Describe hosts on leaves in order (rails: NIC r on leaf r), each leaf on all spines."""
    used = Counter()

    def port(kind, number):
        used[kind, number] += 1
        return f"{kind}[{number}]", f"port[{used[kind, number] - 1}]"

    edges = [
        edge((f"host[{host}]", f"nic[{nic}]"),
             port("leaf", nic if rails else host * leaves // hosts))
        for host in range(hosts) for nic in range(nics)
    ]  # fmt: skip
    edges += [
        edge(port("leaf", leaf), port("spine", spine), "up")
        for leaf in range(leaves) for spine in range(spines) for _ in range(cables)
    ]  # fmt: skip
    gpu = {"name": "gpu", "choice": "xpu", "count": nics, "description": "NVIDIA H100 SXM"}
    nic = {"name": "nic", "choice": "nic", "count": nics, "description": "ConnectX-7"}
    port_ = {"name": "port", "choice": "port", "count": 1024}
    counts = {"host": ("box", hosts), "leaf": ("sw", leaves), "spine": ("sw", max(1, spines))}
    return {
        "name": "made-up", "edges": edges,
        "instances": [{"name": name, "device": device, "count": count}
                      for name, (device, count) in counts.items()],
        "devices": [{"name": "box", "components": [gpu, nic]},
                    {"name": "sw", "components": [port_]}],
        "links": [
            {"name": "host", "physical": {"bandwidth": {"gigabits_per_second": 400}}},
            {"name": "up", "physical": {"bandwidth": {"gigabytes_per_second": 50}}},
        ],
    }  # fmt: skip


def write(folder, value, name="it.yaml"):
    path = folder / name
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value))
    return path


def test_a_host_of_lstopo_has_its_gpus_nics_and_what_is_near(tmp_path):
    found = read_description(write(tmp_path, lstopo(), "it.xml"))
    assert (found.gpus, found.nics, found.cpu, found.fabric) == (8, 8, "amd", "infiniband")
    assert found.pcie_bytes_per_s == 63e9
    assert (
        found.near[3] == "GPU 3 (0000:06:00): nearest NIC mlx5_3, behind the same PCIe switch"
    )
    made = described_cluster(tmp_path / "it.xml", gpus=64)
    host = made.cluster.host
    assert (made.cluster.name, made.cluster.hosts, made.base) == ("node-7", 8, "dgx_h100")
    assert (host.gpu, host.nic, host.nics, host.cpu) == ("h100_sxm", "connectx7", 8, "amd")
    assert host.nic_bytes_per_s == 50e9
    assert host.server == "dgx_h100"
    ethernet = described_cluster(write(tmp_path, lstopo(kind="0200"), "it.xml"))
    assert ethernet.cluster.fabric.kind == "roce"


def test_the_lstopo_of_a_host_without_gpus_is_refused_with_its_line():
    with pytest.raises(SpecError, match=r"lstopo-without-gpus.xml:\d+: holds no GPU"):
        described_cluster(WITHOUT_GPUS)


def test_a_gpu_that_no_shipped_cluster_has_takes_its_rates_from_the_catalogue(tmp_path):
    text = lstopo(4).replace(H100, "GV100GL [Tesla V100 SXM3 32GB]")
    made = described_cluster(write(tmp_path, text, "it.xml"))
    assert (made.cluster.host.gpu, made.cluster.host.gpus) == ("v100", 4)
    assert made.cluster.host.scale_up.bytes_per_s == 150e9
    assert made.cluster.host.server == ""
    other = write(tmp_path, lstopo().replace(H100, "a toaster"), "it.xml")
    with pytest.raises(SpecError, match="unknown GPU 'a toaster'; name"):
        described_cluster(other)
    assert described_cluster(other, "dgx_h100").cluster.host.gpu == "h100_sxm"


@given(st.integers(1, 4), st.integers(1, 6), st.sampled_from([1, 2, 4]), st.integers(1, 4))
def test_leaves_and_spines_are_counted(tmp_path_factory, leaves, each, nics, cables):
    hosts, spines = leaves * each, 2
    value = infragraph(hosts, nics, leaves, spines=spines * (leaves > 1), cables=cables)
    found = read_description(write(tmp_path_factory.mktemp("ig"), value))
    assert (found.hosts, found.gpus, found.nics) == (hosts, nics, nics)
    assert found.nic_bytes_per_s == 50e9
    assert found.switches == ((leaves, spines) if leaves > 1 else (1,))
    assert found.topology["kind"] == "leaf_spine"
    down, up = each * nics, spines * cables
    expected = max(1.0, down / up) if leaves > 1 else 1.0
    assert found.topology.get("oversubscription", 1.0) == pytest.approx(expected)


def test_rails_are_seen_and_weft_builds_the_same_network(tmp_path):
    value = infragraph(8, 4, 4, spines=2, cables=4, rails=True)
    made = described_cluster(write(tmp_path, value))
    assert made.cluster.topology.kind == "rail_optimized"
    flat = described_cluster(write(tmp_path, infragraph(16, 8, 16, spines=8)))
    plan = layout(flat.cluster)
    assert (plan.leaf, plan.spine, flat.cluster.topology.switch_ports) == (16, 8, 16)
    assert not any("switches by tier" in note for note in flat.notes)
    blocked = described_cluster(write(tmp_path, infragraph(16, 8, 16, spines=4)))
    assert blocked.cluster.topology.oversubscription == 2


def test_json_slices_and_devices_within_devices_are_read(tmp_path):
    value = infragraph(2, 2, 1)
    inner = {"name": "card", "components": [{"name": "port", "choice": "port", "count": 1}]}
    value["devices"].append(inner)
    value["devices"][0]["components"][1] = {"name": "card", "choice": "device", "count": 2}
    value["edges"] = [edge(("host", "card[0:2].port"), ("leaf[0]", "port[0:4]"))]
    path = write(tmp_path, json.dumps({"infrastructure": value}, indent=1), "it.json")
    found = read_description(path)
    assert (found.hosts, found.nics, found.switches) == (2, 2, (1,))


WRONG = {
    "no device": (("instances", 0, "device"), "none", "no device is called 'none'"),
    "no link": (("edges", 0, "link"), "none", "no link is called 'none'"),
    "scheme": (("edges", 0, "scheme"), "ring", "scheme 'ring'; read are"),
    "instance": (("edges", 0, "ep1", "instance"), "hots[0]", "'hots[0]' names none of: host"),
    "number": (("edges", 0, "ep2", "component"), "port[5000]", "there are 1024"),
    "count": (("instances", 0, "count"), "many", "count is 'many'"),
    "rate": (("links", 0, "physical", "bandwidth", "gigabits_per_second"), "-4", "not a rate"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_together_is_refused_with_its_line(tmp_path, case):
    path, wrong, said = WRONG[case]
    value = infragraph(2, 2, 1)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = wrong
    file = write(tmp_path, value)
    with pytest.raises(SpecError) as caught:
        read_description(file)
    assert said in str(caught.value)
    line = int(str(caught.value).removeprefix(f"{file}:").partition(":")[0])
    assert line > 1


def test_hosts_that_are_not_alike_and_bombs_are_refused(tmp_path):
    value = infragraph(2, 2, 1)
    del value["edges"][0]
    with pytest.raises(SpecError, match="have 1 to 2 NICs"):
        read_description(write(tmp_path, value))
    bomb = infragraph(1, 1, 1)
    bomb["instances"][0]["count"] = bomb["instances"][1]["count"] = 1_000_000
    bomb["edges"] = [edge(("host", "nic"), ("leaf", "port")) | {"scheme": "many2many"}]
    with pytest.raises(SpecError, match="edges in all"):
        read_description(write(tmp_path, bomb))
    loop = infragraph(1, 1, 1)
    loop["devices"][0]["components"].append({"name": "box", "choice": "device", "count": 1})
    with pytest.raises(SpecError, match="holds itself"):
        read_description(write(tmp_path, loop))


@given(st.data())
def test_damage_is_an_error_and_never_a_failure(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    xml = data.draw(st.booleans())
    good = lstopo(2) if xml else yaml.safe_dump(infragraph(2, 1, 1))
    at = data.draw(st.integers(0, len(good) - 1))
    patch = data.draw(st.text(st.characters(codec="ascii"), max_size=4))
    broken = good[:at] + patch + good[at + data.draw(st.integers(0, 6)) :]
    with suppress(WeftError):
        read_description(write(folder, broken))


def test_init_writes_a_cluster_that_loads(tmp_path, capsys):
    file = write(tmp_path, lstopo(), "it.xml")
    words = ["init", "--from", str(file), "--gpus", "32", "--dir", str(tmp_path)]
    assert app.run(words) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == [str(tmp_path / "cluster.yaml")]
    assert "ibstat or ethtool" in shown.err
    cluster = load_cluster(tmp_path / "cluster.yaml")
    assert cluster == described_cluster(file, gpus=32).cluster
    assert "# GPU 0 (0000:00:00): nearest NIC mlx5_0" in (tmp_path / "cluster.yaml").read_text()
    assert app.run(words) == 2
    assert "already there" in capsys.readouterr().err
    assert app.run(["init", "--from", str(tmp_path / "none.xml")]) == 3


def test_the_example_is_built_as_it_is_described(request):
    folder = request.config.rootpath / "examples" / "descriptions"
    made = described_cluster(folder / "infragraph.yaml")
    plan = layout(made.cluster)
    assert (made.cluster.hosts, plan.leaf, plan.spine) == (16, 16, 8)
    assert not [note for note in made.notes if "unknown" in note or "tier" in note]
