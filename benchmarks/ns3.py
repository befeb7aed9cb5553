"""The packet engine beside ns-3 of PyPI, on the closest scenario that both have.

pip install --target FOLDER ns3
python benchmarks/ns3.py --ns3 FOLDER          a table; the folder is not needed if ns3 is
python benchmarks/ns3.py --ns3 FOLDER --json   installed beside weft

A permutation over a leaf-spine of 400 Gb/s: UDP at line rate, every packet on a random path,
queues without limit, nothing acknowledged. ns-3 runs as C++ (benchmarks/cpp/ns3.cpp, compiled
against the wheel's libraries at -O3), so no Python is in its event loop. Only the event loops
are timed, in CPU time, since their lengths differ by a hundred. ns-3 parses and checks
headers, and has sockets and ports; weft does not.
"""

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packet import MIB, SHAPES, measure_small, permutation, prepare, time_loop

from weft.engines.packet.loop import run
from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl

SOURCE = Path(__file__).parent / "cpp" / "ns3.cpp"
MODULES = ("core", "network", "internet", "point-to-point", "traffic-control")
PAYLOAD_BYTES, HEADER_BYTES = 4096, 30
HOSTS = (16, 64, 128)
SAME = Options(
    flow_control=FlowControl.NONE,
    balancing="spray",
    mtu_bytes=PAYLOAD_BYTES,
    header_bytes=HEADER_BYTES,
)


def find(folder: str | None) -> Path | str:
    """Return the folder of the ns3 package, or why there is none."""
    if folder is not None:
        here = Path(folder) / "ns3"
        return here if (here / "include").is_dir() else f"{here} holds no ns3 package"
    spec = importlib.util.find_spec("ns3")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    wheels = [Path(place) for place in places if (Path(place) / "include").is_dir()]
    return wheels[0] if wheels else "ns3 is not installed: pip install --target FOLDER ns3"


def compile_ns3(package: Path, program: Path) -> str | None:
    """Compile the scenario against the wheel; return why not if that is impossible."""
    compiler = shutil.which("g++")
    if compiler is None:
        return "g++ is not on PATH"
    libraries = package / "lib64"
    core = next(libraries.glob("libns*-core.so")).name
    prefix = core.removeprefix("lib").removesuffix("core.so")
    command = [compiler, "-O3", "-std=c++20", f"-I{package / 'include'}", str(SOURCE)]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"]
    command += [f"-l{prefix}{module}" for module in MODULES]
    made = subprocess.run(
        [*command, "-o", str(program)], capture_output=True, text=True, check=False
    )
    return None if made.returncode == 0 else made.stderr


def measure(program: Path, hosts: int, size_bytes: int, repeat: int) -> dict[str, Any]:
    """Return one row: both simulators in turn, the best of so many runs each."""
    work = permutation(hosts, size_bytes)
    partner = dict(zip(work.source.tolist(), work.target.tolist(), strict=True))
    packets = size_bytes // PAYLOAD_BYTES
    numbers = [*SHAPES[hosts], packets, *(partner[host] for host in range(hosts))]
    ours, theirs = [], []
    for _ in range(repeat):
        state = prepare(hosts, work, SAME)
        begin = time.process_time()
        time_loop(run, state)
        ours.append(time.process_time() - begin)
        words = subprocess.run(
            [program, *map(str, numbers)], capture_output=True, text=True, check=True
        ).stdout.split()
        theirs.append(float(words[2]))
    counts = state.counts[0]
    assert int(words[0]) == hosts * packets * PAYLOAD_BYTES, "ns-3 lost packets"
    assert int(counts.drops) == int(counts.trims) == 0, "weft lost packets"
    hops = int(counts.data_hops)
    return {
        "name": f"permutation {hosts}, {size_bytes // MIB} MiB, UDP, random paths",
        "packets": hosts * packets,
        "packet_hops": hops,
        "cpu_s": min(ours),
        "packet_hops_per_s": hops / min(ours),
        "end_s": int(state.flows.end.max()) / 1e12,
        "ns3_cpu_s": min(theirs),
        "ns3_packet_hops_per_s": hops / min(theirs),
        "ns3_end_s": int(words[1]) / 1e12,
        "speed_over_ns3_ratio": min(theirs) / min(ours),
    }


def rows(package: Path, repeat: int) -> Iterator[dict[str, Any]]:
    """Compile the scenario and time it at several sizes."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ns3"
        problem = compile_ns3(package, program)
        if problem is not None:
            print(f"skipped: {problem}", file=sys.stderr)
            return
        measure_small(16, permutation(16, MIB), SAME)
        for hosts in HOSTS:
            yield measure(program, hosts, 8 * MIB if hosts < HOSTS[-1] else 2 * MIB, repeat)


def _shown(row: dict[str, Any]) -> str:
    return (
        f"{row['name']:46s} {row['packet_hops']:>8d} hops"
        f"  weft {row['packet_hops_per_s'] / 1e6:5.1f} M/s (to {row['end_s'] * 1e6:.1f} us)"
        f"  ns-3 {row['ns3_packet_hops_per_s'] / 1e6:6.3f} M/s"
        f" (to {row['ns3_end_s'] * 1e6:.1f} us)  ratio {row['speed_over_ns3_ratio']:.0f}"
    )


def main() -> None:
    """Run both where ns-3 is installed; else say that it is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ns3", metavar="FOLDER", help="where pip installed ns3 to")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeat", type=int, default=3, help="best of so many runs")
    arguments = parser.parse_args()
    package = find(arguments.ns3)
    if isinstance(package, str):
        print(f"skipped: {package}", file=sys.stderr)
        return
    for row in rows(package, arguments.repeat):
        print(json.dumps(row) if arguments.json else _shown(row), flush=True)


if __name__ == "__main__":
    main()
