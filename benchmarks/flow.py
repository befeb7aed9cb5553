"""Speed of the flow engine beside SimGrid, on the same flows over the same routes.

python benchmarks/flow.py                          a table
python benchmarks/flow.py --json                   one JSON row a case
python benchmarks/flow.py --hosts 1024 --flows 1   one case
python benchmarks/flow.py --limit 60               seconds that SimGrid may take for a case
python benchmarks/flow.py --limit 0 --picture docs/images/flow-cost.svg      ours alone, drawn

Every host of a three-level fat tree sends to as many others as there are permutations, sizes of
4 to 12 MB that all differ, each flow on the path of its hash (ECMP). Three programs read the
same flows and routes from one file: weft's (weft_flows.py), that of SimGrid's C++ interface
(cpp/simgrid.cpp, Debian's libsimgrid-dev) and of its Python binding (simgrid_flows.py,
python3-simgrid).
Each states its processor time from the platform that is built to the first max-min rates and
to the last end; the processor time of its whole process is what a user pays. Every figure is
the best of some runs, the programs in turn.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from weft import plugins
from weft.catalogue.devices import Switch
from weft.engines.flow.routes import routed
from weft.engines.flow.solver import Uses
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
REPEATS = 3
KEPT = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ}
"""What a program needs of the environment."""


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
    problem = folder / f"{hosts}-{flows}"
    write(problem, graph, wanted, routed(graph, wanted, "ecmp", seed=1).uses)
    row: dict[str, Any] = {
        "hosts": hosts,
        "flows_a_host": flows,
        "flows": len(wanted.source),
    }
    calls = {"weft": [sys.executable, str(HERE / "weft_flows.py")]}
    if hosts <= MOST_SIMGRID_HOSTS and limit_s > 0:
        calls |= programs(folder)
    for _ in range(REPEATS):
        for name, command in tuple(calls.items()):
            limit = limit_s if name != "weft" else None
            found = solved(name, [*command, str(problem), f"{problem}.{name}"], limit)
            for key, value in found.items():
                row[key] = min(row.get(key, value), value)
            if f"{name}_run_s" not in found or found[f"{name}_run_s"] >= limit_s > 0:
                del calls[name]
    return row | {
        key: value for name in ("cpp", "python") for key, value in beside(name, problem, row)
    }


def solved(name: str, command: list[str], limit_s: float | None) -> dict[str, Any]:
    """Run a program on a problem; return what it states, and what its process took."""
    used = children_s()
    try:
        ran = subprocess.run(
            command, env={"PATH": os.environ["PATH"], **KEPT}, capture_output=True, text=True,
            check=True, timeout=limit_s,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {f"{name}_more_than_s": limit_s}
    names = [f"{name}_solve_s", f"{name}_run_s", "events", "links_solved_an_event", "peak_mib"]
    stated = map(float, ran.stdout.splitlines()[-1].split())
    return dict(zip(names, stated, strict=False)) | {f"{name}_process_s": children_s() - used}


def children_s() -> float:
    """Return the processor time of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def beside(name: str, problem: Path, row: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Compare a program's results and times with ours."""
    if f"{name}_more_than_s" in row:
        yield f"{name}_run_more_than_ratio", row[f"{name}_more_than_s"] / row["weft_run_s"]
    if f"{name}_run_s" not in row:
        return
    for part in ("solve", "run", "process"):
        yield f"{name}_{part}_ratio", row[f"{name}_{part}_s"] / row[f"weft_{part}_s"]
    ours, theirs = (np.loadtxt(f"{problem}.{of}", ndmin=2) for of in ("weft", name))
    yield f"{name}_apart", float(np.nanmax(np.abs(theirs / ours - 1)))


def write(place: Path, graph: Graph, wanted: Demands, uses: Uses) -> None:
    """Write flows and routes as all programs read them."""
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


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure every case."""
    with tempfile.TemporaryDirectory() as folder:
        for hosts in arguments.hosts or RADIX:
            for flows in arguments.flows or FLOWS:
                yield measure(hosts, flows, Path(folder), arguments.limit)


def picture(found: list[dict[str, Any]]) -> str:
    """Draw the cost of an event by the size of the network, both axes logarithmic."""
    values = [
        {
            "hosts": row["hosts"], "flows a host": str(row["flows_a_host"]),
            "cost": row["weft_run_s"] * 1e6 / row["events"],
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


COLUMNS = ("hosts", "flows", "weft_solve_s", "weft_run_s", "peak_mib", "cpp_run_s",
           "cpp_run_ratio", "python_run_s", "python_run_ratio", "python_process_ratio",
           "cpp_apart")  # fmt: skip


def main() -> None:
    """Print a table, or JSON rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hosts", type=int, action="append", choices=list(RADIX))
    parser.add_argument("--flows", type=int, action="append")
    parser.add_argument("--limit", type=float, default=LIMIT_S)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    arguments = parser.parse_args()
    if not arguments.json:
        print(" ".join(f"{name:>20}" for name in COLUMNS))
    found = []
    for row in rows(arguments):
        found.append(row)
        if arguments.json:
            print(json.dumps(row), flush=True)
            continue
        cells = [row.get(name, "-") for name in COLUMNS]
        shown = (f"{c:20.4g}" if isinstance(c, float) else f"{c:>20}" for c in cells)
        print(" ".join(shown), flush=True)
    if arguments.picture:
        arguments.picture.write_text(picture(found), "utf-8")


if __name__ == "__main__":
    main()
