"""InfraGraph: devices of components, instances of devices, and edges between their ports.

An endpoint names instances and components with Python's slices, ``host[0:2]`` and ``nic[0]``,
or ``dgx.cx5[1]`` for a device within a device; ``one2one`` pairs both lists in their order,
``many2many`` pairs all with all [InfraGraph schema, edge.yaml].
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, Final

import re2

from weft.plugins import unknown
from weft.readers.description import Described, Description
from weft.readers.untrusted import Lines, Malformed
from weft.units import rate_from_gbit

MOST_EDGES: Final = 500_000
MOST_COUNT: Final = 1_000_000
_SLICE: Final = re2.compile(r"^([^\[\]]+)(?:\[(\d{0,7})(?:(:)(\d{0,7}))?\])?$")
_BYTES_PER_S: Final = {"gigabits_per_second": rate_from_gbit(1.0), "gigabytes_per_second": 1e9}
_GPUS, _NICS = "xpu", ("nic", "port")
_DEEPEST: Final = 8
"""Devices within devices."""

Vertex = tuple[str, int]
"""Name of an instance, and which of them."""


@dataclass(slots=True)
class _Graph:
    """Edges between instances, by what they join."""

    links: dict[Vertex, list[tuple[str, Vertex, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By vertex: its own port, the vertex at the other end, the rate in bytes/s (0: none)."""

    def rate(self, vertex: Vertex, others: set[Vertex]) -> float:
        """Return the summed rate from a vertex to some others."""
        return sum(rate for _, other, rate in self.links[vertex] if other in others)


def _claims(value: Any) -> bool:  # noqa: ANN401 - any document
    value = _infrastructure(value)
    return isinstance(value, dict) and {"devices", "instances", "edges"} <= value.keys()


def _infrastructure(value: Any) -> Any:  # noqa: ANN401 - any document
    return (
        value["infrastructure"]
        if isinstance(value, dict) and "infrastructure" in value
        else value
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """The parts of a document by their names, and where they were written."""

    lines: Lines
    devices: Mapping[str, Any]
    instances: Mapping[str, Any]
    links: Mapping[str, Any]

    def fail(self, where: object, message: str) -> Malformed:
        return Malformed(message, self.lines.get(id(where), 1))

    def count(self, part: Any, most: int = MOST_COUNT) -> int:  # noqa: ANN401 - any document
        text = str(part.get("count", "1"))
        if not text.isdecimal() or not 1 <= int(text[:9]) <= most:
            raise self.fail(part, f"count is {text!r}; write 1 to {most}")
        return int(text)

    def device(self, name: str, where: object) -> Any:  # noqa: ANN401 - any document
        if name not in self.devices:
            raise self.fail(where, unknown("device", name, list(self.devices)))
        return self.devices[name]

    def components(
        self, device: str, where: object, depth: int = 0
    ) -> Iterator[tuple[Any, int]]:
        """Yield the components of a device and of devices within it, with their number."""
        if depth > _DEEPEST:
            raise self.fail(where, f"device {device!r} holds itself")
        for item in _listed(self.device(device, where), "components"):
            each = self.count(item)
            yield item, each
            if item.get("choice") == "device":
                for inner, number in self.components(str(item.get("name")), item, depth + 1):
                    yield inner, each * number

    def expanded(self, end: Any) -> Iterator[tuple[Vertex, str, str]]:  # noqa: ANN401 - as above
        """Yield the instances of an endpoint with the path and the kind of the component."""
        if not isinstance(end, dict):
            raise self.fail(end, "an edge needs ep1 and ep2")
        name, numbers = self.sliced(str(end.get("instance")), self.instances, end)
        paths = [("", str(self.instances[name].get("device")), "device")]
        for part in str(end.get("component")).split("."):
            inner = _by_name(self.device(paths[0][1], end), "components")
            own, places = self.sliced(part, inner, end)
            kind = str(inner[own].get("choice"))
            if len(paths) * len(places) > MOST_EDGES:
                raise self.fail(end, f"more than {MOST_EDGES:,} edges in all")
            paths = [(f"{path}.{own}{at}", own, kind) for path, _, _ in paths for at in places]
        if len(numbers) * len(paths) > MOST_EDGES:
            raise self.fail(end, f"more than {MOST_EDGES:,} edges in all")
        for number, (path, _, kind) in product(numbers, paths):
            yield (name, number), path, kind

    def sliced(self, text: str, known: Mapping[str, Any], where: object) -> tuple[str, range]:
        """Return the name and the numbers of "name", "name[3]", "name[0:2]" or "name[2:]"."""
        found = _SLICE.match(text)
        if found is None or found[1] not in known:
            raise self.fail(where, f"{text!r} names none of: {', '.join(known)}")
        count = self.count(known[found[1]])
        numbers = range(count)
        if found[3]:
            numbers = range(int(found[2] or 0), int(found[4] or count))
        elif found[2]:
            numbers = range(int(found[2]), int(found[2]) + 1)
        if not numbers or numbers[-1] >= count:
            raise self.fail(where, f"{text!r}: there are {count}, numbered from 0")
        return str(found[1]), numbers

    def rate(self, edge: Any) -> float:  # noqa: ANN401 - any document
        """Return the rate of the link of an edge in bytes/s; 0 where it has none."""
        name = str(edge.get("link"))
        if name not in self.links:
            raise self.fail(edge, unknown("link", name, list(self.links)))
        link = self.links[name]
        own = link.get("physical") if isinstance(link.get("physical"), dict) else link
        bandwidth = own.get("bandwidth")
        for unit, scale in _BYTES_PER_S.items():
            if isinstance(bandwidth, dict) and unit in bandwidth:
                try:
                    rate = float(bandwidth[unit]) * scale
                except (TypeError, ValueError):
                    rate = -1.0
                if not 0 < rate < 1e15:  # noqa: PLR2004 - a petabyte a second
                    raise self.fail(bandwidth, f"{unit} is {bandwidth[unit]!r}, not a rate")
                return rate
        return 0.0

    def graph(self, edges: list[Any]) -> tuple[_Graph, dict[Vertex, dict[str, Vertex]]]:
        """Return all edges, and by instance which NIC or port leads where."""
        graph, count = _Graph(), 0
        ports: dict[Vertex, dict[str, Vertex]] = defaultdict(dict)
        for edge in edges:
            pairs = product if edge.get("scheme") == "many2many" else zip
            if edge.get("scheme") not in {"many2many", "one2one", None}:
                raise self.fail(edge, f"scheme {edge['scheme']!r}; read are one2one, many2many")
            rate = self.rate(edge)
            ends = pairs(self.expanded(edge.get("ep1")), self.expanded(edge.get("ep2")))
            for (end, near, near_kind), (other, far, far_kind) in islice(ends, MOST_EDGES + 1):
                graph.links[end].append((near, other, rate))
                graph.links[other].append((far, end, rate))
                ports[end] |= {near: other} if near_kind in _NICS else {}
                ports[other] |= {far: end} if far_kind in _NICS else {}
                count += 1
            if count > MOST_EDGES:
                raise self.fail(edge, f"more than {MOST_EDGES:,} edges in all")
        return graph, ports


def _listed(part: Any, key: str) -> list[Any]:  # noqa: ANN401 - any document
    rows = part.get(key) if isinstance(part, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _by_name(part: Any, key: str) -> dict[str, Any]:  # noqa: ANN401 - any document
    return {str(item.get("name")): item for item in _listed(part, key)}


def _reads(value: Any, lines: Lines) -> Described:  # noqa: ANN401 - any document
    value = _infrastructure(value)
    reader = _Reader(
        lines,
        _by_name(value, "devices"),
        _by_name(value, "instances"),
        _by_name(value, "links"),
    )
    hosts = {
        name: instance for name, instance in reader.instances.items()
        if any(part.get("choice") == _GPUS
               for part, _ in reader.components(str(instance.get("device")), instance))
    }  # fmt: skip
    if not hosts:
        raise reader.fail(
            value, "no instance has a component of choice xpu, so there is no host"
        )
    graph, ports = reader.graph(_listed(value, "edges"))
    used = [vertex for vertex in graph.links if vertex[0] in hosts]
    if not used:
        raise reader.fail(value, "no edge of the infrastructure joins a host")
    if len({name for name, _ in used}) > 1:
        raise reader.fail(value, "hosts of several kinds are joined; weft models one at a time")
    nics = {len(ports[vertex]) for vertex in used}
    if len(nics) > 1 or 0 in nics:
        few = min(used, key=lambda vertex: len(ports[vertex]))
        raise reader.fail(
            value, f"hosts have {min(nics)} to {max(nics)} NICs with an edge "
            f"({few[0]}[{few[1]}] has {min(nics)}); a cluster has one number",
        )  # fmt: skip
    return _described(value, reader, graph, ports, sorted(used))


def _described(
    value: Any,  # noqa: ANN401 - any document
    reader: _Reader,
    graph: _Graph,
    ports: Mapping[Vertex, Mapping[str, Vertex]],
    hosts: list[Vertex],
) -> Described:
    name = hosts[0][0]
    parts = list(reader.components(str(reader.instances[name].get("device")), value))
    gpus = [(part, count) for part, count in parts if part.get("choice") == _GPUS]
    nics = [part for part, _ in parts if part.get("choice") in _NICS]
    tiers = _tiers(graph, set(hosts))
    rates = {rate for host in hosts for _, _, rate in graph.links[host]}
    return Described(
        name=str(value.get("name") or name), gpu=_title(gpus[0][0]),
        gpus=sum(count for _, count in gpus), nic=_title(nics[0]) if nics else "",
        nics=len(ports[hosts[0]]), hosts=len(hosts),
        nic_bytes_per_s=min(rates) if min(rates) > 0 else None,
        topology=_topology(graph, ports, hosts, tiers), switches=tuple(map(len, tiers)),
    )  # fmt: skip


def _title(component: Mapping[str, Any]) -> str:
    return str(component.get("description") or component.get("name"))


def _tiers(graph: _Graph, hosts: set[Vertex]) -> list[set[Vertex]]:
    """Return the switches by how far they are from hosts."""
    tiers: list[set[Vertex]] = []
    seen, last = set(hosts), set(hosts)
    while last:
        last = {other for pair in last for _, other, _ in graph.links[pair]} - seen
        seen |= last
        tiers += [last] if last else []
    return tiers


def _topology(
    graph: _Graph,
    ports: Mapping[Vertex, Mapping[str, Vertex]],
    hosts: list[Vertex],
    tiers: list[set[Vertex]],
) -> dict[str, Any]:
    """Return the topology that fits: rails where NICs of a number have leaves of their own."""
    rails: dict[Vertex, set[int]] = defaultdict(set)
    for host in hosts:
        for number, port in enumerate(sorted(ports[host])):
            rails[ports[host][port]].add(number)
    railed = len(ports[hosts[0]]) > 1 and all(len(rail) == 1 for rail in rails.values())
    kinds = {1: "leaf_spine", 2: "leaf_spine"}
    found: dict[str, Any] = {
        "kind": "rail_optimized" if railed else kinds.get(len(tiers), "fat_tree")
    }
    below = set(hosts)
    for tier, key in zip(
        tiers[:-1], ("oversubscription", "pod_oversubscription"), strict=False
    ):
        above = tiers[tiers.index(tier) + 1]
        ratios = [
            graph.rate(pair, below) / up for pair in tier if (up := graph.rate(pair, above))
        ]
        if ratios and max(ratios) > 1:
            found[key] = max(ratios)
        below = tier
    widest = max((len(graph.links[pair]) for tier in tiers for pair in tier), default=0)
    if len({rate for ends in graph.links.values() for _, _, rate in ends}) == 1 < widest:
        found["switch_ports"] = widest
    return found


infragraph = Description(title="InfraGraph (YAML, JSON)", claims=_claims, reads=_reads)
