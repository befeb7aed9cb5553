"""Speed of the flow engine beside SimGrid, on the same flows over the same routes.

python benchmarks/flow.py                          a table
python benchmarks/flow.py --json                   one JSON row a case
python benchmarks/flow.py --hosts 1024 --flows 1   one case
python benchmarks/flow.py --limit 60               seconds that SimGrid may take for a case
python benchmarks/flow.py --limit 0 --picture docs/images/flow-cost.svg      ours alone, drawn

Every host of a three-level fat tree sends to as many others as there are permutations, sizes of
4 to 12 MB that all differ, each flow on the path of its hash (ECMP). Timed are the first
max-min solution and the whole run to the last end, in both without building the platform.
SimGrid's program (cpp/simgrid.cpp) is compiled against Debian's libsimgrid-dev; its Python
binding (simgrid_flows.py) is that of python3-simgrid. Each case runs in a process of its own.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from weft import plugins
from weft.catalogue.devices import Switch
from weft.engines.flow.routes import routed
from weft.engines.flow.solver import (
    FOREVER_EVENTS,
    Flows,
    Uses,
    ends_of,
    make_state,
    max_min_rates,
)
from weft.engines.flow.timeline import run
from weft.network import topologies
from weft.network.graph import Graph, build
from weft.network.routing import Demands
from weft.network.topology import Place, Topology, site_of
from weft.spec.cluster import TopologyChoice

HERE = Path(__file__).parent
RATE = 50e9
RADIX = {1024: 16, 4096: 32, 16384: 64, 65536: 64}
"""Hosts -> ports of a switch of a three-level fat tree."""
FLOWS = (1, 2, 4, 8)
MOST_SIMGRID_HOSTS = 16384
"""Its table of routes between all hosts takes 8 bytes a pair: 34 GB at 65,536."""
PYTHON = "/usr/bin/python3"
LIMIT_S = 120.0


def tree(hosts: int) -> Graph:
    """Build a fat tree of 400 Gb/s."""
    switch = Switch(name="switch", title="", fabrics=(), radix={RATE: RADIX[hosts]})
    place = Place(switch=switch, choice=TopologyChoice(kind="fat_tree", planes=1))
    layout = plugins.load(topologies, "fat_tree", Topology).layout(
        site_of(hosts, 1, 1, RATE, place)
    )
    assert layout.core > 0, "the benchmark is of three levels"
    return build(layout)


def demands(hosts: int, flows: int) -> Demands:
    """Return permutations without flows from a host to itself and without repeated pairs."""
    rng = np.random.default_rng(1)
    source = np.tile(np.arange(hosts), flows)
    target = np.concatenate([rng.permutation(hosts) for _ in range(flows)])
    pairs = np.unique((source * hosts + target)[source != target])
    source, target = np.divmod(pairs, hosts)
    sizes = rng.choice(np.arange(4_000_000, 12_000_000), len(pairs), replace=False)
    return Demands(source=source, target=target, size_bytes=sizes.astype(float))


def measure(hosts: int, flows: int, folder: Path, limit_s: float) -> dict[str, Any]:
    """Run one case in weft and, where it is there, in SimGrid."""
    graph, wanted = tree(hosts), demands(hosts, flows)
    found = routed(graph, wanted, "ecmp", seed=1)
    sent = Flows(uses=found.uses, size_bytes=wanted.size_bytes)
    warm_up()
    began = time.perf_counter()
    rates = max_min_rates(found.bytes_per_s, found.uses)
    once = time.perf_counter()
    state = make_state(found.bytes_per_s, sent)
    cpu_began = time.process_time()
    run(state, np.inf, FOREVER_EVENTS)
    cpu_s = time.process_time() - cpu_began
    ended = time.perf_counter()
    ends = ends_of(state)
    row = {
        "hosts": hosts, "flows_a_host": flows, "flows": len(wanted.source),
        "events": ends.events, "links_solved_an_event": ends.evaluations / ends.events,
        "solve_s": once - began, "run_s": ended - once, "run_cpu_s": cpu_s,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip
    if hosts <= MOST_SIMGRID_HOSTS and limit_s > 0:
        problem = folder / f"{hosts}-{flows}"
        write(problem, graph, wanted, found.uses)
        for name, command in programs(folder).items():
            call = [*command, str(problem), str(problem.with_suffix(f".{name}"))]
            row |= beside(name, call, limit_s, row, (rates, ends.end_s))
    return row


def warm_up() -> None:
    """Read the compiled kernels, or compile them."""
    graph = tree(1024)
    few = Demands(source=np.array([0]), target=np.array([1]), size_bytes=np.ones(1))
    found = routed(graph, few, "ecmp")
    max_min_rates(found.bytes_per_s, found.uses)
    state = make_state(found.bytes_per_s, Flows(uses=found.uses, size_bytes=np.ones(1)))
    run(state, np.inf, FOREVER_EVENTS)


def write(place: Path, graph: Graph, wanted: Demands, uses: Uses) -> None:
    """Write flows and routes as SimGrid's programs read them."""
    with place.open("w", encoding="ascii") as out:
        out.write(f"{graph.endpoints} {graph.links}\n")
        for flow, size in enumerate(wanted.size_bytes):
            path = " ".join(map(str, uses.links[uses.start[flow] : uses.start[flow + 1]]))
            ends = f"{wanted.source[flow]} {wanted.target[flow]}"
            out.write(f"{ends} {int(size)} {path}\n")


def programs(folder: Path) -> dict[str, list[str]]:
    """Compile SimGrid's program once; return how to call it, and its binding."""
    found = {}
    program = folder / "simgrid"
    compiler = shutil.which("g++")
    if compiler and not program.exists() and Path("/usr/include/simgrid/s4u.hpp").exists():
        source = HERE / "cpp" / "simgrid.cpp"
        line = [compiler, "-O3", "-std=c++17", source, "-o", program, "-lsimgrid"]
        subprocess.run(line, check=True)
    if program.exists():
        found["cpp"] = [str(program)]
    binding = subprocess.run(
        [PYTHON, "-c", "import simgrid"], env={}, capture_output=True, check=False
    )
    if binding.returncode == 0:
        found["python"] = [PYTHON, str(HERE / "simgrid_flows.py")]
    return found


def beside(
    name: str, command: list[str], limit_s: float, row: dict[str, Any], ours: tuple[Any, Any]
) -> dict[str, Any]:
    """Run the same flows in SimGrid; return its times, ours in ratio, and how far apart."""
    try:
        ran = subprocess.run(
            command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
            check=True, timeout=limit_s,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {f"{name}_run_s": f"> {limit_s:g}", f"{name}_ratio": limit_s / row["run_s"]}
    except subprocess.CalledProcessError as error:
        return {f"{name}_run_s": f"failed: {error.stderr[-80:]}"}
    solve_s, run_s = map(float, ran.stdout.split()[-2:])
    theirs = np.loadtxt(command[-1], ndmin=2)
    apart = [
        float(np.nanmax(np.abs(column / mine - 1), initial=0.0))
        for column, mine in zip(theirs.T, ours, strict=True)
        if not np.isnan(column).all()
    ]
    return {
        f"{name}_solve_s": solve_s, f"{name}_run_s": run_s,
        f"{name}_ratio": run_s / row["run_s"], f"{name}_solve_ratio": solve_s / row["solve_s"],
        f"{name}_apart": max(apart),
    }  # fmt: skip


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure every case in a process of its own, so that peaks of memory are its own."""
    with tempfile.TemporaryDirectory() as folder:
        for hosts in arguments.hosts or RADIX:
            for flows in arguments.flows or FLOWS:
                line = [sys.executable, __file__, "--case", f"{hosts},{flows}", folder,
                        "--limit", str(arguments.limit)]  # fmt: skip
                ran = subprocess.run(line, capture_output=True, text=True, check=True)
                yield json.loads(ran.stdout.splitlines()[-1])


def picture(found: list[dict[str, Any]]) -> str:
    """Draw the cost of an event by the size of the network, both axes logarithmic."""
    values = [
        {
            "hosts": row["hosts"], "flows a host": str(row["flows_a_host"]),
            "cost": row["run_cpu_s"] * 1e6 / row["events"],
        }
        for row in found
    ]  # fmt: skip
    chart = alt.Chart(alt.Data(values=values), width=560, height=300)
    line = chart.mark_line(point=True).encode(
        x=alt.X("hosts:Q", scale=alt.Scale(type="log"), axis=alt.Axis(values=list(RADIX))),
        y=alt.Y("cost:Q", scale=alt.Scale(type="log"), title="processor time of an event, us"),
        color=alt.Color("flows a host:N"),
    )
    return vl_convert.vegalite_to_svg(line.to_dict())


COLUMNS = ("hosts", "flows", "events", "solve_s", "run_s", "peak_mib", "cpp_run_s", "cpp_ratio",
           "python_run_s", "python_ratio", "cpp_apart")  # fmt: skip


def main() -> None:
    """Print a table, or JSON rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hosts", type=int, action="append", choices=list(RADIX))
    parser.add_argument("--flows", type=int, action="append")
    parser.add_argument("--limit", type=float, default=LIMIT_S)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        hosts, flows = map(int, arguments.case[0].split(","))
        found = measure(hosts, flows, Path(arguments.case[1]), arguments.limit)
        print(json.dumps(found))
        return
    if not arguments.json:
        print(" ".join(f"{name:>12}" for name in COLUMNS))
    found = []
    for row in rows(arguments):
        found.append(row)
        if arguments.json:
            print(json.dumps(row), flush=True)
            continue
        cells = [row.get(name, "-") for name in COLUMNS]
        shown = (f"{c:12.4g}" if isinstance(c, float) else f"{c:>12}" for c in cells)
        print(" ".join(shown), flush=True)
    if arguments.picture:
        arguments.picture.write_text(picture(found), "utf-8")


if __name__ == "__main__":
    main()
