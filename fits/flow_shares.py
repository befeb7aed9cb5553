"""What flows leave where closed forms have a factor: collisions, oversubscription, neighbours.

    python fits/flow_shares.py           simulates all cells, writes the files below
    python fits/flow_shares.py --page    derives factors and page again from the cells

The traffic is that of ``fits/fabric_shares.py``, on the same 128 NICs: rings and exchanges of
16 hosts over the connections of NCCL, and rings beside what else a cluster does. Here it runs
as flows, which know links, paths and placement, and no queues, pauses or loss.

``fits/flow_shares.toml`` holds the cells. From it come the factors of the fabrics that packets
are not simulated of, ``src/weft/network/flow_shares.toml``, and the page
``docs/explanation/flow-shares.md``, which sets every factor beside its source, packets, flows.
"""

import argparse
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import fabric_shares as packets

from weft.engines.analytic.collective.path import uplink_share
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import options_of
from weft.network.fabric import find, names
from weft.network.shares import find as simulated_share
from weft.predict.flowed import flowed
from weft.predict.flows import Pattern, network_of, share_of
from weft.spec.cluster import Cluster

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "fits" / "flow_shares.toml"
FACTORS = ROOT / "src" / "weft" / "network" / "flow_shares.toml"
PAGE = ROOT / "docs" / "explanation" / "flow-shares.md"
SEEDS = range(1, 6)
KINDS = ("ring", "exchange")
MODES = {
    "ecmp": "roce_tuned", "flowlet": "roce_tuned", "static": "infiniband",
    "adaptive": "infiniband", "spray": "ultra_ethernet",
}  # fmt: skip
"""Load balancing that flows know, and settings of a fabric that has it."""
HASHED = ("ecmp", "flowlet")
"""Modes in which connections are told apart."""
SPREAD = "adaptive"
"""Modes of the same name in several fabrics are one to flows; all that spread are."""
SPREADING = ("adaptive", "spray", "planned", "scheduled")
CONNECTIONS = (1, 4, 16)
"""Of a channel, each with a hash of its own: queue pairs, or sockets of TCP."""
NARROW = (2.0, 3.0, 4.0)
"""Oversubscription of leaves that spreading is tried with."""
SOCKETS = (
    ("tcp", "a socket is hashed as a queue pair is; NCCL opens one to sixteen a channel"),
    ("tcpx", "a socket is hashed as a queue pair is; NCCL opens one to sixteen a channel"),
)
"""Fabrics of which no measured share of ECMP is published and no packets are simulated."""
RUN = packets.TABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cell of the table."""

    traffic: str
    balancing: str
    connections: int = 1
    oversubscription: float = 1.0
    placement: str = "random"

    @property
    def name(self) -> str:
        """What results call the cell."""
        return f"{self.traffic}/{self.balancing}/{self.connections} connections"

    def packet_case(self) -> packets.Case:
        """Return the cell of packets on the same network."""
        if self.traffic not in KINDS:
            return packets.Case(
                pattern=self.traffic, preset="roce_tuned", balancing=self.balancing
            )
        return packets.Case(pattern="nccl_ring", preset=MODES[self.balancing], balancing="ecmp")

    def cluster(self) -> Cluster:
        """Return the network, with the load balancing and the oversubscription."""
        found = self.packet_case().scenario().cluster
        return found.with_(
            topology=found.topology.with_(oversubscription=self.oversubscription),
            fabric=found.fabric.with_(load_balancing=self.balancing),
        )

    def share(self, seed: int) -> float:
        """Run the cell once."""
        if self.traffic not in KINDS:
            return kept_beside(self, seed)
        in_order = self.placement == "order"
        groups = packets.HOSTS // packets.GROUP
        pattern = Pattern(
            cluster=network_of(self.cluster()), kind=self.traffic, groups=groups,
            hosts=packets.GROUP, stride=1 if in_order else groups,
            paths=packets.CHANNELS * self.connections, in_order=in_order,
        )  # fmt: skip
        return share_of(pattern, seed)


def cases() -> Iterator[Case]:
    """Yield every cell."""
    for kind in KINDS:
        for mode in MODES:
            for connections in CONNECTIONS if mode in HASHED else (1,):
                for placement in ("random", "order"):
                    yield Case(
                        traffic=kind, balancing=mode, connections=connections,
                        placement=placement,
                    )  # fmt: skip
        for ratio in NARROW:
            yield Case(traffic=kind, balancing=SPREAD, oversubscription=ratio)
    for traffic in packets.BESIDE:
        for mode in packets.BESIDE_BALANCINGS:
            yield Case(traffic=traffic, balancing=mode)


def kept_beside(case: Case, seed: int) -> float:
    """Return the share of the line that rings keep beside something else."""
    scenario = case.packet_case().scenario()
    options = options_of(scenario, seed)
    fabric = fabric_of(scenario.cluster)
    schedule = packets.rings_beside(case.traffic, fabric, options, seed)
    outcome = flowed(schedule, fabric, options, until_s=1.0)
    return packets.kept_by_rings(schedule, options, outcome)


Row = dict[str, Any]
CELL = ("traffic", "balancing", "connections", "oversubscription", "placement")
Cells = dict[Case, list[float]]
"""Shares of the seeds by cell."""


def main() -> None:
    """Simulate all cells, write the table, the factors and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    if not parser.parse_args().page:
        found = {case: [case.share(seed) for seed in SEEDS] for case in cases()}
        TABLE.write_text(table_text(found), "utf-8")
    cells = read_cells()
    FACTORS.write_text(factors_text(cells), "utf-8")
    PAGE.write_text(page_text(cells), "utf-8")


def read_cells() -> Cells:
    """Return the table."""
    rows: list[Row] = tomllib.loads(TABLE.read_text("utf-8"))["share"]
    return {Case(**{name: row[name] for name in CELL}): row["of_seeds"] for row in rows}


def table_text(cells: Cells) -> str:
    """Return the table as TOML."""
    text = [f"# Written by fits/flow_shares.py: {packets.HOSTS} NICs of 400 Gb/s, leaf-spine."]
    for case, shares in cells.items():
        text += ["", "[[share]]"]
        text += [f"{name} = {_toml(getattr(case, name))}" for name in CELL]
        text += [f"of_seeds = [{', '.join(f'{share:.4f}' for share in shares)}]"]
    return "\n".join(text) + "\n"


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The median of some seeds, and their range."""

    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """As a page shows it."""
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def figure(shares: list[float]) -> Figure:
    """Return the median and the range."""
    return Figure(value=median(shares), low=min(shares), high=max(shares))


def factor(cells: Cells, mode: str, connections: tuple[int, ...] = CONNECTIONS) -> Figure:
    """Return the factor of a mode: the closed form turned round, of rings and exchanges."""
    return figure([
        1 - (1 - share) / packets.FAR
        for case, shares in cells.items()
        for share in shares
        if case.traffic in KINDS and case.balancing == mode
        and case.placement == "random" and case.oversubscription == 1
        and case.connections in connections
    ])  # fmt: skip


def factors_text(cells: Cells) -> str:
    """Return the factors of the fabrics that packets are not simulated of, as TOML."""
    text = ["# Written by fits/flow_shares.py from the cells of fits/flow_shares.toml."]
    for fabric, why in SOCKETS:
        found = factor(cells, "ecmp")
        text += [
            "",
            "[[factor]]",
            f'fabric = "{fabric}"',
            'factor = "load_balancing"',
            'mode = "ecmp"',
            f"simulated = {{ {packets.toml_range(found.value, found.low, found.high)} }}",
            f'cells = "{"+".join(KINDS)}/ecmp/{"+".join(map(str, CONNECTIONS))} connections"',
            f"seeds = {len(SEEDS)}",
            'used = "simulated"',
            f'why = "{why}"',
        ]
    return "\n".join(text) + "\n"


def page_text(cells: Cells) -> str:
    """Return the page that sets every factor beside its source, packets and flows."""
    return "\n".join([
        HEAD, *_factor_lines(cells), *_placement_lines(cells), *_narrow_lines(cells),
        *_beside_lines(cells), READING,
    ])  # fmt: skip


def _factor_lines(cells: Cells) -> Iterator[str]:
    yield "| fabric | load balancing | published | source | packets | flows | used |"
    yield "|---|---|---|---|---|---|---|"
    for name in names():
        fabric = find(name)
        for mode in fabric.load_balancing:
            published, held = (
                fabric.published(mode),
                simulated_share(name, "load_balancing", mode),
            )
            by_packets = "-"
            if held is not None and "weft_packets" in held.simulated.sources:
                one = held.simulated
                by_packets = Figure(value=one.value, low=one.low, high=one.high).text
            shown, sources = "-", "-"
            if published is not None:
                sources = ", ".join(published.sources)
                one = published
                shown = Figure(value=one.value, low=one.low, high=one.high).text
            used = fabric.balanced(mode)
            kept = "published" if used is published else used.sources[0].removeprefix("weft_")
            by_flows = "-"  # the cells' leaves have no groups for a mode that needs them
            if mode not in fabric.balancing_topologies:
                by_flows = factor(cells, _known(mode), _connections(name)).text
            yield (
                f"| {fabric.title} | {mode} | {shown} | {sources} | {by_packets} "
                f"| {by_flows} | {kept} {used.value:.2f} |"
            )


def _known(mode: str) -> str:
    """Return the mode of the cells: those that spread are one."""
    return SPREAD if mode in SPREADING else mode


def _connections(fabric: str) -> tuple[int, ...]:
    """Return connections a channel: queue pairs as packets have them, or sockets."""
    return CONNECTIONS if fabric in dict(SOCKETS) else packets.QUEUE_PAIRS


def _placement_lines(cells: Cells) -> Iterator[str]:
    yield "\n## Collisions, by connections and placement\n"
    yield "| traffic | load balancing | connections | at random | in order | packets |"
    yield "|---|---|--:|---|---|---|"
    held = packets.by_cell(tomllib.loads(RUN.read_text("utf-8"))["share"])
    for case in cells:
        if case.traffic not in KINDS or case.oversubscription > 1 or case.placement == "order":
            continue
        ordered = Case(
            traffic=case.traffic, balancing=case.balancing, connections=case.connections,
            placement="order",
        )  # fmt: skip
        mode = "ecmp" if case.balancing == "static" else case.balancing
        key = (f"nccl_{case.traffic}", MODES[mode], mode, case.connections)
        seen = figure(held[key]).text if key in held and mode == case.balancing else "-"
        yield (
            f"| {case.traffic} | {case.balancing} | {case.connections} "
            f"| {figure(cells[case]).text} | {figure(cells[ordered]).text} | {seen} |"
        )


def _narrow_lines(cells: Cells) -> Iterator[str]:
    yield "\n## Oversubscribed leaves\n"
    yield "| down over up | closed form | rings as flows | exchanges as flows |"
    yield "|--:|--:|---|---|"
    for ratio in NARROW:
        ring, exchange = (
            figure(cells[Case(traffic=kind, balancing=SPREAD, oversubscription=ratio)]).text
            for kind in KINDS
        )
        yield f"| {ratio:g} | {uplink_share(packets.FAR, ratio):.2f} | {ring} | {exchange} |"


def _beside_lines(cells: Cells) -> Iterator[str]:
    yield "\n## Neighbours\n"
    yield "| rings run | load balancing | packets, tuned | packets, guarded | flows |"
    yield "|---|---|---|---|---|"
    held = packets.by_cell(tomllib.loads(RUN.read_text("utf-8"))["share"])
    for traffic, title in packets.BESIDE.items():
        for mode in packets.BESIDE_BALANCINGS:
            tuned, guarded = (
                figure(held[traffic, preset, mode, 1]).text
                for preset in ("roce_tuned", "roce_guarded")
            )
            flows = figure(cells[Case(traffic=traffic, balancing=mode)]).text
            yield f"| {title} | {mode} | {tuned} | {guarded} | {flows} |"


HEAD = """# Factors of the closed forms beside flows

This page is written by `fits/flow_shares.py`; the cells are in `fits/flow_shares.toml`.

The closed forms know what a topology does to traffic as factors.
Here the [flow engine](flow-engine.md) runs the traffic that [packets](fabric-shares.md) run, on the same network (128 NICs of 400 Gb/s on 8 leaves, 1:1, groups of 16 hosts), five seeds each: the median, and the range.
Flows know links, paths and placement; queues, pauses, loss and reordering they do not.

## Load balancing

The factor is the share of what leaves a leaf: the closed form turned round, of rings and exchanges at random places, at one and four queue pairs a channel, or at one, four and sixteen sockets.
"""  # noqa: E501 - a line a sentence
READING = """
## Reading the tables

* **Oversubscribed leaves**: the closed form 1 / max(1, *f o*) is within 0.02 of flows at 2:1, 3:1 and 4:1, for rings and exchanges. It is arithmetic and has no sourced factor.
* **Hashes**: with one queue pair a ring keeps 0.33 as flows and 0.36 as packets; with four 0.53 and 0.66, an exchange 0.81 and 0.84. Flows are the lower ones: their parts keep their links to the end, while packets send to one peer after another. Where packets were simulated, their figure is used.
* **Flowlets** at the usual gap of 20 us are hashes: a NIC that paces packet by packet leaves no such pause above 1.7 Gb/s.
* **TCP and TCPX**: no share of ECMP is published of them; 0.90 was an estimate beside a measurement of RoCE. Flows over one, four and sixteen sockets a channel take its place, and their range holds it. ECMP on Ultra Ethernet had a measurement of RoCE too; packets alone give it now.
* **Static routes**: D-mod-k leaves rings and exchanges at random places a quarter, in order everything. The published share is of an installation between the two, and placement is not known to the closed form: it stays.
* **Modes that spread**: flows leave everything. What is published below 1 is lost to reordering and to choices that know one switch only, which flows do not see: it stays, or packets give it.
* **Neighbours**: closed forms have no factor for them, only the share that other traffic takes (`fabric.load_ratio`). With adaptive routing flows keep what packets keep beside jobs and storage, within 0.02, and beside a slow NIC; beside incasts and a hot expert they keep more, as no pauses spread, the more so the later senders are notified (`tuned`). Hashed, packets beside jobs, storage and incasts keep half to three quarters of what flows keep.
* Tuning is not in this table: what settings cost is queues, pauses and loss.
"""  # noqa: E501 - a line a sentence


if __name__ == "__main__":
    main()
