"""A simulated InfiniBand subnet: ibsim with the cables of weft's own graph, OpenSM on it."""

import itertools
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.generate.wiring import wired
from weft.network import network as resolver
from weft.spec.load import preset

UMAD = Path("/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so")
TOOLS = ("ibsim", "opensm", "ibnetdiscover", "smpquery")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
SIZES = {"ports": 65536, "nodes": 4096, "switches": 512}
SPEED = "4xHDR"  # the fastest that the simulator of Debian 12 knows
PATIENCE_S = 600

needs_ibsim = pytest.mark.skipif(
    bool(MISSING) or not UMAD.exists(),
    reason=f"not installed: {', '.join(MISSING) or UMAD}; run scripts/tools.sh",
)


def guid_of(kind: int, number: int) -> str:
    return f"7cfe9003{kind:02x}{number:05x}0"


class Net:
    """The cables of a cluster as ibnetdiscover writes them, and who is who."""

    def __init__(self, cluster):
        self.switches = list(wired(cluster))
        self.nics = cluster.host.nics
        self.guids = {one.name: guid_of(2 + one.tier, one.number) for one in self.switches}
        self.radix = resolver.layout(cluster).radix
        self.hosts = {}
        for switch in self.switches:
            for port in switch.ports:
                if port.host is not None:
                    guid = guid_of(1, port.host * self.nics + port.peer_port)
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
        guid = guid_of(1, port.host * self.nics + port.peer_port)
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
        try:
            self._until("ibsim.out", "simulator ready")
        except BaseException:  # without an entry there is no exit
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            if process.stdin is None:
                process.send_signal(signal.SIGINT)
            else:
                with suppress(BrokenPipeError):
                    process.stdin.write(b"quit\n")
                    process.stdin.close()
            try:
                process.wait(30)
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

    def tell(self, command: str) -> None:
        """Give one command to the simulator's console, and wait until it is done."""
        out, simulator = self.folder / "ibsim.out", self.running[0]
        before = out.stat().st_size
        simulator.stdin.write(f"{command}\n".encode())
        simulator.stdin.flush()
        end = time.monotonic() + PATIENCE_S
        while out.stat().st_size == before:
            assert time.monotonic() < end, command
            time.sleep(0.02)

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


def cluster_of(hosts: int, kind: str = "rail_optimized", nics: int = 8):
    """Return a cluster of DGX H100 with so many hosts and NICs a host."""
    cluster = preset("dgx_h100", hosts=hosts)
    cluster = cluster.with_(host=cluster.host.with_(nics=nics))
    return cluster.with_(topology=cluster.topology.with_(kind=kind))


def rendered(cluster, net: Net, folder: Path) -> str:
    """Put the rendered files where the rendered configuration will look for them."""
    guids = {name: f"0x{guid}" for name, guid in net.guids.items()}
    made = render(plan(cluster, guids), ["opensm"])
    texts = {file.path.removeprefix("opensm/"): file.text for file in made.files}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return texts["opensm.master.conf"].replace("/etc/opensm", str(folder))
