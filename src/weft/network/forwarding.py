"""Forwarding tables of an InfiniBand subnet, as OpenSM and infiniband-diags write them.

Read are `opensm-lfts.dump`, the output of `dump_fts` (`dump_lfts.sh`) and `ibroute`, and
`opensm.fdbs` (`osm.fdbs`) with the `opensm-subnet.lst` of the same run, which alone has the
names for its LIDs. Ports count from 1 in the order of the graph's links, as configurations are
rendered; names are those of weft: leaf-0000, and `host-0000 mlx5_0` (or HCA-1) for a NIC.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as File
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.errors import Infeasible, SpecError, Unreadable
from weft.network import naming
from weft.network.graph import Graph
from weft.spec.cluster import Cluster
from weft.spec.problems import nearest

LARGEST_BYTES: Final = 1 << 30
"""Of a file: 14 million entries, as of 8,192 ports behind 1,700 switches."""
LONGEST_LINE: Final = 4096
Links = npt.NDArray[np.int32]
"""By switch (from the first leaf) and NIC port."""
NO_PORT: Final = 255
"""What a table holds for a LID that it cannot reach."""

_HEAD = re.compile(r"Unicast lids\b.*?\((?:'(.*)'|(.*))\)\s*:?\s*$")
_GUID_HEAD = re.compile(r"(?:\w+:\s*)?Switch (0x[0-9a-fA-F]{16})\b")
_ROW = re.compile(r"0x([0-9a-fA-F]{1,4})\s*:?\s+(\d{1,3}|UNREACHABLE)\b(.*)$")
_ROW_NAME = re.compile(r"'([^']*)'\)?\s*$")
_SEEN = re.compile(r"NodeGUID:([0-9a-fA-F]{16}) [^{}]*\{([^{}]*)\} LID:([0-9a-fA-F]{4})\b")
_OTHER = re.compile(r"\s*(?:$|#|\*\*\*|L[iI][dD]\b|Port\b|\d+ (?:valid )?lids dumped)")


@dataclass(frozen=True, kw_only=True)
class Forwarding:
    """Where every switch sends what is for each NIC port."""

    links: Links
    """Links of the graph; -1 where there is no entry."""
    files: tuple[str, ...]
    sha256: str
    """Of the files, in their order."""
    entries: int
    """Entries for ports of the cluster."""

    @property
    def said(self) -> str:
        """Say in one line where the routes come from."""
        if not self.files:
            return (
                "every packet goes the one way of its destination, dealt out over the links in "
                "turn as a subnet manager does on a fat tree"
            )
        return (
            f"every packet goes where the tables of {', '.join(self.files)} say "
            f"({self.entries} entries, sha256 {self.sha256[:12]})"
        )


@dataclass(kw_only=True)
class _Reading:
    """Tables as they are filled: ports and the lines that named them, by switch and NIC."""

    cluster: Cluster
    graph: Graph
    ports: npt.NDArray[np.int16]
    lines: npt.NDArray[np.int32]
    file_of: dict[int, str] = field(default_factory=dict)
    """By switch: the file that holds its table."""
    by_lid: dict[int, str] = field(default_factory=dict)
    by_guid: dict[int, str] = field(default_factory=dict)
    other_name: str = ""
    """Any name of a NIC that the cluster has not."""

    @cached_property
    def switches(self) -> dict[str, int]:
        """Number every switch of the cluster, from the first leaf."""
        first = self.graph.first
        names = (
            naming.switch(tier, vertex - first[tier])
            for tier in range(3)
            for vertex in range(first[tier], first[tier + 1])
        )
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def columns(self) -> dict[str, int]:
        """Number every NIC port of the cluster by each description that nodes give of it."""
        nics = self.graph.layout.site.nics_per_host
        found: dict[str, int] = {}
        for port in range(self.graph.endpoints):
            host, nic = divmod(port, nics)
            name = naming.host(host, self.cluster.hosts)
            found |= {f"{name} mlx5_{nic}": port, f"{name} HCA-{nic + 1}": port}
            if nics == 1:
                found[name] = port
        return found

    def entry(self, switch: int, port: int) -> str:
        """Say which entry is meant: file and line, port, switch and what it is for."""
        return (
            f"{self.file_of[switch]}:{self.lines[switch, port]}: "
            f"port {self.ports[switch, port]} of "
            f"{self.switch_name(switch)} to {self.port_name(port)!r}"
        )

    def switch_name(self, number: int) -> str:
        """Name a switch by its number."""
        return list(self.switches)[number]

    def port_name(self, port: int) -> str:
        """Name a NIC port as tables do."""
        host, nic = divmod(port, self.graph.layout.site.nics_per_host)
        return f"{naming.host(host, self.cluster.hosts)} mlx5_{nic}"


def read_forwarding(cluster: Cluster, graph: Graph, files: Iterable[str]) -> Forwarding:
    """Read the tables of a cluster's subnet, and check that they lead everywhere."""
    if graph.layout.planes > 1:
        raise Infeasible(
            f"network.routes: the cluster has {graph.layout.planes} planes, each a subnet with "
            "LIDs of its own, and tables are read for one; set topology.planes to 1"
        )
    shape = graph.vertices - graph.first[0], graph.endpoints
    reading = _Reading(
        cluster=cluster, graph=graph, ports=np.full(shape, -1, np.int16),
        lines=np.zeros(shape, np.int32),
    )  # fmt: skip
    names = tuple(files)
    listed = [name for name in names if _is_list(name)]
    for name in listed:
        _read_list(reading, name)
    for name in names:
        if name not in listed:
            _read_tables(reading, name)
    links = _links(reading)
    _check_paths(reading, links)
    return Forwarding(
        links=links, files=tuple(File(name).name for name in names), sha256=_digest(names),
        entries=int((links >= 0).sum()),
    )  # fmt: skip


def _lines_of(name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of bounded size, numbered from 1."""
    try:
        size = File(name).stat().st_size
        if size > LARGEST_BYTES:
            raise SpecError(f"{name}: {size} bytes; at most {LARGEST_BYTES} are read")
        with File(name).open(encoding="utf-8", errors="replace") as stream:
            number = 0
            while line := stream.readline(LONGEST_LINE):
                number += 1
                yield number, line
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unreadable(f"{name}: cannot be read: {reason}; check network.routes") from error


def _digest(names: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        with File(name).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _is_list(name: str) -> bool:
    """Say whether a file is opensm-subnet.lst, by its first line."""
    return next((line.startswith("{ ") for _, line in _lines_of(name)), False)


def _read_list(reading: _Reading, name: str) -> None:
    """Read which names have which LIDs and GUIDs."""
    for number, line in _lines_of(name):
        for guid, called, lid in _SEEN.findall(line):
            reading.by_guid[int(guid, 16)] = called
            before = reading.by_lid.setdefault(int(lid, 16), called)
            if before != called:
                raise SpecError(
                    f"{name}:{number}: LID 0x{lid}: value {called!r}: is {before!r} too; give "
                    "the list of one subnet, of the same run as the tables"
                )


def _read_tables(reading: _Reading, name: str) -> None:
    here: int | None = None
    for number, line in _lines_of(name):
        where = f"{name}:{number}"
        if row := _ROW.match(line):
            if here is None:
                raise SpecError(f"{where}: value {row[0].strip()!r}: stands before any switch")
            _enter(reading, here, row, number, where)
        elif head := _HEAD.match(line) or _GUID_HEAD.match(line):
            here = _begin(reading, head, where)
            reading.file_of[here] = name
        elif not _OTHER.match(line):
            raise SpecError(
                f"{where}: value {line.strip()[:60]!r}: is no line of a forwarding table; give "
                "opensm-lfts.dump, the output of dump_fts or ibroute, or opensm.fdbs with "
                "opensm-subnet.lst"
            )


def _begin(reading: _Reading, head: re.Match[str], where: str) -> int:
    """Return the number of the switch whose table begins."""
    called = head[1] or (head[2] if head.re is _HEAD else "")
    if head.re is _GUID_HEAD:
        found = reading.by_guid.get(int(head[1], 16))
        if found is None:
            raise SpecError(
                f"{where}: switch {head[1]}: has no name here; give the opensm-subnet.lst of "
                "the same run too: routes: [opensm.fdbs, opensm-subnet.lst]"
            )
        called = found
    number = reading.switches.get(called)
    if number is None:
        raise SpecError(
            f"{where}: switch {called!r}: is no switch of the cluster; "
            f"{nearest(called, reading.switches)}; name switches so in a node name map "
            "(node_name_map_name of opensm.conf, --node-name-map of dump_fts)"
        )
    if number in reading.file_of:
        raise SpecError(
            f"{where}: switch {called!r}: has a table in {reading.file_of[number]} already; "
            "keep one"
        )
    return number


def _enter(reading: _Reading, here: int, row: re.Match[str], number: int, where: str) -> None:
    """Note the port of one LID, if it is that of a NIC of the cluster; its first LID counts."""
    lid, written, rest = int(row[1], 16), row[2], row[3]
    named = _ROW_NAME.search(rest)
    called = named[1] if named else reading.by_lid.get(lid, "")
    column = reading.columns.get(called)
    if column is None:
        reading.other_name = reading.other_name or called
        return
    if not written.isdigit() or int(written) == NO_PORT or reading.lines[here, column]:
        return
    port, cables = int(written), _cables(reading, here)
    if not 1 <= port <= cables:
        raise SpecError(
            f"{where}: port {port} of {reading.switch_name(here)} to {called!r}: has no cable; "
            f"ports 1 to {cables} have one: are the tables those of this cluster?"
        )
    reading.ports[here, column] = port
    reading.lines[here, column] = number


def _cables(reading: _Reading, switch: int) -> int:
    graph, vertex = reading.graph, reading.graph.first[0] + switch
    return int(graph.start[vertex + 1] - graph.start[vertex])


def _links(reading: _Reading) -> Links:
    """Return the links that the ports are."""
    graph, ports = reading.graph, reading.ports.astype(np.int64)
    first = graph.start[graph.first[0] : graph.vertices][:, None]
    return np.where(ports > 0, first + ports - 1, -1).astype(np.int32)


def _check_paths(reading: _Reading, links: Links) -> None:
    """Follow the tables from every leaf to every NIC port of its network."""
    graph, base = reading.graph, reading.graph.first[0]
    leaf_of = graph.leaf_of[:, 0]
    leaves = np.unique(leaf_of)
    joined = graph.network[leaves][:, None] == graph.network[leaf_of][None, :]
    place, port = np.nonzero(joined)
    switch = leaves[place] - base
    for _ in range(len(links)):  # no path without a circle visits a switch twice
        link = links[switch, port]
        if (link < 0).any():
            first = int(np.flatnonzero(link < 0)[0])
            raise _missing(reading, int(switch[first]), int(port[first]))
        at = graph.target[link]
        astray = np.flatnonzero((at < base) & (at != port))
        if len(astray):
            raise _astray(reading, *(int(ndarray[astray[0]]) for ndarray in (switch, port, at)))
        under_way = at >= base
        switch, port = at[under_way] - base, port[under_way]
        if not len(switch):
            return
    raise _loop(reading, links, int(switch[0]), int(port[0]))


def _missing(reading: _Reading, switch: int, port: int) -> SpecError:
    name, wanted = reading.switch_name(switch), reading.port_name(port)
    if switch not in reading.file_of:
        return SpecError(
            f"network.routes: switch {name}: has no table, and packets to {wanted!r} come "
            "there; give the tables of all switches"
        )
    names = f" (one that is not the cluster's is {reading.other_name!r})"
    return SpecError(
        f"{reading.file_of[switch]}: switch {name}: has no port for {wanted!r}"
        f"{names if reading.other_name else ''}; dump the tables of the whole subnet again, "
        "with hosts named as weft names them"
    )


def _astray(reading: _Reading, switch: int, port: int, at: int) -> SpecError:
    return SpecError(
        f"{reading.entry(switch, port)}: leads to {reading.port_name(at)!r}; are cables where "
        "the plan has them?"
    )


def _loop(reading: _Reading, links: Links, switch: int, port: int) -> SpecError:
    """Walk once around the loop that a path has run into."""
    graph, circle = reading.graph, [switch]
    while len(circle) == 1 or circle[-1] != switch:
        after = int(graph.target[links[circle[-1], port]]) - graph.first[0]
        circle.append(after)
    round_it = " to ".join(reading.switch_name(number) for number in circle)
    return SpecError(
        f"{reading.entry(switch, port)}: goes in a circle, {round_it}; route the subnet again"
    )
