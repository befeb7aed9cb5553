"""Forwarding tables of OpenSM: every form says the same, and every mistake is named."""

import re

import pytest

from forwarding_text import table_text, two_tiers
from weft.errors import SpecError, Unreadable
from weft.generate.wiring import wired
from weft.network import naming
from weft.network.forwarding import read_forwarding
from weft.network.network import graph
from weft.spec.load import load_cluster, preset

CLUSTER = two_tiers()
GRAPH = graph(CLUSTER)
TEXT = table_text(CLUSTER, lambda _, host: host)


def read(tmp_path, *texts, cluster=CLUSTER):
    names = []
    for number, text in enumerate(texts):
        names.append(str(tmp_path / f"{number}.dump"))
        (tmp_path / f"{number}.dump").write_text(text)
    return read_forwarding(cluster, graph(cluster), names)


def fdbs(text):
    """Write tables as opensm.fdbs does, and the list of names of the same run."""
    tables, seen = [], []
    guid = 0
    for line in text.splitlines():
        if head := re.match(r"Unicast.*\((.*)\):", line):
            guid += 1
            tables.append(f"dump_ucast_routes: Switch 0x{guid:016x}")
            tables.append("LID    : Port : Hops : Optimal")
            seen.append((f"{guid:016x}", head[1], 0x1000 + guid))
        elif row := re.match(r"0x(....) (\d+) .*'(.*)'", line):
            tables.append(f"0x{row[1].upper()} : {row[2]}  : 01   : yes")
            seen.append((f"{0xFF00 + int(row[1], 16):016x}", row[3], int(row[1], 16)))
    tables.append("0x0FFF : UNREACHABLE")
    ends = [
        f"{{ CA Ports:01 SystemGUID:{g} NodeGUID:{g} PortGUID:{g} VenID:0002C9 DevID:1021 "
        f"Rev:000000A1 {{{name}}} LID:{lid:04X} PN:01 }}"
        for g, name, lid in seen
    ]
    return "\n".join(tables), "\n".join(f"{one} {one} PHY=4x LOG=ACT" for one in ends)


def test_every_form_gives_the_same_links(tmp_path):
    first = read(tmp_path, TEXT)
    tables, names = fdbs(TEXT)
    halves = re.split(r"(?=Unicast lids .*spine)", TEXT, maxsplit=1)
    for texts in (
        [table_text(CLUSTER, lambda _, host: host, "lfts")],
        [TEXT.replace(" mlx5_0'", "'")],
        [tables, names],
        [names, tables],
        halves,
    ):
        assert (read(tmp_path, *texts).links == first.links).all()
    switches = GRAPH.vertices - GRAPH.first[0]
    assert first.entries == switches * CLUSTER.hosts


def test_what_is_not_of_the_cluster_is_passed_over_and_the_first_lid_of_a_port_counts(tmp_path):
    more = "0x0200 001 : (Channel Adapter portguid 0x9: 'storage-1 HCA-1')\n"
    again = "0x0201 017 : (Channel Adapter portguid 0x1: 'host-0000 mlx5_0')\n"
    added = TEXT.replace("34 valid", f"{more}{again}34 valid", 1)
    assert (read(tmp_path, added).links == read(tmp_path, TEXT).links).all()


@pytest.mark.parametrize("kind", ["rail_optimized", "fat_tree", "rail_only", "leaf_spine"])
def test_ports_are_those_that_configurations_name(kind):
    """Port p of a switch is link p - 1 of its range: the cable that is rendered for it."""
    cluster = preset("dgx_h100", hosts=40)
    cluster = cluster.with_(topology=cluster.topology.with_(kind=kind))
    network = graph(cluster)
    first, nics = network.first, network.layout.site.nics_per_host
    tiers = dict(zip(naming.TIER_NAMES, first[:3], strict=True))
    for one in wired(cluster):
        begin = network.start[first[one.tier] + one.number]
        for port in one.ports:
            tier, _, number = port.peer.partition("-")
            there = (
                tiers[tier] + int(number)
                if port.host is None
                else port.host * nics + port.peer_port
            )
            assert network.target[begin + port.number] == there


def test_rails_that_nothing_joins_are_subnets_of_their_own(tmp_path):
    """Their LIDs may be the same, and no switch has a way to another rail."""
    cluster = preset("dgx_h100", hosts=8)
    cluster = cluster.with_(topology=cluster.topology.with_(kind="rail_only"))
    texts = [
        "\n".join(
            [f"Unicast lids of switch ({one.name}):"]
            + [
                f"0x{lid:04x} {p.number + 1:03d} : (Channel Adapter: '{p.peer} "
                f"mlx5_{p.peer_port}')"
                for lid, p in enumerate(one.ports, start=1)
            ]
        )
        for one in wired(cluster)
    ]
    found = read(tmp_path, *texts, cluster=cluster)
    assert found.entries == cluster.hosts * cluster.host.nics


def _row(host, switch="leaf-0000"):
    table = re.search(rf"\({switch}\):\n((?:0x.*\n)*)", TEXT)[1]
    return next(line for line in table.splitlines() if f"host-{host:04d}" in line)


def _changed(switch, host, port):
    head, table = re.search(rf"(Unicast.*\({switch}\):\n)((?:0x.*\n)*)", TEXT).groups()
    row = next(line for line in table.splitlines() if f"host-{host:04d}" in line)
    new = f"{row[:7]}{port:03d}{row[10:]}"
    return TEXT.replace(head + table, head + table.replace(row, new))


def _without(switch):
    return re.sub(rf"Unicast.*\({switch}\):\n(?:0x.*\n)*.*dumped\n", "", TEXT)


MISTAKES = {
    "an unknown switch": (
        TEXT.replace("(leaf-0001)", "(leaf-0009)"),
        r"0\.dump:\d+: switch 'leaf-0009': is no switch of the cluster; did you mean",
    ),
    "a missing LID": (
        TEXT.replace(_row(20) + "\n", ""),
        r"0\.dump: switch leaf-0000: has no port for 'host-0020 mlx5_0'; dump",
    ),
    "hosts of other names": (
        TEXT.replace("'host-0020 ", "'node20 "),
        r"has no port for 'host-0020 mlx5_0' \(one that is not the cluster's is 'node20 ",
    ),
    "a LID out of reach": (
        _changed("leaf-0000", 20, 255),
        r"switch leaf-0000: has no port for 'host-0020 mlx5_0'",
    ),
    "a switch without a table": (_without("spine-0001"), r"spine-0001: has no table"),
    "a port without a cable": (
        _changed("spine-0000", 20, 33),
        r"0\.dump:\d+: port 33 of spine-0000 to 'host-0020 mlx5_0': has no cable; ports 1 to",
    ),
    "the port of the switch itself": (
        _changed("spine-0000", 20, 0),
        r"port 0 of spine-0000 .* has no cable",
    ),
    "a loop": (
        _changed("spine-0000", 20, 1),
        r"0\.dump:\d+: port \d+ of \S+ to 'host-0020 mlx5_0': goes in a circle, \S+ to \S+",
    ),
    "another host": (
        _changed("leaf-0000", 0, 2),
        r"port 2 of leaf-0000 to 'host-0000 mlx5_0': leads to 'host-0001 mlx5_0'",
    ),
    "a table twice": (
        TEXT + TEXT,
        r"0\.dump:\d+: switch 'leaf-0000': has a table in",
    ),
    "a row before any switch": (_row(3), r"0\.dump:1: value .*: stands before any switch"),
    "another file": ("kind: Cluster\n", r"0\.dump:1: value 'kind: Cluster': is no line of a"),
    "names that nobody gave": (
        fdbs(TEXT)[0],
        r"0\.dump:1: switch 0x0+1: has no name here",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_named_with_its_place_and_what_to_do(mistake, tmp_path):
    text, said = MISTAKES[mistake]
    with pytest.raises(SpecError, match=said):
        read(tmp_path, text)


def test_the_loop_that_is_shown_is_one(tmp_path):
    with pytest.raises(SpecError) as caught:
        read(tmp_path, MISTAKES["a loop"][0])
    circle = re.search(r"in a circle, (.*);", str(caught.value))[1].split(" to ")
    assert circle[0] == circle[-1]
    assert len(set(circle)) == len(circle) - 1 == 2


def test_lists_of_two_subnets_are_refused(tmp_path):
    tables, names = fdbs(TEXT)
    other = names.replace("host-0003", "host-0004")
    with pytest.raises(SpecError, match=r"2\.dump:\d+: LID 0x0004: value 'host-0004"):
        read(tmp_path, tables, names, other)


def test_planes_and_missing_files_are_refused(tmp_path):
    split = load_cluster({"preset": "dgx_h100", "hosts": 4, "topology": {"planes": 2}})
    with pytest.raises(SpecError, match="2 planes, each a subnet"):
        read(tmp_path, TEXT, cluster=split)
    with pytest.raises(Unreadable, match=r"none: cannot be read: .*check network\.routes"):
        read_forwarding(CLUSTER, GRAPH, [str(tmp_path / "none")])
