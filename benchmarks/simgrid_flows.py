"""Flows over given routes in SimGrid's Python binding: the twin of cpp/simgrid.cpp.

Needs Debian's python3-simgrid; benchmarks/flow.py runs it with the system's Python.
"""

import sys
import time
from pathlib import Path

from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor

BYTES_PER_S = 50e9
LOOK_S = 1e-6
ONE_WAY = False
"""The routes of the two directions differ."""
SETTINGS = (
    "network/model:CM02",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "surf/precision:1e-15",
    "maxmin/precision:1e-9",
    "network/optim:Lazy",
    "contexts/factory:thread",
)


def main(flows_file: str, result_file: str) -> None:
    """Send all flows of a file, write when each ended, print the processor time."""
    engine = Engine(["simgrid", *(f"--cfg={one}" for one in SETTINGS)])
    head, *rows = Path(flows_file).read_text(encoding="ascii").splitlines()
    host_count, link_count = map(int, head.split())
    zone = NetZone.create_full_zone("network")
    hosts = [zone.create_host(f"h{i}", 1e9).seal() for i in range(host_count)]
    links = [
        LinkInRoute(zone.create_link(f"l{i}", BYTES_PER_S).set_latency(0.0).seal())
        for i in range(link_count)
    ]
    flows = []
    for row in rows:
        source, target, size, *route = map(int, row.split())
        ends = hosts[source].netpoint, hosts[target].netpoint
        zone.add_route(*ends, None, None, [links[link] for link in route], ONE_WAY)
        flows.append((hosts[source], hosts[target], size))
    zone.seal()
    ends_s = [0.0] * len(flows)
    took = [0.0, 0.0]

    def everything() -> None:
        began = time.process_time()
        comms = [Comm.sendto_async(*flow) for flow in flows]
        this_actor.sleep_for(LOOK_S)
        took[0] = time.process_time() - began
        for place, comm in enumerate(comms):
            comm.wait()
            ends_s[place] = comm.finish_time
        took[1] = time.process_time() - began

    Actor.create("all", hosts[0], everything)
    engine.run()
    Path(result_file).write_text("".join(f"nan {end_s!r}\n" for end_s in ends_s), "ascii")
    print(*took)


if __name__ == "__main__":
    main(*sys.argv[1:])
