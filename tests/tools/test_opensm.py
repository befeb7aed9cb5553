"""OpenSM brings up a rendered fabric in ibsim with the rendered configuration.

The simulator is told the cables of weft's own graph; the subnet manager reads what weft
renders; infiniband-diags read back what it programmed.
"""

import itertools
import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.generate.wiring import wired
from weft.network import topology
from weft.spec.load import preset

UMAD = Path("/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so")
TOOLS = ("ibsim", "opensm", "ibnetdiscover", "smpquery")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
SEEN_WHEN_BAD = re.compile(
    r"Unrecognized|Warning:|PARSE ERROR|Error in QoS|cannot find or setup|ERR "
)
# ibsim has no agents for these, whatever the configuration says
ALWAYS_SAID = re.compile(r"ERR (?:7518|5411|3120|3108)")
SIZES = {"ports": 65536, "nodes": 4096, "switches": 512}
SPEED = "4xHDR"  # the fastest that the simulator of Debian 12 knows
PATIENCE_S = 120

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING) or not UMAD.exists(),
        reason=f"not installed: {', '.join(MISSING) or UMAD}; run scripts/tools.sh",
    ),
]


def _guid(kind: int, number: int) -> str:
    return f"7cfe9003{kind:02x}{number:05x}0"


class Net:
    """The cables of a cluster as ibnetdiscover writes them, and who is who."""

    def __init__(self, cluster):
        self.switches = list(wired(cluster))
        self.nics = cluster.host.nics
        self.guids = {one.name: _guid(2 + one.tier, one.number) for one in self.switches}
        self.radix = topology.layout(cluster).radix
        self.hosts = {}
        for switch in self.switches:
            for port in switch.ports:
                if port.host is not None:
                    guid = _guid(1, port.host * self.nics + port.peer_port)
                    self.hosts[guid] = (f"{port.peer} mlx5_{port.peer_port}", switch, port)

    def text(self) -> str:
        return "\n".join(itertools.chain(self._adapters(), self._switches())) + "\n"

    def _adapters(self):
        for guid, (name, switch, port) in self.hosts.items():
            far = f'"S-{self.guids[switch.name]}"[{port.number + 1}]'
            yield f"vendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{guid}\ncaguid=0x{guid}"
            yield f'Ca\t1 "H-{guid}"\t# "{name}"'
            yield f'[1]({guid}) \t{far}\t# lid 0 lmc 0 "{switch.name}" lid 0 {SPEED}\n'

    def _switches(self):
        for one in self.switches:
            guid = self.guids[one.name]
            yield f"vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{guid}"
            yield f"switchguid=0x{guid}({guid})"
            yield f'Switch\t{self.radix} "S-{guid}"\t# "{one.name}" enhanced port 0 lid 0 lmc 0'
            for port in one.ports:
                yield f"[{port.number + 1}]\t{self._far(port)}"
            yield ""

    def _far(self, port) -> str:
        if port.host is None:
            far = f'"S-{self.guids[port.peer]}"[{port.peer_port + 1}]'
            return f'{far}\t# "{port.peer}" lid 0 {SPEED}'
        guid = _guid(1, port.host * self.nics + port.peer_port)
        return f'"H-{guid}"[1]({guid})\t# "{port.peer} mlx5_{port.peer_port}" lid 0 {SPEED}'

    def cables(self) -> Counter:
        """Cables by the names of both ends, with ports."""
        return Counter(
            (one.name, port.number + 1, port.peer, port.peer_port + (port.host is None))
            for one in self.switches
            for port in one.ports
        )


class Lab:
    """One simulator, with one subnet manager on it."""

    def __init__(self, folder: Path, net: Net):
        self.folder = folder
        (folder / "fabric.net").write_text(net.text())
        mine = {
            "IBSIM_SOCKNAME": f"weft-{os.getpid()}-{folder.name}",
            "OSM_CACHE_DIR": str(folder),
            "OSM_TMP_DIR": str(folder),
        }
        self.alone = {**os.environ, **mine}
        self.client = {**self.alone, "LD_PRELOAD": str(UMAD)}
        self.running = []

    def __enter__(self):
        sizes = ("-N", str(SIZES["nodes"]), "-S", str(SIZES["switches"]))
        ports = ("-P", str(SIZES["ports"]), "-L", "49152")
        command = ["ibsim", "-s", *sizes, *ports, "fabric.net"]
        self._start(command, "ibsim.out", self.alone, stdin=subprocess.PIPE)
        self._until("ibsim.out", "simulator ready")
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            if process.stdin is None:
                process.send_signal(signal.SIGINT)
            else:
                process.stdin.write(b"quit\n")
                process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def opensm(self, configuration: str) -> str:
        """Bring the subnet up; return all that the manager said."""
        added = f"\nforce_log_flush TRUE\ndump_files_dir {self.folder}\n"
        (self.folder / "opensm.conf").write_text(configuration + added)
        command = ["opensm", "-e", "-f", str(self.folder / "osm.log"), "-F", "opensm.conf"]
        self._start(command, "osm.out", self.client, stdin=subprocess.DEVNULL)
        self._until("osm.log", "SUBNET UP")
        return self._read("osm.out") + self._read("osm.log")

    def ask(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.client, cwd=self.folder, capture_output=True, text=True,
            timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        return done.stdout

    def _start(self, command, out, env, stdin):
        with (self.folder / out).open("w") as stream:
            self.running.append(
                subprocess.Popen(
                    command, cwd=self.folder, env=env, stdin=stdin, stdout=stream,
                    stderr=subprocess.STDOUT,
                )
            )  # fmt: skip

    def _read(self, name: str) -> str:
        file = self.folder / name
        return file.read_text(errors="replace") if file.exists() else ""

    def _until(self, name: str, words: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while words not in self._read(name):
            assert self.running[-1].poll() is None, self._read("osm.out") + self._read(name)
            assert time.monotonic() < end, self._read(name)[-3000:]
            time.sleep(0.05)


def _cluster(hosts: int, kind: str = "rail_optimized", nics: int = 8):
    cluster = preset("dgx_h100", hosts=hosts)
    cluster = cluster.with_(host=cluster.host.with_(nics=nics))
    return cluster.with_(topology=cluster.topology.with_(kind=kind))


def _rendered(cluster, net: Net, folder: Path) -> str:
    """Put the rendered files where the rendered configuration will look for them."""
    guids = {name: f"0x{guid}" for name, guid in net.guids.items()}
    made = render(plan(cluster, guids), ["opensm"])
    texts = {file.path.removeprefix("opensm/"): file.text for file in made.files}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return texts["opensm.master.conf"].replace("/etc/opensm", str(folder))


def _complaints(said: str) -> list[str]:
    lines = [line for line in said.splitlines() if SEEN_WHEN_BAD.search(line)]
    return [line for line in lines if not ALWAYS_SAID.search(line)]


# At 1,024 hosts of 8 NICs the tables stand after 15 s, but the map of lanes takes one message
# for every two ports of every switch, and the simulator answers them for minutes.
@pytest.fixture(scope="module", params=[(64, 8), (1024, 1)], ids=["64x8", "1024x1"])
def lab(request, tmp_path_factory):
    hosts, nics = request.param
    cluster, folder = _cluster(hosts, nics=nics), tmp_path_factory.mktemp("ib")
    net = Net(cluster)
    with Lab(folder, net) as running:
        said = running.opensm(_rendered(cluster, net, folder))
        yield cluster, net, running, said


def test_the_subnet_comes_up_with_the_planned_engine_and_no_complaint(lab):
    _, _, _, said = lab
    assert "SUBNET UP" in said
    assert "ftree tables configured on all switches" in said
    assert not _complaints(said)


def test_the_fabric_that_is_discovered_is_the_graph(lab):
    cluster, net, running, _ = lab
    found, here = Counter(), ""
    for line in running.ask("ibnetdiscover").splitlines():
        if match := re.match(r'Switch\s+\d+ "S-\w+"\s+# "([^"]+)"', line):
            here = match[1]
        elif line.startswith("Ca"):
            here = ""
        elif here and (match := re.match(r'\[(\d+)\]\s+"\S+"\[(\d+)\].*?# "([^"]+)"', line)):
            peer, _, device = match[3].partition(" mlx5_")
            far = int(device) if device else int(match[2])
            found[here, int(match[1]), peer, far] += 1
    assert found == net.cables()
    layout = topology.layout(cluster)
    assert len({cable[0] for cable in found}) == layout.switches
    ends = layout.host_leaf_cables + 2 * (layout.leaf_spine_cables + layout.spine_core_cables)
    assert found.total() == ends


def test_the_lanes_and_partition_that_were_programmed_are_the_planned_ones(lab):
    cluster, net, running, _ = lab
    subnet = plan(cluster).subnet
    guid = next(iter(net.hosts))
    port = f"0x{guid[:-1]}1"
    keys = running.ask("smpquery", "-G", "pkeys", port, "1")
    assert f"{int(subnet.p_key.text(), 16) | 0x8000:#06x}" in keys
    lanes = running.ask("smpquery", "-G", "sl2vl", port, "1")
    row = re.findall(r"\d+", lanes.splitlines()[-1].split(":", 1)[1].split("|", 1)[1])
    planned = [subnet.vl.whole() if sl == subnet.sl.whole() else 0 for sl in range(15)]
    assert [int(lane) for lane in row[:15]] == planned


def test_a_path_crosses_as_many_switches_as_the_layout_says(lab):
    cluster, net, running, _ = lab
    layout = topology.layout(cluster)
    first = _guid(1, 0)
    last = _guid(1, (cluster.hosts - 1) * net.nics)
    trace = running.ask("ibtracert", "-G", f"0x{first[:-1]}1", f"0x{last[:-1]}1")
    crossed = len(re.findall(r"^\[\d+\] -> switch port", trace, re.MULTILINE))
    assert crossed == layout.switch_hops(layout.scope(cluster.hosts))


FAULTS = {
    "an unknown option": ("routing_engine", "no_such_option 1\nrouting_engine"),
    "an engine that OpenSM has not": ("ftree,updn", "ar_updn"),
    "a weight out of range": ("qos_vlarb_high 0:64", "qos_vlarb_high 0:999"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault, tmp_path):
    """Or else no complaint would mean nothing."""
    cluster = _cluster(64)
    net = Net(cluster)
    good = _rendered(cluster, net, tmp_path)
    bad = good.replace(*FAULTS[fault])
    assert bad != good
    with Lab(tmp_path, net) as running:
        assert _complaints(running.opensm(bad))


@pytest.mark.parametrize("kind", ["fat_tree", "leaf_spine"])
def test_other_trees_come_up_too(kind, tmp_path):
    cluster = _cluster(64, kind)
    net = Net(cluster)
    with Lab(tmp_path, net) as running:
        said = running.opensm(_rendered(cluster, net, tmp_path))
    assert "ftree tables configured on all switches" in said
    assert not _complaints(said)
